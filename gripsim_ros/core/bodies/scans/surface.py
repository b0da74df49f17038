"""
The smooth closed surface between the seen side of a body and its assumed back.

The seen side is a relief: depths over the plane of the picture, and the outline.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from scipy.interpolate import LinearNDInterpolator, NearestNDInterpolator

from ...arrays import Array, IntArray
from ...errors import MeshError
from ..loading import repair_mesh
from ..mesh import TriangleMesh, mean_by_row
from ..topology import vertex_graph


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


#: Standard deviation of the smoothing [cells]. Points are means over a cell, so nothing
#: finer is known; less leaves steps of cells, more rounds edges off further.
SMOOTHING = 0.75
#: Least thickness of a body [cells]: smoothing would swallow less.
MIN_THICKNESS = 2.0
#: Largest factor by which a slope lengthens this along the view.
MAX_STEEPNESS = 4.0
#: Range of the level at which the smoothed share of body is cut; 0.5 is right where the
#: surface is plane.
LEVELS = (0.35, 0.65)
#: Number of rounds in which vertices move to the middle of their neighbours and back to the
#: level, and share of the way.
ROUNDS, RELAXATION = 10, 0.5
#: Least rate of change of the share for steps back to the level [1/pixel].
MIN_SLOPE = 0.05


def smooth_solid(relief: Relief, back: Array, cloud: Array) -> TriangleMesh:
    """
    Return the body between a relief and its back.

    Parameters
    ----------
    relief : Relief
    back : (nx, ny) float
        Depth of the back at each pixel [m].
    cloud : (n, 3) float
        Seen points, frame object: the surface is put so that half of them lie inside.

    Returns
    -------
    TriangleMesh
        Closed, normals outward, frame object.

    Raises
    ------
    MeshError
        Nothing is left between front and back.

    Notes
    -----
    The share of each voxel that lies between front, back and outline is smoothed by a
    Gaussian; marching cubes (Lewiner et al. 2003, by scikit-image) cut it where its median
    at the seen points is, so that smoothing moves them in the mean neither in nor out.
    Vertices are then evened out along that surface, which leaves no slivers and, unlike
    smoothing of the triangles alone, keeps them on it. Own composition, see
    docs/model/scans.md.
    """
    from skimage.measure import marching_cubes      # slow to import, and seldom needed
    start, share = _shares(relief, _thickened(relief, back))
    share = ndimage.gaussian_filter(share, SMOOTHING * CELL_PIXELS, mode='constant')
    origin = np.append(relief.origin, start)
    indices = (cloud @ relief.axes.T - origin) / relief.pixel
    seen = ndimage.map_coordinates(share, indices.T, order=1, mode='nearest')
    level = float(np.clip(np.median(seen), *LEVELS))
    if not share.max() > level:
        raise MeshError('nothing is left between front and back')
    vertices, faces, _, _ = marching_cubes(share, level, step_size=CELL_PIXELS)
    mesh = _largest_part(vertices.astype(float), faces)
    even = mesh.with_vertices(_smoothed(mesh, share, level))
    return repair_mesh((origin + relief.pixel * even.vertices) @ relief.axes, even.faces).mesh


def _thickened(relief: Relief, back: Array) -> Array:
    """Return the back (nx, ny) where the body is nowhere thinner than is allowed [m]."""
    least = MIN_THICKNESS * CELL_PIXELS * relief.pixel
    slope = np.linalg.norm(np.gradient(relief.depth, relief.pixel), axis=0)
    # Across the surface, not along the view: steep parts would come apart.
    along = least * np.minimum(np.sqrt(1.0 + slope ** 2), MAX_STEEPNESS)
    return np.where(back - relief.depth < least, relief.depth + along, back)


def _shares(relief: Relief, back: Array) -> tuple[float, Array]:
    """Return the depth of the first voxels and the share (nx, ny, nz) of each in the body."""
    inside, pixel = relief.cover > 0.0, relief.pixel
    start = relief.depth[inside].min() - MARGIN * pixel
    count = int(np.ceil((back[inside].max() - start) / pixel)) + MARGIN + 1
    middles = start + pixel * np.arange(count)
    first = np.maximum(relief.depth[..., None], middles - 0.5 * pixel)
    last = np.minimum(back[..., None], middles + 0.5 * pixel)
    share: Array = np.clip((last - first) / pixel, 0.0, 1.0) * relief.cover[..., None]
    return float(start), share


def _largest_part(vertices: Array, faces: IntArray) -> TriangleMesh:
    """Return the closed part with the most volume."""
    import trimesh
    parts = trimesh.Trimesh(vertices, faces).split(only_watertight=True)
    if not len(parts):
        raise MeshError('no closed surface lies between front and back')
    largest = max(parts, key=lambda part: abs(float(part.volume)))
    return TriangleMesh(np.array(largest.vertices), np.array(largest.faces))


def _smoothed(mesh: TriangleMesh, share: Array, level: float) -> Array:
    """Return vertices (V, 3) moved amid their neighbours, along the level's surface [pixels]."""
    slopes: Array = np.stack([np.gradient(share, axis=axis) for axis in range(3)])
    neighbours = vertex_graph(mesh.edges, len(mesh.vertices))
    degree = np.asarray(neighbours.sum(axis=1))
    points = mesh.vertices.copy()
    for _ in range(ROUNDS):
        points += RELAXATION * (neighbours @ points / degree - points)
        value = ndimage.map_coordinates(share, points.T, order=1, mode='nearest')
        slope = np.stack([ndimage.map_coordinates(part, points.T, order=1, mode='nearest')
                          for part in slopes], axis=1)
        steep = np.maximum((slope ** 2).sum(axis=1), MIN_SLOPE ** 2)
        way = (level - value) / steep
        points += np.clip(way[:, None] * slope, -0.5, 0.5)
    return points
