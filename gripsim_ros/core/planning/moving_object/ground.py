"""The surface that an object stands on, where the task has one."""

import numpy as np

from ...arrays import Array
from ...batches import OBSTACLE_BOX
from ...bodies import GraspObject
from ..task import Task

#: Largest gap between an object and a box that carries it [m], and cosine of the least tilt at
#: which a face does not.
NEAR, LEVEL = 0.002, np.cos(np.deg2rad(3.0))
#: Height of what of an object may touch the ground when it tips a little [m], and side of the
#: cubes of which one point each is kept.
FOOT, FOOT_SPACING = 0.004, 0.004
#: Difference of heights that counts as none [m].
SAME_HEIGHT = 1e-4


def standing_points(grasp_object: GraspObject, task: Task) -> tuple[Array, Array] | None:
    """
    Return what an object stands with on an obstacle of its task.

    Parameters
    ----------
    grasp_object : GraspObject
    task : Task
        With one direction of gravity, and a box among its obstacles whose upper face the object
        touches below its centre of mass.

    Returns
    -------
    points : (s, 3) float
        Of the object, that may touch the ground [m].
    up : (3,) float
        Unit vector, frame object.

    None where nothing carries the object, or gravity has several directions.
    """
    if len(task.gravity_directions) != 1 or task.gravity == 0.0:
        return None
    up = -task.gravity_directions[0] / np.linalg.norm(task.gravity_directions[0])
    heights = grasp_object.mesh.vertices @ up
    lowest, centre = float(heights.min()), grasp_object.mass_properties.centre_of_mass
    if not any(_carries(row, up, lowest, centre) for row in task.obstacles):
        return None
    foot = grasp_object.mesh.vertices[heights < lowest + FOOT]
    cubes = np.floor((foot - foot.min(axis=0)) / FOOT_SPACING)
    # The lowest of every cube, of those the outermost, so that the foot is not cut short.
    order = np.lexsort((-np.linalg.norm(foot - foot.mean(axis=0), axis=1),
                        np.round((foot @ up) / SAME_HEIGHT)))
    _, kept = np.unique(cubes[order], axis=0, return_index=True)
    return foot[order][kept], up


def _carries(row: Array, up: Array, lowest: float, centre: Array) -> bool:
    """Return whether a box (16,) has a face below the centre at the lowest point's height."""
    if row[0] != OBSTACLE_BOX:
        return False
    pose = row[4:].reshape(3, 4)
    axis = int(np.argmax(np.abs(up @ pose[:, :3])))
    if abs(float(up @ pose[:, axis])) < LEVEL:
        return False
    top = float(up @ pose[:, 3]) + 0.5 * row[1 + axis]
    local = np.abs((centre - pose[:, 3]) @ pose[:, :3])
    beside = np.delete(local <= 0.5 * row[1:4], axis)
    return bool(abs(top - lowest) < NEAR and beside.all())
