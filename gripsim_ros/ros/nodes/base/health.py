"""What the diagnostics of a node count: laps, messages, queues, delays; on the steady clock."""

import time
from collections.abc import Callable, Sequence
from functools import wraps

from rclpy.context import Context

#: A node that was killed stays in the graph for the 20 s of its lease, beside the one that took
#: its place; whoever carries the same name for longer than this lives [s].
NAMESAKE_TIME = 25.0
#: Nodes that are started or ended together are all there, or all gone, within this; what is
#: waited for longer is told in the log, the diagnostics tell it at once [s].
AWAITED_TIME = 15.0
#: How begins what diagnostics say of a node that waits for others.
WAITING = 'waiting for '


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


class Awaited:
    """Says once what a node waits for, where it waits for long, and that it waits no more."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Wait for nothing."""
        self._clock, self._since = clock, clock()
        self._awaited = self._told = ''

    def look(self, missing: str) -> str:
        """Return the line to log now that this is missing, or ''."""
        awaited = missing if missing.startswith(WAITING) else ''
        if awaited != self._awaited:
            self._awaited, self._since = awaited, self._clock()
        if awaited == self._told or (
                awaited and self._clock() - self._since < AWAITED_TIME):
            return ''
        self._told = awaited
        return awaited or 'waits for nothing any more'


class Namesakes:
    """Tells whether other nodes carry this one's name: those of another suite in its domain."""

    def __init__(self, name: str, namespace: str,
                 clock: Callable[[], float] = time.monotonic) -> None:
        """Remember whose name it is."""
        self._own, self._clock = (name, namespace), clock
        self._since: float | None = None

    def look(self, nodes: Sequence[tuple[str, str]]) -> str:
        """
        Return a warning where there has been more than one for ``NAMESAKE_TIME``, or ''.

        Parameters
        ----------
        nodes : sequence of (str, str)
            Names and namespaces of all nodes, as ``get_node_names_and_namespaces`` gives them.
        """
        count = list(nodes).count(self._own)
        if count < 2:
            self._since = None
            return ''
        if self._since is None:
            self._since = self._clock()
        if self._clock() - self._since < NAMESAKE_TIME:
            return ''
        name = f'{self._own[1].rstrip("/")}/{self._own[0]}'
        return (f'{count} nodes are called {name} in this ROS domain, of {count} suites: give one '
                'a namespace, or a ROS_DOMAIN_ID of its own')


def if_ok(context: Context, callback: Callable[[], None]) -> Callable[[], None]:
    """Return a callback whose errors are dropped where ROS was shut down under it."""
    def call() -> None:
        try:
            callback()
        except Exception:
            if context.ok():
                raise
    return call
