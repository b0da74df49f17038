"""
Packets of the tactile controller: framing, checksum, run lengths.

``AA AA AA``, id, size (two bytes, low first), payload, checksum over id, size and payload.
Requests without payload carry no checksum. Source: the vendor's host library; see docs/driver.md.
"""

import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..link.errors import FirmwareError, MalformedError

PREAMBLE = b'\xaa\xaa\xaa'
HEADER = 6
FRAME, CONTROLLER_INFO, SENSOR_INFO, ACQUISITION, MATRIX_INFO = 0x00, 0x01, 0x02, 0x03, 0x0B
#: Longest payload: all texels of six matrices, not coded, and room for more [bytes].
MAX_PAYLOAD = 4096
#: Ids that there are. What follows a stray byte of a preamble has another: 0xAA.
KINDS = (*range(0x15), 0xAB)
#: Flags of an acquisition request.
ACQUIRE, RUN_LENGTH = 0x80, 0x01
#: Bytes of the answers that are read.
CONTROLLER_INFO_SIZE, SENSOR_INFO_SIZE, MATRIX_INFO_SIZE = 18, 12, 52
FULL_SCALE = 0x0FFF


def _table() -> tuple[int, ...]:
    """Return the table of the polynomial 0x1021, most significant bit first."""
    table = []
    for byte in range(256):
        value = byte << 8
        for _ in range(8):
            value = (value << 1) ^ (0x1021 if value & 0x8000 else 0)
        table.append(value & 0xFFFF)
    return tuple(table)


_TABLE = _table()


def checksum(data: bytes) -> int:
    """
    Return the checksum of some bytes.

    No standard one: the table runs from the most significant bit, the update shifts the other
    way. Starts from 0xFFFF; of ``123456789`` it is 0x6EB4.
    """
    crc = 0xFFFF
    for byte in data:
        crc = (crc >> 8) ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc


def request(kind: int, payload: bytes = b'') -> bytes:
    """Return the bytes of a request."""
    body = struct.pack('<BH', kind, len(payload)) + payload
    return PREAMBLE + body + (struct.pack('<H', checksum(body)) if payload else b'')


def acquisition(frames: bool, run_length: bool, rate: int) -> bytes:
    """Return the request that starts or stops frames."""
    flags = (ACQUIRE if frames else 0) | (RUN_LENGTH if run_length else 0)
    return request(ACQUISITION, struct.pack('<BH', flags, rate))


@dataclass(frozen=True)
class Packet:
    """What came from the controller."""

    kind: int
    payload: bytes


class PacketBuffer:
    """
    Cuts what arrives into packets; searches for the next preamble after anything else.

    Attributes
    ----------
    bad : int
        Packets whose checksum or size was wrong.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._data = b''
        self.bad = 0

    def feed(self, data: bytes) -> list[Packet]:
        """Take bytes as they come; return the packets that are whole and right."""
        self._data += data
        packets = []
        while True:
            start = self._data.find(PREAMBLE)
            if start < 0:
                self._data = self._data[-2:]
                return packets
            self._data = self._data[start:]
            if len(self._data) < HEADER:
                return packets
            kind, size = struct.unpack('<BH', self._data[3:HEADER])
            if size > MAX_PAYLOAD or kind not in KINDS:
                self._skip()
                continue
            end = HEADER + size
            if len(self._data) < end + 2:
                return packets
            (crc,) = struct.unpack('<H', self._data[end:end + 2])
            if crc != checksum(self._data[3:end]):
                self._skip()
                continue
            packets.append(Packet(kind, self._data[HEADER:end]))
            self._data = self._data[end + 2:]

    def _skip(self) -> None:
        """Leave a preamble that leads nowhere; a packet may begin right behind it."""
        self.bad += 1
        self._data = self._data[1:]

    def clear(self) -> None:
        """Drop what is held."""
        self._data = b''


def check_answer(what: str, payload: bytes, size: int) -> None:
    """
    Refuse an answer that is short or carries an error.

    Raises
    ------
    FirmwareError
        The controller answered with an error.
    MalformedError
        It has another size.
    """
    if len(payload) < 2:
        raise MalformedError(f'{what} should be answered with {size} bytes, got {len(payload)}')
    (code,) = struct.unpack('<H', payload[:2])
    if code:
        raise FirmwareError(what, code)
    if len(payload) != size:
        raise MalformedError(f'{what} should be answered with {size} bytes, got {len(payload)}')


def read_cells(payload: bytes) -> tuple[float, float, int, int]:
    """
    Return width and height of a texel [mm], columns and rows, from a matrix' description.

    Raises
    ------
    FirmwareError, MalformedError
        As ``check_answer``.
    """
    check_answer('matrix info', payload, MATRIX_INFO_SIZE)
    return struct.unpack('<ffHH', payload[2:14])


def read_frame(payload: bytes, count: int) -> tuple[int, NDArray[np.uint16]]:
    """
    Return the controller's time [ms] and the readings of all texels of a frame.

    Parameters
    ----------
    payload : bytes
    count : int
        Texels of all matrices.

    Returns
    -------
    stamp : int
    readings : (count,) uint16
        0 to 4095, matrix by matrix, row by row.

    Raises
    ------
    MalformedError
        The frame has another number of texels, or a reading of more than 12 bits.
    """
    if len(payload) < 5 or len(payload) % 2 == 0:
        raise MalformedError(f'a frame cannot have {len(payload)} bytes')
    stamp, flags = struct.unpack('<IB', payload[:5])
    units = np.frombuffer(payload[5:], '<u2')
    readings = units
    if flags & RUN_LENGTH:
        runs = units >> 12
        if (runs == 0).any():
            raise MalformedError('a frame has a run of length 0')
        if runs.sum() == count:
            readings = np.repeat(units & FULL_SCALE, runs)
        else:
            raise MalformedError(f'a frame should have {count} texels, has {runs.sum()}')
    if len(readings) != count or (readings > FULL_SCALE).any():
        raise MalformedError(f'a frame should have {count} readings of 12 bits, '
                             f'has {len(readings)} up to {readings.max(initial=0)}')
    return stamp, readings
