"""What recordings need beside this package, and one line where it is missing."""

from importlib import import_module

from ...core.errors import GripsimError


class RecordingError(GripsimError):
    """A recording cannot be written or read."""


def require_mcap() -> None:
    """
    Do nothing where the package ``mcap`` is installed.

    Raises
    ------
    RecordingError
        It is not; the line says what to install.
    """
    try:
        import_module('mcap.writer')
    except ImportError as error:
        raise RecordingError('recordings need mcap: install gripsim_ros[record], or '
                             f'`pip install mcap` ({error})') from None
