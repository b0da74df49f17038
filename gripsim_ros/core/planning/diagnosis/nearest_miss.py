"""The rejected hypotheses nearest to a grasp, so that even no grasp is an answer."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ...batches import DETAIL_SURFACE, ConfigurationBatch
from ...hand import HandModel
from .. import rejections
from ..closing.batching import Conditions
from ..closing.closing import Closing
from ..closing.grasp_state import GraspState, NearMiss, shortfall
from ..ranked_grasp import GraspContact, NearestMiss, RankedGrasp

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
        self.nearest: list[RejectedHypothesis] = []

    def note(self, closing: Closing) -> None:
        """Take note of a rejected hypothesis."""
        self._keep(RejectedHypothesis(closing, closing.known.miss))

    def take(self, number: int, state: GraspState | None) -> None:
        """Take the details of a rejected hypothesis; None: they could not be had."""
        item = self.of(number)
        self.nearest.remove(item)
        miss = item.miss
        if miss is not None and state is not None:
            miss = replace(miss, state=state)
        self._keep(RejectedHypothesis(item.closing, miss, detailed=True))

    def of(self, number: int) -> RejectedHypothesis:
        """Return a rejected hypothesis by its number."""
        return next(i for i in self.nearest if i.closing.hypothesis.number == number)

    def _keep(self, item: RejectedHypothesis) -> None:
        self.nearest = sorted([*self.nearest, item], key=lambda i: i.key)[:MAX_MISSES]


class MissDetails:
    """
    The work of the nearest misses' details, where there is no grasp.

    Parameters
    ----------
    misses : NearestMisses
    grasps : mapping of int to RankedGrasp
        Those that hold.
    conditions : Conditions
    """

    any_order = False

    def __init__(self, misses: NearestMisses, grasps: Mapping[int, RankedGrasp],
                 conditions: Conditions) -> None:
        self._misses, self._grasps, self._conditions = misses, grasps, conditions

    def unfinished(self) -> list[int]:
        """Return those whose details are worth a question, nearest first."""
        return [] if self._grasps else [
            item.closing.hypothesis.number for item in self._misses.nearest
            if item.miss is not None and not item.detailed]

    def questions(self, free: list[int]) -> tuple[list[int], ConfigurationBatch]:
        """Return the nearest miss and the question about it."""
        item = self._misses.of(free[0])
        assert item.miss is not None
        question = item.closing.question_at(item.miss.joint_positions, DETAIL_SURFACE)
        return free[:1], self._conditions.batch([question])

    def take(self, number: int, state: GraspState) -> None:
        """Take the details of a miss."""
        self._misses.take(number, state)

    def fail(self, number: int, reason: str) -> None:
        """Leave a miss without details."""
        self._misses.take(number, None)

    def stop(self) -> None:
        """Go on: the answer is to be complete."""


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
    hypothesis = item.closing.hypothesis
    preshape = hand.preshapes[hypothesis.preshape]
    state = None if item.miss is None else item.miss.state
    numbers = {name: float('nan') if state is None else getattr(state, name) for name in (
        'needed_friction', 'needed_force', 'allowed_force', 'held_share')}
    return NearestMiss(
        reason=item.closing.reason, hypothesis=hypothesis.number, preshape=preshape.name,
        T_object_palm=hypothesis.T_object_palm,
        joint_positions=preshape.open if item.miss is None else item.miss.joint_positions,
        links=tuple(sorted({contact.link for contact in contacts})), contacts=contacts,
        capable=state is not None and state.capable,
        margin=0.0 if state is None else state.margin, friction=friction, **numbers,
        peak_pressure=(
            float('nan') if state is None else float(state.peak_pressures.max(initial=0.0))),
        max_pressure=max_pressure)
