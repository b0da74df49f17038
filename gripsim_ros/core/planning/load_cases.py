"""What a grasp must hold: every direction of gravity with every external wrench."""

from itertools import product

import numpy as np
from numpy.typing import NDArray

from ..batches import LOAD_CASE_WIDTH
from .task import Task

Array = NDArray[np.float64]


def any_direction(R_object_canonical: Array) -> Array:
    """
    Return the 26 directions of a cube's faces, edges and corners, frame object.

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
    directions: Array = (cube / np.linalg.norm(cube, axis=1, keepdims=True)) @ R_object_canonical.T
    return directions


def task_load_cases(task: Task, R_object_canonical: Array) -> Array:
    """
    Return the load cases of a task.

    Parameters
    ----------
    task : Task
    R_object_canonical : (3, 3) float
        Axes of the object's canonical frame in the object's frame.

    Returns
    -------
    (c, 9) float
        Gravity [m/s^2], force [N], torque about the object's origin [N m].

    """
    directions = task.gravity_directions
    if len(directions) == 0:
        directions = any_direction(R_object_canonical)
    directions = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    wrenches = task.external_wrenches if len(task.external_wrenches) else np.zeros((1, 6))
    cases = np.zeros((len(directions), len(wrenches), LOAD_CASE_WIDTH))
    cases[:, :, :3] = task.gravity * directions[:, None]
    cases[:, :, 3:] = wrenches[None]
    return cases.reshape(-1, LOAD_CASE_WIDTH)
