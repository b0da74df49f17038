"""The emulated hand on the network: sockets or pseudo-terminals for joints and tactile sensors."""

import os
import select
import socket
import struct
import threading
import time
import tty

from .faults import JOINT_KINDS, TACTILE_KINDS, Faults
from .firmware import Firmware, Identity
from .tactile_board import PREAMBLE, TactileBoard

CHUNK, POLL = 4096, 0.02
#: On a serial line: 8N1.
BITS_OF_BYTE = 10
#: A packet that is not complete after this long is forgotten [s].
PACKET_TIMEOUT = 1.0


class SocketPort:
    """A listening TCP port; one client at a time, a new one takes over [I]."""

    def __init__(self, host: str, port: int) -> None:
        """Listen; port 0 takes a free one."""
        self._listener = socket.create_server((host, port))
        self.address = 'tcp://{}:{}'.format(*self._listener.getsockname()[:2])
        self._client: socket.socket | None = None
        self._lost = False

    def read(self, timeout: float) -> bytes | None:
        """Return what came, ``b''`` for nothing, None when a client has gone."""
        if self._lost:
            self._lost = False
            return None
        ready, _, _ = select.select([self._listener, *([self._client] if self._client else [])],
                                    [], [], timeout)
        if self._listener in ready:
            gone = self._client is not None
            self.drop()
            self._client, _ = self._listener.accept()
            self._client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._client.settimeout(1.0)
            return None if gone else b''
        if not ready:
            return b''
        try:
            data = self._client.recv(CHUNK)
        except OSError:
            data = b''
        if not data:
            self.drop()
            return None
        return data

    def write(self, data: bytes) -> None:
        """Send to the client, if there is one; the next ``read`` tells that it has gone."""
        if self._client is not None:
            try:
                self._client.sendall(data)
            except OSError:
                self.drop()
                self._lost = True

    def drop(self) -> None:
        """Close the connection."""
        if self._client is not None:
            self._client.close()
        self._client = None

    def close(self) -> None:
        """Close everything."""
        self.drop()
        self._listener.close()


class TerminalPort:
    """A pseudo-terminal in place of the serial port; it cannot see who comes and goes."""

    def __init__(self) -> None:
        """Open one."""
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self.address = f'serial://{os.ttyname(self._slave)}'

    def read(self, timeout: float) -> bytes | None:
        """Return what came."""
        ready, _, _ = select.select([self._master], [], [], timeout)
        return os.read(self._master, CHUNK) if ready else b''

    def write(self, data: bytes) -> None:
        """Send; what nobody reads is dropped when the buffer is full."""
        try:
            os.write(self._master, data)
        except BlockingIOError:
            pass

    def drop(self) -> None:
        """Do nothing: a cable cannot hang up."""

    def close(self) -> None:
        """Close it."""
        os.close(self._master)
        os.close(self._slave)


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
                 baudrate: int | None = None) -> None:
        """Open the ports."""
        self.firmware = Firmware(identity)
        self.board = TactileBoard(self.firmware)
        self.faults = Faults(seed)
        self._byte_time = BITS_OF_BYTE / baudrate if baudrate else 0.0
        self._joints = SocketPort(host, port) if host else TerminalPort()
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
        rest = b''
        while not self._closing.is_set():
            data = self._joints.read(POLL)
            if data is None:
                self.firmware.disconnected()
                rest = b''
                continue
            self.firmware.advance()
            *lines, rest = (rest + data).split(b'\n')
            rest = rest[-1024:]
            for line in lines:
                text = line.decode('ascii', 'replace').strip()
                self._reply(text, self.firmware.answer(text))

    def _reply(self, text: str, answer: str | None) -> None:
        """Send an answer, or what a fault makes of it."""
        if answer is None:
            return
        name = text.partition('=')[0].partition('(')[0].strip()
        fault = self.faults.draw(name, JOINT_KINDS)
        whole = answer.encode() + b'\r\n'
        if self._byte_time:
            time.sleep(self._byte_time * (len(text) + 2 + len(whole)))
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
            'wrong_numbers': answer.partition('=')[0].encode() + b'=nan,1.0,--\r\n',
            'error': b'E%d\r\n' % self.faults.error_code(fault)}[fault.kind])

    # -- tactile sensors ---------------------------------------------------------------

    def _serve_tactile(self) -> None:
        rest, begun = b'', time.monotonic()
        while not self._closing.is_set():
            data = self._tactile.read(POLL / 2)
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
            self._send_packet('answer', self.board.answer(kind, data[6:6 + size]))
            data = data[length:]

    def _send_packet(self, what: str, whole: bytes) -> None:
        fault = self.faults.draw(what, TACTILE_KINDS)
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
