"""Numbers that stand in a file as words."""

import numpy as np

from ...arrays import Array, IntArray


def numbers_of(text: bytes, count: int, what: str) -> Array:
    """Return as many numbers as a text must hold; ValueError where it holds another."""
    return np.asarray(_parsed(text, np.float64, count, what), np.float64)


def indices_of(text: bytes, count: int, what: str) -> IntArray:
    """Return as many integers as a text must hold; ValueError where it holds another."""
    return np.asarray(_parsed(text, np.int64, count, what), np.int64)


def _parsed(text: bytes, kind: type, count: int, what: str) -> Array | IntArray:
    numbers: Array | IntArray = np.empty(0, kind)
    try:
        if count:
            numbers = np.fromstring(text, dtype=kind, sep=' ')
    except ValueError:
        pass
    if len(numbers) != count:
        raise ValueError(f'{what} are not all of numbers')
    return numbers
