"""Questions of one detail as a batch, and what closings respect."""

import numpy as np
from numpy.typing import NDArray

from ...batches import (
    DETAIL_CLEARANCE, DETAIL_FORCES, DETAIL_SURFACE, OBSTACLE_WIDTH, ConfigurationBatch)
from ...bodies import GraspObject
from ...hand import HandModel
from ..diagnosis.nearest_miss import Rejected
from ..options import PlannerOptions
from ..task import Task
from .closing import Closing, Limits, Question
from .force_control import Softness

Array = NDArray[np.float64]

#: Primitives of a region that is not restricted.
NO_REGION = np.zeros((0, OBSTACLE_WIDTH))
#: Fingers among which the first guess of the holding force is shared.
SHARING_FINGERS = 2


def question_batch(questions: list[Question], load_cases: Array, task: Task,
                   detail: int) -> ConfigurationBatch:
    """Return questions of equal detail as one batch."""
    return ConfigurationBatch(
        T_object_palm=np.array([q.T_object_palm for q in questions]),
        joint_positions=np.array([q.joint_positions for q in questions]),
        joint_displacements=np.array([q.joint_displacements for q in questions]),
        sweep_object=np.array([q.sweep_object for q in questions]),
        settled_object=np.array([q.settled_object for q in questions]),
        load_cases=load_cases, obstacles=np.vstack([task.obstacles, task.keep_out]),
        detail=detail)


def next_questions(closings: list[Closing], options: PlannerOptions
                   ) -> tuple[list[tuple[Closing, Question]], int]:
    """
    Return the closings to be asked about next with their questions, and the detail.

    Forces are asked for where a batch of these is full or nothing else is to be asked.
    """
    questions = [(closing, closing.question()) for closing in closings]
    forces = [(c, q) for c, q in questions if q.detail == DETAIL_FORCES]
    if forces and (len(forces) >= options.batch_size or len(forces) == len(closings)):
        return forces[:options.batch_size], DETAIL_FORCES
    clearance = [(c, q) for c, q in questions if q.detail == DETAIL_CLEARANCE]
    return clearance[:options.clearance_batch_size], DETAIL_CLEARANCE


def miss_question(item: Rejected) -> Question:
    """Return the question for the details of a rejected hypothesis that came to forces."""
    miss = item.miss
    assert miss is not None
    return Question(DETAIL_SURFACE, item.closing.hypothesis.T_object_palm,
                    miss.joint_positions, miss.joint_displacements, np.zeros(3))


def closing_limits(grasp_object: GraspObject, hand: HandModel, load: float,
                   max_pressure: float, contact_region: Array = NO_REGION) -> Limits:
    """Return what closings respect: first force [N], stiffness, pressure [Pa], region."""
    material = grasp_object.material
    softness = Softness.of(material, [link.pad for link in hand.links if link.pad is not None])
    return Limits(holding_force=load / (SHARING_FINGERS * material.friction), softness=softness,
                  max_pressure=max_pressure, contact_region=contact_region)
