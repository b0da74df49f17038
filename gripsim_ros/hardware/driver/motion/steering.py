"""
Velocities that somebody sends one by one, for as long as they come.

The firmware has no watchdog, so that they end here: where none comes for a while, where a joint
could not brake before its limit, and where links could not before they meet.
"""

import time

import numpy as np
from numpy.typing import NDArray

from ..link.errors import UnsafeError
from ..link.joint_controller import SdhHand
from ..options import MotionOptions
from .follower import CyclePeriod, check_axes
from .safety import SafetyChecker

Array = NDArray[np.float64]

#: What is tried of the velocities asked for where links come near each other.
SHARES = (1.0, 0.5, 0.25)


class Steering:
    """
    Lets the hand turn as it is told; used by the session's thread alone.

    Parameters
    ----------
    hand : SdhHand
        In velocity control, at rest.
    checker : SafetyChecker
    options : MotionOptions
    accelerations : (J,) float
        By which a joint brakes at least [rad/s^2].
    """

    def __init__(self, hand: SdhHand, checker: SafetyChecker, options: MotionOptions,
                 accelerations: Array) -> None:
        """Turn nothing yet."""
        self._hand, self._checker, self._options = hand, checker, options
        self._accelerations, self._cycle = accelerations, CyclePeriod(1.0 / options.rate)
        self._made = self._asked = time.monotonic()
        self._wanted = np.zeros(len(accelerations))

    def ask(self, velocities: Array) -> None:
        """Take the velocities (J,) [rad/s] that are wanted from now on."""
        self._wanted, self._asked = velocities, time.monotonic()

    def advance(self, positions: Array, states: NDArray[np.int64], states_time: float) -> bool:
        """
        Send the velocities of the next cycle; return whether none are asked for any more.

        Parameters
        ----------
        positions : (J,) float
            [rad].
        states : (J,) int
            Of the axes; those from before this began do not count.
        states_time : float
            When they were asked for, by the steady clock [s].

        Raises
        ------
        StateError
            An axis is switched off.
        """
        if states_time >= self._made:
            check_axes(states)
        now = self._cycle.renew()
        if now - self._asked > self._options.velocity_timeout:
            self._hand.drive(np.zeros(len(positions)))
            return True
        self._hand.drive(self._safe(positions, self._braked(positions, self._wanted)))
        return False

    def _braked(self, positions: Array, velocities: Array) -> Array:
        """
        Return velocities from which each joint comes to rest before its limit.

        A joint goes on for two cycles before it brakes: one until the next measurement, one
        until what is sent then acts. It rests ``limit_slack`` before, since angles are told with
        one decimal of a degree.
        """
        lag = 2.0 * self._cycle.seconds * self._accelerations
        room = np.where(velocities > 0.0, self._checker.upper - positions,
                        positions - self._checker.lower) - self._options.limit_slack
        most = np.sqrt(lag ** 2 + 2.0 * self._accelerations * np.maximum(room, 0.0)) - lag
        return np.clip(velocities, -most, most)

    def _safe(self, positions: Array, velocities: Array) -> Array:
        """Return as much of the velocities as leaves room to brake before links meet."""
        for share in SHARES:
            some = share * velocities
            way = some * (2.0 * self._cycle.seconds + 0.5 * np.abs(some) / self._accelerations)
            try:
                self._checker.check_path(np.stack([positions, positions + way]))
            except UnsafeError:
                continue
            return some
        return np.zeros(len(positions))
