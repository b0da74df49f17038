"""
Fingers while they seek: what they believe, and that they wait where they touch.

A finger goes on until its pads, or motors in place of them, tell of a touch, and waits there for
the others; while pads are silent all wait.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..closing import FingerWatch
from ..feeling.motors import LOW_SHARE, MotorSense, TOUCH_SHARE
from ..feeling.rate import SLACK, slower_for_late
from ..measurement import Measurement
from ..plan import ExecutionOptions, ExecutionPlan, FingerPlan

Array = NDArray[np.float64]

#: A finger that waits is pressed by this share of its planned force at most, or of what those that
#: go on are to press with, over so many measurements, beyond what it felt when it began to wait.
WAITING_SHARE, WAITING_COUNT = 0.6, 5
#: Fingers do not go on by forces that were felt longer ago than this [s].
STALE = 0.15
#: A finger waits no farther than this beyond where it is [rad].
AHEAD = 2e-3
#: A finger no farther than this from the end of its rows has gone them [rad].
ARRIVED = 5e-3
#: While it closes, a hand is slowed down by this factor at least: to be sent anew, it stops.
ANEW = 1.5
#: A joint that is early or late by more than this is told [rad].
NOTED = 0.03


class SeekingWatch(FingerWatch):
    """
    Watches all fingers of an execution that closes by touch, until all of them touch.

    Parameters
    ----------
    plan : ExecutionPlan
        With ``touch``.
    options : ExecutionOptions
    """

    def __init__(self, plan: ExecutionPlan, options: ExecutionOptions) -> None:
        """Nothing has touched yet."""
        touch = plan.touch
        super().__init__(replace(plan, rows=touch.rows, times=touch.times), options)
        self._touch = touch
        self._pressing = [finger for finger in plan.fingers if finger.force > 0.0]
        self._touched = {finger.name: 0.0 for finger in self._pressing}     # felt first [N]
        self._loads, self._fault, self._pushed = False, '', 0
        self._slower, self._pace_note = 1.0, ''
        self._paused: set[str] = set()          # fingers that wait for news of their pads
        self._silent_since: float | None = None
        self._has_felt: set[str] = set()        # fingers of whose pads there was news
        self._motors = MotorSense(plan.fingers, {
            contact.link: contact.force for contact in plan.contacts}, plan.torques)
        self._by_motors: set[str] = set()       # fingers whose motors tell in place of their pads
        self._let_go = False                    # all fingers have lost what they touched

    # -- what is believed ------------------------------------------------------------

    def sense(self, measured: Measurement, closing: bool) -> Measurement:
        """
        Return a measurement in which motors stand for pads that are not there, or not believed.

        Whose pads are believed is judged while the hand is ``closing`` alone: once it holds, the
        load on a finger is in its torques too.
        """
        believed, self._by_motors = measured, set()
        self._note_let_go(measured)
        for finger in self._pressing:
            force = self._motor_force(finger, measured)
            if force is None:
                continue
            if self._is_blind(finger, measured):
                if finger.name not in self._has_felt:
                    self._instead(finger.name, 'has no pad that tells')
            elif closing and not self._let_go and self._motors.doubt(
                    finger, self._force(finger, measured), force, measured):
                self._instead(finger.name, 'has a pad that tells too little')
            if finger.name in self._motors.believed_instead:
                self._by_motors.add(finger.name)
                believed = self._motors.put(believed, finger, force)
        return believed

    def _note_let_go(self, measured: Measurement) -> None:
        """
        Note that neither pads nor motors felt anything since pads last did, once all had touched.

        The object has gone then, and what motors tell later is of fingers that meet each other.
        """
        if not self._loads:
            return
        motors = [self._motor_force(finger, measured) or 0.0 for finger in self._pressing]
        nothing = all(force < LOW_SHARE * finger.force
                      for finger, force in zip(self._pressing, motors))
        feels = any(self._force(finger, measured) >= self._options.touch_force
                    for finger in self._pressing)
        self._let_go = not feels and (self._let_go or nothing)

    def _motor_force(self, finger: FingerPlan, measured: Measurement) -> float | None:
        """Return what a finger presses with by its motors [N], None where they cannot tell."""
        way, seeks = self._way[finger.name], not self._loads
        if seeks and not way.stopped:
            slowly = self._options.touch_beyond / self._options.touch_speed
            since = way.along(measured.time - self._start) - self._touch.closed_time + slowly
            self._motors.note_free(finger, measured, since)
        return self._motors.force(finger, measured, seeks and not way.stopped)

    def _instead(self, name: str, why: str) -> None:
        """From now on a finger's motors count, in place of its pads."""
        if name not in self._motors.believed_instead:
            self._motors.believed_instead[name] = why
            self.notes.append(f"{name} {why}: its motors' torque counts")

    def differences(self, measured: Measurement) -> list[str]:
        """Return which pads and motors differ; to be asked once fingers rest."""
        return list(filter(None, (
            self._motors.differs(finger, self._force(finger, measured), measured)
            for finger in self._pressing if not self._is_blind(finger, measured))))

    # -- how fast --------------------------------------------------------------------

    def start(self, measured: Measurement) -> tuple[Array, Array]:
        """Closing begins, as slowly as pads tell what they feel; return as ``FingerWatch``."""
        self._slow_down(-np.inf, 1.0 + SLACK)
        return super().start(measured)

    def _slow_down(self, elapsed: float, least: float) -> bool:
        """Go slower from a time after the start on [s] if news is rare or late; return whether."""
        speed, period = self._options.touch_speed, self.pad_news.period
        late = max(self.pad_news.longest, self.joint_news.longest)
        rare, slower = self.pad_news.slower(speed), slower_for_late(speed, late)
        if max(rare, slower) < least * self._slower:
            return False
        why = (f'pads tell {1.0 / period:.0f} times a second' if rare >= slower
               else f'news comes up to {late:.2f} s late')
        self._touch = self._touch.slowed(max(rare, slower) / self._slower, elapsed)
        self._plan = replace(self._plan, rows=self._touch.rows, times=self._touch.times)
        self._slower = max(rare, slower)
        self.notes = [*(note for note in self.notes if note != self._pace_note),
                      f'{why}: closed at {speed / self._slower:.2g} rad/s']
        self._pace_note = self.notes[-1]
        return True

    # -- seeking ---------------------------------------------------------------------

    def stop_fingers(self, measured: Measurement) -> tuple[Array, Array] | None:
        """Let fingers wait that touch, or that cannot tell and are where they were planned."""
        elapsed = measured.time - self._start
        changed = elapsed >= self._touch.near_time and self._slow_down(elapsed, ANEW)
        changed |= self._wait_for_news(measured)
        for finger in self._pressing:
            way = self._way[finger.name]
            if way.stopped:
                continue
            if self._is_blind(finger, measured):
                if elapsed >= self._touch.closed_time:
                    changed |= way.stop(self._touch.closed_time)
                    self.notes.append(f'{finger.name} cannot feel: closed by angle alone')
            elif self._force(finger, measured) >= self._least_touch(finger):
                felt = measured.felt_at - self._start
                changed |= way.stop(min(felt, way.paused + self._obeyed(finger, measured)))
                self._touched[finger.name] = self._force(finger, measured)
                self._note_touch(finger, way.along(elapsed))
        self._look_for_push(measured)
        return self._remaining(measured.time) if changed else None

    def _obeyed(self, finger: FingerPlan, measured: Measurement) -> float:
        """
        Return up to which time in the plan [s] a finger has gone, and ``AHEAD`` of it.

        A hand that begins late, or is busy, is behind what it was sent. Were that what the
        finger waits at, it would go there yet, and press.
        """
        rows, times = self._plan.rows, self._plan.times
        gone = [np.interp(sign * measured.joints[joint] + AHEAD,
                          np.maximum.accumulate(sign * rows[:, joint]), times)
                for joint in finger.joints for sign in [self._closing[joint]] if sign]
        return float(max(gone, default=np.inf))

    def _least_touch(self, finger: FingerPlan) -> float:
        """Return the force that counts as touch [N]: motors tell less finely than pads."""
        motors = TOUCH_SHARE * finger.force if finger.name in self._by_motors else 0.0
        return max(motors, self._options.touch_force)

    def _is_silent(self, measured: Measurement) -> bool:
        """Return whether a pad tells nothing new that told something before; note for how long."""
        blind = {f.name for f in self._pressing if self._is_blind(f, measured)}
        self._has_felt |= {f.name for f in self._pressing} - blind - self._by_motors
        silent = bool(self._has_felt & blind) or (
            bool(self._has_felt) and measured.time - measured.felt_at > STALE)
        if not silent:
            self._silent_since = None
        elif self._silent_since is None:
            self._silent_since = measured.time
        if silent and measured.time - self._silent_since >= self._options.lag_time:
            self._fault = self._fault or 'the pads are silent: nobody knows how hard it presses'
        return silent

    def _wait_for_news(self, measured: Measurement) -> bool:
        """Let fingers wait while pads are silent, and go on after it; return if that changes."""
        elapsed = measured.time - self._start
        if self._is_silent(measured):
            going = {f.name for f in self._pressing if not self._way[f.name].stopped}
            self._paused |= going
            return any([self._way[name].stop(elapsed) for name in going])
        waited, self._paused = self._paused, set()
        return any([self._way[name].go_on(elapsed) for name in waited])

    def _note_touch(self, finger: FingerPlan, along: float) -> None:
        joints = list(finger.joints)
        off = (self._plan.setpoint(along) - self._plan.closed)[joints] * self._closing[joints]
        worst = off[np.abs(off).argmax()]
        if abs(worst) > NOTED:
            self.notes.append(f'{finger.name} touched {abs(worst):.2f} rad '
                              f'{"late" if worst > 0.0 else "early"}')

    def _is_blind(self, finger: FingerPlan, measured: Measurement) -> bool:
        """Return whether nothing is known of what a finger feels."""
        return not any(link in measured.forces for link in finger.links)

    def _look_for_push(self, measured: Measurement) -> None:
        """Note a fault where fingers that wait are pressed while others still feel nothing."""
        going = [f.name for f in self._pressing if not self._way[f.name].stopped]
        # Who goes on is what presses: by no more, then, than that is to press itself.
        most = sum(f.force for f in self._pressing if f.name in going)
        pushed = [f.name for f in self._pressing if f.name not in going
                  and self._force(f, measured) - self._touched[f.name]
                  > WAITING_SHARE * min(f.force, most)]
        self._pushed = self._pushed + 1 if going and pushed else 0
        if self._pushed >= WAITING_COUNT:
            self._fault = (f'{", ".join(pushed)} is pressed while {", ".join(going)} feels '
                           'nothing: a silent pad, or another link touches')

    @property
    def all_touch(self) -> bool:
        """Return whether every finger that is to press waits for the others."""
        return not self._paused and all(
            self._way[finger.name].stopped for finger in self._pressing)

    def seeking_fault(self, measured: Measurement) -> str:
        """Return why seeking has failed, or ''."""
        since = measured.felt_at - self._start
        left = since - self._touch.times[-1] - self._options.settle_time
        if self._fault or left < 0.0 or self.all_touch or (
                left < self._options.start_time and self._on_its_way(measured)):
            return self._fault
        untouched = [f.name for f in self._pressing if not self._way[f.name].stopped]
        return (f'{", ".join(untouched)} found nothing up to {self._options.touch_beyond:g} rad '
                'behind where it was planned to touch')

    def _on_its_way(self, measured: Measurement) -> bool:
        """Return whether a finger that is to go on is not yet where it was sent: a late hand."""
        off = np.abs(measured.joints - self._plan.rows[-1])
        return any((off[list(f.joints)] > ARRIVED).any() for f in self._pressing
                   if not self._way[f.name].stopped)

    @property
    def unfound(self) -> list[str]:
        """Return the fingers that have found nothing, where the pads can be trusted."""
        return [] if self._fault else [
            f.name for f in self._pressing if not self._way[f.name].stopped]

    def give_up(self, names: Sequence[str], measured: Measurement) -> None:
        """Go on without fingers: they stay where they are, and nothing is expected of them."""
        for finger in [f for f in self._pressing if f.name in names]:
            self._pressing.remove(finger)
            self._way[finger.name].stop(measured.time - self._start)
            self.given_up |= set(finger.links)
