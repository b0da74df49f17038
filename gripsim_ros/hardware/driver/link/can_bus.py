"""
Bytes to and from the hand over CAN, on which most hands hang.

The byte stream is cut into frames of at most 8 bytes, without any header; the hand hears one id
and speaks with another. Source: the vendor's host library; see docs/driver.md.
"""

from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from .errors import DriverError, LinkError

#: Most data of a frame [bytes]; longest that sending one may take [s].
FRAME, SEND_TIMEOUT = 8, 1.0
#: Ids of what the host sends and hears, of 11 bits; bits a second.
ID_WRITE, ID_READ, BITRATE = 42, 43, 1_000_000
MOST_ID = 0x7FF
EXAMPLE = "'can://can0' or 'can://NAME?interface=virtual&write=42&read=43'"


@dataclass(frozen=True)
class CanAddress:
    """
    Where a hand is on which bus.

    Attributes
    ----------
    channel, interface : str
        As python-can calls them, such as ``can0`` and ``socketcan``.
    write, read, bitrate : int
        Ids of 11 bits; bits a second, which a SocketCAN device has from the system.
    """

    channel: str
    interface: str = 'socketcan'
    write: int = ID_WRITE
    read: int = ID_READ
    bitrate: int = BITRATE


def read_can_address(address: str) -> CanAddress:
    """
    Return what ``can://CHANNEL[?interface=I&write=N&read=N&bitrate=N]`` says.

    Raises
    ------
    DriverError
        It is none.
    """
    wrong = DriverError(f'an address on CAN is {EXAMPLE}, got {address!r}')
    try:
        parts = urlsplit(address)
        given = {key: values[-1] for key, values in
                 parse_qs(parts.query, strict_parsing=bool(parts.query)).items()}
        found = CanAddress(parts.netloc, given.pop('interface', 'socketcan'),
                           **{key: int(value, 0) for key, value in given.items()})
    except (ValueError, TypeError):
        raise wrong from None
    ids = found.write, found.read
    if (not found.channel or parts.path.strip('/') or found.bitrate <= 0 or ids[0] == ids[1]
            or not all(0 <= number <= MOST_ID for number in ids)):
        raise wrong
    return found


class CanTransport:
    """A hand on a CAN bus, by python-can."""

    def __init__(self, address: CanAddress) -> None:
        """Open the bus. Raises ``DriverError`` without python-can, ``LinkError`` without bus."""
        try:
            import can
        except ImportError as error:
            raise DriverError('CAN needs python-can: `pip install python-can`') from error
        self._address, self._message, self._faults = address, can.Message, (can.CanError, OSError)
        try:
            self._bus = can.Bus(
                channel=address.channel, interface=address.interface, bitrate=address.bitrate,
                ignore_config=True, can_filters=[
                    {'can_id': address.read, 'can_mask': MOST_ID, 'extended': False}])
        except (can.CanError, OSError, ValueError, ImportError) as error:
            raise LinkError(f'cannot open {address.interface} {address.channel}: '
                            f'{error}') from error

    def write(self, data: bytes) -> None:
        """Send all of ``data``."""
        for begin in range(0, len(data), FRAME):
            frame = self._message(arbitration_id=self._address.write, is_extended_id=False,
                                  data=data[begin:begin + FRAME])
            try:
                self._bus.send(frame, SEND_TIMEOUT)
            except self._faults as error:
                raise LinkError(f'the CAN bus is lost: {error}') from error

    def read(self, timeout: float) -> bytes:
        """Return what has come."""
        data, wait = b'', max(timeout, 0.0)
        try:
            while (frame := self._bus.recv(wait)) is not None:
                if not frame.is_error_frame and not frame.is_remote_frame:
                    data, wait = data + bytes(frame.data), 0.0
        except self._faults as error:
            raise LinkError(f'the CAN bus is lost: {error}') from error
        return data

    def close(self) -> None:
        """Leave the bus."""
        self._bus.shutdown()
