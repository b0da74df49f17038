"""Messages with one field wrong in turn, generated from the definitions of the messages."""

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
import re

import numpy as np
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.serialization import deserialize_message, serialize_message

RMWError = rclpy_implementation.RMWError

#: What a number of 64 bits should not be, and a bit of what it may be.
FLOATS = (float('nan'), float('inf'), -float('inf'), 1e308, -1e308, 5e-324, -1.0, 0.0, 1e-9, 1e6)
LARGEST_FLOAT32 = 3.4028234e38
STRINGS = (
    '', ' ', '\n', 'no such thing', 'x' * 100_000, '\x1b[31m', '<script>alert(1)</script>',
    '%s%n%d', "'; DROP TABLE grasps; --", 'ä€😀', 'a\0b', '/etc/passwd', '../../../../etc/passwd',
    'file:///etc/passwd', 'file:///proc/self/mem', 'file://example.com/a.stl', '/dev/zero',
    'http://example.com/a.stl', 'ftp://example.com/a.stl',
    'package://gripsim_ros/../../secret.stl',
    'package://gripsim_ros/%2e%2e/secret.stl', 'package://no_such_package/a.stl', 'package://',
    '~root/a.stl', 'file://[', '://', '.', '/')
SEQUENCE = re.compile(r'(?:sequence<(?P<item>[^,>]+)(?:, (?P<most>\d+))?>)|'
                      r'(?P<fixed>[^\[]+)\[(?P<count>\d+)\]')
INTEGER = re.compile(r'(?P<unsigned>u?)int(?P<bits>8|16|32|64)')


@dataclass(frozen=True)
class Mutant:
    """A way to spoil a message: the field's path, what is put there, and how."""

    path: str
    label: str
    spoil: Callable[[object], None]
    not_finite: bool = False


def ways_to_spoil(message) -> Iterator[Mutant]:
    """Yield every mutant of a message."""
    yield from _of_message(message, '', lambda root: root)


def spoilt(message, *ways: Mutant):
    """Return a spoilt copy of a message, or None where it can be neither sent nor taken."""
    copied = deserialize_message(serialize_message(message), type(message))
    try:
        for mutant in ways:
            mutant.spoil(copied)
        deserialize_message(serialize_message(copied), type(message))
    except (AssertionError, OverflowError, IndexError, RMWError):
        return None
    return copied


def _of_message(message, path: str, reach) -> Iterator[Mutant]:
    for name, kind in message.get_fields_and_field_types().items():
        where = f'{path}.{name}'.lstrip('.')
        value = getattr(message, name)

        def put(root, new, name=name):
            setattr(reach(root), name, new)
        sequence = SEQUENCE.fullmatch(kind)
        if sequence:
            yield from _of_sequence(
                value, sequence, where, lambda root, name=name: getattr(reach(root), name), put)
        elif hasattr(value, 'get_fields_and_field_types'):
            yield from _of_message(value, where,
                                   lambda root, name=name: getattr(reach(root), name))
        else:
            yield from _of_value(kind, where, put)


def _of_value(kind: str, where: str, put) -> Iterator[Mutant]:
    for value in _values(kind):
        text = repr(value)
        yield Mutant(where, text if len(text) < 40 else f'{text[:30]}… ({len(text)})',
                     lambda root, value=value: put(root, value),
                     isinstance(value, float) and not abs(value) < float('inf'))


def _values(kind: str) -> tuple:
    integer = INTEGER.fullmatch(kind)
    if integer:
        bits = int(integer['bits'])
        low = 0 if integer['unsigned'] else -2 ** (bits - 1)
        high = 2 ** (bits if integer['unsigned'] else bits - 1) - 1
        return tuple(sorted({low, 0, 1, 4, high // 2, high - 1, high}))
    if kind == 'float':
        return tuple(max(-LARGEST_FLOAT32, min(v, LARGEST_FLOAT32)) if np.isfinite(v) else v
                     for v in FLOATS)
    if kind == 'double':
        return FLOATS
    if kind == 'boolean':
        return True, False
    if kind.startswith('string'):
        return STRINGS
    if kind == 'octet':
        return b'\x00', b'\xff'
    raise TypeError(f'messages have no fields of kind {kind!r}')


def _of_sequence(value, kind: re.Match, where: str, read, put) -> Iterator[Mutant]:
    """Yield wrong lengths, then every wrong thing in the first and the last element."""
    item = kind['item'] or kind['fixed']
    plain = '/' not in item
    if not kind['fixed']:
        sample = _default(item) if not len(value) else None

        def lengthen(root, by):
            values = list(read(root))
            values += (values or [_default(item)]) * by
            if kind['most'] and len(values) > int(kind['most']):
                raise OverflowError(f'{where} takes {kind["most"]} elements')
            put(root, _like(read(root), values))
        yield Mutant(where, 'empty', lambda root: put(root, _like(read(root), [])))
        yield Mutant(where, 'one short', lambda root: put(
            root, _like(read(root), list(read(root))[:-1])))
        yield Mutant(where, 'twice as long', lambda root: lengthen(root, 1))
        yield Mutant(where, 'eight times as long', lambda root: lengthen(root, 7))
    else:
        sample = None

    def fill(root):
        if not len(read(root)):
            put(root, _like(read(root), [_default(item)]))
    for index in sorted({0, max(len(value) - 1, 0)}):
        spot = f'{where}[{index}]'
        if plain:
            def set_item(root, new, index=index):
                fill(root)
                values = list(read(root))
                values[index] = new
                put(root, _like(read(root), values))
            yield from _of_value(item, spot, set_item)
        else:
            def reach_item(root, index=index):
                fill(root)
                return read(root)[index]
            yield from _of_message(value[index] if sample is None else sample, spot, reach_item)


def _default(kind: str):
    """Return the value that an element of a kind has by default."""
    if '/' in kind:
        package, name = kind.split('/')
        return getattr(import_module(f'{package}.msg'), name)()
    if kind.startswith('string'):
        return ''
    return 0.0 if kind in ('double', 'float') else False if kind == 'boolean' else 0


def _like(old, values: list):
    """Return values as the sequence that a field holds."""
    if isinstance(old, array):
        return array(old.typecode, values)
    return np.asarray(values, old.dtype) if isinstance(old, np.ndarray) else values
