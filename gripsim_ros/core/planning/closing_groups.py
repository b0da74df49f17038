"""Whole hypotheses as units of work: closings that one process carries to their verdicts."""

from collections.abc import Callable
from dataclasses import dataclass

from ..batches import DETAIL_CLEARANCE, DETAIL_FORCES, ConfigurationBatch, GraspStateBatch
from .closing import Closing, Held, Question
from .misses import Miss
from .state_row import state_row


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a closing came to; ``number`` is its hypothesis's."""

    number: int
    reason: str
    held: Held | None
    miss: Miss | None
    reached_contact: bool


def carry_closings(closings: list[Closing],
                   batch_of: Callable[[list[Question], int], ConfigurationBatch],
                   evaluate: Callable[[ConfigurationBatch], GraspStateBatch],
                   go_on: Callable[[], bool] = lambda: True) -> bool:
    """
    Ask and answer for closings until each has its verdict.

    Closings know nothing of each other, so what they come to depends neither on the group
    nor on the process.

    Parameters
    ----------
    closings : list of Closing
    batch_of : callable
        Returns questions of one detail as a batch.
    evaluate : callable
        The stages.
    go_on : callable
        Called after each answer; False ends it early.

    Returns
    -------
    bool
        Whether all came to their verdicts.
    """
    active = [closing for closing in closings if not closing.done]
    while active:
        questions = [(closing, closing.question()) for closing in active]
        for detail in (DETAIL_CLEARANCE, DETAIL_FORCES):
            asked = [(c, q) for c, q in questions if q.detail == detail]
            if not asked:
                continue
            states = evaluate(batch_of([q for _, q in asked], detail))
            for i, (closing, _) in enumerate(asked):
                closing.answer(state_row(states, i))
            if not go_on():
                return False
        active = [closing for closing in active if not closing.done]
    return True


def outcome_of(closing: Closing) -> Outcome:
    """Return what a closing that is done came to."""
    return Outcome(closing.hypothesis.number, closing.reason, closing.held, closing.miss,
                   closing.reached_contact)
