"""
The execution of one grasp as a state machine: measurements in, actions out.

    PRESHAPE -> WAITING -> CLOSING -> HOLDING -> LIFTING -> CARRYING -> SETTING_DOWN
    -> RELEASING -> RETREATING -> DONE

Its clock is that of the measurements, so that it follows a simulation slower than real time.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from .closing import FingerWatch
from .measurement import Measurement
from .plan import ExecutionOptions, ExecutionPlan

Array = NDArray[np.float64]

#: Rows begin at a measurement at least this much later than the first heard of since the last
#: stop: hands refuse what began before a stop, and measurements may be late [s].
FRESH = 0.1


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
    DONE = 9


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


@dataclass(frozen=True)
class LiftOff:
    """Take the object's support away (simulated hand)."""


@dataclass(frozen=True)
class SetDown:
    """Support the object again where it is (simulated hand)."""


Action = SendRows | StopHand | PlacePalm | MovePalm | LiftOff | SetDown


class GraspExecution:
    """
    One execution.

    Parameters
    ----------
    plan : ExecutionPlan
    options : ExecutionOptions
    carries : bool
        The palm can be carried about: a simulated hand.
    """

    def __init__(self, plan: ExecutionPlan, options: ExecutionOptions, carries: bool) -> None:
        """Begin with the first measurement."""
        self.plan, self.options, self._carries = plan, options, carries
        self.phase, self.status, self.message = Phase.PRESHAPE, Status.SUCCEEDED, ''
        self.closed: Measurement | None = None
        self.closing_time, self.slip, self.lifted = 0.0, np.nan, False
        self.carried, self.turn = False, np.nan
        self.begun: list[tuple[Phase, float]] = []      # phases and when they began [s]
        self.last: Measurement | None = None
        self._watch = FingerWatch(plan, options)
        self._since = self._length = 0.0
        self._begun = self._go = self._approached = self._stopped = False
        self._heard: float | None = None        # the first measurement since a stop [s]
        self._held_pose: Array | None = None
        self._pending: list[Action] = []

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

    def go(self) -> None:
        """Let the hand close."""
        self._go = True

    def cancel(self) -> list[Action]:
        """End at once; return the actions to take."""
        return self._end(Status.CANCELED, f'canceled while {self.phase.name}')

    def lose(self, reason: str) -> list[Action]:
        """End because the hand is not heard of; return the actions to take."""
        return self._end(Status.HAND_LOST, reason)

    def update(self, measured: Measurement) -> list[Action]:
        """Take a measurement; return the actions to take."""
        if self.done:
            return []
        self.last = measured
        if not self._begun:
            self._begun = self._is_fresh(measured)
            return self._begin(measured) if self._begun else []
        step = {Phase.PRESHAPE: self._preshape, Phase.WAITING: self._wait,
                Phase.CLOSING: self._close, Phase.HOLDING: self._hold,
                Phase.LIFTING: self._lift, Phase.CARRYING: self._carry,
                Phase.SETTING_DOWN: self._set_down, Phase.RELEASING: self._release,
                Phase.RETREATING: self._retreat}[self.phase]
        return step(measured)

    # -- phases ----------------------------------------------------------------------

    def _is_fresh(self, measured: Measurement) -> bool:
        """Return whether a measurement is from after every stop that was answered before."""
        if self._heard is None:
            self._heard = measured.time
        return measured.time >= self._heard + FRESH

    def _begin(self, measured: Measurement) -> list[Action]:
        actions: list[Action] = [PlacePalm()] if self._carries else []
        return [*actions, self._send_open(measured, Phase.PRESHAPE)]

    def _send_open(self, measured: Measurement, phase: Phase) -> SendRows:
        """Send the hand to the first row, no faster than the plan's fastest joint step."""
        way = np.abs(self.plan.rows[0] - measured.joints).max()
        length = max(self.options.motion_time, float(way) / self._watch.speed)
        self._enter(phase, measured, length)
        return SendRows(self.plan.rows[:1], np.array([length]), measured.time)

    def _enter(self, phase: Phase, measured: Measurement, length: float) -> None:
        self.phase, self._since, self._length = phase, measured.time, length
        self.begun.append((phase, measured.time))

    def _preshape(self, measured: Measurement) -> list[Action]:
        elapsed = measured.time - self._since
        if elapsed < self._length:
            return []
        error = np.abs(measured.joints - self.plan.rows[0])
        if not self._approached and error.max() > self.options.joint_tolerance:
            if elapsed > self._length + self.options.motion_timeout:
                return self._end(Status.JOINT_ERROR, 'the hand did not take the shape to begin '
                                 f'with: {self._watch.joints_text(error)}')
            return []
        if self._carries and not self._approached:
            self._approached = True
            return [MovePalm()]
        if self._carries and not measured.palm_rests:
            if elapsed > self._length + self.options.motion_timeout:
                return self._end(Status.TIMED_OUT, 'the palm did not reach the grasp pose')
            return []
        self._enter(Phase.WAITING, measured, self.options.go_timeout)
        return self._wait(measured)

    def _wait(self, measured: Measurement) -> list[Action]:
        if self.plan.wishes.wait_for_go and not self._go:
            if measured.time - self._since > self.options.go_timeout:
                return self._end(Status.TIMED_OUT, 'nobody gave the sign to go on within '
                                 f'{self.options.go_timeout:g} s')
            return []
        self._enter(Phase.CLOSING, measured, float(self.plan.times[-1]))
        self._watch.start(measured)
        return [SendRows(self.plan.rows[1:], self.plan.times[1:], measured.time)]

    def _close(self, measured: Measurement) -> list[Action]:
        self._watch.observe(measured)
        lagging = self._watch.lagging(measured)
        if lagging:
            self._judge_closing(measured)
            return self._end(Status.JOINT_ERROR, f'while closing: {lagging}')
        remaining = self._watch.stop_fingers(measured)
        if not self._watch.finished(measured):
            return _sent(remaining, measured)
        self._judge_closing(measured)
        missed = self._watch.missed(measured)
        if missed:
            return self._fail(Status.MISSED_CONTACT, 'planned contacts were not found: '
                              + ', '.join(missed))
        self._enter(Phase.HOLDING, measured, self.plan.wishes.hold_time or self.options.hold_time)
        return []

    def _judge_closing(self, measured: Measurement) -> None:
        self._watch.hold()
        self.closed, self.closing_time = measured, measured.time - self._since

    def _hold(self, measured: Measurement) -> list[Action]:
        lost = self._watch.lost(measured)
        if lost:
            return self._fail(Status.SLIPPED, f'contact was lost while holding: {lost}')
        if measured.time - self._since < self._length:
            return _sent(self._watch.keep_pressing(measured), measured)
        height = self.plan.wishes.lift_height
        if height <= 0.0 and self.plan.way is None:
            return self._finish(measured)
        if not self._carries:
            return self._begin_way(measured)
        if measured.T_palm_object is None:
            return self._fail(Status.HAND_LOST, 'nobody tells the pose of the object to lift')
        self._held_pose = measured.T_palm_object      # the weight sets in before anything moves on
        self._enter(Phase.LIFTING, measured, self.options.motion_timeout)
        return [LiftOff(), MovePalm(height)]

    def _lift(self, measured: Measurement) -> list[Action]:
        if measured.T_palm_object is None:
            return self._fail(Status.HAND_LOST, 'nobody tells the pose of the lifted object')
        self.slip = float(np.linalg.norm(
            measured.T_palm_object[:3, 3] - self._held_pose[:3, 3]))
        if self.slip > self.options.slip_tolerance:
            return self._fail(Status.SLIPPED, f'the object moved {1e3 * self.slip:.1f} mm in the '
                              'hand while it was lifted')
        elapsed = measured.time - self._since
        if measured.palm_rests and elapsed > self.options.settle_time:
            self.lifted = True
            return self._finish(measured) if self.plan.way is None else self._begin_way(measured)
        if elapsed > self._length:
            return self._fail(Status.TIMED_OUT, 'the palm did not rise in time')
        return _sent(self._watch.keep_pressing(measured), measured)

    def _begin_way(self, measured: Measurement) -> list[Action]:
        """Let joints and forces follow the object's way; the palm is led step by step."""
        self._enter(Phase.CARRYING, measured, self.plan.way.length)
        self._held_pose, self.slip, self.turn = measured.T_palm_object, np.nan, np.nan
        return _sent(self._watch.carry(measured), measured)

    def _carry(self, measured: Measurement) -> list[Action]:
        elapsed, way = measured.time - self._since, self.plan.way
        if self._held_pose is not None:
            if measured.T_palm_object is None:
                return self._fail(Status.HAND_LOST, 'nobody tells the pose of the carried object')
            slip, turn = way.deviation(elapsed, self._held_pose, measured.T_palm_object)
            self.slip, self.turn = np.fmax(self.slip, slip), np.fmax(self.turn, turn)
            if slip > self.options.slip_tolerance:
                return self._fail(Status.SLIPPED, f'the object moved {1e3 * slip:.1f} mm in the '
                                  f'hand while it was carried, {100.0 * self.progress:.0f} % of '
                                  'the way done')
        arrived = elapsed > way.length + self.options.settle_time
        if arrived and (measured.palm_rests or not self._carries):
            self.carried = True
            return self._finish_way(measured)
        if elapsed > way.length + self.options.motion_timeout:
            return self._fail(Status.TIMED_OUT, 'the palm did not come to the end of the way')
        return [*self._led(elapsed), *_sent(self._watch.keep_pressing(measured), measured)]

    def _led(self, elapsed: float) -> list[Action]:
        """Return the palm's next place on the way; that of a real hand is its arm's matter."""
        return [MovePalm(self.plan.wishes.lift_height, self.plan.way.palm(elapsed))] \
            if self._carries else []

    def _finish_way(self, measured: Measurement) -> list[Action]:
        if not self._carries or not self.plan.wishes.release:
            return self._finish(measured)
        self._enter(Phase.SETTING_DOWN, measured, self.options.motion_timeout)
        return [MovePalm(0.0, self.plan.way.palm(self.plan.way.length))]

    def _set_down(self, measured: Measurement) -> list[Action]:
        elapsed = measured.time - self._since
        if measured.palm_rests and elapsed > self.options.settle_time:
            return [SetDown(), self._send_open(measured, Phase.RELEASING)]
        if elapsed > self._length:
            return self._fail(Status.TIMED_OUT, 'the palm did not sink in time')
        return _sent(self._watch.keep_pressing(measured), measured)

    def _retreat(self, measured: Measurement) -> list[Action]:
        elapsed = measured.time - self._since
        if measured.palm_rests and elapsed > self.options.settle_time:
            self.phase = Phase.DONE
        elif elapsed > self._length:
            return self._end(Status.TIMED_OUT, 'the palm did not draw back in time')
        return []

    def _release(self, measured: Measurement) -> list[Action]:
        if self._stopped:
            if not self._is_fresh(measured):
                return []
            self._stopped = False
            return [self._send_open(measured, Phase.RELEASING)]
        elapsed = measured.time - self._since
        error = np.abs(measured.joints - self.plan.rows[0])
        if elapsed >= self._length and error.max() <= self.options.joint_tolerance:
            if self.carried and self._carries and self.status == Status.SUCCEEDED:
                self._enter(Phase.RETREATING, measured, self.options.motion_timeout)
                return [MovePalm(0.0, self.plan.way.palm(self.plan.way.length), back=True)]
            self.phase = Phase.DONE
        elif elapsed > self._length + self.options.motion_timeout:
            return self._end(self.status or Status.JOINT_ERROR, self.message or 'the hand did '
                             f'not open: {self._watch.joints_text(error)}')
        return []

    # -- ends ------------------------------------------------------------------------

    def _finish(self, measured: Measurement) -> list[Action]:
        """Open the hand if that is asked for, and be done."""
        if self.plan.wishes.release:
            return [self._send_open(measured, Phase.RELEASING)]
        self.phase = Phase.DONE
        return []

    def _fail(self, status: Status, message: str) -> list[Action]:
        """Stop; open the hand from the next fresh measurement on if that is asked for."""
        self.status, self.message = status, message
        if self.plan.wishes.release:
            self._stopped, self._heard = True, None
            self._enter(Phase.RELEASING, self.last, 0.0)
        else:
            self.phase = Phase.DONE
        return [StopHand()]

    def _end(self, status: Status, message: str) -> list[Action]:
        """Stop at once and for good."""
        if self.done:
            return []
        self.status, self.message, self.phase = status, message, Phase.DONE
        return [StopHand()]


def _sent(remaining: tuple[Array, Array] | None, measured: Measurement) -> list[Action]:
    """Return the action that sends rows, if there are any; they begin at the measurement."""
    return [] if remaining is None else [SendRows(*remaining, measured.time)]
