"""The rejected hypotheses nearest to a grasp, so that even no grasp is an answer."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...batches import DETAIL_SURFACE
from ...hand import HandModel
from .. import rejections
from ..closing.closing import Closing, Question
from ..closing.grasp_state import GraspState, NearMiss, shortfall
from ..ranked_grasp import GraspContact, NearestMiss

Array = NDArray[np.float64]

#: Number of the nearest misses whose details are asked for.
MAX_MISSES = 4
#: Reasons of hypotheses rejected before any forces, the nearest to a grasp first.
_REASONS_WITHOUT_FORCES = (
    rejections.OUTSIDE_REGION, rejections.TOO_FEW_FINGERS, rejections.NOT_CONVERGED,
    rejections.SELF_COLLISION, rejections.SURROUNDINGS_COLLIDE, rejections.OPEN_HAND_COLLIDES,
    rejections.EVALUATION_FAILED)


@dataclass(frozen=True, eq=False)
class RejectedHypothesis:
    """A rejected hypothesis, with its state nearest to holding if it came to forces."""

    closing: Closing
    miss: NearMiss | None
    detailed: bool = False

    @property
    def key(self) -> tuple[int, float, int]:
        """Return the sort key, nearest to a grasp first; no two hypotheses have the same."""
        number = self.closing.hypothesis.number
        if self.miss is None:
            reason, reasons = self.closing.reason, _REASONS_WITHOUT_FORCES
            place = reasons.index(reason) if reason in reasons else len(reasons)
            return 4, float(place), number
        return *shortfall(self.miss.state), number


class NearestMisses:
    """The nearest misses of a plan, whatever the order in which they came."""

    def __init__(self) -> None:
        """Start without misses."""
        self._nearest: list[RejectedHypothesis] = []

    def note(self, closing: Closing) -> None:
        """Take note of a rejected hypothesis."""
        self._keep(RejectedHypothesis(closing, closing.miss))

    def next(self) -> list[RejectedHypothesis]:
        """Return those whose details are worth a question, nearest first."""
        return [item for item in self._nearest if item.miss is not None and not item.detailed]

    def take(self, item: RejectedHypothesis, state: GraspState | None) -> None:
        """Take the details of a rejected hypothesis; None: they could not be had."""
        self._nearest = [other for other in self._nearest if other.closing is not item.closing]
        miss = item.miss
        if miss is not None and state is not None:
            miss = replace(miss, state=state)
        self._keep(replace(item, miss=miss, detailed=True))

    def nearest(self) -> RejectedHypothesis | None:
        """Return the nearest miss, None where nothing was rejected."""
        return self._nearest[0] if self._nearest else None

    def _keep(self, item: RejectedHypothesis) -> None:
        self._nearest = sorted([*self._nearest, item], key=lambda i: i.key)[:MAX_MISSES]


def make_nearest_miss(item: RejectedHypothesis, hand: HandModel,
                      contacts: tuple[GraspContact, ...], friction: float, max_pressure: float
                      ) -> NearestMiss:
    """
    Return the account of a rejected hypothesis.

    Parameters
    ----------
    item : RejectedHypothesis
    hand : HandModel
    contacts : tuple of GraspContact
        Of its state nearest to holding.
    friction, max_pressure : float
        [-], [Pa], of the object.
    """
    hypothesis, nan = item.closing.hypothesis, float('nan')
    preshape = hand.preshapes[hypothesis.preshape]
    state = None if item.miss is None else item.miss.state
    return NearestMiss(
        reason=item.closing.reason, hypothesis=hypothesis.number, preshape=preshape.name,
        T_object_palm=hypothesis.T_object_palm,
        joint_positions=preshape.open if item.miss is None else item.miss.joint_positions,
        links=tuple(sorted({contact.link for contact in contacts})), contacts=contacts,
        capable=state is not None and state.capable,
        margin=0.0 if state is None else state.margin, friction=friction,
        needed_friction=nan if state is None else state.needed_friction,
        needed_force=nan if state is None else state.needed_force,
        allowed_force=nan if state is None else state.allowed_force,
        held_share=nan if state is None else state.held_share,
        peak_pressure=nan if state is None else float(state.peak_pressures.max(initial=0.0)),
        max_pressure=max_pressure)


def miss_question(item: RejectedHypothesis) -> Question:
    """Return the question for the details of a rejected hypothesis that came to forces."""
    miss = item.miss
    assert miss is not None
    return Question(DETAIL_SURFACE, item.closing.hypothesis.T_object_palm,
                    miss.joint_positions, miss.joint_displacements, np.zeros(3))
