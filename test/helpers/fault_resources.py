"""What the fault harness looks at of processes and files of this machine."""

import contextlib
import os
import re
from pathlib import Path

from gripsim_ros.ros.environment import SHARED_MEMORY

#: Variable in the environment of all processes of a run.
MARK = 'GRIPSIM_FAULT_RUN'
#: Name of a segment of shared memory, which begins the names of its locks too.
SEGMENT = re.compile(r'fastrtps_(?:[0-9a-f]{16}|port\d{1,5})')


def memory_of(pid: int) -> float | None:
    """Return the resident memory of a process that is not shared [MB], or None without it."""
    try:
        status = Path(f'/proc/{pid}/status').read_text(encoding='ascii')
    except OSError:
        return None
    found = [line.split()[1] for line in status.splitlines() if line.startswith('RssAnon')]
    return int(found[0]) / 1024.0 if found else None


def blocks(path: Path) -> float:
    """Return the space that a file takes [MB]; none if it is gone."""
    try:
        return path.stat().st_blocks * 512 / 1e6
    except OSError:
        return 0.0


def marked(mark: str) -> list[int]:
    """Return the processes that were started with a mark in their environment and still live."""
    found = []
    for folder in Path('/proc').glob('[0-9]*'):
        with contextlib.suppress(OSError):
            if f'{MARK}={mark}'.encode() in (folder / 'environ').read_bytes():
                found.append(int(folder.name))
    return found


class Segments:
    """
    The segments of shared memory of one run, living and left behind.

    A segment counts unless it was there before the run, or a process that is neither of the run
    nor this one has been seen to have it mapped and none of these has.
    """

    def __init__(self, mark: str, folder: Path = SHARED_MEMORY) -> None:
        """Look at what is there before the run."""
        self._mark, self._folder = mark, folder
        self._own: set[str] = set()
        self._others = {name_of(path) for path in folder.glob('fastrtps_*')}

    def look(self) -> list[Path]:
        """Return the files of the run's segments, with those of their locks."""
        own = {os.getpid(), *marked(self._mark)}
        for folder in Path('/proc').glob('[0-9]*'):
            with contextlib.suppress(OSError):
                mapped = SEGMENT.findall((folder / 'maps').read_text(errors='replace'))
                (self._own if int(folder.name) in own else self._others).update(mapped)
        return [path for path in self._folder.glob('fastrtps_*')
                if name_of(path) not in self._others - self._own]


def name_of(path: Path) -> str:
    """Return the segment that a file or lock belongs to."""
    found = SEGMENT.match(path.name)
    return found[0] if found else path.name
