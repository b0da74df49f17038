"""The smooth closed surface between the seen side of a body and its assumed back."""

import numpy as np
import trimesh
from scipy import ndimage

from ...arrays import Array, IntArray
from ...errors import MeshError
from ..loading import repair_mesh
from ..mesh import TriangleMesh
from ..topology import vertex_graph
from .relief import CELL_PIXELS, MARGIN, Relief

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
