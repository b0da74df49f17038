"""What the stages are asked about one configuration."""

from dataclasses import dataclass, field

import numpy as np

from ...arrays import Array


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
