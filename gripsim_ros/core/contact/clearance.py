"""
Lower bounds of distance, by which free motion is skipped.

The links' hulls against the object's balls and triangles, against obstacles and against
each other. Every number returned is certified: never above the distance.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..batches import OBSTACLE_BOX, OBSTACLE_CYLINDER, OBSTACLE_SPHERE
from ..errors import ShapeError
from .contact_mesh import ContactMesh
from .gjk import Shape, distance_bound, few_points, support
from .hulls import Hulls, hull_shape
from .vp_tree import STACK_SIZE

Array = NDArray[np.float64]

#: A bound lies within this part of the distance, or within this much of it [m]: nearly exact,
#: so that answers turn with object and hand, for a sixth more time than at one percent.
RELATIVE, ABSOLUTE = 1e-7, 1e-10
_NOWHERE = np.zeros(0, np.int64)


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
    return _hull_clearances(hulls, body.tree, body.surface.limits, T_object_link, sweep_object)


@njit(cache=True)
def _hull_clearances(hulls, tree, bulges, poses, sweep):
    largest = bulges.max()
    clearances = np.empty(len(poses))
    rotation, origin = np.empty((3, 3)), np.empty(3)
    for link in range(len(poses)):
        back = np.zeros(3)
        for k in range(3):
            origin[k] = poses[link, k, 3]
            for j in range(3):
                rotation[k, j] = poses[link, j, k]
                back[k] -= poses[link, j, k] * sweep[j]
        shape = hull_shape(hulls, link, back)
        h = hulls.which[link]
        normals, reach = hulls.normals[h].copy(), hulls.offsets[h].copy()
        for k in range(len(reach)):
            normal = hulls.normals[h, k]
            reach[k] += max(normal[0] * back[0] + normal[1] * back[1] + normal[2] * back[2], 0.0)
        clearances[link] = _hull_to_tree(shape, normals, reach, tree, bulges, largest, rotation,
                                         origin)
    return clearances


@njit(cache=True)
def _hull_to_tree(shape, normals, reach, tree, bulges, largest, rotation, origin):
    """
    Traverse the object's balls, mapped to the link's frame, nearest first.

    The last plane of ``normals`` and ``reach`` is replaced by the one that parted the
    nearest triangle so far: it alone prunes most of what follows.
    """
    stack, gaps = np.empty(STACK_SIZE, np.int64), np.empty(STACK_SIZE)
    start, point, triangle = np.zeros(3), np.empty(3), np.empty((3, 3))
    other, here, nowhere = few_points(triangle), np.eye(3), np.zeros(3)
    limits = np.array([0.5 * RELATIVE, 0.2 * ABSOLUTE, 0.0])
    hints = np.zeros(2, np.int64)
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
        if tree.children[node, 0] >= 0:
            first, second = tree.children[node, 0], tree.children[node, 1]
            near = _plane_gap(normals, reach, tree, first, rotation, origin, point) - largest
            far = _plane_gap(normals, reach, tree, second, rotation, origin, point) - largest
            if near > far:
                first, second, near, far = second, first, far, near
            stack[top], gaps[top] = second, far
            stack[top + 1], gaps[top + 1] = first, near
            top += 2
            continue
        for position in range(tree.ranges[node, 0], tree.ranges[node, 1]):
            for corner in range(3):
                _to_link(tree.corners[position, corner], rotation, origin, triangle[corner])
            rough = _triangle_gap(normals, reach, triangle, best + bulges[position])
            if rough - bulges[position] >= best:
                continue
            limits[2] = best + bulges[position]
            gap = distance_bound(shape, other, here, nowhere, start, limits, hints) \
                - bulges[position]
            if gap < best:
                best = max(gap, 0.0)
                _part(shape, start, hints, normals, reach, point)
        if best <= 0.0:
            return 0.0
    return max(min(best, pruned), 0.0)


@njit(cache=True)
def _part(shape, direction, hints, normals, reach, point):
    """Put the shape's supporting plane against a direction into the last place."""
    norm = np.sqrt(direction[0] ** 2 + direction[1] ** 2 + direction[2] ** 2)
    last = len(reach) - 1
    for k in range(3):
        normals[last, k] = -direction[k] / norm
    x, y, z = normals[last]
    hints[0] = support(shape, x, y, z, hints[0], point)
    reach[last] = x * point[0] + y * point[1] + z * point[2]


@njit(cache=True)
def _to_link(point, rotation, origin, out):
    """Map a point from the object's frame, ``rotation`` being R_link_object."""
    for k in range(3):
        out[k] = (rotation[k, 0] * (point[0] - origin[0]) + rotation[k, 1] * (point[1] - origin[1])
                  + rotation[k, 2] * (point[2] - origin[2]))


@njit(cache=True)
def _plane_gap(normals, reach, tree, node, rotation, origin, point):
    """Return how far a node is at least from one of the supporting planes."""
    _to_link(tree.centres[node], rotation, origin, point)
    last = len(reach) - 1
    best, at, gap = -np.inf, last, -np.inf
    for k in range(last + 1):
        gap = (normals[k, 0] * point[0] + normals[k, 1] * point[1]
               + normals[k, 2] * point[2] - reach[k])
        if gap > best:
            best, at = gap, k
    flat = _slab_gap(normals[at], best, tree, node, rotation)
    if at != last:
        flat = max(flat, _slab_gap(normals[last], gap, tree, node, rotation))
    return max(flat, best - tree.radii[node])


@njit(cache=True)
def _slab_gap(normal, gap, tree, node, rotation):
    """Return the gap of a node's flat disc behind its centre's gap along a plane's normal."""
    slab = tree.slabs[node]
    lean = 0.0
    for k in range(3):
        lean += normal[k] * (rotation[k, 0] * slab[0] + rotation[k, 1] * slab[1]
                             + rotation[k, 2] * slab[2])
    return (gap + min(lean * slab[3], lean * slab[4])
            - tree.radii[node] * np.sqrt(max(1.0 - lean * lean, 0.0)))


@njit(cache=True)
def _triangle_gap(normals, reach, triangle, enough):
    """Return the distance of a triangle from a supporting plane, the largest or enough."""
    best = -np.inf
    for k in range(len(reach) - 1, -1, -1):
        nearest = np.inf
        for corner in range(3):
            nearest = min(nearest, normals[k, 0] * triangle[corner, 0]
                          + normals[k, 1] * triangle[corner, 1]
                          + normals[k, 2] * triangle[corner, 2])
        best = max(best, nearest - reach[k])
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
        signs = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)], float)
        points, disc, ball = centre + (0.5 * signs * sizes) @ rotation.T, 0.0, 0.0
    elif kind == OBSTACLE_SPHERE:
        points, disc, ball = centre[None].copy(), 0.0, float(sizes[0])
    elif kind == OBSTACLE_CYLINDER:
        points = centre + np.array([[-0.5], [0.5]]) * sizes[0] * axis
        disc, ball = float(sizes[1]), 0.0
    else:
        raise ShapeError(
            f'an obstacle is a box (1), a sphere (2) or a cylinder (3), got {kind}')
    return Shape(np.ascontiguousarray(points), _NOWHERE, _NOWHERE, np.zeros(3), axis, disc, ball)


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
    best = np.inf
    for obstacle in obstacles:
        best = _obstacle_clearance(hulls, T_object_link, sweep_object, obstacle, best)
        if best <= 0.0:
            break
    return float(best)


@njit(cache=True)
def _obstacle_clearance(hulls, poses, sweep, obstacle, best):
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


def pair_clearances(hulls: Hulls, pairs: NDArray[np.int64], T_object_link: Array) -> Array:
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
    return _pair_clearances(hulls, pairs, T_object_link)


@njit(cache=True)
def _pair_clearances(hulls, pairs, poses):
    count = len(pairs)
    bounds = np.empty(count)
    starts = np.empty((count, 3))
    for k in range(count):
        i, j = pairs[k]
        hi, hj = hulls.which[i], hulls.which[j]
        squared = 0.0
        for a in range(3):
            starts[k, a] = poses[i, a, 3] - poses[j, a, 3]
            for b in range(3):
                starts[k, a] += (poses[i, a, b] * hulls.centres[hi, b]
                                 - poses[j, a, b] * hulls.centres[hj, b])
            squared += starts[k, a] ** 2
        bounds[k] = np.sqrt(squared) - hulls.radii[hi] - hulls.radii[hj]
    best = np.inf
    still, limits = np.zeros(3), np.array([0.5 * RELATIVE, 0.2 * ABSOLUTE, np.inf])
    for k in np.argsort(bounds, kind='mergesort'):
        if bounds[k] >= best:
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
    return bounds
