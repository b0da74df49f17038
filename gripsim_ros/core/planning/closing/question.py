"""What the stages are asked about one configuration."""

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.spatial.transform import Rotation

from ...arrays import Array
from ...transforms import inverse


#: Fraction of the closing motion whose joint displacements give the directions of motion [-].
DIRECTION_STEP = 0.01


@dataclass(frozen=True, eq=False)
class Question:
    """One configuration to be judged; shapes and names as a row of ``ConfigurationBatch``."""

    detail: int
    T_object_palm: Array
    joint_positions: Array
    joint_displacements: Array
    sweep_object: Array
    settled_object: Array = field(default_factory=lambda: np.zeros(6))


def settled_question(question: Question, T_object_settled: Array) -> Question:
    """
    Return a question about the same hand at the object where it has settled.

    Parameters
    ----------
    question : Question
        In the frame of the object as it was found.
    T_object_settled : (4, 4) float
        Pose of the object in that frame.

    Returns
    -------
    Question
        In the frame of the settled object.
    """
    rotation = T_object_settled[:3, :3]
    motion = np.concatenate([rotation.T @ T_object_settled[:3, 3],
                             Rotation.from_matrix(rotation).as_rotvec()])
    return replace(question, T_object_palm=inverse(T_object_settled) @ question.T_object_palm,
                   settled_object=motion)
