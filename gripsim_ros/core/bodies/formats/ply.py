"""PLY, the polygon file format: vertices and faces of any number of corners, words or binary."""

from collections.abc import Callable
from dataclasses import dataclass
import struct

import numpy as np

from ...arrays import Array, IntArray
from .polygons import check_corners, faces_of
from .words import numbers_of

_TYPES = {'char': 'i1', 'int8': 'i1', 'uchar': 'u1', 'uint8': 'u1', 'short': 'i2', 'int16': 'i2',
          'ushort': 'u2', 'uint16': 'u2', 'int': 'i4', 'int32': 'i4', 'uint': 'u4',
          'uint32': 'u4', 'int64': 'i8', 'uint64': 'u8', 'float': 'f4', 'float32': 'f4',
          'double': 'f8', 'float64': 'f8'}
#: Of numpy's types, those of ``struct``.
_LETTERS = {'i1': 'b', 'u1': 'B', 'i2': 'h', 'u2': 'H', 'i4': 'i', 'u4': 'I', 'i8': 'q', 'u8': 'Q',
            'f4': 'f', 'f8': 'd'}
_ORDERS = {'ascii': '', 'binary_little_endian': '<', 'binary_big_endian': '>'}
_CORNERS = ('vertex_indices', 'vertex_index')


@dataclass(frozen=True)
class _Property:
    """A number of each row, or a list of them after their count."""

    name: str
    kind: str
    count_kind: str = ''


@dataclass(frozen=True)
class _Element:
    """Rows of one kind, as the head of the file announces them."""

    name: str
    count: int
    properties: tuple[_Property, ...]


#: Of an element, by the names of its properties: numbers (n,), or counts (n,) and their items.
_Rows = dict[str, Array | tuple[IntArray, Array]]


def read_ply(content: bytes, check_faces: Callable[[int], None]) -> tuple[Array, IntArray]:
    """
    Return the vertices and triangles of a PLY file, in its order and unit.

    Parameters
    ----------
    content : bytes
    check_faces : callable
        Takes the number of triangles; raises where they are too many.

    Raises
    ------
    ValueError
        The head is not of the format, the file ends early, or a face names no vertex.

    Notes
    -----
    Source: Turk, The PLY polygon file format, 1994; ``tristrips`` as Stanford's scans have them.
    """
    order, elements, body = _head(content)
    vertices, faces = np.zeros((0, 3)), [np.zeros((0, 3), np.int64)]
    corners: list[tuple[str, IntArray, IntArray]] = []
    read = _read_words if not order else _read_binary
    place = 0
    for element in elements:
        rows, place = read(element, body, place, order)
        if element.name == 'vertex':
            if not {'x', 'y', 'z'} <= set(rows):
                raise ValueError('its vertices have no x, y and z')
            vertices = np.stack([np.asarray(rows[axis], np.float64) for axis in 'xyz'], axis=1)
        lists = [rows[name] for name in _CORNERS if isinstance(rows.get(name), tuple)]
        if element.name in ('face', 'tristrips') and lists:
            counts, items = lists[0]
            corners.append((element.name, counts, items.astype(np.int64)))
    for name, counts, items in corners:
        if name == 'tristrips':
            check_corners(items[items >= 0], len(vertices))
            faces.append(_strips(items))
        else:
            check_faces(int((counts - 2).clip(0).sum()))
            faces.append(faces_of(vertices, items, counts))
    return vertices, np.concatenate(faces)


def _head(content: bytes) -> tuple[str, list[_Element], bytes]:
    """Return the order of bytes ('' for words), the elements, and what follows the head."""
    end = content.find(b'end_header')
    line_end = content.find(b'\n', end) if end >= 0 else -1
    if content[:3] != b'ply' or end < 0:
        raise ValueError('it has no head of a PLY file')
    body = content[line_end + 1:] if line_end >= 0 else b''
    order, elements = '?', list[_Element]()
    for line in content[:end].decode('utf-8', 'replace').splitlines():
        words = line.split()
        if words[:1] == ['format'] and len(words) >= 2:
            order = _ORDERS.get(words[1], '?')
        elif words[:1] == ['element'] and len(words) == 3 and words[2].isdigit():
            elements.append(_Element(words[1], int(words[2]), ()))
        elif words[:1] == ['property'] and elements:
            last = elements[-1]
            elements[-1] = _Element(last.name, last.count, (*last.properties, _property(words)))
    if order == '?':
        raise ValueError(f'its format is none of {", ".join(_ORDERS)}')
    return order, elements, body


def _property(words: list[str]) -> _Property:
    kinds = [_TYPES.get(word) for word in words[1:-1] if word != 'list']
    if len(kinds) != 1 + (words[1] == 'list') or None in kinds:
        raise ValueError(f'a property is not understood: {" ".join(words)}'[:100])
    return _Property(words[-1], str(kinds[-1]), str(kinds[0]) if len(kinds) == 2 else '')


def _read_binary(element: _Element, body: bytes, place: int, order: str) -> tuple[_Rows, int]:
    """Return the rows of an element, and where the next begins."""
    lengths = _first_lengths(element, body, place, order)
    fields = list[tuple[str, str, tuple[int, ...]]]()
    for p, length in zip(element.properties, lengths):
        if p.count_kind:
            fields.append((f'count of {p.name}', order + p.count_kind, ()))
        fields.append((p.name, order + p.kind, (length,)))
    kind = np.dtype(fields)
    end = place + element.count * kind.itemsize
    if end <= len(body):
        table = np.frombuffer(body, kind, element.count, place)
        if all((table[f'count of {p.name}'] == length).all()
               for p, length in zip(element.properties, lengths) if p.count_kind):
            return {p.name: (np.full(element.count, length), table[p.name].ravel())
                    if p.count_kind else table[p.name].ravel()
                    for p, length in zip(element.properties, lengths)}, end
    if not any(p.count_kind for p in element.properties):
        raise ValueError('it ends early')
    return _walk_binary(element, body, place, order)


def _first_lengths(element: _Element, body: bytes, place: int, order: str) -> list[int]:
    """Return how many numbers each property of the first row has."""
    lengths = []
    for p in element.properties:
        length = 1
        if p.count_kind and element.count:
            length = _checked_length(
                _unpacked(order + _LETTERS[p.count_kind], body, place)[0], body)
            place += np.dtype(p.count_kind).itemsize
        lengths.append(length)
        place += length * np.dtype(p.kind).itemsize
    return lengths


def _checked_length(length: float, body: bytes) -> int:
    if not 0 <= length <= len(body):
        raise ValueError(f'a list has {length:g} items')
    return int(length)


def _unpacked(form: str, body: bytes, place: int) -> tuple[float, ...]:
    try:
        return struct.unpack_from(form, body, place)
    except struct.error:
        raise ValueError('it ends early') from None


def _walk_binary(element: _Element, body: bytes, place: int, order: str) -> tuple[_Rows, int]:
    """Read rows of different lengths, one after the other."""
    counts = {p.name: list[int]() for p in element.properties}
    items = {p.name: list[float]() for p in element.properties}
    plan = [(order + _LETTERS[p.count_kind] if p.count_kind else '',
             np.dtype(p.count_kind or 'u1').itemsize, _LETTERS[p.kind],
             np.dtype(p.kind).itemsize, counts[p.name], items[p.name])
            for p in element.properties]
    for _ in range(element.count):
        for count_form, count_size, letter, size, some, more in plan:
            length = 1
            if count_form:
                length = _checked_length(_unpacked(count_form, body, place)[0], body)
                place += count_size
            some.append(length)
            more += _unpacked(f'{order}{length}{letter}', body, place)
            place += size * length
    return {p.name: (np.array(counts[p.name], np.int64), np.array(items[p.name]))
            if p.count_kind else np.array(items[p.name]) for p in element.properties}, place


def _read_words(element: _Element, body: bytes, place: int, order: str) -> tuple[_Rows, int]:
    """Return the rows of an element, a line each, and where the next begins."""
    lines = list[list[bytes]]()
    while len(lines) < element.count:
        if place >= len(body):
            raise ValueError('it ends early')
        end = body.find(b'\n', place)
        end = len(body) if end < 0 else end
        words, place = body[place:end].split(), end + 1
        if words:
            lines.append(words)
    counts = {p.name: list[int]() for p in element.properties}
    items = {p.name: list[bytes]() for p in element.properties}
    plan = [(bool(p.count_kind), counts[p.name], items[p.name]) for p in element.properties]
    for words in lines:     # what more a line has than the head says is not read
        at = 0
        for is_list, some, more in plan:
            length = 1
            if is_list:
                length = int(words[at]) if at < len(words) and words[at].isdigit() else -1
                some.append(length)
                at += 1
            if length < 0 or at + length > len(words):
                raise ValueError(f'a row of {element.name} ends early')
            more += words[at:at + length]
            at += length
    numbers = {p.name: numbers_of(b' '.join(items[p.name]), len(items[p.name]),
                                  f'rows of {element.name}') for p in element.properties}
    return {p.name: (np.array(counts[p.name], np.int64), numbers[p.name])
            if p.count_kind else numbers[p.name] for p in element.properties}, place


def _strips(items: IntArray) -> IntArray:
    """Return the triangles of strips, each ended by -1; every second one runs the other way."""
    breaks = np.concatenate([[-1], np.flatnonzero(items < 0), [len(items)]])
    strip = np.repeat(np.arange(len(breaks) - 1), np.diff(breaks))[:len(items)]
    first = np.arange(len(items) - 2) if len(items) > 2 else np.zeros(0, np.int64)
    inner = first[(items[first] >= 0) & (items[first + 1] >= 0) & (items[first + 2] >= 0)]
    odd = (inner - breaks[strip[inner]] - 1) % 2 == 1
    a, b, c = items[inner], items[inner + 1], items[inner + 2]
    return np.stack([np.where(odd, b, a), np.where(odd, a, b), c], axis=1)
