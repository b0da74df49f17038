"""
The simplex of two bodies' Minkowski difference nearest to the origin, by GJK.

Unlike the bounds of ``gjk``, which only part bodies, it names the vertices that carry the
nearest points, so that the next query can begin with them and EPA go on from them.
"""

import numpy as np

from ....arrays import Array, IntArray
from ....numerics.kernels import njit
from ....numerics.vec3 import dot, load_vec3, subtract
from ...distance.gjk import EXTRAS, reduce_simplex, support_point


MAX_ITERATIONS = 128
#: Outcomes of the search; inside and touching are both decided by EPA.
APART, TOUCHING, INSIDE = 0, 1, 2


@njit(cache=True)
def minkowski_support(vertices_a: Array, graph_a: IntArray, vertices_b: Array, graph_b: IntArray,
                      direction: Array, pair: IntArray, out: Array) -> None:
    """Write the support point of the Minkowski difference along a direction, and its vertices."""
    extras, (x, y, z) = np.zeros(EXTRAS), (direction[0], direction[1], direction[2])
    pair[0], on_a = support_point(vertices_a, graph_a, extras, (x, y, z), pair[0])
    pair[1], on_b = support_point(vertices_b, graph_b, extras, (-x, -y, -z), pair[1])
    out[0], out[1], out[2] = subtract(on_a, on_b)


@njit(cache=True)
def nearest_simplex(vertices_a: Array, graph_a: IntArray, vertices_b: Array, graph_b: IntArray,
                    pairs: IntArray, count: int,
                    tolerance: float) -> tuple[int, int, Array, Array, Array, float, int]:
    """
    Return state, corners of the simplex, nearest points, direction, distance, steps.

    ``pairs (4, 2)`` holds ``count`` corners to begin with, and at the end the last ones.
    """
    simplex, old = np.empty((4, 3)), np.empty((4, 3))
    v, pair, old_pairs = np.empty(3), np.empty(2, np.int64), np.empty((4, 2), np.int64)
    for i in range(count):
        simplex[i] = vertices_a[pairs[i, 0]] - vertices_b[pairs[i, 1]]
    state, steps, squared, bound = INSIDE, 0, np.inf, -np.inf
    size = count
    while state == INSIDE:
        old[:size], old_pairs[:size] = simplex[:size], pairs[:size]
        kept = reduce_simplex(simplex, size, v)
        if kept == 4:
            break
        _track_vertices(simplex, kept, old, old_pairs, size, pairs)
        size = kept
        now = v[0] ** 2 + v[1] ** 2 + v[2] ** 2
        if np.sqrt(now) <= tolerance:
            state = TOUCHING
            break
        if steps == MAX_ITERATIONS or now >= squared:
            state = APART if bound > 0.0 else TOUCHING
            break
        squared = now
        pair[:] = pairs[0]
        minkowski_support(vertices_a, graph_a, vertices_b, graph_b, -v, pair, simplex[size])
        steps += 1
        pairs[size] = pair
        gap = dot((v[0], v[1], v[2]), load_vec3(simplex, size))
        # The plane through the new corner bounds the distance from below.
        bound = max(bound, gap / np.sqrt(now))
        if np.sqrt(now) - bound <= tolerance:
            state = APART
            break
        size += 1
    norm = np.sqrt(v[0] ** 2 + v[1] ** 2 + v[2] ** 2)
    on_a, on_b = np.zeros(3), np.zeros(3)
    if state == APART:
        weights = barycentric_weights(simplex, size, v)
        for i in range(size):
            on_a += weights[i] * vertices_a[pairs[i, 0]]
            on_b += weights[i] * vertices_b[pairs[i, 1]]
    return state, size, on_a, on_b, -v / max(norm, 1e-300), norm, steps


@njit(cache=True)
def _track_vertices(simplex: Array, kept: int, old: Array, old_pairs: IntArray, size: int,
                    pairs: IntArray) -> None:
    """Write the vertices of the corners that were kept; they were moved unchanged."""
    for i in range(kept):
        for j in range(size):
            if (simplex[i, 0] == old[j, 0] and simplex[i, 1] == old[j, 1]
                    and simplex[i, 2] == old[j, 2]):
                pairs[i] = old_pairs[j]
                break


@njit(cache=True)
def barycentric_weights(simplex: Array, size: int, point: Array) -> Array:
    """Return weights of the corners, up to three, that give a point among them."""
    weights = np.zeros(4)
    weights[0] = 1.0
    if size == 2:
        along = simplex[1] - simplex[0]
        squared = np.sum(along * along)
        weights[1] = np.sum((point - simplex[0]) * along) / squared if squared > 0.0 else 0.0
        weights[0] = 1.0 - weights[1]
    elif size == 3:
        normal = np.cross(simplex[1] - simplex[0], simplex[2] - simplex[0])
        whole = np.sum(normal * normal)
        for k in range(3 if whole > 0.0 else 0):
            first, second = simplex[(k + 1) % 3], simplex[(k + 2) % 3]
            weights[k] = np.sum(np.cross(first - point, second - point) * normal) / whole
    return weights
