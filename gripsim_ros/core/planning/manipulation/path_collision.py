"""Collisions of an object with obstacles on its path."""

import numpy as np
from scipy.spatial import ConvexHull

from ...arrays import Array
from ...transforms import apply
from ..hypotheses.primitives import primitive_points


#: Depth to which the object may lie in obstacles: it stands on them [m].
ALLOWED_DEPTH = 0.002


def first_colliding_pose(vertices: Array, obstacles: Array, path: Array) -> tuple[int, int]:
    """
    Return the first pose of a path at which an object collides, and with which obstacle.

    Parameters
    ----------
    vertices : (v, 3) float
        Of the object, in its frame [m]; their convex hull is moved.
    obstacles : (k, 16) float
        See ``ConfigurationBatch.obstacles``, in the object's first frame.
    path : (m + 1, 4, 4) float
        Poses of the object in its first frame.

    Returns
    -------
    int, int
        -1 each where it meets none. An obstacle that the object overlaps at the first pose does
        not count, unless the overlap grows by ``ALLOWED_DEPTH``.

    Notes
    -----
    Own derivation. A direction along which two convex bodies overlap by no more than allowed
    proves that their overlap is no deeper: the obstacle's axes and the widest
    direction found before are tried first. Else the Minkowski difference of the corners decides.
    Nothing is tested between two poses.
    """
    corners = vertices[ConvexHull(vertices).vertices]
    blocking = [_Obstacle(row, apply(path[0], corners)) for row in obstacles]
    for step, T in enumerate(path[1:], start=1):
        moved = apply(T, corners)
        met = [number for number, one in enumerate(blocking) if one.collides(moved)]
        if met:
            return step, met[0]
    return -1, -1


class _Obstacle:
    """An obstacle, and the allowed overlap: that at the first pose and ``ALLOWED_DEPTH`` more."""

    def __init__(self, row: Array, corners: Array) -> None:
        self._points = primitive_points(row)
        self._axes = np.vstack([sign * row[4:].reshape(3, 4)[:, :3].T for sign in (1.0, -1.0)])
        self._widest = self._axes[0]
        self._least = 0.0
        overlaps = self.collides(corners)
        first = self._gap(corners, self._widest[None]) if overlaps else 0.0
        self._least = -ALLOWED_DEPTH + first

    def collides(self, corners: Array) -> bool:
        """Return True if a body of these corners overlaps the obstacle more than allowed."""
        if self._gap(corners, np.vstack([self._axes, self._widest])) >= self._least:
            return False
        differences = (self._points[:, None] - corners[None]).reshape(-1, 3)
        planes = ConvexHull(differences).equations
        self._widest = -planes[planes[:, 3].argmax(), :3]
        return self._gap(corners, self._widest[None]) < self._least

    def _gap(self, corners: Array, directions: Array) -> float:
        """Return the widest gap along directions towards the obstacle [m]; below 0: overlap."""
        return float(((self._points @ directions.T).min(axis=0)
                      - (corners @ directions.T).max(axis=0)).max())
