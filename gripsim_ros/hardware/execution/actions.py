"""What an execution goes through, how it ends, and what it asks of a hand and an arm."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from .arm import ArmLeg

Array = NDArray[np.float64]


class Phase(IntEnum):
    """Phases; the numbers are those of the action's feedback."""

    PRESHAPE = 0
    WAITING = 1
    CLOSING = 2
    HOLDING = 3
    LIFTING = 4
    RELEASING = 5
    CARRYING = 6
    SETTING_DOWN = 7
    RETREATING = 8
    REACHING = 9
    APPROACHING = 10
    DONE = 11
    LOADING = 12


#: Phases in which fingers press on the object.
FELT = (Phase.CLOSING, Phase.LOADING, Phase.HOLDING, Phase.LIFTING, Phase.CARRYING,
        Phase.SETTING_DOWN)
#: Those in which the object is not held yet.
SOUGHT = FELT[:2]


class Status(IntEnum):
    """How it ended; the numbers are those of the action's result."""

    SUCCEEDED = 0
    INVALID_REQUEST = 1
    CANCELED = 2
    MISSED_CONTACT = 3
    SLIPPED = 4
    JOINT_ERROR = 5
    HAND_LOST = 6
    TIMED_OUT = 7
    BUSY = 8
    INTERNAL = 9
    CANNOT_HOLD = 10


@dataclass(frozen=True, eq=False)
class SendRows:
    """
    Send the joints along rows (m, J) [rad] at times (m,) [s] after ``begin``.

    That is a time of the measurements [s]; None: when the hand hears of it.
    """

    rows: Array
    times: Array
    begin: float | None = None


@dataclass(frozen=True)
class StopHand:
    """Stop every motion at once."""


@dataclass(frozen=True)
class PlacePalm:
    """Put the palm at the pre-grasp pose at once (simulated hand)."""


@dataclass(frozen=True, eq=False)
class MovePalm:
    """
    Move the palm to the grasp pose, or one in the object's first frame (simulated hand).

    Raised by a height [m]; ``back``: as far away from it as the pre-grasp is from the grasp.
    """

    height: float = 0.0
    T_object_palm: Array | None = None
    back: bool = False


@dataclass(frozen=True, eq=False)
class MoveArm:
    """Send the arm along a leg of its way, which begins at a time of the measurements [s]."""

    leg: ArmLeg
    begin: float


@dataclass(frozen=True)
class LiftOff:
    """Take the object's support away (simulated hand)."""


@dataclass(frozen=True)
class SetDown:
    """Support the object again where it is (simulated hand)."""


Action = SendRows | StopHand | PlacePalm | MovePalm | MoveArm | LiftOff | SetDown
