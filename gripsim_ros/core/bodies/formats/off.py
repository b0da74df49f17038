"""OFF, the object file format of Geomview: vertices and faces of any number of corners."""

from collections.abc import Callable
import re

import numpy as np

from ...arrays import Array, IntArray
from .polygons import faces_of
from .words import indices_of, numbers_of

#: The first word, which may be left out, and with which the counts may run together.
_HEAD = re.compile(rb'\s*(?:ST)?C?N?4?OFF', re.IGNORECASE)
_NOTE = re.compile(rb'#.*')


def read_off(content: bytes, check_faces: Callable[[int], None]) -> tuple[Array, IntArray]:
    """
    Return the vertices and triangles of an OFF file, in its order and unit.

    Parameters
    ----------
    content : bytes
    check_faces : callable
        Takes the number of faces that the file announces; raises where they are too many.

    Raises
    ------
    ValueError
        The file is not of the format, or binary; it ends early; a face names no vertex.

    Notes
    -----
    Source: Geomview manual, "OFF Files"; each vertex is a line, with colours and normals after
    it, and so is each face, or faces are numbers alone.
    """
    text = _NOTE.sub(b'', content.replace(b'\r', b'\n'))
    head = _HEAD.match(text)
    text = text[head.end():] if head else text
    if text[:20].split()[:1] == [b'BINARY']:
        raise ValueError('it is binary, allowed is OFF in words')
    lines = [line for line in text.split(b'\n') if line.strip()]
    counts = lines[0].split() if lines else []
    if len(counts) < 2 or not all(word.isdigit() for word in counts[:2]):
        raise ValueError('it does not say how many vertices and faces it has')
    vertex_count, face_count = int(counts[0]), int(counts[1])
    check_faces(face_count)
    rows = [line.split() for line in lines[1:1 + vertex_count]]
    if len(rows) < vertex_count:
        raise ValueError('it ends early')
    if any(len(row) < 3 for row in rows):
        raise ValueError('a vertex has fewer than three coordinates')
    vertices = numbers_of(b' '.join(word for row in rows for word in row[:3]),
                          3 * vertex_count, 'vertices').reshape(-1, 3)
    faces = _polygons([line.split() for line in lines[1 + vertex_count:]], face_count)
    corner_counts = np.array([len(face) for face in faces], dtype=np.int64)
    corners = indices_of(b' '.join(word for face in faces for word in face),
                         int(corner_counts.sum()), 'faces')
    return vertices, faces_of(vertices, corners, corner_counts)


def _polygons(rows: list[list[bytes]], count: int) -> list[list[bytes]]:
    """Return the corners of each face: a line each, or one word after the other."""
    if len(rows) >= count and all(
            row[0].isdigit() and len(row) > int(row[0]) for row in rows[:count]):
        return [row[1:1 + int(row[0])] for row in rows[:count]]
    words, place, polygons = [word for row in rows for word in row], 0, list[list[bytes]]()
    for _ in range(count):
        length = int(words[place]) if place < len(words) and words[place].isdigit() else -1
        if length < 0 or place + length >= len(words):
            raise ValueError('it ends early, or a face has not as many corners as it says')
        polygons.append(words[place + 1:place + 1 + length])
        place += 1 + length
    return polygons
