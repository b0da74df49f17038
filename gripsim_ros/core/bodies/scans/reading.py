"""Points from files: PLY clouds, and arrays as CSV, text or NPY."""

from pathlib import Path
import re

import numpy as np

from ...arrays import Array
from ...errors import ShapeError
from ..formats.ply import read_ply
from ..reading import quiet_reader

#: Largest file [bytes] and largest number of points that are read.
MAX_BYTES, MAX_POINTS = 500_000_000, 2_000_000
#: Endings of files that hold points; of text, columns stand apart by commas or blanks.
TEXT_ENDINGS = ('csv', 'txt', 'xyz')
#: Bytes within which the head of a PLY file ends, and what in it announces faces.
MAX_HEAD = 65536
_FACES = re.compile(rb'^element[ \t]+(?:face|tristrips)[ \t]+(\d+)', re.MULTILINE)
POINT_ENDINGS = (*TEXT_ENDINGS, 'npy', 'ply')


def read_points(path: str | Path) -> Array:
    """
    Return the points of a file.

    Parameters
    ----------
    path : str or Path
        CSV, TXT or XYZ: two or three numbers a line, a first line of names is skipped, further
        columns are not read; NPY: an array ``(n, 2)`` or ``(n, 3)``; PLY: its vertices, with
        or without faces.

    Returns
    -------
    (n, 2) or (n, 3) float
        In the file's unit; NaN where the file has it.

    Raises
    ------
    ShapeError
        There is no such file, it is of another kind, too large, empty or cannot be read.
    """
    path = Path(path)
    ending = path.suffix.lower().lstrip('.')
    if not path.is_file():
        raise ShapeError(f'{path}: there is no such file')
    if ending not in POINT_ENDINGS:
        raise ShapeError(f'{path}: points are read from {", ".join(POINT_ENDINGS)}, '
                         f'got {ending!r}')
    size = path.stat().st_size
    if not 0 < size <= MAX_BYTES:
        raise ShapeError(f'{path}: has {size} bytes, allowed are 1 to {MAX_BYTES}')
    try:
        points = np.asarray(_READERS.get(ending, _read_text)(path), dtype=np.float64)
    except Exception as error:      # whatever the parsers may raise
        reason = str(error).strip().split('\n')[0][:200] or 'no reason given'
        raise ShapeError(f'{path}: cannot be read as {ending.upper()} '
                         f'({type(error).__name__}: {reason})') from None
    if points.ndim != 2 or points.shape[1] not in (2, 3):
        raise ShapeError(f'{path}: points need 2 or 3 columns, got shape {points.shape}')
    if not 0 < len(points) <= MAX_POINTS:
        raise ShapeError(f'{path}: has {len(points)} points, allowed are 1 to {MAX_POINTS}')
    return points


def has_faces(path: str | Path) -> bool:
    """Return True if a PLY file announces faces; other point files have none."""
    if Path(path).suffix.lower() != '.ply':
        return False
    with Path(path).open('rb') as stream:
        head = stream.read(MAX_HEAD).partition(b'end_header')[0]
    return any(int(count) > 0 for count in _FACES.findall(head))


def _read_text(path: Path) -> Array:
    lines = path.read_text(encoding='utf-8', errors='strict').splitlines()
    rows = [line.replace(',', ' ').replace(';', ' ').split()
            for line in lines if line.strip() and not line.lstrip().startswith('#')]
    if rows and not _are_numbers(rows[0]):
        rows = rows[1:]
    width = min((len(row) for row in rows), default=0)
    return np.array([[float(word) for word in row[:min(width, 3)]] for row in rows])


def _are_numbers(words: list[str]) -> bool:
    try:
        [float(word) for word in words]
    except ValueError:
        return False
    return True


def _read_array(path: Path) -> Array:
    array: Array = np.load(path, mmap_mode='r', allow_pickle=False)
    if array.dtype.kind not in 'fiu':
        raise ValueError(f'numbers are needed, got {array.dtype}')
    if array.ndim != 2 or len(array) > MAX_POINTS:
        raise ValueError(f'at most {MAX_POINTS} rows of 2 or 3 numbers are needed, '
                         f'got shape {array.shape}')
    return array


def _read_cloud(path: Path) -> Array:
    with quiet_reader():
        return read_ply(path.read_bytes(), lambda count: None)[0]


_READERS = {'npy': _read_array, 'ply': _read_cloud}
