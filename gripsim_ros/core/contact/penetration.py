"""
Vertices of one mesh inside another, in one kernel: cull, project, cover, first exit.

The steps are those of the intersection paper, each made exact: the oriented box of the
target and the ball tree of the query leave the vertices that may be inside; these are
projected along the motion into a grid; the ball tree of the target yields all triangles
whose projection may cover one of them; edge functions decide.
"""

import numpy as np
from numba import njit

from .query_arrays import (END_TRIANGLE, END_VERTEX, FIRST_TRIANGLE, FIRST_VERTEX, INNER,
                           OUTER)
from .ray_queries import SLACK, cover, direction_frame, grid_shape, project_triangle, slab_range
from .vp_tree import STACK_SIZE

#: Boxes grow by this part of their size, so that rounding leaves no vertex out.
BOX_MARGIN = 1e-9
#: Contacts are sorted where they are fewer than this part of the vertices, else counted.
SORTED_SHARE = 1.0 / 32.0
#: Slivers over more cells than this are followed column by column.
MANY_CELLS = 4


@njit(cache=True, nogil=True)
def boxes_apart(box_a, box_b, rotation, origin):
    """
    Tell whether two oriented boxes ``(5, 3)`` have no common point: 15 axes.

    ``rotation, origin`` map the frame of b to that of a. A margin covers rounding.
    """
    turned, absolute, offset = np.empty((3, 3)), np.empty((3, 3)), np.empty(3)
    middle, axes = np.empty(3), np.empty((3, 3))
    for k in range(3):
        middle[k] = origin[k] - box_a[3, k]
        for j in range(3):
            middle[k] += rotation[k, j] * box_b[3, j]
            axes[j, k] = (rotation[k, 0] * box_b[j, 0] + rotation[k, 1] * box_b[j, 1]
                          + rotation[k, 2] * box_b[j, 2])
    reach = 0.0
    for i in range(3):
        reach += box_a[4, i] + box_b[4, i]
        offset[i] = box_a[i, 0] * middle[0] + box_a[i, 1] * middle[1] + box_a[i, 2] * middle[2]
        for j in range(3):
            turned[i, j] = (box_a[i, 0] * axes[j, 0] + box_a[i, 1] * axes[j, 1]
                            + box_a[i, 2] * axes[j, 2])
            absolute[i, j] = abs(turned[i, j])
    slack = BOX_MARGIN * reach
    for i in range(3):
        own, other, along = box_a[4, i], box_b[4, i], 0.0
        for j in range(3):
            own += absolute[i, j] * box_b[4, j]
            other += absolute[j, i] * box_a[4, j]
            along += turned[j, i] * offset[j]
        if abs(offset[i]) > own + slack or abs(along) > other + slack:
            return True
    for i in range(3):
        i1, i2 = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            j1, j2 = (j + 1) % 3, (j + 2) % 3
            along = abs(offset[i2] * turned[i1, j] - offset[i1] * turned[i2, j])
            both = (box_a[4, i1] * absolute[i2, j] + box_a[4, i2] * absolute[i1, j]
                    + box_b[4, j1] * absolute[i, j2] + box_b[4, j2] * absolute[i, j1])
            if along > both + slack:
                return True
    return False


@njit(cache=True, nogil=True)
def _turn(frame, rotation, origin):
    """Return the rotation and offset of a frame's rows after a rigid motion, (3, 4)."""
    turned = np.empty((3, 4))
    for k in range(3):
        for j in range(3):
            turned[k, j] = (frame[k, 0] * rotation[0, j] + frame[k, 1] * rotation[1, j]
                            + frame[k, 2] * rotation[2, j])
        turned[k, 3] = frame[k, 0] * origin[0] + frame[k, 1] * origin[1] + frame[k, 2] * origin[2]
    return turned


@njit(cache=True, nogil=True, inline='always')
def _row(motion, k, points, i):
    return (motion[k, 0] * points[i, 0] + motion[k, 1] * points[i, 1]
            + motion[k, 2] * points[i, 2] + motion[k, 3])


@njit(cache=True, nogil=True)
def _vertices_in_box(balls, nodes, vertices, used, to_box, half):
    """Return places of the vertices that lie in a box, by the ball tree."""
    h0, h1, h2 = half[0], half[1], half[2]
    margin = BOX_MARGIN * (h0 + h1 + h2)
    found = np.empty(len(vertices), np.int32)
    count = 0
    stack = np.empty(STACK_SIZE, np.int32)
    stack[0] = 0
    top = 1
    while top > 0:
        top -= 1
        node = stack[top]
        radius = balls[node, 3] + margin
        x = max(abs(_row(to_box, 0, balls, node)) - h0, 0.0)
        y = max(abs(_row(to_box, 1, balls, node)) - h1, 0.0)
        z = max(abs(_row(to_box, 2, balls, node)) - h2, 0.0)
        if x * x + y * y + z * z > radius * radius:
            continue
        if nodes[node, INNER] >= 0:
            stack[top], stack[top + 1] = nodes[node, INNER], nodes[node, OUTER]
            top += 2
            continue
        for i in range(nodes[node, FIRST_VERTEX], nodes[node, END_VERTEX]):
            count = _add_if_in_box(vertices, i, to_box, h0, h1, h2, margin, found, count)
    for i in range(used, len(vertices)):
        count = _add_if_in_box(vertices, i, to_box, h0, h1, h2, margin, found, count)
    return found[:count]


@njit(cache=True, nogil=True, inline='always')
def _add_if_in_box(vertices, i, to_box, h0, h1, h2, margin, found, count):
    found[count] = i
    inside = (abs(_row(to_box, 0, vertices, i)) <= h0 + margin
              and abs(_row(to_box, 1, vertices, i)) <= h1 + margin
              and abs(_row(to_box, 2, vertices, i)) <= h2 + margin)
    return count + 1 if inside else count


@njit(cache=True, nogil=True, inline='always')
def _cell(value, origin, scale, last):
    return min(max(int((value - origin) * scale), 0), last)


@njit(cache=True, nogil=True)
def _grid(points):
    """
    Sort projected points ``(k, 3)`` into a grid over their extent.

    Returns the order by cell, the number of points before each cell, the number of points
    in the cells below and left of each grid corner, the cells along both sides, and lower
    ends and scales: ``(origin u, origin v, scale u, scale v, least w)``.
    """
    lower, upper = np.full(3, np.inf), np.full(3, -np.inf)
    for i in range(len(points)):
        for k in range(3):
            lower[k], upper[k] = min(lower[k], points[i, k]), max(upper[k], points[i, k])
    nu, nv = grid_shape(len(points), upper[0] - lower[0], upper[1] - lower[1])
    scale_u = nu / max(upper[0] - lower[0], 1e-300)
    scale_v = nv / max(upper[1] - lower[1], 1e-300)
    starts = np.zeros(nu * nv + 1, np.int32)
    cells = np.empty(len(points), np.int32)
    for i in range(len(points)):
        cells[i] = (_cell(points[i, 0], lower[0], scale_u, nu - 1) * nv
                    + _cell(points[i, 1], lower[1], scale_v, nv - 1))
        starts[cells[i] + 1] += 1
    below = np.zeros((nu + 1, nv + 1), np.int32)
    for cu in range(nu):
        row = 0
        for cv in range(nv):
            row += starts[cu * nv + cv + 1]
            below[cu + 1, cv + 1] = below[cu, cv + 1] + row
    for c in range(nu * nv):
        starts[c + 1] += starts[c]
    order, place = np.empty(len(points), np.int32), starts[:-1].copy()
    for i in range(len(points)):
        order[place[cells[i]]] = i
        place[cells[i]] += 1
    limits = np.array([lower[0], lower[1], scale_u, scale_v, lower[2], upper[0], upper[1]])
    return order, starts, below, nu, nv, limits


@njit(cache=True, nogil=True)
def _first_hits(balls, nodes, corners, frame, points, starts, below, nu, nv, limits, tolerance,
                ways, positions, exits):
    """
    Write way, triangle and side of each point's first hit ahead, by the ball tree.

    A point with a hit within the tolerance gets the way ``-inf``.
    """
    u_low, v_low, scale_u, scale_v = limits[0], limits[1], limits[2], limits[3]
    w_low, u_high, v_high = limits[4] - tolerance, limits[5], limits[6]
    last_u, last_v = nu - 1, nv - 1
    projected = np.empty((3, 3))
    stack = np.empty(STACK_SIZE, np.int32)
    stack[0] = 0
    top = 1
    while top > 0:
        top -= 1
        node = stack[top]
        x, y, z, radius = balls[node, 0], balls[node, 1], balls[node, 2], balls[node, 3]
        if frame[2, 0] * x + frame[2, 1] * y + frame[2, 2] * z + radius < w_low:
            continue
        u = frame[0, 0] * x + frame[0, 1] * y + frame[0, 2] * z
        v = frame[1, 0] * x + frame[1, 1] * y + frame[1, 2] * z
        if (u + radius < u_low or u - radius > u_high or v + radius < v_low
                or v - radius > v_high):
            continue
        u0, u1 = (_cell(u - radius, u_low, scale_u, last_u),
                  _cell(u + radius, u_low, scale_u, last_u))
        v0, v1 = (_cell(v - radius, v_low, scale_v, last_v),
                  _cell(v + radius, v_low, scale_v, last_v))
        if (below[u1 + 1, v1 + 1] - below[u0, v1 + 1] - below[u1 + 1, v0] + below[u0, v0]) == 0:
            continue
        if nodes[node, INNER] >= 0:
            stack[top], stack[top + 1] = nodes[node, OUTER], nodes[node, INNER]
            top += 2
            continue
        for position in range(nodes[node, FIRST_TRIANGLE], nodes[node, END_TRIANGLE]):
            _try_triangle(corners, position, frame, projected, points, starts, below, nu, nv,
                          limits, tolerance, ways, positions, exits)


@njit(cache=True, nogil=True, inline='always')
def _try_triangle(corners, position, frame, projected, points, starts, below, nu, nv, limits,
                  tolerance, ways, positions, exits):
    """Test a triangle against the points in the cells under it."""
    u_low, v_low, scale_u, scale_v = limits[0], limits[1], limits[2], limits[3]
    project_triangle(corners, position, frame, projected)
    least_u = min(projected[0, 0], projected[1, 0], projected[2, 0])
    most_u = max(projected[0, 0], projected[1, 0], projected[2, 0])
    least_v = min(projected[0, 1], projected[1, 1], projected[2, 1])
    most_v = max(projected[0, 1], projected[1, 1], projected[2, 1])
    most_w = max(projected[0, 2], projected[1, 2], projected[2, 2])
    if (most_u < u_low or least_u > limits[5] or most_v < v_low or least_v > limits[6]
            or most_w < limits[4] - tolerance):
        return
    u0, u1 = _cell(least_u, u_low, scale_u, nu - 1), _cell(most_u, u_low, scale_u, nu - 1)
    v0, v1 = _cell(least_v, v_low, scale_v, nv - 1), _cell(most_v, v_low, scale_v, nv - 1)
    if (below[u1 + 1, v1 + 1] - below[u0, v1 + 1] - below[u1 + 1, v0] + below[u0, v0]) == 0:
        return
    slanted = (u1 - u0) * (v1 - v0) > MANY_CELLS
    for cu in range(u0, u1 + 1):
        if slanted:
            low, high = slab_range(projected, u_low + (cu - SLACK) / scale_u,
                                   u_low + (cu + 1.0 + SLACK) / scale_u)
            if low > high:
                continue
            v0 = _cell(low - SLACK / scale_v, v_low, scale_v, nv - 1)
            v1 = _cell(high + SLACK / scale_v, v_low, scale_v, nv - 1)
        for i in range(starts[cu * nv + v0], starts[cu * nv + v1 + 1]):
            w = points[i, 2]
            if most_w < w - tolerance:
                continue
            e0, e1, e2, total = cover(projected, points[i, 0], points[i, 1])
            if total == 0.0:
                continue
            way = (e0 * (projected[0, 2] - w) + e1 * (projected[1, 2] - w)
                   + e2 * (projected[2, 2] - w)) / total
            if way < -tolerance:
                continue
            if way <= tolerance:
                ways[i] = -np.inf
            elif way < ways[i]:
                ways[i], positions[i], exits[i] = way, position, total > 0.0


@njit(cache=True, nogil=True)
def _ascending(ids, count):
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
def vertices_inside(q_balls, q_nodes, q_vertices, q_ids, q_sizes, t_balls, t_nodes, t_corners,
                    t_ids, t_box, rotation, origin, direction, tolerance):
    """
    Find the vertices of a query inside a closed target, and their first exits.

    Parameters
    ----------
    q_balls, q_nodes, q_vertices, q_ids, q_sizes
        Arrays of the query (``QueryArrays``).
    t_balls, t_nodes, t_corners, t_ids, t_box
        Arrays of the target.
    rotation, origin : (3, 3) float, (3,) float
        Map query to target coordinates.
    direction : (3,) float
        Unit direction of leaving, frame target.
    tolerance : float
        Vertices this near to the surface along the direction lie on it [m].

    Returns
    -------
    (k,) int, (k,) float, (k, 3) float, (k,) int, (k, 3) float
        Vertices, depths [m], coordinates in the query's frame [m], triangles, weights.
    """
    found = _vertices_in_box(q_balls, q_nodes, q_vertices, int(q_sizes[0]),
                             _turn(t_box[:3], rotation, origin - t_box[3]), t_box[4])
    if len(found) == 0:
        return _nothing()
    frame = direction_frame(direction)
    motion = _turn(frame, rotation, origin)
    turned = np.empty((len(found), 3))
    for i in range(len(found)):
        for k in range(3):
            turned[i, k] = _row(motion, k, q_vertices, found[i])
    order, starts, below, nu, nv, limits = _grid(turned)
    points = turned[order]
    ways, positions = np.full(len(found), np.inf), np.empty(len(found), np.int32)
    exits = np.zeros(len(found), np.bool_)
    _first_hits(t_balls, t_nodes, t_corners, frame, points, starts, below, nu, nv, limits,
                tolerance, ways, positions, exits)
    return _contacts(q_vertices, q_ids, t_corners, t_ids, frame, points, found[order], ways,
                     positions, exits)


@njit(cache=True, nogil=True)
def _nothing():
    return (np.empty(0, np.int64), np.empty(0), np.empty((0, 3)), np.empty(0, np.int64),
            np.empty((0, 3)))


@njit(cache=True, nogil=True)
def _contacts(q_vertices, q_ids, t_corners, t_ids, frame, points, places, ways, positions, exits):
    """Describe the points whose first hit is an exit, by ascending vertex."""
    inside, ids = np.empty(len(points), np.int32), np.empty(len(points), np.int64)
    count = 0
    for i in range(len(points)):
        inside[count], ids[count] = i, q_ids[places[i]]
        if exits[i] and ways[i] > 0.0:
            count += 1
    order = _ascending(ids[:count], len(q_ids))
    vertices, depths, triangles = np.empty(count, np.int64), np.empty(count), np.empty(
        count, np.int64)
    where, weights, projected = np.empty((count, 3)), np.empty((count, 3)), np.empty((3, 3))
    for row in range(count):
        i = inside[order[row]]
        vertices[row], depths[row], triangles[row] = (
            q_ids[places[i]], ways[i], t_ids[positions[i]])
        project_triangle(t_corners, positions[i], frame, projected)
        e0, e1, e2, total = cover(projected, points[i, 0], points[i, 1])
        weights[row, 0], weights[row, 1], weights[row, 2] = e0 / total, e1 / total, e2 / total
        for k in range(3):
            where[row, k] = q_vertices[places[i], k]
    return vertices, depths, where, triangles, weights


@njit(cache=True, nogil=True)
def both_ways(a_balls, a_nodes, a_corners, a_vertices, a_ids, a_faces, a_box, a_sizes,
              b_balls, b_nodes, b_corners, b_vertices, b_ids, b_faces, b_box, b_sizes,
              T_a_b, direction, on_surface):
    """
    Find the vertices of a inside b and those of b inside a, and their exits.

    Parameters
    ----------
    a_balls, a_nodes, a_corners, a_vertices, a_ids, a_faces, a_box, a_sizes
        ``QueryArrays`` of a; then the same of b.
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
    rotation, origin = np.empty((3, 3)), np.empty(3)
    turned, offset, forth, back = np.empty((3, 3)), np.zeros(3), np.zeros(3), np.empty(3)
    for i in range(3):
        origin[i] = T_a_b[i, 3]
        back[i] = -direction[i]
        for j in range(3):
            rotation[i, j] = T_a_b[i, j]
            turned[j, i] = T_a_b[i, j]
            offset[j] -= T_a_b[i, j] * T_a_b[i, 3]
            forth[j] += T_a_b[i, j] * direction[i]
    if boxes_apart(a_box, b_box, rotation, origin):
        return _nothing(), _nothing()
    a_in_b = vertices_inside(a_balls, a_nodes, a_vertices, a_ids, a_sizes, b_balls, b_nodes,
                             b_corners, b_faces, b_box, turned, offset, forth,
                             on_surface * b_sizes[1])
    b_in_a = vertices_inside(b_balls, b_nodes, b_vertices, b_ids, b_sizes, a_balls, a_nodes,
                             a_corners, a_faces, a_box, rotation, origin, back,
                             on_surface * a_sizes[1])
    points = a_in_b[2]
    for i in range(len(points)):
        for k in range(3):
            points[i, k] += a_in_b[1][i] * direction[k]
    points = b_in_a[2]
    for i in range(len(points)):
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        for k in range(3):
            points[i, k] = (rotation[k, 0] * x + rotation[k, 1] * y + rotation[k, 2] * z
                            + origin[k] + b_in_a[1][i] * back[k])
    return a_in_b, b_in_a
