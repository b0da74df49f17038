"""
Jordan algebra, Nesterov-Todd scaling and steps in ``K``: half-lines, then cones of four.

All vectors of a solution are rows of one array, ``work (rows, 8)``, and are named by their first
row; see ``workspace.py``. A vector of ``size`` m + 4k holds m entries of half-lines, then k
blocks of four. Columns are lanes: eight cases, none of which has an effect on another.
"""

import numpy as np

from ...arrays import Array
from ..kernels import njit
from ..simd import broadcast, larger, load, select, smaller, sqrt, store

#: Entries of a second-order cone.
CONE_SIZE = 4
#: Least determinant of a block, against division by zero.
LEAST_DETERMINANT = 1e-300
#: Distance inside the cones above which a point is not shifted.
INTERIOR = 1e-6


@njit(cache=True, error_model='numpy')
def load_block(work: Array, i: int) -> tuple[Array, Array, Array, Array]:
    """Return the four rows of the block at row i."""
    return load(work, i), load(work, i + 1), load(work, i + 2), load(work, i + 3)


@njit(cache=True, error_model='numpy')
def determinant(work: Array, i: int) -> Array:
    """Return ``v0^2 - v1^2 - v2^2 - v3^2`` (8,) of the block at row i, above 0."""
    v0, v1, v2, v3 = load_block(work, i)
    rest = sqrt(v1 * v1 + v2 * v2 + v3 * v3)
    return larger((v0 - rest) * (v0 + rest), LEAST_DETERMINANT)


@njit(cache=True, error_model='numpy')
def shift_into_cone(work: Array, m: int, size: int, v: int) -> None:
    """Add the multiple of the identity that makes a vector an interior point of K."""
    lack = broadcast(-np.inf)
    for i in range(v, v + m):
        lack = larger(lack, -load(work, i))
    for i in range(v + m, v + size, CONE_SIZE):
        v0, v1, v2, v3 = load_block(work, i)
        lack = larger(lack, sqrt(v1 * v1 + v2 * v2 + v3 * v3) - v0)
    add_identity(work, m, size, v, select(lack >= -INTERIOR, 1.0 + larger(lack, 0.0), 0.0))


@njit(cache=True, error_model='numpy')
def add_identity(work: Array, m: int, size: int, v: int, amounts: Array) -> None:
    """Add multiples (8,) of the identity e: 1 of half-lines, (1, 0, 0, 0) of cones."""
    for i in range(v, v + m):
        store(load(work, i) + amounts, work, i)
    for i in range(v + m, v + size, CONE_SIZE):
        store(load(work, i) + amounts, work, i)


@njit(cache=True, error_model='numpy')
def nesterov_todd_scaling(work: Array, m: int, size: int, s: int, z: int, scaling: int) -> None:
    """
    Write the scaling W with ``W z = W^-1 s``.

    Its first m rows are ``sqrt(s / z)``. Five rows follow per cone: ``eta = (det s / det z)^1/4``
    and ``w = (s' + J z') / sqrt(2 (1 + s'.z'))``, where s' and z' are s and z over the roots of
    their determinants and ``J = diag(1, -1, -1, -1)``. With ``w = (w0, v)`` then
    ``W = eta ((w0, v'), (v, I + v v' / (1 + w0)))``.

    Source: Nesterov & Todd 1998; formulas of Vandenberghe 2010, section 4.
    """
    for i in range(m):
        store(sqrt(load(work, s + i) / load(work, z + i)), work, scaling + i)
    w = scaling + m
    for i in range(m, size, CONE_SIZE):
        s0, s1, s2, s3 = load_block(work, s + i)
        z0, z1, z2, z3 = load_block(work, z + i)
        ns, nz = sqrt(determinant(work, s + i)), sqrt(determinant(work, z + i))
        inner = s0 * z0 + s1 * z1 + s2 * z2 + s3 * z3
        double = 2.0 * sqrt(0.5 * (1.0 + inner / (ns * nz)))
        store(sqrt(ns / nz), work, w)
        store((s0 / ns + z0 / nz) / double, work, w + 1)
        store((s1 / ns - z1 / nz) / double, work, w + 2)
        store((s2 / ns - z2 / nz) / double, work, w + 3)
        store((s3 / ns - z3 / nz) / double, work, w + 4)
        w += CONE_SIZE + 1


@njit(cache=True, error_model='numpy')
def identity_scaling(work: Array, m: int, size: int, scaling: int) -> None:
    """Write the scaling ``W = I``."""
    for i in range(scaling, scaling + m):
        store(broadcast(1.0), work, i)
    last = scaling + m + (CONE_SIZE + 1) * ((size - m) // CONE_SIZE)
    for w in range(scaling + m, last, CONE_SIZE + 1):
        store(broadcast(1.0), work, w)
        store(broadcast(1.0), work, w + 1)
        for i in range(w + 2, w + CONE_SIZE + 1):
            store(broadcast(0.0), work, i)


@njit(cache=True, error_model='numpy')
def apply_scaling(work: Array, m: int, size: int, scaling: int, v: int, result: int,
                  inverse: bool) -> None:
    """Write ``W v``, or ``W^-1 v``; in place if wanted."""
    sign, w = -1.0 if inverse else 1.0, scaling + m
    for i in range(m):
        if inverse:
            store(load(work, v + i) / load(work, scaling + i), work, result + i)
        else:
            store(load(work, v + i) * load(work, scaling + i), work, result + i)
    for i in range(m, size, CONE_SIZE):
        eta = load(work, w)
        w0, w1, w2, w3 = load_block(work, w + 1)
        if inverse:
            eta = 1.0 / eta
        v0, v1, v2, v3 = load_block(work, v + i)
        inner = w1 * v1 + w2 * v2 + w3 * v3
        factor = sign * v0 + inner / (1.0 + w0)
        store(eta * (w0 * v0 + sign * inner), work, result + i)
        store(eta * (v1 + factor * w1), work, result + i + 1)
        store(eta * (v2 + factor * w2), work, result + i + 2)
        store(eta * (v3 + factor * w3), work, result + i + 3)
        w += CONE_SIZE + 1


@njit(cache=True, error_model='numpy')
def jordan_product(work: Array, m: int, size: int, u: int, v: int, result: int) -> None:
    """Write ``u o v``: products of half-lines, ``(u.v, u0 v + v0 u)`` of cones."""
    for i in range(m):
        store(load(work, u + i) * load(work, v + i), work, result + i)
    for i in range(m, size, CONE_SIZE):
        u0, u1, u2, u3 = load_block(work, u + i)
        v0, v1, v2, v3 = load_block(work, v + i)
        store(u0 * v0 + u1 * v1 + u2 * v2 + u3 * v3, work, result + i)
        store(u0 * v1 + v0 * u1, work, result + i + 1)
        store(u0 * v2 + v0 * u2, work, result + i + 2)
        store(u0 * v3 + v0 * u3, work, result + i + 3)


@njit(cache=True, error_model='numpy')
def jordan_quotient(work: Array, m: int, size: int, u: int, d: int, result: int) -> None:
    """Write the v with ``u o v = d``."""
    for i in range(m):
        store(load(work, d + i) / load(work, u + i), work, result + i)
    for i in range(m, size, CONE_SIZE):
        u0, u1, u2, u3 = load_block(work, u + i)
        d0, d1, d2, d3 = load_block(work, d + i)
        head = (u0 * d0 - u1 * d1 - u2 * d2 - u3 * d3) / determinant(work, u + i)
        store(head, work, result + i)
        store((d1 - head * u1) / u0, work, result + i + 1)
        store((d2 - head * u2) / u0, work, result + i + 2)
        store((d3 - head * u3) / u0, work, result + i + 3)


@njit(cache=True, error_model='numpy')
def limit_steps(work: Array, m: int, size: int, v: int, dv: int, steps: int) -> None:
    """
    Reduce step lengths to the largest with ``v + step dv`` in K.

    Of a cone the boundary is the lesser positive root of ``a t^2 + 2 b t + c``, where a and c are
    the determinants of dv and v and ``b = v0 dv0 - v1 dv1 - v2 dv2 - v3 dv3``.
    """
    step = load(work, steps)
    for i in range(m):
        d = load(work, dv + i)
        step = smaller(step, select(d < 0.0, -load(work, v + i) / d, np.inf))
    for i in range(m, size, CONE_SIZE):
        v0, v1, v2, v3 = load_block(work, v + i)
        d0, d1, d2, d3 = load_block(work, dv + i)
        a, c = d0 * d0 - d1 * d1 - d2 * d2 - d3 * d3, determinant(work, v + i)
        b = v0 * d0 - v1 * d1 - v2 * d2 - v3 * d3
        discriminant = b * b - a * c
        rest = sqrt(larger(discriminant, 0.0))
        end = select(b < 0.0, c / (rest - b), select(a < 0.0, -(b + rest) / a, np.inf))
        end = select(discriminant >= 0.0, end, np.inf)
        apex = select(d0 < 0.0, -v0 / d0, np.inf)
        step = smaller(step, smaller(end, apex))
    store(step, work, steps)
