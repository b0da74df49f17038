"""
Other ways to the same answer, each as fast as its library lets us make it.

A method is prepared once for two meshes and then called with poses; it returns, of the link
in the body and of the body in the link, vertices, depths, exits, triangles and barycentric
weights, for all of these are the contact. Collision libraries, which know no vertices, are
timed only.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import trimesh
from embreex import rtcore_scene
from embreex.mesh_construction import TriangleMesh as EmbreeMesh
from numba import njit

from benchmarks.contact.bodies import Pose
from gripsim_ros.core.bodies import TriangleMesh
from gripsim_ros.core.contact import ContactMesh, PenetratingVertices, vertex_contacts
from gripsim_ros.core.contact.geometry.culling import transformed_frame, vertices_in_box
from gripsim_ros.core.bodies.oriented_box import fit_oriented_box
from gripsim_ros.core.contact.published.intersection_rule import RuleMesh, rule_contacts
from gripsim_ros.core.transforms import apply, inverse

Side = tuple[np.ndarray, ...]
Answer = tuple[Side, Side]
Method = Callable[[Pose], Any]


def _content(side: PenetratingVertices) -> Side:
    return side.vertices, side.depths, side.points, side.triangles, side.weights


def ours(link: TriangleMesh, body: TriangleMesh) -> Method:
    """Return our own narrow phase, the function that users call."""
    a, b = ContactMesh(link), ContactMesh(body)
    _ = a.flat_tree, b.flat_tree

    def query(pose: Pose) -> Answer:
        found = vertex_contacts(a, b, pose.T_link_object, pose.direction)
        return _content(found.a_in_b), _content(found.b_in_a)
    return query


def paper(link: TriangleMesh, body: TriangleMesh) -> Method:
    """Return the paper's own rule."""
    a, b = RuleMesh(link), RuleMesh(body)

    def query(pose: Pose) -> Answer:
        found = rule_contacts(a, b, pose.T_link_object, pose.direction)
        return _content(found.a_in_b), _content(found.b_in_a)
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
    normals, triangles, vertices = mesh.face_normals, mesh.triangles, np.array(own.vertices)
    assert type(mesh.ray).__module__.endswith('pyembree'), 'trimesh runs without Embree'

    def find(T: np.ndarray, direction: np.ndarray) -> Side:
        points = apply(T, vertices)
        near = np.flatnonzero(((points >= low) & (points <= high)).all(axis=1))
        if not len(near):
            return _none()
        origins = points[near]
        where, rays, faces = mesh.ray.intersects_location(
            origins, np.broadcast_to(direction, origins.shape), multiple_hits=False)
        leaving = normals[faces] @ direction > 0.0
        rays, where, faces = rays[leaving], where[leaving], faces[leaving]
        return (near[rays], (where - origins[rays]) @ direction, where, faces,
                trimesh.triangles.points_to_barycentric(triangles[faces], where))
    return find


def _contains_side(own: TriangleMesh, target: TriangleMesh) -> Any:
    """As its documentation has it: what is inside by ``contains``, then rays for the way out."""
    mesh = trimesh.Trimesh(target.vertices, target.faces, process=False)
    low, high = mesh.bounds
    vertices, triangles = np.array(own.vertices), mesh.triangles

    def find(T: np.ndarray, direction: np.ndarray) -> Side:
        points = apply(T, vertices)
        near = np.flatnonzero(((points >= low) & (points <= high)).all(axis=1))
        near = near[mesh.contains(points[near])] if len(near) else near
        if not len(near):
            return _none()
        origins = points[near]
        where, rays, faces = mesh.ray.intersects_location(
            origins, np.broadcast_to(direction, origins.shape), multiple_hits=False)
        return (near[rays], (where - origins[rays]) @ direction, where, faces,
                trimesh.triangles.points_to_barycentric(triangles[faces], where))
    return find


def _none() -> Side:
    return (np.zeros(0, int), np.zeros(0), np.zeros((0, 3)), np.zeros(0, int), np.zeros((0, 3)))


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
    corners = np.array(target.vertices[target.faces])
    first, sides = corners[:, 0], corners[:, 1:] - corners[:, :1]
    normals = np.cross(sides[:, 0], sides[:, 1])
    squared = np.einsum('fi,fi->f', normals, normals)

    def find(T: np.ndarray, direction: np.ndarray) -> Side:
        points = apply(T, vertices)
        near = np.flatnonzero(((points >= low) & (points <= high)).all(axis=1))
        origins = points[near]
        if not len(near):
            return _none()
        directions = np.empty((len(near), 3), np.float32)
        directions[:] = direction
        faces = scene.run(origins.astype(np.float32), directions)
        along = normals[faces] @ direction
        leaving = (faces >= 0) & (along > 0.0)
        faces, origins, along = faces[leaving], origins[leaving], along[leaving]
        n = normals[faces]
        ways = np.einsum('ki,ki->k', first[faces] - origins, n) / along
        exits = origins + ways[:, None] * direction
        offsets, edges = exits - first[faces], sides[faces]
        v = np.einsum('ki,ki->k', np.cross(offsets, edges[:, 1]), n) / squared[faces]
        w = np.einsum('ki,ki->k', np.cross(edges[:, 0], offsets), n) / squared[faces]
        return near[leaving], ways, exits, faces, np.stack([1.0 - v - w, v, w], axis=1)
    return find


@njit(cache=True)
def _filtered(balls, nodes, vertices, ids, sizes, box, T, direction):
    """Return the vertices in a box: indices, points, and both as Embree wants them."""
    rotation, origin = T[:3, :3].copy(), T[:3, 3].copy()
    found = vertices_in_box(balls, nodes, vertices, int(sizes[0]),
                            transformed_frame(box[:3], rotation, origin - box[3]), box[4])
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
def _refined(indices, points, direction, faces, corners):
    """Return the contacts, in float64, of the rays that Embree says leave."""
    kept = 0
    vertices, ways = np.empty(len(faces), np.int64), np.empty(len(faces))
    hit, exits, weights = np.empty(len(faces), np.int64), np.empty((len(faces), 3)), np.empty(
        (len(faces), 3))
    dx, dy, dz = direction[0], direction[1], direction[2]
    for i in range(len(faces)):
        f = faces[i]
        if f < 0:
            continue
        ox, oy, oz = corners[f, 0, 0], corners[f, 0, 1], corners[f, 0, 2]
        ax, ay, az = corners[f, 1, 0] - ox, corners[f, 1, 1] - oy, corners[f, 1, 2] - oz
        bx, by, bz = corners[f, 2, 0] - ox, corners[f, 2, 1] - oy, corners[f, 2, 2] - oz
        nx, ny, nz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
        slope = nx * dx + ny * dy + nz * dz
        if slope <= 0.0:
            continue
        sx, sy, sz = points[i, 0] - ox, points[i, 1] - oy, points[i, 2] - oz
        qx, qy, qz = sy * dz - sz * dy, sz * dx - sx * dz, sx * dy - sy * dx
        way = -(nx * sx + ny * sy + nz * sz) / slope
        v, w = (bx * qx + by * qy + bz * qz) / -slope, (ax * qx + ay * qy + az * qz) / slope
        vertices[kept], ways[kept], hit[kept] = indices[i], way, f
        weights[kept, 0], weights[kept, 1], weights[kept, 2] = 1.0 - v - w, v, w
        for k in range(3):
            exits[kept, k] = points[i, k] + way * direction[k]
        kept += 1
    return vertices[:kept], ways[:kept], exits[:kept], hit[:kept], weights[:kept]


def _strong_side(own: TriangleMesh, target: TriangleMesh) -> Any:
    """The same with our own culling, compiled: the strongest pipeline round Embree we know."""
    scene = embreex_scene(target.vertices, target.faces)
    arrays = ContactMesh(own).flat_tree
    fitted = fit_oriented_box(target.vertices, target.faces)
    box = np.vstack([fitted.axes, fitted.centre, fitted.half_lengths])
    corners = np.array(target.vertices[target.faces])
    query = arrays.balls, arrays.nodes, arrays.vertices, arrays.vertex_ids, arrays.sizes, box

    def find(T: np.ndarray, direction: np.ndarray) -> Side:
        indices, points, short, directions = _filtered(*query, T, direction)
        if not len(indices):
            return _none()
        return _refined(indices, points, direction, scene.run(short, directions), corners)
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
