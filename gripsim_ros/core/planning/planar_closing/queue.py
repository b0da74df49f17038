"""The queue of hypotheses that wait for their closing, promising ones first."""

from collections import Counter
from collections.abc import Iterator

from ...bodies import GraspObject
from ...hand import HandModel
from ..closing.closing import Closing
from ..closing.limits import ClosingLimits
from ..hypotheses.generate import Hypothesis
from ..options import PlannerOptions
from ..rejections import NO_PLANAR_BALANCE
from .filter import PlanarClosingFilter


class ClosingQueue:
    """
    Closings in their order; those that are not promising by planar closing are postponed.

    Postponed closings are refused where a grasp holds once all others have their verdict, and
    begun where none does. So the filter changes no hint and no nearest miss, and no answer
    depends on when other answers came.

    Parameters
    ----------
    closings : list of Closing
        Not begun, best first.
    judge : PlanarClosingFilter
        Asked as late as possible, when a closing is about to begin.

    Attributes
    ----------
    refused : Counter
        Number of refused closings by reason.
    """

    def __init__(self, closings: list[Closing], judge: PlanarClosingFilter) -> None:
        self._waiting, self._postponed = list(closings), list[Closing]()
        self._judge: PlanarClosingFilter | None = judge
        self._begun, self._found = 0, False
        self.refused: Counter[str] = Counter()

    @classmethod
    def of(cls, hypotheses: list[Hypothesis], grasp_object: GraspObject, hand: HandModel,
           options: PlannerOptions, limits: ClosingLimits) -> 'ClosingQueue':
        """Return the queue of the hypotheses' closings."""
        return cls([Closing(h, hand, options, limits) for h in hypotheses],
                   PlanarClosingFilter(grasp_object, hand, options.closure_unbalance))

    def __len__(self) -> int:
        """Return how many wait, those postponed included."""
        return len(self._waiting) + len(self._postponed)

    def __iter__(self) -> Iterator[Closing]:
        """Go through all that wait."""
        return iter([*self._waiting, *self._postponed])

    def clear(self) -> None:
        """Drop all that wait."""
        self._waiting, self._postponed = [], []

    def note(self, closing: Closing) -> None:
        """Take note that a closing taken before has its verdict."""
        self._begun -= 1
        self._found |= closing.held is not None

    def take(self, count: int) -> list[Closing]:
        """Return the next closings to begin, ``count`` at most."""
        taken: list[Closing] = []
        while self._waiting and len(taken) < count:
            closing = self._waiting.pop(0)
            promising = self._judge is None or self._judge.is_promising(closing.hypothesis)
            (taken if promising else self._postponed).append(closing)
        self._begun += len(taken)
        if self._begun or self._waiting or not self._postponed:
            return taken
        postponed, self._postponed, self._judge = self._postponed, [], None
        if self._found:
            self.refused[NO_PLANAR_BALANCE] += len(postponed)
            return []
        self._waiting = postponed
        return self.take(count)
