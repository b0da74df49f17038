"""How often something is told anew, and how late it comes at worst, by times of measurement."""

from collections import deque

import numpy as np

#: Periods of which the median is taken, fewer than the second tell nothing; and of which the
#: longest is: ten seconds of joints at 50 Hz.
MOST_PERIODS, FEWEST_PERIODS, LATE_PERIODS = 50, 5, 500
#: Way of a joint between two news of its pads [rad], and by how much it may be longer [-].
BLIND_WAY, SLACK = 2e-3, 0.1
#: Way of a joint within the longest time without news [rad], and how slow it gets at most [rad/s].
LATE_WAY, SLOWEST = 4e-3, 0.01


class NewsRate:
    """The rate of the last news."""

    def __init__(self) -> None:
        """Nothing has come yet."""
        self._last: float | None = None
        self._periods: deque[float] = deque(maxlen=LATE_PERIODS)

    def add(self, time: float) -> None:
        """Take the time of what was told last [s]; the same again is nothing new."""
        if self._last is not None and time > self._last:
            self._periods.append(time - self._last)
        if self._last is None or time > self._last:
            self._last = time

    @property
    def period(self) -> float:
        """Return the median time between two news [s], NaN where too few came."""
        if len(self._periods) < FEWEST_PERIODS:
            return np.nan
        return float(np.median(list(self._periods)[-MOST_PERIODS:]))

    @property
    def longest(self) -> float:
        """Return the longest time between two of the last news [s], 0 where none is known."""
        return max(self._periods, default=0.0)

    def slower(self, speed: float) -> float:
        """Return by what factor a speed [rad/s] is too fast for so few news, 1 where it is not."""
        factor = speed * self.period / BLIND_WAY
        return factor if factor > 1.0 + SLACK else 1.0


def slower_for_late(speed: float, longest: float) -> float:
    """
    Return by what factor a speed [rad/s] is too fast where news has been so long in coming [s].

    A machine that is busy with other work is late again and again, by about as much: while
    nothing is heard, and nothing obeyed, a finger goes on.
    """
    factor = min(speed * longest / LATE_WAY, speed / SLOWEST)
    return factor if factor > 1.0 + SLACK else 1.0
