"""
Other ways to the same answer, each as fast as its library lets us make it.

A method is prepared once for two meshes and then called with poses; it returns vertices and
depths of the link in the body and of the body in the link. Methods that know no vertices
(collision libraries) are timed only.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import trimesh
from embreex import rtcore_scene
from embreex.mesh_construction import TriangleMesh as EmbreeMesh
from numba import njit

from benchmarks._contact_bodies import Pose
from gripsim_ros.core.bodies import TriangleMesh
from gripsim_ros.core.contact import ContactMesh, vertex_contacts
from gripsim_ros.core.contact.culling import turned_motion, vertices_in_box
from gripsim_ros.core.contact.oriented_box import fit_oriented_box
from gripsim_ros.core.contact.seed_rule import SeedMesh, seed_contacts
from gripsim_ros.core.transforms import apply, inverse

Answer = tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
Method = Callable[[Pose], Any]


def ours(link: TriangleMesh, body: TriangleMesh) -> Method:
    """Return our own narrow phase, the function that users call."""
    a, b = ContactMesh(link), ContactMesh(body)
    _ = a.arrays, b.arrays

    def query(pose: Pose) -> Answer:
        found = vertex_contacts(a, b, pose.T_link_object, pose.direction)
        return ((found.a_in_b.vertices, found.a_in_b.depths),
                (found.b_in_a.vertices, found.b_in_a.depths))
    return query


def paper(link: TriangleMesh, body: TriangleMesh) -> Method:
    """Return the paper's own rule."""
    a, b = SeedMesh(link), SeedMesh(body)

    def query(pose: Pose) -> Answer:
        found = seed_contacts(a, b, pose.T_link_object, pose.direction)
        return ((found.a_in_b.vertices, found.a_in_b.depths),
                (found.b_in_a.vertices, found.b_in_a.depths))
    return query


def _both_ways(prepare: Callable[[TriangleMesh, TriangleMesh], Any]) -> Callable[..., Method]:
    """Make a method of one that finds the vertices of one mesh in another."""
    def method(link: TriangleMesh, body: TriangleMesh) -> Method:
        forth, back = prepare(link, body), prepare(body, link)

        def query(pose: Pose) -> Answer:
            T = inverse(pose.T_link_object)
            return (forth(T, T[:3, :3] @ pose.direction),
                    back(pose.T_link_object, -pose.direction))
        return query
    return method


def _trimesh_side(own: TriangleMesh, target: TriangleMesh) -> Any:
    mesh = trimesh.Trimesh(target.vertices, target.faces, process=False)
    low, high = mesh.bounds
    normals, vertices = mesh.face_normals, np.array(own.vertices)
    assert type(mesh.ray).__module__.endswith('pyembree'), 'trimesh runs without Embree'

    def find(T: np.ndarray, direction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        points = apply(T, vertices)
        near = np.flatnonzero(((points >= low) & (points <= high)).all(axis=1))
        if not len(near):
            return near, np.zeros(0)
        origins = points[near]
        where, rays, faces = mesh.ray.intersects_location(
            origins, np.broadcast_to(direction, origins.shape), multiple_hits=False)
        leaving = normals[faces] @ direction > 0.0
        rays = rays[leaving]
        return near[rays], (where[leaving] - origins[rays]) @ direction
    return find


def _contains_side(own: TriangleMesh, target: TriangleMesh) -> Any:
    """As its documentation has it: what is inside by ``contains``, then rays for the way out."""
    mesh = trimesh.Trimesh(target.vertices, target.faces, process=False)
    low, high = mesh.bounds
    vertices = np.array(own.vertices)

    def find(T: np.ndarray, direction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        points = apply(T, vertices)
        near = np.flatnonzero(((points >= low) & (points <= high)).all(axis=1))
        near = near[mesh.contains(points[near])] if len(near) else near
        if not len(near):
            return near, np.zeros(0)
        origins = points[near]
        where, rays, _ = mesh.ray.intersects_location(
            origins, np.broadcast_to(direction, origins.shape), multiple_hits=False)
        return near[rays], (where - origins[rays]) @ direction
    return find


def embreex_scene(vertices: np.ndarray, faces: np.ndarray) -> rtcore_scene.EmbreeScene:
    """Return Embree's tree of a mesh, built."""
    scene = rtcore_scene.EmbreeScene()
    EmbreeMesh(scene, np.array(vertices[faces], np.float32))
    scene.run(np.zeros((1, 3), np.float32), np.ones((1, 3), np.float32))   # commits it
    return scene


def _embreex_side(own: TriangleMesh, target: TriangleMesh) -> Any:
    """Numpy moves and filters, Embree names the facet, float64 measures the way to it."""
    scene = embreex_scene(target.vertices, target.faces)
    vertices = np.array(own.vertices)
    low, high = target.bounds
    first = target.vertices[target.faces[:, 0]]
    normals = target.face_normals

    def find(T: np.ndarray, direction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        points = apply(T, vertices)
        near = np.flatnonzero(((points >= low) & (points <= high)).all(axis=1))
        origins = points[near]
        if not len(near):
            return near, np.zeros(0)
        directions = np.empty((len(near), 3), np.float32)
        directions[:] = direction
        faces = scene.run(origins.astype(np.float32), directions)
        along = normals[faces] @ direction
        leaving = (faces >= 0) & (along > 0.0)
        faces, origins, along = faces[leaving], origins[leaving], along[leaving]
        ways = np.einsum('ki,ki->k', first[faces] - origins, normals[faces]) / along
        return near[leaving], ways
    return find


@njit(cache=True)
def _filtered(balls, nodes, vertices, ids, sizes, box, T, direction):
    """Return the vertices in a box: indices, points, and both as Embree wants them."""
    rotation, origin = T[:3, :3].copy(), T[:3, 3].copy()
    found = vertices_in_box(balls, nodes, vertices, int(sizes[0]),
                            turned_motion(box[:3], rotation, origin - box[3]), box[4])
    count = len(found)
    points, directions = np.empty((count, 3)), np.empty((count, 3), np.float32)
    short, indices = np.empty((count, 3), np.float32), np.empty(count, np.int64)
    for i in range(count):
        indices[i] = ids[found[i]]
        for k in range(3):
            value = T[k, 3]
            for j in range(3):
                value += T[k, j] * vertices[found[i], j]
            points[i, k], short[i, k], directions[i, k] = value, value, direction[k]
    return indices, points, short, directions


@njit(cache=True)
def _refined(indices, points, direction, faces, first, normals):
    """Return vertices and ways, in float64, of the rays that Embree says leave."""
    kept, ways, count = np.empty(len(faces), np.int64), np.empty(len(faces)), 0
    for i in range(len(faces)):
        f = faces[i]
        if f < 0:
            continue
        along, height = 0.0, 0.0
        for k in range(3):
            along += normals[f, k] * direction[k]
            height += normals[f, k] * (first[f, k] - points[i, k])
        if along > 0.0:
            kept[count], ways[count] = indices[i], height / along
            count += 1
    return kept[:count], ways[:count]


def _strong_side(own: TriangleMesh, target: TriangleMesh) -> Any:
    """The same with our own culling, compiled: the strongest pipeline round Embree we know."""
    scene = embreex_scene(target.vertices, target.faces)
    arrays = ContactMesh(own).arrays
    fitted = fit_oriented_box(target.vertices, target.faces)
    box = np.vstack([fitted.axes, fitted.centre, fitted.half_lengths])
    first = np.array(target.vertices[target.faces[:, 0]])
    normals = np.array(target.face_normals)
    query = arrays.balls, arrays.nodes, arrays.vertices, arrays.vertex_ids, arrays.sizes, box

    def find(T: np.ndarray, direction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        indices, points, short, directions = _filtered(*query, T, direction)
        if not len(indices):
            return indices, np.zeros(0)
        return _refined(indices, points, direction, scene.run(short, directions), first, normals)
    return find


trimesh_ray = _both_ways(_contains_side)
trimesh_first = _both_ways(_trimesh_side)
embreex_numpy = _both_ways(_embreex_side)
embreex_compiled = _both_ways(_strong_side)


def fcl(link: TriangleMesh, body: TriangleMesh) -> Method:
    """Return python-fcl's collision of two triangle trees, all contacts."""
    import fcl as library
    objects = []
    for mesh in (link, body):
        model = library.BVHModel()
        model.beginModel(len(mesh.vertices), len(mesh.faces))
        model.addSubModel(np.array(mesh.vertices), np.array(mesh.faces))
        model.endModel()
        objects.append(library.CollisionObject(model, library.Transform()))
    request = library.CollisionRequest(num_max_contacts=100_000, enable_contact=True)

    def query(pose: Pose) -> np.ndarray:
        T = pose.T_link_object
        objects[1].setTransform(library.Transform(T[:3, :3], T[:3, 3]))
        result = library.CollisionResult()
        library.collide(*objects, request, result)
        return np.array([contact.pos for contact in result.contacts])
    return query


def coal(link: TriangleMesh, body: TriangleMesh) -> Method:
    """Return coal's collision of two triangle trees, all contacts."""
    import coal as library
    models = []
    for mesh in (link, body):
        model = library.BVHModelOBBRSS()
        model.beginModel(len(mesh.faces), len(mesh.vertices))
        model.addVertices(np.array(mesh.vertices))
        model.addTriangles(np.array(mesh.faces, dtype=np.uint32))
        model.endModel()
        models.append(model)
    request = library.CollisionRequest(library.CONTACT, 100_000)

    def query(pose: Pose) -> np.ndarray:
        T, still = pose.T_link_object, library.Transform3s.Identity()
        result = library.CollisionResult()
        library.collide(models[0], still, models[1], library.Transform3s(T[:3, :3], T[:3, 3]),
                        request, result)
        return np.array([contact.pos for contact in result.getContacts()])
    return query


def bullet(link: TriangleMesh, body: TriangleMesh) -> Method:
    """Return pybullet's contacts of the link's hull with the body's triangles."""
    import pybullet as library
    from scipy.spatial.transform import Rotation
    client = library.connect(library.DIRECT)
    hull = library.createCollisionShape(
        library.GEOM_MESH, vertices=link.vertices.tolist(), physicsClientId=client)
    shell = library.createCollisionShape(
        library.GEOM_MESH, vertices=body.vertices.tolist(), indices=body.faces.ravel().tolist(),
        flags=library.GEOM_FORCE_CONCAVE_TRIMESH, physicsClientId=client)
    moving = library.createMultiBody(1.0, hull, physicsClientId=client)
    still = library.createMultiBody(0.0, shell, physicsClientId=client)
    for number in (moving, still):
        library.changeDynamics(number, -1, collisionMargin=0.0, physicsClientId=client)

    def query(pose: Pose) -> np.ndarray:
        T = inverse(pose.T_link_object)
        library.resetBasePositionAndOrientation(
            moving, T[:3, 3], Rotation.from_matrix(T[:3, :3]).as_quat(), physicsClientId=client)
        found = library.getClosestPoints(moving, still, 0.0, physicsClientId=client)
        return np.array([contact[5] for contact in found])
    return query


#: Methods that answer the question, and those that answer another about the same poses.
EXACT = {'gripsim': ours, 'trimesh.ray': trimesh_ray, 'trimesh first hit': trimesh_first,
         'embreex + numpy': embreex_numpy, 'embreex + numba': embreex_compiled,
         'paper rule': paper}
COLLISION = {'python-fcl': fcl, 'coal': coal, 'pybullet': bullet}
