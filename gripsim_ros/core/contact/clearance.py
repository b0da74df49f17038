"""
Lower bounds of distance, by which free motion is skipped.

A link's hull against the object's balls and triangles first; where the hull overlaps,
the link's own surface. Every number returned is certified: never above the distance.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..batches import OBSTACLE_BOX, OBSTACLE_CYLINDER, OBSTACLE_SPHERE
from ..errors import ShapeError
from .contact_mesh import ContactMesh
from .gjk import Shape, distance_bound
from .hulls import Hull
from .ray_queries import contains
from .vp_tree import STACK_SIZE

Array = NDArray[np.float64]

#: A bound lies within this part of the distance, or within this much of it [m].
RELATIVE, ABSOLUTE = 0.01, 1e-4


def hull_clearance(hull: Hull, body: ContactMesh, T_object_link: Array,
                   sweep_object: Array) -> float:
    """
    Return a lower bound of the distance from a link's hull to the object's surface.

    Parameters
    ----------
    hull : Hull
        Of the link.
    body : ContactMesh
        The object; the bulges of its curved surface are allowed for.
    T_object_link : (4, 4) float
    sweep_object : (3,) float
        Translation by which the link arrives at its pose, frame object [m].

    Returns
    -------
    float
        Within 1 % or 0.1 mm of the distance of the hull; 0 where it meets the surface
        [m].
    """
    shape = _swept(hull.shape, T_object_link[:3, :3].T @ sweep_object)
    return _hull_to_tree(shape, hull.normals, hull.offsets, body.tree, body.surface.limits,
                         np.ascontiguousarray(T_object_link[:3, :3].T),
                         T_object_link[:3, 3].copy())


def _swept(shape: Shape, sweep: Array) -> Shape:
    """Return a shape swept from where it was before a translation to where it is."""
    return shape._replace(sweep=-sweep)


@njit(cache=True)
def _hull_to_tree(shape, normals, offsets, tree, bulges, rotation, origin):
    """Traverse the object's balls, mapped to the link's frame, nearest first."""
    reach = offsets.copy()
    for k in range(len(offsets)):
        along = 0.0
        for j in range(3):
            along += normals[k, j] * shape.sweep[j]
        reach[k] += max(along, 0.0) + shape.radius
    stack, gaps = np.empty(STACK_SIZE, np.int64), np.empty(STACK_SIZE)
    start, point = np.zeros(3), np.empty(3)
    triangle = np.empty((3, 3))
    best, pruned = np.inf, np.inf
    largest = bulges.max()
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
            rough = _triangle_gap(normals, reach, triangle) - bulges[position]
            if rough >= best:
                continue
            gap = _triangle_distance(shape, triangle, start, best + bulges[position])
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


@njit(cache=True)
def _triangle_distance(shape, triangle, start, enough):
    """Return the bound between a shape and a triangle in its frame; ``start`` is reused."""
    other = Shape(triangle, np.zeros(3), shape.disc_axis, 0.0, 0.0)
    return distance_bound(shape, other, start, 0.5 * RELATIVE, 0.2 * ABSOLUTE, enough)


def encloses(body: ContactMesh, other: ContactMesh, T_body_other: Array) -> bool:
    """Tell whether either mesh lies inside the other, given that the surfaces are apart."""
    inner = T_body_other[:3, :3] @ other.tree.corners[0, 0] + T_body_other[:3, 3]
    outer = T_body_other[:3, :3].T @ (body.tree.corners[0, 0] - T_body_other[:3, 3])
    return bool(contains(body.tree, inner[None])[0] or contains(other.tree, outer[None])[0])


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
        rotation, centre = pose[:, :3], pose[:, 3]
        shapes.append(_obstacle_shape(int(row[0]), row[1:4], rotation, centre))
    return shapes


def _obstacle_shape(kind: int, sizes: Array, rotation: Array, centre: Array) -> Shape:
    axis = np.ascontiguousarray(rotation[:, 2])
    if kind == OBSTACLE_BOX:
        signs = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)], float)
        corners = centre + (0.5 * signs * sizes) @ rotation.T
        return Shape(np.ascontiguousarray(corners), np.zeros(3), axis, 0.0, 0.0)
    if kind == OBSTACLE_SPHERE:
        return Shape(centre[None].copy(), np.zeros(3), axis, 0.0, float(sizes[0]))
    if kind == OBSTACLE_CYLINDER:
        ends = centre + np.array([[-0.5], [0.5]]) * sizes[0] * axis
        return Shape(ends, np.zeros(3), axis, float(sizes[1]), 0.0)
    raise ShapeError(f'an obstacle is a box (1), a sphere (2) or a cylinder (3), got {kind}')


def obstacle_clearance(hulls: tuple[Hull, ...], T_object_link: Array, sweep_object: Array,
                       obstacles: list[Shape]) -> float:
    """
    Return a lower bound of the distance of any swept hull to any obstacle.

    Parameters
    ----------
    hulls : tuple of Hull, (L,)
    T_object_link : (L, 4, 4) float
    sweep_object : (3,) float
        As in ``hull_clearance`` [m].
    obstacles : list of Shape
        Frame object.

    Returns
    -------
    float
        ``inf`` without obstacles, 0 where one is met [m].
    """
    best = np.inf
    if not obstacles:
        return best
    for hull, T in zip(hulls, T_object_link):
        moved = _swept(_moved(hull.shape, T), sweep_object)
        for obstacle in obstacles:
            start = T[:3, :3] @ hull.centre + T[:3, 3] - obstacle.vertices.mean(axis=0)
            best = min(best, distance_bound(moved, obstacle, start, 0.5 * RELATIVE,
                                            0.2 * ABSOLUTE, best))
            if best <= 0.0:
                return 0.0
    return float(best)


def _moved(shape: Shape, T_a_shape: Array) -> Shape:
    vertices = shape.vertices @ T_a_shape[:3, :3].T + T_a_shape[:3, 3]
    return shape._replace(vertices=vertices)


def pair_clearance(a: Hull, b: Hull, T_a_b: Array, enough: float) -> float:
    """Return a lower bound of the distance of two hulls, exact only below ``enough`` [m]."""
    centre = T_a_b[:3, :3] @ b.centre + T_a_b[:3, 3]
    start = a.centre - centre
    apart = float(np.linalg.norm(start)) - a.radius - b.radius
    if apart >= enough:
        return apart
    return float(distance_bound(a.shape, _moved(b.shape, T_a_b), start, 0.5 * RELATIVE,
                                0.2 * ABSOLUTE, enough))
