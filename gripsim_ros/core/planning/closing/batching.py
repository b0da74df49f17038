"""Closings in batches: questions of one detail together, and closings run to their verdicts."""

from collections.abc import Callable, Generator
from dataclasses import dataclass, fields, replace
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from ...arrays import Array
from ...batches import (
    AS_CONFIGURED, DETAIL_CLEARANCE, DETAIL_FORCES, ConfigurationBatch, GraspStateBatch)
from ..options import PlannerOptions
from ..task import Task
from .closing import Closing
from .knowledge import ClosingKnowledge
from .question import Question
from .grasp_state import GraspState, extract_state


@dataclass(frozen=True, eq=False)
class Conditions:
    """
    What the questions of a task have in common.

    ``load_cases (c, 9)``, ``obstacles (k, 16)`` and ``elasticity`` are as in
    ``ConfigurationBatch``.
    """

    load_cases: Array
    obstacles: Array
    elasticity: str = AS_CONFIGURED

    @classmethod
    def of(cls, task: Task, load_cases: Array, elasticity: str = AS_CONFIGURED) -> 'Conditions':
        """Return the conditions of a task with its load cases (c, 9)."""
        return cls(load_cases, np.vstack([task.obstacles, task.keep_out]), elasticity)

    def batch(self, questions: list[Question]) -> ConfigurationBatch:
        """Return questions of equal detail as one batch."""
        columns: dict[str, Any] = {
            field.name: np.array([getattr(question, field.name) for question in questions])
            for field in fields(Question) if field.name != 'detail'}
        return ConfigurationBatch(**vars(self), detail=questions[0].detail, **columns)

    def next_question(self, closings: list[Closing], options: PlannerOptions
                      ) -> tuple[list[int], ConfigurationBatch]:
        """
        Return the hypotheses of the next batch and the question about them, of one detail.

        Forces are asked for once their batch is full or no clearances are to be asked for.
        """
        clearance, forces = _by_detail(closings)
        chosen = clearance[:options.clearance_batch_size]
        if len(forces) >= options.batch_size or not clearance:
            chosen = forces[:options.batch_size]
        return ([closing.hypothesis.number for closing in chosen],
                self.batch([closing.question() for closing in chosen]))


class Item(Protocol):
    """What is asked and answered until it is ``done``."""

    @property
    def done(self) -> bool:
        """Return True if nothing more is to be asked."""

    def question(self) -> Question:
        """Return the configuration to be judged next."""

    def answer(self, state: GraspState) -> None:
        """Take the stages' answer to the last question."""

    def fail(self, reason: str) -> None:
        """Take note that the question cannot be answered."""


ItemT = TypeVar('ItemT', bound=Item)

#: Questions, each with the state that answers it.
Steps = Generator[Question, GraspState, None]


class SteppedItem:
    """
    An item whose questions a generator asks, until it ends: see ``Item``.

    ``reason`` says why it came to nothing, '' where it did not.
    """

    reason = ''

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._asked = next(steps, None)

    @property
    def done(self) -> bool:
        """Return True if nothing more is to be asked."""
        return self._asked is None

    def question(self) -> Question:
        """Return the configuration to be judged next."""
        assert self._asked is not None
        return self._asked

    def answer(self, state: GraspState) -> None:
        """Take the stages' answer to the last question."""
        try:
            self._asked = self._steps.send(state)
        except StopIteration:
            self._asked = None

    def fail(self, reason: str) -> None:
        """End: the question cannot be answered."""
        self._asked, self.reason = None, reason


class ItemWork(Generic[ItemT]):
    """
    Work on numbered items, which know what to ask; that of ``AskAndTell``, without its choice.

    Parameters
    ----------
    items : dict of int to Item
    conditions : Conditions
    options : PlannerOptions
    """

    any_order = True

    def __init__(self, items: dict[int, ItemT], conditions: Conditions,
                 options: PlannerOptions) -> None:
        self.items, self._conditions, self._options = items, conditions, options
        self._stopped = False

    def unfinished(self) -> list[int]:
        """Return the numbers of the items to be asked about, none once the work was stopped."""
        return [] if self._stopped else [
            number for number, item in self.items.items() if not item.done]

    def ask(self, chosen: list[int], **changed: Any) -> tuple[list[int], ConfigurationBatch]:
        """Return items and the question about them, under conditions of which some changed."""
        questions = [self.items[number].question() for number in chosen]
        return chosen, replace(self._conditions, **changed).batch(questions)

    def take(self, number: int, state: GraspState) -> None:
        """Take the answer for an item."""
        self.items[number].answer(state)
        self.answered(number)

    def fail(self, number: int, reason: str) -> None:
        """Take note that the question about an item cannot be answered."""
        self.items[number].fail(reason)
        self.answered(number)

    def answered(self, number: int) -> None:
        """Do what is to follow an answer, or that there is none: nothing."""

    def stop(self) -> None:
        """Ask nothing any more."""
        self._stopped = True


class Judge(Protocol):
    """What ``run_closings`` needs of the planner."""

    conditions: Conditions

    def should_defer(self, closing: Closing, state: GraspState) -> bool:
        """Return True if a closing is to be deferred after an answer."""


def run_closings(closings: list[Closing], judge: Judge,
                 evaluate: Callable[[ConfigurationBatch], GraspStateBatch],
                 go_on: Callable[[], bool] = lambda: True) -> dict[int, ClosingKnowledge]:
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
    dict of int to ClosingKnowledge
        What is known of the closings that came to an end, by their hypotheses' numbers; those
        not judged are deferred.
    """
    active, known = list(closings), {}
    while active:
        for asked in filter(None, _by_detail(active)):
            states = evaluate(judge.conditions.batch([closing.question() for closing in asked]))
            for i, closing in enumerate(asked):
                state = extract_state(states, i)
                closing.answer(state)
                if judge.should_defer(closing, state) or closing.judged:
                    known[closing.hypothesis.number] = closing.known
            if not go_on():
                return known
        active = [closing for closing in active if closing.hypothesis.number not in known]
    return known


def _by_detail(closings: list[Closing]) -> list[list[Closing]]:
    """Return the closings whose questions are about clearances, and those about forces."""
    return [[closing for closing in closings if closing.detail == detail]
            for detail in (DETAIL_CLEARANCE, DETAIL_FORCES)]
