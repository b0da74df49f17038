"""A certified lower bound of the distance of two meshes, by both their ball trees."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .contact_mesh import ContactMesh
from .gjk import distance_bound, few_points
from .ray_queries import contains

Array = NDArray[np.float64]

#: Pairs of nodes on the stack; enough for trees of any mesh that fits memory.
STACK_SIZE = 1024


def surface_distance(a: ContactMesh, b: ContactMesh, T_a_b: Array, relative: float,
                     absolute: float) -> float:
    """
    Return a lower bound of the distance between two curved surfaces.

    Parameters
    ----------
    a, b : ContactMesh
    T_a_b : (4, 4) float
    relative, absolute : float
        The bound lies within either of the distance of the facets, less their bulges
        [-], [m].

    Returns
    -------
    float
        0 where the surfaces meet, or may meet between their facets [m]. One mesh inside
        the other is not noticed.

    Notes
    -----
    Pairs of balls prune; pairs of triangles are decided by GJK, whose bound is certified.
    Own derivation, after Gottschalk et al., OBBTree, 1996, with balls.
    """
    return float(_dual(a.tree, a.surface.limits, b.tree, b.surface.limits,
                       np.ascontiguousarray(T_a_b[:3, :3]), T_a_b[:3, 3].copy(),
                       relative, absolute))


def overlaps(a: ContactMesh, b: ContactMesh, T_a_b: Array) -> bool:
    """
    Tell whether a vertex of either mesh lies in the other: then they overlap.

    False proves nothing: edges may cross between the vertices.
    """
    rotation, origin = T_a_b[:3, :3], T_a_b[:3, 3]
    forth = b.mesh.vertices @ rotation.T + origin
    back = (a.mesh.vertices - origin) @ rotation
    return _any_inside(a, forth) or _any_inside(b, back)


def _any_inside(target: ContactMesh, points: Array) -> bool:
    box = target.box
    near = (np.abs((points - box.centre) @ box.axes.T) <= box.half_lengths).all(axis=1)
    return bool(near.any() and contains(target.tree, points[near]).any())


@njit(cache=True)
def _dual(a, bulges_a, b, bulges_b, rotation, origin, relative, absolute):
    centres = np.empty_like(b.centres)
    for node in range(len(centres)):
        _move(b.centres[node], rotation, origin, centres[node])
    slack_a, slack_b = bulges_a.max(), bulges_b.max()
    stack = np.empty((STACK_SIZE, 2), np.int64)
    gaps = np.empty(STACK_SIZE)
    stack[0, 0], stack[0, 1] = 0, 0
    gaps[0] = _ball_gap(a, 0, b, 0, centres) - slack_a - slack_b
    top, best, pruned = 1, np.inf, np.inf
    start = np.array([1.0, 0.0, 0.0])
    limits = np.array([relative / 2.0, absolute / 5.0, np.inf])
    while top > 0:
        top -= 1
        m, n, gap = stack[top, 0], stack[top, 1], gaps[top]
        if gap > best - max(relative * best, absolute) / 2.0:
            pruned = min(pruned, gap)
            continue
        split_a = a.children[m, 0] >= 0
        split_b = b.children[n, 0] >= 0
        if not split_a and not split_b:
            best = _leaves(a, bulges_a, m, b, bulges_b, n, rotation, origin, best, start,
                           limits)
            if best <= 0.0:
                return 0.0
            continue
        if split_a and (not split_b or a.radii[m] >= b.radii[n]):
            pairs = ((a.children[m, 0], n), (a.children[m, 1], n))
        else:
            pairs = ((m, b.children[n, 0]), (m, b.children[n, 1]))
        g0 = _ball_gap(a, pairs[0][0], b, pairs[0][1], centres) - slack_a - slack_b
        g1 = _ball_gap(a, pairs[1][0], b, pairs[1][1], centres) - slack_a - slack_b
        first, second = (1, 0) if g0 < g1 else (0, 1)
        for k, which in enumerate((first, second)):
            pair = pairs[which]
            stack[top + k, 0], stack[top + k, 1] = pair[0], pair[1]
            gaps[top + k] = g0 if which == 0 else g1
        top += 2
    return max(min(best, pruned), 0.0)


@njit(cache=True)
def _move(point, rotation, origin, out):
    for k in range(3):
        out[k] = (rotation[k, 0] * point[0] + rotation[k, 1] * point[1]
                  + rotation[k, 2] * point[2] + origin[k])


@njit(cache=True)
def _ball_gap(a, m, b, n, centres):
    squared = 0.0
    for k in range(3):
        squared += (a.centres[m, k] - centres[n, k]) ** 2
    return np.sqrt(squared) - a.radii[m] - b.radii[n]


@njit(cache=True)
def _leaves(a, bulges_a, m, b, bulges_b, n, rotation, origin, best, start, limits):
    """Return the least bound over the triangle pairs of two leaves."""
    other, hints = np.empty((3, 3)), np.zeros(2, np.int64)
    for q in range(b.ranges[n, 0], b.ranges[n, 1]):
        for corner in range(3):
            _move(b.corners[q, corner], rotation, origin, other[corner])
        moved = few_points(b.corners[q])
        for p in range(a.ranges[m, 0], a.ranges[m, 1]):
            slack = bulges_a[p] + bulges_b[q]
            if _round_gap(a.corners[p], other) - slack >= best:
                continue
            limits[2] = best + slack
            gap = distance_bound(few_points(a.corners[p]), moved, rotation, origin, start, limits,
                                 hints)
            best = min(best, max(gap - slack, 0.0))
            if best <= 0.0:
                return 0.0
    return best


@njit(cache=True)
def _round_gap(p, q):
    """Return the gap of balls round two triangles' centroids."""
    squared, radius_p, radius_q = 0.0, 0.0, 0.0
    cp, cq = np.empty(3), np.empty(3)
    for k in range(3):
        cp[k] = (p[0, k] + p[1, k] + p[2, k]) / 3.0
        cq[k] = (q[0, k] + q[1, k] + q[2, k]) / 3.0
        squared += (cp[k] - cq[k]) ** 2
    for corner in range(3):
        dp, dq = 0.0, 0.0
        for k in range(3):
            dp += (p[corner, k] - cp[k]) ** 2
            dq += (q[corner, k] - cq[k]) ** 2
        radius_p, radius_q = max(radius_p, dp), max(radius_q, dq)
    return np.sqrt(squared) - np.sqrt(radius_p) - np.sqrt(radius_q)
