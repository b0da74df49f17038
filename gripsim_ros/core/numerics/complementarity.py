"""
Linear complementarity with a positive definite matrix, by block pivoting: compiled kernels.

``x >= 0, w = M x - q >= 0, x w = 0``: the optimality conditions of ``min x'M x / 2 - q'x`` with
``x >= 0``. A guess of the active set, where x may be positive, is solved with ``w = 0`` there;
block pivoting then exchanges all variables that are wrong at once; where that stops to help,
Murty's least index rule, which always ends, takes over (Portugal, Judice & Vicente, A comparison
of block pivoting and interior-point algorithms for linear least squares problems with
nonnegative variables, Mathematics of Computation 63, 1994).

Every entry of a factor is made by the same operations in the same order, however much of
it was kept from the pass before; so the way to an active set leaves no trace in the solution.
"""

import numpy as np

from ..arrays import Array, BoolArray, IntArray
from .cholesky import combine_rows, factorise_part, solve_factored
from .kernels import njit

#: Block exchanges without progress before single ones.
PATIENCE = 6
#: Largest number of passes; single exchanges need far fewer.
MAX_PASSES = 2000
#: Largest ``-w`` that counts as zero, over the largest entry of q [-].
ZERO_RESIDUAL = 1e-12


@njit(cache=True)
def solve_complementarity(matrix: Array, right: Array, start: BoolArray,
                          order: IntArray) -> tuple[Array, IntArray, Array, bool]:
    """
    Return the solution, its active set and the factor of that part of the matrix.

    Parameters
    ----------
    matrix : (n, n) float
        M, symmetric and positive definite.
    right : (n,) float
        q.
    start : (n,) bool
        Guess of the active set; changes the time, not the answer.
    order : (n,) int
        All variables, those whose state is surest first: the factor of active variables before
        the first that changes is kept from pass to pass.

    Returns
    -------
    solution : (n,) float
        x, not negative.
    rows : (k,) int
        Active variables, in the order given.
    factor : (k, k) float
        Upper Cholesky factor of ``matrix[rows, rows]``.
    definite : bool
        The matrix was positive definite; without that the rest means nothing.
    """
    active = start.copy()
    solution = np.zeros(len(right))
    tolerance = ZERO_RESIDUAL * np.max(np.abs(right))
    fewest, patience = len(right) + 1, PATIENCE
    wrong = np.empty(len(right), np.bool_)
    rows, factor = order[:0].copy(), np.empty((0, 0))
    for _ in range(MAX_PASSES):
        before, rows = rows, order[active[order]]
        factor, definite = factorise_part(matrix, rows, before, factor)
        if not definite:
            return solution, rows, factor, False
        part = right[rows]
        solve_factored(factor, part)
        solution[:] = 0.0
        for k in range(len(rows)):
            solution[rows[k]] = part[k]
        number = _find_wrong(matrix, right, active, solution, tolerance, wrong)
        if number == 0:
            break
        if number < fewest:
            fewest, patience = number, PATIENCE
        else:
            patience -= 1
        _exchange(active, wrong, patience >= 0)
    return np.maximum(solution, 0.0), rows, factor, True


@njit(cache=True)
def _find_wrong(matrix: Array, right: Array, active: BoolArray, solution: Array,
                tolerance: float, wrong: BoolArray) -> int:
    """Mark active variables with ``x <= 0`` and others with ``w < 0``; return their number."""
    residual = combine_rows(matrix, solution) - right
    number = 0
    for i in range(len(right)):
        wrong[i] = solution[i] <= 0.0 if active[i] else residual[i] < -tolerance
        number += wrong[i]
    return number


@njit(cache=True)
def _exchange(active: BoolArray, wrong: BoolArray, all_at_once: bool) -> None:
    """Change the state of all wrong variables, or of the last one alone."""
    for i in range(len(active) - 1, -1, -1):
        if wrong[i]:
            active[i] = not active[i]
            if not all_at_once:
                return
