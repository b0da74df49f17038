"""
Cholesky factors of parts of a symmetric matrix: compiled kernels.

Rows are finished in blocks of six (left-looking). From an entry ``U[k, j]`` the products of all
rows before its block are subtracted by rank-3 updates, then those of the rows of its own block
one by one. This order depends on k alone, so that parts of a factor may be kept
and the result is the same in every bit. No library is called, whose sums may depend on the
number of threads. Six rows are updated at once, eight columns at a time.

``socp/kkt.py`` has a factorisation of its own, of another layout: eight small matrices in lanes,
with a pattern of zeros, and small pivots raised. This one is of a single large matrix.
"""

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array, IntArray
from .kernels import njit
from .simd import LANES, broadcast, load, store

#: Rows finished at once: whole pairs of rows, and whole updates.
BLOCK = 6
#: Rows whose products one update subtracts.
RANK = 3


@njit(cache=True, error_model='numpy')
def factorise_part(matrix: Array, rows: IntArray, old_rows: IntArray,
                   old_factor: Array) -> tuple[Array, bool]:
    """
    Return the Cholesky factor of a part of a matrix, keeping what it can of another part's.

    Parameters
    ----------
    matrix : (n, n) float
        Symmetric.
    rows : (k,) int
        Rows and columns of the part, in the order of the factor.
    old_rows, old_factor : (m,) int, (m, m) float
        Those of an earlier part of the same matrix; empty where there is none.

    Returns
    -------
    factor : (k, k) float
        Upper triangular U with ``U^T U = matrix[rows, rows]``; what lies below the diagonal
        means nothing.
    definite : bool
        The part is positive definite; without that the factor means nothing.
    """
    count = len(rows)
    kept = _common_start(rows, old_rows)
    factor = np.empty((count, count))
    for i in range(kept):
        for j in range(i, kept):
            factor[i, j] = old_factor[i, j]
    for i in range(kept, count):
        line, row = matrix[rows[i]], factor[i]
        for j in range(i, count):
            row[j] = line[rows[j]]
    if 0 < kept < count:
        _fill_columns(matrix, rows, kept, old_rows, old_factor, factor)
    for first in range(kept, count, BLOCK):
        last = min(first + BLOCK, count)
        # What blocks of eight columns have left of the diagonal means nothing.
        column = count - LANES
        while column >= 0 and column + LANES > first:
            if last - first == BLOCK:
                _update_six_rows(factor, first, column)
            else:
                _update_rows(factor, first, column)
            column -= LANES
        _update_columns_before(factor, first, last, column + LANES)
        for k in range(first, last):
            for p in range(first, k):
                _subtract_row(factor, factor[p, k], p, k, k)
            if not factor[k, k] > 0.0:
                return factor, False
            factor[k, k] = np.sqrt(factor[k, k])
            _divide(factor[k, k + 1:], factor[k, k])
    return factor, True


@njit(cache=True, error_model='numpy')
def _divide(row: Array, number: float) -> None:
    for j in range(len(row)):
        row[j] /= number


@njit(cache=True)
def _common_start(rows: IntArray, others: IntArray) -> int:
    """Return how many entries two lists have in common at their start, in whole blocks."""
    count = 0
    while count < min(len(rows), len(others)) and rows[count] == others[count]:
        count += 1
    return count - count % BLOCK


@njit(cache=True, error_model='numpy')
def _fill_columns(matrix: Array, rows: IntArray, kept: int, old_rows: IntArray, old_factor: Array,
                  factor: Array) -> None:
    """Give the kept rows of a factor their other columns: from the old factor, or afresh."""
    places = np.full(len(matrix), -1)
    for a in range(kept, len(old_rows)):
        places[old_rows[a]] = a
    olds = places[rows[kept:]]
    fresh = kept + np.flatnonzero(olds < 0)
    columns = np.empty((kept, len(fresh)))
    for i in range(kept):
        for b in range(len(fresh)):
            columns[i, b] = matrix[rows[i], rows[fresh[b]]]
    for first in range(0, kept, BLOCK):
        for before in range(0, first, RANK):
            for i in range(first, first + BLOCK, 2):
                _update_two_rows(factor, columns, before, i, 0)
        for k in range(first, first + BLOCK):
            for p in range(first, k):
                _subtract_row(columns, factor[p, k], p, k, 0)
            _divide(columns[k], factor[k, k])
    for i in range(kept):
        for b in range(len(olds)):
            if olds[b] >= 0:
                factor[i, kept + b] = old_factor[i, olds[b]]
        for b in range(len(fresh)):
            factor[i, fresh[b]] = columns[i, b]


@njit(cache=True, error_model='numpy')
def _update_six_rows(factor: Array, i: int, column: int) -> None:
    """Subtract the products of all rows before row i from six rows, in eight columns."""
    a, b, c = load(factor, i, column), load(factor, i + 1, column), load(factor, i + 2, column)
    d, e, f = (load(factor, i + 3, column), load(factor, i + 4, column),
               load(factor, i + 5, column))
    for k in range(0, i, RANK):
        x, y, z = load(factor, k, column), load(factor, k + 1, column), load(factor, k + 2, column)
        a = a - (factor[k, i] * x + factor[k + 1, i] * y + factor[k + 2, i] * z)
        b = b - (factor[k, i + 1] * x + factor[k + 1, i + 1] * y + factor[k + 2, i + 1] * z)
        c = c - (factor[k, i + 2] * x + factor[k + 1, i + 2] * y + factor[k + 2, i + 2] * z)
        d = d - (factor[k, i + 3] * x + factor[k + 1, i + 3] * y + factor[k + 2, i + 3] * z)
        e = e - (factor[k, i + 4] * x + factor[k + 1, i + 4] * y + factor[k + 2, i + 4] * z)
        f = f - (factor[k, i + 5] * x + factor[k + 1, i + 5] * y + factor[k + 2, i + 5] * z)
    store(a, factor, i, column)
    store(b, factor, i + 1, column)
    store(c, factor, i + 2, column)
    store(d, factor, i + 3, column)
    store(e, factor, i + 4, column)
    store(f, factor, i + 5, column)


@njit(cache=True, error_model='numpy')
def _update_rows(factor: Array, first: int, column: int) -> None:
    """Subtract the products of all rows before the first from those behind, in eight columns."""
    for i in range(first, len(factor)):
        total = load(factor, i, column)
        for k in range(0, first, RANK):
            total = total - (factor[k, i] * load(factor, k, column)
                             + factor[k + 1, i] * load(factor, k + 1, column)
                             + factor[k + 2, i] * load(factor, k + 2, column))
        store(total, factor, i, column)


@njit(cache=True, error_model='numpy')
def _update_columns_before(factor: Array, first: int, last: int, columns: int) -> None:
    """Subtract the products of all rows before the first from some rows, before a column."""
    for i in range(first, last):
        for j in range(i, columns):
            for k in range(0, first, RANK):
                factor[i, j] -= (factor[k, i] * factor[k, j] + factor[k + 1, i] * factor[k + 1, j]
                                 + factor[k + 2, i] * factor[k + 2, j])


@njit(cache=True, error_model='numpy')
def _update_two_rows(factor: Array, rows: Array, k: int, i: int, first: int) -> None:
    """Subtract the products of rows k to k + 2 from rows i and i + 1, from a column on."""
    upper, lower = rows[i][first:], rows[i + 1][first:]
    a, b, c = rows[k][first:], rows[k + 1][first:], rows[k + 2][first:]
    p, q, r = factor[k, i], factor[k + 1, i], factor[k + 2, i]
    u, v, w = factor[k, i + 1], factor[k + 1, i + 1], factor[k + 2, i + 1]
    for j in range(len(upper)):
        x, y, z = a[j], b[j], c[j]
        upper[j] -= p * x + q * y + r * z
        lower[j] -= u * x + v * y + w * z


@njit(cache=True, error_model='numpy')
def _subtract_row(rows: Array, times: float, p: int, k: int, first: int) -> None:
    """Subtract a multiple of row p from row k, from a column on."""
    row, source = rows[k], rows[p]
    for j in range(first, len(row)):
        row[j] -= times * source[j]


@njit(cache=True, error_model='numpy')
def solve_factored(upper: Array, right: Array) -> None:
    """Solve ``U^T U x = right`` in place."""
    count = len(right)
    for k in range(count):
        right[k] /= upper[k, k]
        row, value = upper[k], right[k]
        for j in range(k + 1, count):
            right[j] -= row[j] * value
    for k in range(count - 1, -1, -1):
        right[k] = (right[k] - _dot(upper[k], right, k + 1)) / upper[k, k]


@njit(cache=True, error_model='numpy')
def _dot(a: Array, b: Array, first: int) -> float:
    """Return the inner product from an entry on, as four sums side by side."""
    p, q, r, s = 0.0, 0.0, 0.0, 0.0
    last = first + (len(b) - first) // 4 * 4
    for j in range(first, last, 4):
        p += a[j] * b[j]
        q += a[j + 1] * b[j + 1]
        r += a[j + 2] * b[j + 2]
        s += a[j + 3] * b[j + 3]
    for j in range(last, len(b)):
        p += a[j] * b[j]
    return (p + q) + (r + s)


@njit(cache=True, error_model='numpy')
def forward_substitute(upper: Array, right: Array) -> None:
    """Solve ``U^T X = right (n, 8)`` in place: half the way of ``solve_factored``, to the bit."""
    count = len(right)
    for k in range(count):
        value = load(right, k) / upper[k, k]
        store(value, right, k)
        for j in range(k + 1, count):
            store(load(right, j) - upper[k, j] * value, right, j)


@njit(cache=True, error_model='numpy')
def back_substitute(upper: Array, right: Array) -> None:
    """Solve ``U X = right (n, 8)`` in place: the second half of ``solve_factored``."""
    count = len(right)
    for k in range(count - 1, -1, -1):
        p, q, r, s = broadcast(0.0), broadcast(0.0), broadcast(0.0), broadcast(0.0)
        last = k + 1 + (count - k - 1) // 4 * 4
        for j in range(k + 1, last, 4):
            p = p + upper[k, j] * load(right, j)
            q = q + upper[k, j + 1] * load(right, j + 1)
            r = r + upper[k, j + 2] * load(right, j + 2)
            s = s + upper[k, j + 3] * load(right, j + 3)
        for j in range(last, count):
            p = p + upper[k, j] * load(right, j)
        store((load(right, k) - ((p + q) + (r + s))) / upper[k, k], right, k)


@njit(cache=True, error_model='numpy')
def combine_rows(matrix: Array | NDArray[np.float32], weights: Array) -> Array:
    """Return the sum ``(n,)`` of the rows ``(k, n)`` of a matrix times weights."""
    total = np.zeros(matrix.shape[1])
    for a in range(len(weights)):
        row, weight = matrix[a], weights[a]
        if weight != 0.0:
            for j in range(len(total)):
                total[j] += weight * row[j]
    return total
