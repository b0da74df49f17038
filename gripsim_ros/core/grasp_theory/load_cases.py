"""What a grasp must hold: every direction of gravity with every external wrench."""

from itertools import product

import numpy as np

from ..arrays import Array
from ..batches import LOAD_CASE_WIDTH


def cube_directions(R_object_canonical: Array) -> Array:
    """
    Return the 26 directions to a cube's faces, edges and corners, frame object.

    Parameters
    ----------
    R_object_canonical : (3, 3) float
        Axes of the object's canonical frame, so that the directions turn with it.

    Returns
    -------
    (26, 3) float
        Unit vectors.

    Notes
    -----
    Source: own choice; worst case over 26 directions of gravity.

    """
    cube = np.array([d for d in product((-1.0, 0.0, 1.0), repeat=3) if any(d)])
    return (cube / np.linalg.norm(cube, axis=1, keepdims=True)) @ R_object_canonical.T


def load_cases(gravity_directions: Array, gravity: float, external_wrenches: Array,
               R_object_canonical: Array) -> Array:
    """
    Return the combinations of directions of gravity with external wrenches, frame object.

    Parameters
    ----------
    gravity_directions : (g, 3) float
        Any length above 0. Empty: the ``cube_directions``.
    gravity : float
        Magnitude [m/s^2].
    external_wrenches : (w, 6) float
        Force [N] and torque about the object's origin [N m]. Empty: none acts.
    R_object_canonical : (3, 3) float
        Axes of the object's canonical frame in the object's frame.

    Returns
    -------
    (c, 9) float
        Gravity [m/s^2], force [N], torque about the object's origin [N m].

    """
    directions = gravity_directions
    if len(directions) == 0:
        directions = cube_directions(R_object_canonical)
    directions = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    wrenches = external_wrenches if len(external_wrenches) else np.zeros((1, 6))
    cases = np.zeros((len(directions), len(wrenches), LOAD_CASE_WIDTH))
    cases[:, :, :3] = gravity * directions[:, None]
    cases[:, :, 3:] = wrenches[None]
    return cases.reshape(-1, LOAD_CASE_WIDTH)
