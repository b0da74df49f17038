"""Questions of one detail as a batch, and what closings respect."""

import numpy as np
from numpy.typing import NDArray

from ..batches import DETAIL_SURFACE, OBSTACLE_WIDTH, ConfigurationBatch
from ..bodies import GraspObject
from ..hand import HandModel
from .closing import Limits, Question
from .misses import Rejected
from .types import Task

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
    compliance = (1.0 - material.poisson_ratio ** 2) / material.youngs_modulus
    pads = [link.pad for link in hand.links if link.pad is not None]
    if pads:
        compliance += max((1.0 - p.poisson_ratio ** 2) / p.youngs_modulus for p in pads)
    return Limits(holding_force=load / (SHARING_FINGERS * material.friction),
                  effective_modulus=1.0 / compliance, max_pressure=max_pressure,
                  contact_region=contact_region)
