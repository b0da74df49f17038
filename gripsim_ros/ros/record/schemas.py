"""Definitions of message types, as MCAP's encoding ``ros2msg`` wants them."""

import re
import sys
from pathlib import Path

from .extras import RecordingError

#: Line between the definitions of one schema.
SEPARATOR = 80 * '='
_NESTED = re.compile(r'\b(\w+)/(?:msg/)?(\w+)')


def type_name(kind: type) -> str:
    """Return the name of a message type, such as ``std_msgs/msg/Header``."""
    return f'{kind.__module__.split(".")[0]}/msg/{kind.__name__}'


def definition_of(kind: type) -> str:
    """
    Return the definition of a message type followed by those of all types in it.

    Parameters
    ----------
    kind : type
        Class of a message (not of a service or an action).

    Returns
    -------
    str
        ``.msg`` files, comments and constants included; each but the first begins with a
        line of ``=`` and ``MSG: package/Name``.

    Raises
    ------
    RecordingError
        The package's ``.msg`` files are not installed.
    """
    package, _, name = type_name(kind).split('/')
    parts, waiting, seen = [], [(package, name)], {(package, name)}
    while waiting:
        package, name = waiting.pop(0)
        text = _read(package, name)
        parts.append(f'MSG: {package}/{name}\n{text}' if parts else text)
        for nested in _nested_types(package, text):
            if nested not in seen:
                seen.add(nested)
                waiting.append(nested)
    return f'\n{SEPARATOR}\n'.join(parts)


def _read(package: str, name: str) -> str:
    for folder in _share_directories(package):
        try:
            return (folder / 'msg' / f'{name}.msg').read_text(encoding='utf-8')
        except OSError:
            continue
    raise RecordingError(f'the definition of {package}/{name} is not installed: no file '
                         f'share/{package}/msg/{name}.msg')


def _share_directories(package: str) -> list[Path]:
    """Return where a package's files may lie: where ROS says, then in this Python's prefix."""
    prefixed = [Path(sys.prefix, 'share', package)]
    try:
        from ament_index_python.packages import get_package_share_directory
        return [Path(get_package_share_directory(package)), *prefixed]
    except (ImportError, LookupError, ValueError, OSError):
        return prefixed


def _nested_types(package: str, text: str) -> list[tuple[str, str]]:
    """Return package and name of the message types of a definition's fields."""
    nested = []
    for line in text.splitlines():
        words = line.split('#')[0].split()
        if not words or '=' in line.split('#')[0]:
            continue
        base = re.sub(r'\[.*', '', words[0])
        found = _NESTED.fullmatch(base)
        if found:
            nested.append((found[1], found[2]))
        elif base[0].isupper():         # a type of the same package
            nested.append((package, base))
    return nested
