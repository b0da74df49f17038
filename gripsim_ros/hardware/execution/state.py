"""Where an execution is: its phase and since when, how it ends, and what was measured last."""

import numpy as np
from numpy.typing import NDArray

from .actions import Action, MovePalm, Phase, Status, StopHand
from .measurement import Measurement
from .plan import ExecutionOptions, ExecutionPlan

Array = NDArray[np.float64]

#: Rows begin at a measurement at least this much later than the first heard of since the last
#: stop: hands refuse what began before a stop, and measurements may be late [s].
FRESH = 0.1


class ExecutionState:
    """
    What an execution knows of itself, whatever its phases do.

    Parameters
    ----------
    plan : ExecutionPlan
    options : ExecutionOptions
    free : bool
        The palm goes wherever it is to, as that of a simulated hand without an arm.
    """

    def __init__(self, plan: ExecutionPlan, options: ExecutionOptions, free: bool) -> None:
        """Begin with the first measurement."""
        self.plan, self.options, self._free = plan, options, free
        self.phase, self.status, self.message = Phase.PRESHAPE, Status.SUCCEEDED, ''
        self.begun: list[tuple[Phase, float]] = []      # phases and when they began [s]
        self.last: Measurement | None = None
        self._since = self._length = 0.0
        self._stopped = False
        self._heard: float | None = None        # the first measurement since a stop [s]

    @property
    def done(self) -> bool:
        """Return whether nothing is left to do."""
        return self.phase == Phase.DONE

    @property
    def last_phase(self) -> Phase:
        """Return the phase, or that in which the execution ended."""
        return self.phase if not self.done else (
            Phase.RETREATING if self.begun and self.begun[-1][0] == Phase.RETREATING
            else Phase.RELEASING)

    @property
    def progress(self) -> float:
        """Return how far the phase is, 0 to 1."""
        if self.last is None or self._length <= 0.0:
            return 0.0
        return float(np.clip((self.last.time - self._since) / self._length, 0.0, 1.0))

    def cancel(self) -> list[Action]:
        """End at once; return the actions to take."""
        return self._end(Status.CANCELED, f'canceled while {self.phase.name}')

    def lose(self, reason: str) -> list[Action]:
        """End because the hand is not heard of; return the actions to take."""
        return self._end(Status.HAND_LOST, reason)

    def _enter(self, phase: Phase, measured: Measurement, length: float) -> None:
        self.phase, self._since, self._length = phase, measured.time, length
        self.begun.append((phase, measured.time))

    def _is_fresh(self, measured: Measurement) -> bool:
        """Return whether a measurement is from after every stop that was answered before."""
        if self._heard is None:
            self._heard = measured.time
        return measured.time >= self._heard + FRESH

    def _fail(self, status: Status, message: str, opens: bool = False) -> list[Action]:
        """Stop; open the hand from the next fresh measurement on if that is asked for."""
        self.status, self.message = status, self._with_notes(message)
        if self.plan.wishes.release or opens:
            self._stopped, self._heard = True, None
            self._enter(Phase.RELEASING, self.last, 0.0)
        else:
            self.phase = Phase.DONE
        return [StopHand()]

    def _with_notes(self, message: str) -> str:
        """Return why it ends, with what was told before, such as contacts that came early."""
        return '; '.join(filter(None, (message, self.message)))

    def _end(self, status: Status, message: str) -> list[Action]:
        """Stop at once and for good."""
        if self.done:
            return []
        self.status, self.message, self.phase = status, message, Phase.DONE
        return [StopHand()]

    def _slid(self, way: float, doing: str, grip: str, palm: MovePalm) -> list[Action]:
        """
        End where an object went too far in the hand.

        What slips at the largest ``grip``, as text, cannot be held: it is set down by ``palm``.
        """
        told = f'the object moved {1e3 * way:.1f} mm in the hand while it was {doing}'
        return self._give_back(f'{told}, {grip}', palm) if grip \
            else self._fail(Status.SLIPPED, told)

    def _give_back(self, message: str, palm: MovePalm) -> list[Action]:
        """Set down what cannot be held on; a hand that cannot, stops as it holds, unopened."""
        message = self._with_notes(message)
        if not self._free:
            return self._end(Status.CANNOT_HOLD, message)
        self.status, self.message = Status.CANNOT_HOLD, message
        self._enter(Phase.SETTING_DOWN, self.last, self.options.motion_timeout)
        return [palm]
