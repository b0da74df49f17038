"""What is asked and answered about moving the held object."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import TaskError

Array = NDArray[np.float64]

#: How the object gets to its wanted pose.
HAND_ONLY, COMPLIANT, WITH_ARM, NOWHERE = 'hand_only', 'compliant', 'with_arm', 'none'


@dataclass(frozen=True)
class ReachOptions:
    """Every field is explained, with its unit, in ``config/planner.yaml``."""

    translation_step: float
    rotation_step: float
    arm_translation_step: float
    arm_rotation_step: float
    max_steps: int
    max_corrections: int
    force_band: float
    residual_tolerance: float
    position_tolerance: float

    @classmethod
    def from_mapping(cls, values: Any) -> 'ReachOptions':
        """Return options from a mapping with exactly the field names; else TaskError."""
        names = [f.name for f in fields(cls)]
        if not isinstance(values, Mapping) or set(values) != set(names):
            raise TaskError(f'planner option reach needs exactly {names}, got {values!r}')
        for name, value in values.items():
            if isinstance(value, bool) or not isinstance(value, (int, float)) \
                    or not 0.0 < value < np.inf:
                raise TaskError(f'planner option reach.{name} must be finite and above 0, '
                                f'got {value!r}')
        numbers: dict[str, Any] = {f.name: int(values[f.name]) if f.type in (int, 'int')
                                   else float(values[f.name]) for f in fields(cls)}
        return cls(**numbers)


@dataclass(frozen=True, eq=False)
class Reach:
    """
    Whether and how a held object gets to its wanted pose.

    Attributes
    ----------
    level : str
        ``hand_only``: the joints alone follow without slip (seed 001, equation (2));
        ``compliant``: so that the patches absorb the rest without slipping; ``with_arm``: the
        palm moves too; ``none``: not at all.
    residual : float
        Largest part of a step's motion of the contacts that the joints cannot give [-].
    slip_share : float
        Largest tangential displacement of a patch over what it bears without slipping [-].
    joints : (m, J) float
        Joint positions after each step that succeeded, the grasp first [rad].
    T_object_palm : (m, 4, 4) float
        Pose of the palm in the object's *first* frame after each of them.
    shares : (m,) float
        Part of the whole way [-].
    failed_step : int
        Number of the first step that fails, of the fingers alone where the arm helps, else in
        the attempt that came farthest; -1: none.
    message : str
        One sentence; why that step fails.
    """

    level: str
    residual: float
    slip_share: float
    joints: Array
    T_object_palm: Array
    shares: Array
    failed_step: int
    message: str
