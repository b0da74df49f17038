"""
Where edges of one surface go through faces of another.

Two surfaces meet exactly where that happens, whether or not any vertex is inside: a rod
through a plate, or two wedges that cross, have none.
"""

from typing import NamedTuple

import numpy as np

from ...arrays import Array, IntArray
from ...bodies.oriented_box import interaction_region
from ...numerics.kernels import njit
from ...numerics.vec3 import Mat3, Vec3, cross, dot, load_mat3_at, subtract
from ...transforms import apply, inverse
from .closest_point import triangles_in_box
from .contact_mesh import ContactMesh
from .ray_casting import doubled


#: Growth of the region over the size, so that rounding cuts nothing off [-].
MARGIN = 1e-9


class EdgeFaceIntersections(NamedTuple):
    """
    Points where edges of one mesh go through faces of another.

    ``edges (k, 2)`` end vertices in the one, ``faces (k,)`` of the other, ``points (k, 3)``
    [m] in the frame of a. An edge between two faces is found once for each of them.
    """

    edges: IntArray
    faces: IntArray
    points: Array


def intersect_edges_with_faces(
        a: ContactMesh, b: ContactMesh,
        T_a_b: Array) -> tuple[EdgeFaceIntersections, EdgeFaceIntersections]:
    """
    Return where edges of a go through faces of b, and edges of b through faces of a.

    Parameters
    ----------
    a, b : ContactMesh
    T_a_b : (4, 4) float
        Pose of b in a.

    Returns
    -------
    EdgeFaceIntersections, EdgeFaceIntersections

    Notes
    -----
    Signed volumes of the tetrahedra of edge and face (Guigue and Devillers 2003, in the
    general case). An edge that only touches a face, or lies in its plane, does not intersect it.
    """
    chosen_a, chosen_b = _candidates(a, b, T_a_b), _candidates(b, a, inverse(T_a_b))
    corners_a = np.ascontiguousarray(a.mesh.vertices[a.mesh.faces[chosen_a]])
    vertices_b = apply(T_a_b, b.mesh.vertices)
    corners_b = np.ascontiguousarray(vertices_b[b.mesh.faces[chosen_b]])
    return (_intersect(a, chosen_a, corners_a, chosen_b, corners_b),
            _intersect(b, chosen_b, corners_b, chosen_a, corners_a))


def _candidates(mesh: ContactMesh, other: ContactMesh, T_mesh_other: Array) -> IntArray:
    """Return the faces in the region of potential interaction."""
    region = interaction_region(mesh.box, other.box.with_transform(T_mesh_other).inflated(
        MARGIN * other.tree.size))
    if region is None:
        return np.zeros(0, np.int64)
    region = region.inflated(MARGIN * mesh.tree.size)
    found = triangles_in_box(mesh.tree, region.axes, region.centre, region.half_lengths)
    return np.sort(mesh.tree.faces[found])


def _intersect(mesh: ContactMesh, chosen: IntArray, corners: Array, others: IntArray,
               other_corners: Array) -> EdgeFaceIntersections:
    order = np.argsort(other_corners[:, :, 0].min(axis=1), kind='stable')
    rows, places, points = _edge_intersections(corners, np.ascontiguousarray(other_corners[order]))
    faces, corner = mesh.mesh.faces[chosen[rows // 3]], rows % 3
    ends = np.stack([faces[np.arange(len(rows)), corner],
                     faces[np.arange(len(rows)), (corner + 1) % 3]], axis=1)
    return EdgeFaceIntersections(ends, others[order[places]], points)


@njit(cache=True)
def _edge_intersections(corners: Array, others: Array) -> tuple[IntArray, IntArray, Array]:
    """Return sides (3 face + k), places among the others, and points of all intersections."""
    low, high = np.empty((len(others), 3)), np.empty((len(others), 3))
    widest = 0.0
    for j in range(len(others)):
        for k in range(3):
            low[j, k] = min(others[j, 0, k], others[j, 1, k], others[j, 2, k])
            high[j, k] = max(others[j, 0, k], others[j, 1, k], others[j, 2, k])
        widest = max(widest, high[j, 0] - low[j, 0])
    sides, places, count = np.empty(64, np.int64), np.empty(64, np.int64), 0
    points, point = np.empty((64, 3)), np.empty(3)
    for i in range(len(corners)):
        rows = load_mat3_at(corners, i)
        for side in range(3):
            p, q = rows[side], rows[(side + 1) % 3]
            # The others lie in the order of their least x.
            begin = np.searchsorted(low[:, 0], min(p[0], q[0]) - widest)
            end = np.searchsorted(low[:, 0], max(p[0], q[0]), side='right')
            for j in range(begin, end):
                if (_extents_apart(p, q, low[j], high[j])
                        or not _segment_meets_triangle(p, q, load_mat3_at(others, j), point)):
                    continue
                if count == len(sides):
                    sides, places, points = doubled(sides), doubled(places), doubled(points)
                sides[count], places[count], points[count] = 3 * i + side, j, point
                count += 1
    return sides[:count], places[:count], points[:count]


@njit(cache=True, forceinline=True)
def _extents_apart(p: Vec3, q: Vec3, low: Array, high: Array) -> bool:
    apart = False
    for k in range(3):
        apart = apart or min(p[k], q[k]) > high[k] or max(p[k], q[k]) < low[k]
    return apart


@njit(cache=True, forceinline=True)
def _signed_volume(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> float:
    """Return six times the signed volume of a tetrahedron."""
    return dot(cross(subtract(b, a), subtract(c, a)), subtract(d, a))


@njit(cache=True)
def _segment_meets_triangle(p: Vec3, q: Vec3, triangle: Mat3, point: Array) -> bool:
    """Return True if a segment goes through a triangle, and write where."""
    a, b, c = triangle
    before, after = _signed_volume(a, b, c, p), _signed_volume(a, b, c, q)
    if not before * after < 0.0:
        return False
    u, v, w = _signed_volume(p, q, a, b), _signed_volume(p, q, b, c), _signed_volume(p, q, c, a)
    if not ((u >= 0.0 and v >= 0.0 and w >= 0.0) or (u <= 0.0 and v <= 0.0 and w <= 0.0)):
        return False
    share = before / (before - after)
    for k in range(3):
        point[k] = p[k] + share * (q[k] - p[k])
    return True
