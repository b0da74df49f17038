"""The choice among ranked grasps by the shortest motion of the arm."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array
from ..bodies import GraspObject
from ..contact.backends.convex.decomposition import convex_part
from ..errors import ArmError
from ..hand import HandModel
from ..planning.hypotheses.primitives import primitive_points
from ..planning.ranked_grasp import RankedGrasp
from ..planning.task import Task
from ..transforms import apply
from .collision import ArmScene
from .model import ArmModel
from .motion import ArmMotion, ArmPlanner


@dataclass(frozen=True, eq=False)
class ArmTask:
    """
    The arm and where the object stands before it.

    Attributes
    ----------
    arm : ArmModel
    T_base_object : (4, 4) float
    start : (A,) float or None
        Joints before the grasp [rad]; None: as in the arm's configuration.
    """

    arm: ArmModel
    T_base_object: Array
    start: Array | None = None


@dataclass(frozen=True, eq=False)
class ArmChoice:
    """
    Ranked grasps with and without a motion of the arm.

    ``grasps`` are those with a motion free of collision, the shortest first, each with its
    ``arm_motion``; ``failures`` those without; the others were not asked about. ``decided``
    counts pairs of bodies by the test that decided them.
    """

    grasps: tuple[RankedGrasp, ...]
    failures: tuple[tuple[RankedGrasp, ArmMotion], ...]
    decided: dict[str, int]


def choose_by_arm(grasps: Sequence[RankedGrasp], task: Task, grasp_object: GraspObject,
                  hand: HandModel, arm_task: ArmTask,
                  go_on: Callable[[], bool] = lambda: True, wanted: int = 0) -> ArmChoice:
    """
    Order grasps by the length of the arm's motion, without those that have none.

    Parameters
    ----------
    grasps : sequence of RankedGrasp
        Best first; of equal lengths the better grasp is first.
    task : Task
        Its obstacles and keep-out regions are the surroundings, its displacement the path;
        keep-out regions bind hand and arm, not the object.
    grasp_object : GraspObject
        Its convex hull is moved.
    hand : HandModel
    arm_task : ArmTask
    go_on : callable
        Asked before each grasp; once it returns False the others are failures, said to be
        not examined.
    wanted : int
        The arm is asked about no more grasps once it has motions for so many; 0: about all.

    Returns
    -------
    ArmChoice

    Raises
    ------
    ArmError
        The start is outside the joint limits.

    Notes
    -----
    Source: seed 001, the final choice by the arm's minimal path without collision.
    """
    arm = arm_task.arm
    start = arm.start if arm_task.start is None else arm.checked_joints(arm_task.start)
    if np.shape(arm_task.T_base_object) != (4, 4):
        raise ArmError('the pose of the object before the arm must be a (4, 4) transform')
    scene = make_scene(task, grasp_object, hand, arm_task)
    planner = ArmPlanner(arm, hand, scene, arm_task.T_base_object, start, task.displacement_object)
    free: list[RankedGrasp] = []
    failures: list[tuple[RankedGrasp, ArmMotion]] = []
    for grasp in grasps:
        if wanted and len(free) == wanted:
            break
        motion = planner.motion(grasp) if go_on() else ArmMotion(
            start[None], (), 0.0, 0, 'not examined in time', arm.joint_names)
        if motion.failed_step < 0:
            free.append(replace(grasp, arm_motion=motion))
        else:
            failures.append((grasp, motion))
    free.sort(key=lambda g: (round(g.arm_motion.length, 9), g.rank))
    ranked = tuple(replace(g, rank=i + 1) for i, g in enumerate(free))
    return ArmChoice(ranked, tuple(failures), dict(scene.decided))


def make_scene(task: Task, grasp_object: GraspObject, hand: HandModel,
               arm_task: ArmTask) -> ArmScene:
    """Return the scene about the arm; obstacles of the task are in the object's frame."""
    rows = np.vstack([task.obstacles, task.keep_out])
    count = len(task.obstacles)
    names = [f'obstacle {i + 1}' if i < count else f'keep-out region {i + 1 - count}'
             for i in range(len(rows))]
    return ArmScene(
        arm_task.arm, tuple(convex_part(apply(arm_task.T_base_object, primitive_points(row)))
                            for row in rows),
        tuple(names), tuple(convex_part(link.mesh.vertices) for link in hand.links),
        hand.link_names, convex_part(grasp_object.mesh.vertices),
        tuple(i < count for i in range(len(rows))))
