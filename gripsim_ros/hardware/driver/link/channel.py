"""Requests and replies on one link: time-outs, repeats, and finding the way back into step."""

import itertools
import time
from collections.abc import Callable
from typing import Any

from ..options import LinkOptions
from .errors import LinkError, MalformedError, SilenceError
from .protocol import LineBuffer, command_name, encode, parse_reply
from .transport import Transport, drain

#: Requests by which replies are brought back into step; their answers never change.
SYNC_COMMANDS = ('numaxis', 'sn')
#: What a host sends first, and the most that a boot message is waited for [s].
WAKE_UP, BOOT_QUIET, BOOT_LONGEST = b' \r\n', 0.1, 1.0


class CommandChannel:
    """
    Asks one question at a time.

    The replies come in the order of the requests. After a reply that is late, missing or
    garbled it is unknown which request the next line answers; ``synchronise`` then asks for
    something else and skips everything up to its answer.

    Attributes
    ----------
    requests, silences, malformed, repeats : int
        Counts since the channel was made.
    """

    def __init__(self, transport: Transport, options: LinkOptions) -> None:
        """Talk over an open link."""
        self._transport, self._options = transport, options
        self._lines = LineBuffer()
        self._sync = itertools.cycle(SYNC_COMMANDS)
        self.requests = self.silences = self.malformed = self.repeats = 0

    def wake(self) -> None:
        """Send an empty line and drop what the hand says of itself while it boots."""
        self._transport.write(WAKE_UP)
        drain(self._transport, BOOT_QUIET, BOOT_LONGEST)
        self._lines.clear()

    def request(self, command: str, tries: int | None = None, timeout: float | None = None,
                read: Callable[[str, str], Any] = lambda command, value: value) -> Any:
        """
        Return the value of the reply to a request.

        Parameters
        ----------
        command : str
            Without end of line.
        tries : int, optional
            How often it is sent in all; by default as in the options.
        timeout : float, optional
            [s]; by default that of the options.
        read : callable
            Turns request and value into what is returned, or raises MalformedError.

        Raises
        ------
        LinkError
            The link is lost, or there was no way back into step.
        SilenceError, MalformedError
            No reply, or nothing understandable, in all tries.
        FirmwareError
            The hand refused; this is final.
        """
        for left in reversed(range(tries or self._options.tries)):
            try:
                return self._ask(command, timeout or self._options.reply_timeout, read)
            except (SilenceError, MalformedError):
                if not left:
                    raise
                self.repeats += 1
                self.synchronise()
        raise AssertionError

    def _ask(self, command: str, timeout: float, read: Callable[[str, str], Any]) -> Any:
        self.requests += 1
        if self._lines.clear():
            self.malformed += 1
            raise MalformedError(f'there was a line before {command!r} was asked')
        self._transport.write(encode(command))
        end = time.monotonic() + timeout
        try:
            line = self._next_line(end)
            while line == command and self._options.skip_echo:
                line = self._next_line(end)
            if line is None:
                self.silences += 1
                raise SilenceError(f'no answer to {command!r} within {timeout:g} s')
            return read(command, parse_reply(command, line))
        except MalformedError:
            self.malformed += 1
            raise

    def _next_line(self, end: float) -> str | None:
        """Return the next line, None where none has come by ``end``."""
        while True:
            line = self._lines.pop()
            if line is not None:
                return line
            left = end - time.monotonic()
            if left <= 0.0:
                return None
            self._lines.feed(self._transport.read(left))

    def send_blind(self, command: str) -> None:
        """Send a request whose reply is not known; ``synchronise`` before the next one."""
        self._transport.write(encode(command))

    def synchronise(self) -> None:
        """
        Bring requests and replies into step.

        Raises
        ------
        LinkError
            The link is lost, or the hand does not answer any more.
        """
        for _ in range(self._options.tries):
            command = next(self._sync)
            self._transport.write(b'\r\n' + encode(command))     # ends a line that lost its end
            if self._skip_to(f'{command_name(command)}='):
                return
        raise LinkError(f'the hand does not answer {" or ".join(SYNC_COMMANDS)} within '
                        f'{self._options.tries} x {self._options.reply_timeout:g} s')

    def _skip_to(self, start: str) -> bool:
        end = time.monotonic() + self._options.reply_timeout
        while True:
            try:
                line = self._next_line(end)
            except MalformedError:
                continue
            if line is None:
                return False
            if line.startswith(start):
                return True
