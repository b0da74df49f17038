"""What is known of a closing: a record that goes from process to process."""

from dataclasses import dataclass, field

import numpy as np

from ...arrays import Array, BoolArray
from .force_control import ForceHistory
from .force_level import ForceLevel
from .grasp_state import GraspState, NearMiss


@dataclass(frozen=True, eq=False)
class HeldGrasp:
    """
    A grasp that holds: joint positions, trajectory and state.

    ``T_object_settled (4, 4)`` is the pose to which the object settled between the fingers, in
    its frame as they found it, in which the state is expressed; ``balanced`` is True if it came
    to rest.
    """

    joint_positions: Array
    trajectory: Array
    state: GraspState
    T_object_settled: Array = field(default_factory=lambda: np.eye(4))
    balanced: bool = True


@dataclass(eq=False)
class ClosingKnowledge:
    """
    What is known of a closing so far, so that another process can go on with it.

    ``phase`` is 'open', 'reach', 'squeeze' or 'done'; ``fractions (J,)`` are the joints' places
    between open and closed, ``in_contact (L,)`` the links that came to touch, ``speeds (L,)``
    the approach of each link in the last step over the fraction of its joint [m], NaN where it
    was not observed, and ``last_step`` its fractions and clearances. ``shift (3,)`` [m] is how far
    the palm was moved so that fingers that share joints touch alike, ``checked_shift`` that with
    which the open hand was last found free, ``held_shift`` that of the grasp held.
    """

    fractions: Array
    in_contact: BoolArray
    speeds: Array
    level: ForceLevel
    history: ForceHistory = field(default_factory=ForceHistory)
    phase: str = 'open'
    reason: str = ''
    held: HeldGrasp | None = None
    miss: NearMiss | None = None
    held_rank: int = 0
    steps: int = 0
    trials: int = 0
    corrections: int = 0
    reductions: int = 0
    slips: int = 0
    shift: Array = field(default_factory=lambda: np.zeros(3))
    checked_shift: Array = field(default_factory=lambda: np.zeros(3))
    held_shift: Array = field(default_factory=lambda: np.zeros(3))
    shifts: int = 0
    was_capable: bool = False
    lost_balance: bool = False
    last_step: tuple[Array, Array] | None = None
