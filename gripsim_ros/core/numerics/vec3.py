"""
Rows of three numbers as tuples, for inner loops of kernels.

Tuples stay in registers. What lies in an array is read again after every write to another
one, since these might be the same, and a slice of an array costs more than its arithmetic.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]
Row = tuple[float, float, float]
Rows = tuple[Row, Row, Row]


@njit(cache=True, inline='always')
def matrix_rows(matrix: Array) -> Rows:
    """Return the rows of a matrix ``(3, 3)``."""
    return ((matrix[0, 0], matrix[0, 1], matrix[0, 2]),
            (matrix[1, 0], matrix[1, 1], matrix[1, 2]),
            (matrix[2, 0], matrix[2, 1], matrix[2, 2]))


@njit(cache=True, inline='always')
def triangle_rows(triangles: Array, position: int) -> Rows:
    """Return the rows of one of ``triangles (f, 3, 3)``."""
    return ((triangles[position, 0, 0], triangles[position, 0, 1], triangles[position, 0, 2]),
            (triangles[position, 1, 0], triangles[position, 1, 1], triangles[position, 1, 2]),
            (triangles[position, 2, 0], triangles[position, 2, 1], triangles[position, 2, 2]))


@njit(cache=True, inline='always')
def along(axis: Row, row: Row) -> float:
    """Return the product of two rows, summed from the first number on."""
    product: float = axis[0] * row[0] + axis[1] * row[1] + axis[2] * row[2]
    return product


@njit(cache=True)
def sum_pairwise(values: Array) -> float:
    """
    Return the sum of numbers as numpy forms it: by eights, of more than 128 that of two halves.

    Source: ``pairwise_sum`` of numpy's ``loops_utils.h``; its error grows with the logarithm
    of the count.
    """
    sums, spans = np.empty(64), np.empty((64, 2), np.int64)
    known, top = 0, 1
    spans[0, 0], spans[0, 1] = 0, len(values)
    while top > 0:
        top -= 1
        begin, count = spans[top, 0], spans[top, 1]
        if count < 0:
            known -= 1
            sums[known - 1] += sums[known]
        elif count <= 128:
            sums[known] = _sum_by_eights(values, begin, begin + count)
            known += 1
        else:
            half = count // 2
            half -= half % 8
            spans[top, 1] = -1      # add up what the next two leave
            spans[top + 1, 0], spans[top + 1, 1] = begin + half, count - half
            spans[top + 2, 0], spans[top + 2, 1] = begin, half
            top += 3
    total: float = sums[0]
    return total


@njit(cache=True)
def _sum_by_eights(values: Array, begin: int, end: int) -> float:
    """Return the sum of a few numbers: each eighth of them first."""
    total, rest = 0.0, begin
    if end - begin >= 8:
        rest = end - (end - begin) % 8
        parts = values[begin:begin + 8].copy()
        for at in range(begin + 8, rest, 8):
            for k in range(8):
                parts[k] += values[at + k]
        total = (((parts[0] + parts[1]) + (parts[2] + parts[3]))
                 + ((parts[4] + parts[5]) + (parts[6] + parts[7])))
    for at in range(rest, end):
        total += values[at]
    return total
