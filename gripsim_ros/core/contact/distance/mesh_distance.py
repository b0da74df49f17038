"""A certified lower bound of the distance of two meshes, by both their ball trees."""

import numpy as np

from ...arrays import Array, IntArray
from ...numerics.kernels import njit
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
                                np.ascontiguousarray(T_a_b[:3, :3]), T_a_b[:3, 3].copy()))


def overlaps(a: ContactMesh, b: ContactMesh, T_a_b: Array) -> bool:
    """
    Return True if a vertex of either mesh lies in the other: then they overlap.

    False proves nothing: edges may cross between the vertices.
    """
    return _any_inside(a, b, T_a_b) or _any_inside(b, a, inverse(T_a_b))


def _any_inside(target: ContactMesh, other: ContactMesh, T_target_other: Array) -> bool:
    box = target.box
    near = points_in_box(other.mesh.vertices, T_target_other, box.axes, box.centre,
                         box.half_lengths)
    points = apply(T_target_other, other.mesh.vertices[near])
    return bool(len(near) and contains(target.tree, points).any())


@njit(cache=True)
def _traverse_both(a: VpTree, bulges_a: Array, b: VpTree, bulges_b: Array, rotation: Array,
                   origin: Array) -> float:
    """Traverse both trees (dual-tree search), nearest pairs of balls first."""
    centres_a, radii_a, children_a = a.centres, a.radii, a.children
    centres_b, radii_b, children_b = np.empty_like(b.centres), b.radii, b.children
    for node in range(len(centres_b)):
        _transform_point(b.centres, node, rotation, origin, centres_b, node)
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
                                  b.ranges[n], rotation, origin, best, start, limits)
            if best <= 0.0:
                return 0.0
            continue
        in_a = split_a and (not split_b or radii_a[m] >= radii_b[n])
        for k in range(2):
            i = children_a[m, k] if in_a else m
            j = n if in_a else children_b[n, k]
            squared = 0.0
            for axis in range(3):
                squared += (centres_a[i, axis] - centres_b[j, axis]) ** 2
            stack[top + k, 0], stack[top + k, 1] = i, j
            gaps[top + k] = np.sqrt(squared) - radii_a[i] - radii_b[j] - slack
        if gaps[top] < gaps[top + 1]:
            for axis in range(2):
                stack[top, axis], stack[top + 1, axis] = stack[top + 1, axis], stack[top, axis]
            gaps[top], gaps[top + 1] = gaps[top + 1], gaps[top]
        top += 2
    return max(min(best, pruned), 0.0)


@njit(cache=True)
def _transform_point(points: Array, i: int, rotation: Array, origin: Array, out: Array,
                     j: int) -> None:
    """Map point i of some to another frame, into row j of the others."""
    x, y, z = points[i, 0], points[i, 1], points[i, 2]
    for k in range(3):
        out[j, k] = rotation[k, 0] * x + rotation[k, 1] * y + rotation[k, 2] * z + origin[k]


@njit(cache=True)
def _leaf_distance(corners_a: Array, bulges_a: Array, range_a: IntArray, corners_b: Array,
                   bulges_b: Array, range_b: IntArray, rotation: Array, origin: Array, best: float,
                   start: Array, limits: Array) -> float:
    """Return the least bound over the triangle pairs of two leaves."""
    own, other, moved = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    a, b, hints = shape_of_points(own), shape_of_points(other), np.zeros(2, np.int64)
    for q in range(range_b[0], range_b[1]):
        for corner in range(3):
            for k in range(3):
                other[corner, k] = corners_b[q, corner, k]
            _transform_point(other, corner, rotation, origin, moved, corner)
        for p in range(range_a[0], range_a[1]):
            slack = bulges_a[p] + bulges_b[q]
            for corner in range(3):
                for k in range(3):
                    own[corner, k] = corners_a[p, corner, k]
            if _ball_gap(own, moved) - slack >= best:
                continue
            limits[2] = best + slack
            gap = distance_bound(a, b, rotation, origin, start, limits, hints)
            best = min(best, max(gap - slack, 0.0))
            if best <= 0.0:
                return 0.0
    return best


@njit(cache=True)
def _ball_gap(p: Array, q: Array) -> float:
    """Return the gap of balls round two triangles' centroids."""
    squared, radius_p, radius_q = 0.0, 0.0, 0.0
    for corner in range(3):
        dp, dq = 0.0, 0.0
        for k in range(3):
            middle_p = (p[0, k] + p[1, k] + p[2, k]) / 3.0
            middle_q = (q[0, k] + q[1, k] + q[2, k]) / 3.0
            dp += (p[corner, k] - middle_p) ** 2
            dq += (q[corner, k] - middle_q) ** 2
            if corner == 0:
                squared += (middle_p - middle_q) ** 2
        radius_p, radius_q = max(radius_p, dp), max(radius_q, dq)
    return np.sqrt(squared) - np.sqrt(radius_p) - np.sqrt(radius_q)
