"""
The workspace of the conic solver: one array ``(rows, 8)`` that holds all of eight lanes.

A solution has some thirty vectors. As arrays of a named tuple they cost time, since compiled
code counts references to every array that a function takes: with nine of them in a tuple a
programme took 17 % longer, with only the four matrices of the programme in one 2 to 3 %. So
vectors are rows of one array, named by a ``Layout`` of row numbers; matrices are arguments.
"""

from typing import NamedTuple

import numpy as np

from ...arrays import Array
from ..kernels import njit
from ..simd import LANES
from .cone import CONE_SIZE

#: Rows of scalars, one number a lane. ``TAU`` and ``KAPPA`` of the embedding, the residual
#: ``GAP`` of its fourth equation, the ``LEAST_ERROR`` so far; of one step the complementarity
#: ``MU``, ``DTAU`` and ``DKAPPA``, the ``DENOMINATOR`` of the former, the right-hand side
#: ``D_KAPPA``, the share ``1 - sigma`` of the residuals to remove as ``REMOVE``, the length
#: ``STEP``; above 0 whether to ``REFINE``, whether the matrix was ``FACTORISED``, and whether
#: the lane is ``ACTIVE``.
(TAU, KAPPA, GAP, LEAST_ERROR, MU, DTAU, DKAPPA, DENOMINATOR, D_KAPPA, REMOVE, STEP, REFINE,
 FACTORISED, ACTIVE) = range(14)
#: Number of the rows above.
SCALARS = 14


class Layout(NamedTuple):
    """
    Sizes of a programme, and the first row of each vector and matrix in the workspace.

    Attributes
    ----------
    n, p, m, size : int
        Unknowns, equality constraints, inequality rows, and these with the cones' rows.
    x, s, dx, ds : int
        ``(x, y, z)`` of n, p and ``size`` rows, the slacks of ``size`` rows, and the directions
        of both, one behind the other.
    tau_part : int
        The direction's part that ``dtau`` multiplies, ``K(W)^-1 (-c, b, h)``.
    residual : int
        ``(r1, r2, r3)``.
    rhs : int
        Right-hand side of a KKT system.
    data : int
        ``(-c, b, h)``.
    defect, correction : int
        What a KKT solution lacks, and what iterative refinement adds to it.
    lambda_ : int
        The scaled point ``W z``, of ``size`` rows as all that follow up to ``best``.
    products : int
        Right-hand side d of the complementarity equation; behind it ``W dz``.
    quotient : int
        ``d`` divided by lambda; behind it ``W^-1 ds``.
    scratch, scratch_2 : int
        Temporary vectors.
    best : int
        The x of least error so far, over tau.
    scaling : int
        W, see ``nesterov_todd_scaling``.
    normal : int
        Normal equations ``G' W^-2 G (n, n)``, then their upper Cholesky factor U.
    projected : int
        ``U^-T A' (n, p)``.
    schur : int
        Schur complement ``A (G' W^-2 G)^-1 A' (p, p)``, then its upper Cholesky factor.
    inverse_diagonal, schur_inverse_diagonal : int
        One over the diagonals of the two factors.
    rows : int
        Number of all rows.
    """

    n: int
    p: int
    m: int
    size: int
    x: int
    s: int
    dx: int
    ds: int
    tau_part: int
    residual: int
    rhs: int
    data: int
    defect: int
    correction: int
    lambda_: int
    products: int
    quotient: int
    scratch: int
    scratch_2: int
    best: int
    scaling: int
    normal: int
    projected: int
    schur: int
    inverse_diagonal: int
    schur_inverse_diagonal: int
    rows: int


@njit(cache=True, error_model='numpy')
def make_layout(n: int, p: int, m: int, cones: int) -> Layout:
    """Return the layout for n unknowns, p equality constraints, m inequality rows and cones."""
    size = m + CONE_SIZE * cones
    triple, x = n + p + size, SCALARS
    dx = x + triple + size
    first = dx + triple + size
    vectors = first + 6 * triple
    best = vectors + 5 * size
    scaling = best + n
    normal = scaling + m + (CONE_SIZE + 1) * cones
    projected = normal + n * n
    schur = projected + n * p
    diagonal = schur + p * p
    return Layout(
        n, p, m, size, x, x + triple, dx, dx + triple, first, first + triple, first + 2 * triple,
        first + 3 * triple, first + 4 * triple, first + 5 * triple, vectors, vectors + size,
        vectors + 2 * size, vectors + 3 * size, vectors + 4 * size, best, scaling, normal,
        projected, schur, diagonal, diagonal + n, diagonal + n + p)


@njit(cache=True, error_model='numpy')
def make_workspace(rows: int) -> Array:
    """Return zeros for so many rows, each within one line of a processor's cache."""
    work = np.zeros(LANES * (rows + 1))
    first = -(work.ctypes.data // work.itemsize) % LANES
    return work[first:first + LANES * rows].reshape(rows, LANES)
