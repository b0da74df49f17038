"""Contours for planar closing: sections of a mesh, and lines of scanned points."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array, BoolArray, IntArray
from ...bodies import TriangleMesh
from ...bodies.loading import check_extent, finite_points
from ...errors import MeshError, ShapeError
from ...fields import checked_array
from ...numerics.kernels import njit
from ...numerics.vec3 import cross


#: Smallest and largest number of points of a contour.
FEWEST_POINTS, MOST_POINTS = 3, 1_000_000
#: Largest distance of a closed contour's ends, in median spacings [-].
OPEN_GAP = 5.0
#: Smallest width of a contour over its length [-].
FLAT = 1e-6
#: Largest thickness of a scanned line over its extent [-].
OUT_OF_PLANE = 0.1


@dataclass(frozen=True, eq=False)
class Contour:
    """
    A contour in a plane.

    Attributes
    ----------
    points : (n, 2) float
        In order [m].
    closed : bool
        False: its back was not scanned; the ends are not joined.
    origin, axes : (3,) and (2, 3) float
        A point of the plane and unit vectors along its coordinates, frame of the source.
    """

    points: Array
    closed: bool
    origin: Array
    axes: Array

    @property
    def segments(self) -> Array:
        """Return its straight pieces ``(n, 2, 2)``, one less where it is open."""
        ends = np.roll(self.points, -1, axis=0)
        pieces = np.stack([self.points, ends], axis=1)
        return pieces if self.closed else pieces[:-1]

    @property
    def perimeter(self) -> float:
        """Return its length [m]."""
        return float(np.linalg.norm(np.diff(self.segments, axis=1), axis=2).sum())

    def to_source(self, points: Array) -> Array:
        """Return points ``(..., 2)`` of the plane as ``(..., 3)`` of the source [m]."""
        return self.origin + points @ self.axes


@njit(cache=True)
def cut_faces(vertices: Array, faces: IntArray, origins: Array, e1: Array, e2: Array,
              max_distance: float) -> tuple[Array, IntArray, IntArray]:
    """
    Return the section of triangles by parallel planes: pieces (k, 2, 2), faces (k,), planes (k,).

    Pieces are in the coordinates of their planes, plane after plane. ``origins (p, 3)``, 8 at
    most, are those of the planes; only pieces within ``max_distance`` of theirs are kept.
    Corners on a plane count as above it, so that closed surfaces give closed loops.
    """
    normal = cross((e1[0], e1[1], e1[2]), (e2[0], e2[1], e2[2]))
    planes = len(origins)
    x, y, z = vertices[:, 0].copy(), vertices[:, 1].copy(), vertices[:, 2].copy()
    heights, above = np.empty((planes, len(vertices))), np.zeros(len(vertices), np.uint8)
    for plane in range(planes):
        ox, oy, oz = origins[plane]
        height, side = heights[plane], np.uint8(1 << plane)
        for i in range(len(vertices)):
            height[i] = (x[i] - ox) * normal[0] + (y[i] - oy) * normal[1] + (z[i] - oz) * normal[2]
        for i in range(len(vertices)):
            above[i] |= side if height[i] >= 0.0 else np.uint8(0)
    rows, crossed, count = np.empty(len(faces), np.int64), np.empty(len(faces), np.uint8), 0
    for f in range(len(faces)):
        a, b, c = above[faces[f, 0]], above[faces[f, 1]], above[faces[f, 2]]
        rows[count], crossed[count] = f, (a ^ b) | (a ^ c)
        count += crossed[count] != 0
    pieces, kept = np.empty((planes * count, 2, 2)), 0
    cut, of = np.empty(planes * count, np.int64), np.empty(planes * count, np.int64)
    for plane in range(planes):
        origin, height = origins[plane], heights[plane]
        for row in range(count):
            if crossed[row] >> plane & 1:
                cut[kept], of[kept] = rows[row], plane
                _cut_face(vertices, faces, rows[row], height, origin, e1, e2, pieces, kept)
                kept += 1
    middles = segment_middles(pieces[:kept])
    away = np.sqrt(middles[:, 0] ** 2 + middles[:, 1] ** 2) - middles[:, 2]
    near = np.flatnonzero(away <= max_distance)
    return pieces[near], cut[near], of[near]


@njit(cache=True)
def _cut_face(vertices: Array, faces: IntArray, f: int, heights: Array, origin: Array,
              e1: Array, e2: Array, pieces: Array, kept: int) -> None:
    """Fill the piece (2, 2) in which a plane cuts a face that it crosses."""
    found = 0
    for side in range(3):
        a, b = faces[f, side], faces[f, (side + 1) % 3]
        if (heights[a] >= 0.0) == (heights[b] >= 0.0):
            continue
        low, high = (a, b) if a < b else (b, a)     # the same point from both sides
        share = heights[low] / (heights[low] - heights[high])
        x, y = 0.0, 0.0
        for k in range(3):
            p = vertices[low, k] + share * (vertices[high, k] - vertices[low, k]) - origin[k]
            x += p * e1[k]
            y += p * e2[k]
        pieces[kept, found, 0], pieces[kept, found, 1] = x, y
        found += 1


@njit(cache=True)
def segment_middles(segments: Array) -> Array:
    """Return middles and half lengths (n, 3) of segments (n, 2, 2)."""
    middles = np.empty((len(segments), 3))
    for i in range(len(segments)):
        ax, ay, bx, by = segments[i, 0, 0], segments[i, 0, 1], segments[i, 1, 0], segments[i, 1, 1]
        middles[i, 0], middles[i, 1] = 0.5 * (ax + bx), 0.5 * (ay + by)
        middles[i, 2] = 0.5 * np.sqrt((bx - ax) ** 2 + (by - ay) ** 2)
    return middles


@njit(cache=True)
def pieces_near(pieces: Array, planes: Array, chosen: int, point: Array, distance: float
                ) -> tuple[IntArray, Array]:
    """
    Return the pieces of a cut about a point, and their lengths.

    Those in the plane of the piece ``chosen`` whose middles lie within ``distance`` of
    ``point (2,)``, in order, and then that piece itself (once more). ``planes (k,)`` tells
    pieces (k, 2, 2) of different planes apart.
    """
    middles = segment_middles(pieces)
    near = [i for i in range(len(pieces)) if planes[i] == planes[chosen] and np.sqrt(
        (middles[i, 0] - point[0]) ** 2 + (middles[i, 1] - point[1]) ** 2) <= distance]
    rows = np.array(near + [chosen])
    return rows, 2.0 * middles[rows, 2]


def cut_contours(mesh: TriangleMesh, origin: ArrayLike, axes: ArrayLike) -> list[Contour]:
    """
    Return the closed contours of a plane's cut through a closed mesh, longest first.

    Parameters
    ----------
    mesh : TriangleMesh
        Closed.
    origin : (3,) float
        A point of the plane, frame of the mesh [m].
    axes : (2, 3) float
        Unit vectors along it, at right angles.

    Returns
    -------
    list of Contour
        Empty where the plane misses the mesh.

    Raises
    ------
    MeshError
        The mesh is open.
    """
    origin, axes = np.asarray(origin, float), np.asarray(axes, float)
    if not mesh.is_closed:
        raise MeshError('a section needs a closed mesh, got one with open edges')
    heights = (mesh.vertices - origin) @ np.cross(axes[0], axes[1])
    above = heights >= 0.0
    following = _followers(mesh.faces, above)
    contours = []
    while following:
        start = next(iter(following))
        loop, edge = [start], following.pop(start)
        while edge != start:
            loop.append(edge)
            edge = following.pop(edge)
        low, high = np.divmod(loop, len(heights))
        shares = (heights[low] / (heights[low] - heights[high]))[:, None]
        a, b = mesh.vertices[low], mesh.vertices[high]
        points = _distinct((a + shares * (b - a) - origin) @ axes.T)
        if len(points) >= FEWEST_POINTS:
            contours.append(Contour(points, True, origin, axes))
    return sorted(contours, key=lambda contour: -contour.perimeter)


def _followers(faces: IntArray, above: BoolArray) -> dict[int, int]:
    """Map each crossed edge, as low V + high, to that through which the cut leaves its face."""
    crossed = faces[above[faces].any(axis=1) & ~above[faces].all(axis=1)]
    a, b = crossed, np.roll(crossed, -1, axis=1)
    keys = np.minimum(a, b) * len(above) + np.maximum(a, b)
    down, up = above[a] & ~above[b], above[b] & ~above[a]
    return dict(zip(keys[down].tolist(), keys[up].tolist()))


def _distinct(points: Array) -> Array:
    """Return a loop without points equal to the one before."""
    steps = np.linalg.norm(points - np.roll(points, 1, axis=0), axis=1)
    size = float(np.ptp(points, axis=0).max(initial=0.0))
    return points[steps > 1e-9 * size]


def contour_of_points(values: ArrayLike) -> tuple[Contour, tuple[str, ...]]:
    """
    Return the contour through scanned points, and notes on repairs.

    Parameters
    ----------
    values : (n, 2) or (n, 3) float
        Points along the contour, or in any order if the contour is star-shaped about its
        centroid [m]; with three coordinates the points' own plane is taken. Rows with NaN
        are dropped.

    Returns
    -------
    Contour
        Open where its ends lie more than five spacings apart.
    tuple of str

    Raises
    ------
    ShapeError
        Another shape or type; fewer than three points, or more than a million; all in one
        line; not in one plane.
    MeshError
        An extent below 2 mm or above 5 m.

    Notes
    -----
    Own procedure; the seed takes an ordered array as given.
    """
    points = checked_array(values, 'a contour', 'n', '2 or 3', finite=False)
    if points.shape[1] not in (2, 3):
        raise ShapeError(f'a contour must have shape (n, 2 or 3), got {points.shape}')
    points, notes = finite_points(points, 'a contour', FEWEST_POINTS, MOST_POINTS)
    check_extent(points, 1.0)
    centre = points.mean(axis=0)
    _, sizes, rows = np.linalg.svd(points - centre, full_matrices=False)
    if sizes[1] <= FLAT * sizes[0]:
        raise ShapeError(f'the {len(points)} points lie on one line; a contour encloses an area')
    axes = np.eye(2, 3)
    origin = np.zeros(3)
    if points.shape[1] == 3:
        thickness = float(np.ptp((points - centre) @ rows[2]))
        extent = float(np.ptp((points - centre) @ rows[0]))
        if thickness > OUT_OF_PLANE * extent:
            raise ShapeError(f'the points must lie in one plane, got {thickness:.3g} m across it '
                             f'at an extent of {extent:.3g} m; cut a cloud first, or plan on it '
                             'with --completion')
        axes = rows[:2] * np.sign(np.linalg.det(rows)) ** np.array([[0], [1]])
        origin, points = centre, (points - centre) @ axes.T
    points, ordered = _ordered(points)
    if not ordered:
        notes = (*notes, 'ordered the points round their centroid')
    points = _distinct(points)
    spacing = float(np.median(np.linalg.norm(np.diff(points, axis=0), axis=1)))
    gap = float(np.linalg.norm(points[0] - points[-1]))
    closed = gap <= OPEN_GAP * spacing
    if not closed:
        notes = (*notes, f'the contour is open: {1e3 * gap:.3g} mm between its ends')
    return Contour(points, closed, origin, axes), notes


def _ordered(points: Array) -> tuple[Array, bool]:
    """Return points along the contour: as given, or round their centroid if that is shorter."""
    offsets = points - points.mean(axis=0)
    turned = points[np.argsort(np.arctan2(offsets[:, 1], offsets[:, 0]), kind='stable')]
    given = np.linalg.norm(np.diff(points, axis=0), axis=1)
    round_ = np.linalg.norm(np.diff(turned, axis=0), axis=1)
    if given.sum() <= round_.sum() * (1.0 + 1e-9):
        return points, True
    # An open line begins after its largest gap.
    gaps = np.linalg.norm(turned - np.roll(turned, 1, axis=0), axis=1)
    turned = np.roll(turned, -int(np.argmax(gaps)), axis=0)
    shorter = np.linalg.norm(np.diff(turned, axis=0), axis=1).sum() < 0.7 * given.sum()
    return (turned, False) if shorter else (points, True)


def mirrored(contour: Contour) -> Contour:
    """Return an open contour closed by its mirror image at the line through its ends."""
    if contour.closed:
        return contour
    points = contour.points
    along = points[-1] - points[0]
    along = along / np.linalg.norm(along)
    offsets = points - points[0]
    image = points[0] + 2.0 * np.outer(offsets @ along, along) - offsets
    return Contour(np.concatenate([points, image[-2:0:-1]]), True, contour.origin, contour.axes)
