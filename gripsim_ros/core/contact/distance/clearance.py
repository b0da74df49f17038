"""
Lower bounds of distance, by which free motion is skipped.

The links' hulls against the object's balls and triangles, against obstacles and against
each other. Every number returned is certified: never above the distance.
"""

import numpy as np

from ...arrays import Array, IntArray
from ...batches import OBSTACLE_BOX, OBSTACLE_CYLINDER, OBSTACLE_SPHERE
from ...bodies.oriented_box import OrientedBox
from ...errors import ShapeError
from ...numerics.kernels import njit
from ...numerics.vec3 import (
    Mat3, Vec3, dot, load_mat3, load_mat3_at, load_vec3, placed, store_vec3, subtract)
from ..geometry.contact_mesh import ContactMesh
from ..geometry.vp_tree import STACK_SIZE, VpTree
from .gjk import ABSOLUTE, RELATIVE, Shape, distance_bound, shape_of_points, support_point
from .link_hulls import Hulls, distance_beyond_planes, hull_shape


#: Largest displacement by rounding over a point's distance from the origins [-].
ROUNDING = 1e-12
#: Ratio of a pair's bound to the least distance above which it is not the nearest pair,
#: however that was rounded within ``RELATIVE``.
MARGIN_FACTOR = 1.0 + 1e-5


def hull_clearances(hulls: Hulls, body: ContactMesh, T_object_link: Array,
                    sweep_object: Array) -> Array:
    """
    Return lower bounds of the distances from the links' hulls to the object's surface.

    Parameters
    ----------
    hulls : Hulls
    body : ContactMesh
        The object; the bulges of its curved surface are allowed for.
    T_object_link : (L, 4, 4) float
    sweep_object : (3,) float
        Translation by which the links arrive at their poses, frame object [m].

    Returns
    -------
    (L,) float
        The distance of the hull to ``RELATIVE``; 0 where it meets the surface [m].
    """
    return _hull_clearances(hulls, body.tree, body.surface.limits, body.bulge, T_object_link,
                            sweep_object)


@njit(cache=True)
def _hull_clearances(hulls: Hulls, tree: VpTree, bulges: Array, largest: float, poses: Array,
                     sweep: Array) -> Array:
    clearances = np.empty(len(poses))
    for link in range(len(poses)):
        rotation, origin = poses[link, :3, :3].T.copy(), poses[link, :3, 3].copy()
        back = -(rotation @ sweep)
        shape, h = hull_shape(hulls, link, back), hulls.which[link]
        normals = hulls.normals[h].copy()
        offsets = hulls.offsets[h] + np.maximum(normals @ back, 0.0)
        clearances[link] = _hull_to_tree(shape, normals, offsets, tree, bulges, largest, rotation,
                                         origin)
    return clearances


@njit(cache=True)
def _hull_to_tree(shape: Shape, normals: Array, offsets: Array, tree: VpTree, bulges: Array,
                  largest: float, rotation: Array, origin: Array) -> float:
    """
    Traverse the object's balls, mapped to the link's frame, nearest first.

    The last plane of ``normals`` and ``offsets`` is replaced by the one that parted the
    nearest triangle so far, the one before by that which parted the last triangle that was
    farther: these two prune nearly all of what follows, triangles before they are mapped.
    """
    children, ranges, corners = tree.children, tree.ranges, tree.corners
    centres, radii, slabs = tree.centres, tree.radii, tree.slabs
    stack, gaps = np.empty(STACK_SIZE, np.int64), np.empty(STACK_SIZE)
    start, triangle = np.zeros(3), np.empty((3, 3))
    other, here, nowhere = shape_of_points(triangle), np.eye(3), np.zeros(3)
    limits = np.array([0.5 * RELATIVE, 0.2 * ABSOLUTE, 0.0])
    hints = np.zeros(2, np.int64)
    rotation_rows, origin_row = load_mat3(rotation), (origin[0], origin[1], origin[2])
    back, last = load_mat3(rotation.T), len(offsets) - 1
    nearer = _plane_in_object(normals, offsets, last, back, origin_row)
    farther = _plane_in_object(normals, offsets, last - 1, back, origin_row)
    rounding = ROUNDING * (tree.size + np.sqrt(dot(origin_row, origin_row)))
    best, pruned = np.inf, np.inf
    stack[0], gaps[0] = 0, -np.inf
    top = 1
    while top > 0:
        top -= 1
        node = stack[top]
        enough = best - max(0.5 * RELATIVE * best, 0.5 * ABSOLUTE)
        if gaps[top] > enough:
            pruned = min(pruned, gaps[top])
            continue
        if children[node, 0] >= 0:
            first, second = children[node, 0], children[node, 1]
            near = _plane_gap(normals, offsets, centres, radii, slabs, first, rotation_rows,
                              origin_row, enough + largest) - largest
            far = _plane_gap(normals, offsets, centres, radii, slabs, second, rotation_rows,
                             origin_row, enough + largest) - largest
            if near > far:
                first, second, near, far = second, first, far, near
            stack[top], gaps[top] = second, far
            stack[top + 1], gaps[top + 1] = first, near
            top += 2
            continue
        for position in range(ranges[node, 0], ranges[node, 1]):
            beyond = best + bulges[position] + rounding
            rows = load_mat3_at(corners, position)
            if ((_distance_beyond(nearer, rows) >= beyond)
                    | (_distance_beyond(farther, rows) >= beyond)):
                continue
            _triangle_to_link(corners, position, rotation_rows, origin_row, triangle)
            rough = _triangle_gap(normals, offsets, load_mat3(triangle), best + bulges[position])
            if rough - bulges[position] >= best:
                continue
            limits[2] = best + bulges[position]
            gap = distance_bound(shape, other, here, nowhere, start, limits, hints) \
                - bulges[position]
            if gap < best:
                best = max(gap, 0.0)
                _put_plane(shape, start, hints, normals, offsets, last)
                nearer = _plane_in_object(normals, offsets, last, back, origin_row)
            else:
                _put_plane(shape, start, hints, normals, offsets, last - 1)
                farther = _plane_in_object(normals, offsets, last - 1, back, origin_row)
        if best <= 0.0:
            return 0.0
    return max(min(best, pruned), 0.0)


@njit(cache=True, forceinline=True)
def _plane_in_object(normals: Array, offsets: Array, place: int, back: Mat3,
                     origin: Vec3) -> tuple[Vec3, float]:
    """Return a plane of the link in the object's frame, ``back`` being R_object_link."""
    normal = load_vec3(normals, place)
    turned = dot(back[0], normal), dot(back[1], normal), dot(back[2], normal)
    return turned, dot(turned, origin) + offsets[place]


@njit(cache=True, forceinline=True)
def _distance_beyond(plane: tuple[Vec3, float], triangle: Mat3) -> float:
    """Return how far a triangle lies beyond a plane."""
    normal, offset = plane
    return min(dot(normal, triangle[0]), dot(normal, triangle[1]),
               dot(normal, triangle[2])) - offset


@njit(cache=True)
def _put_plane(shape: Shape, direction: Array, hints: IntArray, normals: Array, offsets: Array,
               place: int) -> None:
    """Write the shape's supporting plane against a direction at a place."""
    norm = np.sqrt(direction[0] ** 2 + direction[1] ** 2 + direction[2] ** 2)
    normal = -direction[0] / norm, -direction[1] / norm, -direction[2] / norm
    hints[0], point = support_point(shape.vertices, shape.graph, shape.extras, normal, hints[0])
    store_vec3(normals, place, normal)
    offsets[place] = dot(normal, point)


@njit(cache=True, forceinline=True)
def _plane_gap(normals: Array, offsets: Array, centres: Array, radii: Array, slabs: Array,
               node: int, rotation: Mat3, origin: Vec3, enough: float) -> float:
    """Return how far a node is at least from a supporting plane; the best, or one enough."""
    radius = radii[node]
    offset = subtract(load_vec3(centres, node), origin)
    p = dot(rotation[0], offset), dot(rotation[1], offset), dot(rotation[2], offset)
    last = len(offsets) - 1
    gap = dot(load_vec3(normals, last), p) - offsets[last]
    flat = max(_slab_gap(normals, last, gap, slabs, node, radius, rotation), gap - radius)
    best, at = gap, last
    for k in range(0 if flat > enough else last):
        gap = dot(load_vec3(normals, k), p) - offsets[k]
        if gap > best:
            best, at = gap, k
    if at != last:
        flat = max(flat, _slab_gap(normals, at, best, slabs, node, radius, rotation))
    return max(flat, best - radius)


@njit(cache=True, forceinline=True)
def _slab_gap(normals: Array, k: int, gap: float, slabs: Array, node: int, radius: float,
              rotation: Mat3) -> float:
    """Return the gap of a node's flat disc behind its centre's gap along a plane's normal."""
    slab = load_vec3(slabs, node)
    turned = dot(rotation[0], slab), dot(rotation[1], slab), dot(rotation[2], slab)
    lean = 0.0 + dot(load_vec3(normals, k), turned)
    return (gap + min(lean * slabs[node, 3], lean * slabs[node, 4])
            - radius * np.sqrt(max(1.0 - lean * lean, 0.0)))


@njit(cache=True, forceinline=True)
def _triangle_to_link(corners: Array, position: int, rotation: Mat3, origin: Vec3,
                      triangle: Array) -> None:
    """Map a triangle from the object's frame, ``rotation`` being R_link_object."""
    rows = load_mat3_at(corners, position)
    for corner in range(3):
        offset = subtract(rows[corner], origin)
        store_vec3(triangle, corner, (dot(rotation[0], offset), dot(rotation[1], offset),
                                      dot(rotation[2], offset)))


@njit(cache=True, forceinline=True)
def _triangle_gap(normals: Array, offsets: Array, triangle: Mat3, enough: float) -> float:
    """Return the distance of a triangle from a supporting plane, the largest or enough."""
    best = -np.inf
    for k in range(len(offsets) - 1, -1, -1):
        normal = load_vec3(normals, k)
        nearest = min(dot(normal, triangle[0]), dot(normal, triangle[1]), dot(normal, triangle[2]))
        best = max(best, nearest - offsets[k])
        if best >= enough:
            break
    return best


def obstacle_shapes(obstacles: Array) -> list[Shape]:
    """
    Return the convex shapes of obstacles, frame object.

    Parameters
    ----------
    obstacles : (k, 16) float
        See ``ConfigurationBatch.obstacles``.

    Raises
    ------
    ShapeError
        A kind is unknown.
    """
    shapes = []
    for row in np.asarray(obstacles, float):
        pose = row[4:].reshape(3, 4)
        shapes.append(_obstacle_shape(int(row[0]), row[1:4], pose[:, :3], pose[:, 3]))
    return shapes


def _obstacle_shape(kind: int, sizes: Array, rotation: Array, centre: Array) -> Shape:
    axis = np.ascontiguousarray(rotation[:, 2])
    if kind == OBSTACLE_BOX:
        points = OrientedBox(rotation.T, centre, 0.5 * sizes).corners()
        disc, ball = 0.0, 0.0
    elif kind == OBSTACLE_SPHERE:
        points, disc, ball = centre[None].copy(), 0.0, float(sizes[0])
    elif kind == OBSTACLE_CYLINDER:
        points = centre + np.array([[-0.5], [0.5]]) * sizes[0] * axis
        disc, ball = float(sizes[1]), 0.0
    else:
        raise ShapeError(f'an obstacle is a box (1), a sphere (2) or a cylinder (3), got {kind}')
    extras = np.concatenate([np.zeros(3), axis, [disc, ball]])
    return Shape(np.ascontiguousarray(points), np.zeros(0, np.int64), extras)


def obstacle_clearance(hulls: Hulls, T_object_link: Array, sweep_object: Array,
                       obstacles: list[Shape]) -> float:
    """
    Return a lower bound of the distance of any swept hull to any obstacle.

    Parameters
    ----------
    hulls : Hulls
    T_object_link : (L, 4, 4) float
    sweep_object : (3,) float
        As in ``hull_clearances`` [m].
    obstacles : list of Shape
        Frame object.

    Returns
    -------
    float
        ``inf`` without obstacles, 0 where one is met [m].
    """
    best, poses = np.inf, np.ascontiguousarray(T_object_link)
    for obstacle in obstacles:
        best = _obstacle_clearance(hulls, poses, sweep_object, obstacle, best)
        if best <= 0.0:
            break
    return float(best)


@njit(cache=True)
def _obstacle_clearance(hulls: Hulls, poses: Array, sweep: Array, obstacle: Shape,
                        best: float) -> float:
    limits = np.array([0.5 * RELATIVE, 0.2 * ABSOLUTE, best])
    for link in range(len(poses)):
        rotation = np.ascontiguousarray(poses[link, :3, :3])
        origin = poses[link, :3, 3].copy()
        back = -(rotation.T @ sweep)
        start = obstacle.vertices[0] - rotation @ hulls.centres[hulls.which[link]] - origin
        limits[2] = best
        best = min(best, distance_bound(obstacle, hull_shape(hulls, link, back), rotation,
                                        origin, start, limits, np.zeros(2, np.int64)))
        if best <= 0.0:
            break
    return best


def pair_clearances(hulls: Hulls, pairs: IntArray, T_object_link: Array) -> Array:
    """
    Return lower bounds of the distances between the hulls of pairs of links.

    Parameters
    ----------
    hulls : Hulls
    pairs : (k, 2) int
    T_object_link : (L, 4, 4) float

    Returns
    -------
    (k,) float
        The distance to ``RELATIVE`` for the nearest pair; others are bounds above it [m].
    """
    return _pair_clearances(hulls, np.ascontiguousarray(pairs),
                            np.ascontiguousarray(T_object_link))


@njit(cache=True)
def _pair_clearances(hulls: Hulls, pairs: IntArray, poses: Array) -> Array:
    count = len(pairs)
    bounds, found, starts = np.empty(count), np.empty(count), np.empty((count, 3))
    which, radii, centres = hulls.which, hulls.radii, hulls.centres
    normals, offsets = hulls.normals, hulls.offsets
    for k in range(count):
        i, j = pairs[k, 0], pairs[k, 1]
        offset = subtract(placed(poses[i], load_vec3(centres, which[i])),
                          placed(poses[j], load_vec3(centres, which[j])))
        store_vec3(starts, k, offset)
        back = -offset[0], -offset[1], -offset[2]
        bounds[k] = np.sqrt(dot(offset, offset)) - radii[which[i]] - radii[which[j]]
        of_i = distance_beyond_planes(normals, offsets, centres, which[i], poses, i, back)
        of_j = distance_beyond_planes(normals, offsets, centres, which[j], poses, j, offset)
        found[k] = max(bounds[k], of_i - radii[which[j]], of_j - radii[which[i]])
    best = _raise_bounds(hulls, pairs, poses, starts, found, MARGIN_FACTOR)
    if best <= 0.0:     # where hulls meet, the bounds of all the others are wanted
        _raise_bounds(hulls, pairs, poses, starts, bounds, 1.0)
        return bounds
    for k in range(count):
        if bounds[k] > best and found[k] > best:
            found[k] = bounds[k]
    return found


@njit(cache=True)
def _raise_bounds(hulls: Hulls, pairs: IntArray, poses: Array, starts: Array, bounds: Array,
                  ratio: float) -> float:
    """
    Raise bounds, the least first, to distances until the rest are a ratio above one; return it.

    ``starts`` lead from the second centre of a pair to the first.
    """
    best = np.inf
    still, limits = np.zeros(3), np.array([0.5 * RELATIVE, 0.2 * ABSOLUTE, np.inf])
    for k in np.argsort(bounds, kind='mergesort'):
        if bounds[k] >= ratio * best:
            break
        i, j = pairs[k]
        rotation_i = np.ascontiguousarray(poses[i, :3, :3])
        rotation = rotation_i.T @ np.ascontiguousarray(poses[j, :3, :3])
        origin = rotation_i.T @ (poses[j, :3, 3] - poses[i, :3, 3])
        limits[2] = best
        bounds[k] = distance_bound(hull_shape(hulls, i, still), hull_shape(hulls, j, still),
                                   rotation, origin, rotation_i.T @ starts[k], limits,
                                   np.zeros(2, np.int64))
        best = min(best, bounds[k])
    return best
