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
from .gjk import Shape, distance_bound, few_points
from .hulls import Hulls, hull_shape
from .vp_tree import STACK_SIZE

Array = NDArray[np.float64]

#: A bound lies within this part of the distance, or within this much of it [m].
RELATIVE, ABSOLUTE = 0.01, 1e-4
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
        Within 1 % or 0.1 mm of the distance of the hull; 0 where it meets the surface
        [m].
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
        reach = hulls.offsets[h].copy()
        for k in range(len(reach)):
            normal = hulls.normals[h, k]
            reach[k] += max(normal[0] * back[0] + normal[1] * back[1] + normal[2] * back[2], 0.0)
        clearances[link] = _hull_to_tree(shape, hulls.normals[h], reach, tree, bulges, largest,
                                         rotation, origin)
    return clearances


@njit(cache=True)
def _hull_to_tree(shape, normals, reach, tree, bulges, largest, rotation, origin):
    """Traverse the object's balls, mapped to the link's frame, nearest first."""
    stack, gaps = np.empty(STACK_SIZE, np.int64), np.empty(STACK_SIZE)
    start, point = np.zeros(3), np.empty(3)
    triangle = np.empty((3, 3))
    other = few_points(triangle)
    here, nowhere = np.eye(3), np.zeros(3)
    limits = np.array([0.5 * RELATIVE, 0.2 * ABSOLUTE, 0.0])
    hints = np.zeros(2, np.int64)
    best, pruned = np.inf, np.inf
    stack[0], gaps[0] = 0, _plane_gap(normals, reach, tree, 0, rotation, origin, point) - largest
    top = 1
    while top > 0:
        top -= 1
        node = stack[top]
        if gaps[top] > best - max(0.5 * RELATIVE * best, 0.5 * ABSOLUTE):
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
            if _triangle_gap(normals, reach, triangle) - bulges[position] >= best:
                continue
            limits[2] = best + bulges[position]
            gap = distance_bound(shape, other, here, nowhere, start, limits, hints)
            best = min(best, max(gap - bulges[position], 0.0))
        if best <= 0.0:
            return 0.0
    return max(min(best, pruned), 0.0)


@njit(cache=True)
def _to_link(point, rotation, origin, out):
    """Map a point from the object's frame, ``rotation`` being R_link_object."""
    for k in range(3):
        out[k] = (rotation[k, 0] * (point[0] - origin[0]) + rotation[k, 1] * (point[1] - origin[1])
                  + rotation[k, 2] * (point[2] - origin[2]))


@njit(cache=True)
def _plane_gap(normals, reach, tree, node, rotation, origin, point):
    """Return the largest distance of a node's ball from a supporting plane."""
    _to_link(tree.centres[node], rotation, origin, point)
    best = -np.inf
    for k in range(len(reach)):
        best = max(best, normals[k, 0] * point[0] + normals[k, 1] * point[1]
                   + normals[k, 2] * point[2] - reach[k])
    return best - tree.radii[node]


@njit(cache=True)
def _triangle_gap(normals, reach, triangle):
    best = -np.inf
    for k in range(len(reach)):
        nearest = np.inf
        for corner in range(3):
            nearest = min(nearest, normals[k, 0] * triangle[corner, 0]
                          + normals[k, 1] * triangle[corner, 1]
                          + normals[k, 2] * triangle[corner, 2])
        best = max(best, nearest - reach[k])
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
        Within 1 % or 0.1 mm for the nearest pair; others are bounds above that [m].
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
