"""Objects that are published for a simulated hand, and what becomes of the newest."""

import queue
from collections.abc import Callable

from gripsim_interfaces.msg import GraspObject

from ..base.node_base import one_line


class Arrivals:
    """
    Takes in published objects, one at a time.

    ``preparing`` is the label of the one that is being made ready, '' where none is;
    ``refused`` is why the last one was not taken, '' where it was.

    Parameters
    ----------
    wanted : str
        Hash or label of the object to hold; empty: any.
    """

    def __init__(self, wanted: str) -> None:
        """Have heard of none."""
        self._wanted = wanted
        self._queue: queue.SimpleQueue = queue.SimpleQueue()
        self.preparing = self.refused = self._built = ''

    def put(self, msg: GraspObject) -> None:
        """Hear of an object."""
        self._queue.put(msg)

    def take(self, build: Callable[[GraspObject], object]) -> None:
        """
        Wait a moment for objects; build the newest that is wanted and not the one built last.

        ``done`` is to be called once what was built is held. An object that is published again
        before that is not built twice: whoever steps the simulation by then would lose it.

        Raises
        ------
        Exception
            As ``build`` does; ``refused`` says why.
        """
        msg = self._newest()
        if msg is None or msg.object_id == self._built:
            return
        self.preparing, self.refused = msg.label or msg.object_id, ''
        try:
            build(msg)
        except Exception as error:
            self.refused = f'object {self.preparing} refused: {one_line(error)}'
            self.preparing = ''
            raise
        self._built = msg.object_id

    def done(self) -> None:
        """Be told that what was built is held."""
        self.preparing = ''

    def _newest(self) -> GraspObject | None:
        """Wait a moment; return the newest of the wanted hash or label, or None."""
        try:
            messages = [self._queue.get(timeout=0.2)]
            while not self._queue.empty():
                messages.append(self._queue.get_nowait())
        except queue.Empty:
            return None
        return next((msg for msg in reversed(messages)
                     if not self._wanted or self._wanted in (msg.object_id, msg.label)), None)
