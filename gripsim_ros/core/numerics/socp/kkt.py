"""
The KKT system of one step of the conic solver: dense, factorised once a scaling.

``K(W)``, for right-hand sides ``(p, q, r)``::

    A'y + G'z = p        A x = q        G x - W^2 z = r

The normal matrix ``N = G'W^-2 G = U'U`` and the Schur complement ``S = A N^-1 A'`` are factorised
by Cholesky; then::

    t = p + G'W^-2 r,    S y = A N^-1 t - q,    N x = t - A'y,    W^2 z = G x - r

Small pivots are raised (regularisation), and near the solution one step of iterative refinement
takes back what that and round-off have left.

``A (p, n)`` and ``G (m, n)``, the latter without the rows of the cones, are the same for all
lanes. ``pattern (n, n)`` marks the entries of N's factor that are not zero, its fill-in among
them; ``dense (p, p)``, all true, those of S's.
"""

import numpy as np

from ...arrays import Array, BoolArray
from ..kernels import njit
from ..simd import broadcast, larger, load, select, sqrt, store
from .cone import CONE_SIZE, apply_scaling
from .workspace import FACTORISED, Layout, REFINE

#: Least pivot over a matrix's largest diagonal entry [-]; smaller ones are raised to it.
LEAST_PIVOT = 1e-15


@njit(cache=True, error_model='numpy')
def fill_pattern(G: Array, cones: int) -> BoolArray:
    """Return which entries (n, n) of the normal matrix' factor are not zero."""
    n = G.shape[1]
    pattern = np.eye(n) > 0.0
    for cone in range(cones):
        first, last = CONE_SIZE * cone, CONE_SIZE * (cone + 1)
        pattern[first:last, first:last] = True
    for r in range(len(G)):
        for i in range(n):
            for j in range(n):
                pattern[i, j] |= G[r, i] != 0.0 and G[r, j] != 0.0
    for k in range(n):
        for i in range(k + 1, n):
            for j in range(i, n):
                pattern[i, j] |= pattern[k, i] and pattern[k, j]
    return pattern


@njit(cache=True, error_model='numpy')
def add_dot(work: Array, a: int, b: int, count: int, factor: float, total: Array) -> Array:
    """Return totals (8,) and a multiple of the inner products of two vectors."""
    for i in range(count):
        total = total + factor * load(work, a + i) * load(work, b + i)
    return total


@njit(cache=True, error_model='numpy')
def dot(work: Array, a: int, b: int, count: int) -> Array:
    """Return the inner products (8,) of two vectors."""
    return add_dot(work, a, b, count, 1.0, broadcast(0.0))


@njit(cache=True, error_model='numpy')
def dot_shared(work: Array, a: Array, b: int) -> Array:
    """Return the inner products (8,) of a vector that all lanes share with others."""
    total = broadcast(0.0)
    for i in range(len(a)):
        total = total + a[i] * load(work, b + i)
    return total


@njit(cache=True, error_model='numpy')
def add_scaled(work: Array, a: int, factor: Array, b: int, count: int) -> None:
    """Add multiples (8,) of b to a."""
    for i in range(count):
        store(load(work, a + i) + factor * load(work, b + i), work, a + i)


@njit(cache=True, error_model='numpy')
def apply_transpose(work: Array, A: Array, G: Array, size: int, y: int, z: int,
                    result: int) -> None:
    """Write ``A'y + G'z`` for a z of ``size`` rows."""
    m = len(G)
    for i in range(G.shape[1]):
        total = broadcast(0.0)
        if m + i < size:
            total = -load(work, z + m + i)
        for r in range(len(A)):
            total = total + A[r, i] * load(work, y + r)
        for r in range(m):
            if G[r, i] != 0.0:
                total = total + G[r, i] * load(work, z + r)
        store(total, work, result + i)


@njit(cache=True, error_model='numpy')
def apply_constraints(work: Array, A: Array, G: Array, size: int, x: int, on_equality: int,
                      on_inequality: int) -> None:
    """Write ``A x`` and ``G x``, the latter of ``size`` rows."""
    m, n = G.shape
    for r in range(len(A)):
        total = broadcast(0.0)
        for i in range(n):
            total = total + A[r, i] * load(work, x + i)
        store(total, work, on_equality + r)
    for r in range(m):
        total = broadcast(0.0)
        for i in range(n):
            if G[r, i] != 0.0:
                total = total + G[r, i] * load(work, x + i)
        store(total, work, on_inequality + r)
    for i in range(size - m):
        store(-load(work, x + i), work, on_inequality + m + i)


@njit(cache=True, error_model='numpy')
def factorise_kkt(work: Array, layout: Layout, A: Array, G: Array, pattern: BoolArray,
                  dense: BoolArray) -> None:
    """Factorise ``K(W)``; write to ``FACTORISED`` whether it could be."""
    n, p, projected = layout.n, layout.p, layout.projected
    _assemble_normal(work, G, pattern, layout.size, layout.scaling, layout.normal)
    store(broadcast(1.0), work, FACTORISED)
    cholesky(work, pattern, layout.normal, layout.inverse_diagonal)
    for i in range(n):
        for r in range(p):
            store(broadcast(A[r, i]), work, projected + i * p + r)
    forward_substitute(work, pattern, layout.normal, layout.inverse_diagonal, p, projected)
    for r in range(p):
        for c in range(r, p):
            total = broadcast(0.0)
            for i in range(projected, projected + n * p, p):
                total = total + load(work, i + r) * load(work, i + c)
            store(total, work, layout.schur + r * p + c)
    cholesky(work, dense, layout.schur, layout.schur_inverse_diagonal)


@njit(cache=True, error_model='numpy')
def _assemble_normal(work: Array, G: Array, pattern: BoolArray, size: int, scaling: int,
                     normal: int) -> None:
    """
    Write the upper part of ``N = G'W^-2 G``.

    Of a cone ``W^-2 = (2 J w (J w)' - J) / eta^2``, see ``nesterov_todd_scaling``.
    """
    m, n = G.shape
    for i in range(n):
        for j in range(i, n):
            if pattern[i, j]:
                total = broadcast(0.0)
                for r in range(m):
                    factor = G[r, i] * G[r, j]
                    if factor != 0.0:
                        line = load(work, scaling + r)
                        total = total + factor / (line * line)
                store(total, work, normal + i * n + j)
    for cone in range((size - m) // CONE_SIZE):
        w, first = scaling + m + (CONE_SIZE + 1) * cone, normal + CONE_SIZE * cone * (n + 1)
        eta = load(work, w)
        square = eta * eta
        for i in range(CONE_SIZE):
            for j in range(i, CONE_SIZE):
                double = 2.0 if i == 0 and j == 0 or i > 0 else -2.0
                single = 0.0 if i != j else (1.0 if i else -1.0)
                entry = double * load(work, w + 1 + i) * load(work, w + 1 + j) + single
                place = first + i * n + j
                store(load(work, place) + entry / square, work, place)


@njit(cache=True, error_model='numpy')
def cholesky(work: Array, pattern: BoolArray, upper: int, inverse: int) -> None:
    """
    Replace symmetric matrices' upper parts by their factors U, ``U'U`` being the matrix.

    Also writes one over U's diagonal, and 0 to ``FACTORISED`` in lanes whose matrix is not finite.
    Entries outside the ``pattern (n, n)`` are neither read nor written.
    """
    n, largest = len(pattern), broadcast(0.0)
    for i in range(n):
        largest = larger(largest, load(work, upper + i * (n + 1)))
    for k in range(n):
        line = upper + k * n
        scale = 1.0 / sqrt(larger(load(work, line + k), LEAST_PIVOT * largest))
        store(scale, work, inverse + k)
        for j in range(k, n):
            if pattern[k, j]:
                store(load(work, line + j) * scale, work, line + j)
        for i in range(k + 1, n):
            if pattern[k, i]:
                factor = load(work, line + i)
                for j in range(i, n):
                    if pattern[k, j]:
                        place = upper + i * n + j
                        store(load(work, place) - factor * load(work, line + j), work, place)
    if n:
        good = select(largest > 0.0, load(work, FACTORISED), 0.0)
        store(select(largest < np.inf, good, 0.0), work, FACTORISED)


@njit(cache=True, error_model='numpy')
def forward_substitute(work: Array, pattern: BoolArray, upper: int, inverse: int, count: int,
                       columns: int) -> None:
    """Solve ``U'X = B`` in place for so many columns of B."""
    n = len(pattern)
    for i in range(n):
        scale, line = load(work, inverse + i), columns + i * count
        for r in range(line, line + count):
            store(load(work, r) * scale, work, r)
        for j in range(i + 1, n):
            if pattern[i, j]:
                factor, other = load(work, upper + i * n + j), columns + j * count
                for r in range(count):
                    store(load(work, other + r) - factor * load(work, line + r), work, other + r)


@njit(cache=True, error_model='numpy')
def solve_kkt(work: Array, layout: Layout, A: Array, G: Array, pattern: BoolArray,
              dense: BoolArray, rhs: int, solution: int) -> None:
    """Write ``(x, y, z)`` of ``K(W)`` for ``(p, q, r)``, refined once in lanes with ``REFINE``."""
    n, p, m, size, scaling = layout.n, layout.p, layout.m, layout.size, layout.scaling
    _solve_unrefined(work, layout, A, G, pattern, dense, rhs, solution)
    if not work[REFINE].max() > 0.0:
        return
    y, z, defect, correction = solution + n, solution + n + p, layout.defect, layout.correction
    apply_transpose(work, A, G, size, y, z, defect)
    apply_constraints(work, A, G, size, solution, defect + n, defect + n + p)
    apply_scaling(work, m, size, scaling, z, layout.scratch, False)
    apply_scaling(work, m, size, scaling, layout.scratch, layout.scratch_2, False)
    add_scaled(work, defect + n + p, broadcast(-1.0), layout.scratch_2, size)
    for i in range(n + p + size):
        store(load(work, rhs + i) - load(work, defect + i), work, defect + i)
    _solve_unrefined(work, layout, A, G, pattern, dense, defect, correction)
    mask = load(work, REFINE) > 0.0
    for i in range(n + p + size):
        store(load(work, solution + i) + select(mask, load(work, correction + i), 0.0), work,
              solution + i)


@njit(cache=True, error_model='numpy')
def _solve_unrefined(work: Array, layout: Layout, A: Array, G: Array, pattern: BoolArray,
                     dense: BoolArray, rhs: int, solution: int) -> None:
    n, p, m, size, scaling = layout.n, layout.p, layout.m, layout.size, layout.scaling
    scratch, scratch_2, projected = layout.scratch, layout.scratch_2, layout.projected
    y, z, r = solution + n, solution + n + p, rhs + n + p
    apply_scaling(work, m, size, scaling, r, scratch, True)
    apply_scaling(work, m, size, scaling, scratch, scratch_2, True)
    for i in range(n):
        total = load(work, rhs + i)
        if m + i < size:
            total = total - load(work, scratch_2 + m + i)
        for k in range(m):
            if G[k, i] != 0.0:
                total = total + G[k, i] * load(work, scratch_2 + k)
        store(total, work, solution + i)
    forward_substitute(work, pattern, layout.normal, layout.inverse_diagonal, 1, solution)
    for c in range(p):
        total = -load(work, rhs + n + c)
        for i in range(n):
            total = total + load(work, solution + i) * load(work, projected + i * p + c)
        store(total, work, y + c)
    forward_substitute(work, dense, layout.schur, layout.schur_inverse_diagonal, 1, y)
    back_substitute(work, dense, layout.schur, layout.schur_inverse_diagonal, y)
    for i in range(n):
        total = load(work, solution + i)
        for c in range(p):
            total = total - load(work, projected + i * p + c) * load(work, y + c)
        store(total, work, solution + i)
    back_substitute(work, pattern, layout.normal, layout.inverse_diagonal, solution)
    for k in range(m):
        total = -load(work, r + k)
        for i in range(n):
            if G[k, i] != 0.0:
                total = total + G[k, i] * load(work, solution + i)
        store(total, work, scratch + k)
    for i in range(size - m):
        store(-load(work, solution + i) - load(work, r + m + i), work, scratch + m + i)
    apply_scaling(work, m, size, scaling, scratch, scratch_2, True)
    apply_scaling(work, m, size, scaling, scratch_2, z, True)


@njit(cache=True, error_model='numpy')
def back_substitute(work: Array, pattern: BoolArray, upper: int, inverse: int, v: int) -> None:
    """Solve ``U x = v`` in place."""
    n = len(pattern)
    for i in range(n - 1, -1, -1):
        total = load(work, v + i)
        for j in range(i + 1, n):
            if pattern[i, j]:
                total = total - load(work, upper + i * n + j) * load(work, v + j)
        store(total * load(work, inverse + i), work, v + i)
