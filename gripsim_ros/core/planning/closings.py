"""The closings of the hypotheses, begun one after the other until each has its verdict."""

from ..batches import ConfigurationBatch
from .closing.batching import Conditions
from .closing.closing import Closing
from .closing.knowledge import ClosingKnowledge
from .closing.grasp_state import GraspState
from .options import PlannerOptions
from .planar_closing.queue import ClosingQueue
from .ranking.pruning import Pruner
from .rejections import NOT_EVALUATED
from .settling import SettlingRounds
from .verdicts import Verdicts

#: Number of active hypotheses at first, and more for each verdict: the best answer soon.
FIRST_ACTIVE, ACTIVE_PER_VERDICT = 8, 4
#: Largest number of hypotheses begun for one question: planar closing takes time.
MAX_BEGUN = 4


class Closings:
    """
    Close the hypotheses; those deferred go on where too many grasps let go as they settle.

    Parameters
    ----------
    queue : ClosingQueue
    pruner : Pruner
    rounds : SettlingRounds
    verdicts : Verdicts
    conditions : Conditions
    options : PlannerOptions

    Attributes
    ----------
    judged, in_contact : int
        Number of closings with a verdict, and of those that came to contact with two fingers.
    """

    any_order = True

    def __init__(self, queue: ClosingQueue, pruner: Pruner, rounds: SettlingRounds,
                 verdicts: Verdicts, conditions: Conditions, options: PlannerOptions) -> None:
        self._queue, self._pruner, self._rounds = queue, pruner, rounds
        self._verdicts, self._conditions, self._options = verdicts, conditions, options
        self._active: dict[int, Closing] = {}
        self._given_out: dict[int, Closing] = {}
        self.judged = self.in_contact = 0

    def unfinished(self) -> list[int]:
        """Return the closings without verdict."""
        closings = [*self._active.values(), *self._queue, *self._given_out.values()]
        return [closing.hypothesis.number for closing in closings or self._recallable()]

    def questions(self, free: list[int]) -> tuple[list[int], ConfigurationBatch] | None:
        """Begin as many closings as wanted, and return the next question of those free."""
        limit = min(self._options.active_hypotheses,
                    FIRST_ACTIVE + ACTIVE_PER_VERDICT * self.judged)
        self._active |= _numbered(self._begin(min(limit - len(self._active), MAX_BEGUN)))
        if not (self._active or self._given_out) and self._recallable():
            self._active = _numbered(self._pruner.recall())
        closings = [closing for number, closing in self._active.items() if number in free]
        return self._conditions.next_question(closings, self._options) if closings else None

    def take(self, number: int, state: GraspState) -> None:
        """Take the answer for a closing, which may be its verdict or defer it."""
        closing = self._active[number]
        closing.answer(state)
        if closing.judged or self._pruner.should_defer(closing, state):
            self._conclude(self._active.pop(number))

    def fail(self, number: int, reason: str) -> None:
        """Reject a closing whose question cannot be answered."""
        self._active[number].fail(reason)
        self._conclude(self._active.pop(number))

    def give_out(self, count: int) -> list[Closing]:
        """Return the next ``count`` hypotheses to be closed whole elsewhere."""
        closings = self._begin(count)
        self._given_out |= _numbered(closings)
        return closings

    def known_to_others(self) -> dict[int, Closing]:
        """Return the closings, waiting or given out, by number."""
        return _numbered([*self._queue]) | self._given_out

    def take_back(self, outcomes: dict[int, ClosingKnowledge]) -> None:
        """Take the outcomes of closings given out, by number; others are ignored."""
        for number, known in outcomes.items():
            closing = self._given_out.pop(number, None)
            if closing is not None:
                closing.known = known
                self._conclude(closing)

    def stop(self) -> None:
        """Drop all closings that are not finished."""
        self._verdicts.rejections[NOT_EVALUATED] += (
            len(self._queue) + len(self._active) + len(self._given_out))
        self._queue.clear()
        self._active, self._given_out = {}, {}
        self._pruner.close()

    def _begin(self, count: int) -> list[Closing]:
        closings = self._queue.take(min(count, self._pruner.capacity))
        self._pruner.begin(closings)
        return closings

    def _recallable(self) -> list[Closing]:
        """Return deferred closings that are wanted after all: too many grasps let go."""
        return self._pruner.deferred if self._rounds.lacks_grasps() else []

    def _conclude(self, closing: Closing) -> None:
        """Take the verdict on a closing; one without is deferred."""
        self._queue.note(closing)
        if not closing.judged:
            self._pruner.defer(closing)
            return
        self.judged += 1
        self.in_contact += int(closing.reached_contact)
        self._verdicts.conclude(closing)
        number = closing.hypothesis.number
        self._pruner.conclude(number, self._verdicts.grasps.get(number))


def _numbered(closings: list[Closing]) -> dict[int, Closing]:
    return {closing.hypothesis.number: closing for closing in closings}
