"""
What the checks of written grasps rest on: URDF, meshes and distances, none of it gripsim's.

Kinematics are yourdfpy's, meshes and closest points trimesh's, hulls and separating planes
scipy's. Distances between a hull and a mesh are exact to rounding: the least of vertex to
face, face to vertex and edge to edge, after edges were shown not to pierce the other.
"""

from functools import lru_cache
from pathlib import Path

import numpy as np
import trimesh
import yourdfpy
from scipy.optimize import linprog
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

ROOT = Path(__file__).resolve().parents[2]
BASE = 'sdh_palm_link'
JOINTS = ['sdh_knuckle_joint', 'sdh_finger_12_joint', 'sdh_finger_13_joint',
          'sdh_finger_22_joint', 'sdh_finger_23_joint', 'sdh_thumb_2_joint',
          'sdh_thumb_3_joint']
STIFFNESS = 20.0
STEP = 1e-6


@lru_cache(maxsize=1)
def robot():
    """Return the hand as yourdfpy reads it."""
    return yourdfpy.URDF.load(
        str(ROOT / 'urdf' / 'sdh.urdf'), load_meshes=False, build_scene_graph=True,
        filename_handler=mesh_path)


def mesh_path(uri):
    """Return the file of a package:// URI."""
    return str(ROOT / uri.split('gripsim_ros/', 1)[1])


@lru_cache(maxsize=1)
def link_meshes():
    """Return the collision meshes by link, in the links' frames."""
    meshes = {}
    for name, link in robot().link_map.items():
        for collision in link.collisions:
            assert collision.origin is None or np.allclose(collision.origin, np.eye(4))
            meshes[name] = trimesh.load(mesh_path(collision.geometry.mesh.filename))
    return meshes


@lru_cache(maxsize=1)
def link_hulls():
    """Return the vertices of the links' convex hulls."""
    return {name: mesh.vertices[ConvexHull(mesh.vertices).vertices]
            for name, mesh in link_meshes().items()}


def limits():
    """Return lower and upper limits and efforts ``(3, 7)`` of the actuated joints."""
    found = [robot().joint_map[name].limit for name in JOINTS]
    return np.array([[getattr(limit, key) for limit in found]
                     for key in ('lower', 'upper', 'effort')])


def link_poses(joints):
    """Return the poses of all links with a mesh in the palm."""
    robot().update_cfg(dict(zip(JOINTS, np.asarray(joints, float))))
    return {name: robot().get_transform(name, BASE) for name in link_meshes()}


def pose(mapping):
    """Return the transform of ``{position, orientation}``."""
    T = np.eye(4)
    T[:3, :3] = Rotation.from_quat(mapping['orientation']).as_matrix()
    T[:3, 3] = mapping['position']
    return T


def apply(T, points):
    """Return moved points."""
    return points @ T[:3, :3].T + T[:3, 3]


def joint_torques(grasp):
    """Return Jᵀ of the contacts' forces and torques, by central differences."""
    last = np.array(grasp['joint_trajectory']['points'][-1])
    T_object_palm, torques = pose(grasp['hand_pose']), np.zeros(7)
    here = link_poses(last)
    for j in range(7):
        sides = [link_poses(last + sign * STEP * np.eye(7)[j]) for sign in (1.0, -1.0)]
        for contact in grasp['contacts']:
            name = contact['link']
            local = apply(np.linalg.inv(T_object_palm @ here[name]), np.array(contact['point']))
            after, before = (T_object_palm @ side[name] for side in sides)
            shift = (apply(after, local) - apply(before, local)) / (2.0 * STEP)
            turn = Rotation.from_matrix(after[:3, :3] @ before[:3, :3].T).as_rotvec() / (
                2.0 * STEP)
            torques[j] += shift @ contact['force'] + turn @ contact['torque']
    return torques


def hull_distance(points, mesh):
    """Return the distance [m] of the hull of points to a closed mesh; 0 where they touch."""
    hull = ConvexHull(points)
    outer = trimesh.Trimesh(points, hull.simplices, process=True)
    corners = mesh.vertices[mesh.edges_unique]
    if (_heights(hull, mesh.vertices).max(axis=1) <= 0.0).any() or _pierce(corners, hull):
        return 0.0
    _, to_mesh, _ = trimesh.proximity.closest_point(mesh, outer.vertices)
    _, to_hull, _ = trimesh.proximity.closest_point(outer, mesh.vertices)
    best = min(to_mesh.min(), to_hull.min())
    near = _heights(hull, corners.mean(axis=1)).max(axis=1) \
        <= best + 0.5 * mesh.edges_unique_length
    edges = outer.vertices[outer.edges_unique]
    if mesh.contains(outer.vertices[:1]).any() or _pierce_faces(edges, mesh):
        return 0.0
    return min(best, segment_distance(corners[near], edges))


def _heights(hull, points):
    return points @ hull.equations[:, :3].T + hull.equations[:, 3]


def _pierce(segments, hull):
    """Return whether a segment enters a convex body (clipped by its half spaces)."""
    a, b = _heights(hull, segments[:, 0]), _heights(hull, segments[:, 1])
    open_ = ~((a > 0.0) & (b > 0.0)).any(axis=1)
    a, b = a[open_], b[open_]
    if not len(a):
        return False
    with np.errstate(divide='ignore', invalid='ignore'):
        cut = a / (a - b)
    enters = np.where((a > 0.0) & (b <= 0.0), cut, 0.0).max(axis=1)
    leaves = np.where((a <= 0.0) & (b > 0.0), cut, 1.0).min(axis=1)
    return bool((enters < leaves).any())


def _pierce_faces(segments, mesh):
    """Return whether a segment goes through a face."""
    low, high = segments.min(axis=(0, 1)), segments.max(axis=(0, 1))
    corners = mesh.triangles
    corners = corners[((corners.max(axis=1) >= low) & (corners.min(axis=1) <= high)).all(axis=1)]
    origin, way = segments[:, 0, None], (segments[:, 1] - segments[:, 0])[:, None]
    first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    p = np.cross(way, second)
    with np.errstate(divide='ignore', invalid='ignore'):
        scale = 1.0 / np.einsum('sfi,fi->sf', p, first)
        offset = origin - corners[:, 0]
        u = scale * np.einsum('sfi,sfi->sf', offset, p)
        q = np.cross(offset, first)
        v = scale * np.einsum('sfi,sfi->sf', np.broadcast_to(way, q.shape), q)
        t = scale * np.einsum('sfi,fi->sf', q, second)
        return bool(((u >= 0) & (v >= 0) & (u + v <= 1) & (t >= 0) & (t <= 1)).any())


def segment_distance(first, second):
    """Return the least distance of two sets of segments ``(n, 2, 3)``, ``(m, 2, 3)``."""
    best = np.inf
    for rows in np.array_split(first, max(1, len(first) * len(second) // 400_000)):
        if len(rows):
            best = min(best, _segment_distance(rows[:, None], second[None]))
    return best


def _segment_distance(first, second):
    u, v = first[..., 1, :] - first[..., 0, :], second[..., 1, :] - second[..., 0, :]
    w = first[..., 0, :] - second[..., 0, :]
    a, b, c = (u * u).sum(-1), (u * v).sum(-1), (v * v).sum(-1)
    d, e = (u * w).sum(-1), (v * w).sum(-1)
    det = a * c - b * b
    s = np.where(det > 1e-12 * a * c, (b * e - c * d) / np.maximum(det, 1e-300), 0.0)
    s = np.clip(s, 0.0, 1.0)
    t = np.clip((b * s + e) / c, 0.0, 1.0)
    s = np.clip((b * t - d) / a, 0.0, 1.0)
    return float(np.linalg.norm(w + s[..., None] * u - t[..., None] * v, axis=-1).min())


def separated(first, second):
    """Return whether a plane parts two clouds of points (linear programme)."""
    middle = first.mean(axis=0)
    first, second = first - middle, second - middle
    if (first.max(axis=0) < second.min(axis=0)).any() or \
            (second.max(axis=0) < first.min(axis=0)).any():
        return True
    rows = np.concatenate([np.column_stack([first, -np.ones(len(first)), np.ones(len(first))]),
                           np.column_stack([-second, np.ones(len(second)), np.ones(len(second))])])
    answer = linprog([0, 0, 0, 0, -1.0], rows, np.zeros(len(rows)),
                     bounds=[(-1, 1)] * 3 + [(None, None), (None, 1.0)])
    return answer.x is not None and answer.x[4] > 0.0


def neighbours(first, second):
    """Return whether a joint, or a link without a mesh and a joint each side, joins two links."""
    parents = {joint.child: joint.parent for joint in robot().joint_map.values()}
    return parents.get(first) == second or parents.get(second) == first


def deepest(link_points, mesh):
    """Return how deep the deepest point lies in a mesh [m]; 0 where none does."""
    low, high = mesh.bounds
    inside = link_points[((link_points > low) & (link_points < high)).all(axis=1)]
    if not len(inside):
        return 0.0
    return max(0.0, float(trimesh.proximity.signed_distance(mesh, inside).max()))


def keeps_clear(points, mesh, gap):
    """Return whether the hull of points keeps a gap to a mesh; a parting plane is tried first."""
    first, second = points, mesh.vertices[ConvexHull(mesh.vertices).vertices]
    middle = first.mean(axis=0)
    rows = np.concatenate([
        np.column_stack([first - middle, -np.ones(len(first)), np.zeros(len(first))]),
        np.column_stack([middle - second, np.ones(len(second)), np.ones(len(second))])])
    answer = linprog([0, 0, 0, 0, -1.0], rows, np.zeros(len(rows)),
                     bounds=[(-1, 1)] * 3 + [(None, None), (None, 10.0)])
    if answer.x is not None and answer.x[4] > 0.0:
        normal = answer.x[:3] / np.linalg.norm(answer.x[:3])
        if (second @ normal).min() - (first @ normal).max() >= gap:
            return True
    return hull_distance(points, mesh) >= gap
