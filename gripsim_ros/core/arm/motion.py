"""The arm's motion from its start to the displaced object, for one grasp."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..errors import ArmError
from ..hand import HandModel, forward_kinematics
from ..planning.manipulation.kinematics import object_path, pose_on_path
from ..planning.ranked_grasp import (
    APPROACH, ARM_PHASES, CARRY, LIFT, LOWER, RETREAT, START, WITH_ARM, RankedGrasp)
from ..transforms import inverse, transform
from .collision import ArmScene
from .model import ArmInverseKinematics, ArmModel, joint_distance


#: Largest step of a joint between two postures tested [rad].
JOINT_STEP = 0.05
#: Largest step of the palm along a straight path [m], [rad].
PALM_STEP, PALM_TURN = 0.02, 0.1
#: Largest change of a joint between two steps on one branch of solutions [rad].
BRANCH_JUMP = 0.8
#: Number of further starts of the search for pre-grasp postures.
SEARCH_STARTS = 48

PHASES = ARM_PHASES
#: What is to be short: the way to the pre-grasp, or the whole way.
TO_PREGRASP, WHOLE_WAY = 'pregrasp', 'whole'
CRITERIA = TO_PREGRASP, WHOLE_WAY
#: Phase, posture (to the pre-grasp) or palm pose, object pose, both in the base, and hand joints.
_Step = tuple[str, Array, Array, Array]


def checked_criterion(value: str) -> str:
    """
    Return a criterion of the choice; empty: the way to the pre-grasp.

    Raises
    ------
    ArmError
        There is none of that name.
    """
    if value and value not in CRITERIA:
        raise ArmError(f'the criterion of the arm\'s way must be one of {", ".join(CRITERIA)}, '
                       f'got {value!r:.60}')
    return value or TO_PREGRASP


@dataclass(frozen=True, eq=False)
class ArmMotion:
    """
    The arm's joints through the whole operation.

    Attributes
    ----------
    joints : (m, A) float
        [rad]; up to the step before the one that fails.
    phases : tuple of str, (m,)
        ``start``: to the pre-grasp; then ``approach``, ``lift``, ``carry``, ``lower``,
        ``retreat``. Where the fingers alone move the object, the arm rests in ``carry``, without
        ``lift`` and ``lower``; without a displacement the motion ends with ``lift``.
    length : float
        Sum of the joints' distances [rad]; of those to the pre-grasp ``pregrasp_length``.
    failed_step : int
        First posture that collides or cannot be reached; -1: none.
    message : str
        Why.
    joint_names : tuple of str, (A,)
    """

    joints: Array
    phases: tuple[str, ...]
    length: float
    failed_step: int
    message: str
    joint_names: tuple[str, ...]

    @property
    def pregrasp_length(self) -> float:
        """Return the sum of the joints' distances to the pre-grasp [rad]."""
        return joint_distance(self.joints[:self.phases.count(START)])

    def way(self, criterion: str) -> float:
        """Return the length that is to be short [rad]."""
        return self.length if criterion == WHOLE_WAY else self.pregrasp_length


class ArmPlanner:
    """
    The arm's motions for grasps of one object in one scene.

    Parameters
    ----------
    arm : ArmModel
    hand : HandModel
    scene : ArmScene
    T_base_object : (4, 4) float
        The object before it is grasped.
    start : (A,) float
        [rad]
    T_object_moved : (4, 4) float or None
        Wanted displacement, in the object's first frame.

    Notes
    -----
    Source: seed 001, 'the hypothesis with the least way of the arm's joints without
    collision'. Straight paths in joint space to the pre-grasp, straight paths of the palm
    afterwards. No path round obstacles is searched for.
    """

    def __init__(self, arm: ArmModel, hand: HandModel, scene: ArmScene, T_base_object: Array,
                 start: Array, T_object_moved: Array | None) -> None:
        self._arm, self._hand, self._scene = arm, hand, scene
        self._T_base_object, self._start = T_base_object, start
        self._T_object_moved = T_object_moved
        self._inverse = ArmInverseKinematics(arm)

    def postures(self, grasp: RankedGrasp) -> list[Array]:
        """Return the postures (A,) found for the pre-grasp, the nearest to the start first."""
        return self._inverse.solutions(self._T_base_object @ grasp.T_object_pregrasp,
                                       self._start, SEARCH_STARTS)

    def no_posture(self, grasp: RankedGrasp) -> ArmMotion:
        """Return what is said of a grasp without a posture."""
        where = self._where(self._T_base_object @ grasp.T_object_pregrasp)
        return ArmMotion(
            self._start[None], (START,), 0.0, 1,
            f'the arm does not reach the pre-grasp (start): {where}', self._arm.joint_names)

    def _where(self, T_base_palm: Array) -> str:
        """Return how far a pose is, for a message."""
        away, reach = self._inverse.reach(T_base_palm)
        return f'{away:.2f} m from its first joint, the links reach {reach:.2f} m'

    def bound(self, posture: Array) -> float:
        """Return a lower bound of the ways through a posture: that to it [rad]."""
        return joint_distance(np.array([self._start, posture]))

    def motion(self, grasp: RankedGrasp, posture: Array) -> ArmMotion:
        """Return the motion through a posture of the pre-grasp, up to what it meets."""
        rows: list[Array] = []
        phases: list[str] = []
        failure = ''
        for phase, place, T_base_object, hand_joints in self._steps(grasp, posture):
            joints = place if phase == START else self._solve_near(place, rows[-1])
            if joints is None:
                failure = (f'the arm does not reach a palm pose on the straight way ({phase}): '
                           f'{self._where(place)}')
                break
            T_base_link = self._arm.palm_pose(joints) @ forward_kinematics(
                self._hand, hand_joints[None])[0]
            if problem := self._scene.first_collision(joints, T_base_link, T_base_object,
                                                      hand_meets_object=phase == START):
                failure = f'{problem} ({phase})'
                break
            rows.append(joints)
            phases.append(phase)
        way = np.array(rows).reshape(-1, len(self._start))
        return ArmMotion(way, tuple(phases), joint_distance(way), len(way) if failure else -1,
                         failure, self._arm.joint_names)

    # -- one posture -----------------------------------------------------------------

    def _solve_near(self, T_base_palm: Array, near: Array) -> Array | None:
        """Return the posture of a palm pose on the branch of another, None where there is none."""
        joints = self._inverse.solve(T_base_palm, near)
        if joints is None or np.abs(joints - near).max() > BRANCH_JUMP:
            return None
        return joints

    def _steps(self, grasp: RankedGrasp, posture: Array) -> Iterator[_Step]:
        """Yield the steps: to the pre-grasp's posture, then the palm's straight ways."""
        count = max(1, int(np.ceil(np.abs(posture - self._start).max() / JOINT_STEP)))
        for share in np.linspace(0.0, 1.0, count + 1):
            yield (START, self._start + share * (posture - self._start), self._T_base_object,
                   grasp.trajectory[0])
        yield from self._straight_paths(grasp)

    def _straight_paths(self, grasp: RankedGrasp) -> Iterator[_Step]:
        T_object, T_grasp = self._T_base_object, grasp.T_object_palm
        for T in _between(grasp.T_object_pregrasp, T_grasp)[1:]:
            yield APPROACH, T_object @ T, T_object, grasp.trajectory[0]
        closed = grasp.trajectory[-1]
        yield APPROACH, T_object @ T_grasp, T_object, closed
        lifts, carried = self._lifts(T_object), self._carried(grasp)
        if carried and grasp.reach is not None and grasp.reach.level != WITH_ARM:
            for T_moved, T_palm, hand_joints in carried:
                yield CARRY, T_object @ T_palm, T_object @ T_moved, hand_joints
            yield from self._retreat(grasp)
            return
        for T_up in lifts[1:]:
            yield LIFT, T_up @ T_grasp, T_up, closed
        T_lift = lifts[-1] @ inverse(T_object)
        for T_moved, T_palm, hand_joints in carried:
            T_place = T_lift @ T_object @ T_moved
            yield CARRY, T_lift @ T_object @ T_palm, T_place, hand_joints
        if not carried:
            return
        T_last, T_palm_last, hand_joints = carried[-1]
        for T_up in lifts[-2::-1]:
            T_drop = T_up @ inverse(T_object)
            yield LOWER, T_drop @ T_object @ T_palm_last, T_drop @ T_object @ T_last, hand_joints
        yield from self._retreat(grasp)

    def _retreat(self, grasp: RankedGrasp) -> Iterator[tuple[str, Array, Array, Array]]:
        """Yield the open hand's way back, as far as the pre-grasp was from the grasp."""
        T_moved, T_palm, _ = self._carried(grasp)[-1]
        T_away = T_palm @ inverse(grasp.T_object_palm) @ grasp.T_object_pregrasp
        for T in _between(T_palm, T_away):
            yield (RETREAT, self._T_base_object @ T, self._T_base_object @ T_moved,
                   grasp.trajectory[0])

    def _lifts(self, T_base_object: Array) -> list[Array]:
        up = transform(np.eye(3), np.array([0.0, 0.0, self._arm.lift]))
        return [T @ T_base_object for T in object_path(up, PALM_STEP, PALM_TURN)]

    def _carried(self, grasp: RankedGrasp) -> list[tuple[Array, Array, Array]]:
        """Return object pose and palm pose in the object's first frame, and hand joints."""
        T_moved, reach = self._T_object_moved, grasp.reach
        if T_moved is None:
            return []
        if reach is None:
            return [(T, T @ grasp.T_object_palm, grasp.trajectory[-1])
                    for T in object_path(T_moved, PALM_STEP, PALM_TURN)]
        return [(pose_on_path(T_moved, share), T, joints)
                for share, T, joints in zip(reach.shares, reach.T_object_palm, reach.joints)]


def _between(T_a: Array, T_b: Array) -> list[Array]:
    """Return poses along the straight path from one pose to another, both ends included."""
    return [T_a @ T for T in object_path(inverse(T_a) @ T_b, PALM_STEP, PALM_TURN)]
