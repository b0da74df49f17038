"""The seen side as a relief over the plane of the picture, and bodies with it in front."""

from dataclasses import dataclass

import numpy as np
import trimesh
from numpy.typing import NDArray
from scipy.spatial import Delaunay

from ..errors import MeshError
from .loading import repair_mesh
from .mesh import FloatArray, IntArray, TriangleMesh, connected_labels

#: Cells of the relief along its largest extent, unless the points stand farther apart.
CELLS = 45
#: Spacings of points in a cell at least.
CELL_SPACINGS = 1.5
#: Triangles with a longer side, in cells, lie outside the outline.
LONGEST_SIDE = 3.0
#: Triangles inside the outline are a hole, through which the sensor saw, from this side [cells].
LONGEST_INNER_SIDE = 8.0
#: A body is nowhere thinner [cells].
LEAST_THICKNESS = 0.25
#: Rounds of smoothing.
SMOOTHING = 10


@dataclass(frozen=True, eq=False)
class Relief:
    """
    A side of a body, one depth at each place of the picture.

    Attributes
    ----------
    places : (n, 2) float
        In the picture [m].
    depth : (n,) float
        Along the view [m].
    faces : (m, 3) int
        Anticlockwise in the picture's axes.
    axes : (3, 3) float
        Rows: the picture's axes and the view, frame object.
    rim : (k,) int
        Points on the outline.
    least_thickness : float
        [m]
    """

    places: FloatArray
    depth: FloatArray
    faces: IntArray
    axes: FloatArray
    rim: IntArray
    least_thickness: float

    def outline_widths(self) -> FloatArray:
        """Return the widths (2,) of the picture along its principal axes [m]."""
        centred = self.places - self.places.mean(axis=0)
        axes = np.linalg.svd(centred, full_matrices=False)[2]
        widths: FloatArray = np.ptp(centred @ axes.T, axis=0)
        return widths


def relief_of(cloud: FloatArray, view: FloatArray, spacing: float) -> Relief:
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
    extent = float(np.ptp(local[:, :2], axis=0).max())
    cell = max(extent / CELLS, CELL_SPACINGS * spacing)
    means = _cell_means(local, cell)
    if len(means) < 4:
        raise MeshError('the points cover no area across the view')
    faces = _outlined(means[:, :2], cell)
    used, faces = np.unique(faces, return_inverse=True)
    faces = faces.reshape(-1, 3)
    rim = np.unique(boundary_edges(faces))
    return Relief(means[used, :2], means[used, 2], faces, axes, rim, LEAST_THICKNESS * cell)


def _cell_means(local: FloatArray, cell: float) -> FloatArray:
    """Return the means (m, 3) of the points in each cell of the picture."""
    keys = np.floor(local[:, :2] / cell).astype(np.int64)
    _, labels, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    labels = labels.reshape(-1)
    sums = np.stack([np.bincount(labels, column) for column in local.T], axis=1)
    means: FloatArray = sums / counts[:, None]
    return means


def _outlined(places: FloatArray, cell: float) -> IntArray:
    """Return the triangles between neighbouring places, without pinched corners."""
    mesh = Delaunay(places)
    faces = mesh.simplices.astype(np.int64)
    a, b, c = (places[faces[:, k]] for k in range(3))
    doubled = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
    faces = np.where((doubled < 0.0)[:, None], faces[:, ::-1], faces)
    sides = np.stack([np.linalg.norm(p - q, axis=1) for p, q in ((a, b), (b, c), (c, a))])
    longest = sides.max(axis=0)
    kept = longest <= LONGEST_SIDE * cell
    kept |= _enclosed(mesh.neighbors, ~kept) & (longest <= LONGEST_INNER_SIDE * cell)
    kept &= np.abs(doubled) > 1e-9 * cell ** 2
    return _without_pinches(_largest_part(faces[kept]))


def _enclosed(neighbours: IntArray, outside: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell which of the triangles outside are cut off from the hull's border by others."""
    pairs = np.stack([np.repeat(np.arange(len(neighbours)), 3), neighbours.ravel()], axis=1)
    open_sides = pairs[:, 1] < 0
    border = len(neighbours)
    pairs[open_sides, 1] = border
    both = outside[pairs[:, 0]] & (open_sides | outside[np.minimum(pairs[:, 1], border - 1)])
    labels = connected_labels(pairs[both], border + 1)
    return outside & (labels[:-1] != labels[border])


def _largest_part(faces: IntArray) -> IntArray:
    """Return the largest set of faces that sides connect."""
    if not len(faces):
        raise MeshError('the points stand too far apart')
    sides = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
    owner = np.tile(np.arange(len(faces)), 3)
    order = np.lexsort(sides.T[::-1])
    same = (sides[order][1:] == sides[order][:-1]).all(axis=1)
    pairs = np.stack([owner[order][:-1][same], owner[order][1:][same]], axis=1)
    labels = connected_labels(pairs, len(faces))
    return faces[labels == np.argmax(np.bincount(labels))]


def boundary_edges(faces: IntArray) -> IntArray:
    """Return the directed sides (k, 2) that only one face has."""
    sides = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    keys = np.sort(sides, axis=1)
    _, inverse, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    return sides[counts[inverse.reshape(-1)] == 1]


def _without_pinches(faces: IntArray) -> IntArray:
    """Drop faces at places where the outline meets itself, until there is none."""
    while True:
        edges = boundary_edges(faces)
        starts = np.bincount(edges[:, 0], minlength=int(faces.max()) + 1)
        pinched = np.flatnonzero(starts > 1)
        if not len(pinched):
            return faces
        faces = _largest_part(faces[~np.isin(faces, pinched).any(axis=1)])


def closed_relief(relief: Relief, back: FloatArray) -> TriangleMesh:
    """
    Return the body between a relief and its back, with walls along the view.

    Parameters
    ----------
    relief : Relief
    back : (n,) float
        Depth of the back at each place, beyond the front [m].

    Returns
    -------
    TriangleMesh
        Closed, frame object.

    Raises
    ------
    MeshError
        It cannot be closed.
    """
    count = len(relief.depth)
    front = np.column_stack([relief.places, relief.depth])
    behind = np.column_stack([relief.places, back])
    tails, heads = boundary_edges(relief.faces).T
    walls = np.concatenate([np.stack([heads, tails, tails + count], axis=1),
                            np.stack([heads, tails + count, heads + count], axis=1)])
    # Seen along the view, anticlockwise faces look away from the sensor.
    faces = np.concatenate([relief.faces[:, ::-1], relief.faces + count, walls[:, ::-1]])
    vertices = np.concatenate([front, behind]) @ relief.axes
    return _smooth(repair_mesh(vertices, faces).mesh)


def _smooth(mesh: TriangleMesh) -> TriangleMesh:
    """Return the mesh without the teeth that cells cut into its outline (Taubin 1995)."""
    rounded = trimesh.Trimesh(mesh.vertices, mesh.faces, process=False)
    trimesh.smoothing.filter_taubin(rounded, iterations=SMOOTHING)
    return mesh.with_vertices(np.array(rounded.vertices))
