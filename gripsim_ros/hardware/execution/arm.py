"""The arm's part of an execution: the legs of its planned way, and how fast it goes along them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator

from ...core.arm.motion import APPROACH, CARRY, LIFT, LOWER, PALM_STEP, PHASES, START
from ...core.errors import TaskError
from .way import WayPlan

Array = NDArray[np.float64]

#: Legs backwards from the grasp with an empty hand: to the pre-grasp, and to where the way began.
BACK_OFF, BACK = 'back off', 'back'
#: Speed of the palm beside the object, with nothing in the hand [m/s].
EMPTY_SPEED = 0.1
#: How far the arm may be from where its way begins [rad].
START_TOLERANCE = 0.05


@dataclass(frozen=True, eq=False)
class ArmLeg:
    """
    A part of the way, from rest to rest.

    Attributes
    ----------
    name : str
        One of ``core.arm.motion.PHASES``, ``BACK_OFF`` or ``BACK``.
    rows, velocities : (m, A) float
        Joints [rad] after the first, and how fast they pass there [rad/s].
    times : (m,) float
        After the leg begins [s].
    """

    name: str
    rows: Array
    velocities: Array
    times: Array

    @property
    def length(self) -> float:
        """Return the time of the leg [s]."""
        return float(self.times[-1])


@dataclass(frozen=True, eq=False)
class ArmPlan:
    """
    The arm's joints, where they begin (A,) [rad], and the legs that the plan has, by name.

    ``backwards`` are those of an empty hand that turns back at the grasp.
    """

    joint_names: tuple[str, ...]
    start: Array
    legs: Mapping[str, ArmLeg]
    backwards: Mapping[str, ArmLeg]

    def leg(self, name: str) -> ArmLeg | None:
        """Return a leg, None where the plan has none of that name."""
        return self.legs.get(name) or self.backwards.get(name)

    def check_start(self, joints: Array) -> None:
        """Raise TaskError where joints (A,) [rad] are not those at which the way begins."""
        off = np.abs(joints - self.start)
        worst = int(np.argmax(off))
        if not off[worst] <= START_TOLERANCE:
            raise TaskError(
                f'the arm is not where its way begins: {self.joint_names[worst]} is at '
                f'{joints[worst]:.3f} rad, planned from {self.start[worst]:.3f} rad, allowed are '
                f'{START_TOLERANCE:g} rad')


def make_arm_plan(joint_names: Sequence[str], trajectory: tuple[Array, Array],
                  phases: Sequence[str], way: WayPlan | None, carry_speed: float) -> ArmPlan:
    """
    Return what an arm does for a grasp.

    Parameters
    ----------
    joint_names : sequence of str, (A,)
    trajectory : ((m, A) float, (m,) float)
        Planned joints [rad] and times [s]; straight ways of the palm are gone along more slowly
        where these would be faster than ``EMPTY_SPEED``, or ``carry_speed`` with the object.
    phases : sequence of str, (m,)
        What each row belongs to, in the order of ``PHASES``.
    way : WayPlan or None
        Of the object in the hand, whose times the carrying keeps; None: it is not carried.
    carry_speed : float
        Of the palm with the object [m/s].

    Raises
    ------
    TaskError
        Rows, times and phases do not fit together, or the arm's carrying is not that of the way.
    """
    rows, times = (np.asarray(array, float) for array in trajectory)
    _check(joint_names, rows, times, phases)
    legs = {}
    for name in PHASES:
        index = np.flatnonzero([phase == name for phase in phases])
        if not len(index):
            continue
        first = max(int(index[0]) - 1, 0)
        if name == CARRY:
            if way is None:
                continue
            if len(index) != len(way.times):
                raise TaskError(f'the arm carries in {len(index)} steps, the hand in '
                                f'{len(way.times)}: they are not of one plan')
            spans = np.diff(way.times)
            passed = rows[index]
        else:
            speed = carry_speed if name in (LIFT, LOWER) else EMPTY_SPEED
            least = 0.0 if name == START else PALM_STEP / speed
            passed = rows[first:index[-1] + 1]
            spans = np.maximum(np.diff(times[first:index[-1] + 1]), least)
        if len(passed) > 1:
            legs[name] = _leg(name, passed, spans)
    before = legs[START].rows[-1:] if START in legs else rows[:1]
    whole = [legs[name] for name in (START, APPROACH) if name in legs]
    return ArmPlan(tuple(joint_names), rows[0], legs, {
        BACK_OFF: _backwards(BACK_OFF, before, legs[APPROACH]),
        BACK: _backwards(BACK, rows[:1], *whole)})


def _backwards(name: str, first: Array, *legs: ArmLeg) -> ArmLeg:
    """Return the way back along legs that begin at ``first`` (1, A) [rad]."""
    rows = np.vstack([first, *(leg.rows for leg in legs)])
    spans = np.concatenate([np.diff(leg.times, prepend=0.0) for leg in legs])
    return _leg(name, rows[::-1], spans[::-1])


def _leg(name: str, rows: Array, spans: Array) -> ArmLeg:
    """Return the leg along rows (m, A) with times (m - 1,) [s] between them, from rest to rest."""
    times = np.concatenate([[0.0], np.cumsum(spans)])
    speeds = PchipInterpolator(times, rows).derivative()(times)
    speeds[[0, -1]] = 0.0
    return ArmLeg(name, rows[1:], speeds[1:], times[1:])


def _check(joint_names: Sequence[str], rows: Array, times: Array, phases: Sequence[str]) -> None:
    if rows.ndim != 2 or rows.shape[1] != len(joint_names) or times.shape != rows.shape[:1] \
            or not np.isfinite(rows).all() or not (np.diff(times) > 0.0).all():
        raise TaskError(f'arm_trajectory needs rows of {len(joint_names)} finite joints with '
                        f'times that grow, got shapes {rows.shape} and {times.shape}')
    if len(phases) != len(rows):
        raise TaskError(f'arm_trajectory has {len(rows)} points and arm_phases tell of '
                        f'{len(phases)}: plan anew with the arm')
    order = [PHASES.index(phase) if phase in PHASES else -1 for phase in phases]
    if order[0] != 0 or (np.diff(order) < 0).any():
        raise TaskError(f'arm_phases must be {", ".join(PHASES)} in this order, from start on, '
                        f'got {list(dict.fromkeys(phases))}')
    if APPROACH not in phases:
        raise TaskError('the arm\'s way ends before the grasp: it has no approach')
