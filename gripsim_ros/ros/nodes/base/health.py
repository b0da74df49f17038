"""What the diagnostics of a node count: laps, messages, queues, delays; on the steady clock."""

import time
from collections.abc import Callable
from functools import wraps


class Meter:
    """Counts laps and the time they took, and tells rates since it was last read."""

    def __init__(self) -> None:
        """Start counting."""
        self.laps = 0
        self._read_laps = 0
        self._busy = 0.0
        self._longest_wait = 0.0
        self._read_time = time.monotonic()

    def add(self, seconds: float, wait: float = 0.0) -> None:
        """Count a lap that took ``seconds`` after ``wait`` in the queue."""
        self.laps += 1
        self._busy += seconds
        self._longest_wait = max(self._longest_wait, wait)

    def read(self) -> dict[str, str]:
        """Return laps, rate, share of time busy and longest wait in the queue."""
        now = time.monotonic()
        elapsed = max(now - self._read_time, 1e-9)
        values = {'laps': f'{self.laps}',
                  'rate [1/s]': f'{(self.laps - self._read_laps) / elapsed:.1f}',
                  'busy [%]': f'{100.0 * self._busy / elapsed:.0f}',
                  'longest wait in queue [ms]': f'{1e3 * self._longest_wait:.1f}'}
        self._read_laps, self._read_time = self.laps, now
        self._busy = self._longest_wait = 0.0
        return values


class Traffic:
    """Counts the messages of each topic that a node takes, and how late its executor is."""

    def __init__(self, period: float, clock: Callable[[], float] = time.monotonic) -> None:
        """Start counting; it will be read every ``period`` [s]."""
        self._counts: dict[str, int] = {}
        self._period, self._clock, self._read_time = period, clock, clock()

    def counted(self, topic: str, callback: Callable) -> Callable:
        """Return a callback that also counts; its signature stays as it is."""
        self._counts.setdefault(topic, 0)

        @wraps(callback)
        def count(*arguments):
            self._counts[topic] += 1
            return callback(*arguments)
        return count

    def read(self) -> dict[str, str]:
        """
        Return messages a second since the last reading by topic, and the delay.

        The delay is how much later than due the reading comes. DDS does not tell how many
        messages wait for an executor; they wait about as long as its timers are late.
        """
        now = self._clock()
        elapsed = max(now - self._read_time, 1e-9)
        values = {f'taken from {topic} [1/s]': f'{count / elapsed:.1f}'
                  for topic, count in list(self._counts.items())}
        self._counts = dict.fromkeys(self._counts, 0)
        self._read_time = now
        return {**values, 'callbacks late [ms]': f'{1e3 * max(0.0, elapsed - self._period):.0f}'}
