"""Placement of a patch's grids: coarse over a region, refined round a spot, fitted at last."""

import numpy as np

from ...arrays import Array, IntArray
from ...numerics.kernels import njit
from ...numerics.summation import pairwise_sum
from ...numerics.vec3 import cross, dot, load_vec3, subtract
from .sampling_grid import SamplingGrid, mask_near


#: Number of points of the coarse grid, which only finds where contact is.
COARSE_COUNT = 250
#: Largest number of points of a grid, and along one side.
MAX_POINTS, MAX_PER_SIDE = 3000, 256
#: The same over the nodes wanted, where that is more: a round contact needs 3.7 [-].
POINTS_PER_NODE = 5
#: Number of points along a side of a refined grid, round a small spot.
REFINED_COUNT = 17
#: Tolerance of a count of steps [steps], so that round-off makes none more or less.
STEP_TOLERANCE = 1e-6


@njit(cache=True)
def grid_frame(normal: Array, axes: Array) -> Array:
    """
    Return rows u, v, N of a frame that turns with the indenter.

    Parameters
    ----------
    normal : (3,) float
        Unit direction N.
    axes : (3, 3) float
        The indenter's axes as columns.

    Returns
    -------
    (3, 3) float
        u is the indenter's x axis projected, its y axis where x is nearly along N.
    """
    n = normal[0], normal[1], normal[2]
    own = load_vec3(axes.T, 0)
    if not abs(dot(own, n)) < 0.9:
        own = load_vec3(axes.T, 1)
    way = dot(own, n)
    u = subtract(own, (n[0] * way, n[1] * way, n[2] * way))
    norm = np.sqrt(dot(u, u))
    u = u[0] / norm, u[1] / norm, u[2] / norm
    return np.array((u, cross(n, u), n))


@njit(cache=True)
def coarse_grid(axes: Array, centre: Array, half: Array,
                frame: Array) -> tuple[SamplingGrid, float]:
    """
    Return the first grid over a region, and the widest gap of interest there.

    Parameters
    ----------
    axes, centre, half : (3, 3) float, (3,) float, (3,) float
        Of the region, an ``OrientedBox``, frame object [m].
    frame : (3, 3) float
        Rows u, v, N.

    Returns
    -------
    SamplingGrid
    float
        Half of the region's diagonal along the frame [m].
    """
    offsets = np.empty((8, 3))
    for corner in range(8):
        for k in range(3):
            offsets[corner, k] = half[k] if corner >> k & 1 else -half[k]
    corners: Array = (centre + offsets @ axes) @ frame.T
    lower, upper, size = np.empty(3), np.empty(3), np.empty(3)
    for k in range(3):
        lower[k], upper[k] = corners[:, k].min(), corners[:, k].max()
        size[k] = upper[k] - lower[k]
    spacing = max(np.sqrt(size[0] * size[1] / COARSE_COUNT),
                  max(size[0], size[1]) / MAX_PER_SIDE * 4.0)
    counts = (int(size[0] / spacing + STEP_TOLERANCE) + 2,
              int(size[1] / spacing + STEP_TOLERANCE) + 2)
    start = np.empty(2)
    for k in range(2):
        start[k] = (lower[k] + upper[k]) / 2.0 - 0.5 * spacing * (counts[k] - 1)
    margin = 1e-6 * (size[2] + spacing)
    heights = np.array([lower[2] - margin, upper[2] + margin])
    return (SamplingGrid(frame, start, spacing, heights, np.ones(counts, np.bool_)),
            float(np.sqrt(size @ size)) / 2.0)


@njit(cache=True)
def refined_grid(frame: Array, start: Array, spacing: float, heights: Array,
                 bounds: IntArray) -> SamplingGrid:
    """Return a finer grid round a few points of another (``ContactSpots.bounds``)."""
    low, high = np.empty(2), np.empty(2)
    for k in range(2):
        low[k] = start[k] + (bounds[2 * k] - 1.5) * spacing
        high[k] = start[k] + (bounds[2 * k + 1] + 1.5) * spacing
    finer = max(high[0] - low[0], high[1] - low[1]) / (REFINED_COUNT - 1)
    counts = (int((high[0] - low[0]) / finer + STEP_TOLERANCE) + 2,
              int((high[1] - low[1]) / finer + STEP_TOLERANCE) + 2)
    begin = np.empty(2)
    for k in range(2):
        begin[k] = (low[k] + high[k]) / 2.0 - 0.5 * finer * (counts[k] - 1)
    return SamplingGrid(frame, begin, finer, heights, np.ones(counts, np.bool_))


@njit(cache=True)
def fitted_grid(points: Array, normals: Array, all_depths: Array, own: IntArray,
                old_frame: Array, old_spacing: float, axes: Array,
                node_count: int) -> tuple[SamplingGrid, float]:
    """
    Fit a grid to some overlapping nodes: spacing, centre, margin of a contact radius.

    Parameters
    ----------
    points, normals, all_depths : (n, 3) float, (n, 3) float, (n,) float
        All nodes of another grid, as in ``GridSamples`` [m].
    own : (k,) int
        The nodes to fit to.
    old_frame, old_spacing : (3, 3) float, float
        Of the other grid [m].
    axes : (3, 3) float
        The indenter's axes as columns.
    node_count : int
        Nodes with overlap wanted.

    Returns
    -------
    SamplingGrid
    float
        Greatest depth of the nodes [m].
    """
    depths = all_depths[own]
    total = depths @ normals[own]
    frame = grid_frame(total / np.sqrt(total @ total), axes)
    area = len(own) * old_spacing ** 2 / max(old_frame[2] @ frame[2], 0.5)
    local = points[own] @ frame.T
    centre, deepest = np.zeros(2), 0.0
    for i in range(len(own)):
        centre[0] += depths[i] * local[i, 0]
        centre[1] += depths[i] * local[i, 1]
        deepest = max(deepest, depths[i])
    centre /= pairwise_sum(depths)
    return _cover_nodes(frame, local, centre, area, old_spacing, deepest, node_count), deepest


@njit(cache=True)
def _cover_nodes(frame: Array, local: Array, centre: Array, area: float, old_spacing: float,
                 deepest: float, node_count: int) -> SamplingGrid:
    """Return the grid of a frame for nodes given in it."""
    radius = np.sqrt(area / (2.0 * np.pi))
    margin = 0.5 * old_spacing + radius
    before, after, size = np.empty(2), np.empty(2), np.empty(2)
    for k in range(2):
        before[k] = centre[k] - local[:, k].min() + margin
        after[k] = local[:, k].max() - centre[k] + margin
        size[k] = before[k] + after[k]
    largest = max(size[0], size[1])
    most = max(MAX_POINTS, POINTS_PER_NODE * node_count)
    spacing = max(np.sqrt(area / node_count), np.sqrt(size[0] * size[1] / most),
                  largest / MAX_PER_SIDE)
    start, counts = np.empty(2), np.empty(2, np.int64)
    for k in range(2):
        first = np.ceil(before[k] / spacing - STEP_TOLERANCE)
        start[k] = centre[k] - first * spacing
        counts[k] = int(first + np.ceil(after[k] / spacing - STEP_TOLERANCE)) + 1
    reach = largest + deepest
    heights = np.array([local[:, 2].min() - reach, local[:, 2].max() + reach])
    mask = mask_near(local, start, spacing, (counts[0], counts[1]), radius + old_spacing)
    return SamplingGrid(frame, start, spacing, heights, mask)
