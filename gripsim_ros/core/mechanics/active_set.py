"""
Complementarity by active sets: compiled kernels.

``f >= 0, g = C f - d >= 0, f g = 0`` with C symmetric and positive definite. Block
pivoting exchanges all wrong nodes at once; where that stops to help, Murty's least
index rule, which always ends, takes over (Portugal, Judice & Vicente, A comparison of
block pivoting and interior-point algorithms for linear least squares problems with
nonnegative variables, Mathematics of Computation 63, 1994).
"""

from numba import njit
import numpy as np

#: Block exchanges without progress before single ones.
PATIENCE = 6
#: Passes before the answer is taken as it is; single exchanges need far fewer.
MAX_PASSES = 2000
#: A gap smaller than this share of the largest depth is closed.
CLOSED_GAP = 1e-12


@njit(cache=True)
def factorise(matrix):
    """Turn the upper triangle of ``matrix`` into U with ``U^T U = matrix``; tell success."""
    count = len(matrix)
    for k0 in range(0, count, 4):
        k1 = min(k0 + 4, count)
        for k in range(k0, k1):
            for p in range(k0, k):
                factor = matrix[p, k]
                for j in range(k, count):
                    matrix[k, j] -= factor * matrix[p, j]
            if not matrix[k, k] > 0.0:
                return False
            pivot = 1.0 / np.sqrt(matrix[k, k])
            for j in range(k, count):
                matrix[k, j] *= pivot
        if k1 < count:
            _reduce(matrix, k0, k1)
    return True


@njit(cache=True)
def _reduce(matrix, k0, k1):
    """Subtract the products of four finished rows from the rows below them."""
    count = len(matrix)
    a, b, c, d = matrix[k0], matrix[k0 + 1], matrix[k0 + 2], matrix[k0 + 3]
    for i in range(k1, count):
        row = matrix[i]
        p, q, r, s = a[i], b[i], c[i], d[i]
        for j in range(i, count):
            row[j] -= p * a[j] + q * b[j] + r * c[j] + s * d[j]


@njit(cache=True)
def back_substitute(upper, right):
    """Solve ``U^T U x = right`` in place."""
    count = len(right)
    for k in range(count):
        right[k] /= upper[k, k]
        value = right[k]
        for j in range(k + 1, count):
            right[j] -= upper[k, j] * value
    for k in range(count - 1, -1, -1):
        total = right[k]
        for j in range(k + 1, count):
            total -= upper[k, j] * right[j]
        right[k] = total / upper[k, k]


@njit(cache=True)
def gather(matrix, rows):
    """Return the rows and columns ``rows`` of a matrix."""
    part = np.empty((len(rows), len(rows)))
    for a in range(len(rows)):
        for b in range(len(rows)):
            part[a, b] = matrix[rows[a], rows[b]]
    return part


@njit(cache=True)
def solve_complementarity(compliance, depths, start):
    """
    Return forces, loaded nodes and the factor of their compliance.

    Parameters
    ----------
    compliance : (n, n) float
        Symmetric, positive definite.
    depths : (n,) float
    start : (n,) bool
        Guess of the loaded nodes; changes the time, not the answer.

    Returns
    -------
    forces : (n,) float
        Not negative.
    rows : (k,) int
        Loaded nodes.
    factor : (k, k) float
        Upper Cholesky factor of their compliance.
    definite : bool
        The compliance was positive definite; without that the rest means nothing.
    """
    count = len(depths)
    active = start.copy()
    forces = np.zeros(count)
    tolerance = CLOSED_GAP * np.max(np.abs(depths))
    fewest, patience = count + 1, PATIENCE
    wrong = np.empty(count, np.bool_)
    rows, factor = np.flatnonzero(active), np.empty((0, 0))
    for _ in range(MAX_PASSES):
        rows = np.flatnonzero(active)
        factor = gather(compliance, rows)
        if not factorise(factor):
            return forces, rows, factor, False
        loads = depths[rows]
        back_substitute(factor, loads)
        forces[:] = 0.0
        for a in range(len(rows)):
            forces[rows[a]] = loads[a]
        number = _find_wrong(compliance, depths, active, rows, loads, tolerance, wrong)
        if number == 0:
            break
        if number < fewest:
            fewest, patience = number, PATIENCE
        else:
            patience -= 1
        _exchange(active, wrong, patience >= 0)
    return np.maximum(forces, 0.0), rows, factor, True


@njit(cache=True)
def _find_wrong(compliance, depths, active, rows, loads, tolerance, wrong):
    """Mark loaded nodes that pull and free ones that overlap; return their number."""
    number = 0
    wrong[:] = False
    for a in range(len(rows)):
        if loads[a] <= 0.0:
            wrong[rows[a]] = True
            number += 1
    for i in range(len(depths)):
        if active[i]:
            continue
        gap = -depths[i]
        for a in range(len(rows)):
            gap += compliance[i, rows[a]] * loads[a]
        if gap < -tolerance:
            wrong[i] = True
            number += 1
    return number


@njit(cache=True)
def _exchange(active, wrong, all_at_once):
    """Turn all wrong nodes over, or the last one alone."""
    for i in range(len(active) - 1, -1, -1):
        if wrong[i]:
            active[i] = not active[i]
            if not all_at_once:
                return
