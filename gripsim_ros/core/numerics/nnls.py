"""
Least squares with unknowns that are not negative, for small dense systems.

    minimise |A x - b|  subject to  x >= 0

Source: Lawson & Hanson, Solving Least Squares Problems, 1974, algorithm NNLS (chapter 23). Each
set of positive unknowns is solved by Householder reflections of its columns, never by normal
equations: rows of very different weight, which make a sum nearly exact, would lose half their
digits.

Loops over entries instead of numpy's functions of arrays: numba compiles each of those anew.
"""

import math

import numpy as np

from ..arrays import Array, BoolArray
from .kernels import copy_entries, njit

#: Gradients up to this many times round-off are none.
ROUND_OFFS = 10.0
#: Largest number of sets of positive unknowns tried, as a multiple of the number of unknowns.
MOST_SETS = 10


@njit(cache=True, error_model='numpy')
def solve_nnls(matrix: Array, right: Array) -> tuple[Array, float]:
    """
    Return the unknowns that are not negative and come nearest to a right-hand side.

    Parameters
    ----------
    matrix : (m, n) float
    right : (m,) float

    Returns
    -------
    x : (n,) float
        Zero without unknowns, or where nothing is gained by any.
    residual : float
        Length of ``matrix @ x - right``.
    """
    rows, count = matrix.shape
    x, positive = np.zeros(count), np.zeros(count, np.bool_)
    rest = right.copy()
    lengths = np.empty(count)
    for j in range(count):
        lengths[j] = _length(matrix[:, j])
    tried, refused = 0, np.zeros(count, np.bool_)
    while tried < MOST_SETS * max(count, 1):
        new = _steepest(matrix, rest, lengths, positive, refused)
        if new < 0:
            break
        positive[new] = True
        trial = _solve_set(matrix, right, positive)
        if trial[new] <= 0.0:       # its gradient was round-off
            positive[new], refused[new] = False, True
            continue
        while True:
            tried += 1
            step = _longest_step(x, trial, positive)
            x += step * (trial - x)
            if step == 1.0:
                break
            positive &= x > 0.0
            x[~positive] = 0.0
            trial = _solve_set(matrix, right, positive)
        refused[:] = False
        for i in range(rows):
            rest[i] = right[i]
            for j in range(count):
                rest[i] -= matrix[i, j] * x[j]
    return x, _length(rest)


@njit(cache=True, error_model='numpy')
def _length(vector: Array) -> float:
    """Return the length of a vector, its squares summed in their order."""
    total = 0.0
    for i in range(len(vector)):
        total += vector[i] * vector[i]
    return math.sqrt(total)


@njit(cache=True, error_model='numpy')
def _steepest(matrix: Array, rest: Array, lengths: Array, positive: BoolArray,
              refused: BoolArray) -> int:
    """Return the unknown at 0 whose growth lowers the residual most, -1 where none does."""
    best, most = -1, 0.0
    size = _length(rest)
    for j in range(len(lengths)):
        if positive[j] or refused[j]:
            continue
        gradient = 0.0
        for i in range(len(rest)):
            gradient += matrix[i, j] * rest[i]
        if gradient > most and gradient > ROUND_OFFS * 2.3e-16 * len(rest) * lengths[j] * size:
            best, most = j, gradient
    return best


@njit(cache=True, error_model='numpy')
def _longest_step(x: Array, trial: Array, positive: BoolArray) -> float:
    """Return the share of the way from x to a trial on which no unknown becomes negative."""
    share, leaving = 1.0, -1
    for j in range(len(x)):
        if positive[j] and trial[j] <= 0.0:
            here = x[j] / (x[j] - trial[j])
            if here < share:
                share, leaving = here, j
    if leaving >= 0:
        trial[leaving] = x[leaving] - x[leaving] / share    # so that it becomes 0 exactly
    return share


@njit(cache=True, error_model='numpy')
def _solve_set(matrix: Array, right: Array, positive: BoolArray) -> Array:
    """Return the least-squares solution in which all but the positive unknowns are 0."""
    columns = np.flatnonzero(positive)
    count, rows = len(columns), len(right)
    work = np.empty((count + 1, rows))
    for k in range(count):
        copy_entries(matrix[:, columns[k]], work[k])
    copy_entries(right, work[count])
    for k in range(min(count, rows)):
        _reflect(work, k)
    trial = np.zeros(len(positive))
    for k in range(min(count, rows) - 1, -1, -1):
        value = work[count, k]
        for other in range(k + 1, count):
            value -= work[other, k] * trial[columns[other]]
        trial[columns[k]] = value / work[k, k] if work[k, k] != 0.0 else 0.0
    return trial


@njit(cache=True, error_model='numpy')
def _reflect(work: Array, k: int) -> None:
    """Reflect what lies below the diagonal of column k to 0, in all later columns too."""
    rows, size = work.shape[1], _length(work[k, k:])
    if size == 0.0:
        return
    v = work[k, k:].copy()
    v[0] += size if work[k, k] > 0.0 else -size
    scale = 1.0 / (size * (size + abs(work[k, k])))
    for other in range(k, len(work)):
        along = 0.0
        for i in range(k, rows):
            along += v[i - k] * work[other, i]
        for i in range(k, rows):
            work[other, i] -= scale * along * v[i - k]
