"""The whole motion of a grasp as it is shown: of the arm, the hand and the object in it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation, Slerp

from ..core.errors import TaskError
from ..core.planning import ranked_grasp as arm
from ..core.planning.ranked_grasp import (
    ARM_PHASES, ManipulationResult, ManipulationStep, RankedGrasp)
from ..core.transforms import apply, inverse, transform

Array = NDArray[np.float64]

#: Moments of the approach, the opening and the retreat; and of closing and way at most.
FEW, MOST = 8, 24
#: Names of the phases, in order; an arm alone reaches, lifts and sets down.
REACHING, APPROACH, CLOSING, LIFTING, WAY, SETTING_DOWN, OPENING, RETREAT = (
    'reaching', 'approach', 'closing', 'lifting', 'carrying', 'setting down', 'opening',
    'retreat')


@dataclass(frozen=True, eq=False)
class Moment:
    """
    Arm, hand and object at a moment; poses are in the object's *first* frame.

    ``joints (J,)`` [rad]; ``step`` tells contacts and forces on the way, else None;
    ``arm_joints (A,)`` [rad] are None where the arm is not known.
    """

    phase: str
    joints: Array
    T_object_palm: Array
    T_object_moved: Array
    step: ManipulationStep | None = None
    arm_joints: Array | None = None


@dataclass(frozen=True, eq=False)
class ArmWay:
    """
    The motion of an arm free of collision, and where it has the palm.

    ``joints (m, A)`` [rad] of ``joint_names (A,)``; ``phases (m,)`` as ``ArmMotion`` tells them;
    ``T_object_palm (m, 4, 4)`` in the object's *first* frame.
    """

    joint_names: tuple[str, ...]
    joints: Array
    phases: tuple[str, ...]
    T_object_palm: Array


def whole_motion(grasp: RankedGrasp, way: ArmWay | None = None) -> tuple[Moment, ...]:
    """
    Return the moments of a grasp as its arm brings it; without one, as palm and fingers move.

    Parameters
    ----------
    grasp : RankedGrasp
        With pre-grasp and, if it is carried, ``reach``.
    way : ArmWay, optional
        Without a displacement it ends with the lift.

    Returns
    -------
    tuple of Moment
        In order, to be shown one after the other; at most ``4 FEW + 5 MOST``. Without an arm,
        none for a grasp whose object is not carried to its end.
    """
    return tuple(_carried_to_its_end(grasp) if way is None else _with_arm(grasp, way))


def _carried_to_its_end(grasp: RankedGrasp) -> Iterator[Moment]:
    reach = grasp.reach
    if reach is None or not has_steps(reach) or reach.shares[-1] < 1.0:
        return
    opened, rest = grasp.trajectory[0], np.eye(4)
    back = inverse(grasp.T_object_palm) @ grasp.T_object_pregrasp
    last, end = reach.T_object_palm[-1], reach.steps[-1].T_object_moved
    for palm in _between(grasp.T_object_pregrasp, grasp.T_object_palm):
        yield Moment(APPROACH, opened, palm, rest)
    for row in spread(len(grasp.trajectory)):
        yield Moment(CLOSING, grasp.trajectory[row], grasp.T_object_palm, rest)
    for i in spread(len(reach.steps)):
        yield Moment(WAY, reach.joints[i], reach.T_object_palm[i], reach.steps[i].T_object_moved,
                     reach.steps[i])
    for joints in opening(reach.joints[-1], opened):
        yield Moment(OPENING, joints, last, end)
    for palm in _between(last, last @ back):
        yield Moment(RETREAT, opened, palm, end)


def _with_arm(grasp: RankedGrasp, way: ArmWay) -> Iterator[Moment]:
    """Yield the moments along the rows of the arm's motion, the hand at rest or as planned."""
    opened, closed = grasp.trajectory[0], grasp.trajectory[-1]
    rows = {phase: np.flatnonzero([told == phase for told in way.phases]) for phase in ARM_PHASES}

    def moment(phase: str, joints: Array, T_hold_object: Array | None, row: int,
               T_object_moved: Array = np.eye(4)) -> Moment:
        palm = way.T_object_palm[row]
        moved = T_object_moved if T_hold_object is None else palm @ T_hold_object
        return Moment(phase, joints, palm, moved, None, way.joints[row])

    for phase, name in ((REACHING, arm.START), (APPROACH, arm.APPROACH)):
        for i in spread(len(rows[name])):
            yield moment(phase, opened, None, rows[name][i])
    for i in spread(len(grasp.trajectory)):
        yield moment(CLOSING, grasp.trajectory[i], None, rows[arm.APPROACH][-1])
    in_hand = inverse(grasp.T_object_palm)
    for i in spread(len(rows[arm.LIFT])):
        yield moment(LIFTING, closed, in_hand, rows[arm.LIFT][i])
    carry = rows[arm.CARRY]
    last = None
    for i in spread(len(carry)):
        last = _carried(grasp, moment(WAY, closed, in_hand, carry[i]), i, len(carry))
        yield last
    if last is None:
        return
    in_hand = inverse(last.T_object_palm) @ last.T_object_moved
    for i in spread(len(rows[arm.LOWER])):
        last = moment(SETTING_DOWN, last.joints, in_hand, rows[arm.LOWER][i])
        yield last
    for joints in opening(last.joints, opened):
        yield replace(last, phase=OPENING, joints=joints, step=None)
    for i in spread(len(rows[arm.RETREAT])):
        yield moment(RETREAT, opened, None, rows[arm.RETREAT][i], last.T_object_moved)


def _carried(grasp: RankedGrasp, held: Moment, row: int, count: int) -> Moment:
    """Return a moment of carrying as ``reach`` tells it, where the arm has the palm."""
    reach = grasp.reach
    if reach is None or len(reach.joints) != count:
        return held
    if not has_steps(reach):
        return replace(held, joints=reach.joints[row])
    T_lift = held.T_object_palm @ inverse(reach.T_object_palm[row])
    step = _displaced(reach.steps[row], T_lift)
    return replace(held, joints=reach.joints[row], T_object_moved=step.T_object_moved, step=step)


def _displaced(step: ManipulationStep, T: Array) -> ManipulationStep:
    """Return a step whose way begins elsewhere: all of it moved by ``T`` (4, 4)."""
    turned = {name: getattr(step, name) @ T[:3, :3].T
              for name in ('normals', 'forces', 'minimal_forces')}
    return replace(step, T_object_moved=T @ step.T_object_moved, points=apply(T, step.points),
                   centre_of_mass=apply(T, step.centre_of_mass[None])[0], **turned)


def has_steps(reach: ManipulationResult) -> bool:
    """Return whether every step of a way tells contacts and forces."""
    return 2 <= len(reach.steps) == len(reach.joints)


def opening(joints: Array, opened: Array) -> Array:
    """Return ``FEW`` rows (FEW, J) from the joints that hold to the open hand's [rad]."""
    return joints + np.linspace(0.0, 1.0, FEW)[:, None] * (opened - joints)


def moment_at(moments: Sequence[Moment], fraction: float) -> Moment:
    """
    Return the moment at a fraction, 0 to 1, of the whole motion.

    Raises
    ------
    TaskError
        There is none, as of a grasp without a way, or the fraction is outside.
    """
    if not moments:
        raise TaskError('the grasp has no way of the object to its end: plan with a displacement '
                        'in the task or with an arm')
    if not 0.0 <= fraction <= 1.0:
        raise TaskError(f'fraction must be from 0 (pre-grasp) to 1 (drawn back), got {fraction:g}')
    return moments[round(fraction * (len(moments) - 1))]


def spread(count: int) -> NDArray[np.int64]:
    """Return at most ``MOST`` of so many rows, the first and the last among them."""
    return np.unique(np.linspace(0, count - 1, min(count, MOST)).round().astype(int))


def _between(first: Array, last: Array) -> list[Array]:
    """Return ``FEW`` poses from one to another: on a line, turned evenly."""
    shares = np.linspace(0.0, 1.0, FEW)
    turns = Slerp([0.0, 1.0], Rotation.from_matrix([first[:3, :3], last[:3, :3]]))(shares)
    return [transform(turn, first[:3, 3] + share * (last[:3, 3] - first[:3, 3]))
            for turn, share in zip(turns.as_matrix(), shares)]
