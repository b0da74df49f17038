"""Where the lattices of a patch lie: the first over a region, one round a spot, a last fitted."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .lattice import Field, Window, mask_round
from .oriented_box import OrientedBox

Array = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

#: Points of the first lattice, which only finds where contact is.
COARSE_COUNT = 250
#: Points of a lattice at most, and along one side at most.
MOST_POINTS, MOST_ALONG = 3000, 256
#: Points along a side of the lattice that zooms in on a small spot.
ZOOM_COUNT = 17
#: Steps of a lattice that round-off must not make one more or less.
SAME = 1e-6


def lattice_frame(normal: Array, axes: Array) -> Array:
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
    axis = axes[:, 0]
    along = axis @ normal
    if not abs(along) < 0.9:
        axis = axes[:, 1]
        along = axis @ normal
    u = axis - normal * along
    u /= np.sqrt(u @ u)
    (ux, uy, uz), (x, y, z) = u.tolist(), normal.tolist()
    return np.array([[ux, uy, uz], [y * uz - z * uy, z * ux - x * uz, x * uy - y * ux],
                     [x, y, z]])


def coarse_window(box: OrientedBox, frame: Array) -> tuple[Window, float]:
    """
    Return the first lattice over a region, and the widest gap of interest there.

    Parameters
    ----------
    box : OrientedBox
        The region, frame object.
    frame : (3, 3) float
        Rows u, v, N.

    Returns
    -------
    Window
    float
        Half of the region's diagonal along the frame [m].
    """
    start, spacing, heights, mask, size = _cover(box.corners() @ frame.T)
    return Window(frame, start, spacing, heights, mask), float(np.sqrt(size @ size)) / 2.0


@njit(cache=True)
def _cover(corners: Array) -> tuple[Array, float, Array, BoolArray, Array]:
    """Return start, spacing, heights and mask over some points of a frame, and their extent."""
    lower, upper, size = np.empty(3), np.empty(3), np.empty(3)
    for k in range(3):
        lower[k], upper[k] = corners[:, k].min(), corners[:, k].max()
        size[k] = upper[k] - lower[k]
    spacing = max(np.sqrt(size[0] * size[1] / COARSE_COUNT),
                  max(size[0], size[1]) / MOST_ALONG * 4.0)
    counts = int(size[0] / spacing + SAME) + 2, int(size[1] / spacing + SAME) + 2
    start = np.empty(2)
    for k in range(2):
        start[k] = (lower[k] + upper[k]) / 2.0 - 0.5 * spacing * (counts[k] - 1)
    margin = 1e-6 * (size[2] + spacing)
    heights = np.array([lower[2] - margin, upper[2] + margin])
    return start, spacing, heights, np.ones(counts, np.bool_), size


def zoom_window(field: Field, bounds: IntArray) -> Window:
    """Return a finer lattice round a few points of a field (``Spots.bounds``)."""
    window = field.window
    low = window.start + (bounds[[0, 2]] - 1.5) * window.spacing
    high = window.start + (bounds[[1, 3]] + 1.5) * window.spacing
    spacing = float((high - low).max() / (ZOOM_COUNT - 1))
    counts = tuple(int(n + SAME) + 2 for n in (high - low) / spacing)
    begin = (low + high) / 2.0 - 0.5 * spacing * (np.array(counts) - 1)
    return Window(window.frame, begin, spacing, window.heights, np.ones(counts, bool))


def fitted_window(field: Field, own: IntArray, axes: Array,
                  node_count: int) -> tuple[Window, float]:
    """
    Fit a lattice to some overlapping nodes: spacing, centre, margin of a contact radius.

    Parameters
    ----------
    field : Field
    own : (k,) int
        The nodes.
    axes : (3, 3) float
        The indenter's axes as columns.
    node_count : int
        Nodes with overlap wanted.

    Returns
    -------
    Window
    float
        Greatest depth of the nodes [m].
    """
    depths = field.depths[own]
    old = field.window
    total = depths @ field.normals[own]
    frame = lattice_frame(total / np.sqrt(total @ total), axes)
    area = len(own) * old.spacing ** 2 / max(float(old.frame[2] @ frame[2]), 0.5)
    local = field.points[own] @ frame.T
    centre = (depths @ local[:, :2]) / depths.sum()
    deepest = float(depths.max())
    start, spacing, heights, mask = _fit(local, centre, area, old.spacing, deepest, node_count)
    return Window(frame, start, spacing, heights, mask), deepest


@njit(cache=True)
def _fit(local: Array, centre: Array, area: float, old_spacing: float, deepest: float,
         node_count: int) -> tuple[Array, float, Array, BoolArray]:
    """Return start, spacing, heights and mask of the lattice for nodes given in its frame."""
    radius = np.sqrt(area / (2.0 * np.pi))
    margin = 0.5 * old_spacing + radius
    before, after, size = np.empty(2), np.empty(2), np.empty(2)
    for k in range(2):
        before[k] = centre[k] - local[:, k].min() + margin
        after[k] = local[:, k].max() - centre[k] + margin
        size[k] = before[k] + after[k]
    largest = max(size[0], size[1])
    spacing = max(np.sqrt(area / node_count), np.sqrt(size[0] * size[1] / MOST_POINTS),
                  largest / MOST_ALONG)
    start, counts = np.empty(2), np.empty(2, np.int64)
    for k in range(2):
        first = np.ceil(before[k] / spacing - SAME)
        start[k] = centre[k] - first * spacing
        counts[k] = int(first + np.ceil(after[k] / spacing - SAME)) + 1
    reach = largest + deepest
    heights = np.array([local[:, 2].min() - reach, local[:, 2].max() + reach])
    mask = mask_round(local, start, spacing, (counts[0], counts[1]), radius + old_spacing)
    return start, spacing, heights, mask
