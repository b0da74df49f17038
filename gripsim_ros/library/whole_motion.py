"""The whole motion of a grasp as it is shown: of the arm, the hand and the object in it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation, Slerp

from ..core.errors import TaskError
from ..core.planning.ranked_grasp import ManipulationResult, ManipulationStep, RankedGrasp
from ..core.transforms import inverse, transform

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


def whole_motion(grasp: RankedGrasp) -> tuple[Moment, ...]:
    """
    Return the moments of a grasp whose object is carried to its end; none for other grasps.

    Parameters
    ----------
    grasp : RankedGrasp
        With pre-grasp and ``reach``; palm and fingers move, an arm is not looked at.

    Returns
    -------
    tuple of Moment
        In order, to be shown one after the other; at most ``3 FEW + 2 MOST``.
    """
    return tuple(_carried_to_its_end(grasp))


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
                        'in the task or, for report and view, with an arm')
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
