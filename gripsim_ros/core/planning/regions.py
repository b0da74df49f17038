"""Regions of the object where contacts may be: primitives with poses."""

import numpy as np
from numpy.typing import NDArray

from ..batches import OBSTACLE_BOX, OBSTACLE_SPHERE

Array = NDArray[np.float64]


def within_region(points: Array, region: Array, slack: float = 0.0) -> NDArray[np.bool_]:
    """
    Tell which points lie in one of the primitives, boundaries included.

    Parameters
    ----------
    points : (..., 3) float
        [m]
    region : (k, 16) float
        As in ``ConfigurationBatch.obstacles``, in the points' frame; none: everywhere.
    slack : float
        By how much each primitive is grown [m].

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


def _within(local: Array, kind: int, dimensions: Array, slack: float) -> NDArray[np.bool_]:
    """Tell which points ``(..., 3)`` in a primitive's own frame lie in it."""
    if kind == OBSTACLE_BOX:
        return (np.abs(local) <= 0.5 * dimensions + slack).all(axis=-1)
    if kind == OBSTACLE_SPHERE:
        return np.linalg.norm(local, axis=-1) <= dimensions[0] + slack
    height, radius = dimensions[:2]
    return ((np.linalg.norm(local[..., :2], axis=-1) <= radius + slack)
            & (np.abs(local[..., 2]) <= 0.5 * height + slack))


def moved_region(region: Array, T_new_old: Array) -> Array:
    """Return primitives (k, 16) in another frame."""
    moved = region.copy()
    for row in moved:
        T_old_primitive = np.vstack([row[4:].reshape(3, 4), [0.0, 0.0, 0.0, 1.0]])
        row[4:] = (T_new_old @ T_old_primitive)[:3].ravel()
    return moved
