"""
Vectors of three and 3 x 3 matrices as tuples, for inner loops of kernels.

Tuples stay in registers. What lies in an array is read again after every write to another
one, since these might be the same, and a slice of an array costs more than its arithmetic.
"""

from ..arrays import Array
from .kernels import njit

Vec3 = tuple[float, float, float]
#: Three rows.
Mat3 = tuple[Vec3, Vec3, Vec3]


@njit(cache=True, forceinline=True)
def load_mat3(matrix: Array) -> Mat3:
    """Return a matrix ``(3, 3)``."""
    return ((matrix[0, 0], matrix[0, 1], matrix[0, 2]),
            (matrix[1, 0], matrix[1, 1], matrix[1, 2]),
            (matrix[2, 0], matrix[2, 1], matrix[2, 2]))


@njit(cache=True, forceinline=True)
def load_mat3_at(matrices: Array, index: int) -> Mat3:
    """Return one of ``matrices (k, 3, 3)``, such as triangles by their corners."""
    return ((matrices[index, 0, 0], matrices[index, 0, 1], matrices[index, 0, 2]),
            (matrices[index, 1, 0], matrices[index, 1, 1], matrices[index, 1, 2]),
            (matrices[index, 2, 0], matrices[index, 2, 1], matrices[index, 2, 2]))


@njit(cache=True, forceinline=True)
def load_vec3(rows: Array, index: int) -> Vec3:
    """Return one of ``rows (k, 3)``, or the first three entries of a longer one."""
    return rows[index, 0], rows[index, 1], rows[index, 2]


@njit(cache=True, forceinline=True)
def store_vec3(rows: Array, index: int, vector: Vec3) -> None:
    """Write the first three entries of one of ``rows (k, 3)``."""
    rows[index, 0], rows[index, 1], rows[index, 2] = vector


@njit(cache=True, forceinline=True)
def store_mat3(matrix: Array, rows: Mat3) -> None:
    """Write a matrix ``(3, 3)``."""
    for row in range(3):
        store_vec3(matrix, row, rows[row])


@njit(cache=True, forceinline=True)
def placed(pose: Array, point: Vec3) -> Vec3:
    """Return a point of a frame of pose ``(4, 4)``, or ``(3, 4)``, where it is."""
    x, y, z = point
    return (pose[0, 0] * x + pose[0, 1] * y + pose[0, 2] * z + pose[0, 3],
            pose[1, 0] * x + pose[1, 1] * y + pose[1, 2] * z + pose[1, 3],
            pose[2, 0] * x + pose[2, 1] * y + pose[2, 2] * z + pose[2, 3])


@njit(cache=True, forceinline=True)
def subtract(a: Vec3, b: Vec3) -> Vec3:
    """Return a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@njit(cache=True, forceinline=True)
def add_scaled(a: Vec3, factor: float, b: Vec3) -> Vec3:
    """Return a + factor b."""
    return a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]


@njit(cache=True, forceinline=True)
def cross(a: Vec3, b: Vec3) -> Vec3:
    """Return a x b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@njit(cache=True, forceinline=True)
def dot(a: Vec3, b: Vec3) -> float:
    """Return the inner product, summed from the first entry on."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
