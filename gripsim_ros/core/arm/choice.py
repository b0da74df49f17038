"""The choice among ranked grasps by the arm's shortest motion, and what is out of its reach."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
import heapq

import numpy as np

from ..arrays import Array
from ..bodies import GraspObject
from ..contact.backends.convex.decomposition import convex_part
from ..errors import ArmError
from ..hand import HandModel
from ..hand.tree import PRISMATIC
from ..planning.hypotheses.primitives import primitive_points
from ..planning.ranked_grasp import RankedGrasp
from ..planning.task import PREFER_FINGERS, Task
from ..transforms import apply
from .collision import ArmScene, OtherArm, groups_of_others
from .model import ArmInverseKinematics, ArmModel
from .motion import TO_PREGRASP, ArmMotion, ArmPlanner, checked_criterion


#: Lengths are compared to this many decimals [rad]: searches for postures end within 1e-9.
DECIMALS = 7


@dataclass(frozen=True)
class ArmProgress:
    """
    How far the search is.

    Of ``total`` grasps ``decided`` are known to have a free motion or none, ``free`` of them have
    one; ``shortest`` is the least way so far [rad], None before there is one.
    """

    decided: int
    total: int
    free: int
    shortest: float | None


class MotionSearch:
    """
    Find which of some grasps have the shortest ways of the arm.

    Every posture of a pre-grasp is a candidate. Its bound is the straight way to it, which no
    way through it falls short of. Candidates are tried from the lowest bound on; the search ends
    where the ``wanted`` shortest ways are no longer than the next bound, or where no candidate
    is left. So the answer is that of trying all, and the first grasps do not depend on
    ``wanted``.

    Parameters
    ----------
    planner : ArmPlanner
    grasps : sequence of RankedGrasp
        Of equal ways the earlier counts as shorter.
    criterion : str
        ``TO_PREGRASP`` or ``WHOLE_WAY``.
    wanted : int
        0: all that have a free motion.
    later : sequence of bool, (grasps,)
        Grasps that come after all others, however short their ways.

    Attributes
    ----------
    complete : bool
        False where ``run`` was told to end before the answer was settled.

    Notes
    -----
    Own derivation: best-first branch and bound (Land and Doig 1960).
    """

    def __init__(self, planner: ArmPlanner, grasps: Sequence[RankedGrasp], criterion: str,
                 wanted: int, later: Sequence[bool]) -> None:
        self._planner, self._grasps, self._later = planner, list(grasps), list(later)
        self._criterion, self._wanted = criterion, wanted or len(self._grasps)
        self._postures: dict[int, list[Array]] = {}
        self._untried: dict[int, int] = {}
        self._free: dict[int, ArmMotion] = {}
        self._farthest: dict[int, ArmMotion] = {}
        self.complete = False

    def run(self, go_on: Callable[[ArmProgress], bool]) -> None:
        """Search; ``go_on`` is asked before each grasp's postures and before each motion."""
        candidates: list[tuple[bool, float, int, int]] = []
        for number, grasp in enumerate(self._grasps):
            if not go_on(self.progress):
                return
            postures = self._planner.postures(grasp)
            self._postures[number], self._untried[number] = postures, len(postures)
            candidates += [
                (self._later[number], round(self._planner.bound(posture), DECIMALS), number, k)
                for k, posture in enumerate(postures)]
            if not postures:
                self._farthest[number] = self._planner.no_posture(grasp)
        heapq.heapify(candidates)
        while candidates and not self._is_settled(candidates[0]):
            _, bound, number, k = candidates[0]
            if bound < self._way(number):
                if not go_on(self.progress):
                    return
                self._try(number, self._postures[number][k])
            heapq.heappop(candidates)
            self._untried[number] -= 1
        self.complete = True

    @property
    def progress(self) -> ArmProgress:
        """Return how far the search is."""
        ways = [motion.way(self._criterion) for motion in self._free.values()]
        return ArmProgress(len(self._free) + len(self._failed()), len(self._grasps), len(ways),
                           min(ways, default=None))

    def free(self) -> list[RankedGrasp]:
        """Return the grasps wanted with their motions, the shortest way first, ranked anew."""
        return [replace(self._grasps[number], rank=rank, arm_motion=self._free[number])
                for rank, (*_, number) in enumerate(self._order()[:self._wanted], start=1)]

    def failures(self) -> list[tuple[RankedGrasp, ArmMotion]]:
        """Return the grasps without a free motion, each with the attempt that came farthest."""
        return [(self._grasps[number], self._farthest[number]) for number in self._failed()]

    def open(self) -> list[RankedGrasp]:
        """Return the grasps of which it is not known whether there is a free motion."""
        known = {*self._free, *self._failed()}
        return [grasp for number, grasp in enumerate(self._grasps) if number not in known]

    # -- one candidate ---------------------------------------------------------------

    def _try(self, number: int, posture: Array) -> None:
        found = self._planner.motion(self._grasps[number], posture)
        if found.failed_step < 0:
            if round(found.way(self._criterion), DECIMALS) < self._way(number):
                self._free[number] = found
        elif (number not in self._farthest
                or found.failed_step > self._farthest[number].failed_step):
            self._farthest[number] = found

    def _is_settled(self, candidate: tuple[bool, float, int, int]) -> bool:
        """Return True if no candidate from this one on can change the grasps wanted."""
        order = self._order()
        return len(order) >= self._wanted and order[self._wanted - 1] <= candidate[:3]

    def _order(self) -> list[tuple[bool, float, int]]:
        """Return the ways of the free grasps and their numbers, in the order of the answer."""
        return sorted((self._later[number], self._way(number), number) for number in self._free)

    def _way(self, number: int) -> float:
        found = self._free.get(number)
        return np.inf if found is None else round(found.way(self._criterion), DECIMALS)

    def _failed(self) -> list[int]:
        """Return the grasps none of whose postures leads to a free motion."""
        return [number for number, left in self._untried.items()
                if not left and number not in self._free]


@dataclass(frozen=True, eq=False)
class ArmTask:
    """
    The arm and where the object stands before it.

    Attributes
    ----------
    arm : ArmModel
    T_base_object : (4, 4) float
    start : (A,) float or None
        Joints before the grasp [rad]; None: as in the arm's configuration.
    criterion : str
        What is to be short: ``TO_PREGRASP`` or ``WHOLE_WAY``.
    others : tuple of OtherArm
        That must not be met.
    """

    arm: ArmModel
    T_base_object: Array
    start: Array | None = None
    criterion: str = TO_PREGRASP
    others: tuple[OtherArm, ...] = ()


@dataclass(frozen=True, eq=False)
class ArmChoice:
    """
    Ranked grasps with and without a motion of the arm.

    ``grasps`` are those with a motion free of collision, the shortest first, each with its
    ``arm_motion``; ``failures`` those without; ``left`` the others. Where the choice is
    ``complete`` those cannot have a shorter way, else the arm's time was up before that was
    known. ``decided`` counts pairs of bodies by the test that decided them.
    """

    grasps: tuple[RankedGrasp, ...]
    failures: tuple[tuple[RankedGrasp, ArmMotion], ...]
    left: tuple[RankedGrasp, ...]
    complete: bool
    decided: dict[str, int]


def choose_by_arm(grasps: Sequence[RankedGrasp], task: Task, grasp_object: GraspObject,
                  hand: HandModel, arm_task: ArmTask,
                  go_on: Callable[[ArmProgress], bool] = lambda _: True,
                  wanted: int = 0) -> ArmChoice:
    """
    Return the grasps to which the arm has the shortest ways free of collision.

    Parameters
    ----------
    grasps : sequence of RankedGrasp
        Best first; of equal ways the better grasp is first. Where the task prefers fingers,
        grasps with which they move the object come before all others.
    task : Task
        Its obstacles and keep-out regions are the surroundings, its displacement the path;
        keep-out regions bind hand and arm, not the object.
    grasp_object : GraspObject
        Its convex hull is moved.
    hand : HandModel
    arm_task : ArmTask
    go_on : callable
        Asked before each motion; once it returns False the choice ends with what was found.
    wanted : int
        The arm is asked until the shortest ways of so many are known; 0: about all grasps.

    Returns
    -------
    ArmChoice

    Raises
    ------
    ArmError
        The start is outside the joint limits, the pose is not a pose, or the criterion is
        unknown.

    Notes
    -----
    Source: seed 001, the final choice by the arm's minimal path without collision.
    """
    arm = arm_task.arm
    start = arm.start if arm_task.start is None else arm.checked_joints(arm_task.start)
    if np.shape(arm_task.T_base_object) != (4, 4):
        raise ArmError('the pose of the object before the arm must be a (4, 4) transform')
    scene = make_scene(task, grasp_object, hand, arm_task)
    planner = ArmPlanner(arm, hand, scene, arm_task.T_base_object, start, task.displacement_object)
    search = MotionSearch(planner, grasps, checked_criterion(arm_task.criterion), wanted,
                          [task.reach == PREFER_FINGERS and not (g.reach and g.reach.by_fingers)
                           for g in grasps])
    search.run(go_on)
    return ArmChoice(tuple(search.free()), tuple(search.failures()), tuple(search.open()),
                     search.complete, dict(scene.decided))


def make_scene(task: Task, grasp_object: GraspObject, hand: HandModel,
               arm_task: ArmTask) -> ArmScene:
    """Return the scene about the arm; obstacles of the task are in the object's frame."""
    rows = np.vstack([task.obstacles, task.keep_out])
    count = len(task.obstacles)
    names = [f'obstacle {i + 1}' if i < count else f'keep-out region {i + 1 - count}'
             for i in range(len(rows))]
    return ArmScene(
        arm_task.arm, tuple(convex_part(apply(arm_task.T_base_object, primitive_points(row)))
                            for row in rows),
        tuple(names), tuple(convex_part(link.mesh.vertices) for link in hand.links),
        hand.link_names, convex_part(grasp_object.mesh.vertices),
        tuple(i < count for i in range(len(rows))), others=groups_of_others(arm_task.others))


def check_distances(task: Task, grasp_object: GraspObject, hand: HandModel, arm_task: ArmTask
                    ) -> None:
    """
    Refuse an object that the hand cannot touch where it stands, or where it is to be carried.

    Parameters
    ----------
    task : Task
        Its displacement is looked at.
    grasp_object : GraspObject
    hand : HandModel
    arm_task : ArmTask

    Raises
    ------
    ArmError
        The object's nearest point is farther from the arm's first joint than all links of arm
        and hand stretched out in one line.

    Notes
    -----
    Own derivation: no posture reaches farther than the sum of the distances between joints.
    """
    vertices = grasp_object.mesh.vertices
    centre = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
    radius = float(np.linalg.norm(vertices - centre, axis=1).max())
    inverse = ArmInverseKinematics(arm_task.arm)
    T_tip_palm = arm_task.arm.T_tip_palm
    moved = np.eye(4) if task.displacement_object is None else task.displacement_object
    for T, where in ((np.eye(4), 'the object stands'),
                     (moved, 'task.displacement brings the object')):
        T_base_centre = arm_task.T_base_object @ T
        T_base_centre[:3, 3] += T_base_centre[:3, :3] @ centre
        away, links = inverse.reach(T_base_centre @ T_tip_palm)
        longest = links + float(np.linalg.norm(T_tip_palm[:3, 3])) + _hand_length(hand)
        if away - radius > longest:
            raise ArmError(f'{where} {away - radius:.2f} m from the first joint of the arm, whose '
                           f'links and hand reach {longest:.2f} m at most')


def _hand_length(hand: HandModel) -> float:
    """Return a distance from the palm's origin that no point of the hand passes [m]."""
    return max(float(np.linalg.norm(link.mesh.vertices, axis=1).max()) + sum(
        _length(hand, frame) for frame in hand.tree.path_to_base(int(number))[:-1])
        for link, number in zip(hand.links, hand.link_frames))


def _length(hand: HandModel, frame: int) -> float:
    """Return how far a frame's origin is from its parent's at most [m]."""
    tree = hand.tree
    length = float(np.linalg.norm(tree.T_parent_joint[frame][:3, 3]))
    if tree.kind[frame] != PRISMATIC:
        return length
    joint = int(tree.actuator[frame])
    ends: Array = tree.multiplier[frame] * np.array(
        [hand.joint_lower[joint], hand.joint_upper[joint]]) + tree.offset[frame]
    return length + float(np.abs(ends).max())
