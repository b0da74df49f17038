"""Convex hulls of links, with planes that bound the distance of a ball at once."""

from typing import NamedTuple

import numpy as np
from scipy.spatial import ConvexHull

from ...arrays import Array, IntArray
from ...bodies.topology import edge_table, vertex_graph
from ...numerics.kernels import njit
from ...numerics.vec3 import Vec3, dot, load_mat3
from ..geometry.contact_mesh import ContactMesh
from ..geometry.curved_surface import control_points
from .gjk import EXTRAS, SWEEP, Shape


#: Largest number of supporting planes per hull.
MAX_PLANES = 10


class Hulls(NamedTuple):
    """
    The convex hulls of several links, each in its link's frame, in flat arrays.

    Attributes
    ----------
    which : (L,) int
        Hull of each link; links with equal meshes share one.
    vertices : (n, 3) float
        Vertices of all hulls [m].
    vertex_offsets : (H + 1,) int
        Vertices of hull h are ``vertex_offsets[h]:vertex_offsets[h + 1]``.
    graphs : (g,) int
        Neighbours of all hulls, as in ``Shape.graph``.
    graph_offsets : (H + 1,) int
        The graph of hull h is ``graphs[graph_offsets[h]:graph_offsets[h + 1]]``.
    normals, offsets : (H, k, 3) float, (H, k) float
        Planes with the whole hull behind them, ``n . x <= offset`` [m].
    centres, radii : (H, 3) float, (H,) float
        Ball round each hull [m].
    """

    which: IntArray
    vertices: Array
    vertex_offsets: IntArray
    graphs: IntArray
    graph_offsets: IntArray
    normals: Array
    offsets: Array
    centres: Array
    radii: Array


def build_hulls(bodies: list[ContactMesh], which: IntArray) -> Hulls:
    """
    Build the conservative hulls of some meshes.

    Parameters
    ----------
    bodies : list of ContactMesh, (H,)
    which : (L,) int
        Body of each link.

    Returns
    -------
    Hulls
        Each contains every facet, and the curved surface over it: a cubic patch lies in
        the hull of its control points.
    """
    parts = [_hull_of(body) for body in bodies]
    return Hulls(
        np.asarray(which, np.int64), np.concatenate([part[0] for part in parts]),
        np.cumsum([0] + [len(part[0]) for part in parts]),
        np.concatenate([part[1] for part in parts]),
        np.cumsum([0] + [len(part[1]) for part in parts]),
        *(np.stack([part[k] for part in parts]) for k in range(2, 6)))


def _hull_of(body: ContactMesh) -> tuple[Array, IntArray, Array, Array, Array, float]:
    """Return vertices, graph, planes and ball of one hull."""
    cloud = np.unique(control_points(body.tree.corners, body.surface), axis=0)
    hull = ConvexHull(cloud)
    vertices, triangles = hull_surface(hull)
    graph = adjacency_graph(triangles, len(vertices))
    normals = _spread_normals(hull.equations[:, :3])
    centre = (vertices.min(axis=0) + vertices.max(axis=0)) / 2.0
    radius = np.linalg.norm(vertices - centre, axis=1).max()
    return vertices, graph, normals, (vertices @ normals.T).max(axis=0), centre, radius


def hull_surface(hull: ConvexHull) -> tuple[Array, IntArray]:
    """Return the corners of a convex hull ``(n, 3)`` and the triangles ``(m, 3)`` on them."""
    number = np.full(len(hull.points), -1)
    number[hull.vertices] = np.arange(len(hull.vertices))
    return np.ascontiguousarray(hull.points[hull.vertices]), number[hull.simplices]


def adjacency_graph(triangles: IntArray, count: int) -> IntArray:
    """Return the graph, as in ``Shape.graph``, of ``triangles (m, 3)`` on ``count`` corners."""
    graph = vertex_graph(edge_table(triangles).ends, count)
    return np.concatenate([graph.indptr + count + 1, graph.indices]).astype(np.int64)


def _spread_normals(normals: Array) -> Array:
    """Return ``MAX_PLANES`` of the normals, spread over all directions."""
    normals = np.unique(np.round(normals, 6), axis=0)
    normals = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    chosen = [0]
    nearest = normals @ normals[0]
    while len(chosen) < MAX_PLANES:
        chosen.append(int(np.argmin(nearest)))
        nearest = np.maximum(nearest, normals @ normals[chosen[-1]])
    return np.ascontiguousarray(normals[chosen])


@njit(cache=True)
def hull_shape(hulls: Hulls, link: int, sweep: Array) -> Shape:
    """Return the shape of a link's hull, swept along a translation [m], frame link."""
    h = hulls.which[link]
    begin, end = hulls.vertex_offsets[h], hulls.vertex_offsets[h + 1]
    extras = np.zeros(EXTRAS)
    for k in range(3):
        extras[SWEEP + k] = sweep[k]
    return Shape(hulls.vertices[begin:end],
                 hulls.graphs[hulls.graph_offsets[h]:hulls.graph_offsets[h + 1]], extras)


@njit(cache=True, forceinline=True)
def distance_beyond_planes(normals: Array, offsets: Array, centres: Array, hull: int, poses: Array,
                           link: int, offset: Vec3) -> float:
    """Return how far a point is beyond a hull's planes [m], ``offset`` from its centre."""
    rotation_rows = load_mat3(poses[link].T)
    point = (centres[hull, 0] + dot(rotation_rows[0], offset),
             centres[hull, 1] + dot(rotation_rows[1], offset),
             centres[hull, 2] + dot(rotation_rows[2], offset))
    best = -np.inf
    for k in range(offsets.shape[1]):
        normal = normals[hull, k, 0], normals[hull, k, 1], normals[hull, k, 2]
        best = max(best, dot(normal, point) - offsets[hull, k])
    return best
