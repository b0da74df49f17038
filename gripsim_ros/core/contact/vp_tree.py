"""
A vantage-point tree over the bounding balls of a mesh's triangles.

The tree is built once, on the rest pose and in the mesh's own frame. Every node
keeps a ball around all its triangles, so every query prunes by balls and is exact:
a tree over *vertices* that looks at the triangles of the nearest one is not.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..errors import ShapeError

Array = NDArray[np.float64]

LEAF_SIZE = 6
#: Balls grow by this part of the mesh's size, so that rounding never prunes a touch.
INFLATION = 1e-12
STACK_SIZE = 128


class VpTree(NamedTuple):
    """
    Flat arrays of the tree; triangles lie in the order of the leaves.

    Attributes
    ----------
    centres, radii : (m, 3) float, (m,) float
        Ball around all triangles of a node [m].
    slabs : (m, 5) float
        Mean unit normal of a node's triangles, and bounds of their extent along it from
        the ball's centre [m]: a piece of surface is a flat disc rather than a ball.
    children : (m, 2) int
        Inner and outer child, -1 for a leaf.
    ranges : (m, 2) int
        First and one past last triangle position of a node.
    corners : (f, 3, 3) float
        Corners of each triangle [m].
    faces : (f,) int
        Index of each triangle in the mesh.
    size : float
        Diameter of the root's ball [m].
    """

    centres: Array
    radii: Array
    slabs: Array
    children: NDArray[np.int64]
    ranges: NDArray[np.int64]
    corners: Array
    faces: NDArray[np.int64]
    size: float


def build_vp_tree(vertices: Array, faces: NDArray[np.int64]) -> VpTree:
    """
    Build the tree of a mesh.

    Parameters
    ----------
    vertices : (n, 3) float
        Mesh frame [m].
    faces : (f, 3) int

    Returns
    -------
    VpTree

    Raises
    ------
    ShapeError
        There is no triangle, or a vertex is not finite.

    Notes
    -----
    Source: Yianilos 1993, split at the median distance from a vantage point. Departure:
    the points are the triangles' centroids, the vantage point is the one farthest from
    the node's mean, so that both halves stay compact.
    """
    corners = np.ascontiguousarray(np.asarray(vertices, float)[faces])
    if corners.ndim != 3 or not len(corners):
        raise ShapeError(f'a tree needs triangles (f, 3) with f > 0, got {np.shape(faces)}')
    if not np.isfinite(corners).all():
        raise ShapeError('a tree needs finite vertices')
    order, centres, radii, slabs, children, ranges = _build(corners)
    size = 2.0 * float(radii[0])
    radii = radii * (1.0 + INFLATION) + INFLATION * size
    slabs[:, 3] -= INFLATION * size
    slabs[:, 4] += INFLATION * size
    return VpTree(centres, radii, slabs, children, ranges,
                  np.ascontiguousarray(corners[order]), order, size)


@njit(cache=True)
def _build(corners):
    count = len(corners)
    middles = np.empty((count, 3))
    for f in range(count):
        for k in range(3):
            middles[f, k] = (corners[f, 0, k] + corners[f, 1, k] + corners[f, 2, k]) / 3.0
    order = np.arange(count)
    capacity = 2 * count + 1
    centres = np.empty((capacity, 3))
    radii = np.empty(capacity)
    slabs = np.empty((capacity, 5))
    children = np.full((capacity, 2), -1)
    ranges = np.empty((capacity, 2), np.int64)
    ranges[0, 0], ranges[0, 1] = 0, count
    nodes = 1
    node = 0
    while node < nodes:
        start, end = ranges[node]
        _bounding_ball(corners, order[start:end], centres[node], radii[node:node + 1])
        _flat_slab(corners, order[start:end], centres[node], slabs[node])
        if end - start > LEAF_SIZE:
            _split(middles, order[start:end])
            half = start + (end - start) // 2
            for side in range(2):
                children[node, side] = nodes
                ranges[nodes, 0] = start if side == 0 else half
                ranges[nodes, 1] = half if side == 0 else end
                nodes += 1
        node += 1
    return (order, centres[:nodes].copy(), radii[:nodes].copy(), slabs[:nodes].copy(),
            children[:nodes].copy(), ranges[:nodes].copy())


@njit(cache=True)
def _split(middles, order):
    """Sort a node's triangles by their distance from its vantage point."""
    mean = np.zeros(3)
    for f in order:
        mean += middles[f]
    mean /= len(order)
    vantage, farthest = order[0], -1.0
    for f in order:
        distance = _squared(middles[f], mean)
        if distance > farthest:
            vantage, farthest = f, distance
    distances = np.empty(len(order))
    for i in range(len(order)):
        distances[i] = _squared(middles[order[i]], middles[vantage])
    order[:] = order[np.argsort(distances, kind='mergesort')]


@njit(cache=True)
def _squared(a, b):
    return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2


@njit(cache=True)
def _bounding_ball(corners, order, centre, radius):
    """Start from the middle of the extents and pull towards the farthest corner a few times."""
    for k in range(3):
        lower, upper = np.inf, -np.inf
        for f in order:
            for corner in range(3):
                lower = min(lower, corners[f, corner, k])
                upper = max(upper, corners[f, corner, k])
        centre[k] = 0.5 * (lower + upper)
    best = np.empty(3)
    best_radius = np.inf
    for attempt in range(8):
        farthest, far_f, far_c = -1.0, 0, 0
        for f in order:
            for corner in range(3):
                distance = _squared(corners[f, corner], centre)
                if distance > farthest:
                    farthest, far_f, far_c = distance, f, corner
        if farthest < best_radius:
            best_radius = farthest
            best[:] = centre
        step = 1.0 / (attempt + 2.0) ** 2
        for k in range(3):
            centre[k] += step * (corners[far_f, far_c, k] - centre[k])
    centre[:] = best
    radius[0] = np.sqrt(best_radius)


@njit(cache=True)
def _flat_slab(corners, order, centre, slab):
    """Write the mean normal of triangles and their extent along it from a centre."""
    normal = np.zeros(3)
    for f in order:
        normal += np.cross(corners[f, 1] - corners[f, 0], corners[f, 2] - corners[f, 0])
    norm = np.sqrt(np.sum(normal ** 2))
    for k in range(3):
        slab[k] = normal[k] / norm if norm > 0.0 else 0.0
    slab[3], slab[4] = np.inf, -np.inf
    for f in order:
        for corner in range(3):
            along = 0.0
            for k in range(3):
                along += slab[k] * (corners[f, corner, k] - centre[k])
            slab[3], slab[4] = min(slab[3], along), max(slab[4], along)
