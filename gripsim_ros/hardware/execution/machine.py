"""
The execution of one grasp as a state machine: measurements in, actions out.

    PRESHAPE -> REACHING -> APPROACHING -> WAITING -> CLOSING -> LOADING -> HOLDING -> LIFTING
    -> CARRYING -> SETTING_DOWN -> RELEASING -> RETREATING -> DONE

An arm reaches and approaches; a free palm is put before the object while the hand is shaped.
LOADING comes where the hand closes by touch. What cannot be held on is set down from LIFTING or
CARRYING, by a free palm; an arm stops, and the hand holds on.
Its clock is that of the measurements, so that it follows a simulation slower than real time.
"""

import numpy as np
from numpy.typing import NDArray

from ...core.arm.motion import APPROACH, CARRY, LIFT, LOWER, RETREAT, START
from .actions import (
    Action, FELT, LiftOff, MoveArm, MovePalm, Phase, PlacePalm, SendRows, SetDown, SOUGHT, Status)
from .arm import BACK, BACK_OFF
from .closing import FingerWatch
from .feeling.policies import REPLAN, STOP
from .holding.missed import Keeper
from .holding.watch import HoldWatch
from .measurement import Measurement
from .plan import ExecutionOptions, ExecutionPlan
from .state import ExecutionState
from .touch.loading import TouchWatch

Array = NDArray[np.float64]


class GraspExecution(ExecutionState):
    """
    One execution.

    Parameters
    ----------
    plan : ExecutionPlan
    options : ExecutionOptions
    carries : bool
        The hand is simulated: its palm can be carried about, with an arm of the plan or without,
        and where the object is in it is told. A real hand is carried by an arm of the plan alone.
    """

    def __init__(self, plan: ExecutionPlan, options: ExecutionOptions, carries: bool) -> None:
        """Begin with the first measurement."""
        super().__init__(plan, options, carries and plan.arm is None)
        self._simulated, self._carries = carries, carries or plan.arm is not None
        self.closed: Measurement | None = None
        self.closing_time, self.slip, self.turn = 0.0, np.nan, np.nan
        self.lifted = self.carried = False
        self._touch = None if plan.touch is None else (
            TouchWatch if plan.hold is None else HoldWatch)(plan, options)
        self._watch = self._touch or FingerWatch(plan, options)
        self.felt: list[tuple[float, Array, Array]] = []    # time [s], planned, felt by finger [N]
        self._keeper, self._backs_off = Keeper(plan, options), False
        self._closing_from = 0.0
        self._begun = self._go = self._approached = False
        self._held_pose: Array | None = None            # and where setting down began
        self._lowered_pose: Array | None = None
        self._pending: list[Action] = []

    def finger_forces(self) -> tuple[Array, Array]:
        """Return planned and felt forces (n,) [N] of the pressing fingers, last measured."""
        return self._watch.finger_forces(self.last)

    def news_periods(self) -> tuple[float, float]:
        """Return how long joints and pads take from news to news [s]; NaN: not known."""
        return self._watch.joint_news.period, self._watch.pad_news.period

    def go(self) -> None:
        """Let the hand close."""
        self._go = True

    def update(self, measured: Measurement) -> list[Action]:
        """Take a measurement; return the actions to take."""
        if self.done:
            return []
        self.last = measured
        self._watch.hear(measured)
        if self.phase in FELT:
            self.last = measured = self._watch.sense(measured, self.phase in SOUGHT)
            self.felt.append((measured.time, *self._watch.finger_forces(measured)))
        if not self._begun:
            self._begun = self._is_fresh(measured)
            return self._begin(measured) if self._begun else []
        step = {Phase.PRESHAPE: self._preshape, Phase.WAITING: self._wait,
                Phase.CLOSING: self._close, Phase.HOLDING: self._hold,
                Phase.LIFTING: self._lift, Phase.CARRYING: self._carry,
                Phase.SETTING_DOWN: self._set_down, Phase.RELEASING: self._release,
                Phase.RETREATING: self._retreat, Phase.REACHING: self._reach,
                Phase.APPROACHING: self._approach, Phase.LOADING: self._load}[self.phase]
        return step(measured)

    # -- phases ----------------------------------------------------------------------

    def _begin(self, measured: Measurement) -> list[Action]:
        actions: list[Action] = [PlacePalm()] if self._free else []
        return [*actions, self._send_open(measured, Phase.PRESHAPE)]

    def _send_open(self, measured: Measurement, phase: Phase) -> SendRows:
        """Send the hand to the first row, no faster than the plan's fastest joint step."""
        way = np.abs(self.plan.rows[0] - measured.joints).max()
        length = max(self.options.motion_time, float(way) / self._watch.speed)
        self._enter(phase, measured, length)
        return SendRows(self.plan.rows[:1], np.array([length]), measured.time)

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
        if self.plan.arm is not None:
            return self._send_arm(START, Phase.REACHING, measured)
        if self._carries and not self._approached:
            self._approached = True
            return [MovePalm()]
        if self._carries and not measured.palm_rests:
            if elapsed > self._length + self.options.motion_timeout:
                return self._end(Status.TIMED_OUT, 'the palm did not reach the grasp pose')
            return []
        self._enter(Phase.WAITING, measured, self.options.go_timeout)
        return self._wait(measured)

    def _send_arm(self, name: str, phase: Phase, measured: Measurement) -> list[Action]:
        """Begin a phase in which the arm goes along a leg of its way, if there is that leg."""
        leg = self.plan.arm.leg(name)
        self._enter(phase, measured, leg.length if leg else 0.0)
        return [MoveArm(leg, measured.time)] if leg else []

    def _reach(self, measured: Measurement) -> list[Action]:
        if not self._rests(measured):
            return self._late_arm(measured, 'did not come to the pre-grasp')
        return self._send_arm(APPROACH, Phase.APPROACHING, measured)

    def _approach(self, measured: Measurement) -> list[Action]:
        if not self._rests(measured):
            return self._late_arm(measured, 'did not come to the grasp')
        self._enter(Phase.WAITING, measured, self.options.go_timeout)
        return self._wait(measured)

    def _late_arm(self, measured: Measurement, what: str) -> list[Action]:
        late = self._is_late(measured)
        return self._end(Status.TIMED_OUT, f'the arm {what} in time') if late else []

    def _wait(self, measured: Measurement) -> list[Action]:
        if self.plan.wishes.wait_for_go and not self._go:
            if measured.time - self._since > self.options.go_timeout:
                return self._end(Status.TIMED_OUT, 'nobody gave the sign to go on within '
                                 f'{self.options.go_timeout:g} s')
            return []
        rows, times = self._watch.start(measured)
        self._enter(Phase.CLOSING, measured, float(times[-1]))
        self._closing_from = measured.time
        return [SendRows(rows[1:], times[1:], measured.time)]

    def _close(self, measured: Measurement) -> list[Action]:
        self._watch.observe(measured)
        lagging = self._watch.lagging(measured)
        if lagging:
            self._judge_closing(measured)
            return self._end(Status.JOINT_ERROR, f'while closing: {lagging}')
        remaining = self._watch.stop_fingers(measured)
        if self._touch is not None:
            return self._seek(measured, remaining)
        return self._judge_grip(measured) if self._watch.finished(measured) \
            else _sent(remaining, measured)

    def _seek(self, measured: Measurement, remaining: tuple[Array, Array] | None
              ) -> list[Action]:
        """Go on until all fingers touch; then load them together."""
        wrong = self._touch.seeking_fault(measured)
        if wrong and not self._keeper.seeks_on(self._touch, measured, wrong):
            return self._miss(measured, wrong)
        if self._touch.all_touch:
            self._enter(Phase.LOADING, measured, self.options.loading_time)
            self._touch.begin_loading(measured)
        return _sent(remaining, measured)

    def _load(self, measured: Measurement) -> list[Action]:
        """Bring all fingers to their planned forces, step by step."""
        remaining = self._touch.load(measured)
        late = measured.time - self._since > self._length
        wrong = self._touch.loading_fault(late)
        if wrong and not self._keeper.loads_on(self._touch, measured, wrong):
            return self._miss(measured, wrong)
        if not (self._touch.borne or late):
            return _sent(remaining, measured)
        self._touch.notes += self._touch.differences(measured)
        return [*_sent(remaining, measured), *self._judge_grip(measured)]

    def _judge_grip(self, measured: Measurement) -> list[Action]:
        """Hold what has been found, or fail."""
        self._judge_closing(measured)
        missed = self._watch.missed(measured)
        if missed:
            wrong = f'planned contacts were not found: {", ".join(missed)}'
            if not self._keeper.grips_on(self._watch, measured, wrong, missed):
                return self._miss(measured, wrong)
        self.message = '; '.join(self._watch.notes)
        self._enter(Phase.HOLDING, measured, self.plan.wishes.hold_time or self.options.hold_time)
        return []

    # -- contacts that are not found ---------------------------------------------------

    def _miss(self, measured: Measurement, wrong: str) -> list[Action]:
        """End where a contact was missed: open and draw back, or stop as it is."""
        self._judge_closing(measured)
        opens = self.plan.wishes.missed_contact != STOP
        self._backs_off = opens and self._carries
        done = ('opened, and drawn back' if self._backs_off else 'opened') if opens else ''
        told = [wrong, self._keeper.why_not, *self._watch.notes, done]
        return self._fail(Status.MISSED_CONTACT, '; '.join(filter(None, told)), opens)

    def _back_off(self, measured: Measurement) -> list[Action]:
        """Draw the open hand back from what it did not grasp."""
        return self._move(BACK if self.plan.wishes.missed_contact == REPLAN else BACK_OFF,
                          Phase.RETREATING, measured, MovePalm(back=True))

    def _judge_closing(self, measured: Measurement) -> None:
        self._watch.hold()
        self.closed, self.closing_time = measured, measured.time - self._closing_from

    def _hold(self, measured: Measurement) -> list[Action]:
        lost = self._watch.lost(measured)
        if lost:
            return self._fail(Status.SLIPPED, f'contact was lost while holding: {lost}')
        wrong = self._watch.holding_fault(measured)
        if wrong:
            return self._fail(Status.CANNOT_HOLD, wrong)
        if measured.time - self._since < self._length:
            return _sent(self._watch.keep_pressing(measured), measured)
        height = self.plan.wishes.lift_height
        if height <= 0.0 and self.plan.way is None:
            return self._finish(measured)
        if not self._carries:
            return self._begin_way(measured)
        if self._simulated and measured.T_palm_object is None:
            return self._fail(Status.HAND_LOST, 'nobody tells the pose of the object to lift')
        self._held_pose = measured.T_palm_object      # the weight sets in before anything moves on
        return [LiftOff(), *self._move(LIFT, Phase.LIFTING, measured, MovePalm(height))]

    def _move(self, name: str, phase: Phase, measured: Measurement, palm: MovePalm
              ) -> list[Action]:
        """Begin a phase in which the arm goes along a leg, or the free palm somewhere."""
        if not self._free:
            return self._send_arm(name, phase, measured)
        self._enter(phase, measured, self.options.motion_timeout)
        return [palm]

    def _rests(self, measured: Measurement) -> bool:
        """Return whether palm and object have come to rest where the phase takes them."""
        elapsed = measured.time - self._since
        return bool(measured.palm_rests) and elapsed > self.options.settle_time and (
            self._free or elapsed >= self._length)

    def _is_late(self, measured: Measurement) -> bool:
        more = 0.0 if self._free else self.options.motion_timeout
        return measured.time - self._since > self._length + more

    def _lift(self, measured: Measurement) -> list[Action]:
        if self._simulated and measured.T_palm_object is None:
            return self._fail(Status.HAND_LOST, 'nobody tells the pose of the lifted object')
        if self._held_pose is not None:
            moved = measured.T_palm_object[:3, 3] - self._held_pose[:3, 3]
            self.slip = float(np.linalg.norm(moved))
        wrong = self._watch.holding_fault(measured)
        if wrong:
            return self._give_back(wrong, MovePalm(0.0))
        if self.slip > self.options.slip_tolerance:
            return self._slid(self.slip, 'lifted', self._watch.largest_grip, MovePalm(0.0))
        if self._rests(measured):
            self.lifted = True
            return self._finish(measured) if self.plan.way is None else self._begin_way(measured)
        if self._is_late(measured):
            return self._fail(Status.TIMED_OUT, 'the palm did not rise in time')
        return _sent(self._watch.keep_pressing(measured), measured)

    def _begin_way(self, measured: Measurement) -> list[Action]:
        """Let joints, forces and arm follow the object's way; a free palm is led step by step."""
        arm = [] if self.plan.arm is None else self._send_arm(CARRY, Phase.CARRYING, measured)
        if self.plan.arm is None:
            self._enter(Phase.CARRYING, measured, self.plan.way.length)
        self._held_pose, self.slip, self.turn = measured.T_palm_object, np.nan, np.nan
        return [*arm, *_sent(self._watch.carry(measured), measured)]

    def _carry(self, measured: Measurement) -> list[Action]:
        elapsed, way = measured.time - self._since, self.plan.way
        if self._held_pose is not None:
            if measured.T_palm_object is None:
                return self._fail(Status.HAND_LOST, 'nobody tells the pose of the carried object')
            slip, turn = way.deviation(elapsed, self._held_pose, measured.T_palm_object)
            self.slip, self.turn = np.fmax(self.slip, slip), np.fmax(self.turn, turn)
            if slip > self.options.slip_tolerance:
                return self._slid(
                    slip, f'carried, {100.0 * self.progress:.0f} % of the way done',
                    self._watch.largest_grip, MovePalm(0.0, way.palm(elapsed)))
        wrong = self._watch.holding_fault(measured)
        if wrong:
            return self._give_back(wrong, MovePalm(0.0, way.palm(elapsed)))
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
            if self._free else []

    def _finish_way(self, measured: Measurement) -> list[Action]:
        if not self._carries or not self.plan.wishes.release:
            return self._finish(measured)
        return self._move(LOWER, Phase.SETTING_DOWN, measured,
                          MovePalm(0.0, self.plan.way.palm(self.plan.way.length)))

    def _set_down(self, measured: Measurement) -> list[Action]:
        if wrong := self._set_down_fault(measured):
            return self._fail(Status.SLIPPED, wrong)
        if self._rests(measured):
            return [SetDown(), *self._finish(measured)]
        if self._is_late(measured):
            return self._fail(Status.TIMED_OUT, 'the palm did not sink in time')
        return _sent(self._watch.keep_pressing(measured), measured)

    def _set_down_fault(self, measured: Measurement) -> str:
        """Return that the object has slipped, or ''; what pads cannot tell any more is noted."""
        self.message = self.message or self._watch.holding_fault(measured)
        if self._lowered_pose is None:
            self._lowered_pose = measured.T_palm_object
        if self._lowered_pose is None or measured.T_palm_object is None or self.status:
            return ''
        slip = float(np.linalg.norm(measured.T_palm_object[:3, 3] - self._lowered_pose[:3, 3]))
        self.slip = float(np.fmax(self.slip, slip))
        return '' if slip <= self.options.slip_tolerance else (
            f'the object moved {1e3 * slip:.1f} mm in the hand while it was set down')

    def _retreat(self, measured: Measurement) -> list[Action]:
        if self._rests(measured):
            self.phase = Phase.DONE
        elif self._is_late(measured):
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
            if self._backs_off:
                return self._back_off(measured)
            if self.carried and self._carries and self.status == Status.SUCCEEDED:
                return self._move(
                    RETREAT, Phase.RETREATING, measured,
                    MovePalm(0.0, self.plan.way.palm(self.plan.way.length), back=True))
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


def _sent(remaining: tuple[Array, Array] | None, measured: Measurement) -> list[Action]:
    """Return the action that sends rows, if there are any; they begin at the measurement."""
    return [] if remaining is None else [SendRows(*remaining, measured.time)]
