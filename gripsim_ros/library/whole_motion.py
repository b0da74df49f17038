"""The whole motion of a grasp as it is shown: approach, closing, carrying, opening, retreat."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation, Slerp

from ..core.errors import TaskError
from ..core.planning.ranked_grasp import ManipulationStep, RankedGrasp
from ..core.transforms import inverse, transform

Array = NDArray[np.float64]

#: Moments of the approach, the opening and the retreat; and of closing and way at most.
FEW, MOST = 8, 24
#: Names of the phases, in order.
APPROACH, CLOSING, WAY, OPENING, RETREAT = (
    'approach', 'closing', 'carrying', 'opening', 'retreat')


@dataclass(frozen=True, eq=False)
class Moment:
    """
    Hand and object at a moment; poses are in the object's *first* frame.

    ``joints (J,)`` [rad]; ``step`` tells contacts and forces on the way, else None.
    """

    phase: str
    joints: Array
    T_object_palm: Array
    T_object_moved: Array
    step: ManipulationStep | None = None


def whole_motion(grasp: RankedGrasp) -> tuple[Moment, ...]:
    """
    Return the moments of a grasp whose object is carried to its end; none for other grasps.

    Parameters
    ----------
    grasp : RankedGrasp
        With pre-grasp and ``reach``.

    Returns
    -------
    tuple of Moment
        In order, to be shown one after the other; at most ``3 FEW + 2 MOST``.
    """
    reach = grasp.reach
    if reach is None or len(reach.steps) < 2 or len(reach.steps) != len(reach.joints) \
            or reach.shares[-1] < 1.0:
        return ()
    opened, rest = grasp.trajectory[0], np.eye(4)
    back = inverse(grasp.T_object_palm) @ grasp.T_object_pregrasp
    last, end = reach.T_object_palm[-1], reach.steps[-1].T_object_moved
    steps = _spread(len(reach.steps))
    opening = reach.joints[-1] + np.linspace(0.0, 1.0, FEW)[:, None] * (opened - reach.joints[-1])
    return (
        *(Moment(APPROACH, opened, palm, rest)
          for palm in _between(grasp.T_object_pregrasp, grasp.T_object_palm)),
        *(Moment(CLOSING, grasp.trajectory[row], grasp.T_object_palm, rest)
          for row in _spread(len(grasp.trajectory))),
        *(Moment(WAY, reach.joints[i], reach.T_object_palm[i], reach.steps[i].T_object_moved,
                 reach.steps[i]) for i in steps),
        *(Moment(OPENING, joints, last, end) for joints in opening),
        *(Moment(RETREAT, opened, palm, end) for palm in _between(last, last @ back)))


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
                        'in the task')
    if not 0.0 <= fraction <= 1.0:
        raise TaskError(f'fraction must be from 0 (pre-grasp) to 1 (drawn back), got {fraction:g}')
    return moments[round(fraction * (len(moments) - 1))]


def _spread(count: int) -> NDArray[np.int64]:
    """Return at most ``MOST`` of so many rows, the first and the last among them."""
    return np.unique(np.linspace(0, count - 1, min(count, MOST)).round().astype(int))


def _between(first: Array, last: Array) -> list[Array]:
    """Return ``FEW`` poses from one to another: on a line, turned evenly."""
    shares = np.linspace(0.0, 1.0, FEW)
    turns = Slerp([0.0, 1.0], Rotation.from_matrix([first[:3, :3], last[:3, :3]]))(shares)
    return [transform(turn, first[:3, 3] + share * (last[:3, 3] - first[:3, 3]))
            for turn, share in zip(turns.as_matrix(), shares)]
