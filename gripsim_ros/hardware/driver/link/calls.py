"""Calls from other threads to the one that talks to the hand; and how it tells how it is."""

import math
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass

from .channel import CommandChannel
from .errors import StateError
from .joint_controller import HandIdentity

#: How long a call from another thread may take [s].
CALL_TIMEOUT = 5.0
#: What a channel counts.
CHANNEL_COUNTS = ('requests', 'silences', 'malformed', 'repeats')


@dataclass(frozen=True, eq=False)
class Condition:
    """
    How the hand is, for diagnostics.

    ``problem`` is '' where all is well, ``latched`` the reason of the emergency stop,
    ``fault_age`` the time since ``last_fault`` [s], ``axes`` the joints whose axes neither rest
    nor move as usual.
    """

    connected: bool
    problem: str
    latched: str
    motors: str
    overheated: bool
    moving: bool
    identity: HandIdentity | None
    temperatures: dict[str, float]
    counts: dict[str, int]
    last_fault: str
    fault_age: float
    axes: str


class Faults:
    """
    What went wrong so far.

    Attributes
    ----------
    counts : dict of str to int
        Over all connections that have ended.
    last : str
        One line.
    in_row : int
        Since something went well.
    """

    def __init__(self) -> None:
        """Nothing has."""
        self.counts = dict.fromkeys(('connections', 'faults', 'refused', *CHANNEL_COUNTS), 0)
        self.last, self.in_row, self._when = '', 0, -math.inf

    @property
    def age(self) -> float:
        """Return the time since the last fault [s]."""
        return time.monotonic() - self._when

    def count(self, text: str) -> None:
        """Take one more."""
        self.counts['faults'] += 1
        self.last, self._when = text, time.monotonic()

    def with_channel(self, channel: CommandChannel | None) -> dict[str, int]:
        """Return the counts, those of a channel among them."""
        return {name: count + (getattr(channel, name) if channel is not None
                               and name in CHANNEL_COUNTS else 0)
                for name, count in self.counts.items()}


@dataclass(frozen=True, eq=False)
class Call:
    """What another thread wants done, and how it learns the end."""

    run: Callable[[], object]
    future: Future
    stops: bool = False


class CallQueue:
    """
    A queue that is open while the hand is connected; a call outlives no connection.

    ``stops`` counts the calls that wait for their turn to stop the hand.
    """

    def __init__(self) -> None:
        """Start closed."""
        self._calls: queue.SimpleQueue = queue.SimpleQueue()
        self._lock = threading.Lock()
        self.opened = threading.Event()
        self.why_closed, self.stops = 'not connected yet', 0
        self._newest: object = None

    def open(self) -> None:
        """Take calls from now on."""
        with self._lock:
            self.why_closed, self.stops = '', 0
            self.opened.set()

    def close(self, why: str) -> None:
        """Take none any more; those that wait are refused by ``refuse_all``."""
        with self._lock:
            self.why_closed = why
            self.opened.clear()

    def refuse_all(self) -> None:
        """End the calls that were not served; after ``close``."""
        while not self._calls.empty():
            call = self._calls.get_nowait()
            if call is not None:
                call.future.set_exception(self._closed())

    def wake(self) -> None:
        """End a wait of ``take``."""
        self._calls.put(None)

    def put(self, function: Callable[[], object], stops: object = False, begins: object = None
            ) -> Future:
        """
        Hand a call to the thread; one that ``stops`` counts from now until it is taken.

        ``stops`` may be a motion instead of True: it counts where no newer one was begun, for a
        call that ``begins`` one makes that the newest.

        Raises
        ------
        StateError
            The queue is closed.
        """
        with self._lock:
            if not self.opened.is_set():
                raise self._closed()
            self._newest = begins or self._newest
            call = Call(function, Future(), stops is True or bool(stops) and stops is self._newest)
            self.stops += call.stops
            self._calls.put(call)
            return call.future

    def call(self, function: Callable[[], object], stops: object = False) -> None:
        """
        Have something done and wait for its end; ``stops`` as for ``put``.

        Raises
        ------
        DriverError
            As it does, or there was no answer in time.
        """
        future = self.put(function, stops)
        try:
            future.result(CALL_TIMEOUT)
        except FutureTimeout:
            if not stops:       # what was not begun shall not be done later
                future.cancel()
            raise StateError('the hand did not answer in time') from None

    def take(self, until: float) -> Call | None:
        """Return the next call, None where there is none by a time of the steady clock."""
        left = until - time.monotonic()
        try:
            call = self._calls.get(timeout=left) if left > 0.0 else self._calls.get_nowait()
        except queue.Empty:
            return None
        if call is not None and call.stops:
            with self._lock:
                self.stops = max(0, self.stops - 1)
        return call

    def _closed(self) -> StateError:
        return StateError(f'the hand is not connected: {self.why_closed}')
