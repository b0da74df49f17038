"""Wavefront OBJ: vertices and faces as they stand in the file, whatever else it holds."""

from collections.abc import Callable
import re

import numpy as np

from ...arrays import Array, IntArray
from .polygons import faces_of
from .words import indices_of, numbers_of

_VERTEX = re.compile(rb'^[ \t]*v[ \t]+(.*)', re.MULTILINE)
_FACE = re.compile(rb'^[ \t]*f[ \t]+(.*)', re.MULTILINE)
_KIND = re.compile(rb'^[ \t]*([vf])[ \t]', re.MULTILINE)
#: What follows a corner's vertex: its texture coordinate and its normal.
_MORE = re.compile(rb'/[^\s]*')
#: A note at the end of a line; a number that is none may hold a hash, too (``1.#QNAN``).
_NOTE = re.compile(rb'[ \t]#.*')


def read_obj(content: bytes, check_faces: Callable[[int], None]) -> tuple[Array, IntArray]:
    """
    Return the vertices and triangles of an OBJ file.

    Parameters
    ----------
    content : bytes
    check_faces : callable
        Takes the number of triangles; raises where they are too many.

    Returns
    -------
    (V, 3) float
        All vertices of the file, in its order and unit.
    (F, 3) int
        Of all objects, groups and materials; polygons are cut into triangles.

    Raises
    ------
    ValueError
        A vertex has no three numbers, or a face names no vertex.

    Notes
    -----
    Source: Wavefront, Advanced Visualizer manual, appendix B1, 1995. A negative number counts
    back from the last vertex above the face.
    """
    text = _lines(content)
    vertices = _vertices(_VERTEX.findall(text))
    rows = _MORE.sub(b'', b'\n'.join(_FACE.findall(text))).split(b'\n')
    counts = np.array([len(row.split()) for row in rows])
    check_faces(int((counts - 2).clip(0).sum()))
    corners = indices_of(b' '.join(rows), int(counts.sum()), 'faces')
    if (corners < 0).any():
        kinds = np.frombuffer(b''.join(_KIND.findall(text)), dtype='S1')
        above = np.repeat(np.cumsum(kinds == b'v')[kinds == b'f'], counts)
        corners = np.where(corners < 0, above + corners + 1, corners)
    return vertices, faces_of(vertices, corners, counts, first=1)


def _lines(content: bytes) -> bytes:
    """Return a file's text with plain line ends, continued lines joined, without notes."""
    if content[:2] in (b'\xff\xfe', b'\xfe\xff'):
        content = content.decode('utf-16', 'replace').encode('utf-8')
    if b'\r' in content:
        content = content.replace(b'\r\n', b'\n').replace(b'\r', b'\n')
    content = content.removeprefix(b'\xef\xbb\xbf').replace(b'\\\n', b' ')
    return _NOTE.sub(b'', content) if b'#' in content else content


def _vertices(lines: list[bytes]) -> Array:
    """Return the first three numbers of each line; weights and colours may follow."""
    rows = [line.split() for line in lines]
    lengths = set(map(len, rows))
    if lengths and min(lengths) < 3:
        raise ValueError('a vertex has fewer than three coordinates')
    if lengths - {3}:
        lines = [b' '.join(row[:3]) for row in rows]
    return numbers_of(b' '.join(lines), 3 * len(lines), 'vertices').reshape(-1, 3)
