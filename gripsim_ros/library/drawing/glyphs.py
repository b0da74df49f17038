"""Arrows, balls and rings as triangles, for pictures."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Triangles = tuple[Array, NDArray[np.int64]]

#: Corners of a glyph's circumference.
SEGMENTS = 24


def lathe(profile: Array, origin: Array, axis: Array, closed: bool = False) -> Triangles:
    """
    Turn a profile about an axis.

    Parameters
    ----------
    profile : (n, 2) float
        Distances from the axis and along it [m]; ``closed`` joins last and first.
    origin, axis : (3,) float
        A point of the axis, and its direction (any length).
    closed : bool

    Returns
    -------
    vertices : (n SEGMENTS, 3) float
    faces : (m, 3) int
    """
    axis = axis / np.linalg.norm(axis)
    across = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    across /= np.linalg.norm(across)
    angles = np.linspace(0.0, 2.0 * np.pi, SEGMENTS, endpoint=False)
    circle = np.outer(np.cos(angles), across) + np.outer(np.sin(angles), np.cross(axis, across))
    vertices = origin + profile[:, None, :1] * circle + profile[:, None, 1:] * axis
    rings = np.arange(len(profile) if closed else len(profile) - 1)
    i, j = (grid.ravel() for grid in np.meshgrid(rings, np.arange(SEGMENTS), indexing='ij'))
    here, there = i * SEGMENTS, (i + 1) % len(profile) * SEGMENTS
    k = (j + 1) % SEGMENTS
    faces = np.concatenate([np.column_stack([here + j, here + k, there + k]),
                            np.column_stack([here + j, there + k, there + j])])
    return vertices.reshape(-1, 3), faces


def arrow(tail: Array, tip: Array, radius: float) -> Triangles:
    """Return an arrow from ``tail`` to ``tip``; its head is up to five radii long."""
    length = float(np.linalg.norm(tip - tail))
    neck = length - min(5.0 * radius, 0.6 * length)
    profile = np.array([[0.0, 0.0], [radius, 0.0], [radius, neck],
                        [2.2 * radius, neck], [0.0, length]])
    return lathe(profile, tail, tip - tail)


def rod(begin: Array, end: Array, radius: float) -> Triangles:
    """Return a cylinder between two points."""
    length = float(np.linalg.norm(end - begin))
    profile = np.array([[0.0, 0.0], [radius, 0.0], [radius, length], [0.0, length]])
    return lathe(profile, begin, end - begin)


def ball(centre: Array, radius: float) -> Triangles:
    """Return a sphere."""
    angles = np.linspace(0.0, np.pi, SEGMENTS // 2 + 1)
    profile = radius * np.column_stack([np.sin(angles), -np.cos(angles)])
    return lathe(profile, centre, np.array([0.0, 0.0, 1.0]))


def ring(centre: Array, normal: Array, radius: float, thickness: float) -> Triangles:
    """Return a ring about ``centre``, at right angles to ``normal``."""
    angles = np.linspace(0.0, 2.0 * np.pi, 8, endpoint=False)
    profile = np.column_stack([radius + thickness * np.cos(angles), thickness * np.sin(angles)])
    return lathe(profile, centre, normal, closed=True)
