"""
Certified lower bounds of the distance between convex shapes, by GJK.

Every direction v bounds the distance from below by the gap between the two supporting
planes normal to it. The largest such gap met on the way is returned, so the answer is
never above the true distance, however the iteration ends.
"""

from typing import NamedTuple

import numpy as np

from ...arrays import Array, IntArray
from ...numerics.kernels import njit
from ...numerics.vec3 import Vec3, cross, dot, load_mat3, load_vec3, store_vec3, subtract
from ..geometry.closest_point import closest_weights


MAX_ITERATIONS = 64
#: Relative and absolute [m] tolerance of a bound: nearly exact, so that answers turn with
#: object and hand, for a sixth more time than at one percent.
RELATIVE, ABSOLUTE = 1e-7, 1e-10
#: Offsets in ``Shape.extras``.
SWEEP, AXIS, DISC, BALL, EXTRAS = 0, 3, 6, 7, 8


class Shape(NamedTuple):
    """
    The convex hull of points, swept, thickened by a disc and by a ball.

    Attributes
    ----------
    vertices : (n, 3) float
        [m].
    graph : (g,) int
        Hull neighbours of vertex i are ``graph[graph[i]:graph[i + 1]]``; without a graph
        every vertex is looked at.
    extras : (8,) float
        Translation along which the shape is swept from itself [m]; unit normal of a disc
        added at every point, its radius [m]; radius of a ball added [m].
    """

    vertices: Array
    graph: IntArray
    extras: Array


# References to arrays are counted, at more cost than the arithmetic. So kernels take arrays
# out of tuples before they loop, and what they call returns in one place: then the compiler
# drops the counting.


@njit(cache=True)
def shape_of_points(vertices: Array) -> Shape:
    """Return the hull of ``vertices (n, 3)`` [m], all of which are looked at."""
    return Shape(vertices, np.zeros(0, np.int64), np.zeros(EXTRAS))


@njit(cache=True, forceinline=True)
def _climb_hull(vertices: Array, graph: IntArray, x: float, y: float, z: float, begin: int) -> int:
    """Return the vertex farthest along (x, y, z), by walking uphill where that is possible."""
    at = begin
    best = vertices[at, 0] * x + vertices[at, 1] * y + vertices[at, 2] * z
    if len(graph) == 0:
        for i in range(len(vertices)):
            along = vertices[i, 0] * x + vertices[i, 1] * y + vertices[i, 2] * z
            if along > best:
                best, at = along, i
    before = at if len(graph) == 0 else -1
    while at != before:
        before = at
        for e in range(graph[before], graph[before + 1]):
            i = graph[e]
            along = vertices[i, 0] * x + vertices[i, 1] * y + vertices[i, 2] * z
            if along > best:
                best, at = along, i
    return at


@njit(cache=True, forceinline=True)
def support_point(vertices: Array, graph: IntArray, extras: Array, v: Vec3,
                  begin: int) -> tuple[int, Vec3]:
    """Return the vertex of a shape farthest along v, and the point there, without its ball."""
    at = _climb_hull(vertices, graph, v[0], v[1], v[2], begin)
    swept = dot(v, (extras[SWEEP], extras[SWEEP + 1], extras[SWEEP + 2])) > 0.0
    point = (vertices[at, 0] + (extras[SWEEP] if swept else 0.0),
             vertices[at, 1] + (extras[SWEEP + 1] if swept else 0.0),
             vertices[at, 2] + (extras[SWEEP + 2] if swept else 0.0))
    if extras[DISC] > 0.0:
        point = _add_disc(extras, v, point)
    return at, point


@njit(cache=True)
def _add_disc(extras: Array, v: Vec3, point: Vec3) -> Vec3:
    """Add the disc's point farthest along v; its middle where that is the axis."""
    axis, radius = (extras[AXIS], extras[AXIS + 1], extras[AXIS + 2]), extras[DISC]
    size = np.sqrt(dot(v, v))
    # Twice: what is left of a direction along the axis is noise, not in the disc's plane.
    for _ in range(2):
        part = dot(axis, v)
        v = (v[0] - part * axis[0], v[1] - part * axis[1], v[2] - part * axis[2])
    norm = np.sqrt(dot(v, v))
    if norm > 1e-12 * size:
        point = (point[0] + radius * v[0] / norm, point[1] + radius * v[1] / norm,
                 point[2] + radius * v[2] / norm)
    return point


@njit(cache=True)
def distance_bound(a: Shape, b: Shape, rotation: Array, origin: Array, start: Array, limits: Array,
                   hints: IntArray) -> float:
    """
    Return a certified lower bound of the distance of two shapes.

    Parameters
    ----------
    a, b : Shape
        Each in its own frame.
    rotation, origin : (3, 3) float, (3,) float
        Pose of b's frame in a's.
    start : (3,) float
        First direction tried, about from b to a, frame a; changed to the best one.
    limits : (3,) float
        The bound lies within the first, relative, or the second [m] of the distance; the
        search ends once it is above the third [m].
    hints : (2,) int
        Vertices of a and b to begin with; changed to the last ones.

    Returns
    -------
    float
        0 where the shapes overlap or touch [m].

    Notes
    -----
    Source: Gilbert, Johnson, Keerthi 1988; the bound as in van den Bergen 1999.
    """
    vertices_a, graph_a, extras_a = a.vertices, a.graph, a.extras
    vertices_b, graph_b, extras_b = b.vertices, b.graph, b.extras
    radii = extras_a[BALL] + extras_b[BALL]
    turn, shift = load_mat3(rotation), (origin[0], origin[1], origin[2])
    columns = load_mat3(rotation.T)
    simplex, v = np.empty((4, 3)), start.copy()
    if v[0] == 0.0 and v[1] == 0.0 and v[2] == 0.0:
        v[0] = 1.0
    bound, squared, size = -np.inf, np.inf, 0
    hint_a, hint_b = hints[0], hints[1]
    for _ in range(MAX_ITERATIONS):
        way = (v[0], v[1], v[2])
        turned = dot(columns[0], way), dot(columns[1], way), dot(columns[2], way)
        hint_a, on_a = support_point(vertices_a, graph_a, extras_a,
                                     (-way[0], -way[1], -way[2]), hint_a)
        hint_b, on_b = support_point(vertices_b, graph_b, extras_b, turned, hint_b)
        norm = np.sqrt(way[0] ** 2 + way[1] ** 2 + way[2] ** 2)
        x, y, z = (on_a[0] - shift[0] - dot(turn[0], on_b),
                   on_a[1] - shift[1] - dot(turn[1], on_b),
                   on_a[2] - shift[2] - dot(turn[2], on_b))
        store_vec3(simplex, size, (x, y, z))
        gap = 0.0 + way[0] * x / norm + way[1] * y / norm + way[2] * z / norm
        if gap > bound:
            bound = gap
            start[0], start[1], start[2] = way
        if bound - radii > limits[2]:
            break
        if size > 0 and norm - bound <= max(limits[0] * (norm - radii), limits[1]):
            break
        size = reduce_simplex(simplex, size + 1, v)
        if size == 4:
            bound = radii
            break
        new = v[0] ** 2 + v[1] ** 2 + v[2] ** 2
        if new == 0.0 or new >= squared:
            break
        squared = new
    hints[0], hints[1] = hint_a, hint_b
    return max(bound - radii, 0.0)


@njit(cache=True, forceinline=True)
def reduce_simplex(simplex: Array, size: int, closest: Array) -> int:
    """
    Write the simplex's point nearest to the origin; keep only the corners that carry it.

    Returns the number of corners kept; 4 means that the origin is inside.

    Source: Ericson, Real-Time Collision Detection, 2005, sections 5.1.2 to 5.1.6.
    """
    rows, weights = (0, 1, 2), (1.0, 0.0, 0.0)
    if size == 2:
        weights = _segment_weights(simplex)
    elif size == 3:
        weights = _triangle_weights(simplex, 0, 1, 2)
    elif size == 4:
        rows, weights = _tetrahedron_weights(simplex)
    return 4 if rows[0] < 0 else _keep(simplex, rows, weights, closest)


@njit(cache=True, forceinline=True)
def _keep(simplex: Array, rows: tuple[int, int, int], weights: tuple[float, float, float],
          closest: Array) -> int:
    """Write the weighted point of three corners and move those with weight to the front."""
    i, j, k = rows
    a, b, c = weights
    for axis in range(3):
        # Rows beyond the simplex have no weight but may hold anything: they are not touched.
        total = a * simplex[i, axis]
        if b != 0.0:
            total += b * simplex[j, axis]
        if c != 0.0:
            total += c * simplex[k, axis]
        closest[axis] = total
    # Rows ascend, so that nothing is overwritten before its turn.
    size = 0
    for n in range(3):
        if weights[n] > 0.0:
            for axis in range(3):
                simplex[size, axis] = simplex[rows[n], axis]
            size += 1
    return size


@njit(cache=True, forceinline=True)
def _edge_dots(simplex: Array, i: int, j: int, row: int) -> float:
    """Return minus the product of edge i to j with a corner."""
    return -dot(subtract(load_vec3(simplex, j), load_vec3(simplex, i)), load_vec3(simplex, row))


@njit(cache=True, forceinline=True)
def _segment_weights(simplex: Array) -> tuple[float, float, float]:
    along = _edge_dots(simplex, 0, 1, 0)
    length = along - _edge_dots(simplex, 0, 1, 1)
    t = 0.0
    if along > 0.0 and length > 0.0:
        t = min(along / length, 1.0)
    return 1.0 - t, t, 0.0


@njit(cache=True, forceinline=True)
def _triangle_weights(simplex: Array, i: int, j: int, k: int) -> tuple[float, float, float]:
    """Return barycentric weights of the triangle's point nearest to the origin."""
    v, w = closest_weights(_edge_dots(simplex, i, j, i), _edge_dots(simplex, i, k, i),
                           _edge_dots(simplex, i, j, j), _edge_dots(simplex, i, k, j),
                           _edge_dots(simplex, i, j, k), _edge_dots(simplex, i, k, k))
    return 1.0 - v - w, v, w


@njit(cache=True, forceinline=True)
def _tetrahedron_weights(simplex: Array
                         ) -> tuple[tuple[int, int, int], tuple[float, float, float]]:
    """Return the face nearest to the origin and the weights of its point; -1 if inside."""
    best, best_rows, best_weights = np.inf, (-1, -1, -1), (0.0, 0.0, 0.0)
    for opposite in range(4):
        i = 1 if opposite == 0 else 0
        j = 2 if opposite <= 1 else 1
        k = 3 if opposite <= 2 else 2
        if _sees_origin(simplex, i, j, k, opposite):
            a, b, c = _triangle_weights(simplex, i, j, k)
            squared = 0.0
            for axis in range(3):
                squared += (a * simplex[i, axis] + b * simplex[j, axis]
                            + c * simplex[k, axis]) ** 2
            if squared < best:
                best, best_rows, best_weights = squared, (i, j, k), (a, b, c)
    return best_rows, best_weights


@njit(cache=True, forceinline=True)
def _sees_origin(simplex: Array, i: int, j: int, k: int, opposite: int) -> bool:
    """Return True if the origin lies on the far side of a face from the opposite corner."""
    p = load_vec3(simplex, i)
    normal = cross(subtract(load_vec3(simplex, j), p), subtract(load_vec3(simplex, k), p))
    origin = -dot(normal, p)
    corner = dot(normal, subtract(load_vec3(simplex, opposite), p))
    return corner == 0.0 or origin * corner < 0.0
