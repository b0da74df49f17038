"""
Bytes of a host, cut into requests: lines of ASCII and binary frames, mixed on one channel.

A binary request is ``code, n, k, k floats [, CRC]`` where ``n`` counts the bytes after itself; its
code is 128 or more, which no line begins with. A float may hold the byte of a line's end, so the
length decides, not the end of line. [I] The hand answers with a checksum where it was asked with
one, and gives a frame up that is not whole after ``FRAME_TIMEOUT``.
"""

import struct
import time
from collections.abc import Callable
from dataclasses import dataclass

AXES = 7
#: Commands by code; those that are a list of axis values.
CODES = {128: 'v', 129: 'vel', 130: 'rvel', 131: 'pos', 132: 'state', 133: 'p', 134: 'a',
         139: 'tpap', 140: 'tvav', 141: 'vlim', 142: 'alim', 153: 'p_min', 154: 'p_max',
         155: 'p_offset', 157: 'igrip', 158: 'ihold', 163: 'ilim', 164: 'power'}
FIRST_BINARY = 128
#: Bytes after the length: no values or all seven, without and with checksum.
LENGTHS = {1: False, 3: True, 1 + 4 * AXES: False, 3 + 4 * AXES: True}
LONGEST_LINE, FRAME_TIMEOUT = 1024, 0.4


@dataclass(frozen=True)
class BinaryRequest:
    """A binary frame: whether it has a checksum, and whether that is right."""

    code: int
    values: tuple[float, ...]
    has_crc: bool = False
    intact: bool = True


def checksum(data: bytes) -> int:
    """Return the CRC of joints and tactile sensors, bit by bit for each byte's table entry."""
    crc = 0xFFFF
    for byte in data:
        entry = ((crc ^ byte) & 0xFF) << 8
        for _ in range(8):
            entry = ((entry << 1) ^ 0x1021 if entry & 0x8000 else entry << 1) & 0xFFFF
        crc = (crc >> 8) ^ entry
    return crc


def binary_answer(request: BinaryRequest, status: int, values=()) -> bytes:
    """Return the answer to a request; it has all seven values, whatever the status."""
    told = [*values, *(AXES - len(values)) * [0.0]]
    body = struct.pack('<BBBB7f', request.code, 2 + 4 * AXES + 2 * request.has_crc, AXES, status,
                       *told)
    return body + struct.pack('<H', checksum(body)) if request.has_crc else body


class RequestCutter:
    """Cuts what a host sends into requests, as it comes."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Hold nothing."""
        self._clock, self._rest, self._heard = clock, b'', 0.0

    def clear(self) -> None:
        """Forget what is not whole."""
        self._rest = b''

    def feed(self, data: bytes) -> list[str | BinaryRequest]:
        """Take bytes, perhaps none; return the requests that are whole now."""
        now = self._clock()
        if self._rest[:1] >= bytes([FIRST_BINARY]) and now - self._heard > FRAME_TIMEOUT:
            self._rest = b''
        if data:
            self._rest, self._heard = self._rest + data, now
        found: list[str | BinaryRequest] = []
        while self._rest:
            request, length = (self._frame() if self._rest[0] >= FIRST_BINARY else self._line())
            if not length:
                break
            self._rest = self._rest[length:]
            if request is not None:
                found.append(request)
        return found

    def _frame(self) -> tuple[BinaryRequest | None, int]:
        """Return a request and its length; no length where more is to come."""
        if len(self._rest) < 2:
            return None, 0
        code, size = self._rest[0], self._rest[1]
        if size not in LENGTHS:
            return None, 1                              # noise
        if len(self._rest) < 2 + size:
            return None, 0
        frame, has_crc = self._rest[:2 + size], LENGTHS[size]
        body = frame[:-2] if has_crc else frame
        intact = not has_crc or struct.unpack('<H', frame[-2:])[0] == checksum(body)
        count = (len(body) - 3) // 4
        intact = intact and body[2] == count
        values = struct.unpack(f'<{count}f', body[3:])
        return BinaryRequest(code, values, has_crc, intact), 2 + size

    def _line(self) -> tuple[str | None, int]:
        end = self._rest.find(b'\n')
        if end < 0:
            self._rest = self._rest[-LONGEST_LINE:]
            return None, 0
        return self._rest[:end].decode('ascii', 'replace').strip(), end + 1
