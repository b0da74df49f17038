"""
Rasterisation: points of a grid cast along its direction onto a smooth side of a surface.

All rays are parallel: triangles are drawn on the grid, as on a screen. A mispredicted
branch for each triangle or point costs more than the arithmetic that it saves; so small
triangles are tried at every point of their extent.
"""

import numpy as np

from ...arrays import Array, BoolArray, IntArray
from ...numerics.kernels import njit
from ...numerics.vec3 import Vec3, dot, load_mat3, store_mat3, store_vec3
from ..geometry.curved_surface import CurvedSurface, lift_onto_surface
from ..geometry.ray_casting import (COVERAGE_TOLERANCE, coverage, doubled, project_triangle,
                                    slab_range, triangles_under)
from ..geometry.vp_tree import VpTree


#: Least cosine between a node's normal and N; steeper nodes see nothing of a contact.
MIN_SLOPE = 0.1
#: Largest extent of a small triangle, steps along u times steps along v.
SMALL_EXTENT = 4


@njit(cache=True)
def rasterise(tree: VpTree, surface: CurvedSurface, side: int, frame: Array, start: Array,
              spacing: float, heights: Array,
              mask: BoolArray) -> tuple[IntArray, Array, Array, IntArray]:
    """
    Return where the rays of a grid enter a side of the object.

    Parameters
    ----------
    tree : VpTree
    surface : CurvedSurface
    side : int
        Smooth side looked at.
    frame : (3, 3) float
        Rows u, v, N.
    start : (2,) float
        First point of the grid, along u and v [m].
    spacing : float
        [m].
    heights : (2,) float
        Bounds along N [m].
    mask : (nu, nv) bool
        Points that are cast.

    Returns
    -------
    cells : (k,) int
        Point of the grid of each hit, ``i * nv + j``; some may be hit more than once.
    points, normals : (k, 3) float
        On the curved surface [m]; unit normals into the object.
    positions : (k,) int
        Triangle of each hit, in the tree's order.
    """
    lower, upper, counts = np.empty(3), np.empty(3), mask.shape
    for k in range(2):
        lower[k] = start[k] - 1e-9 * spacing
        upper[k] = start[k] + (counts[k] - 1 + 1e-9) * spacing
    lower[2], upper[2] = heights[0], heights[1]
    candidates = triangles_under(tree, frame, lower, upper)
    count, sides = 0, surface.sides
    for position in candidates:
        # Kept or overwritten by the next one.
        candidates[count] = position
        count += sides[position] == side
    cells, positions, edges = _rasterise_triangles(tree.corners, candidates[:count], frame, start,
                                                   spacing, mask)
    return _lift_hits(tree.corners, surface, frame, cells, positions, edges)


@njit(cache=True, error_model='numpy')
def _rasterise_triangles(corners: Array, candidates: IntArray, frame: Array, start: Array,
                         spacing: float, mask: BoolArray) -> tuple[IntArray, IntArray, Array]:
    """Return cell, triangle, and edge functions with their sum, where triangles face the rays."""
    nu, nv = mask.shape
    capacity = nu * nv + 16
    cells, positions = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
    edges = np.empty((capacity, 4))
    found, outline, rows = 0, np.empty((3, 3)), load_mat3(frame)
    first_u, first_v = start[0], start[1]
    for position in candidates:
        projected = project_triangle(corners, position, rows)
        a, b, c = projected
        i0, i1 = _index_range(min(a[0], b[0], c[0]), max(a[0], b[0], c[0]), first_u, spacing, nu,
                              COVERAGE_TOLERANCE)
        # Twice the slack, so that what rounding adds to the bounds of a slab is in it, too.
        j0, j1 = _index_range(min(a[1], b[1], c[1]), max(a[1], b[1], c[1]), first_v, spacing, nv,
                              2.0 * COVERAGE_TOLERANCE)
        if (i1 < i0) | (j1 < j0):
            continue
        large = (i1 - i0) * (j1 - j0) > SMALL_EXTENT
        if large:
            store_mat3(outline, projected)
        while found + (i1 - i0 + 1) * (j1 - j0 + 1) > capacity:
            capacity *= 2
            cells, positions, edges = doubled(cells), doubled(positions), doubled(edges)
        for i in range(i0, i1 + 1):
            column = first_u + i * spacing
            if large:
                least, most = slab_range(outline, column - COVERAGE_TOLERANCE * spacing,
                                         column + COVERAGE_TOLERANCE * spacing)
                if least > most:
                    continue
                j0, j1 = _index_range(least, most, first_v, spacing, nv, COVERAGE_TOLERANCE)
            for j in range(j0, j1 + 1):
                e0, e1, e2, total = coverage(projected, column, first_v + j * spacing)
                edges[found, 0], edges[found, 1] = e0, e1
                edges[found, 2], edges[found, 3] = e2, total
                cells[found], positions[found] = i * nv + j, position
                found += mask[i, j] & (total < 0.0)
    return cells[:found], positions[:found], edges[:found]


@njit(cache=True, forceinline=True, error_model='numpy')
def _index_range(least: float, most: float, start: float, spacing: float, count: int,
                 slack: float) -> tuple[int, int]:
    """Return the first and last grid index between two values."""
    low = np.ceil((least - start) / spacing - slack)
    high = np.floor((most - start) / spacing + slack)
    return int(max(low, 0.0)), int(min(high, count - 1.0))


@njit(cache=True, error_model='numpy')
def _lift_hits(corners: Array, surface: CurvedSurface, frame: Array, cells: IntArray,
               positions: IntArray, edges: Array) -> tuple[IntArray, Array, Array, IntArray]:
    """Return the results of ``rasterise`` for hits with facets, less those too steep."""
    all_normals, limits = surface.normals, surface.limits
    direction = (frame[2, 0], frame[2, 1], frame[2, 2])
    points, normals = np.empty((len(cells), 3)), np.empty((len(cells), 3))
    found = 0
    for n in range(len(cells)):
        cell, position, total = cells[n], positions[n], edges[n, 3]
        weights: Vec3 = (edges[n, 0] / total, edges[n, 1] / total, edges[n, 2] / total)
        _, point, normal = lift_onto_surface(corners, all_normals, limits, position, weights,
                                             direction)
        slope = -dot(normal, direction)
        store_vec3(points, found, point)
        store_vec3(normals, found, (-normal[0], -normal[1], -normal[2]))
        cells[found], positions[found] = cell, position
        found += slope >= MIN_SLOPE
    return cells[:found], points[:found], normals[:found], positions[:found]
