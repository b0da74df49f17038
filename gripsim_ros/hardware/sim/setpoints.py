"""Set-points of joints that follow timed rows, within the joints' limits."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicHermiteSpline

from ...core.errors import HandError, TaskError

Array = NDArray[np.float64]

#: Rows may leave the joint limits by this much, which is rounding [rad].
LIMIT_SLACK = 1e-6


class LimitedJoints(Protocol):
    """Names, limits [rad] and largest speeds [rad/s] of joints (J,): of a hand or an arm."""

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Return the names."""

    @property
    def joint_lower(self) -> Array:
        """Return the lower limits."""

    @property
    def joint_upper(self) -> Array:
        """Return the upper limits."""

    @property
    def joint_velocities(self) -> Array:
        """Return the largest speeds."""


class SetpointFollower:
    """
    Where the joints are sent, by time [s].

    Between rows set-points go along straight lines, or along cubic curves where the rows have
    velocities; no joint goes faster than its velocity limit, so that rows which ask for more are
    reached late.

    Attributes
    ----------
    setpoints, velocities : (J,) float
        Those of the last time that was asked for [rad], [rad/s].
    """

    def __init__(self, hand: LimitedJoints, setpoints: Array) -> None:
        """Rest at ``setpoints (J,)`` [rad]."""
        self._hand = hand
        self.setpoints = np.array(setpoints, float)
        self.velocities = np.zeros(len(self.setpoints))
        self._last = -np.inf
        self.stop()

    def follow(self, names: Sequence[str], rows: Sequence[Sequence[float]],
               times: Sequence[float], now: float, begin: float | None = None,
               velocities: Sequence[Sequence[float]] = ()) -> None:
        """
        Follow rows from now on; joints that are not named stay where they are sent.

        Rows that should have begun earlier are joined on their way; until those of later begin the
        joints rest.

        Parameters
        ----------
        names : sequence of str
            Joints of the rows, in any order.
        rows : (m, n) sequence
            [rad]; no row at all stops every joint.
        times : (m,) sequence
            When each is to be reached, after ``begin`` [s]; growing.
        now : float
        begin : float, optional
            ``now`` is the default.
        velocities : (m, n) sequence, optional
            Of the joints at the rows [rad/s]; the way begins at rest. None count where a row
            has none.

        Raises
        ------
        HandError
            A joint is unknown or named twice, or a row leaves its limits.
        TaskError
            Rows, times or velocities are of the wrong length, not finite or not growing.
        """
        hand = self._hand
        index = self._indices(names)
        table, when = np.asarray(rows, float), np.asarray(times, float)
        if not len(table):
            self.stop()
            return
        if table.shape != (len(when), len(names)) or not np.isfinite(table).all():
            raise TaskError(f'a trajectory must have rows of {len(names)} finite positions, '
                            f'got shape {table.shape}')
        if not np.isfinite(when).all() or when[0] < 0.0 or (np.diff(when) <= 0.0).any():
            raise TaskError('time_from_start must grow from row to row, from 0 s on')
        low, high = hand.joint_lower[index] - LIMIT_SLACK, hand.joint_upper[index] + LIMIT_SLACK
        outside = ((table < low) | (table > high)).any(axis=0)
        if outside.any():
            joint = int(np.flatnonzero(outside)[0])
            raise HandError(f'{names[joint]} must stay within {low[joint]:.4f} to '
                            f'{high[joint]:.4f} rad, got {table[:, joint].min():.4f} to '
                            f'{table[:, joint].max():.4f}')
        full = np.repeat(self.setpoints[None], len(table) + 1, axis=0)
        full[1:, index] = table
        slopes = None
        if len(velocities) and all(len(row) for row in velocities):
            slopes = np.zeros_like(full)
            slopes[1:, index] = _checked_velocities(velocities, table.shape)
        begin = now if begin is None else begin
        self._begin, self._held = begin, self.setpoints.copy()
        first = int(when[0] <= 0.0)     # a first row at 0 s is where the way begins
        self._times, self._rows = np.concatenate([[begin], begin + when])[first:], full[first:]
        self._curve = None if slopes is None or len(self._times) < 2 else CubicHermiteSpline(
            self._times, self._rows, slopes[first:])

    def _indices(self, names: Sequence[str]) -> list[int]:
        known = self._hand.joint_names
        wrong = [name for name in names if name not in known]
        if wrong or len(set(names)) != len(names):
            raise HandError(f'joint names must be of {", ".join(known)}, each once, '
                            f'got {list(names)}')
        return [known.index(name) for name in names]

    def stop(self) -> None:
        """Stay at the present set-points."""
        self._times, self._rows = np.zeros(1), self.setpoints[None].copy()
        self._begin, self._held = -np.inf, self.setpoints.copy()
        self._curve: CubicHermiteSpline | None = None

    def at(self, now: float) -> Array:
        """Return the set-points (J,) at a time [s], which never goes back."""
        if now < self._begin:
            wanted = self._held
        elif self._curve is None:
            wanted = np.array([np.interp(now, self._times, column) for column in self._rows.T])
        else:
            wanted = self._curve(np.clip(now, self._times[0], self._times[-1]))
        elapsed = now - self._last if np.isfinite(self._last) else 0.0
        if elapsed > 0.0:
            most = self._hand.joint_velocities * elapsed
            step = np.clip(wanted - self.setpoints, -most, most)
            wanted, self.velocities = self.setpoints + step, step / elapsed
        elif np.isfinite(self._last):
            wanted = self.setpoints
        self._last, self.setpoints = now, wanted
        return wanted.copy()

    @property
    def goal(self) -> Array:
        """Return the last row (J,) [rad]."""
        return self._rows[-1].copy()

    @property
    def end(self) -> float:
        """Return the time of the last row [s]."""
        return float(self._times[-1])


def _checked_velocities(velocities: Sequence[Sequence[float]], shape: tuple[int, ...]) -> Array:
    """Return velocities of rows; TaskError where they do not fit."""
    table = np.asarray(velocities, float)
    if table.shape != shape or not np.isfinite(table).all():
        raise TaskError(f'velocities must be rows of {shape[1]} finite numbers, one for each of '
                        f'{shape[0]} positions, got shape {table.shape}')
    return table
