"""
Rocking stiffness of a patch: as the object tilts on it, the pressures move aside.

Derivation and limits: docs/model/stability.md, "Tilting".
"""

import numpy as np

from ...arrays import Array
from ...numerics.kernels import copy_entries, njit
from ...numerics.simd import LANES, load, store


#: Relative size below which a 2 x 2 matrix counts as singular [-].
SINGULARITY_TOLERANCE = 1e-9
#: Least number of nodes of a patch with an extent.
MIN_NODES = 3
#: Displacement fields of a patch: approach, two slides, two turns.
FIELDS = 5


@njit(cache=True, error_model='numpy')
def rocking_springs(fields: Array, areas: Array, tangents: Array,
                    solved: Array) -> tuple[Array, Array]:
    """
    Return the springs against rocking of a patch, the rest of the contact held.

    Parameters
    ----------
    fields : (n, 5) float
        Of the patch's loaded nodes, see ``rigid_motion_fields``.
    areas : (n,) float
        [m^2].
    tangents : (2, 3) float
        See ``tangent_basis``.
    solved : (k, 8) float
        ``U^-T`` times the fields, in five columns; U is the upper Cholesky factor of the
        compliance of all loaded nodes [m/N], and other patches' nodes do not move.

    Returns
    -------
    rows (2, 6), stiffness (2,)
        ``rows @ (u, omega)`` are the springs' lengths [m] as the object moves by u at the
        centre and turns by omega; force is -stiffness times length [N/m], and acts as a
        couple ``rows[:, 3:]`` times force. A force of the normal force's size has moved the
        centre of pressure over the patch's extent. Zeros where the patch has none.

    Notes
    -----
    The displacement of the nodes along their own normals under each motion e gives the
    stiffness ``e^T C^-1 e``, exact to first order as that against approach; moving along
    the normal is left free (Schur). A rolling ball answers as Hertz's theory has it (N R),
    a flat punch by 4/3 E* a^3 (Johnson 1985, section 5.6). Own derivation.
    """
    rows, stiffness = np.zeros((2, 6)), np.zeros(2)
    if len(areas) < MIN_NODES:
        return rows, stiffness
    gram = _gram_matrix(solved)
    for a in range(1, 5):
        for b in range(1, 5):
            gram[a, b] -= gram[a, 0] * gram[b, 0] / gram[0, 0]
    turning, sliding = gram[3:, 3:], gram[3:, 1:3]
    root = _extent(fields, areas)
    largest = max(root[0, 0], root[1, 1])
    wide = root[0, 0] * root[1, 1] - root[0, 1] ** 2 > SINGULARITY_TOLERANCE * largest ** 2
    stiff = _determinant(turning) > SINGULARITY_TOLERANCE * max(turning[0, 0], turning[1, 1]) ** 2
    if not (wide and stiff):
        return rows, stiffness
    inverse = _inverse(root)
    principal = _product(_product(inverse, turning), inverse)
    turn = _principal_axes(principal)
    coupling = _product(_inverse(turning), sliding)
    for j in range(2):
        for a in range(2):
            weight = turn[0, j] * root[0, a] + turn[1, j] * root[1, a]
            for k in range(3):
                rows[j, 3 + k] += weight * tangents[a, k]
                rows[j, k] += weight * (coupling[a, 0] * tangents[0, k]
                                        + coupling[a, 1] * tangents[1, k])
        for a in range(2):
            for b in range(2):
                stiffness[j] += turn[a, j] * principal[a, b] * turn[b, j]
    return rows, stiffness


@njit(cache=True)
def tangent_basis(normal: Array) -> Array:
    """Return two unit vectors (2, 3) normal to a direction and to each other."""
    least = np.argmin(np.abs(normal))
    axis = np.zeros(3)
    axis[least] = 1.0
    tangents = np.empty((2, 3))
    for k in range(3):
        tangents[0, k] = axis[k] - normal[k] * normal[least]
    length = np.sqrt((tangents[0] ** 2).sum())
    for k in range(3):
        tangents[0, k] /= length
    copy_entries(np.cross(normal, tangents[0]), tangents[1])
    return tangents


@njit(cache=True)
def rigid_motion_fields(points: Array, normals: Array, centre: Array, direction: Array,
                        tangents: Array) -> Array:
    """
    Return the displacements (n, 5) of nodes along their normals as the object moves.

    Parameters
    ----------
    points, normals : (n, 3) float
        On the object [m], unit normals into it.
    centre, direction : (3,) float
        About which it turns [m], along which it approaches.
    tangents : (2, 3) float
        Along which it slides and about which it turns, see ``tangent_basis``.

    Returns
    -------
    (n, 5) float
        Approach, slides, turns.
    """
    fields = np.empty((len(points), FIELDS))
    for i in range(len(points)):
        x, y, z = (points[i, 0] - centre[0], points[i, 1] - centre[1], points[i, 2] - centre[2])
        u, v, w = normals[i, 0], normals[i, 1], normals[i, 2]
        fields[i, 0] = u * direction[0] + v * direction[1] + w * direction[2]
        for a in range(2):
            p, q, r = tangents[a, 0], tangents[a, 1], tangents[a, 2]
            fields[i, 1 + a] = u * p + v * q + w * r
            fields[i, 3 + a] = u * (q * z - r * y) + v * (r * x - p * z) + w * (p * y - q * x)
    return fields


@njit(cache=True, error_model='numpy')
def _gram_matrix(solved: Array) -> Array:
    """Return ``e^T C^-1 e`` (5, 5) of displacement fields e, of which ``U^-T e`` is known."""
    gram = np.zeros((FIELDS, LANES))
    for k in range(len(solved)):
        line = load(solved, k)
        for a in range(FIELDS):
            store(load(gram, a) + solved[k, a] * line, gram, a)
    return gram[:, :FIELDS].copy()


@njit(cache=True)
def _extent(fields: Array, areas: Array) -> Array:
    """Return the root (2, 2) of four times the levers' mean square: a disc's is its radius."""
    square = np.zeros((2, 2))
    for i in range(len(areas)):
        for a in range(2):
            for b in range(2):
                square[a, b] += 4.0 * areas[i] * fields[i, 3 + a] * fields[i, 3 + b]
    square /= areas.sum()
    mean = np.sqrt(max(_determinant(square), 0.0))
    scale = np.sqrt(square[0, 0] + square[1, 1] + 2.0 * mean)
    for a in range(2):
        square[a, a] += mean
    return square / scale if scale > 0.0 else square


@njit(cache=True, forceinline=True)
def _determinant(matrix: Array) -> float:
    return matrix[0, 0] * matrix[1, 1] - matrix[0, 1] * matrix[1, 0]


@njit(cache=True)
def _product(a: Array, b: Array) -> Array:
    """Return the product of two 2 x 2 matrices."""
    product = np.zeros((2, 2))
    for i in range(2):
        for j in range(2):
            for k in range(2):
                product[i, j] += a[i, k] * b[k, j]
    return product


@njit(cache=True, error_model='numpy')
def _inverse(matrix: Array) -> Array:
    """Return the inverse of a 2 x 2 matrix."""
    inverse = np.empty((2, 2))
    inverse[0, 0], inverse[1, 1] = matrix[1, 1], matrix[0, 0]
    inverse[0, 1], inverse[1, 0] = -matrix[0, 1], -matrix[1, 0]
    return inverse / _determinant(matrix)


@njit(cache=True)
def _principal_axes(matrix: Array) -> Array:
    """Return the principal axes of a symmetric 2 x 2 matrix as columns."""
    angle = 0.5 * np.arctan2(2.0 * matrix[0, 1], matrix[0, 0] - matrix[1, 1])
    axes = np.empty((2, 2))
    axes[0, 0], axes[1, 0] = np.cos(angle), np.sin(angle)
    axes[0, 1], axes[1, 1] = -axes[1, 0], axes[0, 0]
    return axes
