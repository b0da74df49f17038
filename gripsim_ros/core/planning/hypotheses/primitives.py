"""Primitives with poses: corners, round ones as circumscribed polyhedra, and what lies inside."""

import numpy as np
from scipy.spatial import ConvexHull

from ...arrays import Array, BoolArray
from ...batches import OBSTACLE_BOX, OBSTACLE_CYLINDER, OBSTACLE_SPHERE
from ...errors import TaskError
from ...transforms import apply


#: Number of corners of the polygon about a cylinder and about the sphere's parallels.
CORNERS = 16


def primitive_points(row: Array) -> Array:
    """
    Return points whose hull contains a primitive ``(n, 3)``, in the frame of the row [m].

    Parameters
    ----------
    row : (16,) float
        See ``ConfigurationBatch.obstacles``.

    Raises
    ------
    TaskError
        The primitive is of an unknown kind.
    """
    kind, sizes = int(row[0]), row[1:4]
    if kind == OBSTACLE_BOX:
        points = box_points(sizes)
    elif kind == OBSTACLE_SPHERE:
        points = sphere_points(float(sizes[0]))
    elif kind == OBSTACLE_CYLINDER:
        points = cylinder_points(float(sizes[1]), float(sizes[0]))
    else:
        raise TaskError(f'an obstacle is a box (1), a sphere (2) or a cylinder (3), got {kind}')
    pose = np.eye(4)
    pose[:3] = row[4:].reshape(3, 4)
    return apply(pose, points)


def box_points(sides: Array) -> Array:
    """Return the corners of a box about the origin ``(8, 3)`` [m]."""
    signs = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)], float)
    return 0.5 * signs * sides


def cylinder_points(radius: float, length: float) -> Array:
    """Return the corners of a prism round a cylinder along z ``(n, 3)`` [m]."""
    angles = 2.0 * np.pi * (np.arange(CORNERS) + 0.5) / CORNERS
    outer = radius / np.cos(np.pi / CORNERS)
    ring = outer * np.column_stack([np.cos(angles), np.sin(angles)])
    return np.vstack([np.column_stack([ring, np.full(CORNERS, z)])
                      for z in (-0.5 * length, 0.5 * length)])


def sphere_points(radius: float) -> Array:
    """Return the corners of a polyhedron round a ball about the origin ``(n, 3)`` [m]."""
    tilts, angles = np.meshgrid(np.linspace(-0.5 * np.pi, 0.5 * np.pi, CORNERS // 2 + 1),
                                2.0 * np.pi * np.arange(CORNERS) / CORNERS)
    rings = np.stack([np.cos(tilts) * np.cos(angles), np.cos(tilts) * np.sin(angles),
                      np.sin(tilts)], axis=-1)
    points = np.unique(np.round(rings.reshape(-1, 3), 12), axis=0)
    hull = ConvexHull(points)
    return radius / float(-hull.equations[:, 3].max()) * points[hull.vertices]


def within_region(points: Array, region: Array, slack: float = 0.0) -> BoolArray:
    """
    Return which points lie in one of the primitives, boundaries included.

    Parameters
    ----------
    points : (..., 3) float
        [m]
    region : (k, 16) float
        As in ``ConfigurationBatch.obstacles``, in the points' frame; none: everywhere.
    slack : float
        Growth of each primitive [m].

    Returns
    -------
    (...) bool
    """
    if not len(region):
        return np.ones(points.shape[:-1], dtype=bool)
    inside = np.zeros(points.shape[:-1], dtype=bool)
    for row in region:
        pose = row[4:].reshape(3, 4)
        local = (points - pose[:, 3]) @ pose[:, :3]
        inside |= _within(local, int(row[0]), row[1:4], slack)
    return inside


def _within(local: Array, kind: int, dimensions: Array, slack: float) -> BoolArray:
    """Return which points ``(..., 3)`` in a primitive's own frame lie in it."""
    inside: BoolArray
    if kind == OBSTACLE_BOX:
        inside = np.all(np.abs(local) <= 0.5 * dimensions + slack, axis=-1)
    elif kind == OBSTACLE_SPHERE:
        inside = np.linalg.norm(local, axis=-1) <= dimensions[0] + slack
    else:
        height, radius = dimensions[:2]
        inside = ((np.linalg.norm(local[..., :2], axis=-1) <= radius + slack)
                  & (np.abs(local[..., 2]) <= 0.5 * height + slack))
    return inside
