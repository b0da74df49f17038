"""
The linear equations of one step of the conic solver: dense, factorised once a scaling.

``A`` are the balances, ``G`` the rows and, below them, ``-1`` for each unknown of a cone.
Both are the same for all lanes; what has lanes lies in the room, see ``cone_room.py``.
``filled (n, n)`` marks the entries of the normal equations' factor that are not zero, and
``every (p, p)``, all true, those of the balances'.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..simd import LANES, broadcast, larger, load, select, sqrt, store
from .cone import CONE, weigh
from .workspace import GOOD, Places, REFINE

Array = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

#: Pivots below this part of a matrix's largest diagonal entry are raised to it [-].
PIVOT = 1e-15


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
def add_dot(room: Array, a: int, b: int, count: int, factor: float, total: Array) -> Array:
    """Return totals (8,) and a multiple of the inner products of two vectors."""
    for i in range(count):
        total = total + factor * load(room, a + i) * load(room, b + i)
    return total


@njit(cache=True, error_model='numpy')
def dot(room: Array, a: int, b: int, count: int) -> Array:
    """Return the inner products (8,) of two vectors."""
    return add_dot(room, a, b, count, 1.0, broadcast(0.0))


@njit(cache=True, error_model='numpy')
def along_all(room: Array, a: Array, b: int) -> Array:
    """Return the inner products (8,) of a vector that all lanes share with others."""
    total = broadcast(0.0)
    for i in range(len(a)):
        total = total + a[i] * load(room, b + i)
    return total


@njit(cache=True, error_model='numpy')
def add_scaled(room: Array, a: int, factor: Array, b: int, count: int) -> None:
    """Add multiples (8,) of b to a."""
    for i in range(count):
        store(load(room, a + i) + factor * load(room, b + i), room, a + i)


@njit(cache=True, error_model='numpy')
def transposed_product(room: Array, balance: Array, rows: Array, size: int, y: int, z: int,
                       result: int) -> None:
    """Write ``A'y + G'z`` for a z of a size."""
    m = len(rows)
    for i in range(rows.shape[1]):
        total = broadcast(0.0)
        if m + i < size:
            total = -load(room, z + m + i)
        for r in range(len(balance)):
            total = total + balance[r, i] * load(room, y + r)
        for r in range(m):
            if rows[r, i] != 0.0:
                total = total + rows[r, i] * load(room, z + r)
        store(total, room, result + i)


@njit(cache=True, error_model='numpy')
def product(room: Array, balance: Array, rows: Array, size: int, x: int, on_balance: int,
            on_rows: int) -> None:
    """Write ``A x`` and ``G x``, the latter of a size."""
    m, n = rows.shape
    for r in range(len(balance)):
        total = broadcast(0.0)
        for i in range(n):
            total = total + balance[r, i] * load(room, x + i)
        store(total, room, on_balance + r)
    for r in range(m):
        total = broadcast(0.0)
        for i in range(n):
            if rows[r, i] != 0.0:
                total = total + rows[r, i] * load(room, x + i)
        store(total, room, on_rows + r)
    for i in range(size - m):
        store(-load(room, x + i), room, on_rows + m + i)


@njit(cache=True, error_model='numpy')
def factorise(room: Array, at: Places, balance: Array, rows: Array, filled: BoolArray,
              every: BoolArray) -> None:
    """Factorise the normal equations under the scaling; write whether it went well."""
    n, p, through = at.n, at.p, at.through
    _assemble(room, rows, filled, at.size, at.scaling, at.normal)
    store(broadcast(1.0), room, GOOD)
    cholesky(room, filled, at.normal, at.diagonal)
    for i in range(n):
        for r in range(p):
            store(broadcast(balance[r, i]), room, through + i * p + r)
    go_through(room, filled, at.normal, at.diagonal, p, through)
    for r in range(p):
        for c in range(r, p):
            total = broadcast(0.0)
            for i in range(through, through + n * p, p):
                total = total + load(room, i + r) * load(room, i + c)
            store(total, room, at.schur + r * p + c)
    cholesky(room, every, at.schur, at.schur_diagonal)


@njit(cache=True, error_model='numpy')
def _assemble(room: Array, rows: Array, filled: BoolArray, size: int, scaling: int,
              normal: int) -> None:
    """Write the upper part of ``G' W^-2 G``."""
    m, n = rows.shape
    for i in range(n):
        for j in range(i, n):
            if filled[i, j]:
                total = broadcast(0.0)
                for r in range(m):
                    factor = rows[r, i] * rows[r, j]
                    if factor != 0.0:
                        line = load(room, scaling + r)
                        total = total + factor / (line * line)
                store(total, room, normal + i * n + j)
    for cone in range((size - m) // CONE):
        w, first = scaling + m + (CONE + 1) * cone, normal + CONE * cone * (n + 1)
        width = load(room, w)
        square = width * width
        for i in range(CONE):
            for j in range(i, CONE):
                double = 2.0 if i == 0 and j == 0 or i > 0 else -2.0
                single = 0.0 if i != j else (1.0 if i else -1.0)
                entry = double * load(room, w + 1 + i) * load(room, w + 1 + j) + single
                place = first + i * n + j
                store(load(room, place) + entry / square, room, place)


@njit(cache=True, error_model='numpy')
def cholesky(room: Array, filled: BoolArray, upper: int, inverse: int) -> None:
    """
    Replace symmetric matrices' upper parts by their factors U, ``U'U`` being the matrix.

    Also writes the inverses of U's diagonal, and takes ``GOOD`` from lanes whose matrix is not
    finite. Entries that are not ``filled (n, n)`` are not looked at.
    """
    n, largest = len(filled), broadcast(0.0)
    for i in range(n):
        largest = larger(largest, load(room, upper + i * (n + 1)))
    for k in range(n):
        line = upper + k * n
        scale = 1.0 / sqrt(larger(load(room, line + k), PIVOT * largest))
        store(scale, room, inverse + k)
        for j in range(k, n):
            if filled[k, j]:
                store(load(room, line + j) * scale, room, line + j)
        for i in range(k + 1, n):
            if filled[k, i]:
                factor = load(room, line + i)
                for j in range(i, n):
                    if filled[k, j]:
                        place = upper + i * n + j
                        store(load(room, place) - factor * load(room, line + j), room, place)
    if n:
        good = select(largest > 0.0, load(room, GOOD), 0.0)
        store(select(largest < np.inf, good, 0.0), room, GOOD)


@njit(cache=True, error_model='numpy')
def go_through(room: Array, filled: BoolArray, upper: int, inverse: int, count: int,
               columns: int) -> None:
    """Solve ``U'X = B`` in place for so many columns of B."""
    n = len(filled)
    for i in range(n):
        scale, line = load(room, inverse + i), columns + i * count
        for r in range(line, line + count):
            store(load(room, r) * scale, room, r)
        for j in range(i + 1, n):
            if filled[i, j]:
                factor, other = load(room, upper + i * n + j), columns + j * count
                for r in range(count):
                    store(load(room, other + r) - factor * load(room, line + r), room, other + r)


@njit(cache=True, error_model='numpy')
def solve_step(room: Array, at: Places, balance: Array, rows: Array, filled: BoolArray,
               every: BoolArray, goal: int, solution: int) -> None:
    """
    Solve ``A'y + G'z = p``, ``A x = q``, ``G x - W^2 z = r``; ``REFINE`` once what is marked so.

    At ``goal`` are ``(p, q, r)``, at ``solution`` ``(x, y, z)``.
    """
    n, p, m, size = at.n, at.p, at.m, at.size
    _solve_once(room, at, balance, rows, filled, every, goal, solution)
    wanted = False
    for lane in range(LANES):
        wanted |= room[REFINE, lane] > 0.0
    if not wanted:
        return
    y, z, lacking = solution + n, solution + n + p, at.lacking
    transposed_product(room, balance, rows, size, y, z, lacking)
    product(room, balance, rows, size, solution, lacking + n, lacking + n + p)
    weigh(room, m, size, at.scaling, z, at.half, False)
    weigh(room, m, size, at.scaling, at.half, at.whole, False)
    add_scaled(room, lacking + n + p, broadcast(-1.0), at.whole, size)
    for i in range(n + p + size):
        store(load(room, goal + i) - load(room, lacking + i), room, lacking + i)
    _solve_once(room, at, balance, rows, filled, every, lacking, at.repair)
    mask = load(room, REFINE) > 0.0
    for i in range(n + p + size):
        store(load(room, solution + i) + select(mask, load(room, at.repair + i), 0.0), room,
              solution + i)


@njit(cache=True, error_model='numpy')
def _solve_once(room: Array, at: Places, balance: Array, rows: Array, filled: BoolArray,
                every: BoolArray, goal: int, solution: int) -> None:
    n, p, m, size, half, whole = at.n, at.p, at.m, at.size, at.half, at.whole
    y, z, r, through = solution + n, solution + n + p, goal + n + p, at.through
    weigh(room, m, size, at.scaling, r, half, True)
    weigh(room, m, size, at.scaling, half, whole, True)
    for i in range(n):
        total = load(room, goal + i)
        if m + i < size:
            total = total - load(room, whole + m + i)
        for k in range(m):
            if rows[k, i] != 0.0:
                total = total + rows[k, i] * load(room, whole + k)
        store(total, room, solution + i)
    _forth(room, filled, at.normal, at.diagonal, solution)
    for c in range(p):
        total = -load(room, goal + n + c)
        for i in range(n):
            total = total + load(room, solution + i) * load(room, through + i * p + c)
        store(total, room, y + c)
    _forth(room, every, at.schur, at.schur_diagonal, y)
    _back(room, every, at.schur, at.schur_diagonal, y)
    for i in range(n):
        total = load(room, solution + i)
        for c in range(p):
            total = total - load(room, through + i * p + c) * load(room, y + c)
        store(total, room, solution + i)
    _back(room, filled, at.normal, at.diagonal, solution)
    for k in range(m):
        total = -load(room, r + k)
        for i in range(n):
            if rows[k, i] != 0.0:
                total = total + rows[k, i] * load(room, solution + i)
        store(total, room, half + k)
    for i in range(size - m):
        store(-load(room, solution + i) - load(room, r + m + i), room, half + m + i)
    weigh(room, m, size, at.scaling, half, whole, True)
    weigh(room, m, size, at.scaling, whole, z, True)


@njit(cache=True, error_model='numpy')
def _forth(room: Array, filled: BoolArray, upper: int, inverse: int, v: int) -> None:
    """Solve ``U'x = v`` in place."""
    n = len(filled)
    for j in range(n):
        total = load(room, v + j)
        for i in range(j):
            if filled[i, j]:
                total = total - load(room, upper + i * n + j) * load(room, v + i)
        store(total * load(room, inverse + j), room, v + j)


@njit(cache=True, error_model='numpy')
def _back(room: Array, filled: BoolArray, upper: int, inverse: int, v: int) -> None:
    """Solve ``U x = v`` in place."""
    n = len(filled)
    for i in range(n - 1, -1, -1):
        total = load(room, v + i)
        for j in range(i + 1, n):
            if filled[i, j]:
                total = total - load(room, upper + i * n + j) * load(room, v + j)
        store(total * load(room, inverse + i), room, v + i)
