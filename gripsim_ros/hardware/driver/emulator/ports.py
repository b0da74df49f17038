"""Where a host may reach the emulated hand: sockets, terminals, CAN; and a line's pace."""

import os
import select
import socket
import threading
import time
import tty
from urllib.parse import parse_qs, urlsplit

CHUNK = 4096
#: On a serial line: 8N1.
BITS_OF_BYTE = 10
#: A machine that comes this late is made up for, so that a line is never slower than it is [s].
MADE_UP = 0.1


class LinePace:
    """
    Lets bytes take as long as on a serial line.

    Parameters
    ----------
    baudrate : int or None
        None: no time.
    """

    def __init__(self, baudrate: int | None) -> None:
        """Find the line free."""
        self._byte_time = BITS_OF_BYTE / baudrate if baudrate else 0.0
        self._free = 0.0

    def wait(self, count: int, closing: threading.Event) -> None:
        """Wait until ``count`` more bytes have gone, or the hand is closed."""
        if not self._byte_time:
            return
        now = time.monotonic()
        self._free = max(self._free, now - MADE_UP) + count * self._byte_time
        closing.wait(max(self._free - now, 0.0))


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


class CanPort:
    """A place on a CAN bus: the hand hears id 42 and speaks with 43, in frames of 8 bytes."""

    HEARS, SPEAKS, FRAME = 42, 43, 8

    def __init__(self, address: str) -> None:
        """Join the bus of ``can://CHANNEL[?interface=I]``. Raises ``OSError``."""
        import can
        parts = urlsplit(address)
        interface = parse_qs(parts.query).get('interface', ['socketcan'])[0]
        self.address, self._can = address, can
        try:
            self._bus = can.Bus(
                channel=parts.netloc, interface=interface, ignore_config=True, can_filters=[
                    {'can_id': self.HEARS, 'can_mask': 0x7FF, 'extended': False}])
        except can.CanError as error:
            raise OSError(0, str(error)) from error

    def read(self, timeout: float) -> bytes | None:
        """Return what came."""
        frame = self._bus.recv(timeout)
        return b'' if frame is None else bytes(frame.data)

    def write(self, data: bytes) -> None:
        """Send, cut into frames."""
        for begin in range(0, len(data), self.FRAME):
            self._bus.send(self._can.Message(arbitration_id=self.SPEAKS, is_extended_id=False,
                                             data=data[begin:begin + self.FRAME]))

    def drop(self) -> None:
        """Do nothing: a bus cannot hang up."""

    def close(self) -> None:
        """Leave the bus."""
        self._bus.shutdown()
