"""Bytes to and from the hand, over TCP, a serial port, or CAN."""

import select
import socket
import time
from typing import Protocol
from urllib.parse import parse_qs, urlsplit

from .can_bus import CanTransport, read_can_address
from .errors import DriverError, LinkError

#: Most bytes taken at once.
CHUNK = 4096
#: Baud rate of both serial ports of the hand.
BAUDRATE = 115200
#: Longest time that writing a request may take [s], and that closing waits for the other side.
WRITE_TIMEOUT, LINGER = 1.0, 0.2
EXAMPLES = "'tcp://192.168.1.42:23', 'serial:///dev/ttyUSB0' or 'can://can0'"


class Transport(Protocol):
    """What a link can do; all methods raise ``LinkError`` where it is lost."""

    def write(self, data: bytes) -> None:
        """Send all of ``data``."""

    def read(self, timeout: float) -> bytes:
        """Return what has come, as soon as something has; ``b''`` after ``timeout`` [s]."""

    def close(self) -> None:
        """Close it; a second time does nothing."""


class TcpTransport:
    """A raw TCP stream; no telnet negotiation takes place."""

    def __init__(self, host: str, port: int, timeout: float) -> None:
        """Connect within ``timeout`` [s]."""
        try:
            self._socket = socket.create_connection((host, port), timeout)
        except (OSError, UnicodeError) as error:
            raise LinkError(f'cannot connect to {host}:{port}: {error}') from error
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.settimeout(WRITE_TIMEOUT)

    def write(self, data: bytes) -> None:
        """Send all of ``data``."""
        try:
            self._socket.sendall(data)
        except OSError as error:
            raise LinkError(f'the connection is lost: {error}') from error

    def read(self, timeout: float) -> bytes:
        """Return what has come."""
        try:
            ready, _, _ = select.select([self._socket], [], [], max(timeout, 0.0))
            data = self._socket.recv(CHUNK) if ready else None
        except (OSError, ValueError) as error:
            raise LinkError(f'the connection is lost: {error}') from error
        if data == b'':
            raise LinkError('the hand closed the connection')
        return data or b''

    def close(self) -> None:
        """
        Close the connection.

        What still comes is read away until the other side closes too: a socket closed with
        something unread is reset, and the other side may lose what it was sent last.
        """
        end = time.monotonic() + LINGER
        try:
            self._socket.shutdown(socket.SHUT_WR)
            while time.monotonic() < end and self.read(end - time.monotonic()):
                pass
        except (OSError, LinkError):
            pass                                # it is closed by now, or lost
        self._socket.close()


class SerialTransport:
    """A serial port, 8N1 without flow control."""

    def __init__(self, device: str, baudrate: int) -> None:
        """Open it."""
        try:
            import serial
        except ImportError as error:
            raise DriverError('serial ports need pyserial: `pip install pyserial`') from error
        try:
            self._port = serial.Serial(device, baudrate, timeout=0, exclusive=True,
                                       write_timeout=WRITE_TIMEOUT)
        except (OSError, ValueError) as error:     # SerialException is an OSError
            raise LinkError(f'cannot open {device}: {error}') from error

    def write(self, data: bytes) -> None:
        """Send all of ``data``."""
        try:
            self._port.write(data)
        except (OSError, TypeError) as error:
            raise LinkError(f'the serial port is lost: {error}') from error

    def read(self, timeout: float) -> bytes:
        """Return what has come; pyserial's own timeout would wait for a full buffer."""
        try:
            ready, _, _ = select.select([self._port.fileno()], [], [], max(timeout, 0.0))
            data = self._port.read(CHUNK) if ready else b''
        except (OSError, TypeError, ValueError) as error:
            raise LinkError(f'the serial port is lost: {error}') from error
        if ready and not data:
            raise LinkError('the serial port is gone')
        return data

    def close(self) -> None:
        """Close it."""
        self._port.close()


def open_transport(address: str, timeout: float) -> Transport:
    """
    Return an open link.

    Parameters
    ----------
    address : str
        ``tcp://HOST:PORT``, ``serial:///dev/NAME``, with ``?baud=N`` if wanted, or
        ``can://CHANNEL``, with what ``read_can_address`` takes.
    timeout : float
        For connecting [s].

    Raises
    ------
    DriverError
        The address is none of them, or pyserial or python-can is missing.
    LinkError
        It cannot be opened.
    """
    kind, place, number = parse_address(address)
    if kind == 'can':
        return CanTransport(read_can_address(address))
    if kind == 'tcp':
        return TcpTransport(place, number, timeout)
    return SerialTransport(place, number)


def parse_address(address: str) -> tuple[str, str, int]:
    """Return ``tcp, host, port``, ``serial, device, baud rate``, or ``can, channel, bit rate``."""
    if address.startswith('can:'):
        found = read_can_address(address)
        return 'can', found.channel, found.bitrate
    wrong = DriverError(f'an address is {EXAMPLES}, got {address!r}')
    try:
        parts = urlsplit(address)
        if parts.scheme == 'tcp' and parts.hostname and parts.port and not parts.path.strip('/'):
            return 'tcp', parts.hostname, parts.port
        baudrate = int(parse_qs(parts.query).get('baud', [BAUDRATE])[0])
    except ValueError:
        raise wrong from None
    if parts.scheme == 'serial' and not parts.netloc and len(parts.path) > 1 and baudrate > 0:
        return 'serial', parts.path, baudrate
    raise wrong


def drain(transport: Transport, quiet: float, longest: float) -> int:
    """Throw away what comes until ``quiet`` [s] without a byte; return how many bytes."""
    count, end = 0, time.monotonic() + longest
    while True:
        data = transport.read(min(quiet, max(0.0, end - time.monotonic())))
        count += len(data)
        if not data or time.monotonic() >= end:
            return count
