"""
Sums with the bits of numpy's.

Pairwise ones, whose error grows with the logarithm of the count, and those of rows.
"""

import numpy as np

from ..arrays import Array
from .kernels import njit

#: Terms that are added in eight sums side by side; more are halved first.
BLOCK = 128


@njit(cache=True)
def pairwise_sum(values: Array) -> float:
    """
    Return the sum of numbers ``(n,)`` in the order in which numpy adds them.

    Source: ``pairwise_sum`` of numpy's ``loops_utils.h``.
    """
    if len(values) > BLOCK:
        half = len(values) // 2
        half -= half % 8
        return pairwise_sum(values[:half]) + pairwise_sum(values[half:])
    whole = len(values) - len(values) % 8
    a, b, c, d, e, f, g, h = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(0, whole, 8):
        a += values[i]
        b += values[i + 1]
        c += values[i + 2]
        d += values[i + 3]
        e += values[i + 4]
        f += values[i + 5]
        g += values[i + 6]
        h += values[i + 7]
    total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for i in range(whole, len(values)):
        total += values[i]
    return total


@njit(cache=True)
def mean_of_rows(rows: Array) -> Array:
    """Return the mean ``(3,)`` of rows ``(n, 3)``, added one after the other as numpy does."""
    x, y, z = 0.0, 0.0, 0.0
    for i in range(len(rows)):
        x += rows[i, 0]
        y += rows[i, 1]
        z += rows[i, 2]
    return np.array([x, y, z]) / len(rows)
