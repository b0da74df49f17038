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
from .grasp_state import StateRow, state_row

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
    Return the closings to be asked about next with their questions, and the detail.

    Forces are asked for where a batch of these is full or nothing else is to be asked.
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
    What a closing came to; ``number`` is its hypothesis's.

    ``course`` is how far it went, as ``Closing.resume`` takes it; ``best_score`` the best that
    a closing that was set aside could have reached, else None.
    """

    number: int
    course: Mapping[str, Any]
    best_score: float | None = None


class Judge(Protocol):
    """The planner, as far as closings that are given out need it."""

    def batch_of(self, questions: list[Question], detail: int) -> ConfigurationBatch:
        """Return questions of one detail as a batch."""

    def is_beaten(self, closing: Closing, state: StateRow) -> bool:
        """Tell whether a closing need not go on after an answer."""


def carry_closings(closings: list[Closing], judge: Judge,
                   evaluate: Callable[[ConfigurationBatch], GraspStateBatch],
                   go_on: Callable[[], bool] = lambda: True) -> list[Outcome]:
    """
    Ask and answer for closings until each has its verdict or is set aside.

    Closings know nothing of each other, so what they come to depends neither on the group
    nor on the process.

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
        Of those that came to an end.
    """
    active, beaten = list(closings), set[int]()
    while active:
        questions = [(closing, closing.question()) for closing in active]
        for detail in (DETAIL_CLEARANCE, DETAIL_FORCES):
            asked = [(c, q) for c, q in questions if q.detail == detail]
            if not asked:
                continue
            states = evaluate(judge.batch_of([q for _, q in asked], detail))
            for i, (closing, _) in enumerate(asked):
                state = state_row(states, i)
                closing.answer(state)
                if judge.is_beaten(closing, state):
                    beaten.add(closing.hypothesis.number)
            if not go_on():
                active = []
                break
        active = [c for c in active if not (c.judged or c.hypothesis.number in beaten)]
    return [Outcome(c.hypothesis.number, c.course, None if c.judged else c.best_score)
            for c in closings if c.judged or c.hypothesis.number in beaten]
