"""
What the object's motion between the fingers means to stability.

``settled`` is a row of ``ConfigurationBatch.settled_object``: translation of the origin of
the object's frame [m] and rotation vector [rad], in the frame of the object as it is now.
"""

import numpy as np
from numpy.typing import NDArray

from ..transforms import from_rotation_vector

Array = NDArray[np.float64]


def motion_at(point: Array, settled: Array) -> Array:
    """
    Return by how much a point of the object moved, and turned, until now.

    Parameters
    ----------
    point : (3,) float
        Of the object, frame object [m].
    settled : (6,) float
        Motion of the origin [m], rotation vector [rad], frame object as it is now.

    Returns
    -------
    (6,) float
        The same motion told at the point; exact for any angle.
    """
    if not settled[3:].any():
        return settled.copy()       # all points move alike
    rotation = from_rotation_vector(settled)[:3, :3]
    return np.concatenate([settled[:3] + point - rotation.T @ point, settled[3:]])


def turned_loads(load_cases: Array, settled: Array) -> Array:
    """
    Return load cases in the frame of the object as it is now.

    Parameters
    ----------
    load_cases : (c, 9) float
        Gravity, force and torque, whose directions stay while the object turns; force and
        torque act at the origin of the object's frame and move with it.
    settled : (6,) float

    Returns
    -------
    (c, 9) float
    """
    if not settled[3:].any():
        return load_cases
    rotation = from_rotation_vector(settled)[:3, :3]
    return (load_cases.reshape(-1, 3) @ rotation).reshape(load_cases.shape)
