"""Scans of one side of a body, closed by a stated assumption about what was not seen."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import ConvexHull, QhullError, cKDTree

from ...arrays import Array
from ...errors import GripsimError, MeshError, ShapeError
from ...fields import checked_array
from ..loading import check_extent, finite_points, repair_mesh
from ..mesh import TriangleMesh

if TYPE_CHECKING:
    from .surface import Relief

#: How a scan can be closed; the first is the default.
METHODS = ('mirror', 'extrude', 'convex')
#: Least and largest number of points of a scan.
MIN_POINTS, MAX_POINTS = 30, 2_000_000
#: Thickness over the extent below which points have no depth [-].
FLATNESS = 1e-3
#: Expected distance of the assumed surface from the true one, over that from the nearest
#: seen point: measured, see docs/model/scans.md.
ERROR_SHARES = {'mirror': 0.4, 'extrude': 0.45, 'convex': 1.15}
#: Median distances of neighbouring points within which surface counts as seen.
SEEN_SPACINGS = 2.0
#: Number of points from which view and spacing are estimated.
SAMPLE_SIZE = 4000
#: Least share of the hull's area that is unseen, for the view to be estimated [-].
MIN_UNSEEN_SHARE = 0.05


@dataclass(frozen=True, eq=False)
class SeenSurface:
    """
    The seen part of a completed body's surface.

    Attributes
    ----------
    points : (n, 3) float
        Frame object [m].
    spacing : float
        Median distance of neighbouring points [m].
    method : str
        How the rest was assumed.
    view : (3,) float
        Unit direction in which the sensor looked.
    """

    points: Array
    spacing: float
    method: str
    view: Array

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self.points)

    def uncertainty(self, points: ArrayLike) -> Array:
        """
        Return how far the true surface is expected from points on the body's (n,) [m].

        0 where it was seen; else a share of the distance to the nearest seen point.
        """
        rows = np.asarray(points, float).reshape(-1, 3)
        distance, _ = self._tree.query(rows)
        bare = np.maximum(distance - SEEN_SPACINGS * self.spacing, 0.0)
        return ERROR_SHARES[self.method] * bare


@dataclass(frozen=True, eq=False)
class CompletedScan:
    """A closed mesh from a scan [m], where it was seen, and what was done, a clause each."""

    mesh: TriangleMesh
    seen: SeenSurface
    notes: tuple[str, ...] = field(default=())


def complete_scan(points: ArrayLike, method: str = '', scale: float = 1.0,
                  viewpoint: ArrayLike | None = None) -> CompletedScan:
    """
    Return a closed body from points on one of its sides.

    Parameters
    ----------
    points : (n, 3) float
        In units of ``scale``; rows that are not finite are dropped.
    method : {'', 'mirror', 'extrude', 'convex'}
        What is assumed of the side that was not seen. Mirror: the image of the seen one at a
        plane across the view, in the depth of the outline's farthest point, but no deeper
        than makes the body as deep as the geometric mean of its outline's two widths.
        Extrude: walls along the view, as deep as the outline is narrow. Convex: the hull's.
        '': mirror.
    scale : float
        Metres in one unit, above 0.
    viewpoint : (3,) float, optional
        Where the sensor stood, in the points' frame and unit; None: estimated from the part
        of the convex hull that no point lies near.

    Returns
    -------
    CompletedScan

    Raises
    ------
    ShapeError
        Another shape or type; fewer than 30 or more than two million points; the method is
        unknown; the viewpoint is not finite.
    MeshError
        The largest extent is above 5 m or below 2 mm; the points lie on one line or in one
        plane; the view cannot be estimated; what results cannot be closed.

    Notes
    -----
    Convex hull and triangulation by Qhull (Barber, Dobkin and Huhdanpaa 1996). The
    assumptions are those of Bohg et al., Mind the gap, ICRA 2011 (mirror) and of the
    extrusion of footprints; procedure own, see docs/model/scans.md.
    """
    name = method or METHODS[0]
    if name not in METHODS:
        raise ShapeError(f'completion must be one of {", ".join(METHODS)}, got {method!r}')
    cloud, notes = _checked(points, scale)
    spacing = median_spacing(cloud)
    distance = np.inf
    if viewpoint is None:
        view = estimate_view(cloud, spacing)
        notes += ('the view was estimated along '
                  f'{" ".join(f"{number:.2f}" for number in view)}',)
    else:
        view, distance = _view_from(viewpoint, scale, cloud)
    from .surface import build_relief, smooth_solid     # with much of scipy
    relief = None if name == 'convex' else build_relief(cloud, view, spacing)
    try:
        if relief is None:
            mesh = repair_mesh(cloud, ConvexHull(cloud).simplices).mesh
        else:
            mesh = smooth_solid(relief, _assumed_back(relief, name, distance), cloud)
    except (QhullError, GripsimError) as error:
        raise MeshError(f'the scan of {len(cloud)} points cannot be closed by {name}: '
                        f'{" ".join(str(error).split())[:200]}') from None
    share = 100.0 * _unseen_share(mesh, cloud, spacing)
    notes += (f'closed a scan of {len(cloud)} points by {name}: {share:.0f} % of the surface '
              'is assumed',)
    return CompletedScan(mesh, SeenSurface(cloud, spacing, name, view), notes)


def _checked(points: ArrayLike, scale: float) -> tuple[Array, tuple[str, ...]]:
    """Return finite, distinct points in metres and what was dropped."""
    if not (np.isfinite(scale) and scale > 0.0):
        raise MeshError(f'scale must be a finite number above 0, got {scale}')
    cloud, notes = finite_points(checked_array(points, 'a scan', 'n', 3, finite=False), 'a scan',
                                 MIN_POINTS, MAX_POINTS)
    with np.errstate(over='ignore'):
        cloud = np.unique(scale * cloud, axis=0)
    check_extent(cloud, scale)
    sizes = np.linalg.svd(cloud - cloud.mean(axis=0), compute_uv=False)
    for kind, size in (('on one line', sizes[1]), ('in one plane', sizes[2])):
        if size <= FLATNESS * sizes[0]:
            raise MeshError(f'the {len(cloud)} points of the scan lie {kind}: nothing tells how '
                            'deep the body is; scan it from an angle')
    return cloud, notes


def median_spacing(cloud: Array) -> float:
    """Return the median distance of points to their nearest neighbours [m]."""
    some = cloud[::max(1, len(cloud) // SAMPLE_SIZE)]
    distance, _ = cKDTree(cloud).query(some, k=2)
    return float(np.median(distance[:, 1]))


def _view_from(viewpoint: ArrayLike, scale: float, cloud: Array) -> tuple[Array, float]:
    """Return the view's unit direction and the distance of the points' middle [m]."""
    place = checked_array(viewpoint, 'the viewpoint', 3)
    way = cloud.mean(axis=0) - scale * place
    length = float(np.linalg.norm(way))
    if length < np.ptp(cloud, axis=0).max() / 2.0:
        raise ShapeError('the viewpoint must lie outside the scan, got one '
                         f'{1e3 * length:.3g} mm from its middle')
    return way / length, length


def estimate_view(cloud: Array, spacing: float) -> Array:
    """
    Return the unit direction in which the sensor looked, from the points alone.

    The faces of the convex hull far from any point close the side that was not seen: their
    mean outward normal, weighted by area, leads away from the sensor.

    Parameters
    ----------
    cloud : (n, 3) float
    spacing : float
        Median distance of neighbours [m].

    Returns
    -------
    (3,) float

    Raises
    ------
    MeshError
        Points lie all around: less than 5 % of the hull is bare.
    """
    hull = ConvexHull(cloud)
    corners = cloud[hull.simplices]
    vectors = 0.5 * np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    outward = np.sign(np.einsum('ij,ij->i', vectors, hull.equations[:, :3]))
    vectors *= outward[:, None]
    areas = np.linalg.norm(vectors, axis=1)
    weights = np.array([[4, 1, 1], [1, 4, 1], [1, 1, 4], [2, 2, 2]]) / 6.0
    samples = np.einsum('wk,fkx->fwx', weights, corners)
    distance, _ = cKDTree(cloud).query(samples.reshape(-1, 3))
    limit = max(4.0 * spacing, 0.02 * float(np.ptp(cloud, axis=0).max()))
    bare = (distance.reshape(-1, 4) > limit).mean(axis=1)
    if bare @ areas < MIN_UNSEEN_SHARE * areas.sum():
        raise MeshError('points lie all around the body: it is no scan of one side; give the '
                        'viewpoint, or a mesh')
    view = bare @ vectors
    return view / np.linalg.norm(view)


def _assumed_back(relief: 'Relief', method: str, distance: float) -> Array:
    """
    Return the assumed depth (nx, ny) of the side that was not seen [m].

    From a ``distance`` rays touch a round body before its widest section: where the line of
    sight is off the view by an angle, at a depth less by the share of its sine.
    """
    near = float(relief.depth[relief.cover > 0.5].min())
    narrow, wide = sorted(relief.outline_widths())
    if method == 'extrude':
        return np.full_like(relief.depth, near + narrow)
    half = 0.5 * float(np.sqrt(narrow * wide))
    sine = half / np.hypot(half, distance)
    plane = min((relief.rim_depth - near) / (1.0 - sine), half)
    return 2.0 * (near + plane) - relief.depth


def _unseen_share(mesh: TriangleMesh, cloud: Array, spacing: float) -> float:
    """Return the share of the surface farther from all points than is counted as seen."""
    reach = SEEN_SPACINGS * spacing + 0.5 * float(np.sqrt(np.median(mesh.face_areas)))
    distance, _ = cKDTree(cloud).query(mesh.face_centroids)
    return float(mesh.face_areas[distance > reach].sum() / mesh.area)
