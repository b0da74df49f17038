"""The seen side of a scan as depths over the plane of the picture, and its outline."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from scipy.interpolate import LinearNDInterpolator, NearestNDInterpolator

from ...arrays import Array
from ...errors import MeshError
from ..mesh import mean_by_row

#: Number of cells along the scan's largest extent, unless points stand farther apart.
CELLS = 45
#: Least size of a cell in spacings of points.
CELL_SPACINGS = 1.5
#: Number of pixels along a cell: two resolve what smoothing over one cell leaves.
CELL_PIXELS = 2
#: Largest gap between points inside the outline [cells].
CLOSED_GAP = 3.0
#: Largest hole in the outline that is closed; through others the sensor saw [cells].
CLOSED_HOLE = 8.0
#: Margin about the outline [pixels]: the reach of smoothing.
MARGIN = 4 * CELL_PIXELS
#: Share of the outline's points that lie nearer to the sensor than its depth: not the very
#: farthest, for outliers.
RIM_SHARE = 0.98


@dataclass(frozen=True, eq=False)
class Relief:
    """
    A side of a body, one depth at each pixel of a picture.

    Attributes
    ----------
    depth : (nx, ny) float
        Along the view, at the middles of pixels; continued beyond the outline [m].
    cover : (nx, ny) float
        Share of each pixel inside the outline.
    origin : (2,) float
        Middle of the first pixel, in the picture's axes [m].
    pixel : float
        Width of a pixel [m].
    axes : (3, 3) float
        Rows: the picture's axes and the view, frame object.
    rim_depth : float
        Depth at which the outline lies [m].
    """

    depth: Array
    cover: Array
    origin: Array
    pixel: float
    axes: Array
    rim_depth: float

    @property
    def nearest(self) -> float:
        """Return the least depth inside the outline [m]."""
        return float(self.depth[self.cover > 0.5].min())

    def outline_widths(self) -> Array:
        """Return the widths (2,) of the outline along its principal axes [m]."""
        places = self.pixel * np.argwhere(self.cover > 0.5)
        centred = places - places.mean(axis=0)
        axes = np.linalg.svd(centred, full_matrices=False)[2]
        return np.ptp(centred @ axes.T, axis=0) + self.pixel


def build_relief(cloud: Array, view: Array, spacing: float) -> Relief:
    """
    Return the relief of a scan.

    Parameters
    ----------
    cloud : (n, 3) float
        [m]
    view : (3,) float
        Unit direction in which the sensor looked; it is taken as parallel.
    spacing : float
        Median distance of neighbouring points [m].

    Returns
    -------
    Relief

    Raises
    ------
    MeshError
        The points cover no area across the view.
    """
    first = np.cross(view, np.eye(3)[int(np.argmin(np.abs(view)))])
    first /= np.linalg.norm(first)
    axes = np.stack([first, np.cross(view, first), view])
    local = cloud @ axes.T
    cell = max(float(np.ptp(local, axis=0).max()) / CELLS, CELL_SPACINGS * spacing)
    pixel = cell / CELL_PIXELS
    origin = local[:, :2].min(axis=0) - MARGIN * pixel
    shape = np.ceil((np.ptp(local[:, :2], axis=0)) / pixel).astype(int) + 2 * MARGIN + 1
    indices = np.rint((local[:, :2] - origin) / pixel).astype(int)
    cover = _cover(indices, shape, 0.5 * spacing / pixel)
    inside = cover > 0.5
    if len(np.unique(np.argwhere(inside)[:, 0])) < 2 or inside.sum() < CELL_PIXELS ** 2:
        raise MeshError('the points cover no area across the view')
    used = inside[tuple(indices.T)]
    depth = _depths(local[used], cell, origin + pixel * np.indices(shape).transpose(1, 2, 0))
    at_rim = ~ndimage.binary_erosion(inside)[tuple(indices.T)]
    rim_depth = float(np.quantile(local[used & at_rim, 2], RIM_SHARE))
    return Relief(depth, cover, origin, pixel, axes, rim_depth)


def _cover(indices: NDArray[np.int_], shape: NDArray[np.int_], growth: float) -> Array:
    """
    Return the share of each pixel inside the outline of the pixels that points lie in.

    The outline lies beyond the last points by ``growth`` [pixels], where the next ray missed.
    """
    free = np.ones(shape, dtype=bool)
    free[tuple(indices.T)] = False
    reach = 0.5 * CLOSED_GAP * CELL_PIXELS
    near = ndimage.distance_transform_edt(free) <= reach
    depth = ndimage.distance_transform_edt(near) - reach + growth
    inside = depth > 0.0
    holes, count = ndimage.label(~inside)
    if count > 1:
        widest = ndimage.maximum(ndimage.distance_transform_edt(~inside), holes,
                                 np.arange(count + 1))
        narrow = 2.0 * np.asarray(widest) <= CLOSED_HOLE * CELL_PIXELS
        narrow[[0, holes[0, 0]]] = False
        depth[narrow[holes]] = 1.0
    parts, count = ndimage.label(depth > 0.0)
    sizes = np.bincount(parts[tuple(indices.T)], minlength=count + 1)
    sizes[0] = 0
    return np.where(parts == np.argmax(sizes), np.clip(depth, 0.0, 1.0), 0.0)


def _depths(local: Array, cell: float, places: Array) -> Array:
    """Return the depth (nx, ny) at places (nx, ny, 2), from means over cells."""
    means, _ = mean_by_row(local, np.floor(local[:, :2] / cell).astype(np.int64))
    if len(means) < 4:
        raise MeshError('the points cover no area across the view')
    inner = LinearNDInterpolator(means[:, :2], means[:, 2])(places)
    outer = NearestNDInterpolator(local[:, :2], local[:, 2])(places)
    return np.where(np.isfinite(inner), inner, outer)
