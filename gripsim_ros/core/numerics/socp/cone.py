"""
Products, scalings and steps in a symmetric cone: half-lines first, then cones of four.

All vectors of a solution are rows of one array, the ``room (rows, 8)``, and are told by their
first row: compiled code counts who holds an array, again and again where there are many. A
vector of ``size`` m + 4k holds m numbers, each at least 0 inside, then k blocks whose first
entry is at least the length of the other three; its columns are the lanes of eight cases,
which know nothing of each other.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..simd import broadcast, larger, load, select, smaller, sqrt, store

Array = NDArray[np.float64]

#: Size of one cone.
CONE = 4
#: Least squared distance from a cone's boundary, against division by zero.
TRACE = 1e-300


@njit(cache=True, error_model='numpy')
def block(room: Array, i: int) -> tuple[Array, Array, Array, Array]:
    """Return the four rows of the block at row i."""
    return load(room, i), load(room, i + 1), load(room, i + 2), load(room, i + 3)


@njit(cache=True, error_model='numpy')
def cone_norm(room: Array, i: int) -> Array:
    """Return the squared distances (8,) of the blocks at row i from the cone's boundary."""
    v0, v1, v2, v3 = block(room, i)
    rest = sqrt(v1 * v1 + v2 * v2 + v3 * v3)
    return larger((v0 - rest) * (v0 + rest), TRACE)


@njit(cache=True, error_model='numpy')
def into_cones(room: Array, m: int, size: int, v: int) -> None:
    """Move vectors along the cones' axes until they lie inside."""
    lack = broadcast(-np.inf)
    for i in range(v, v + m):
        lack = larger(lack, -load(room, i))
    for i in range(v + m, v + size, CONE):
        v0, v1, v2, v3 = block(room, i)
        lack = larger(lack, sqrt(v1 * v1 + v2 * v2 + v3 * v3) - v0)
    add_identity(room, m, size, v, select(lack >= -1e-6, 1.0 + larger(lack, 0.0), 0.0))


@njit(cache=True, error_model='numpy')
def add_identity(room: Array, m: int, size: int, v: int, amounts: Array) -> None:
    """Add multiples (8,) of the cones' axes."""
    for i in range(v, v + m):
        store(load(room, i) + amounts, room, i)
    for i in range(v + m, v + size, CONE):
        store(load(room, i) + amounts, room, i)


@njit(cache=True, error_model='numpy')
def nesterov_todd(room: Array, m: int, size: int, s: int, z: int, scaling: int) -> None:
    """
    Write the scaling W with ``W z = W^-1 s``.

    Of its rows the first m are the roots of ratios; then five follow per cone: its size and the
    unit hyperbolic vector that turns one direction into the other.
    """
    for i in range(m):
        store(sqrt(load(room, s + i) / load(room, z + i)), room, scaling + i)
    w = scaling + m
    for i in range(m, size, CONE):
        s0, s1, s2, s3 = block(room, s + i)
        z0, z1, z2, z3 = block(room, z + i)
        ns, nz = sqrt(cone_norm(room, s + i)), sqrt(cone_norm(room, z + i))
        inner = s0 * z0 + s1 * z1 + s2 * z2 + s3 * z3
        double = 2.0 * sqrt(0.5 * (1.0 + inner / (ns * nz)))
        store(sqrt(ns / nz), room, w)
        store((s0 / ns + z0 / nz) / double, room, w + 1)
        store((s1 / ns - z1 / nz) / double, room, w + 2)
        store((s2 / ns - z2 / nz) / double, room, w + 3)
        store((s3 / ns - z3 / nz) / double, room, w + 4)
        w += CONE + 1


@njit(cache=True, error_model='numpy')
def no_scaling(room: Array, m: int, size: int, scaling: int) -> None:
    """Write the scaling that leaves vectors as they are."""
    for i in range(scaling, scaling + m):
        store(broadcast(1.0), room, i)
    for w in range(scaling + m, scaling + m + (CONE + 1) * ((size - m) // CONE), CONE + 1):
        store(broadcast(1.0), room, w)
        store(broadcast(1.0), room, w + 1)
        for i in range(w + 2, w + CONE + 1):
            store(broadcast(0.0), room, i)


@njit(cache=True, error_model='numpy')
def weigh(room: Array, m: int, size: int, scaling: int, v: int, result: int,
          inverse: bool) -> None:
    """Write the scaling's product with vectors, or that of its inverse; in place if wanted."""
    sign, w = -1.0 if inverse else 1.0, scaling + m
    for i in range(m):
        if inverse:
            store(load(room, v + i) / load(room, scaling + i), room, result + i)
        else:
            store(load(room, v + i) * load(room, scaling + i), room, result + i)
    for i in range(m, size, CONE):
        width = load(room, w)
        w0, w1, w2, w3 = block(room, w + 1)
        if inverse:
            width = 1.0 / width
        v0, v1, v2, v3 = block(room, v + i)
        along = w1 * v1 + w2 * v2 + w3 * v3
        part = sign * v0 + along / (1.0 + w0)
        store(width * (w0 * v0 + sign * along), room, result + i)
        store(width * (v1 + part * w1), room, result + i + 1)
        store(width * (v2 + part * w2), room, result + i + 2)
        store(width * (v3 + part * w3), room, result + i + 3)
        w += CONE + 1


@njit(cache=True, error_model='numpy')
def jordan_product(room: Array, m: int, size: int, u: int, v: int, result: int) -> None:
    """Write the Jordan products of two vectors."""
    for i in range(m):
        store(load(room, u + i) * load(room, v + i), room, result + i)
    for i in range(m, size, CONE):
        u0, u1, u2, u3 = block(room, u + i)
        v0, v1, v2, v3 = block(room, v + i)
        store(u0 * v0 + u1 * v1 + u2 * v2 + u3 * v3, room, result + i)
        store(u0 * v1 + v0 * u1, room, result + i + 1)
        store(u0 * v2 + v0 * u2, room, result + i + 2)
        store(u0 * v3 + v0 * u3, room, result + i + 3)


@njit(cache=True, error_model='numpy')
def jordan_quotient(room: Array, m: int, size: int, u: int, d: int, result: int) -> None:
    """Write the vectors whose Jordan product with u is d."""
    for i in range(m):
        store(load(room, d + i) / load(room, u + i), room, result + i)
    for i in range(m, size, CONE):
        u0, u1, u2, u3 = block(room, u + i)
        d0, d1, d2, d3 = block(room, d + i)
        head = (u0 * d0 - u1 * d1 - u2 * d2 - u3 * d3) / cone_norm(room, u + i)
        store(head, room, result + i)
        store((d1 - head * u1) / u0, room, result + i + 1)
        store((d2 - head * u2) / u0, room, result + i + 2)
        store((d3 - head * u3) / u0, room, result + i + 3)


@njit(cache=True, error_model='numpy')
def shorten_steps(room: Array, m: int, size: int, v: int, dv: int, steps: int) -> None:
    """Shorten steps to how far vectors may go along others inside the cones."""
    step = load(room, steps)
    for i in range(m):
        d = load(room, dv + i)
        step = smaller(step, select(d < 0.0, -load(room, v + i) / d, np.inf))
    for i in range(m, size, CONE):
        v0, v1, v2, v3 = block(room, v + i)
        d0, d1, d2, d3 = block(room, dv + i)
        a, c = d0 * d0 - d1 * d1 - d2 * d2 - d3 * d3, cone_norm(room, v + i)
        b = v0 * d0 - v1 * d1 - v2 * d2 - v3 * d3
        inner = b * b - a * c
        rest = sqrt(larger(inner, 0.0))
        end = select(b < 0.0, c / (rest - b), select(a < 0.0, -(b + rest) / a, np.inf))
        end = select(inner >= 0.0, end, np.inf)
        apex = select(d0 < 0.0, -v0 / d0, np.inf)
        step = smaller(step, smaller(end, apex))
    store(step, room, steps)
