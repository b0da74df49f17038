"""
Complementarity by active sets: compiled kernels.

``f >= 0, g = C f - d >= 0, f g = 0`` with C symmetric and positive definite. Block
pivoting exchanges all wrong nodes at once; where that stops to help, Murty's least
index rule, which always ends, takes over (Portugal, Judice & Vicente, A comparison of
block pivoting and interior-point algorithms for linear least squares problems with
nonnegative variables, Mathematics of Computation 63, 1994).

Every entry of a factor is made by the same operations in the same order, however much of
it was kept from the pass before; so the way to a set of loaded nodes leaves no trace in
its forces.
"""

from numba import njit
import numpy as np
from numpy.typing import NDArray

from .cholesky import back_substitute, combine_rows, factorise_part

Array = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

#: Block exchanges without progress before single ones.
PATIENCE = 6
#: Passes before the answer is taken as it is; single exchanges need far fewer.
MAX_PASSES = 2000
#: A gap smaller than this share of the largest depth is closed.
CLOSED_GAP = 1e-12


@njit(cache=True)
def solve_complementarity(compliance: Array, depths: Array, start: BoolArray,
                          order: IntArray) -> tuple[Array, IntArray, Array, bool]:
    """
    Return forces, loaded nodes and the factor of their compliance.

    Parameters
    ----------
    compliance : (n, n) float
        Symmetric, positive definite.
    depths : (n,) float
    start : (n,) bool
        Guess of the loaded nodes; changes the time, not the answer.
    order : (n,) int
        All nodes, those whose state is surest first: the factor of loaded nodes before the
        first that changes is kept from pass to pass.

    Returns
    -------
    forces : (n,) float
        Not negative.
    rows : (k,) int
        Loaded nodes, in the order given.
    factor : (k, k) float
        Upper Cholesky factor of their compliance.
    definite : bool
        The compliance was positive definite; without that the rest means nothing.
    """
    active = start.copy()
    forces = np.zeros(len(depths))
    tolerance = CLOSED_GAP * np.max(np.abs(depths))
    fewest, patience = len(depths) + 1, PATIENCE
    wrong = np.empty(len(depths), np.bool_)
    rows, factor = order[:0].copy(), np.empty((0, 0))
    for _ in range(MAX_PASSES):
        before, rows = rows, order[active[order]]
        factor, definite = factorise_part(compliance, rows, before, factor)
        if not definite:
            return forces, rows, factor, False
        loads = depths[rows]
        back_substitute(factor, loads)
        forces[:] = 0.0
        forces[rows] = loads
        number = _find_wrong(compliance, depths, active, forces, tolerance, wrong)
        if number == 0:
            break
        if number < fewest:
            fewest, patience = number, PATIENCE
        else:
            patience -= 1
        _exchange(active, wrong, patience >= 0)
    return np.maximum(forces, 0.0), rows, factor, True


@njit(cache=True)
def _find_wrong(compliance: Array, depths: Array, active: BoolArray, forces: Array,
                tolerance: float, wrong: BoolArray) -> int:
    """Mark loaded nodes that pull and free ones that overlap; return their number."""
    gaps = combine_rows(compliance, forces) - depths
    number = 0
    for i in range(len(depths)):
        wrong[i] = forces[i] <= 0.0 if active[i] else gaps[i] < -tolerance
        number += wrong[i]
    return number


@njit(cache=True)
def _exchange(active: BoolArray, wrong: BoolArray, all_at_once: bool) -> None:
    """Turn all wrong nodes over, or the last one alone."""
    for i in range(len(active) - 1, -1, -1):
        if wrong[i]:
            active[i] = not active[i]
            if not all_at_once:
                return
