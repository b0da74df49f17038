"""What stands about a planned object, as it is drawn: its task's obstacles, and other arms."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...core.bodies import TriangleMesh
from ...core.contact.backends.convex.decomposition import convex_part
from ...core.planning.hypotheses.primitives import primitive_points
from ...core.planning.task import Task
from ...core.transforms import apply
from ..display import OBSTACLE_COLOUR, OTHER_ARM_COLOUR
from ..planned_arm import PlannedArm, mesh_of_part

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Standing:
    """A body about the object: its ``mesh`` in the object's first frame, and its ``colour``."""

    mesh: TriangleMesh
    colour: tuple[float, float, float]


def surroundings_of(task: Task | None, arm: PlannedArm | None) -> tuple[Standing, ...]:
    """
    Return what stands about the object of a plan.

    Parameters
    ----------
    task : Task or None
        Its obstacles are bodies; regions to keep out of are not. None where it is not known.
    arm : PlannedArm or None
        Whose other arms are shown at each row of their ways.

    Returns
    -------
    tuple of Standing
        Round obstacles as the polyhedra about them that were planned with.
    """
    obstacles = [] if task is None else [
        Standing(mesh_of_part(convex_part(primitive_points(row))), OBSTACLE_COLOUR)
        for row in task.obstacles]
    others = [] if arm is None else [
        Standing(TriangleMesh(apply(T, mesh.vertices), mesh.faces), OTHER_ARM_COLOUR)
        for mesh, T in arm.other_parts]
    return (*obstacles, *others)
