"""Whether an object meets obstacles on its way."""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from ...transforms import apply
from ..hypotheses.primitives import primitive_points

Array = NDArray[np.float64]

#: Depth to which the object may lie in obstacles: it stands on them [m].
TOUCH = 0.002


def first_meeting(vertices: Array, obstacles: Array, path: Array) -> int:
    """
    Return the first pose of a path at which an object meets an obstacle, -1: none.

    Parameters
    ----------
    vertices : (v, 3) float
        Of the object, in its frame [m]; their convex hull is carried about.
    obstacles : (k, 16) float
        See ``ConfigurationBatch.obstacles``, in the object's first frame.
    path : (m + 1, 4, 4) float
        Poses of the object in its first frame.

    Returns
    -------
    int
        What the object meets at the first pose does not count, unless it gets ``TOUCH``
        deeper into it.

    Notes
    -----
    Own derivation. A direction along which two convex bodies overlap by no more than what is
    allowed proves that they are no deeper in each other: the obstacle's axes and the widest
    direction found before are asked first. Else the hull of all differences of corners decides.
    Between two poses nothing is looked at.
    """
    corners = vertices[ConvexHull(vertices).vertices]
    walls = [_Wall(row, apply(path[0], corners)) for row in obstacles]
    for step, T in enumerate(path[1:], start=1):
        moved = apply(T, corners)
        if any(wall.is_met(moved) for wall in walls):
            return step
    return -1


class _Wall:
    """An obstacle, and how far a body may get into it: as at first, and ``TOUCH`` more."""

    def __init__(self, row: Array, corners: Array) -> None:
        self._points = primitive_points(row)
        self._axes = np.vstack([sign * row[4:].reshape(3, 4)[:, :3].T for sign in (1.0, -1.0)])
        self._widest = self._axes[0]
        self._least = 0.0
        overlaps = self.is_met(corners)
        self._least = -TOUCH + (self._gap(corners, self._widest[None]) if overlaps else 0.0)

    def is_met(self, corners: Array) -> bool:
        """Tell whether a body of these corners lies deeper in the obstacle than it may."""
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
