"""
The linear equations of one step of the conic solver: dense, factorised once a scaling.

``A`` are the balances, ``G`` the rows and, below them, ``-1`` for each unknown of a cone.
Both are the same for all lanes; what has lanes has them along its last axis.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .cone_algebra import CONE, weigh

Array = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Factors = tuple[Array, Array, Array, Array, Array]

#: Pivots below this part of a matrix's largest diagonal entry are raised to it [-].
PIVOT = 1e-15


class SolverState(NamedTuple):
    """
    Room for the solutions of some lanes: iterates, directions, scaling, factors, scratch.

    ``filled (n, n)`` marks the entries of the normal equations' factor that are not zero,
    ``every (p, p)`` those of the balances'.
    """

    x: Array
    y: Array
    z: Array
    s: Array
    steps: tuple[Array, Array, Array, Array]
    constant: tuple[Array, Array, Array]
    residuals: tuple[Array, Array, Array]
    lines: Array
    cones: Array
    filled: BoolArray
    every: BoolArray
    factors: Factors
    goals: tuple[Array, Array, Array]
    scratch: tuple[Array, Array, Array]
    refined: tuple[Array, Array, Array, Array, Array, Array]
    halves: tuple[Array, Array]


@njit(cache=True, error_model='numpy')
def make_state(rows: Array, balances: int, cones: int, lanes: int) -> SolverState:
    """Return room for the unknowns and limits of ``rows (m, n)`` in some lanes."""
    (m, n), p = rows.shape, balances
    size = m + CONE * cones
    return SolverState(
        np.empty((n, lanes)), np.empty((p, lanes)), np.empty((size, lanes)),
        np.empty((size, lanes)),
        (np.empty((n, lanes)), np.empty((p, lanes)), np.empty((size, lanes)),
         np.empty((size, lanes))),
        (np.empty((n, lanes)), np.empty((p, lanes)), np.empty((size, lanes))),
        (np.empty((n, lanes)), np.empty((p, lanes)), np.empty((size, lanes))),
        np.empty((m, lanes)), np.empty((cones, CONE + 1, lanes)), filled_entries(rows, cones),
        np.ones((p, p), np.bool_),
        (np.empty((n, n, lanes)), np.empty((n, p, lanes)), np.empty((p, p, lanes)),
         np.empty((n, lanes)), np.empty((p, lanes))),
        (np.empty((n, lanes)), np.empty((p, lanes)), np.empty((size, lanes))),
        (np.empty((size, lanes)), np.empty((size, lanes)), np.empty((size, lanes))),
        (np.empty((n, lanes)), np.empty((p, lanes)), np.empty((size, lanes)),
         np.empty((n, lanes)), np.empty((p, lanes)), np.empty((size, lanes))),
        (np.empty((size, lanes)), np.empty((size, lanes))))


@njit(cache=True, error_model='numpy')
def filled_entries(rows: Array, cones: int) -> BoolArray:
    """Return which entries (n, n) of the normal equations' factor are not zero."""
    n = rows.shape[1]
    filled = np.eye(n) > 0.0
    for cone in range(cones):
        filled[CONE * cone:CONE * (cone + 1), CONE * cone:CONE * (cone + 1)] = True
    for r in range(len(rows)):
        for i in range(n):
            for j in range(n):
                filled[i, j] |= rows[r, i] != 0.0 and rows[r, j] != 0.0
    for k in range(n):
        for i in range(k + 1, n):
            for j in range(i, n):
                filled[i, j] |= filled[k, i] and filled[k, j]
    return filled


@njit(cache=True, error_model='numpy')
def dot(a: Array, b: Array, result: Array, width: int) -> None:
    """Write the inner products of two vectors."""
    result[:width] = 0.0
    add_dot(a, b, 1.0, result, width)


@njit(cache=True, error_model='numpy')
def add_dot(a: Array, b: Array, factor: float, result: Array, width: int) -> None:
    """Add a multiple of the inner products of two vectors."""
    for i in range(len(a)):
        for lane in range(width):
            result[lane] += factor * a[i, lane] * b[i, lane]


@njit(cache=True, error_model='numpy')
def add_dot_of_all(a: Array, b: Array, factor: float, result: Array, width: int) -> None:
    """Add a multiple of the inner products of vectors with one that all lanes share."""
    for i in range(len(a)):
        for lane in range(width):
            result[lane] += factor * a[i] * b[i, lane]


@njit(cache=True, error_model='numpy')
def add_scaled(a: Array, factors: Array, b: Array, width: int) -> None:
    """Add multiples of b to a."""
    for i in range(len(a)):
        for lane in range(width):
            a[i, lane] += factors[lane] * b[i, lane]


@njit(cache=True, error_model='numpy')
def transposed_product(balance: Array, rows: Array, y: Array, z: Array, result: Array,
                       width: int) -> None:
    """Write ``A'y + G'z``."""
    m = len(rows)
    for i in range(len(result)):
        for lane in range(width):
            result[i, lane] = -z[m + i, lane] if m + i < len(z) else 0.0
        for r in range(len(balance)):
            for lane in range(width):
                result[i, lane] += balance[r, i] * y[r, lane]
        for r in range(m):
            if rows[r, i] != 0.0:
                for lane in range(width):
                    result[i, lane] += rows[r, i] * z[r, lane]


@njit(cache=True, error_model='numpy')
def product(balance: Array, rows: Array, x: Array, on_balance: Array, on_rows: Array,
            width: int) -> None:
    """Write ``A x`` and ``G x``."""
    m = len(rows)
    for r in range(len(balance)):
        on_balance[r, :width] = 0.0
        for i in range(len(x)):
            for lane in range(width):
                on_balance[r, lane] += balance[r, i] * x[i, lane]
    for r in range(m):
        on_rows[r, :width] = 0.0
        for i in range(len(x)):
            if rows[r, i] != 0.0:
                for lane in range(width):
                    on_rows[r, lane] += rows[r, i] * x[i, lane]
    for i in range(len(on_rows) - m):
        for lane in range(width):
            on_rows[m + i, lane] = -x[i, lane]


@njit(cache=True, error_model='numpy')
def factorise(balance: Array, rows: Array, state: SolverState, good: BoolArray,
              width: int) -> None:
    """Factorise the normal equations under a scaling; write for each lane whether it went well."""
    normal, through, schur, diagonal, schur_diagonal = state.factors
    n, p = len(normal), len(balance)
    _assemble(rows, state.lines, state.cones, state.filled, normal, width)
    good[:width] = True
    _cholesky(normal, diagonal, state.filled, good, width)
    for i in range(n):
        for r in range(p):
            for lane in range(width):
                through[i, r, lane] = balance[r, i]
    _through(normal, diagonal, state.filled, through, width)
    schur[:, :, :width] = 0.0
    for i in range(n):
        for r in range(p):
            for c in range(r, p):
                for lane in range(width):
                    schur[r, c, lane] += through[i, r, lane] * through[i, c, lane]
    _cholesky(schur, schur_diagonal, state.every, good, width)


@njit(cache=True, error_model='numpy')
def _assemble(rows: Array, lines: Array, cones: Array, filled: BoolArray, normal: Array,
              width: int) -> None:
    """Write the upper part of ``G' W^-2 G``."""
    n = len(normal)
    for i in range(n):
        for j in range(i, n):
            if filled[i, j]:
                normal[i, j, :width] = 0.0
    for r in range(len(rows)):
        for i in range(n):
            for j in range(i, n):
                factor = rows[r, i] * rows[r, j]
                if factor != 0.0:
                    for lane in range(width):
                        normal[i, j, lane] += factor / lines[r, lane] ** 2
    for cone in range(len(cones)):
        first = CONE * cone
        for i in range(CONE):
            for j in range(i, CONE):
                double = 2.0 if i == 0 and j == 0 or i > 0 else -2.0
                single = 0.0 if i != j else (1.0 if i else -1.0)
                for lane in range(width):
                    entry = double * cones[cone, 1 + i, lane] * cones[cone, 1 + j, lane] + single
                    normal[first + i, first + j, lane] += entry / cones[cone, 0, lane] ** 2


@njit(cache=True, error_model='numpy')
def _cholesky(upper: Array, inverse: Array, filled: BoolArray, good: BoolArray,
              width: int) -> None:
    """
    Replace symmetric matrices' upper parts by their factors U, ``U'U`` being the matrix.

    Also writes the inverses of U's diagonal, and takes ``good`` from lanes whose matrix is not
    finite. Entries that are not ``filled`` are not looked at.
    """
    n, largest = len(upper), np.zeros(width)
    for i in range(n):
        for lane in range(width):
            largest[lane] = max(largest[lane], upper[i, i, lane])
    for k in range(n):
        for lane in range(width):
            pivot = max(upper[k, k, lane], PIVOT * largest[lane])
            inverse[k, lane] = 1.0 / np.sqrt(pivot)
        for j in range(k, n):
            if filled[k, j]:
                for lane in range(width):
                    upper[k, j, lane] *= inverse[k, lane]
        for i in range(k + 1, n):
            if filled[k, i]:
                for j in range(i, n):
                    if filled[k, j]:
                        for lane in range(width):
                            upper[i, j, lane] -= upper[k, i, lane] * upper[k, j, lane]
    for lane in range(width):
        good[lane] &= n == 0 or np.isfinite(largest[lane]) and largest[lane] > 0.0


@njit(cache=True, error_model='numpy')
def _through(upper: Array, inverse: Array, filled: BoolArray, columns: Array, width: int) -> None:
    """Solve ``U'X = B`` in place for the columns of B."""
    n, p = columns.shape[:2]
    for i in range(n):
        for r in range(p):
            for lane in range(width):
                columns[i, r, lane] *= inverse[i, lane]
        for j in range(i + 1, n):
            if filled[i, j]:
                for r in range(p):
                    for lane in range(width):
                        columns[j, r, lane] -= upper[i, j, lane] * columns[i, r, lane]


@njit(cache=True, error_model='numpy')
def solve_step(balance: Array, rows: Array, state: SolverState, goal: tuple[Array, Array, Array],
               solution: tuple[Array, Array, Array], refine: BoolArray, width: int) -> None:
    """
    Solve ``A'y + G'z = p``, ``A x = q``, ``G x - W^2 z = r``; refine once the lanes that want it.

    ``goal`` is ``(p, q, r)``, ``solution`` is ``(x, y, z)``.
    """
    _solve_once(balance, rows, state, goal, solution, width)
    if not refine[:width].any():
        return
    ep, eq, er, ex, ey, ez = state.refined
    (x, y, z), (half, whole) = solution, state.halves
    transposed_product(balance, rows, y, z, ep, width)
    product(balance, rows, x, eq, er, width)
    weigh(state.lines, state.cones, z, half, False, width)
    weigh(state.lines, state.cones, half, whole, False, width)
    for i in range(len(er)):
        for lane in range(width):
            er[i, lane] -= whole[i, lane]
    _take_from(ep, goal[0], width)
    _take_from(eq, goal[1], width)
    _take_from(er, goal[2], width)
    _solve_once(balance, rows, state, (ep, eq, er), (ex, ey, ez), width)
    _add_where(x, ex, refine, width)
    _add_where(y, ey, refine, width)
    _add_where(z, ez, refine, width)


@njit(cache=True, error_model='numpy')
def _take_from(a: Array, b: Array, width: int) -> None:
    """Write ``b - a`` over a."""
    for i in range(len(a)):
        for lane in range(width):
            a[i, lane] = b[i, lane] - a[i, lane]


@njit(cache=True, error_model='numpy')
def _add_where(a: Array, b: Array, wanted: BoolArray, width: int) -> None:
    for i in range(len(a)):
        for lane in range(width):
            a[i, lane] += b[i, lane] if wanted[lane] else 0.0


@njit(cache=True, error_model='numpy')
def _solve_once(balance: Array, rows: Array, state: SolverState, goal: tuple[Array, Array, Array],
                solution: tuple[Array, Array, Array], width: int) -> None:
    normal, through, schur, diagonal, schur_diagonal = state.factors
    (p, q, r), (x, y, z), (half, whole) = goal, solution, state.halves
    n, m, balances = len(p), len(rows), len(q)
    weigh(state.lines, state.cones, r, half, True, width)
    weigh(state.lines, state.cones, half, whole, True, width)
    for i in range(n):
        for lane in range(width):
            x[i, lane] = p[i, lane] - (whole[m + i, lane] if m + i < len(whole) else 0.0)
    for k in range(m):
        for i in range(n):
            if rows[k, i] != 0.0:
                for lane in range(width):
                    x[i, lane] += rows[k, i] * whole[k, lane]
    _forth(normal, diagonal, state.filled, x, width)
    for i in range(balances):
        for lane in range(width):
            y[i, lane] = -q[i, lane]
    for i in range(n):
        for c in range(balances):
            for lane in range(width):
                y[c, lane] += x[i, lane] * through[i, c, lane]
    _forth(schur, schur_diagonal, state.every, y, width)
    _back(schur, schur_diagonal, state.every, y, width)
    for i in range(n):
        for c in range(balances):
            for lane in range(width):
                x[i, lane] -= through[i, c, lane] * y[c, lane]
    _back(normal, diagonal, state.filled, x, width)
    for k in range(m):
        for lane in range(width):
            half[k, lane] = -r[k, lane]
        for i in range(n):
            if rows[k, i] != 0.0:
                for lane in range(width):
                    half[k, lane] += rows[k, i] * x[i, lane]
    for i in range(len(r) - m):
        for lane in range(width):
            half[m + i, lane] = -x[i, lane] - r[m + i, lane]
    weigh(state.lines, state.cones, half, whole, True, width)
    weigh(state.lines, state.cones, whole, z, True, width)


@njit(cache=True, error_model='numpy')
def _forth(upper: Array, inverse: Array, filled: BoolArray, v: Array, width: int) -> None:
    """Solve ``U'x = v`` in place."""
    for i in range(len(v)):
        for lane in range(width):
            v[i, lane] *= inverse[i, lane]
        for j in range(i + 1, len(v)):
            if filled[i, j]:
                for lane in range(width):
                    v[j, lane] -= upper[i, j, lane] * v[i, lane]


@njit(cache=True, error_model='numpy')
def _back(upper: Array, inverse: Array, filled: BoolArray, v: Array, width: int) -> None:
    """Solve ``U x = v`` in place."""
    for i in range(len(v) - 1, -1, -1):
        for j in range(i + 1, len(v)):
            if filled[i, j]:
                for lane in range(width):
                    v[i, lane] -= upper[i, j, lane] * v[j, lane]
        for lane in range(width):
            v[i, lane] *= inverse[i, lane]
