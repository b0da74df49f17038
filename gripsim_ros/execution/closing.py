"""Fingers while they close: which have reached their force, lag behind, or miss their contact."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .plan import ExecutionOptions, ExecutionPlan, FingerPlan

if TYPE_CHECKING:
    from .machine import Measurement

Array = NDArray[np.float64]

#: Slowest pace at which the hand is shaped or opened [rad/s].
LEAST_SPEED = 0.5


class FingerWatch:
    """Watches all fingers of an execution from the start of closing on."""

    def __init__(self, plan: ExecutionPlan, options: ExecutionOptions) -> None:
        """Nothing has stopped yet."""
        self._plan, self._options = plan, options
        self._start = 0.0
        self._frozen: dict[int, float] = {}
        self._stopped: set[str] = set()
        self._stopped_at = np.inf
        self._wrong_since: float | None = None
        steps = np.abs(np.diff(plan.rows, axis=0)).max(axis=1) / np.diff(plan.times)
        self.speed = max(LEAST_SPEED, float(steps.max()))

    def start(self, measured: Measurement) -> None:
        """Closing begins."""
        self._start = measured.time

    def setpoint(self, time: float) -> Array:
        """Return where the joints are sent (J,) at a time [rad]; stopped fingers rest."""
        wanted = self._plan.setpoint(time - self._start)
        for joint, angle in self._frozen.items():
            wanted[joint] = angle
        return wanted

    def stop_fingers(self, measured: Measurement) -> tuple[Array, Array] | None:
        """
        Stop the fingers that press as planned; return the rows and times left, or None.

        A finger stops where it was *sent* at the time of the measurement: under position
        control its force is that of the set-point.
        """
        fresh = [finger for finger in self._plan.fingers if finger.name not in self._stopped
                 and finger.force > 0.0 and self._force(finger, measured)
                 >= self._options.force_factor * finger.force]
        if not fresh:
            return None
        wanted = self.setpoint(measured.time)
        for finger in fresh:
            self._stopped.add(finger.name)
            self._frozen.update((joint, wanted[joint]) for joint in finger.joints)
        if all(f.name in self._stopped for f in self._plan.fingers if f.force > 0.0):
            self._stopped_at = measured.time
        return self._remaining(measured.time)

    def _remaining(self, time: float) -> tuple[Array, Array]:
        """Return the rows (m, J) still to come and their times (m,) from now."""
        elapsed = time - self._start
        ahead = self._plan.times > elapsed + 1e-6
        if not ahead.any():
            return self.setpoint(time)[None], np.array([self._options.lag_time])
        rows = self._plan.rows[ahead].copy()
        for joint, angle in self._frozen.items():
            rows[:, joint] = angle
        return rows, self._plan.times[ahead] - elapsed

    def _force(self, finger: FingerPlan, measured: Measurement) -> float:
        return sum(measured.forces.get(link, 0.0) for link in finger.links)

    def finished(self, measured: Measurement) -> bool:
        """Return whether all fingers have stopped, or arrived, and come to rest."""
        end = min(self._start + float(self._plan.times[-1]), self._stopped_at)
        return measured.time >= end + self._options.settle_time

    def lagging(self, measured: Measurement) -> str:
        """Return joints that stay behind although their finger touches nothing, or ''."""
        error = np.abs(measured.joints - self.setpoint(measured.time))
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

    def missed(self, measured: Measurement) -> list[str]:
        """Return the links that can feel and do not feel their planned contact."""
        return [contact.link for contact in self._plan.contacts
                if contact.force > 0.0
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
