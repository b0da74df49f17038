"""Own compliances of bodies, prepared beside the answers of a stage."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from weakref import WeakKeyDictionary

from ....core.mechanics import ElasticBody


class Compliances:
    """
    Own compliances, prepared one at a time in threads that no answer waits for.

    What one process prepares on a machine the others find on disk; see docs/model/compliance.md.

    Parameters
    ----------
    on_prepared : callable
        ``on_prepared(body)`` is called from such a thread after each.
    """

    def __init__(self, on_prepared: Callable[[ElasticBody], None]) -> None:
        """Prepare nothing yet."""
        self._on_prepared = on_prepared
        self._begun: WeakKeyDictionary[ElasticBody, Future[bool]] = WeakKeyDictionary()
        self._lock, self._turn = threading.Lock(), threading.Lock()
        self.since: float | None = None

    def of(self, body: ElasticBody) -> 'Future[bool]':
        """Return whether a body has an own compliance, as soon as that is known."""
        with self._lock:
            if body not in self._begun:
                self._begun[body] = Future()
                threading.Thread(target=self._prepare, args=(body, self._begun[body]),
                                 name='compliance', daemon=True).start()
            return self._begun[body]

    def _prepare(self, body: ElasticBody, known: 'Future[bool]') -> None:
        with self._turn:
            self.since = time.monotonic()
            try:
                found = body.prepare()
                self._on_prepared(body)
                known.set_result(found)
            except BaseException as error:      # raised where the answer is wanted
                known.set_exception(error)
            finally:
                self.since = None
