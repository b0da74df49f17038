"""Closest points of a mesh, and its triangles in an oriented box, by the ball tree."""

import numpy as np

from ...arrays import Array, IntArray
from ...bodies.oriented_box import OrientedBox
from ...numerics.kernels import njit
from ...numerics.vec3 import (
    Mat3, Vec3, cross, dot, load_mat3, load_mat3_at, load_vec3, store_mat3, store_vec3, subtract)
from ...transforms import apply
from .culling import BOX_MARGIN
from .ray_casting import doubled
from .vp_tree import STACK_SIZE, VpTree


@njit(cache=True, forceinline=True)
def closest_weights(d1: float, d2: float, d3: float, d4: float, d5: float,
                    d6: float) -> tuple[float, float]:
    """
    Return the weights of corners b and c in the point of a triangle a b c closest to a point.

    The numbers are the products of b - a and c - a with the ways to the point from a, then
    from b, then from c. Where corners coincide, the others decide.

    Source: Ericson, Real-Time Collision Detection, 2005, section 5.1.5.
    """
    vc, vb, va = d1 * d4 - d3 * d2, d5 * d2 - d1 * d6, d3 * d6 - d5 * d4
    total = va + vb + vc
    v, w = 0.0, 0.0
    if d1 <= 0.0 and d2 <= 0.0:
        v = 0.0
    elif d3 >= 0.0 and d4 <= d3:
        v = 1.0
    elif d6 >= 0.0 and d5 <= d6:
        w = 1.0
    elif vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0 and d1 > d3:
        v = d1 / (d1 - d3)
    elif vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0 and d2 > d6:
        w = d2 / (d2 - d6)
    elif va <= 0.0 and d4 >= d3 and d5 >= d6 and (d4 - d3) + (d5 - d6) > 0.0:
        w = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        v = 1.0 - w
    elif total != 0.0:
        v, w = vb / total, vc / total
    return v, w


@njit(cache=True)
def closest_on_triangle(point: Vec3, corners: Array, position: int) -> tuple[float, Vec3]:
    """Return the squared distance of a point from a triangle, and the closest point of that."""
    a, b, c = load_mat3_at(corners, position)
    along, across = subtract(b, a), subtract(c, a)
    from_a, from_b, from_c = subtract(point, a), subtract(point, b), subtract(point, c)
    v, w = closest_weights(dot(along, from_a), dot(across, from_a), dot(along, from_b),
                           dot(across, from_b), dot(along, from_c), dot(across, from_c))
    closest = (a[0] + v * along[0] + w * across[0], a[1] + v * along[1] + w * across[1],
               a[2] + v * along[2] + w * across[2])
    offset = subtract(point, closest)
    return dot(offset, offset), closest


@njit(cache=True, forceinline=True)
def _ball_gap(centres: Array, radii: Array, node: int, point: Vec3) -> float:
    offset = subtract(point, load_vec3(centres, node))
    return np.sqrt(dot(offset, offset)) - radii[node]


@njit(cache=True)
def closest_points(tree: VpTree, points: Array, limit: float) -> tuple[Array, Array, IntArray]:
    """
    Return distances, closest points and triangle positions of points to a mesh.

    Parameters
    ----------
    tree : VpTree
    points : (k, 3) float
        Mesh frame [m].
    limit : float
        Farther points are not looked for [m].

    Returns
    -------
    (k,) float, (k, 3) float, (k,) int
        Unsigned distance, ``inf`` beyond the limit; closest point; position in the
        tree's order, -1 beyond the limit.
    """
    centres, radii, children = tree.centres, tree.radii, tree.children
    ranges, corners = tree.ranges, tree.corners
    count = len(points)
    distances = np.full(count, np.inf)
    closest = np.zeros((count, 3))
    positions = np.full(count, -1)
    stack, gaps = np.empty(STACK_SIZE, np.int64), np.empty(STACK_SIZE)
    for i in range(count):
        point, best = load_vec3(points, i), limit
        stack[0], gaps[0] = 0, _ball_gap(centres, radii, 0, point)
        top = 1
        while top > 0:
            top -= 1
            if gaps[top] > best:
                continue
            node = stack[top]
            if children[node, 0] < 0:
                for position in range(ranges[node, 0], ranges[node, 1]):
                    squared, there = closest_on_triangle(point, corners, position)
                    if squared <= best * best:
                        best = min(np.sqrt(squared), best)
                        distances[i], positions[i] = best, position
                        store_vec3(closest, i, there)
                continue
            first, second = children[node, 0], children[node, 1]
            near = _ball_gap(centres, radii, first, point)
            far = _ball_gap(centres, radii, second, point)
            if near > far:
                first, second, near, far = second, first, far, near
            stack[top], gaps[top] = second, far
            stack[top + 1], gaps[top + 1] = first, near
            top += 2
    return distances, closest, positions


@njit(cache=True)
def triangles_in_box(tree: VpTree, axes: Array, centre: Array, half: Array) -> IntArray:
    """
    Return tree positions of the triangles that meet an oriented box.

    Parameters
    ----------
    tree : VpTree
    axes : (3, 3) float
        Rows are the box's axes, mesh frame.
    centre, half : (3,) float
        Centre and half lengths [m].

    Returns
    -------
    (k,) int

    Notes
    -----
    Balls prune, then the 13 separating axes of a triangle and a box decide
    (Akenine-Moller, JGT 2001).
    """
    centres, radii, children = tree.centres, tree.radii, tree.children
    ranges, corners = tree.ranges, tree.corners
    rows, middle = load_mat3(axes), (centre[0], centre[1], centre[2])
    half_x, half_y, half_z = half[0], half[1], half[2]
    found = np.empty(64, np.int64)
    count = 0
    stack = np.empty(STACK_SIZE, np.int64)
    stack[0] = 0
    top = 1
    local = np.empty((3, 3))
    while top > 0:
        top -= 1
        node = stack[top]
        x, y, z = _to_box(rows, load_vec3(centres, node), middle)
        over_x, over_y, over_z = (max(abs(x) - half_x, 0.0), max(abs(y) - half_y, 0.0),
                                  max(abs(z) - half_z, 0.0))
        if over_x * over_x + over_y * over_y + over_z * over_z > radii[node] ** 2:
            continue
        if children[node, 0] >= 0:
            stack[top], stack[top + 1] = children[node, 0], children[node, 1]
            top += 2
            continue
        begin, end = ranges[node, 0], ranges[node, 1]
        if count + end - begin > len(found):
            found = doubled(found)
        for position in range(begin, end):
            a, b, c = load_mat3_at(corners, position)
            store_mat3(local, (_to_box(rows, a, middle), _to_box(rows, b, middle),
                               _to_box(rows, c, middle)))
            if triangle_meets_box(local, half):
                found[count] = position
                count += 1
    return found[:count]


@njit(cache=True)
def bounds_in_box(tree: VpTree, axes: Array, centre: Array, half: Array) -> tuple[Array, Array]:
    """
    Return bounds of the triangles that meet an oriented box, cut to the box.

    Parameters are those of ``triangles_in_box``. Nodes that cannot widen the bounds are
    not looked into.

    Returns
    -------
    (3,) float, (3,) float
        Lower and upper, along the axes from the centre [m]; ``inf, -inf`` where no
        triangle meets the box.
    """
    centres, radii, children = tree.centres, tree.radii, tree.children
    ranges, corners = tree.ranges, tree.corners
    rows, middle = load_mat3(axes), (centre[0], centre[1], centre[2])
    half_x, half_y, half_z = half[0], half[1], half[2]
    low_x, low_y, low_z = np.inf, np.inf, np.inf
    high_x, high_y, high_z = -np.inf, -np.inf, -np.inf
    stack = np.empty(STACK_SIZE, np.int64)
    stack[0] = 0
    top = 1
    local = np.empty((3, 3))
    while top > 0:
        top -= 1
        node = stack[top]
        x, y, z = _to_box(rows, load_vec3(centres, node), middle)
        radius = radii[node]
        over_x, over_y, over_z = (max(abs(x) - half_x, 0.0), max(abs(y) - half_y, 0.0),
                                  max(abs(z) - half_z, 0.0))
        if over_x * over_x + over_y * over_y + over_z * over_z > radius * radius or not (
                (max(x - radius, -half_x) < low_x) | (min(x + radius, half_x) > high_x)
                | (max(y - radius, -half_y) < low_y) | (min(y + radius, half_y) > high_y)
                | (max(z - radius, -half_z) < low_z) | (min(z + radius, half_z) > high_z)):
            continue
        if children[node, 0] >= 0:
            stack[top], stack[top + 1] = children[node, 0], children[node, 1]
            top += 2
            continue
        for position in range(ranges[node, 0], ranges[node, 1]):
            a, b, c = load_mat3_at(corners, position)
            a, b, c = _to_box(rows, a, middle), _to_box(rows, b, middle), _to_box(rows, c, middle)
            from_x, to_x = _extent(a[0], b[0], c[0], half_x)
            from_y, to_y = _extent(a[1], b[1], c[1], half_y)
            from_z, to_z = _extent(a[2], b[2], c[2], half_z)
            if not ((from_x < low_x) | (to_x > high_x) | (from_y < low_y) | (to_y > high_y)
                    | (from_z < low_z) | (to_z > high_z)):
                continue
            store_mat3(local, (a, b, c))
            if triangle_meets_box(local, half):
                low_x, low_y, low_z = min(low_x, from_x), min(low_y, from_y), min(low_z, from_z)
                high_x, high_y, high_z = max(high_x, to_x), max(high_y, to_y), max(high_z, to_z)
    return np.array([low_x, low_y, low_z]), np.array([high_x, high_y, high_z])


@njit(cache=True, forceinline=True)
def _to_box(axes: Mat3, point: Vec3, centre: Vec3) -> Vec3:
    """Return a point along a box's axes from its centre."""
    offset = subtract(point, centre)
    return dot(axes[0], offset), dot(axes[1], offset), dot(axes[2], offset)


@njit(cache=True, forceinline=True)
def _extent(a: float, b: float, c: float, half: float) -> tuple[float, float]:
    """Return the bounds of three numbers, cut to a box's side."""
    return max(min(a, b, c), -half), min(max(a, b, c), half)


@njit(cache=True)
def triangle_meets_box(local: Array, half: Array) -> bool:
    """Return True if a triangle ``(3, 3)`` meets the box of half lengths at the origin."""
    inside = True
    for k in range(3):
        low = min(local[0, k], local[1, k], local[2, k])
        high = max(local[0, k], local[1, k], local[2, k])
        if low > half[k] or high < -half[k]:
            return False
        inside = inside and low >= -half[k] and high <= half[k]
    if inside:
        return True     # no axis below could part them: rounding keeps the order of sums
    first, second, third = load_mat3(local)
    normal = cross(subtract(second, first), subtract(third, second))
    reach = abs(normal[0]) * half[0] + abs(normal[1]) * half[1] + abs(normal[2]) * half[2]
    if abs(dot(normal, first)) > reach:
        return False
    for edge in range(3):
        a, b, c = edge, (edge + 1) % 3, (edge + 2) % 3
        for k in range(3):
            i, j = (k + 1) % 3, (k + 2) % 3
            ei, ej = local[b, i] - local[a, i], local[b, j] - local[a, j]
            p = ei * local[a, j] - ej * local[a, i]
            q = ei * local[c, j] - ej * local[c, i]
            if min(p, q) > abs(ei) * half[j] + abs(ej) * half[i]:
                return False
            if max(p, q) < -(abs(ei) * half[j] + abs(ej) * half[i]):
                return False
    return True


def points_in_box(points: Array, T_box_points: Array, box: OrientedBox) -> IntArray:
    """Return indices of the points, given in another frame, in a box, rounding outwards."""
    local, half = (apply(T_box_points, points) - box.centre) @ box.axes.T, box.half_lengths
    return np.flatnonzero((np.abs(local) <= half + BOX_MARGIN * half.sum()).all(axis=1))
