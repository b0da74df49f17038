"""What closing by touch follows: slow rows near the planned contacts, and ways to press."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...core.hand import HandModel

Array = NDArray[np.float64]

#: Shortest lever of a contact about a joint, for the stiffest that a finger can be [m].
SHORTEST_LEVER = 0.03
#: Way of a joint that slides which counts as a radian of one that turns [m/rad].
SLIDE = 0.05
#: Travel of the last rows from which the direction of closing is taken [rad].
LAST_TRAVEL = 0.1
#: Parts of a grip smaller than this give no direction [rad].
LEAST_GRIP = 1e-4


@dataclass(frozen=True, eq=False)
class TouchPlan:
    """
    Where fingers go until they touch, and along what they press.

    Attributes
    ----------
    rows : (m, J) float
        From the open hand past the planned joints [rad].
    times : (m,) float
        After the start of closing [s].
    closed_time : float
        When the planned joints come [s].
    directions : mapping to (J,) float
        Of each finger's set-points while it is loaded, the largest part 1, or ``SLIDE`` of a
        joint that slides: those of the grip, whose torques are those of the planned forces.
    blind_travel : mapping to float
        Along them to the grip [rad], for fingers that cannot feel.
    stiffest : mapping to float
        Largest force over travel [N/rad], on an object that does not yield.
    room : float
        Largest force over the planned one.
    near : (m - 1,) bool
        Which parts of the rows are gone along slowly.
    """

    rows: Array
    times: Array
    closed_time: float
    directions: Mapping[str, Array]
    blind_travel: Mapping[str, float]
    stiffest: Mapping[str, float]
    room: float
    near: NDArray[np.bool_]

    @property
    def near_time(self) -> float:
        """Return when fingers come near their contacts, after the start of closing [s]."""
        return float(self.times[:-1][self.near].min(initial=np.inf))

    def slowed(self, factor: float, after: float = -np.inf) -> 'TouchPlan':
        """
        Return the plan with more time near the contacts, by a factor of 1 or more.

        What comes up to the time ``after`` [s] stays as it is.
        """
        plan = self._split(after)
        later = plan.near & (plan.times[:-1] >= after)
        times = np.cumsum([0.0, *(np.diff(plan.times) * np.where(later, factor, 1.0))])
        closed = int(np.flatnonzero(plan.times == plan.closed_time)[0])
        return replace(plan, times=times, closed_time=float(times[closed]))

    def _split(self, time: float) -> 'TouchPlan':
        """Return the plan with a row more, at a time [s] between two of its own."""
        row = int(np.searchsorted(self.times, time))
        if row in (0, len(self.times)) or self.times[row] == time:
            return self
        between = [np.interp(time, self.times, column) for column in self.rows.T]
        return replace(self, rows=np.insert(self.rows, row, between, axis=0),
                       times=np.insert(self.times, row, time),
                       near=np.insert(self.near, row, self.near[row - 1]))


def touch_plan(hand: HandModel, way: tuple[Array, Array], target: Array,
               fingers: Mapping[str, Sequence[int]], speed: float, beyond: float, room: float
               ) -> TouchPlan:
    """
    Return the plan of closing by touch.

    Parameters
    ----------
    hand : HandModel
    way : ((m, J) float, (m,) float)
        The planned rows of closing [rad] and their times [s].
    target : (J,) float
        The grip [rad].
    fingers : mapping to sequence of int
        The joints of each finger alone.
    speed, beyond : float
        Of joints near the end of the rows [rad/s]; how far fingers go on from there [rad].
    room : float
        Largest force over the planned one.
    """
    rows, times = way
    last, own = rows[-1], sorted(joint for joints in fingers.values() for joint in joints)
    closing, unit = np.zeros(rows.shape[1]), np.where(hand.prismatic, SLIDE, 1.0)
    before = rows[np.abs((rows - last) / unit).max(axis=1) >= LAST_TRAVEL]
    closing[own] = (last - (before[-1] if len(before) else rows[0]))[own]
    further = last.copy()
    stiffness = np.where(hand.prismatic, hand.joint_stiffness * SLIDE,
                         hand.joint_stiffness / SHORTEST_LEVER)
    directions, blind, stiffest = {}, {}, {}
    for name, joints in fingers.items():
        part = np.zeros_like(closing)
        part[list(joints)] = closing[list(joints)]
        closes = unit * _unit(part / unit)
        further += beyond * closes
        part[list(joints)] = (target - last)[list(joints)]
        travel = float(np.abs(part / unit).max())
        directions[name] = unit * _unit(part / unit) if travel >= LEAST_GRIP else closes
        blind[name] = travel if travel >= LEAST_GRIP else 0.0
        stiffest[name] = float(stiffness[list(joints)].max(initial=0.0)) or np.inf
    table = np.vstack([rows, np.clip(further, hand.joint_lower, hand.joint_upper)])
    steps = np.abs(np.diff(table, axis=0) / unit).max(axis=1)
    near = np.abs((table[1:] - last) / unit).max(axis=1) <= beyond
    least = np.where(near, steps / speed, 0.0)
    lengths = np.maximum(np.append(np.diff(times), 1e-3), least)
    when = np.cumsum([0.0, *lengths])
    return TouchPlan(table, when, float(when[-2]), directions, blind, stiffest, room, near)


def _unit(part: Array) -> Array:
    """Return a direction whose largest part is 1, or zeros."""
    most = np.abs(part).max()
    return part / most if most > 0.0 else part
