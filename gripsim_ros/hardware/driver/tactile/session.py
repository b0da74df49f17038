"""The tactile sensors over time: one thread that connects, reads frames, and connects again."""

import logging
import struct
import threading
import time
from collections.abc import Callable, Sequence

from ..link.errors import DriverError, MalformedError, SilenceError
from ..link.transport import Transport, drain, open_transport
from ..options import TactileOptions
from .packets import (
    ACQUISITION, CONTROLLER_INFO, CONTROLLER_INFO_SIZE, FRAME, MATRIX_INFO, SENSOR_INFO,
    SENSOR_INFO_SIZE, Packet, PacketBuffer, acquisition, check_answer, read_cells, read_frame,
    request)
from .pads import Matrix, Touch, touch_of

log = logging.getLogger(__name__)

#: Answer to the first request, which stops frames [s], and how often it is sent; how often at
#: the end, where somebody waits.
STOP_TIMEOUT, STOP_TRIES, LAST_TRIES = 0.75, 4, 2
#: After stopping, what was under way is thrown away until this much silence, or this long [s].
QUIET, DRAIN_LONGEST = 0.1, 1.0
#: Frames that may come before an answer.
FRAMES_BEFORE = 5
#: Frames in a row that cannot be read, after which the link is opened anew.
MOST_ERRORS = 10


class TactileSession:
    """
    Tactile sensors that are kept connected.

    Parameters
    ----------
    options : TactileOptions
    matrices : sequence of Matrix
        What the controller must have.
    on_touch : callable
        Called with each ``Touch`` in the session's thread.

    Attributes
    ----------
    problem : str
        '' while frames come.
    counts : dict of str to int
    """

    def __init__(self, options: TactileOptions, matrices: Sequence[Matrix],
                 on_touch: Callable[[Touch], None]) -> None:
        """Prepare; ``start`` begins."""
        self._options, self._matrices, self._on_touch = options, tuple(matrices), on_touch
        self._cells = sum(matrix.columns * matrix.rows for matrix in matrices)
        self._closing, self._leaving = threading.Event(), False
        self._thread = threading.Thread(target=self._run, name='sdh_tactile', daemon=True)
        self._transport: Transport | None = None
        self._buffer = PacketBuffer()
        self._packets: list[Packet] = []
        self.problem = 'not connected yet'
        self.counts = {'connections': 0, 'frames': 0, 'unreadable': 0, 'bad_packets': 0}

    def start(self) -> None:
        """Begin to connect."""
        self._thread.start()

    def close(self) -> None:
        """Stop the frames, close the link, end the thread."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join(STOP_TRIES * STOP_TIMEOUT + self._options.silence)

    def _run(self) -> None:
        link = self._options.link
        pause = link.retry_first
        while not self._closing.is_set():
            try:
                self._transport = open_transport(link.address, link.connect_timeout)
                self._open()
                pause = link.retry_first
                self._read_frames()
            except DriverError as error:
                self.problem = str(error)
            except Exception as error:
                log.exception('fault of the driver itself')
                self.problem = f'{type(error).__name__}: {error}'
            self._disconnect()
            self._closing.wait(pause)
            pause = min(2.0 * pause, link.retry_longest)

    def _disconnect(self) -> None:
        if self._transport is not None:
            if self._closing.is_set():
                self._leave()
            self._transport.close()
        self.counts['bad_packets'] += self._buffer.bad
        self._buffer, self._packets, self._transport = PacketBuffer(), [], None

    def _leave(self) -> None:
        """
        Stop the frames and wait until the controller says so.

        A link that is closed while frames lie unread is reset, and what was sent last with it.
        """
        self._leaving = True
        try:
            self._stop_frames(LAST_TRIES)
        except DriverError as error:
            log.debug('frames were not stopped: %s', error)

    def _open(self) -> None:
        """Stop what the controller may be sending, look at it, and start frames."""
        self._stop_frames(STOP_TRIES)
        drain(self._transport, QUIET, DRAIN_LONGEST)
        self._buffer.clear()
        self._packets = []
        check_answer('controller info', self._ask(request(CONTROLLER_INFO), CONTROLLER_INFO),
                     CONTROLLER_INFO_SIZE)
        sensors = self._ask(request(SENSOR_INFO), SENSOR_INFO)
        check_answer('sensor info', sensors, SENSOR_INFO_SIZE)
        (count,) = struct.unpack('<H', sensors[2:4])
        if count != len(self._matrices):
            raise MalformedError(f'the controller has {count} matrices, the layout '
                                 f'{len(self._matrices)}')
        for number, matrix in enumerate(self._matrices):
            _, _, columns, rows = read_cells(
                self._ask(request(MATRIX_INFO, bytes([number])), MATRIX_INFO))
            if (columns, rows) != (matrix.columns, matrix.rows):
                raise MalformedError(f'matrix {number} has {columns} x {rows} texels, the layout '
                                     f'{matrix.columns} x {matrix.rows}')
        answer = self._ask(acquisition(True, self._options.run_length, self._options.frame_rate),
                           ACQUISITION)
        check_answer('acquisition', answer, 2)
        self.counts['connections'] += 1
        self.problem = ''

    def _stop_frames(self, tries: int) -> None:
        for left in reversed(range(tries)):
            try:
                self._ask(acquisition(False, True, 0), ACQUISITION, STOP_TIMEOUT)
                return
            except (SilenceError, MalformedError):
                if not left:
                    raise

    def _ask(self, data: bytes, kind: int, timeout: float | None = None) -> bytes:
        """Send a request and return the payload of its answer; frames before it are skipped."""
        self._transport.write(data)
        end = time.monotonic() + (timeout or self._options.link.reply_timeout)
        for _ in range(FRAMES_BEFORE + 1):
            packet = self._next_packet(end)
            if packet.kind == kind:
                return packet.payload
        raise MalformedError(f'no answer to request 0x{kind:02x} among {FRAMES_BEFORE} packets')

    def _next_packet(self, end: float) -> Packet:
        while not self._packets:
            left = end - time.monotonic()
            if left <= 0.0 or self._closing.is_set() and not self._leaving:
                raise SilenceError('the tactile controller is silent')
            self._packets = self._buffer.feed(self._transport.read(min(left, 0.1)))
        return self._packets.pop(0)

    def _read_frames(self) -> None:
        unreadable = 0
        while not self._closing.is_set():
            packet = self._next_packet(time.monotonic() + self._options.silence)
            if packet.kind != FRAME:
                continue
            try:
                stamp, readings = read_frame(packet.payload, self._cells)
            except MalformedError:
                self.counts['unreadable'] += 1
                unreadable += 1
                if unreadable >= MOST_ERRORS:
                    raise
                continue
            unreadable = 0
            self.counts['frames'] += 1
            self._on_touch(touch_of(self._matrices, stamp, readings,
                                    self._options.pressure_per_count,
                                    self._options.contact_threshold))

    def bad_packets(self) -> int:
        """Return how many packets had a wrong checksum or size."""
        return self.counts['bad_packets'] + self._buffer.bad
