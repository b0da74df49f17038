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
