"""
The linear equations of one step of the conic solver: dense, factorised once a scaling.

``A`` are the balances, ``G`` the rows and, below them, ``-1`` for each unknown of a cone.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .cone_algebra import CONE, weigh

Array = NDArray[np.float64]

#: Pivots below this part of a matrix's largest diagonal entry are raised to it [-].
PIVOT = 1e-15


class SolverState(NamedTuple):
    """Room for one solution: iterates, directions, scaling, factors, scratch."""

    x: Array
    y: Array
    z: Array
    s: Array
    steps: tuple[Array, Array, Array, Array]
    constant: tuple[Array, Array, Array]
    residuals: tuple[Array, Array, Array]
    lines: Array
    cones: Array
    factors: tuple[Array, Array, Array, Array, Array]
    goals: tuple[Array, Array, Array]
    scratch: tuple[Array, Array, Array]
    refined: tuple[Array, Array, Array, Array, Array, Array]


@njit(cache=True, error_model='numpy')
def make_state(n: int, p: int, m: int, cones: int) -> SolverState:
    """Return room for n unknowns, p balances, m rows and some cones."""
    size = m + CONE * cones
    return SolverState(
        np.empty(n), np.empty(p), np.empty(size), np.empty(size),
        (np.empty(n), np.empty(p), np.empty(size), np.empty(size)),
        (np.empty(n), np.empty(p), np.empty(size)),
        (np.empty(n), np.empty(p), np.empty(size)),
        np.empty(m), np.empty((cones, CONE + 1)),
        (np.empty((n, n)), np.empty((n, p)), np.empty((p, p)), np.empty(n), np.empty(p)),
        (np.empty(n), np.empty(p), np.empty(size)),
        (np.empty(size), np.empty(size), np.empty(size)),
        (np.empty(n), np.empty(p), np.empty(size), np.empty(n), np.empty(p), np.empty(size)))


@njit(cache=True, error_model='numpy')
def dot(a: Array, b: Array) -> float:
    """Return the inner product of two short vectors."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@njit(cache=True, error_model='numpy')
def add_scaled(a: Array, factor: float, b: Array) -> None:
    """Add a multiple of b to a."""
    for i in range(len(a)):
        a[i] += factor * b[i]


@njit(cache=True, error_model='numpy')
def transposed_product(balance: Array, rows: Array, y: Array, z: Array, result: Array) -> None:
    """Write ``A'y + G'z``."""
    m = len(rows)
    for i in range(len(result)):
        result[i] = -z[m + i] if m + i < len(z) else 0.0
    for r in range(len(balance)):
        for i in range(len(result)):
            result[i] += balance[r, i] * y[r]
    for r in range(m):
        for i in range(len(result)):
            result[i] += rows[r, i] * z[r]


@njit(cache=True, error_model='numpy')
def product(balance: Array, rows: Array, x: Array, on_balance: Array, on_rows: Array) -> None:
    """Write ``A x`` and ``G x``."""
    m = len(rows)
    for r in range(len(balance)):
        on_balance[r] = dot(balance[r], x)
    for r in range(m):
        on_rows[r] = dot(rows[r], x)
    for i in range(len(on_rows) - m):
        on_rows[m + i] = -x[i]


@njit(cache=True, error_model='numpy')
def factorise(balance: Array, rows: Array, lines: Array, cones: Array,
              factors: tuple[Array, Array, Array, Array, Array]) -> bool:
    """Factorise the normal equations under a scaling; tell whether that went well."""
    normal, through, schur, diagonal, schur_diagonal = factors
    n, p = len(normal), len(balance)
    normal[:] = 0.0
    for r in range(len(rows)):
        weight = 1.0 / lines[r] ** 2
        for i in range(n):
            if rows[r, i] != 0.0:
                part = weight * rows[r, i]
                for j in range(i, n):
                    normal[i, j] += part * rows[r, j]
    for cone in range(len(cones)):
        weight, first = 1.0 / cones[cone, 0] ** 2, CONE * cone
        for i in range(CONE):
            for j in range(i, CONE):
                product = 2.0 * cones[cone, 1 + i] * cones[cone, 1 + j]
                same = i == 0 and j == 0 or i > 0
                normal[first + i, first + j] += weight * (product if same else -product)
            normal[first + i, first + i] += weight if i else -weight
    if not _cholesky(normal, diagonal):
        return False
    for i in range(n):
        for r in range(p):
            through[i, r] = balance[r, i]
    _through(normal, diagonal, through)
    schur[:] = 0.0
    for i in range(n):
        for r in range(p):
            value = through[i, r]
            for c in range(r, p):
                schur[r, c] += value * through[i, c]
    return _cholesky(schur, schur_diagonal)


@njit(cache=True, error_model='numpy')
def _cholesky(upper: Array, inverse: Array) -> bool:
    """
    Replace a symmetric matrix's upper part by its factor U, ``U'U`` being the matrix.

    Also writes the inverses of U's diagonal, and tells whether the matrix is finite.
    """
    n, largest = len(upper), 0.0
    for i in range(n):
        largest = max(largest, upper[i, i])
    for k in range(n):
        inverse[k] = 1.0 / np.sqrt(max(upper[k, k], PIVOT * largest))
        for j in range(k, n):
            upper[k, j] *= inverse[k]
        for i in range(k + 1, n):
            value = upper[k, i]
            if value != 0.0:
                for j in range(i, n):
                    upper[i, j] -= value * upper[k, j]
    return bool(np.isfinite(largest) and largest > 0.0)


@njit(cache=True, error_model='numpy')
def _through(upper: Array, inverse: Array, columns: Array) -> None:
    """Solve ``U'X = B`` in place for the columns of B."""
    n, p = columns.shape
    for i in range(n):
        for r in range(p):
            columns[i, r] *= inverse[i]
        for j in range(i + 1, n):
            value = upper[i, j]
            if value != 0.0:
                for r in range(p):
                    columns[j, r] -= value * columns[i, r]


@njit(cache=True, error_model='numpy')
def solve_step(balance: Array, rows: Array, state: SolverState, p: Array, q: Array, r: Array,
               x: Array, y: Array, z: Array, refine: bool) -> None:
    """Solve ``A'y + G'z = p``, ``A x = q``, ``G x - W^2 z = r``, refined once if wanted."""
    work = np.empty(len(r))
    _solve_once(balance, rows, state, p, q, r, x, y, z, work)
    if not refine:
        return
    ep, eq, er, ex, ey, ez = state.refined
    transposed_product(balance, rows, y, z, ep)
    for i in range(len(ep)):
        ep[i] = p[i] - ep[i]
    product(balance, rows, x, eq, er)
    for i in range(len(eq)):
        eq[i] = q[i] - eq[i]
    weigh(state.lines, state.cones, z, work, False)
    weigh(state.lines, state.cones, work, work, False)
    for i in range(len(er)):
        er[i] = r[i] - er[i] + work[i]
    _solve_once(balance, rows, state, ep, eq, er, ex, ey, ez, work)
    add_scaled(x, 1.0, ex)
    add_scaled(y, 1.0, ey)
    add_scaled(z, 1.0, ez)


@njit(cache=True, error_model='numpy')
def _solve_once(balance: Array, rows: Array, state: SolverState, p: Array, q: Array, r: Array,
                x: Array, y: Array, z: Array, work: Array) -> None:
    normal, through, schur, diagonal, schur_diagonal = state.factors
    n, m = len(p), len(rows)
    weigh(state.lines, state.cones, r, work, True)
    weigh(state.lines, state.cones, work, work, True)
    for i in range(n):
        x[i] = p[i] - (work[m + i] if m + i < len(work) else 0.0)
    for k in range(m):
        add_scaled(x, work[k], rows[k])
    _forth(normal, diagonal, x)
    for i in range(len(q)):
        y[i] = -q[i]
    for i in range(n):
        add_scaled(y, x[i], through[i])
    _forth(schur, schur_diagonal, y)
    _back(schur, schur_diagonal, y)
    for i in range(n):
        x[i] -= dot(through[i], y)
    _back(normal, diagonal, x)
    for k in range(m):
        work[k] = dot(rows[k], x) - r[k]
    for i in range(len(r) - m):
        work[m + i] = -x[i] - r[m + i]
    weigh(state.lines, state.cones, work, work, True)
    weigh(state.lines, state.cones, work, z, True)


@njit(cache=True, error_model='numpy')
def _forth(upper: Array, inverse: Array, v: Array) -> None:
    """Solve ``U'x = v`` in place."""
    for i in range(len(v)):
        v[i] *= inverse[i]
        for j in range(i + 1, len(v)):
            v[j] -= upper[i, j] * v[i]


@njit(cache=True, error_model='numpy')
def _back(upper: Array, inverse: Array, v: Array) -> None:
    """Solve ``U x = v`` in place."""
    for i in range(len(v) - 1, -1, -1):
        for j in range(i + 1, len(v)):
            v[i] -= upper[i, j] * v[j]
        v[i] *= inverse[i]
