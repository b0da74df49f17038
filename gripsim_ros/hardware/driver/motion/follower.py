"""
Following a course in time by velocities, which the hand's second velocity controller ramps.

The firmware has no watchdog: an axis turns on until it is told otherwise, or meets its limits.
So whatever ends following sends velocities of zero first.
"""

import math
import time

import numpy as np
from numpy.typing import NDArray

from ..link.errors import StateError
from ..link.joint_controller import SdhHand
from ..link.protocol import BLOCKED, DISABLED, IDLE, NOT_INITIALISED
from ..options import MotionOptions
from .course import Course
from .rota import EVEN, PLAIN
from .safety import SafetyChecker

Array = NDArray[np.float64]

#: Share of an error that is made up for within one cycle, and its fastest [1/s].
SHARE, GAIN = 0.3, 8.0
#: An error beyond this is not made up for faster [rad].
MOST_ERROR = 0.05
#: A period is judged by this many of the last ones, and is at most this long [s].
MEMORY, LONGEST = 5.0, 0.2


def check_axes(states: NDArray[np.int64]) -> None:
    """Raise ``StateError`` where an axis (of J) is switched off, by the states of all."""
    if np.isin(states, (DISABLED, NOT_INITIALISED)).any():
        raise StateError(f'an axis is switched off, states {states.tolist()}')


class CyclePeriod:
    """
    How long a cycle of asking and driving takes, from the last few.

    Parameters
    ----------
    seconds : float
        As far as is known before the first [s].
    """

    def __init__(self, seconds: float) -> None:
        """Wait for the first cycle."""
        self.seconds, self._plain, self._begun = seconds, seconds, math.nan

    def renew(self, loads: tuple[float, float] = EVEN) -> float:
        """
        End a cycle and begin the next; return the time of the steady clock [s].

        ``loads`` are how long the one that ends and the next one are to a plain one.
        """
        now = time.monotonic()
        if not math.isnan(self._begun):
            self._plain += (min((now - self._begun) / loads[0], LONGEST) - self._plain) / MEMORY
        self.seconds, self._begun = loads[1] * self._plain, now
        return now


class Follower:
    """
    One course on its way through the hand; used by the session's thread alone.

    Parameters
    ----------
    hand : SdhHand
        In velocity control, at rest.
    checker : SafetyChecker
    options : MotionOptions
    course : Course
    begin : float
        When the course is to begin, by the steady clock [s].
    answer : float
        How long an answer takes, as far as is known [s].
    accelerations : (J,) float
        Of the ramps of velocity [rad/s^2].

    Attributes
    ----------
    begin : float
        When it begins: not before the first velocities act [s].
    """

    def __init__(self, hand: SdhHand, checker: SafetyChecker, options: MotionOptions,
                 course: Course, begin: float, answer: float, accelerations: Array) -> None:
        """Turn nothing yet."""
        period = min(max(PLAIN * answer, 1.0 / options.rate), LONGEST)
        self._accelerations = accelerations
        self._hand, self._checker, self._options = hand, checker, options
        self._made, self._cycle = time.monotonic(), CyclePeriod(period)
        self._course, self.begin = course, max(begin, self._made + period)
        self._delay, self._begun = 0.5 * answer, False
        self._blocked = np.zeros(len(checker.velocities), bool)

    def advance(self, positions: Array, states: NDArray[np.int64], measured: float,
                states_time: float, loads: tuple[float, float]) -> bool:
        """
        Send the velocities of the next cycle; return whether the course has ended.

        Parameters
        ----------
        positions : (J,) float
            [rad].
        states : (J,) int
            Of the axes.
        measured : float
            When the positions were true, by the steady clock [s].
        states_time : float
            When the states were asked for; those from before this course do not count.
        loads : tuple of float
            Lengths of this cycle and of the next, see ``Rota``.

        Raises
        ------
        StateError
            An axis is switched off.
        UnsafeError
            Joints have left the course, and links would meet on the way back to it.
        """
        if states_time < self._made:
            states = np.full_like(states, IDLE)
        check_axes(states)
        now, period = self._cycle.renew(loads), self._cycle.seconds
        if not self._begun:                     # what else was asked may have taken long
            self.begin, self._begun = max(self.begin, now + self._delay), True
        if now - self.begin >= self._course.duration:
            return True
        errors = self._course.at(measured - self.begin) - positions
        self._check(positions, errors, np.isin(states, BLOCKED), now - self.begin)
        acts = now - self.begin + self._delay
        forward = self._forward(acts, period)
        gain = min(SHARE / period, GAIN)
        # What is in the way of a blocked axis would make its error press ever harder.
        back = gain * np.where(self._blocked, 0.0, np.clip(errors, -MOST_ERROR, MOST_ERROR))
        self._hand.drive(np.clip(forward + back, -self._checker.velocities,
                                 self._checker.velocities))
        self._delay = 0.5 * (time.monotonic() - now)    # half-way from request to answer
        return False

    def _forward(self, acts: float, period: float) -> Array:
        """
        Return the velocities (J,) with which joints go along the course for one cycle [rad/s].

        A change of velocity by d is a ramp of d / a seconds, on which d^2 / (2 a) of the way is
        lost: they make up for it.
        """
        before, here, after = (self._course.at(acts + k * period) for k in (-1.0, 0.0, 1.0))
        change = np.clip((after - 2.0 * here + before) / period,
                         -self._accelerations * period, self._accelerations * period)
        lost = change * np.abs(change) / (2.0 * self._accelerations)
        forward: Array = (after - here + lost) / period
        return forward

    def _check(self, positions: Array, errors: Array, blocked: NDArray[np.bool_],
               elapsed: float) -> None:
        """Look at the way back where joints are off the course: it is not the one checked."""
        newly = (blocked & ~self._blocked).any()
        self._blocked = blocked
        if newly:                               # the others go on, all the way
            left = self._course.corners(0.5 * self._options.path_tolerance, elapsed)
            self._checker.check_path(np.concatenate(
                [positions[None], np.where(blocked, positions, left)]))
        if (np.abs(errors[~blocked]) > self._options.path_tolerance).any():
            there = self._course.at(elapsed + self._cycle.seconds)
            self._checker.check_path(np.stack(
                [positions, np.where(blocked, positions, there)]))
