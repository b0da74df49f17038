"""
The room of the conic solver: one array ``(rows, 8)`` that holds all of eight lanes.

Compiled code counts who holds an array. A solution has some thirty vectors, which its functions
hand on; as rows of one array they are told by numbers, which nobody counts.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..simd import LANES
from .cone import CONE

Array = NDArray[np.float64]

#: Rows of what a lane has one number of: ``TAU`` and ``KAPPA`` of the embedding, what its
#: ``LAST`` equation lacks, the ``LOWEST`` error so far; of one step the complementarity ``MU``,
#: the directions ``DTAU`` and ``DKAPPA``, the divisor ``BELOW`` of the first and the ``PUSH`` on
#: it, the ``SHARE`` of the residuals to remove, its length ``STEP``; above 0 whether to
#: ``REFINE``, whether the factorisation was ``GOOD``, and whether the lane is ``BUSY``.
(TAU, KAPPA, LAST, LOWEST, MU, DTAU, DKAPPA, BELOW, PUSH, SHARE, STEP, REFINE, GOOD,
 BUSY) = range(14)
#: So many they are.
NUMBERS = 14


class Places(NamedTuple):
    """
    Numbers of unknowns n, balances p, rows m, and rows with cones ``size``; then first rows.

    ``x``, ``dx``, ``constant``, ``residual``, ``goal``, ``task``, ``lacking`` and ``repair`` are
    those of n, p and ``size`` rows, one behind the other: iterate, direction, its part that tau
    drives, residuals, right-hand sides of a step; the programme's own, which are the negative
    objective, balances and limits; what a solution lacks, and what it takes. ``s``, ``ds`` and
    what follows are of ``size`` rows, ``best`` of n. Factors are those of the normal equations,
    ``(n, n)`` and ``(n, p)``, and of the balances ``(p, p)``, with inverse diagonals.
    """

    n: int
    p: int
    m: int
    size: int
    x: int
    dx: int
    constant: int
    residual: int
    goal: int
    task: int
    lacking: int
    repair: int
    s: int
    ds: int
    weighted: int
    products: int
    divided: int
    half: int
    whole: int
    best: int
    scaling: int
    normal: int
    through: int
    schur: int
    diagonal: int
    schur_diagonal: int
    rows: int


@njit(cache=True, error_model='numpy')
def make_places(n: int, p: int, m: int, cones: int) -> Places:
    """Return where all lies for n unknowns, p balances, m rows and some cones."""
    size = m + CONE * cones
    triple, first = n + p + size, NUMBERS
    vectors = first + 8 * triple
    best = vectors + 7 * size
    scaling = best + n
    normal = scaling + m + (CONE + 1) * cones
    through = normal + n * n
    schur = through + n * p
    diagonal = schur + p * p
    return Places(
        n, p, m, size, first, first + triple, first + 2 * triple, first + 3 * triple,
        first + 4 * triple, first + 5 * triple, first + 6 * triple, first + 7 * triple, vectors,
        vectors + size, vectors + 2 * size, vectors + 3 * size, vectors + 4 * size,
        vectors + 5 * size, vectors + 6 * size, best, scaling, normal, through, schur, diagonal,
        diagonal + n, diagonal + n + p)


@njit(cache=True, error_model='numpy')
def make_room(rows: int) -> Array:
    """Return room of zeros for so many rows, each within one line of a processor's cache."""
    room = np.zeros(LANES * (rows + 1))
    first = -(room.ctypes.data // room.itemsize) % LANES
    return room[first:first + LANES * rows].reshape(rows, LANES)
