"""Closing by the common law: all joints together, in equal steps from open to closed."""

from collections.abc import Generator
from dataclasses import replace

import numpy as np

from ...arrays import Array
from ...batches import DETAIL_FORCES, DETAIL_SURFACE
from ...hand import HandModel
from ...transforms import apply, inverse
from .. import rejections
from ..closing.batching import SteppedItem, Steps
from ..closing.grasp_state import GraspState, presses_through
from ..closing.knowledge import HeldGrasp
from ..closing.question import Question
from ..hypotheses.generate import Hypothesis
from ..manipulation.kinematics import Fingertips, can_follow, twist_at
from ..options import PlannerOptions
from .rules import LEAST_REGIONS


#: Steps from the open to the closed hand: a fingertip of the SDH moves by 2 mm in each.
STEPS = 100
#: Halvings of the last step, so that the forces come near to the computed ones.
CORRECTIONS = 6


class CommonClosing(SteppedItem):
    """
    What one hypothesis asks and takes: ``question()``, ``answer(state)``, until ``done``.

    At step l all joints are at ``open + (closed - open) l / STEPS``. From the first state with
    more than two contact regions and a solution of (1), closing goes on until no simulated
    normal force is below the computed one; then the last step is halved.

    Parameters
    ----------
    hypothesis : Hypothesis
    hand : HandModel
    options : PlannerOptions
    displacement : (4, 4) float or None
        That the task wants of the object, whose twist must solve (2).

    Notes
    -----
    Source: seed 001: law of the joints (with open and closed exchanged, as printed it opens),
    more than two regions, (1) at each step, (2) once it holds, and angles corrected to forces
    near the computed ones, not below. Choices where it is silent: the open hand must be free of
    the object along its approach; (2) is taken for the whole displacement as a twist about the
    centre of mass, by ranks, for J is not square; the correction is a bisection.
    """

    def __init__(self, hypothesis: Hypothesis, hand: HandModel, options: PlannerOptions,
                 displacement: Array | None) -> None:
        self.hypothesis, self._hand, self._options = hypothesis, hand, options
        self._displacement, self._preshape = displacement, hand.preshapes[hypothesis.preshape]
        self._rates = self._preshape.closed - self._preshape.open
        self._largest_regions = 0
        self.held: HeldGrasp | None = None
        super().__init__(self._run())

    @property
    def reached_contact(self) -> bool:
        """Return True if at least two links came into contact."""
        return self._largest_regions > 1

    def _joints(self, share: float) -> Array:
        return self._preshape.open + share * self._rates

    def _question(self, share: float, detail: int = DETAIL_FORCES) -> Question:
        """Return the question about the hand closed by a share of its way."""
        return Question(detail, self.hypothesis.T_object_palm, self._joints(share),
                        self._rates / STEPS, np.zeros(3))

    def _run(self) -> Steps:
        approach = self.hypothesis.T_object_palm[:3, :3] @ self._hand.approach
        state = yield replace(self._question(0.0),
                              sweep_object=self._options.approach_distance * approach)
        if state.depth.max() > 0.0:
            self.reason = rejections.OPEN_HAND_COLLIDES
            return
        step = yield from self._close()
        if self.reason:
            return
        less, enough = (step - 1) / STEPS, step / STEPS
        for _ in range(CORRECTIONS):
            share = 0.5 * (less + enough)
            state = yield self._question(share)
            suffices = state.holds and len(np.unique(state.links)) >= LEAST_REGIONS
            less, enough = (less, share) if suffices else (share, enough)
        state = yield self._question(enough, DETAIL_SURFACE)
        rows = np.linspace(self._preshape.open, self._joints(enough),
                           self._options.trajectory_rows)
        self.held = HeldGrasp(rows[-1], rows, state)

    def _close(self) -> Generator[Question, GraspState, int]:
        """Close in steps; return the first that holds, or note what lacks."""
        solved = False
        for step in range(1, STEPS + 1):
            state = yield self._question(step / STEPS)
            regions = int((state.depth > 0.0).sum())
            self._largest_regions = max(self._largest_regions, regions)
            is_grasp = len(np.unique(state.links)) >= LEAST_REGIONS
            if is_grasp and state.capable and not solved:
                solved = True
                if not self._can_move(step / STEPS, state):
                    self.reason = rejections.UNREACHABLE
                    return step
            if is_grasp and state.holds:
                return step
        if presses_through(state):
            self.reason = rejections.PRESSES_THROUGH
        elif is_grasp:
            self.reason = rejections.FORCES_TOO_SMALL if solved else rejections.NO_SOLUTION
        else:
            self.reason = (rejections.REGIONS_WITHOUT_VERTEX if regions >= LEAST_REGIONS
                           else rejections.TOO_FEW_REGIONS)
        return STEPS

    def _can_move(self, share: float, state: GraspState) -> bool:
        """Return True if equation (2) has a solution, or nothing is to be moved."""
        if self._displacement is None:
            return True
        T_palm_object = inverse(self.hypothesis.T_object_palm)
        motion = T_palm_object @ self._displacement @ self.hypothesis.T_object_palm
        centre = apply(T_palm_object, state.centre_of_mass[None])[0]
        tips = Fingertips(state.links, apply(T_palm_object, state.points))
        return can_follow(self._hand, self._joints(share), tips, twist_at(motion, centre),
                          centre)[0]
