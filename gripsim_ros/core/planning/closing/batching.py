"""Closings in batches: questions of one detail together, and closings run to their verdicts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...batches import DETAIL_CLEARANCE, DETAIL_FORCES, ConfigurationBatch, GraspStateBatch
from ..options import PlannerOptions
from ..task import Task
from .closing import Closing, Question
from .grasp_state import GraspState, extract_state

Array = NDArray[np.float64]


def question_batch(questions: list[Question], load_cases: Array, task: Task,
                   detail: int) -> ConfigurationBatch:
    """Return questions of equal detail as one batch."""
    return ConfigurationBatch(
        T_object_palm=np.array([q.T_object_palm for q in questions]),
        joint_positions=np.array([q.joint_positions for q in questions]),
        joint_displacements=np.array([q.joint_displacements for q in questions]),
        sweep_object=np.array([q.sweep_object for q in questions]),
        settled_object=np.array([q.settled_object for q in questions]),
        load_cases=load_cases, obstacles=np.vstack([task.obstacles, task.keep_out]),
        detail=detail)


def next_questions(closings: list[Closing], options: PlannerOptions
                   ) -> tuple[list[tuple[Closing, Question]], int]:
    """
    Return the closings of the next batch with their questions, and its detail.

    Forces are asked for once their batch is full or no clearances are to be asked for.
    """
    questions = [(closing, closing.question()) for closing in closings]
    forces = [(c, q) for c, q in questions if q.detail == DETAIL_FORCES]
    if forces and (len(forces) >= options.batch_size or len(forces) == len(closings)):
        return forces[:options.batch_size], DETAIL_FORCES
    clearance = [(c, q) for c, q in questions if q.detail == DETAIL_CLEARANCE]
    return clearance[:options.clearance_batch_size], DETAIL_CLEARANCE


@dataclass(frozen=True, eq=False)
class Outcome:
    """
    The outcome of the closing of hypothesis ``number``.

    ``snapshot`` is its state, for ``Closing.restore``; ``score_bound`` the upper bound of the
    score with which it was deferred, else None.
    """

    number: int
    snapshot: Mapping[str, Any]
    score_bound: float | None = None


class Judge(Protocol):
    """What ``run_closings`` needs of the planner."""

    def batch_of(self, questions: list[Question], detail: int) -> ConfigurationBatch:
        """Return questions of one detail as a batch."""

    def should_defer(self, closing: Closing, state: GraspState) -> bool:
        """Return True if a closing is to be deferred after an answer."""


def run_closings(closings: list[Closing], judge: Judge,
                 evaluate: Callable[[ConfigurationBatch], GraspStateBatch],
                 go_on: Callable[[], bool] = lambda: True) -> list[Outcome]:
    """
    Run closings until each has its verdict or is deferred.

    Closings know nothing of each other, so their outcomes depend neither on the group nor on
    the process.

    Parameters
    ----------
    closings : list of Closing
    judge : Judge
    evaluate : callable
        The stages.
    go_on : callable
        Called after each answer; False ends it early.

    Returns
    -------
    list of Outcome
        Of the closings that came to an end.
    """
    active, deferred = list(closings), set[int]()
    while active:
        questions = [(closing, closing.question()) for closing in active]
        for detail in (DETAIL_CLEARANCE, DETAIL_FORCES):
            asked = [(c, q) for c, q in questions if q.detail == detail]
            if not asked:
                continue
            states = evaluate(judge.batch_of([q for _, q in asked], detail))
            for i, (closing, _) in enumerate(asked):
                state = extract_state(states, i)
                closing.answer(state)
                if judge.should_defer(closing, state):
                    deferred.add(closing.hypothesis.number)
            if not go_on():
                active = []
                break
        active = [c for c in active if not (c.judged or c.hypothesis.number in deferred)]
    return [Outcome(c.hypothesis.number, c.snapshot, None if c.judged else c.score_bound)
            for c in closings if c.judged or c.hypothesis.number in deferred]
