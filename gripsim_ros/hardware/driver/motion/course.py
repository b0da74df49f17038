"""
Trajectories in time: where the hand is to be at every moment, as fast as it can be there.

A curve through the points gives the path and the time wanted for it; a schedule along the path
keeps to that time where velocities and accelerations allow, and is late where they do not. All
joints stay on the path meanwhile.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicHermiteSpline

from .path import STILL, Trajectory, corners, with_lead

Array = NDArray[np.float64]

#: Step of the schedule [s], [rad], and the most steps of one trajectory.
GRID, WAY, MOST_STEPS = 0.004, 0.004, 5000
#: How much faster than asked for the path is gone where it is late, for each second [1/s], and
#: the fastest, as a multiple of what was asked for.
CATCH_UP, FASTEST = 5.0, 3.0
#: A change of velocity below this is no corner [rad/s].
NO_CORNER = 1e-6
#: Roundings of two corners leave this share of the line between them.
LINE_LEFT = 0.02


@dataclass(frozen=True, eq=False)
class Course:
    """
    Where the joints are at each time after the start.

    Attributes
    ----------
    times, wanted : (n,) float
        When the hand is at each place of the path, and when it was to be there [s].
    rates : (n,) float
        How fast the path is gone, as a share of what was asked for.
    curve : CubicHermiteSpline
        Positions (J,) by the time wanted [rad].
    """

    times: Array
    wanted: Array
    rates: Array
    curve: CubicHermiteSpline

    @property
    def duration(self) -> float:
        """Return how long it takes [s]."""
        return float(self.times[-1])

    @property
    def behind(self) -> float:
        """Return by how much a joint is behind its time at most [rad]."""
        last = self.wanted[-1]
        return float(np.abs(self.curve(np.minimum(self.times, last))
                            - self.curve(self.wanted)).max())

    def at(self, time: float) -> Array:
        """Return the positions (J,) [rad] at a time after the start [s], also after the end."""
        return self.curve(np.interp(time, self.times, self.wanted))

    def corners(self, tolerance: float, begin: float = 0.0) -> Array:
        """Return ``(n, J)`` points between which it is straight within a tolerance [rad]."""
        left = self.wanted[self.times >= min(begin, self.duration)]
        points = self.curve(left)
        return points[corners(np.arange(len(left), dtype=float), points, tolerance)]


def plan_course(start: Array, trajectory: Trajectory, tolerance: float, velocities: Array,
                accelerations: Array) -> Course:
    """
    Return the course of a trajectory from rest to rest.

    Parameters
    ----------
    start : (J,) float
        Where the hand is [rad].
    trajectory : Trajectory
        With velocities at its points, cubic between them; without, straight, and its corners
        rounded.
    tolerance : float
        By how much a rounded corner may be missed [rad].
    velocities, accelerations : (J,) float
        Limits [rad/s], [rad/s^2].

    Notes
    -----
    The schedule is the fastest by limits of acceleration along the path, found backwards from
    rest at the end, and not faster than asked for but where it is late. Source: Bobrow, Dubowsky
    and Gibson 1985. Departs: on a grid, and limits of acceleration hold where the grid looks.
    """
    led = with_lead(start, trajectory, velocities, accelerations)
    curve = _curve(led, tolerance)
    length = float(led.times[-1])
    way = np.abs(np.diff(led.points, axis=0)).sum(axis=0).max()
    count = min(max(math.ceil(length / GRID), math.ceil(way / WAY), 1), MOST_STEPS)
    wanted = np.linspace(0.0, length, count + 1)
    times, rates = _schedule(curve, wanted, velocities, accelerations)
    return Course(times, wanted, rates, curve)


def _curve(trajectory: Trajectory, tolerance: float) -> CubicHermiteSpline:
    """Return the curve through the points of a trajectory that begins at time 0."""
    times, points = trajectory.times, trajectory.points
    if len(times) == 1:
        return CubicHermiteSpline([0.0, 1.0], points[[0, 0]], np.zeros((2, points.shape[1])))
    if trajectory.velocities is not None:
        return CubicHermiteSpline(times, points, trajectory.velocities)
    steps = np.diff(times)
    slopes = np.diff(points, axis=0) / steps[:, None]
    knots, places, turns = [times[0]], [points[0]], [slopes[0]]
    for i, turn in enumerate(np.abs(np.diff(slopes, axis=0)).max(axis=1), start=1):
        if turn < NO_CORNER:
            continue
        half = min(0.5 * (1.0 - LINE_LEFT) * min(steps[i - 1], steps[i]), 4.0 * tolerance / turn)
        for side, slope in ((-half, slopes[i - 1]), (half, slopes[i])):
            knots.append(times[i] + side)
            places.append(points[i] + side * slope)
            turns.append(slope)
    return CubicHermiteSpline([*knots, times[-1]], [*places, points[-1]], [*turns, slopes[-1]])


def _schedule(curve: CubicHermiteSpline, wanted: Array, velocities: Array,
              accelerations: Array) -> tuple[Array, Array]:
    """Return when the hand is at each place of the path [s], and its rates there."""
    step = wanted[1] - wanted[0]
    if step <= 0.0:
        return np.zeros(len(wanted)), np.zeros(len(wanted))
    middle = 0.5 * (wanted[1:] + wanted[:-1])
    slope, turn = np.abs(curve(middle, 1)), np.abs(curve(middle, 2))
    with np.errstate(divide='ignore', over='ignore'):
        fastest = np.minimum((velocities / slope).min(axis=1),
                             np.sqrt((accelerations / turn).min(axis=1)))
    most = np.minimum(fastest, FASTEST) ** 2
    most = np.concatenate([most[:1], np.minimum(most[1:], most[:-1]), most[-1:]])

    def growth(k: int, square: float) -> float:
        """Return how much the square of the rate may change over a step."""
        left = (accelerations - turn[k] * square) / np.maximum(slope[k], STILL)
        return 2.0 * step * max(float(left.min()), 0.0)

    most[-1] = 0.0
    for k in reversed(range(len(middle))):
        most[k] = min(most[k], most[k + 1] + growth(k, most[k + 1]))
    times, squares = np.zeros(len(wanted)), np.zeros(len(wanted))
    for k in range(len(middle)):
        late = max(times[k] - wanted[k], 0.0)
        squares[k + 1] = min(squares[k] + growth(k, squares[k]), most[k + 1],
                             (1.0 + CATCH_UP * late) ** 2)
        rate = math.sqrt(squares[k]) + math.sqrt(squares[k + 1])
        times[k + 1] = times[k] + 2.0 * step / max(rate, 1e-3)
    return times, np.sqrt(squares)
