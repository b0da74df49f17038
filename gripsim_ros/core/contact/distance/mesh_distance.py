"""A certified lower bound of the distance of two meshes, by both their ball trees."""

import numpy as np

from ...arrays import Array, IntArray
from ...numerics.kernels import njit
from ...numerics.vec3 import (
    Mat3, Vec3, dot, load_mat3_at, load_vec3, placed, store_mat3, store_vec3, subtract)
from ...transforms import apply, inverse
from ..geometry.closest_point import points_in_box
from ..geometry.contact_mesh import ContactMesh
from ..geometry.ray_casting import contains
from ..geometry.vp_tree import VpTree
from .gjk import ABSOLUTE, RELATIVE, distance_bound, shape_of_points


#: Capacity of the stack in pairs of nodes: enough for any mesh that fits memory.
STACK_SIZE = 1024


def mesh_distance(a: ContactMesh, b: ContactMesh, T_a_b: Array) -> float:
    """
    Return a lower bound of the distance between two curved surfaces.

    Parameters
    ----------
    a, b : ContactMesh
    T_a_b : (4, 4) float

    Returns
    -------
    float
        0 where a vertex of either lies in the other, or the surfaces meet, or may meet
        between their facets; else within ``RELATIVE`` or ``ABSOLUTE`` of the distance of
        the facets, less their bulges [m].

    Notes
    -----
    Pairs of balls prune; pairs of triangles are decided by GJK, whose bound is certified.
    Own derivation, after Gottschalk et al., OBBTree, 1996, with balls.
    """
    if overlaps(a, b, T_a_b):
        return 0.0
    return float(_traverse_both(a.tree, a.surface.limits, b.tree, b.surface.limits,
                                np.array(T_a_b[:3], float)))


def overlaps(a: ContactMesh, b: ContactMesh, T_a_b: Array) -> bool:
    """
    Return True if a vertex of either mesh lies in the other: then they overlap.

    False proves nothing: edges may cross between the vertices.
    """
    return _any_inside(a, b, T_a_b) or _any_inside(b, a, inverse(T_a_b))


def _any_inside(target: ContactMesh, other: ContactMesh, T_target_other: Array) -> bool:
    near = points_in_box(other.mesh.vertices, T_target_other, target.box)
    points = apply(T_target_other, other.mesh.vertices[near])
    return bool(len(near) and contains(target.tree, points).any())


@njit(cache=True)
def _traverse_both(a: VpTree, bulges_a: Array, b: VpTree, bulges_b: Array,
                   pose: Array) -> float:
    """Traverse both trees (dual-tree search), nearest pairs of balls first."""
    centres_a, radii_a, children_a = a.centres, a.radii, a.children
    centres_b, radii_b, children_b = np.empty_like(b.centres), b.radii, b.children
    for node in range(len(centres_b)):
        store_vec3(centres_b, node, placed(pose, load_vec3(b.centres, node)))
    slack = bulges_a.max() + bulges_b.max()
    stack = np.empty((STACK_SIZE, 2), np.int64)
    gaps = np.empty(STACK_SIZE)
    stack[0, 0], stack[0, 1], gaps[0] = 0, 0, -np.inf
    top, best, pruned = 1, np.inf, np.inf
    start = np.array([1.0, 0.0, 0.0])
    limits = np.array([0.5 * RELATIVE, 0.2 * ABSOLUTE, np.inf])
    while top > 0:
        top -= 1
        m, n = stack[top, 0], stack[top, 1]
        if gaps[top] > best - max(RELATIVE * best, ABSOLUTE) / 2.0:
            pruned = min(pruned, gaps[top])
            continue
        split_a, split_b = children_a[m, 0] >= 0, children_b[n, 0] >= 0
        if not split_a and not split_b:
            best = _leaf_distance(a.corners, bulges_a, a.ranges[m], b.corners, bulges_b,
                                  b.ranges[n], pose, best, start, limits)
            if best <= 0.0:
                return 0.0
            continue
        in_a = split_a and (not split_b or radii_a[m] >= radii_b[n])
        for k in range(2):
            i = children_a[m, k] if in_a else m
            j = n if in_a else children_b[n, k]
            way = subtract(load_vec3(centres_a, i), load_vec3(centres_b, j))
            stack[top + k, 0], stack[top + k, 1] = i, j
            gaps[top + k] = np.sqrt(dot(way, way)) - radii_a[i] - radii_b[j] - slack
        if gaps[top] < gaps[top + 1]:
            for axis in range(2):
                stack[top, axis], stack[top + 1, axis] = stack[top + 1, axis], stack[top, axis]
            gaps[top], gaps[top + 1] = gaps[top + 1], gaps[top]
        top += 2
    return max(min(best, pruned), 0.0)


@njit(cache=True)
def _leaf_distance(corners_a: Array, bulges_a: Array, range_a: IntArray, corners_b: Array,
                   bulges_b: Array, range_b: IntArray, pose: Array, best: float, start: Array,
                   limits: Array) -> float:
    """Return the least bound over the triangle pairs of two leaves."""
    own, other = np.empty((3, 3)), np.empty((3, 3))
    rotation, origin = pose[:, :3].copy(), pose[:, 3].copy()
    a, b, hints = shape_of_points(own), shape_of_points(other), np.zeros(2, np.int64)
    for q in range(range_b[0], range_b[1]):
        triangle = load_mat3_at(corners_b, q)
        store_mat3(other, triangle)
        centre, radius = _ball((placed(pose, triangle[0]), placed(pose, triangle[1]),
                                placed(pose, triangle[2])))
        for p in range(range_a[0], range_a[1]):
            slack = bulges_a[p] + bulges_b[q]
            triangle = load_mat3_at(corners_a, p)
            own_centre, own_radius = _ball(triangle)
            way = subtract(own_centre, centre)
            if np.sqrt(dot(way, way)) - own_radius - radius - slack >= best:
                continue
            store_mat3(own, triangle)
            limits[2] = best + slack
            gap = distance_bound(a, b, rotation, origin, start, limits, hints)
            best = min(best, max(gap - slack, 0.0))
            if best <= 0.0:
                return 0.0
    return best


@njit(cache=True, forceinline=True)
def _ball(triangle: Mat3) -> tuple[Vec3, float]:
    """Return centre and radius of the ball round a triangle's centroid."""
    a, b, c = triangle
    centre = (a[0] + b[0] + c[0]) / 3.0, (a[1] + b[1] + c[1]) / 3.0, (a[2] + b[2] + c[2]) / 3.0
    to_a, to_b, to_c = subtract(a, centre), subtract(b, centre), subtract(c, centre)
    return centre, np.sqrt(max(dot(to_a, to_a), dot(to_b, to_b), dot(to_c, to_c)))
