"""Questions beside those for angles and velocities, each in its turn."""

from collections.abc import Callable, Mapping

Question = Callable[[], object]

#: Requests of a cycle that follows: one for angles, one with velocities.
PLAIN = 2
#: Lengths of cycles that have time to spare.
EVEN = (1.0, 1.0)


class Rota:
    """
    Which questions are asked in a cycle.

    Velocities are sent for the length of the next cycle. On a slow link each question makes one
    longer: there it is one question a cycle at most, chosen a cycle before.

    Parameters
    ----------
    periods : mapping of callable to float
        Questions, and after how long each is due again [s].
    now : float
        By the steady clock [s]; all are due.
    """

    def __init__(self, periods: Mapping[Question, float], now: float) -> None:
        """Ask nothing yet."""
        self._periods, self._due = dict(periods), dict.fromkeys(periods, now)
        self._chosen: list[Question] = []
        self._next: list[Question] | None = None

    def choose(self, now: float, slow: bool, always: Question | None = None) -> list[Question]:
        """Return the questions of this cycle, ``always`` among them where it is not slow."""
        if self._next is not None:
            self._chosen, self._next = self._next, None
        elif slow:
            self._chosen = self._first(now)
        else:
            self._chosen = self._take(now, [one for one in self._due if one == always
                                            or self._due[one] <= now])
        return self._chosen

    def loads(self, now: float, slow: bool) -> tuple[float, float]:
        """Return lengths of this cycle and of the next, as multiples of one without questions."""
        if not slow:
            return EVEN
        self._next = self._first(now)
        return 1.0 + len(self._chosen) / PLAIN, 1.0 + len(self._next) / PLAIN

    def _first(self, now: float) -> list[Question]:
        """Take the one that waits for longest, if any is due."""
        one = min(self._due, key=self._due.__getitem__)
        return self._take(now, [one] if self._due[one] <= now else [])

    def _take(self, now: float, questions: list[Question]) -> list[Question]:
        for one in questions:
            self._due[one] = now + self._periods[one]
        return questions
