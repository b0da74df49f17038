"""Convex parts of meshes, with the polygons that contact manifolds are cut from."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from ....arrays import Array, IntArray
from ....bodies import TriangleMesh
from ....bodies.topology import connected_labels
from ....errors import MeshError, ShapeError
from ....fields import checked_array
from ....transforms import apply
from ...distance.link_hulls import adjacency_graph, hull_surface


#: Share of the hull's volume that a convex mesh may leave empty [-].
CONVEXITY_TOLERANCE = 1e-6
#: Largest difference of the normals and, over the size, of the offsets of facets in one
#: plane [-].
COPLANAR_TOLERANCE = 1e-9
#: Largest concavity of a part, as coacd measures it.
MAX_CONCAVITY = 0.05


@dataclass(frozen=True, eq=False)
class ConvexPart:
    """
    A convex polyhedron.

    Attributes
    ----------
    vertices : (n, 3) float
        Its corners [m].
    graph : (g,) int
        Neighbours of vertex i are ``graph[graph[i]:graph[i + 1]]``.
    normals, offsets : (m, 3) float, (m,) float
        Planes of its faces, ``normals . x <= offsets`` inside [m].
    polygons : tuple of (k,) int
        Corners of each face, counter-clockwise from outside.
    """

    vertices: Array
    graph: IntArray
    normals: Array
    offsets: Array
    polygons: tuple[IntArray, ...]

    @cached_property
    def centre(self) -> Array:
        """Return the middle of the extents ``(3,)`` [m]."""
        return (self.vertices.min(axis=0) + self.vertices.max(axis=0)) / 2.0

    @cached_property
    def radius(self) -> float:
        """Return the radius of the ball about ``centre`` that holds it [m]."""
        return float(np.linalg.norm(self.vertices - self.centre, axis=1).max())

    def with_transform(self, T_a_b: Array) -> 'ConvexPart':
        """Return this part of frame b in frame a."""
        normals = self.normals @ T_a_b[:3, :3].T
        return ConvexPart(np.ascontiguousarray(apply(T_a_b, self.vertices)), self.graph,
                          normals, self.offsets + normals @ T_a_b[:3, 3], self.polygons)


def convex_part(points: Array) -> ConvexPart:
    """
    Return the convex hull of points.

    Parameters
    ----------
    points : (n, 3) float
        [m].

    Returns
    -------
    ConvexPart

    Raises
    ------
    ShapeError
        The points are not ``(n, 3)``, not finite, or all in one plane.

    Notes
    -----
    Quickhull (Barber et al. 1996). Facets in one plane are joined to one polygon, so that
    a box has six faces.
    """
    points = checked_array(points, 'points of a convex part', 'n', 3)
    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError):
        raise ShapeError(f'a convex part needs points with a volume, got {len(points)} '
                         'in one plane, line or place') from None
    vertices, simplices = hull_surface(hull)
    labels = _plane_labels(hull, float(np.ptp(points, axis=0).max()))
    first = np.unique(labels, return_index=True)[1]
    normals, offsets = hull.equations[first, :3], -hull.equations[first, 3]
    polygons = tuple(_polygon(vertices, np.unique(simplices[labels == label]), normal)
                     for label, normal in enumerate(normals))
    return ConvexPart(vertices, adjacency_graph(simplices, len(vertices)), normals, offsets,
                      polygons)


def _plane_labels(hull: ConvexHull, size: float) -> IntArray:
    """Return which plane each facet lies in, counted from 0."""
    rows = np.repeat(np.arange(len(hull.neighbors)), 3)
    pairs = np.stack([rows, hull.neighbors.ravel()], axis=1)
    change = np.abs(hull.equations[pairs[:, 0]] - hull.equations[pairs[:, 1]])
    same = ((change[:, :3].max(axis=1) < COPLANAR_TOLERANCE)
            & (change[:, 3] < COPLANAR_TOLERANCE * size))
    return connected_labels(pairs[same], len(rows) // 3)


def _polygon(vertices: Array, corners: IntArray, normal: Array) -> IntArray:
    """Return the corners of a convex polygon counter-clockwise about its normal."""
    spokes = vertices[corners] - vertices[corners].mean(axis=0)
    across = np.cross(normal, spokes[0])
    order = np.argsort(np.arctan2(spokes @ across, spokes @ spokes[0] * np.sqrt(
        (across @ across) / (spokes[0] @ spokes[0]))))
    return corners[order].astype(np.int64)


def is_convex(mesh: TriangleMesh) -> bool:
    """Return whether a closed mesh fills its convex hull, to ``CONVEXITY_TOLERANCE``."""
    used = mesh.vertices[np.unique(mesh.faces)]
    try:
        hull_volume = ConvexHull(used).volume
    except (QhullError, ValueError):
        return False
    return mesh.volume >= (1.0 - CONVEXITY_TOLERANCE) * hull_volume


def convex_parts(mesh: TriangleMesh) -> tuple[ConvexPart, ...]:
    """
    Return convex parts that together are about a closed mesh.

    Parameters
    ----------
    mesh : TriangleMesh
        Closed, wound outwards.

    Returns
    -------
    tuple of ConvexPart
        One, exact, where the mesh is convex.

    Raises
    ------
    MeshError
        The mesh is not convex and the package coacd is not installed, or it finds no parts.

    Notes
    -----
    Source: decomposition of the ground in the polygon intersection paper, whose local rule
    for neighbours fills pits; instead Wei et al., Approximate convex decomposition for 3D
    meshes with collision-aware concavity and tree search, 2022 (coacd), with its seed 0.
    """
    if is_convex(mesh):
        return (convex_part(mesh.vertices[np.unique(mesh.faces)]),)
    try:
        import coacd
    except ImportError:
        raise MeshError('the mesh is not convex, and cutting it into convex parts needs the '
                        'package coacd: pip install coacd') from None
    coacd.set_log_level('off')
    parts = coacd.run_coacd(coacd.Mesh(mesh.vertices, mesh.faces), threshold=MAX_CONCAVITY,
                            seed=0)
    found = []
    for vertices, _ in parts:
        try:
            found.append(convex_part(vertices))
        except ShapeError:   # a sliver without volume
            continue
    if not found:
        raise MeshError('the mesh could not be cut into convex parts')
    return tuple(found)
