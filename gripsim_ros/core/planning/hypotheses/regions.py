"""Regions of the object in which contacts are allowed: primitives with poses."""

import numpy as np

from ...arrays import Array, BoolArray
from ...batches import OBSTACLE_BOX, OBSTACLE_SPHERE


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
