"""Hypotheses that wait for their closing: those with hope first."""

from collections import Counter
from collections.abc import Iterator

from ...bodies import GraspObject
from ...hand import HandModel
from ..closing.closing import Closing
from ..closing.limits import Limits
from ..hypotheses.generate import Hypothesis
from ..options import PlannerOptions
from ..rejections import HOPELESS
from .filter import ClosureFilter


class ClosingQueue:
    """
    Closings in their order; those that planar closure calls hopeless are put off.

    What is put off is refused where something holds once all others have their verdict,
    and worked on where nothing does. So it changes no hint and no nearest miss, and no
    answer depends on when other answers came.

    Parameters
    ----------
    closings : list of Closing
        Not begun, best first.
    judge : ClosureFilter
        Asked as late as possible, when a closing is about to begin.

    Attributes
    ----------
    refused : Counter
        How many were refused, by reason.
    """

    def __init__(self, closings: list[Closing], judge: ClosureFilter) -> None:
        self._waiting, self._put_off = list(closings), list[Closing]()
        self._judge: ClosureFilter | None = judge
        self._begun, self._found = 0, False
        self.refused: Counter[str] = Counter()

    @classmethod
    def of(cls, hypotheses: list[Hypothesis], grasp_object: GraspObject, hand: HandModel,
           options: PlannerOptions, limits: Limits) -> 'ClosingQueue':
        """Return the queue of the hypotheses' closings."""
        return cls([Closing(h, hand, options, limits) for h in hypotheses],
                   ClosureFilter(grasp_object, hand, options.closure_unbalance))

    def __len__(self) -> int:
        """Return how many wait, those put off too."""
        return len(self._waiting) + len(self._put_off)

    def __iter__(self) -> Iterator[Closing]:
        """Go through all that wait."""
        return iter([*self._waiting, *self._put_off])

    def clear(self) -> None:
        """Let nothing wait any more."""
        self._waiting, self._put_off = [], []

    def note(self, closing: Closing) -> None:
        """Take note that a closing taken before has its verdict."""
        self._begun -= 1
        self._found |= closing.held is not None

    def take(self, count: int) -> list[Closing]:
        """Return the next closings to begin, ``count`` at most."""
        taken: list[Closing] = []
        while self._waiting and len(taken) < count:
            closing = self._waiting.pop(0)
            hopeful = self._judge is None or self._judge.has_hope(closing.hypothesis)
            (taken if hopeful else self._put_off).append(closing)
        self._begun += len(taken)
        if self._begun or self._waiting or not self._put_off:
            return taken
        put_off, self._put_off, self._judge = self._put_off, [], None
        if self._found:
            self.refused[HOPELESS] += len(put_off)
            return []
        self._waiting = put_off
        return self.take(count)
