"""
A subscription with a thread of its own, for the topics of the ring.

An executor builds its wait set anew for every message, from everything that the node has:
some milliseconds of Python, several times a lap. Here a wait set of one subscription is
kept, as ``rclpy.wait_for_message`` makes one, and the thread that takes a message serves it.
"""

import threading
import traceback
from collections.abc import Callable

from rclpy.callback_groups import CallbackGroup
from rclpy.exceptions import InvalidHandle
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.qos import QoSProfile

#: Longest wait for a message, after which the thread looks whether it shall end [ns].
LONGEST_WAIT = 100_000_000
#: Seconds given to a thread to end; it may be in the midst of an answer.
STOP_TIMEOUT = 2.0
#: Seconds to wait after an error, so that one that repeats fills no log.
ERROR_PAUSE = 0.05


class NoExecutor(CallbackGroup):
    """A group whose entities executors leave alone."""

    def can_execute(self, entity) -> bool:
        """Return that an executor may not serve it."""
        return False

    def beginning_execution(self, entity) -> bool:
        """Return that an executor may not serve it."""
        return False

    def ending_execution(self, entity) -> None:
        """Do nothing; it never begins."""


class RingReader:
    """
    Serves the messages of one topic in the order in which they come.

    Parameters
    ----------
    node : rclpy.node.Node
    kind : type
        Type of the messages.
    topic : str
    quality : QoSProfile
    callback : callable
        ``callback(msg, info)``; what it raises goes to ``on_error`` and ends nothing.
    on_error : callable
        ``on_error(error, text)`` takes the exception and its traceback.
    """

    def __init__(self, node, kind: type, topic: str, quality: QoSProfile,
                 callback: Callable[[object, dict], None],
                 on_error: Callable[[Exception, str], None]) -> None:
        """Subscribe; messages wait in the queue until ``start``."""
        self._context = node.context
        self._subscription = node.create_subscription(
            kind, topic, callback, quality, callback_group=NoExecutor())
        self._callback, self._on_error = callback, on_error
        self.topic, self._depth, self._most_waiting = topic, max(1, quality.depth), 0
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name=topic, daemon=True)

    def start(self) -> None:
        """Begin to serve; a second time does nothing."""
        if self._thread.ident is None:
            self._thread.start()

    def stop(self, wait: bool = True) -> None:
        """End the thread after the message it is at, and wait; called before the node ends."""
        self._stopped.set()
        if wait and self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(STOP_TIMEOUT)

    def _run(self) -> None:
        try:
            with self._subscription.handle, self._context.handle:
                wait_set = rclpy_implementation.WaitSet(1, 0, 0, 0, 0, 0, self._context.handle)
                while self._goes_on():
                    wait_set.clear_entities()
                    wait_set.add_subscription(self._subscription.handle)
                    wait_set.wait(LONGEST_WAIT)
                    self._serve_waiting()       # what came meanwhile ends the next wait at once
        except InvalidHandle:       # the node has been destroyed
            pass

    def _goes_on(self) -> bool:
        return not self._stopped.is_set() and self._context.ok()

    def read_waiting(self) -> int:
        """Return the most messages that were found waiting since this was last asked."""
        most, self._most_waiting = self._most_waiting, 0
        return most

    def _serve_waiting(self) -> None:
        """Serve what has come."""
        waiting = []
        while len(waiting) < self._depth:
            taken = self._guarded(self._take)
            if taken is None:
                break
            waiting.append(taken)
        self._most_waiting = max(self._most_waiting, len(waiting))
        for taken in waiting:
            if self._goes_on():
                self._guarded(lambda: self._callback(*taken))

    def _take(self):
        return self._subscription.handle.take_message(self._subscription.msg_type, False)

    def _guarded(self, call: Callable[[], object]):
        """Return what a call returns; None where it fails, which ends nothing."""
        try:
            return call()
        except Exception as error:
            self._on_error(error, traceback.format_exc())
            self._stopped.wait(ERROR_PAUSE)
            return None
