"""Closed surfaces swept from profiles, the material of ``shapes``."""

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array, IntArray
from ...errors import MeshError
from ..mesh import TriangleMesh


def ring(segments: int) -> Array:
    """Return cosines and sines ``(segments, 2)`` of even angles from 0."""
    angles = 2.0 * np.pi * np.arange(segments) / segments
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def grid_quads(rows: int, columns: int) -> IntArray:
    """
    Return quads ``(rows - 1, columns, 4)`` of a grid that is periodic in its columns.

    Vertex (i, j) has index i * columns + j; quads run (i, j), (i, j + 1),
    (i + 1, j + 1), (i + 1, j): outward where columns turn about the way of the rows.
    """
    i, j = np.meshgrid(np.arange(rows - 1), np.arange(columns), indexing='ij')
    after = (j + 1) % columns
    return np.stack([i * columns + j, i * columns + after,
                     (i + 1) * columns + after, (i + 1) * columns + j], axis=-1)


def split_quads(quads: IntArray) -> IntArray:
    """Return two triangles ``(2 n, 3)`` for each of the quads ``(..., 4)``."""
    quads = quads.reshape(-1, 4)
    return np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])


def revolve(profile: ArrayLike, segments: int) -> TriangleMesh:
    """
    Return the surface of revolution of a profile about the z axis.

    Parameters
    ----------
    profile : (n, 2) float
        Distance from the axis and z [m], counter-clockwise round the section: from the
        lower pole outward and up. First and last point lie on the axis, no other does.
    segments : int
        Vertices per ring, at least 3.

    Returns
    -------
    TriangleMesh
        The regular ``segments``-gon inscribed in each circle, closed.

    Raises
    ------
    MeshError
        Fewer than 3 segments or rings, or a pole off the axis.
    """
    profile = np.asarray(profile, dtype=np.float64)
    if segments < 3 or len(profile) < 3:
        raise MeshError(f'a revolved shape needs at least 3 segments and profile points, '
                        f'got {segments} and {len(profile)}')
    if np.any(profile[[0, -1], 0] != 0.0) or np.any(profile[1:-1, 0] <= 0.0):
        raise MeshError('a profile must start and end on the axis and stay off it between')
    inner = profile[1:-1]
    rows = np.empty((len(inner), segments, 3))
    rows[..., :2] = inner[:, None, :1] * ring(segments)
    rows[..., 2] = inner[:, None, 1]
    poles = np.zeros((2, 3))
    poles[:, 2] = profile[[0, -1], 1]
    return TriangleMesh(np.concatenate([rows.reshape(-1, 3), poles]),
                        _revolved_faces(len(inner), segments))


def _revolved_faces(rows: int, segments: int) -> IntArray:
    last = (rows - 1) * segments
    here = np.arange(segments)
    after = (here + 1) % segments
    south, north = rows * segments, rows * segments + 1
    return np.concatenate([
        np.stack([np.full(segments, south), after, here], axis=1),
        split_quads(grid_quads(rows, segments)),
        np.stack([np.full(segments, north), last + here, last + after], axis=1)])


def refine_profile(profile: ArrayLike, edge_length: float) -> Array:
    """Return ``profile (n, 2)`` with its sides divided into steps <= ``edge_length`` [m]."""
    profile = np.asarray(profile, dtype=np.float64)
    pieces = []
    for start, end in zip(profile[:-1], profile[1:]):
        steps = max(1, int(np.ceil(np.linalg.norm(end - start) / edge_length - 1e-9)))
        pieces.append(start + (end - start) * (np.arange(steps) / steps)[:, None])
    return np.concatenate([*pieces, profile[-1:]])


def arc(centre: ArrayLike, radius: float, angles: ArrayLike) -> Array:
    """Return points ``(n, 2)`` at ``angles (n,)`` [rad] of a circle, for profiles."""
    angles = np.asarray(angles, dtype=np.float64)
    points = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return np.asarray(centre, dtype=np.float64) + points
