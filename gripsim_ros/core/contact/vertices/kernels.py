"""
Vertices of one mesh inside another, in one kernel: cull, project, cover, first exit.

The steps are those of the intersection paper, each made exact: the oriented box of the
target and the ball tree of the query leave the vertices that may be inside; these are
projected along the motion into a grid; the ball tree of the target yields all triangles
whose projection may cover one of them; edge functions decide.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array, IntArray
from ...numerics.kernels import njit
from ...numerics.vec3 import load_vec3, store_vec3
from ..geometry.culling import (boxes_apart, coordinate_along, frame_row, transformed_frame,
                                vertices_in_box)
from ..geometry.flat_tree import END_TRIANGLE, FIRST_TRIANGLE, INNER, OUTER, FlatTree
from ..geometry.ray_casting import (COVERAGE_TOLERANCE, direction_frame, doubled, edge_functions,
                                    grid_shape, slab_range)
from ..geometry.vp_tree import STACK_SIZE

#: Vertices, depths, exits, triangles, weights; see ``vertices_inside``.
Inside = tuple[IntArray, Array, Array, IntArray, Array]

#: Largest share of the vertices in contact at which they are sorted, not counted [-].
SORTED_SHARE = 1.0 / 32.0
#: Extra cells per point while points are few, and the largest number of these.
FEW_POINTS, MAX_EXTRA_CELLS = 7, 8192
#: Cost of following a triangle along one column of cells, in point tests.
COLUMN_COST = 4.0


class _Grid(NamedTuple):
    """
    Projected points sorted into cells over their extent.

    ``points (k, 3)`` and ``places (k,)`` are in the order of the cells, ``starts`` counts
    the points before each cell, ``below (nu + 1, nv + 1)`` those in the cells below and
    left of each corner; ``limits`` are least u and v, scales of u and v (cells a metre),
    least w, extents in u and v.
    """

    points: Array
    places: NDArray[np.int32]
    starts: NDArray[np.int32]
    below: NDArray[np.int32]
    nu: int
    nv: int
    limits: tuple[float, float, float, float, float, float, float]


@njit(cache=True, nogil=True, forceinline=True)
def _cell(value: float, count: int) -> int:
    return min(max(int(value), 0), count - 1)


@njit(cache=True, nogil=True)
def _projected(vertices: Array, places: NDArray[np.int32],
               motion: Array) -> tuple[Array, Array, Array]:
    """Return the points in the frame of the direction, and their bounds there."""
    points = np.empty((len(places), 3))
    lower, upper = np.empty(3), np.empty(3)
    for k in range(3):
        row, low, high = frame_row(motion, k), np.inf, -np.inf
        for i in range(len(places)):
            value = coordinate_along(row, load_vec3(vertices, places[i]))
            points[i, k] = value
            low, high = min(low, value), max(high, value)
        lower[k], upper[k] = low, high
    return points, lower, upper


@njit(cache=True, nogil=True)
def _sorted_into_cells(points: Array, lower: Array, upper: Array, places: NDArray[np.int32],
                       triangles: int) -> _Grid:
    """Sort projected points into a grid (counting sort), finer where triangles are many."""
    count = len(points)
    wanted = count + min(min(FEW_POINTS * count, MAX_EXTRA_CELLS), triangles // 8)
    nu, nv = grid_shape(0.5 * wanted, upper[0] - lower[0], upper[1] - lower[1])
    u_low, v_low = lower[0], lower[1]
    scale_u = nu / max(upper[0] - u_low, 1e-300)
    scale_v = nv / max(upper[1] - v_low, 1e-300)
    starts, cells = np.zeros(nu * nv + 2, np.int32), np.empty(count, np.int32)
    for i in range(count):
        cell = (_cell((points[i, 0] - u_low) * scale_u, nu) * nv
                + _cell((points[i, 1] - v_low) * scale_v, nv))
        cells[i] = cell
        starts[cell + 2] += 1
    below = np.zeros((nu + 1, nv + 1), np.int32)
    for cu in range(nu):
        row = 0
        for cv in range(nv):
            cell = cu * nv + cv
            row += starts[cell + 2]
            below[cu + 1, cv + 1] = below[cu, cv + 1] + row
            starts[cell + 2] += starts[cell + 1]
    ordered, order = np.empty((count, 3)), np.empty(count, np.int32)
    for i in range(count):
        place = starts[cells[i] + 1]
        starts[cells[i] + 1] = place + 1
        order[place] = places[i]
        store_vec3(ordered, place, load_vec3(points, i))
    limits = u_low, v_low, scale_u, scale_v, lower[2], upper[0] - u_low, upper[1] - v_low
    return _Grid(ordered, order, starts, below, nu, nv, limits)


@njit(cache=True, nogil=True)
def _triangles_over(target: FlatTree, frame: Array, grid: _Grid,
                    tolerance: float) -> NDArray[np.uint32]:
    """
    Return all triangles whose projection may cover a point and reach as far, by the ball tree.

    A ball over cells without points is not looked into.
    """
    balls, nodes, below, nu, nv = target.balls, target.nodes, grid.below, grid.nu, grid.nv
    u_low, v_low, scale_u, scale_v, w_low, width, height = grid.limits
    axis_u, axis_v, axis_w = frame_row(frame, 0), frame_row(frame, 1), frame_row(frame, 2)
    found, count = np.empty(256, np.uint32), 0
    stack = np.empty(STACK_SIZE, np.int64)
    stack[0] = 0
    top = 1
    while top > 0:
        top -= 1
        node = stack[top]
        centre, radius = load_vec3(balls, node), balls[node, 3]
        if coordinate_along(axis_w, centre) + radius < w_low - tolerance:
            continue
        u, v = coordinate_along(axis_u, centre) - u_low, coordinate_along(axis_v, centre) - v_low
        if u + radius < 0.0 or u - radius > width or v + radius < 0.0 or v - radius > height:
            continue
        u0, u1 = _cell((u - radius) * scale_u, nu), _cell((u + radius) * scale_u, nu) + 1
        v0, v1 = _cell((v - radius) * scale_v, nv), _cell((v + radius) * scale_v, nv) + 1
        if below[u1, v1] - below[u0, v1] == below[u1, v0] - below[u0, v0]:
            continue
        if nodes[node, INNER] >= 0:
            stack[top], stack[top + 1] = nodes[node, OUTER], nodes[node, INNER]
            top += 2
            continue
        first, end = nodes[node, FIRST_TRIANGLE], nodes[node, END_TRIANGLE]
        if count + end - first > len(found):
            found = doubled(found)
        for position in range(first, end):
            found[count] = position
            count += 1
    return found[:count]


@njit(cache=True, nogil=True)
def _first_hits(target: FlatTree, candidates: NDArray[np.uint32], frame: Array, grid: _Grid,
                tolerance: float) -> tuple[Array, NDArray[np.uint32], Array]:
    """
    Return distance, triangle and edge functions of each point's first hit ahead.

    The sum of the edge functions is positive at an exit. A point with a hit within the
    tolerance gets the distance ``-inf``, one without a hit ``inf``.
    """
    vertices, triangles, points = target.vertices, target.triangles, grid.points
    starts, below, nu, nv = grid.starts, grid.below, grid.nu, grid.nv
    u_low, v_low, scale_u, scale_v, _, width, height = grid.limits
    axis_u, axis_v, axis_w = frame_row(frame, 0), frame_row(frame, 1), frame_row(frame, 2)
    distances, positions = np.full(len(points), np.inf), np.empty(len(points), np.uint32)
    edges, outline = np.empty((len(points), 3)), np.empty((3, 3))
    for position in candidates:
        a = load_vec3(vertices, triangles[position, 0])
        b = load_vec3(vertices, triangles[position, 1])
        c = load_vec3(vertices, triangles[position, 2])
        au, av = coordinate_along(axis_u, a), coordinate_along(axis_v, a)
        bu, bv = coordinate_along(axis_u, b), coordinate_along(axis_v, b)
        cu, cv = coordinate_along(axis_u, c), coordinate_along(axis_v, c)
        low_u, high_u = min(min(au, bu), cu) - u_low, max(max(au, bu), cu) - u_low
        low_v, high_v = min(min(av, bv), cv) - v_low, max(max(av, bv), cv) - v_low
        if high_u < 0.0 or low_u > width or high_v < 0.0 or low_v > height:
            continue
        u0, u1 = _cell(low_u * scale_u, nu), _cell(high_u * scale_u, nu) + 1
        v0, v1 = _cell(low_v * scale_v, nv), _cell(high_v * scale_v, nv) + 1
        near = below[u1, v1] - below[u0, v1] - below[u1, v0] + below[u0, v0]
        if near == 0:
            continue
        aw, bw, cw = (coordinate_along(axis_w, a), coordinate_along(axis_w, b),
                      coordinate_along(axis_w, c))
        double_area = abs((bu - au) * (cv - av) - (bv - av) * (cu - au))
        beside = 1.0 - 0.5 * double_area / max((high_u - low_u) * (high_v - low_v), 1e-300)
        by_column = near * beside > COLUMN_COST * (u1 - u0)
        if by_column:
            outline[0, 0], outline[1, 0], outline[2, 0] = au - u_low, bu - u_low, cu - u_low
            outline[0, 1], outline[1, 1], outline[2, 1] = av - v_low, bv - v_low, cv - v_low
        for column in range(u0, u1):
            if by_column:
                low, high = slab_range(outline, (column - COVERAGE_TOLERANCE) / scale_u,
                                       (column + 1.0 + COVERAGE_TOLERANCE) / scale_u)
                if low > high:
                    continue
                v0 = _cell(low * scale_v - COVERAGE_TOLERANCE, nv)
                v1 = _cell(high * scale_v + COVERAGE_TOLERANCE, nv) + 1
            for i in range(starts[column * nv + v0], starts[column * nv + v1]):
                u, v, w = points[i, 0], points[i, 1], points[i, 2]
                e0, e1, e2 = edge_functions(au - u, av - v, bu - u, bv - v, cu - u, cv - v)
                least, most, total = min(min(e0, e1), e2), max(max(e0, e1), e2), e0 + e1 + e2
                if (least < 0.0 and most > 0.0) or total == 0.0:
                    continue
                distance = (e0 * (aw - w) + e1 * (bw - w) + e2 * (cw - w)) / total
                if distance < -tolerance:
                    continue
                if distance <= tolerance:
                    distances[i] = -np.inf
                elif distance < distances[i]:
                    distances[i], positions[i] = distance, position
                    edges[i, 0], edges[i, 1], edges[i, 2] = e0, e1, e2
    return distances, positions, edges


@njit(cache=True, nogil=True)
def _ascending(ids: IntArray, count: int) -> IntArray:
    """Return the order that sorts indices below ``count``."""
    if len(ids) < SORTED_SHARE * count:
        return np.argsort(ids)
    seen, place = np.zeros(count, np.bool_), np.empty(count, np.int32)
    for i in range(len(ids)):
        seen[ids[i]] = True
        place[ids[i]] = i
    order = np.empty(len(ids), np.int64)
    filled = 0
    for index in range(count):
        if seen[index]:
            order[filled] = place[index]
            filled += 1
    return order


@njit(cache=True, nogil=True)
def vertices_inside(query: FlatTree, target: FlatTree, rotation: Array, origin: Array,
                    direction: Array, on_surface: float) -> Inside:
    """
    Find the vertices of a query inside a closed target, and their first exits.

    Parameters
    ----------
    query, target : FlatTree
    rotation, origin : (3, 3) float, (3,) float
        Map query to target coordinates.
    direction : (3,) float
        Unit direction of leaving, frame target.
    on_surface : float
        Vertices this near to the surface along the direction, as part of the target's
        size, lie on it.

    Returns
    -------
    (k,) int, (k,) float, (k, 3) float, (k,) int, (k, 3) float
        Vertices, depths [m], coordinates in the query's frame [m], triangles, weights.
    """
    box, tolerance = target.box, on_surface * target.sizes[1]
    found = vertices_in_box(query.balls, query.nodes, query.vertices, int(query.sizes[0]),
                            transformed_frame(box[:3], rotation, origin - box[3]), box[4])
    if len(found) == 0:
        return _no_vertices()
    frame = direction_frame(direction)
    points, lower, upper = _projected(query.vertices, found,
                                      transformed_frame(frame, rotation, origin))
    grid = _sorted_into_cells(points, lower, upper, found, len(target.triangles))
    candidates = _triangles_over(target, frame, grid, tolerance)
    distances, positions, edges = _first_hits(target, candidates, frame, grid, tolerance)
    return _contacts(query, target, frame, grid, distances, positions, edges)


@njit(cache=True, nogil=True)
def _no_vertices() -> Inside:
    return (np.empty(0, np.int64), np.empty(0), np.empty((0, 3)), np.empty(0, np.int64),
            np.empty((0, 3)))


@njit(cache=True, nogil=True)
def _contacts(query: FlatTree, target: FlatTree, frame: Array, grid: _Grid, distances: Array,
              positions: NDArray[np.uint32], edges: Array) -> Inside:
    """Describe the points whose first hit is an exit, by ascending vertex."""
    places, q_ids = grid.places, query.vertex_ids
    inside, ids = np.empty(len(places), np.int32), np.empty(len(places), np.int64)
    count = 0
    for i in range(len(places)):
        inside[count], ids[count] = i, q_ids[places[i]]
        if 0.0 < distances[i] < np.inf and edges[i, 0] + edges[i, 1] + edges[i, 2] > 0.0:
            count += 1
    order = _ascending(ids[:count], len(q_ids))
    vertices, depths, triangles = np.empty(count, np.int64), np.empty(count), np.empty(
        count, np.int64)
    where, weights = np.empty((count, 3)), np.empty((count, 3))
    for row in range(count):
        i = inside[order[row]]
        place = places[i]
        vertices[row], depths[row] = q_ids[place], distances[i]
        triangles[row] = target.face_ids[positions[i]]
        total = edges[i, 0] + edges[i, 1] + edges[i, 2]
        for k in range(3):
            weights[row, k] = edges[i, k] / total
            where[row, k] = query.vertices[place, k]
    return vertices, depths, where, triangles, weights


@njit(cache=True, nogil=True)
def mutual_penetration(a: FlatTree, b: FlatTree, T_a_b: Array, direction: Array,
                       on_surface: float) -> tuple[Inside, Inside]:
    """
    Find the vertices of a inside b and those of b inside a, and their exits.

    Parameters
    ----------
    a, b : FlatTree
    T_a_b : (4, 4) float
        Pose of b in a.
    direction : (3,) float
        Unit motion of b relative to a, frame a.
    on_surface : float
        Part of a target's size within which a vertex lies on its surface.

    Returns
    -------
    two tuples of arrays
        Of a in b, of b in a: vertices (k,), depths (k,) [m], exits (k, 3) in the frame of
        a [m], triangles (k,), weights (k, 3).
    """
    rotation, origin = np.ascontiguousarray(T_a_b[:3, :3]), T_a_b[:3, 3].copy()
    loose = len(a.vertices) - int(a.sizes[0]) + len(b.vertices) - int(b.sizes[0])
    if loose == 0 and boxes_apart(a.box, b.box, rotation, origin):
        return _no_vertices(), _no_vertices()
    back = np.ascontiguousarray(rotation.T)
    a_in_b = vertices_inside(a, b, back, -(back @ origin), back @ direction, on_surface)
    b_in_a = vertices_inside(b, a, rotation, origin, -direction, on_surface)
    a_in_b[2][:] += a_in_b[1].reshape(-1, 1) * direction
    b_in_a[2][:] = b_in_a[2] @ back + origin - b_in_a[1].reshape(-1, 1) * direction
    return a_in_b, b_in_a
