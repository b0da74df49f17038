"""How often something is told anew, by its times of measurement."""

from collections import deque

import numpy as np

#: Periods of which the median is taken; fewer than the second tell nothing.
MOST_PERIODS, FEWEST_PERIODS = 50, 5
#: Way of a joint between two news of its pads [rad], and by how much it may be longer [-].
BLIND_WAY, SLACK = 2e-3, 0.1


class NewsRate:
    """The rate of the last news."""

    def __init__(self) -> None:
        """Nothing has come yet."""
        self._times: deque[float] = deque(maxlen=MOST_PERIODS + 1)

    def add(self, time: float) -> None:
        """Take the time of what was told last [s]; the same again is nothing new."""
        if not self._times or time > self._times[-1]:
            self._times.append(time)

    @property
    def period(self) -> float:
        """Return the median time between two news [s], NaN where too few came."""
        if len(self._times) <= FEWEST_PERIODS:
            return np.nan
        return float(np.median(np.diff(self._times)))

    def slower(self, speed: float) -> float:
        """Return by what factor a speed [rad/s] is too fast for so few news, 1 where it is not."""
        factor = speed * self.period / BLIND_WAY
        return factor if factor > 1.0 + SLACK else 1.0
