"""The held object along its way, as the grasp paper has it: joints, then forces, then angles."""

from collections.abc import Callable

import numpy as np

from ...arrays import Array
from ...batches import DETAIL_FORCES, ConfigurationBatch
from ...hand import HandModel
from ...transforms import apply, inverse
from ..closing.batching import Conditions, ItemWork, SteppedItem, Steps
from ..closing.grasp_state import GraspState, sums_by_link
from ..closing.knowledge import HeldGrasp
from ..closing.question import Question
from ..hypotheses.generate import Hypothesis
from ..manipulation.follow_path import step_told
from ..manipulation.kinematics import Fingertips, follow_object
from ..manipulation.search import turned_loads
from ..manipulation.step_forces import pressing_change
from ..options import PlannerOptions
from ..ranked_grasp import HAND_ONLY, ManipulationResult, ManipulationStep
from ..rejections import LOST_ON_WAY
from ..task import Task
from .common_closing import STEPS
from .rules import LEAST_REGIONS

#: How far above the computed forces the corrected ones are aimed: what is to be no less ends
#: above, not at it [-].
AIMED_ABOVE = 0.05


class PublishedWay(SteppedItem):
    """
    One grasp along the object's way: ``question()``, ``answer(state)``, until ``done``.

    The palm rests. At each step the joints let the middles of the contact regions go with the
    object, forces are found and computed again, and the joints are corrected until no simulated
    normal force is below the computed one.

    Parameters
    ----------
    hand : HandModel
    hypothesis : Hypothesis
    held : HeldGrasp
    path : (m + 1, 4, 4) float
        Poses of the object in its first frame, from the identity.
    options : PlannerOptions

    Notes
    -----
    Source: seed 001, motion of the gripper's joints that moves the object: a linear path in
    steps, contact regions' centres at each, inverse kinematics for preliminary angles, then the
    grasp simulated, (1) solved by the pseudo-inverse, and angles corrected to forces near those
    computed, not below. Choices where it is silent: links meet the object along the motion of
    closing, as in the grasp; corrections go along the normals by the contacts' stiffness, and
    the first with which the forces suffice is kept; where none of ``max_corrections`` does, the
    grasp is excluded.
    """

    def __init__(self, hand: HandModel, hypothesis: Hypothesis, held: HeldGrasp, path: Array,
                 options: PlannerOptions) -> None:
        preshape = hand.preshapes[hypothesis.preshape]
        self._hand, self._path, self._options = hand, path, options.reach
        self._rates = (preshape.closed - preshape.open) / STEPS
        self._T_palm_first = inverse(hypothesis.T_object_palm)
        self._joints, self._state, self.step = held.joint_positions, held.state, 0
        self.result: ManipulationResult | None = None
        super().__init__(self._run())

    @property
    def _T_palm_object(self) -> Array:
        return self._T_palm_first @ self._path[self.step]

    def _run(self) -> Steps:
        rows, steps, residual = [self._joints], [self._told()], 0.0
        while self.step < len(self._path) - 1:
            residual = max(residual, self._aim())
            state, corrections = (yield self._question()), 0
            while not (state.holds and len(np.unique(state.links)) >= LEAST_REGIONS):
                if corrections == self._options.max_corrections or not self._correct(state):
                    self.reason = LOST_ON_WAY
                    return
                state, corrections = (yield self._question()), corrections + 1
            self._joints, self._state = self._trial, state
            rows.append(self._joints)
            steps.append(self._told())
        self.result = ManipulationResult(
            HAND_ONLY, residual, np.nan, np.array(rows),
            np.tile(inverse(self._T_palm_first), (len(rows), 1, 1)),
            np.linspace(0.0, 1.0, len(rows)), -1,
            'the fingers alone move the object, by the published method', tuple(steps))

    def _question(self) -> Question:
        """Return the configuration to be judged next, in the moved object's frame."""
        return Question(DETAIL_FORCES, inverse(self._T_palm_object), self._trial, self._rates,
                        np.zeros(3))

    def _aim(self) -> float:
        """Let the joints follow the object's next step; return the share that they cannot."""
        before = self._T_palm_object
        tips = Fingertips(self._state.links, apply(before, self._state.points))
        self.step += 1
        motion = self._T_palm_object @ inverse(before)
        self._trial, slips = follow_object(self._hand, self._joints, tips, motion,
                                           self._hand.joint_lower, self._hand.joint_upper)
        moves = apply(motion, tips.points_palm) - tips.points_palm
        return float(np.linalg.norm(slips)) / max(float(np.linalg.norm(moves)), 1e-12)

    def _correct(self, state: GraspState) -> bool:
        """Press links whose forces are below those computed; return whether joints can."""
        links = tuple(sorted(set(int(link) for link in self._state.links)))
        forces, before = (sums_by_link(links, of, of.normal_forces) for of in (state, self._state))
        wanted = (1.0 + AIMED_ABOVE) * sums_by_link(links, state, state.minimal_envelope)
        # One that touches no longer shall press as it did before.
        lacking = np.where(np.isin(links, state.links), np.maximum(wanted - forces, 0.0), before)
        change = pressing_change(
            self._hand, self._trial, self._T_palm_object, dict(zip(links, lacking)), state,
            self._state, self._options.rotation_step)
        self._trial = self._trial + change
        return bool(np.abs(change).max() > 1e-9)

    def _told(self) -> ManipulationStep:
        return step_told(self._hand, self._joints, self._T_palm_object, self._state,
                         self._path[self.step], np.nan, False)


class PublishedWays(ItemWork[PublishedWay]):
    """
    The ways of all grasps that hold as one kind of work; questions of one step go together.

    Parameters
    ----------
    task : Task
    path : (m + 1, 4, 4) float
    conditions : Conditions
        At the first pose.
    options : PlannerOptions
    begin : callable
        Returns the ways by hypothesis, once every hypothesis has its verdict.
    """

    def __init__(self, task: Task, path: Array, conditions: Conditions, options: PlannerOptions,
                 begin: Callable[[], dict[int, PublishedWay]]) -> None:
        super().__init__({}, conditions, options)
        self._task, self._path, self._begin = task, path, begin

    def unfinished(self) -> list[int]:
        """Return the grasps whose way is being followed."""
        if not (self._stopped or self.items):
            self.items = self._begin()
        return super().unfinished()

    def questions(self, free: list[int]) -> tuple[list[int], ConfigurationBatch]:
        """Return grasps at the same step, the earliest, with the loads there."""
        first = min(self.items[number].step for number in free)
        return self.ask([number for number in free if self.items[number].step == first],
                        load_cases=turned_loads(self._task, self._conditions.load_cases,
                                                self._path[first]))
