"""The rejected hypotheses nearest to a grasp, so that even no grasp is an answer."""

from collections.abc import Mapping
from dataclasses import replace

from ...batches import DETAIL_SURFACE, ConfigurationBatch
from ...hand import HandModel
from .. import rejections
from ..closing.batching import Conditions
from ..closing.closing import Closing
from ..closing.grasp_state import GraspState, NearMiss, shortfall
from ..ranked_grasp import NearestMiss, RankedGrasp
from ..ranking.assemble import grasp_contacts
from ..ranking.score import ScoreReference

#: Number of the nearest misses whose details are asked for.
MAX_MISSES = 4
#: Reasons of hypotheses rejected before any forces, the nearest to a grasp first.
_REASONS_WITHOUT_FORCES = (
    rejections.OUTSIDE_REGION, rejections.TOO_FEW_FINGERS, rejections.NOT_CONVERGED,
    rejections.SELF_COLLISION, rejections.SURROUNDINGS_COLLIDE, rejections.OPEN_HAND_COLLIDES,
    rejections.EVALUATION_FAILED)


class NearestMisses:
    """The nearest misses of a plan, nearest first, whatever the order in which they came."""

    def __init__(self) -> None:
        """Start without misses."""
        self.nearest: list[Closing] = []

    def note(self, closing: Closing) -> None:
        """Take note of a rejected hypothesis."""
        self.nearest = sorted([*self.nearest, closing], key=nearness)[:MAX_MISSES]


def nearness(closing: Closing) -> tuple[int, float, int]:
    """Return what sorts rejected hypotheses: how far from a grasp that holds they ended."""
    miss, number = closing.known.miss, closing.hypothesis.number
    if miss is None:
        reason, reasons = closing.reason, _REASONS_WITHOUT_FORCES
        place = reasons.index(reason) if reason in reasons else len(reasons)
        return 4, float(place), number
    return *shortfall(miss.state), number


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
        self._detailed: set[int] = set()

    def unfinished(self) -> list[int]:
        """Return those whose details are worth a question, nearest first."""
        return [] if self._grasps else [
            closing.hypothesis.number for closing in self._misses.nearest
            if closing.known.miss is not None
            and closing.hypothesis.number not in self._detailed]

    def questions(self, free: list[int]) -> tuple[list[int], ConfigurationBatch]:
        """Return the nearest miss and the question about it."""
        closing, miss = self._missed(free[0])
        question = closing.question_at(miss.joint_positions, DETAIL_SURFACE)
        return free[:1], self._conditions.batch([question])

    def take(self, number: int, state: GraspState) -> None:
        """Take the details of a miss."""
        self._detailed.add(number)
        closing, miss = self._missed(number)
        closing.known.miss = replace(miss, state=state)
        self._misses.nearest = sorted(self._misses.nearest, key=nearness)

    def fail(self, number: int, reason: str) -> None:
        """Leave a miss without details."""
        self._detailed.add(number)

    def stop(self) -> None:
        """Go on: the answer is to be complete."""

    def _missed(self, number: int) -> tuple[Closing, NearMiss]:
        closing = next(c for c in self._misses.nearest if c.hypothesis.number == number)
        assert closing.known.miss is not None
        return closing, closing.known.miss


def make_nearest_miss(closing: Closing, hand: HandModel, reference: ScoreReference) -> NearestMiss:
    """Return the account of a rejected hypothesis."""
    hypothesis, miss = closing.hypothesis, closing.known.miss
    preshape = hand.preshapes[hypothesis.preshape]
    state = None if miss is None else miss.state
    contacts = () if state is None else grasp_contacts(state, hand)
    numbers = {name: float('nan') if state is None else getattr(state, name) for name in (
        'needed_friction', 'needed_force', 'allowed_force', 'held_share')}
    return NearestMiss(
        reason=closing.reason, hypothesis=hypothesis.number, preshape=preshape.name,
        T_object_palm=hypothesis.T_object_palm,
        joint_positions=preshape.open if miss is None else miss.joint_positions,
        links=tuple(sorted({contact.link for contact in contacts})), contacts=contacts,
        capable=state is not None and state.capable,
        margin=0.0 if state is None else state.margin, friction=reference.friction, **numbers,
        peak_pressure=(
            float('nan') if state is None else float(state.peak_pressures.max(initial=0.0))),
        max_pressure=reference.max_pressure)
