"""
First hits of many points with a mesh along one common direction, exact.

All rays are parallel, so triangles are seen from above: a point meets a triangle if
the triangle's projection covers it. The tree yields the triangles under the points,
a grid over the points yields the pairs, and two-dimensional edge functions decide.
The edge function of an edge has the same magnitude from either of its triangles, so
nothing slips through between neighbours.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array, BoolArray, IntArray
from ...numerics.kernels import njit
from ...numerics.vec3 import Mat3, Vec3, dot, load_mat3, load_mat3_at, store_mat3
from .vp_tree import STACK_SIZE, VpTree


#: Columns of hits.
AHEAD, BEHIND = 0, 1
#: Margin round a cell of the grid that rounding cannot bridge [cells].
COVERAGE_TOLERANCE = 1e-6


class RayHits(NamedTuple):
    """
    Nearest hits of k points along a direction; column 0 is ahead, column 1 behind.

    Attributes
    ----------
    distances : (k, 2) float
        Signed way to the hit [m]: above 0 ahead, at most 0 behind; infinite if none.
    positions : (k, 2) int
        Position of the triangle in the tree's order, -1 if none.
    edges : (k, 2, 4) float
        Edge functions of the hit, and their sum: above 0 where the mesh is left, below where it
        is entered, 0 if none. Over the sum they are the barycentric coordinates.
    """

    distances: Array
    positions: IntArray
    edges: Array


@njit(cache=True)
def direction_frame(direction: Array) -> Array:
    """
    Return rows e1, e2, d of a right-handed frame with d along the direction.

    Source: Duff et al., Building an orthonormal basis, revisited, JCGT 2017.
    """
    frame = np.empty((3, 3))
    norm = np.sqrt(direction[0] ** 2 + direction[1] ** 2 + direction[2] ** 2)
    x, y, z = direction[0] / norm, direction[1] / norm, direction[2] / norm
    sign = 1.0 if z >= 0.0 else -1.0
    a = -1.0 / (sign + z)
    b = x * y * a
    frame[0, 0], frame[0, 1], frame[0, 2] = 1.0 + sign * x * x * a, sign * b, -sign * x
    frame[1, 0], frame[1, 1], frame[1, 2] = b, sign + y * y * a, -y
    frame[2, 0], frame[2, 1], frame[2, 2] = x, y, z
    return frame


@njit(cache=True, forceinline=True)
def project_triangle(corners: Array, position: int, frame: Mat3) -> Mat3:
    """Return the corners of triangle ``position`` in a frame of these rows."""
    u, v, w = frame
    a, b, c = load_mat3_at(corners, position)
    return ((dot(u, a), dot(v, a), dot(w, a)), (dot(u, b), dot(v, b), dot(w, b)),
            (dot(u, c), dot(v, c), dot(w, c)))


@njit(cache=True)
def triangles_under(tree: VpTree, frame: Array, lower: Array, upper: Array) -> IntArray:
    """
    Return tree positions of the triangles whose projected extent meets a box.

    ``lower, upper (3,)`` bound the box in the frame; its third axis is the direction. Some
    that miss it are left out although their extent meets it: those in a ball that misses it.
    """
    centres, radii, children = tree.centres, tree.radii, tree.children
    ranges, corners = tree.ranges, tree.corners
    first, second, third = load_mat3(frame)
    low_u, low_v, low_w = lower[0], lower[1], lower[2]
    high_u, high_v, high_w = upper[0], upper[1], upper[2]
    found, count = np.empty(256, np.int64), 0    # more than in any leaf
    stack = np.empty(STACK_SIZE, np.int64)
    stack[0] = 0
    top = 1
    while top > 0:
        top -= 1
        node = stack[top]
        centre, radius = (centres[node, 0], centres[node, 1], centres[node, 2]), radii[node]
        w = dot(third, centre)
        if w + radius < low_w or w - radius > high_w:
            continue
        u, v = dot(first, centre), dot(second, centre)
        du, dv = max(low_u - u, u - high_u, 0.0), max(low_v - v, v - high_v, 0.0)
        if du * du + dv * dv > radius * radius:
            continue
        inside = ((u - radius >= low_u) & (u + radius <= high_u) & (v - radius >= low_v)
                  & (v + radius <= high_v) & (w - radius >= low_w) & (w + radius <= high_w))
        if children[node, 0] >= 0 and not inside:
            stack[top], stack[top + 1] = children[node, 0], children[node, 1]
            top += 2
            continue
        begin, end = ranges[node, 0], ranges[node, 1]
        while count + end - begin > len(found):
            found = doubled(found)
        for position in range(begin, end):
            triangle = load_mat3_at(corners, position)
            # Kept or overwritten by the next one: no branch that cannot be foreseen.
            found[count] = position
            count += inside or (_meets(triangle, first, low_u, high_u) & _meets(
                triangle, second, low_v, high_v) & _meets(triangle, third, low_w, high_w))
    return found[:count]


@njit(cache=True)
def doubled(values: NDArray[Any]) -> NDArray[Any]:
    """Return an array of twice the length, the first half kept."""
    return np.concatenate((values, np.empty_like(values)))


@njit(cache=True, forceinline=True)
def _meets(triangle: Mat3, axis: Vec3, low: float, high: float) -> bool:
    """Return True if a triangle's extent along an axis meets an interval."""
    a, b, c = dot(axis, triangle[0]), dot(axis, triangle[1]), dot(axis, triangle[2])
    return (max(a, b, c) >= low) & (min(a, b, c) <= high)


@njit(cache=True, forceinline=True)
def edge_functions(ax: float, ay: float, bx: float, by: float, cx: float,
                   cy: float) -> tuple[float, float, float]:
    """Return twice the signed areas of the origin with each edge of a triangle in the plane."""
    return bx * cy - by * cx, cx * ay - cy * ax, ax * by - ay * bx


@njit(cache=True, forceinline=True)
def coverage(projected: Mat3, u: float, v: float) -> tuple[float, float, float, float]:
    """
    Return signed edge functions and their sum of a point under a projected triangle.

    The sum is 0 where the triangle does not cover the point or is parallel to the
    direction; positive where the facet faces along the direction (an exit).
    """
    a, b, c = projected
    e0, e1, e2 = edge_functions(a[0] - u, a[1] - v, b[0] - u, b[1] - v, c[0] - u, c[1] - v)
    # No branch that cannot be foreseen.
    inside = ((e0 >= 0.0) & (e1 >= 0.0) & (e2 >= 0.0)) | ((e0 <= 0.0) & (e1 <= 0.0) & (e2 <= 0.0))
    return e0, e1, e2, (e0 + e1 + e2 if inside else 0.0)


@njit(cache=True, forceinline=True, error_model='numpy')
def slab_range(projected: Array, low: float, high: float) -> tuple[float, float]:
    """Return bounds of a projected triangle's second coordinate where its first is in a slab."""
    least, most = np.inf, -np.inf
    for a in range(3):
        b = (a + 1) % 3
        ua, va, ub, vb = projected[a, 0], projected[a, 1], projected[b, 0], projected[b, 1]
        if low <= ua <= high:
            least, most = min(least, va), max(most, va)
        for k in range(2):
            wall = low if k == 0 else high
            if (ua < wall) != (ub < wall):
                v = va + (vb - va) * ((wall - ua) / (ub - ua))
                least, most = min(least, v), max(most, v)
    return least, most


@njit(cache=True)
def grid_shape(count: float, width: float, height: float) -> tuple[int, int]:
    """Return the cells along both sides, about two to a point."""
    cells = 2.0 * count
    if width <= 0.0 and height <= 0.0:
        return 1, 1
    if width <= 0.0:
        return 1, int(cells)
    if height <= 0.0:
        return int(cells), 1
    nu = min(max(1.0, np.sqrt(cells * width / height)), cells)
    return int(nu), int(max(1.0, cells / nu))


@njit(cache=True, forceinline=True)
def _cell(value: float, origin: float, scale: float, count: int) -> int:
    return min(max(int((value - origin) * scale), 0), count - 1)


@njit(cache=True)
def _sort_into_cells(points: Array, lower: Array, scale_u: float, scale_v: float, nu: int,
                     nv: int) -> tuple[IntArray, IntArray]:
    """Return the points' order by cell and the first of each cell (counting sort)."""
    starts = np.zeros(nu * nv + 1, np.int64)
    cells = np.empty(len(points), np.int64)
    for i in range(len(points)):
        cells[i] = (_cell(points[i, 0], lower[0], scale_u, nu) * nv
                    + _cell(points[i, 1], lower[1], scale_v, nv))
        starts[cells[i] + 1] += 1
    for c in range(nu * nv):
        starts[c + 1] += starts[c]
    place = starts[:-1].copy()
    order = np.empty(len(points), np.int64)
    for i in range(len(points)):
        order[place[cells[i]]] = i
        place[cells[i]] += 1
    return order, starts


@njit(cache=True)
def cast_rays(tree: VpTree, points: Array, direction: Array, behind: float) -> RayHits:
    """
    Return the nearest hits of points with a mesh along a direction.

    Parameters
    ----------
    tree : VpTree
    points : (k, 3) float
        Mesh frame [m].
    direction : (3,) float
        Common direction, any length above 0.
    behind : float
        How far behind a point hits are looked for [m]; 0 if they are not wanted.

    Returns
    -------
    RayHits

    Notes
    -----
    Source: CONTACT narrow phase of the intersection paper, in which the triangles round
    the nearest projected vertex are tried; departure: all triangles whose projection
    covers the point, so that none is missed.
    """
    count = len(points)
    distances, positions = np.empty((count, 2)), np.full((count, 2), -1)
    distances[:, AHEAD], distances[:, BEHIND] = np.inf, -np.inf
    edges = np.zeros((count, 2, 4))
    frame = direction_frame(direction)
    turned, lower, upper = rotate_points(points, frame)
    if count > 0:
        upper[2] = np.inf
        lower[2] -= behind
        candidates = triangles_under(tree, frame, lower, upper)
        _test_candidates(tree.corners, candidates, frame, turned, lower, upper, distances,
                         positions, edges)
    return RayHits(distances, positions, edges)


@njit(cache=True)
def rotate_points(points: Array, frame: Array) -> tuple[Array, Array, Array]:
    """Return points in a frame, and their bounds there."""
    turned = np.empty((len(points), 3))
    lower, upper = np.full(3, np.inf), np.full(3, -np.inf)
    for i in range(len(points)):
        for k in range(3):
            turned[i, k] = (frame[k, 0] * points[i, 0] + frame[k, 1] * points[i, 1]
                            + frame[k, 2] * points[i, 2])
            lower[k] = min(lower[k], turned[i, k])
            upper[k] = max(upper[k], turned[i, k])
    return turned, lower, upper


@njit(cache=True)
def _test_candidates(corners: Array, candidates: IntArray, frame: Array, turned: Array,
                     lower: Array, upper: Array, distances: Array, positions: IntArray,
                     edges: Array) -> None:
    """Test every candidate triangle against the points in the cells under it."""
    nu, nv = grid_shape(len(turned), upper[0] - lower[0], upper[1] - lower[1])
    scale_u = nu / max(upper[0] - lower[0], 1e-300)
    scale_v = nv / max(upper[1] - lower[1], 1e-300)
    order, starts = _sort_into_cells(turned, lower, scale_u, scale_v, nu, nv)
    rows, outline = load_mat3(frame), np.empty((3, 3))
    for position in candidates:
        projected = project_triangle(corners, position, rows)
        a, b, c = projected
        u0 = _cell(min(a[0], b[0], c[0]), lower[0], scale_u, nu)
        u1 = _cell(max(a[0], b[0], c[0]), lower[0], scale_u, nu)
        least, most = min(a[1], b[1], c[1]), max(a[1], b[1], c[1])
        v0, v1 = _cell(least, lower[1], scale_v, nv), _cell(most, lower[1], scale_v, nv)
        slanted = (u1 - u0) * (v1 - v0) > 4
        if slanted:
            store_mat3(outline, projected)
        for cu in range(u0, u1 + 1):
            if slanted:
                low = lower[0] + (cu - COVERAGE_TOLERANCE) / scale_u
                high = lower[0] + (cu + 1.0 + COVERAGE_TOLERANCE) / scale_u
                least, most = slab_range(outline, low, high)
                if least > most:
                    continue
                v0 = _cell(least - COVERAGE_TOLERANCE / scale_v, lower[1], scale_v, nv)
                v1 = _cell(most + COVERAGE_TOLERANCE / scale_v, lower[1], scale_v, nv)
            for place in range(starts[cu * nv + v0], starts[cu * nv + v1 + 1]):
                i = order[place]
                e0, e1, e2, total = coverage(projected, turned[i, 0], turned[i, 1])
                if total == 0.0:
                    continue
                distance = height_above(projected, e0, e1, e2, total, turned[i, 2])
                column = AHEAD if distance > 0.0 else BEHIND
                if abs(distance) < abs(distances[i, column]):
                    distances[i, column] = distance
                    positions[i, column] = position
                    edges[i, column, 0], edges[i, column, 1] = e0, e1
                    edges[i, column, 2], edges[i, column, 3] = e2, total


@njit(cache=True, forceinline=True)
def height_above(projected: Mat3, e0: float, e1: float, e2: float, total: float,
                 z: float) -> float:
    """Return the third coordinate of a covered point of a triangle, less z."""
    a, b, c = projected
    return (e0 * (a[2] - z) + e1 * (b[2] - z) + e2 * (c[2] - z)) / total


#: Direction without relation to any axis, where none is given.
GENERIC = np.array([0.36235775, 0.51730713, 0.77529167])


def contains(tree: VpTree, points: Array) -> BoolArray:
    """
    Return which points lie inside a closed mesh: their first hit is an exit.

    Parameters
    ----------
    tree : VpTree
        Of a closed mesh, wound outwards.
    points : (k, 3) float
        Mesh frame [m].

    Returns
    -------
    (k,) bool
    """
    hits = cast_rays(tree, np.ascontiguousarray(points, float), GENERIC, 0.0)
    return hits.edges[:, AHEAD, 3] > 0.0
