"""Commands to the thread that owns a world, carried out between two of its steps."""

import queue
from collections.abc import Callable
from contextlib import suppress

from ..base.node_base import one_line

#: Longest that whoever asks waits for the thread to take a command [s].
COMMAND_TIMEOUT = 5.0

#: Does something and returns what there is to tell.
Command = Callable[[], object]


class Commands:
    """
    Commands of other threads, in their order.

    Parameters
    ----------
    tell : callable
        Is given what is wrong with a command that fails.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        """Nothing has been asked for."""
        self._tell, self._ended = tell, ''
        self._waiting: queue.SimpleQueue = queue.SimpleQueue()

    def put(self, command: Command) -> None:
        """Have a command carried out; nobody waits for it."""
        self._waiting.put((command, None))

    def ask(self, command: Command, timeout: float = COMMAND_TIMEOUT) -> tuple[bool, str]:
        """Have a command carried out; return whether it was within a time [s], and its text."""
        answer: queue.SimpleQueue = queue.SimpleQueue()
        self._waiting.put((command, answer))
        if self._ended:
            self._refuse_waiting()
        try:
            return answer.get(timeout=timeout)
        except queue.Empty:
            return False, 'the simulation does not run'

    def obey(self, wait: float) -> None:
        """Carry out all that waits; where nothing does, wait for it for a time [s]."""
        try:
            self._carry_out(*self._waiting.get(wait > 0.0, wait or None))
            while True:
                self._carry_out(*self._waiting.get_nowait())
        except queue.Empty:
            pass

    def close(self, reason: str) -> None:
        """Refuse what waits, and from now on whatever is asked, for a reason."""
        self._ended = reason
        self._refuse_waiting()

    def _refuse_waiting(self) -> None:
        with suppress(queue.Empty):
            while True:
                _, answer = self._waiting.get_nowait()
                if answer is not None:
                    answer.put((False, self._ended))

    def _carry_out(self, command: Command, answer: queue.SimpleQueue | None) -> None:
        try:
            taken, text = True, str(command() or '')
        except Exception as error:
            taken, text = False, one_line(error)
            self._tell(text)
        if answer is not None:
            answer.put((taken, text))
