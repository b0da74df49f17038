"""Asking and being told: the numbered questions of several kinds of work, and their answers."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from ..batches import ConfigurationBatch, GraspStateBatch
from ..errors import TaskError
from .closing.batching import Conditions
from .closing.closing import Closing
from .closing.knowledge import ClosingKnowledge
from .closing.grasp_state import GraspState, extract_state
from .planar_closing.prospects import Prospect
from .progress import Ask, Progress
from .rejections import EVALUATION_FAILED


class Work(Protocol):
    """
    One kind of work on numbered items, such as hypotheses.

    Where answers come in ``any_order`` each is used as it comes, else after the answers to all
    questions before it.
    """

    any_order: bool

    def unfinished(self) -> list[int]:
        """Return the numbers of the items that are not finished, in the order of the work."""

    def questions(self, free: list[int]) -> tuple[list[int], ConfigurationBatch] | None:
        """Return the items asked about next and their question, of items without a question."""

    def take(self, number: int, state: GraspState) -> None:
        """Take the answer for an item."""

    def fail(self, number: int, reason: str) -> None:
        """Take note that the question about an item cannot be answered."""

    def stop(self) -> None:
        """Give up the items that can be given up."""


class AskAndTell:
    """
    Ask the questions of several kinds of work, and be told their answers.

    ``ask()`` returns the next question, or None when nothing can be asked before an
    answer arrives; ``tell()`` takes answers in any order and more than once.

    Parameters
    ----------
    stages : sequence of sequence of Work
        A stage begins when all work of the stages before it is finished; within a stage, what
        stands first asks first.
    conditions : Conditions
        Of the task's questions.
    """

    def __init__(self, stages: Sequence[Sequence[Work]], conditions: Conditions) -> None:
        self.conditions, self._stages = conditions, stages
        self._asked: dict[int, tuple[Work, list[int]]] = {}
        self._answers: dict[int, tuple[GraspStateBatch | None, str]] = {}
        self._next_ask = 0

    def ask(self) -> Ask | None:
        """Return the next question, or None while only answers can help or all is done."""
        for stage in self._stages:
            for work in stage:
                pending = {n for of, asked in self._asked.values() if of is work for n in asked}
                free = [number for number in work.unfinished() if number not in pending]
                if free and (question := work.questions(free)):
                    return self._number(work, *question)
            if any(work.unfinished() for work in stage):
                return None
        return None

    def _number(self, work: Work, items: list[int], configurations: ConfigurationBatch) -> Ask:
        batch_id, self._next_ask = self._next_ask, self._next_ask + 1
        self._asked[batch_id] = work, items
        return Ask(batch_id, configurations)

    def tell(self, batch_id: int, states: GraspStateBatch) -> None:
        """
        Take the answer to a question; repeated and unknown answers are ignored.

        Raises
        ------
        TaskError
            The answer has another number of configurations than the question.
        """
        asked = len(self._asked[batch_id][1]) if batch_id in self._asked else states.count
        if states.count != asked:
            raise TaskError(f'answer {batch_id} has {states.count} configurations, '
                            f'{asked} were asked')
        self._use_answer(batch_id, states, '')

    def tell_failed(self, batch_id: int, reason: str = EVALUATION_FAILED) -> None:
        """Take note that a question cannot be answered; its items are rejected."""
        self._use_answer(batch_id, None, reason)

    def _use_answer(self, batch_id: int, states: GraspStateBatch | None, reason: str) -> None:
        if batch_id in self._asked and batch_id not in self._answers:
            self._answers[batch_id] = states, reason
            self._use_answers()

    def _use_answers(self) -> None:
        """Use answers as they come or in the order of the questions, as their work wants it."""
        for batch_id in sorted(self._answers):
            if not self._asked[batch_id][0].any_order and batch_id > min(self._asked):
                break
            states, reason = self._answers.pop(batch_id)
            work, numbers = self._asked.pop(batch_id)
            for i, number in enumerate(numbers):
                if states is None:
                    work.fail(number, reason)
                else:
                    work.take(number, extract_state(states, i))

    def begin(self, count: int) -> list[Closing]:
        """Give out up to ``count`` hypotheses whole, where hypotheses are to be closed."""
        return []

    def look_ahead(self) -> bool:
        """Do a millisecond of work that helps later; return whether there was any."""
        return False

    def seek(self, count: int) -> list[int]:
        """Give out up to ``count`` hypotheses of which others foretell what they may come to."""
        return []

    def foretell(self, numbers: Iterable[int]) -> dict[int, Prospect]:
        """Return what hypotheses that wait may come to, by number."""
        return {}

    def learn(self, prospects: Mapping[int, Prospect]) -> None:
        """Take what others have foretold of hypotheses given out, by number."""

    def end(self, outcomes: dict[int, ClosingKnowledge]) -> None:
        """Take the outcomes of hypotheses given out; unknown and dropped ones are ignored."""

    def should_defer(self, closing: Closing, state: GraspState) -> bool:
        """Return True if a closing given out is to be deferred after an answer."""
        return False

    def stop(self) -> None:
        """Begin no hypothesis any more and drop those not finished; details may follow."""
        for stage in self._stages:
            for work in stage:
                work.stop()
        self._asked = {batch_id: (work, numbers)
                       for batch_id, (work, numbers) in self._asked.items()
                       if set(numbers) & set(work.unfinished())}
        self._answers = {b: answer for b, answer in self._answers.items() if b in self._asked}
        self._use_answers()

    def is_asked(self, batch_id: int) -> bool:
        """Return whether the answer to a question is still waited for."""
        return batch_id in self._asked

    def go_on(self) -> bool:
        """Go on to what follows once all work is finished; return whether there is anything."""
        return False

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what is to be said of all that was found."""
        return ()

    @property
    def finished(self) -> bool:
        """Return True if all work is finished."""
        return not (self._asked or any(
            work.unfinished() for stage in self._stages for work in stage))

    @property
    def progress(self) -> Progress:
        """Return how far the work is."""
        raise NotImplementedError
