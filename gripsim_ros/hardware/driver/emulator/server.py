"""The emulated hand on the network: sockets or pseudo-terminals for joints and tactile sensors."""

import struct
import threading
import time

from .faults import JOINT_KINDS, TACTILE_KINDS, Faults
from .firmware import Firmware, Identity
from .ports import CanPort, LinePace, SocketPort, TerminalPort
from .requests import CODES, BinaryRequest, RequestCutter
from .tactile_board import PREAMBLE, TactileBoard

#: How long a look at a port waits [s].
POLL = 0.02
#: A packet that is not complete after this long is forgotten [s].
PACKET_TIMEOUT = 1.0


class EmulatedHand:
    """
    An SDH on two ports; a context manager that runs while it is entered.

    Parameters
    ----------
    host : str
        None for pseudo-terminals.
    port, tactile_port : int
        0 takes free ones.
    identity : Identity
    seed : int
        Of the faults.
    baudrate : int or None
        Answers take as long as on a serial line of this speed; None: no time.
    can : str or None
        The joints hang on CAN, ``can://CHANNEL[?interface=I]``; python-can is needed.

    Attributes
    ----------
    firmware : Firmware
    board : TactileBoard
    faults : Faults
        Change them while it runs.
    address, tactile_address : str
        ``tcp://HOST:PORT`` or ``serial:///dev/pts/N``.
    """

    def __init__(self, host: str | None = '127.0.0.1', port: int = 0, tactile_port: int = 0,
                 identity: Identity | None = None, seed: int = 0,
                 baudrate: int | None = None, can: str | None = None) -> None:
        """Open the ports."""
        self.firmware = Firmware(identity)
        self.board = TactileBoard(self.firmware)
        self.faults = Faults(seed)
        self._pace, self._tactile_pace = LinePace(baudrate), LinePace(baudrate)
        self._joints = (CanPort(can) if can else SocketPort(host, port) if host
                        else TerminalPort())
        self._tactile = SocketPort(host, tactile_port) if host else TerminalPort()
        self.address, self.tactile_address = self._joints.address, self._tactile.address
        self._closing = threading.Event()
        self._threads = [threading.Thread(target=target, name=name, daemon=True) for target, name
                         in ((self._serve_joints, 'emulated_joints'),
                             (self._serve_tactile, 'emulated_tactile'))]

    def __enter__(self) -> 'EmulatedHand':
        """Run."""
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_) -> None:
        """End."""
        self._closing.set()
        for thread in self._threads:
            thread.join()
        self._joints.close()
        self._tactile.close()

    # -- joints ------------------------------------------------------------------------

    def _serve_joints(self) -> None:
        cutter = RequestCutter()
        while not self._closing.is_set():
            data = self._joints.read(POLL)
            if data is None:
                self.firmware.disconnected()
                cutter.clear()
                continue
            self.firmware.advance()
            for request in cutter.feed(data):
                self._take_request(request)

    def _take_request(self, request: str | BinaryRequest) -> None:
        """Answer a line or a binary frame, grips when they have ended."""
        if isinstance(request, BinaryRequest):
            whole = self.firmware.answer_binary(request)
            name, size = CODES.get(request.code, ''), 3 + 4 * len(request.values)
        else:
            answer = self.firmware.answer(request)
            if answer is None:
                return
            name = request.partition('=')[0].partition('(')[0].strip()
            echo = f'{request}\r\n' if self.firmware.switches['terminal'] else ''
            whole, size = f'{echo}{answer}\r\n'.encode(), len(request) + 2
        self._closing.wait(max(self.firmware.deaf(), 0.0))
        self._pace.wait(size + len(whole), self._closing)
        self._reply(name, whole)

    def _reply(self, name: str, whole: bytes) -> None:
        """Send an answer, or what a fault makes of it."""
        fault = self.faults.draw(name, JOINT_KINDS)
        if fault is None:
            self._joints.write(whole)
            return
        if fault.kind == 'slow':
            time.sleep(fault.delay)
        if fault.kind == 'disconnect':
            self._joints.drop()
            self.firmware.disconnected()
            return
        self._joints.write({
            'slow': whole, 'silence': b'',
            'garbage': self.faults.noise() + b'\r\n',
            'noise': self.faults.noise() + whole,
            'half_line': whole[:len(whole) // 2],
            'wrong_numbers': whole.partition(b'=')[0] + b'=nan,1.0,--\r\n',
            'error': b'E%d\r\n' % self.faults.error_code(fault)}[fault.kind])

    # -- tactile sensors ---------------------------------------------------------------

    def _serve_tactile(self) -> None:
        rest, begun = b'', time.monotonic()
        while not self._closing.is_set():
            data = self._tactile.read(min(POLL, self.board.due()))
            if data is None:
                self.board.disconnected()
                rest = b''
                continue
            if data and not rest:
                begun = time.monotonic()
            rest = self._take_packets(rest + data)
            if rest and time.monotonic() - begun > PACKET_TIMEOUT:
                rest = b''
            frame = self.board.frame()
            if frame is not None:
                self._send_packet('frame', frame)

    def _take_packets(self, data: bytes) -> bytes:
        """Answer whole requests; return what is left. Requests without payload have no CRC."""
        while True:
            start = data.find(PREAMBLE)
            if start < 0:
                return data[-2:]
            data = data[start:]
            if len(data) < 6:
                return data
            kind, size = struct.unpack('<BH', data[3:6])
            length = 6 + size + (2 if size else 0)
            if size > 64:
                data = data[1:]
                continue
            if len(data) < length:
                return data
            answer = self.board.answer(kind, data[6:6 + size])
            if answer is not None:
                self._send_packet('answer', answer)
            data = data[length:]

    def _send_packet(self, what: str, whole: bytes) -> None:
        fault = self.faults.draw(what, TACTILE_KINDS)
        self._tactile_pace.wait(len(whole), self._closing)
        if fault is None:
            self._tactile.write(whole)
        elif fault.kind == 'disconnect':
            self._tactile.drop()
            self.board.disconnected()
        else:
            self._tactile.write({
                'silence': b'', 'garbage': self.faults.noise(),
                'noise': self.faults.noise() + whole,
                'wrong_crc': whole[:-1] + bytes([whole[-1] ^ 1]),
                'short_packet': whole[:len(whole) // 2]}[fault.kind])
