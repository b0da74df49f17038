"""Placement of a patch's grids: coarse over a region, refined round a spot, fitted at last."""

import numpy as np
from numba import njit

from ...arrays import Array, BoolArray, IntArray
from ...numerics.summation import pairwise_sum
from ..geometry.oriented_box import OrientedBox
from .sampling_grid import GridSamples, SamplingGrid, mask_near


#: Number of points of the coarse grid, which only finds where contact is.
COARSE_COUNT = 250
#: Largest number of points of a grid, and along one side.
MAX_POINTS, MAX_PER_SIDE = 3000, 256
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
    x, y, z = normal[0], normal[1], normal[2]
    column = 0
    way = axes[0, 0] * x + axes[1, 0] * y + axes[2, 0] * z
    if not abs(way) < 0.9:
        column = 1
        way = axes[0, 1] * x + axes[1, 1] * y + axes[2, 1] * z
    ux, uy, uz = axes[0, column] - x * way, axes[1, column] - y * way, axes[2, column] - z * way
    norm = np.sqrt(ux * ux + uy * uy + uz * uz)
    ux, uy, uz = ux / norm, uy / norm, uz / norm
    return np.array([[ux, uy, uz], [y * uz - z * uy, z * ux - x * uz, x * uy - y * ux], [x, y, z]])


def coarse_grid(box: OrientedBox, frame: Array) -> tuple[SamplingGrid, float]:
    """
    Return the first grid over a region, and the widest gap of interest there.

    Parameters
    ----------
    box : OrientedBox
        The region, frame object.
    frame : (3, 3) float
        Rows u, v, N.

    Returns
    -------
    SamplingGrid
    float
        Half of the region's diagonal along the frame [m].
    """
    start, spacing, heights, mask, behind = _cover_box(box.axes, box.centre, box.half_lengths,
                                                       frame)
    return SamplingGrid(frame, start, spacing, heights, mask), behind


@njit(cache=True)
def _cover_box(axes: Array, centre: Array, half: Array,
               frame: Array) -> tuple[Array, float, Array, BoolArray, float]:
    """Return start, spacing, heights and mask over a box, and half of its extent's diagonal."""
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
    return start, spacing, heights, np.ones(counts, np.bool_), float(np.sqrt(size @ size)) / 2.0


def refined_grid(samples: GridSamples, bounds: IntArray) -> SamplingGrid:
    """Return a finer grid round a few points of another (``ContactSpots.bounds``)."""
    grid = samples.grid
    start, spacing, mask = _refine(grid.start, grid.spacing, bounds)
    return SamplingGrid(grid.frame, start, spacing, grid.heights, mask)


@njit(cache=True)
def _refine(start: Array, spacing: float, bounds: IntArray) -> tuple[Array, float, BoolArray]:
    """Return start, spacing and mask of the grid round a few points of another."""
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
    return begin, finer, np.ones(counts, np.bool_)


def fitted_grid(samples: GridSamples, own: IntArray, axes: Array,
                node_count: int) -> tuple[SamplingGrid, float]:
    """
    Fit a grid to some overlapping nodes: spacing, centre, margin of a contact radius.

    Parameters
    ----------
    samples : GridSamples
    own : (k,) int
        The nodes.
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
    old = samples.grid
    frame, start, spacing, heights, mask, deepest = _fit(
        samples.points, samples.normals, samples.depths, own, old.frame, old.spacing,
        old.spacing ** 2, axes, node_count)
    return SamplingGrid(frame, start, spacing, heights, mask), deepest


@njit(cache=True)
def _fit(points: Array, normals: Array, all_depths: Array, own: IntArray, old_frame: Array,
         old_spacing: float, cell: float, axes: Array,
         node_count: int) -> tuple[Array, Array, float, Array, BoolArray, float]:
    """
    Return frame, start, spacing, heights and mask for some nodes, and the greatest depth.

    ``cell`` is the area of a cell of the old grid [m^2].
    """
    depths = all_depths[own]
    total = depths @ normals[own]
    frame = grid_frame(total / np.sqrt(total @ total), axes)
    area = len(own) * cell / max(old_frame[2] @ frame[2], 0.5)
    local = points[own] @ frame.T
    centre, deepest = np.zeros(2), 0.0
    for i in range(len(own)):
        centre[0] += depths[i] * local[i, 0]
        centre[1] += depths[i] * local[i, 1]
        deepest = max(deepest, depths[i])
    centre /= pairwise_sum(depths)
    start, spacing, heights, mask = _cover_nodes(local, centre, area, old_spacing, deepest,
                                                 node_count)
    return frame, start, spacing, heights, mask, deepest


@njit(cache=True)
def _cover_nodes(local: Array, centre: Array, area: float, old_spacing: float, deepest: float,
                 node_count: int) -> tuple[Array, float, Array, BoolArray]:
    """Return start, spacing, heights and mask of the grid for nodes given in its frame."""
    radius = np.sqrt(area / (2.0 * np.pi))
    margin = 0.5 * old_spacing + radius
    before, after, size = np.empty(2), np.empty(2), np.empty(2)
    for k in range(2):
        before[k] = centre[k] - local[:, k].min() + margin
        after[k] = local[:, k].max() - centre[k] + margin
        size[k] = before[k] + after[k]
    largest = max(size[0], size[1])
    spacing = max(np.sqrt(area / node_count), np.sqrt(size[0] * size[1] / MAX_POINTS),
                  largest / MAX_PER_SIDE)
    start, counts = np.empty(2), np.empty(2, np.int64)
    for k in range(2):
        first = np.ceil(before[k] / spacing - STEP_TOLERANCE)
        start[k] = centre[k] - first * spacing
        counts[k] = int(first + np.ceil(after[k] / spacing - STEP_TOLERANCE)) + 1
    reach = largest + deepest
    heights = np.array([local[:, 2].min() - reach, local[:, 2].max() + reach])
    mask = mask_near(local, start, spacing, (counts[0], counts[1]), radius + old_spacing)
    return start, spacing, heights, mask
