"""What is asked of the hand, how it ends, and what is measured meanwhile."""

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Outcome(Enum):
    """How a motion ended."""

    REACHED = 'reached'
    MISSED = 'missed'         # it ended, some joint is not where it was sent: blocked, or weak
    STOPPED = 'stopped'
    REPLACED = 'replaced'
    REFUSED = 'refused'       # nothing was sent
    FAILED = 'failed'


@dataclass(frozen=True, eq=False)
class Sample:
    """
    What was measured in one cycle, in the joint order of the hand's model.

    Attributes
    ----------
    time : float
        Of the steady clock, when the positions were true [s].
    positions, velocities : (J,) float
        [rad], [rad/s].
    axis_states : (J,) int
        As last asked for; while the hand moves that is in every cycle, or several times a second.
    states_time : float
        When that was, by the steady clock [s].
    """

    time: float
    positions: Array
    velocities: Array
    axis_states: NDArray[np.int64]
    states_time: float = math.inf


@dataclass(eq=False)
class Motion:
    """
    A trajectory that was asked for.

    Attributes
    ----------
    names, times, rows
        As in ``path.read_trajectory``.
    velocities : sequence of sequence of float
        Asked for at the points [rad/s]: cubic curves between them where all have some.
    begin : float
        When it is to begin, by the steady clock [s]; 0: at once.
    done : threading.Event
        Set when ``outcome`` stands.
    outcome : Outcome or None
    message : str
        One line.
    errors : (J,) float or None
        Measured minus wanted at the end [rad].
    requested, started : float
        Of the steady clock [s]: when it came, when its time 0 was or is; NaN before.
    behind : float
        By how much a joint cannot but be behind its time at most [rad].
    outdated : bool
        Refused since it was sent too long ago, or before a stop.
    """

    names: Sequence[str]
    times: Sequence[float]
    rows: Sequence[Sequence[float]]
    velocities: Sequence[Sequence[float]] = ()
    on_done: Callable[['Motion'], None] | None = None
    begin: float = 0.0
    done: threading.Event = field(default_factory=threading.Event)
    outcome: Outcome | None = None
    message: str = ''
    errors: Array | None = None
    requested: float = float('nan')
    started: float = float('nan')
    behind: float = 0.0
    outdated: bool = False

    def finish(self, outcome: Outcome, message: str, errors: Array | None = None) -> None:
        """End it, once."""
        if self.done.is_set():
            return
        self.outcome, self.message, self.errors = outcome, message, errors
        self.done.set()
        if self.on_done is not None:
            self.on_done(self)
