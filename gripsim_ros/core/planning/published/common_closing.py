"""Closing by the common law: all joints together, in equal steps from open to closed."""

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from ...arrays import Array
from ...batches import DETAIL_FORCES, DETAIL_SURFACE
from ...hand import HandModel
from ...transforms import apply, inverse
from .. import rejections
from ..closing.grasp_state import GraspState, presses_through
from ..closing.knowledge import HeldGrasp
from ..closing.question import Question
from ..hypotheses.generate import Hypothesis
from ..manipulation.kinematics import Fingertips, can_follow
from ..options import PlannerOptions
from .rules import LEAST_REGIONS


#: Steps from the open to the closed hand: a fingertip of the SDH moves by 2 mm in each.
STEPS = 100
#: Halvings of the last step, so that the forces come near to the computed ones.
CORRECTIONS = 6


class CommonClosing:
    """
    The state machine of one hypothesis: ``question()``, ``answer(state)``, until ``done``.

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
        self._phase, self._step, self._correction = 'open', 0, 0
        self._bracket = (0.0, 1.0)      # shares of closing: forces too small, large enough
        self._regions = self._largest_regions = 0
        self._solved = False
        self.reason, self.held = '', None       # type: str, HeldGrasp | None

    @property
    def done(self) -> bool:
        """Return True if a verdict was found."""
        return self._phase == 'done'

    @property
    def reached_contact(self) -> bool:
        """Return True if at least two links came into contact."""
        return self._largest_regions > 1

    def question(self) -> Question:
        """Return the configuration to be judged next."""
        T, rates = self.hypothesis.T_object_palm, self._preshape.closed - self._preshape.open
        asked = Question(DETAIL_FORCES, T, self._joints(), rates / STEPS, np.zeros(3))
        if self._phase == 'open':
            approach = T[:3, :3] @ self._hand.approach
            return replace(asked, sweep_object=self._options.approach_distance * approach)
        return replace(asked, detail=DETAIL_SURFACE) if self._phase == 'surface' else asked

    def answer(self, state: GraspState) -> None:
        """Take the stages' answer to the last question."""
        if self._phase == 'open':
            self._open(state)
        elif self._phase == 'close':
            self._close(state)
        elif self._phase == 'correct':
            self._correct(state)
        else:
            self._hold(state)

    def fail(self, reason: str) -> None:
        """End without a grasp."""
        self.reason, self._phase = reason, 'done'

    def _share(self) -> float:
        if self._phase == 'correct':
            return 0.5 * (self._bracket[0] + self._bracket[1])
        return self._bracket[1] if self._phase == 'surface' else self._step / STEPS

    def _joints(self) -> Array:
        joints: Array = self._preshape.open + self._share() * (
            self._preshape.closed - self._preshape.open)
        return joints

    def _open(self, state: GraspState) -> None:
        if state.depth.max() > 0.0:
            self.fail(rejections.OPEN_HAND_COLLIDES)
        else:
            self._phase, self._step = 'close', 1

    def _close(self, state: GraspState) -> None:
        self._regions = int((state.depth > 0.0).sum())
        self._largest_regions = max(self._largest_regions, self._regions)
        is_grasp = len(np.unique(state.links)) >= LEAST_REGIONS
        if is_grasp and state.capable and not self._solved:
            self._solved = True
            if not self._can_move(state):
                self.fail(rejections.UNREACHABLE)
                return
        if is_grasp and state.holds:
            self._bracket, self._phase = ((self._step - 1) / STEPS, self._step / STEPS), 'correct'
        elif self._step == STEPS:
            self.fail(self._what_lacks(state, is_grasp))
        else:
            self._step += 1

    def _what_lacks(self, state: GraspState, is_grasp: bool) -> str:
        if presses_through(state):
            return rejections.PRESSES_THROUGH
        if is_grasp:
            return rejections.FORCES_TOO_SMALL if self._solved else rejections.NO_SOLUTION
        return (rejections.REGIONS_WITHOUT_VERTEX if self._regions >= LEAST_REGIONS
                else rejections.TOO_FEW_REGIONS)

    def _can_move(self, state: GraspState) -> bool:
        """Return True if equation (2) has a solution, or nothing is to be moved."""
        motion = self._displacement
        if motion is None:
            return True
        T_palm_object = inverse(self.hypothesis.T_object_palm)
        centre = state.centre_of_mass
        shift = motion[:3, :3] @ centre + motion[:3, 3] - centre
        turn = Rotation.from_matrix(motion[:3, :3]).as_rotvec()
        twist = np.concatenate([T_palm_object[:3, :3] @ shift, T_palm_object[:3, :3] @ turn])
        tips = Fingertips(state.links, apply(T_palm_object, state.points))
        return can_follow(self._hand, self._joints(), tips, twist,
                          apply(T_palm_object, centre[None])[0])[0]

    def _correct(self, state: GraspState) -> None:
        share, (low, high) = self._share(), self._bracket
        enough = state.holds and len(np.unique(state.links)) >= LEAST_REGIONS
        self._bracket = (low, share) if enough else (share, high)
        self._correction += 1
        if self._correction == CORRECTIONS:
            self._phase = 'surface'

    def _hold(self, state: GraspState) -> None:
        rows = np.linspace(self._preshape.open, self._joints(), self._options.trajectory_rows)
        self.held, self._phase = HeldGrasp(rows[-1], rows, state), 'done'
