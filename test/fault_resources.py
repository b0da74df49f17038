"""What the fault harness looks at of processes and files of this machine."""

import contextlib
from pathlib import Path

#: Variable in the environment of all processes of a run.
MARK = 'GRIPSIM_FAULT_RUN'


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
