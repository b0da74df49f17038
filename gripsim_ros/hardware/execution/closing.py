"""Fingers while they close: which have reached their force, lag behind, or miss their contact."""

import numpy as np
from numpy.typing import NDArray

from .feeling.rate import NewsRate
from .measurement import Measurement
from .plan import ExecutionOptions, ExecutionPlan, FingerPlan

Array = NDArray[np.float64]

#: Slowest pace at which the hand is shaped or opened [rad/s].
LEAST_SPEED = 0.5
#: Joints slower than this rest [rad/s].
REST_SPEED = 0.03
#: Least time between two rows that are sent [s].
SHORTEST = 0.01
#: A finger that the way needs no more rests with this [N].
LEAST_FORCE = 1e-3


class _Way:
    """How far along the plan a finger is: it may stop and go on later."""

    def __init__(self) -> None:
        self.paused = self._reached = 0.0
        self._stop: float | None = None

    @property
    def stopped(self) -> bool:
        return self._stop is not None

    def along(self, elapsed: float) -> float:
        """Return the time in the plan so long after the start [s]."""
        return elapsed - self.paused if self._stop is None else self._stop

    def times(self, planned: Array) -> Array:
        """Return when the plan's rows come, after the start [s]."""
        return planned + self.paused if self._stop is None else planned[:0]

    def stop(self, elapsed: float) -> bool:
        """Stop where it was so long after the start, but not before an earlier stop."""
        self._stop = self._reached = max(self._reached, self.along(elapsed))
        return True

    def go_on(self, elapsed: float) -> bool:
        self.paused, self._stop = elapsed - self._stop, None
        return True


class FingerWatch:
    """Watches all fingers of an execution from the start of closing on."""

    def __init__(self, plan: ExecutionPlan, options: ExecutionOptions) -> None:
        """Nothing has stopped yet."""
        self._plan, self._options = plan, options
        self.joint_news, self.pad_news = NewsRate(), NewsRate()
        self._start = 0.0
        self._way = {finger.name: _Way() for finger in plan.fingers}
        self._stopped_at = np.inf
        self._wrong_since: float | None = None
        self._carried_from: float | None = None
        self._before: Measurement | None = None
        self.notes: list[str] = []          # what the result is to tell
        self.given_up: set[str] = set()     # links whose contact is not expected any more
        self._moved, self._closing = False, np.sign(plan.rows[-1] - plan.rows[0])
        self._sent_at, self._stood = 0.0, True      # rows, last; the hand has stood since
        self._pace = np.full(plan.rows.shape[1], np.inf)
        steps = np.abs(np.diff(plan.rows, axis=0)).max(axis=1) / np.diff(plan.times)
        self.speed = max(LEAST_SPEED, float(steps.max()))

    def hear(self, measured: Measurement) -> None:
        """Note how often joints and pads tell something; to be called with every measurement."""
        self.joint_news.add(measured.time)
        if measured.forces:
            self.pad_news.add(measured.felt_at)

    def start(self, measured: Measurement) -> tuple[Array, Array]:
        """Closing begins; return the rows (m, J) [rad] to follow and their times (m,) [s]."""
        self._start = self._sent_at = measured.time
        return self._plan.rows, self._plan.times

    def sense(self, measured: Measurement, closing: bool) -> Measurement:
        """Return what is believed of a measurement: here, all that pads tell."""
        return measured

    def setpoint(self, time: float) -> Array:
        """Return where the joints are sent (J,) at a time [rad]; stopped fingers rest."""
        elapsed = time - self._start
        wanted = self._plan.setpoint(elapsed)
        for finger in self._plan.fingers:
            joints = list(finger.joints)
            wanted[joints] = self._plan.setpoint(self._way[finger.name].along(elapsed))[joints]
        way = self._plan.way
        if way is None or self._carried_from is None:
            return wanted
        moves = way.joints + way.presses
        moved: Array = wanted + [np.interp(time - self._carried_from, way.times, column)
                                 for column in moves.T]
        return np.clip(moved, self._plan.lower, self._plan.upper)

    def carry(self, measured: Measurement) -> tuple[Array, Array]:
        """From now on joints and forces follow the object's way; return as ``stop_fingers``."""
        self._carried_from = measured.time
        return self._remaining(measured.time)

    def stop_fingers(self, measured: Measurement) -> tuple[Array, Array] | None:
        """
        Stop fingers that press as planned, let those go on that press less again.

        A finger stops where it was *sent* when its force was felt, however late the news is:
        under position control its force is that of the set-point. The object may yet give
        way to another finger; then it goes on from there.

        Returns
        -------
        (m, J) float, (m,) float
            Rows to follow and their times after the measurement; None where nothing changes.
        """
        return self._press(measured, self._options.force_factor)

    def keep_pressing(self, measured: Measurement) -> tuple[Array, Array] | None:
        """Let fingers go on that press less than planned while they hold; as ``stop_fingers``."""
        return self._press(measured, min(1.0, self._options.force_factor))

    def _press(self, measured: Measurement, least: float) -> tuple[Array, Array] | None:
        elapsed, changed = measured.time - self._start, False
        felt = measured.felt_at - self._start
        pressing = [finger for finger in self._plan.fingers if finger.force > 0.0]
        for finger in pressing:
            planned, way = self._planned(finger, measured.time), self._way[finger.name]
            share = self._force(finger, measured) / planned
            if not way.stopped and share >= self._options.force_factor:
                changed |= way.stop(felt)
            elif way.stopped and share < least:
                changed |= way.go_on(elapsed)
        if not all(self._way[finger.name].stopped for finger in pressing) or not pressing:
            self._stopped_at = np.inf
        elif np.isinf(self._stopped_at):
            self._stopped_at = measured.time
        return self._remaining(measured.time) if changed else None

    def _remaining(self, time: float) -> tuple[Array, Array]:
        """Return the rows (m, J) still to come and their times (m,) from ``time`` on."""
        elapsed, plan = time - self._start, self._plan
        self._sent_at, self._moved, self._stood = time, False, False
        times = np.unique(np.round(np.concatenate(
            [[elapsed + SHORTEST], *(way.times(plan.times) for way in self._way.values()),
             plan.times, self._carrying_times()]), 6))
        times = times[times >= elapsed + SHORTEST - 1e-6]
        return np.array([self.setpoint(self._start + t) for t in times]), times - elapsed

    def _carrying_times(self) -> Array:
        """Return when the steps of the object's way come, after the start of closing [s]."""
        if self._plan.way is None or self._carried_from is None:
            return np.zeros(0)
        return self._plan.way.times + self._carried_from - self._start

    def _planned(self, finger: FingerPlan, time: float) -> float:
        """Return what a finger is planned to press with at a time [N]."""
        way = self._plan.way
        if way is None or self._carried_from is None:
            return finger.force
        elapsed = time - self._carried_from
        return max(LEAST_FORCE, sum(float(np.interp(elapsed, way.times, way.forces[link]))
                                    for link in finger.links if link in way.forces))

    def finger_forces(self, measured: Measurement) -> tuple[Array, Array]:
        """Return planned and felt forces (n,) [N] of the plan's pressing fingers; NaN: unknown."""
        pressing = [finger for finger in self._plan.fingers if finger.force > 0.0]
        return (np.array([self._planned(finger, measured.time) for finger in pressing]),
                np.array([self._force(finger, measured)
                          if any(link in measured.forces for link in finger.links) else np.nan
                          for finger in pressing]))

    def _force(self, finger: FingerPlan, measured: Measurement) -> float:
        return sum(measured.forces.get(link, 0.0) for link in finger.links)

    def finished(self, measured: Measurement) -> bool:
        """Return whether all fingers have stopped, or arrived, and come to rest."""
        last = self._plan.times[-1] + max(
            0.0 if way.stopped else way.paused for way in self._way.values())
        latest = self._start + float(self._plan.times[-1]) + self._options.motion_timeout
        end = min(self._start + float(last), self._stopped_at, latest)
        rests = self._pace.max() < REST_SPEED or measured.time >= latest
        known = min(measured.time, measured.felt_at)        # old news of forces prove nothing
        return bool(rests) and known >= end + self._options.settle_time

    def observe(self, measured: Measurement) -> None:
        """Note how fast the joints are; to be called with every measurement of closing."""
        before, self._before = self._before, measured
        if before is not None and measured.time > before.time:
            speeds = (measured.joints - before.joints) / (measured.time - before.time)
            self._pace = np.abs(speeds)
            self._stood |= bool(self._pace.max() < REST_SPEED)
            goes_on = self._stood or measured.time >= self._sent_at + self._options.lag_time
            self._moved |= goes_on and bool((speeds * self._closing).max() >= REST_SPEED)

    def lagging(self, measured: Measurement) -> str:
        """
        Return joints that rest off their way although their finger touches nothing, or ''.

        One that still moves is late, not blocked: a hand has ramps of its own. While it stands
        with all joints since it was sent somewhere last, the hand may not yet have heard where;
        to obey new rows it stops.
        """
        standing = self._stood and not self._moved
        if standing and measured.time < self._sent_at + self._options.start_time:
            return ''
        error = np.abs(measured.joints - self.setpoint(measured.time))
        error[self._pace >= REST_SPEED] = 0.0
        for finger in self._plan.fingers:
            if self._may_touch(finger, measured):
                error[list(finger.joints)] = 0.0
        wrong = error.max() > self._options.joint_tolerance
        return self.joints_text(error) if self._lasts(wrong, measured.time) else ''

    def _may_touch(self, finger: FingerPlan, measured: Measurement) -> bool:
        """Return whether a finger feels something, or cannot tell and is planned to touch."""
        known = [measured.forces[link] for link in finger.links if link in measured.forces]
        if not known:
            return finger.force > 0.0
        return sum(known) > self._options.touch_force

    def _lasts(self, wrong: bool, time: float) -> bool:
        """Return whether something has been wrong for long enough."""
        if not wrong:
            self._wrong_since = None
            return False
        if self._wrong_since is None:
            self._wrong_since = time
        return time - self._wrong_since >= self._options.lag_time

    def hold(self) -> None:
        """Closing is over: forget what was wrong until now."""
        self._wrong_since = None

    def holding_fault(self, measured: Measurement) -> str:
        """Return why the object cannot be held on, or '': nothing is felt here that tells."""
        return ''

    @property
    def largest_grip(self) -> str:
        """Return at which grip the object slips, where it is the largest, or '': not known."""
        return ''

    def missed(self, measured: Measurement) -> list[str]:
        """Return the links that can feel and do not feel their planned contact."""
        return [contact.link for contact in self._plan.contacts
                if contact.force > 0.0 and contact.link not in self.given_up
                and measured.forces.get(contact.link, np.inf) < self._options.touch_force]

    def lost(self, measured: Measurement) -> str:
        """Return the links whose contact has been gone for long enough, or ''."""
        missed = self.missed(measured)
        return ', '.join(missed) if self._lasts(bool(missed), measured.time) else ''

    def joints_text(self, error: Array) -> str:
        """Return which joints are off and by how much."""
        off = np.flatnonzero(error > self._options.joint_tolerance)
        names = self._plan.joint_names
        return ', '.join(f'{names[joint]} is off by {error[joint]:.3f} rad' for joint in off)
