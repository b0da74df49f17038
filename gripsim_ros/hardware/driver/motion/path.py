"""
Trajectories as the hand can carry them out: a few motions, each with one velocity profile.

In pose control all axes start and end together, the slowest sets the time. Each motion is
then a straight line in joint space, and a trajectory is as many as its corners ask for.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..link.errors import UnsafeError

Array = NDArray[np.float64]

#: Joints that move less than this do not move [rad]; the hand knows tenths of degrees.
STILL = 5e-4
#: Least velocity and acceleration that are commanded [rad/s], [rad/s^2].
SLOWEST, SOFTEST = 0.01, 0.05
#: A step goes no farther than this [rad], within this time [s].
MOST_STEP, STEP_TIME = 0.1, 0.1
#: Points of one trajectory.
MOST_POINTS = 10_000


@dataclass(frozen=True, eq=False)
class Trajectory:
    """
    Where the joints are to be and when.

    Attributes
    ----------
    times : (n,) float
        After the start [s], rising.
    points : (n, J) float
        [rad].
    velocities : (n, J) float or None
        At the points [rad/s]; None: straight lines lie between them.
    """

    times: Array
    points: Array
    velocities: Array | None = None


@dataclass(frozen=True, eq=False)
class Segment:
    """
    One motion of the hand.

    Attributes
    ----------
    target : (J,) float
        [rad].
    duration : float
        Wanted [s].
    """

    target: Array
    duration: float


def read_trajectory(joint_names: Sequence[str], here: Array, names: Sequence[str],
                    times: Sequence[float], rows: Sequence[Sequence[float]]) -> Trajectory:
    """
    Return a trajectory of all joints from one of some of them, in any order.

    Parameters
    ----------
    joint_names : sequence of str, (J,)
    here : (J,) float
        Where joints that are not named stay [rad].
    names : sequence of str
    times : sequence of float, (n,)
        After the start [s].
    rows : sequence of sequence of float, (n, len(names))
        [rad].

    Raises
    ------
    UnsafeError
        A name is unknown or comes twice, there are no or too many points, a row has another
        length, a number is not finite, or times do not rise.
    """
    unknown = [name for name in names if name not in joint_names]
    if unknown or len(set(names)) != len(names) or not names:
        raise UnsafeError(f'a trajectory names joints of {list(joint_names)}, each once, '
                          f'got {list(names)}')
    if not 1 <= len(rows) <= MOST_POINTS or len(times) != len(rows):
        raise UnsafeError(f'a trajectory has 1 to {MOST_POINTS} points, got {len(rows)}')
    wrong = [i for i, row in enumerate(rows) if len(row) != len(names)]
    if wrong:
        raise UnsafeError(f'point {wrong[0]} of the trajectory has {len(rows[wrong[0]])} '
                          f'positions for {len(names)} joints')
    points = np.tile(np.asarray(here, float), (len(rows), 1))
    points[:, [list(joint_names).index(name) for name in names]] = np.asarray(rows, float)
    stamps = np.asarray(times, float)
    if not np.isfinite(points).all() or not np.isfinite(stamps).all():
        raise UnsafeError('positions and times of a trajectory must be finite')
    if stamps[0] < 0.0 or (np.diff(stamps) <= 0.0).any():
        raise UnsafeError('the times of a trajectory must rise from 0 on, '
                          f'got {np.round(stamps, 4).tolist()[:8]}')
    return Trajectory(stamps, points)


def is_step(sent: Array, trajectory: Trajectory, tolerance: float) -> bool:
    """
    Return whether a trajectory only goes a little way at once, and stays there.

    Such is a finger's step while it presses: pose control makes it without letting go.

    Parameters
    ----------
    sent : (J,) float
        Where the joints were sent last [rad].
    trajectory : Trajectory
    tolerance : float
        Within which joints stay [rad].
    """
    last = trajectory.points[-1]
    stays = np.abs(trajectory.points[trajectory.times > STEP_TIME] - last).max(initial=0.0)
    return bool(stays <= tolerance and np.abs(last - sent).max() <= MOST_STEP)


def average_velocities(trajectory: Trajectory) -> Array:
    """Return ``(n - 1, J)`` velocities between the points of a trajectory [rad/s]."""
    return np.diff(trajectory.points, axis=0) / np.diff(trajectory.times)[:, None]


def plan_segments(start: Array, trajectory: Trajectory, tolerance: float, velocities: Array,
                  accelerations: Array) -> list[Segment]:
    """
    Return the fewest motions that stay within a tolerance of a trajectory.

    Parameters
    ----------
    start : (J,) float
        Where the hand is [rad].
    trajectory : Trajectory
    tolerance : float
        By how much a joint may be elsewhere at a time [rad].
    velocities : (J,) float
        Limits [rad/s].
    accelerations : (J,) float
        [rad/s^2].

    Returns
    -------
    list of Segment
        The first leads from ``start`` to the first point; where its time is too short for the
        limits it takes longer, and all that follows comes later.

    Notes
    -----
    Corners by Ramer, Douglas and Peucker, over time.
    """
    led = with_lead(start, trajectory, velocities, accelerations)
    times, points = led.times, led.points
    found = corners(times, points, tolerance)
    return [Segment(points[last], float(times[last] - times[first]))
            for first, last in zip(found[:-1], found[1:])] or [Segment(points[-1], 0.0)]


def with_lead(start: Array, trajectory: Trajectory, velocities: Array,
              accelerations: Array) -> Trajectory:
    """Return a trajectory that begins at time 0 where the hand is, at rest; see above."""
    times, points, slopes = trajectory.times, trajectory.points, trajectory.velocities
    if np.abs(points[0] - start).max() <= STILL and times[0] <= 0.0:
        return trajectory
    later = 0.0 if times[0] > 0.0 else shortest_time(points[0] - start, velocities, accelerations)
    return Trajectory(
        np.concatenate([[0.0], times + later]), np.concatenate([start[None], points]),
        None if slopes is None else np.concatenate([np.zeros((1, len(start))), slopes]))


def corners(times: Array, points: Array, tolerance: float) -> list[int]:
    """Return the fewest points whose straight lines stay within a tolerance of all, over time."""
    keep, waiting = {0, len(times) - 1}, [(0, len(times) - 1)]
    while waiting:
        first, last = waiting.pop()
        if last - first < 2:
            continue
        inner = slice(first + 1, last)
        share = (times[inner] - times[first]) / (times[last] - times[first])
        line = points[first] + share[:, None] * (points[last] - points[first])
        errors = np.abs(points[inner] - line).max(axis=1)
        worst = first + 1 + int(np.argmax(errors))
        if errors.max() > tolerance:
            keep.add(worst)
            waiting += [(first, worst), (worst, last)]
    return sorted(keep)


def _rates(distances: Array, velocities: Array, accelerations: Array) -> tuple[float, float]:
    """Return the fastest rate and its growth [1/s], [1/s^2] of a line that ends at 1."""
    d = np.maximum(np.abs(distances), 1e-12)
    return float((velocities / d).min()), float((accelerations / d).min())


def shortest_time(distances: Array, velocities: Array, accelerations: Array) -> float:
    """Return the time that a straight line takes from rest to rest with ramps [s]."""
    if np.abs(distances).max() <= STILL:
        return 0.0
    rate, growth = _rates(distances, velocities, accelerations)
    if rate * rate >= growth:
        return 2.0 / math.sqrt(growth)
    return 1.0 / rate + rate / growth


def ramp_profile(distances: Array, duration: float, velocities: Array,
                 accelerations: Array) -> tuple[Array, Array]:
    """
    Return velocities and accelerations of ramps on a straight line from rest to rest.

    Parameters
    ----------
    distances : (J,) float
        [rad].
    duration : float
        Wanted [s]; where the limits ask for more, it takes longer.
    velocities, accelerations : (J,) float
        Limits [rad/s], [rad/s^2].

    Returns
    -------
    velocities, accelerations : (J,) float
        In the proportion of the distances, so that the joints stay on the line however the
        hand makes them end together; at least ``SLOWEST`` and ``SOFTEST``.

    Notes
    -----
    The plateau of a trapezoid with area 1 is the smaller root of
    ``rate^2 - growth T rate + growth = 0``.
    """
    d = np.abs(distances)
    rate, growth = _rates(distances, velocities, accelerations)
    discriminant = (growth * duration) ** 2 - 4.0 * growth
    if discriminant >= 0.0:
        rate = min(rate, 0.5 * (growth * duration - math.sqrt(discriminant)))
    return (np.minimum(np.maximum(rate * d, SLOWEST), velocities),
            np.minimum(np.maximum(growth * d, SOFTEST), accelerations))
