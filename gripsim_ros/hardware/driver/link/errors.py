"""What can go wrong between driver and hand; each message is one line."""

from ....core.errors import GripsimError

#: Codes of the firmware, the number in a reply ``E<n>``.
ERROR_NAMES = (
    'SUCCESS', 'NOT_AVAILABLE', 'NOT_INITIALIZED', 'ALREADY_RUNNING', 'FEATURE_NOT_SUPPORTED',
    'INCONSISTENT_DATA', 'TIMEOUT', 'READ_ERROR', 'WRITE_ERROR', 'INSUFFICIENT_RESOURCES',
    'CHECKSUM_ERROR', 'NOT_ENOUGH_PARAMS', 'NO_PARAMS_EXPECTED', 'CMD_UNKNOWN',
    'CMD_FORMAT_ERROR', 'ACCESS_DENIED', 'ALREADY_OPEN', 'CMD_FAILED', 'CMD_ABORTED',
    'INVALID_HANDLE', 'DEVICE_NOT_FOUND', 'DEVICE_NOT_OPENED', 'IO_ERROR', 'INVALID_PARAMETER',
    'RANGE_ERROR', 'NO_DATAPIPE', 'INDEX_OUT_OF_BOUNDS', 'HOMING_ERROR', 'AXIS_DISABLED',
    'OVER_TEMPERATURE', 'MAX_COMMANDS_EXCEEDED', 'INVALID_PASSWORD', 'MAX_COMMANDLINE_EXCEEDED',
    'CRC_ERROR', 'NO_COMMAND', 'INTERNAL', 'UNKNOWN')
CMD_UNKNOWN = ERROR_NAMES.index('CMD_UNKNOWN')
OVER_TEMPERATURE = ERROR_NAMES.index('OVER_TEMPERATURE')


class DriverError(GripsimError):
    """Anything between driver and hand."""


class LinkError(DriverError):
    """The link cannot be opened, or is lost."""


class SilenceError(DriverError):
    """The hand did not answer in time."""


class MalformedError(DriverError):
    """An answer is not what the protocol has in its place."""


class FirmwareError(DriverError):
    """The hand answered with an error code."""

    def __init__(self, command: str, code: int) -> None:
        """Name the code."""
        name = ERROR_NAMES[code] if code < len(ERROR_NAMES) else 'not in the list'
        super().__init__(f'the hand answered {command!r} with error {code} ({name})')
        self.code = code


class UnsafeError(DriverError):
    """A motion is refused: limits, velocities, or fingers that would hit each other."""


class StateError(DriverError):
    """What is asked for cannot be done now: not connected, stopped for good, motors off."""
