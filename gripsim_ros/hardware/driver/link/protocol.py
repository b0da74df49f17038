"""
Lines of the SDH's joint controller: requests as bytes, replies as values.

Requests are lower case with ``\\r\\n``; a reply is ``NAME=values`` with the command's name in
upper case, or ``E<code>``; lines that begin with ``@`` are debug text. Units here are the
firmware's: degrees, seconds, amperes. Source: the vendor's host library; see docs/driver.md.
"""

import math
import re
from collections.abc import Sequence

from .errors import FirmwareError, MalformedError

AXIS_COUNT = 7
#: Joint of the URDF by axis of the firmware. Neither signs nor offsets differ.
AXIS_JOINTS = (
    'sdh_knuckle_joint', 'sdh_finger_22_joint', 'sdh_finger_23_joint', 'sdh_thumb_2_joint',
    'sdh_thumb_3_joint', 'sdh_finger_12_joint', 'sdh_finger_13_joint')
#: What `temp` tells, in its order.
TEMPERATURE_NAMES = (*(f'motor_{axis}' for axis in range(AXIS_COUNT)), 'fpga', 'board')
#: Longest line of either side [bytes].
MAX_LINE = 256
#: States of an axis.
(IDLE, POSITIONING, SPEED_MODE, NOT_INITIALISED, BLOCKED_CW, BLOCKED_CCW, DISABLED,
 LIMITS) = range(8)
BLOCKED = (BLOCKED_CW, BLOCKED_CCW)
STATE_WORDS = ('idle', 'positioning', 'in speed mode', 'not initialised', 'blocked clockwise',
               'blocked counter-clockwise', 'without power', 'at its limit')

_ERROR = re.compile(r'E(\d{1,3})')
_NUMBER = re.compile(r'[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?')
_DURATION = re.compile(r'(?:^|\bT=)\s*(\d+\.?\d*)s?\b')


def axis_words(names: Sequence[str], states: Sequence[int]) -> str:
    """Return what those axes tell that neither rest nor go to a target; '' for none."""
    return ', '.join(f'{name} {STATE_WORDS[state]}' for name, state in zip(names, states)
                     if state not in (IDLE, POSITIONING))


def encode(command: str) -> bytes:
    """
    Return the bytes of a request.

    Raises
    ------
    MalformedError
        It is empty, longer than a line, or holds anything but printable ASCII.
    """
    if not command or not command.isascii() or not command.isprintable():
        raise MalformedError(f'a request is one line of ASCII, got {command!r}')
    if len(command) + 2 > MAX_LINE:
        raise MalformedError(f'a request has at most {MAX_LINE - 2} characters, '
                             f'got {len(command)}')
    return command.encode('ascii') + b'\r\n'


def set_all(name: str, values: Sequence[float]) -> str:
    """
    Return the request that sets all seven axes; there is none for fewer.

    Raises
    ------
    MalformedError
        Not seven finite values.
    """
    if len(values) != AXIS_COUNT or not all(math.isfinite(value) for value in values):
        raise MalformedError(f'{name} takes {AXIS_COUNT} finite values, got {list(values)}')
    return f'{name}=' + ','.join(f'{value + 0.0:.6f}' for value in values)


def command_name(command: str) -> str:
    """Return what the reply to a request begins with."""
    return command.partition('=')[0].strip().upper()


class LineBuffer:
    """Cuts what arrives into lines, without ends of line, debug text and blank lines."""

    def __init__(self) -> None:
        """Start empty."""
        self._rest = b''
        self._lines: list[bytes] = []

    def feed(self, data: bytes) -> None:
        """
        Take bytes as they come.

        Raises
        ------
        MalformedError
            A line has no end within ``MAX_LINE`` bytes; what was held is dropped.
        """
        *lines, self._rest = (self._rest + data).split(b'\n')
        stripped = (line.strip(b'\r\n \t') for line in lines)
        self._lines += [line for line in stripped if line and not line.startswith(b'@')]
        if len(self._rest) > MAX_LINE or any(len(line) > MAX_LINE for line in self._lines):
            self.clear()
            raise MalformedError(f'a line is longer than {MAX_LINE} bytes')

    def pop(self) -> str | None:
        """
        Return the oldest whole line, or None.

        Raises
        ------
        MalformedError
            It is no printable ASCII; it is gone all the same.
        """
        if not self._lines:
            return None
        line = self._lines.pop(0)
        text = line.decode('ascii', errors='replace')
        if not line.isascii() or not text.isprintable():
            raise MalformedError(f'a line is no printable ASCII: {line[:40]!r}')
        return text

    def clear(self) -> int:
        """Drop everything; return how many whole lines that were."""
        count, self._lines, self._rest = len(self._lines), [], b''
        return count


def parse_reply(command: str, line: str) -> str:
    """
    Return what stands behind ``NAME=`` in the reply to a request.

    Raises
    ------
    FirmwareError
        The reply is an error code.
    MalformedError
        It is neither that nor the reply to this request.
    """
    found = _ERROR.fullmatch(line)
    if found:
        raise FirmwareError(command, int(found[1]))
    name, equals, value = line.partition('=')
    if not equals or name.strip() != command_name(command):
        raise MalformedError(f'no answer to {command!r}: {line[:60]!r}')
    return value.strip()


def parse_numbers(command: str, value: str, count: int = AXIS_COUNT) -> list[float]:
    """
    Return the numbers of a reply.

    Raises
    ------
    MalformedError
        Another count, or anything that is no finite number.
    """
    words = [word.strip() for word in value.split(',')]
    if len(words) != count or not all(_NUMBER.fullmatch(word) for word in words):
        raise MalformedError(f'{command!r} should be answered with {count} numbers, '
                             f'got {value[:60]!r}')
    numbers = [float(word) for word in words]
    if not all(math.isfinite(number) for number in numbers):
        raise MalformedError(f'{command!r} was answered with infinite numbers: {value[:60]!r}')
    return numbers


def parse_duration(command: str, value: str) -> float:
    """
    Return the duration [s] in the reply to `m`: ``4.51``, ``4.51s``, or ``… T=4.51s …``.

    Raises
    ------
    MalformedError
        There is none.
    """
    found = _DURATION.search(value)
    if not found:
        raise MalformedError(f'{command!r} should be answered with a duration, '
                             f'got {value[:60]!r}')
    return float(found[1])


def parse_version(text: str) -> tuple[int, ...]:
    """
    Return the numbers of a version such as ``0.0.3.3``.

    Raises
    ------
    MalformedError
        It does not begin with numbers and dots.
    """
    found = re.match(r'\d+(?:\.\d+)+', text)
    if not found:
        raise MalformedError(f"'ver' should be answered with a version, got {text[:60]!r}")
    return tuple(int(number) for number in found[0].split('.'))
