"""
The tactile controller: packets in, packets and frames out.

Frames are made of what the axes press on: a blocked axis that is sent further presses with its
link's pad. [I] The pressure: so many counts a degree, round the middle of the pad.
"""

import math
import struct
import threading
import time
from collections.abc import Callable

from .firmware import Firmware
from .requests import checksum

PREAMBLE = b'\xaa\xaa\xaa'
FRAME, CONTROLLER_INFO, SENSOR_INFO, ACQUISITION, MATRIX_INFO = 0x00, 0x01, 0x02, 0x03, 0x0B
SET_SENSITIVITY, GET_SENSITIVITY, SET_THRESHOLD, GET_THRESHOLD = 0x0F, 0x12, 0x13, 0x14
#: Flags of settings: to be kept without power (and not answered), of all matrices, as delivered.
PERSISTENT, ALL_MATRICES, RESET = 0x80, 0x02, 0x01
#: As delivered: sensitivity, and [I] the counts below which a texel tells 0.
SENSITIVITY, THRESHOLD = 0.5, 0
OK, INVALID, UNKNOWN, FORMAT, RANGE = 0, 23, 13, 14, 27
#: Columns and rows of the matrices, two a finger; and the axis that presses with each.
CELLS = 3 * ((6, 14), (6, 13))
AXES = (1, 2, 3, 4, 5, 6)
PITCH = 3.4
#: [I] Counts a degree of squeeze, and how far the pressure reaches [cells].
COUNTS_PER_DEGREE, SPREAD, MOST_COUNTS = 120.0, 1.5, 4095
#: Frames a second while acquiring, whatever was asked for.
FRAME_RATE = 30.0


def packet(kind: int, payload: bytes) -> bytes:
    """Return a packet with its checksum."""
    body = struct.pack('<BH', kind, len(payload)) + payload
    return PREAMBLE + body + struct.pack('<H', checksum(body))


def run_length(values) -> bytes:
    """Return texels as units of 12 bits value and 4 bits run."""
    units, i = [], 0
    while i < len(values):
        run = 1
        while run < 15 and i + run < len(values) and values[i + run] == values[i]:
            run += 1
        units.append((run << 12) | values[i])
        i += run
    return struct.pack(f'<{len(units)}H', *units)


class TactileBoard:
    """
    The controller of the sensors of one hand.

    Attributes
    ----------
    touches : dict of int to float
        Counts on a matrix beside those of pressing, as tests set them.
    sensitivities, thresholds : list, (6,)
        Of the matrices; [I] readings are in proportion to the sensitivity.
    """

    def __init__(self, firmware: Firmware,
                 clock: Callable[[], float] = time.monotonic) -> None:
        """Wait for requests."""
        self._firmware, self._clock, self._begun = firmware, clock, clock()
        self.lock = threading.Lock()
        self.touches: dict[int, float] = {}
        self.sensitivities, self.thresholds = 6 * [SENSITIVITY], 6 * [THRESHOLD]
        self.acquiring, self.coded = False, False
        self._next = 0.0

    def disconnected(self) -> None:
        """Send no more frames."""
        with self.lock:
            self.acquiring = False

    def answer(self, kind: int, payload: bytes) -> bytes | None:
        """Return the packet that answers a request; None where a setting is kept for good."""
        with self.lock:
            told = self._payload(kind, payload)
        kept = kind in (SET_SENSITIVITY, SET_THRESHOLD) and payload and payload[0] & PERSISTENT
        return None if kept else packet(kind, told)

    def _payload(self, kind: int, payload: bytes) -> bytes:
        if kind == CONTROLLER_INFO:
            return struct.pack('<HIBHBBBBIB', OK, 4711, 1, 288, 0x80, 0x50, 0, 2, 1000000, 0)
        if kind == SENSOR_INFO:
            return struct.pack('<HHHBIB', OK, len(CELLS), 0, 1, 815, 0)
        if kind == MATRIX_INFO:
            return self._matrix_info(payload)
        if kind == ACQUISITION:
            if len(payload) != 3:
                return struct.pack('<H', FORMAT)
            flags, rate = struct.unpack('<BH', payload)
            self.acquiring, self.coded = bool(flags & 0x80), bool(flags & 0x01)
            self._next = self._clock()
            return struct.pack('<H', OK)
        if kind == SET_SENSITIVITY:
            return self._store(payload, '<f', self.sensitivities, SENSITIVITY, 1.0)
        if kind == SET_THRESHOLD:
            return self._store(payload, '<H', self.thresholds, THRESHOLD, MOST_COUNTS)
        if kind in (GET_SENSITIVITY, GET_THRESHOLD):
            if len(payload) != 1 or payload[0] >= len(CELLS):
                return struct.pack('<H', INVALID)
            if kind == GET_THRESHOLD:
                return struct.pack('<HH', OK, self.thresholds[payload[0]])
            return struct.pack('<HBff', OK, 2, self.sensitivities[payload[0]], SENSITIVITY)
        return struct.pack('<H', UNKNOWN)

    @staticmethod
    def _store(payload: bytes, form: str, settings: list, default, highest) -> bytes:
        """Set a matrix, or all of them, to what the payload says."""
        if len(payload) != 2 + struct.calcsize(form):
            return struct.pack('<H', FORMAT)
        flags, matrix, (value,) = payload[0], payload[1], struct.unpack(form, payload[2:])
        if flags & RESET:
            value = default
        if not 0 <= value <= highest:
            return struct.pack('<H', RANGE)
        if not flags & ALL_MATRICES and matrix >= len(CELLS):
            return struct.pack('<H', INVALID)
        for m in range(len(CELLS)) if flags & ALL_MATRICES else (matrix,):
            settings[m] = value
        return struct.pack('<H', OK)

    @staticmethod
    def _matrix_info(payload: bytes) -> bytes:
        if len(payload) != 1 or payload[0] >= len(CELLS):
            return struct.pack('<H', INVALID)
        columns, rows = CELLS[payload[0]]
        return (struct.pack('<HffHH', OK, PITCH, PITCH, columns, rows) + bytes(6) + bytes(2)
                + struct.pack('<B7fB', 1, *7 * (0.0,), 0))

    def due(self) -> float:
        """Return in how long a frame is due [s]; infinite where none is asked for."""
        with self.lock:
            return max(self._next - self._clock(), 0.0) if self.acquiring else math.inf

    def frame(self) -> bytes | None:
        """Return a frame if it is time for one."""
        with self.lock:
            now = self._clock()
            if not self.acquiring or now < self._next:
                return None
            self._next = max(self._next + 1.0 / FRAME_RATE, now)
            stamp = int(1e3 * (now - self._begun)) & 0xFFFFFFFF
            texels = self.texels()
            data = run_length(texels) if self.coded else struct.pack(f'<{len(texels)}H', *texels)
            return packet(FRAME, struct.pack('<IB', stamp, int(self.coded)) + data)

    def texels(self) -> list[int]:
        """Return the readings of all matrices, row by row."""
        with self._firmware.lock:
            self._firmware.advance()
            squeezes = [abs(axis.target - axis.angle) if axis.blocked else 0.0
                        for axis in self._firmware.motors.axes]
        texels = []
        for matrix, ((columns, rows), axis) in enumerate(zip(CELLS, AXES)):
            most = (COUNTS_PER_DEGREE * squeezes[axis] + self.touches.get(matrix, 0.0)) \
                * self.sensitivities[matrix] / SENSITIVITY
            for y in range(rows):
                for x in range(columns):
                    far = math.hypot(x - (columns - 1) / 2, y - (rows - 1) / 2) / SPREAD
                    counts = min(int(most * math.exp(-far * far)), MOST_COUNTS)
                    texels.append(counts if counts >= self.thresholds[matrix] else 0)
        return texels
