"""
Vectors of three and 3 x 3 matrices as tuples, for inner loops of kernels.

Tuples stay in registers. What lies in an array is read again after every write to another
one, since these might be the same, and a slice of an array costs more than its arithmetic.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]
Vec3 = tuple[float, float, float]
#: Three rows.
Mat3 = tuple[Vec3, Vec3, Vec3]


@njit(cache=True, inline='always')
def load_mat3(matrix: Array) -> Mat3:
    """Return a matrix ``(3, 3)``."""
    return ((matrix[0, 0], matrix[0, 1], matrix[0, 2]),
            (matrix[1, 0], matrix[1, 1], matrix[1, 2]),
            (matrix[2, 0], matrix[2, 1], matrix[2, 2]))


@njit(cache=True, inline='always')
def load_mat3_at(matrices: Array, index: int) -> Mat3:
    """Return one of ``matrices (k, 3, 3)``, such as triangles by their corners."""
    return ((matrices[index, 0, 0], matrices[index, 0, 1], matrices[index, 0, 2]),
            (matrices[index, 1, 0], matrices[index, 1, 1], matrices[index, 1, 2]),
            (matrices[index, 2, 0], matrices[index, 2, 1], matrices[index, 2, 2]))


@njit(cache=True, inline='always')
def dot(a: Vec3, b: Vec3) -> float:
    """Return the inner product, summed from the first entry on."""
    product: float = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    return product
