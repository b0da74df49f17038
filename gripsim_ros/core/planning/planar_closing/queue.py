"""The queue of hypotheses that wait for their closing: the best by planar closing first."""

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Protocol

import numpy as np

from ..closing.closing import Closing
from ..hypotheses.generate import Hypothesis
from ..rejections import NO_PLANAR_BALANCE
from .prospects import Prospect


class Judge(Protocol):
    """What foretells the prospects of hypotheses; see ``PlanarProspects``."""

    @property
    def foretells(self) -> bool:
        """Return whether it does."""

    def prospect(self, hypothesis: Hypothesis) -> Prospect:
        """Return what is foretold of a hypothesis."""


#: What a hypothesis has where nothing is foretold.
UNKNOWN = Prospect(True, np.inf)


class ClosingQueue:
    """
    Closings that wait: a first wave as they come, then those of the best prospects first.

    The first wave shows what prospects are worth. Those of the others are found meanwhile by
    ``look_ahead()``, or elsewhere: ``seek()`` gives them out, and ``learn()`` takes them. Where
    those of the next one are too poor it and all after it are held back, until ``release()``.
    Closings that are not promising are postponed, as are those without forces where these are not
    worth it: refused where a grasp holds once all others have their verdict, and begun where none
    does. So the order changes no hint and no nearest miss, and no answer depends on when other
    answers came.

    Parameters
    ----------
    closings : list of Closing
        Not begun, in their order.
    judge : Judge
    first : int
        Promising ones of the first wave.

    Attributes
    ----------
    refused, held_back : list of Closing
        Those refused; those held back, the best first.
    """

    def __init__(self, closings: list[Closing], judge: Judge, first: int) -> None:
        self._waiting, self._sorted = list(closings), list[Closing]()
        self._judge: Judge | None = judge if judge.foretells else None
        self._first, self._released = first if judge.foretells else len(closings), 0
        self._prospects: dict[int, Prospect] = {}
        self._sought = set[int]()
        self._postponed = list[Closing]()
        self._begun, self._found = 0, False
        self.refused, self.held_back = list[Closing](), list[Closing]()

    def __len__(self) -> int:
        """Return how many wait, those postponed included, those held back not."""
        return len(self._waiting) + len(self._sorted) + len(self._postponed)

    def __iter__(self) -> Iterator[Closing]:
        """Go through all that wait."""
        return chain([*self._waiting], [*self._sorted], [*self._postponed])

    def clear(self) -> None:
        """Drop all that wait."""
        self._waiting, self._sorted, self._postponed = [], [], []

    def note(self, closing: Closing) -> None:
        """Take note that a closing taken before has its verdict."""
        self._begun -= 1
        self._found |= closing.held is not None

    def prospect(self, closing: Closing) -> Prospect:
        """Return what is foretold of a closing."""
        number = closing.hypothesis.number
        if number not in self._prospects:
            self._prospects[number] = (
                UNKNOWN if self._judge is None else self._judge.prospect(closing.hypothesis))
        return self._prospects[number]

    def look_ahead(self) -> bool:
        """Find the prospect of one that waits; return whether one was unknown."""
        unknown = self._unknown(1) if self._first <= 0 else []
        for closing in unknown:
            self.prospect(closing)
        return bool(unknown)

    @property
    def lacks_prospects(self) -> bool:
        """Return whether what comes next hangs on prospects that nobody has found or seeks."""
        return self._first <= 0 and bool(self._unknown(1))

    def seek(self, count: int) -> list[int]:
        """
        Give out up to ``count`` hypotheses that wait, of which others find the prospects.

        Returns
        -------
        list of int
            Their numbers; none before the first wave has begun. Until all are learned none begins.
        """
        found = [closing.hypothesis.number for closing in self._unknown(count)
                 ] if self._first <= 0 else []
        self._sought.update(found)
        return found

    def learn(self, prospects: Mapping[int, Prospect]) -> None:
        """Take the prospects of hypotheses given out, by number."""
        self._prospects.update(prospects)
        self._sought.difference_update(prospects)

    def _unknown(self, count: int) -> list[Closing]:
        """Return up to ``count`` that wait of which nobody finds the prospects yet."""
        if self._judge is None:
            return []
        known = self._prospects.keys() | self._sought
        return [closing for closing in self._waiting
                if closing.hypothesis.number not in known][:count]

    def release(self, count: int) -> None:
        """Let the best ``count`` of those held back wait again, whatever their prospects."""
        self._sorted, self.held_back = self.held_back[:count], self.held_back[count:]
        self._released = len(self._sorted)

    def take(self, count: int, is_hopeless: Callable[[float], bool] = lambda score: False
             ) -> list[Closing]:
        """
        Return the next closings to begin.

        Parameters
        ----------
        count : int
            At most so many.
        is_hopeless : callable
            Tells by its foretold score whether one that would begin now is not worth it.
        """
        taken: list[Closing] = []
        while len(taken) < count and (closing := self._next(is_hopeless)):
            taken.append(closing)
        self._begun += len(taken)
        if self._begun or self._waiting or self._sorted or not self._postponed:
            return taken
        postponed, self._postponed, self._judge = self._postponed, [], None
        if self._found:
            for closing in postponed:
                closing.fail(NO_PLANAR_BALANCE)
            self.refused += postponed
            return []
        self._waiting, self._first = postponed, len(postponed)
        self._prospects.clear()
        return self.take(count)

    def _next(self, is_hopeless: Callable[[float], bool]) -> Closing | None:
        """Return the next closing to begin; None: there is none now."""
        while self._waiting:
            if self._sought:
                return None
            closing = self._waiting.pop(0)
            if not self.prospect(closing).promising:
                self._postponed.append(closing)
            elif self._first > 0:
                self._first -= 1
                return closing
            else:
                self._sorted.append(closing)
            if not self._waiting:
                self._sorted.sort(key=lambda closing: -self.prospect(closing).score)
        if not self._sorted:
            return None
        if self._released > 0:
            self._released -= 1
        elif is_hopeless(score := self.prospect(self._sorted[0]).score):
            if np.isfinite(score):
                self.held_back = self._sorted + self.held_back
            else:
                self._postponed += self._sorted
            self._sorted = []
            return None
        return self._sorted.pop(0)
