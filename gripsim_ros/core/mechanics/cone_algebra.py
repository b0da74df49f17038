"""
Products, scalings and steps in a symmetric cone: half-lines first, then cones of four.

A vector ``(m + 4k,)`` holds m numbers, each at least 0 inside, then k blocks whose first
entry is at least the length of the other three.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Size of one cone.
CONE = 4
#: Least squared distance from a cone's boundary, against division by zero.
TRACE = 1e-300


@njit(cache=True, error_model='numpy')
def cone_norm(v: Array, i: int) -> float:
    """Return the squared distance of the block at i from the cone's boundary."""
    rest = np.sqrt(v[i + 1] ** 2 + v[i + 2] ** 2 + v[i + 3] ** 2)
    squared: float = max((v[i] - rest) * (v[i] + rest), TRACE)
    return squared


@njit(cache=True, error_model='numpy')
def into_cones(m: int, v: Array) -> None:
    """Move a vector along the cones' axes until it lies inside."""
    lack = -np.inf
    for i in range(m):
        lack = max(lack, -v[i])
    for i in range(m, len(v), CONE):
        lack = max(lack, np.sqrt(v[i + 1] ** 2 + v[i + 2] ** 2 + v[i + 3] ** 2) - v[i])
    if lack >= -1e-6:
        add_identity(m, v, 1.0 + max(lack, 0.0))


@njit(cache=True, error_model='numpy')
def add_identity(m: int, v: Array, amount: float) -> None:
    """Add a multiple of the cones' axes."""
    for i in range(m):
        v[i] += amount
    for i in range(m, len(v), CONE):
        v[i] += amount


@njit(cache=True, error_model='numpy')
def nesterov_todd(m: int, s: Array, z: Array, lines: Array, cones: Array) -> None:
    """
    Write the scaling W with ``W z = W^-1 s``.

    ``lines (m,)`` are its roots of ratios; ``cones (k, 5)`` per cone its size and the unit
    hyperbolic vector that turns one direction into the other.
    """
    for i in range(m):
        lines[i] = np.sqrt(s[i] / z[i])
    for cone in range(len(cones)):
        i = m + CONE * cone
        ns, nz = np.sqrt(cone_norm(s, i)), np.sqrt(cone_norm(z, i))
        inner = (s[i] * z[i] + s[i + 1] * z[i + 1] + s[i + 2] * z[i + 2]
                 + s[i + 3] * z[i + 3])
        double = 2.0 * np.sqrt(0.5 * (1.0 + inner / (ns * nz)))
        cones[cone, 0] = np.sqrt(ns / nz)
        cones[cone, 1] = (s[i] / ns + z[i] / nz) / double
        for k in range(1, CONE):
            cones[cone, 1 + k] = (s[i + k] / ns - z[i + k] / nz) / double


@njit(cache=True, error_model='numpy')
def weigh(lines: Array, cones: Array, v: Array, result: Array, inverse: bool) -> None:
    """Write the scaling's product with a vector, or that of its inverse; in place if wanted."""
    m = len(lines)
    for i in range(m):
        result[i] = v[i] / lines[i] if inverse else v[i] * lines[i]
    for cone in range(len(cones)):
        i = m + CONE * cone
        size, w0, w1, w2, w3 = (cones[cone, 0], cones[cone, 1], cones[cone, 2], cones[cone, 3],
                                cones[cone, 4])
        sign = -1.0 if inverse else 1.0
        size = 1.0 / size if inverse else size
        head = v[i]
        along = w1 * v[i + 1] + w2 * v[i + 2] + w3 * v[i + 3]
        part = sign * head + along / (1.0 + w0)
        result[i] = size * (w0 * head + sign * along)
        result[i + 1] = size * (v[i + 1] + part * w1)
        result[i + 2] = size * (v[i + 2] + part * w2)
        result[i + 3] = size * (v[i + 3] + part * w3)


@njit(cache=True, error_model='numpy')
def jordan_product(m: int, u: Array, v: Array, result: Array) -> None:
    """Write the Jordan product of two vectors."""
    for i in range(m):
        result[i] = u[i] * v[i]
    for i in range(m, len(u), CONE):
        u0, v0 = u[i], v[i]
        total = u0 * v0
        for k in range(1, CONE):
            total += u[i + k] * v[i + k]
            result[i + k] = u0 * v[i + k] + v0 * u[i + k]
        result[i] = total


@njit(cache=True, error_model='numpy')
def jordan_quotient(m: int, u: Array, d: Array, result: Array) -> None:
    """Write the vector whose Jordan product with u is d."""
    for i in range(m):
        result[i] = d[i] / u[i]
    for i in range(m, len(u), CONE):
        along = (u[i] * d[i] - u[i + 1] * d[i + 1] - u[i + 2] * d[i + 2]
                 - u[i + 3] * d[i + 3])
        head = along / cone_norm(u, i)
        result[i] = head
        for k in range(1, CONE):
            result[i + k] = (d[i + k] - head * u[i + k]) / u[i]


@njit(cache=True, error_model='numpy')
def largest_step(m: int, v: Array, dv: Array) -> float:
    """Return how far a vector may go along another inside the cones."""
    step = np.inf
    for i in range(m):
        if dv[i] < 0.0:
            step = min(step, -v[i] / dv[i])
    for i in range(m, len(v), CONE):
        a, b, c = dv[i] ** 2, v[i] * dv[i], cone_norm(v, i)
        for k in range(1, CONE):
            a -= dv[i + k] ** 2
            b -= v[i + k] * dv[i + k]
        if dv[i] < 0.0:
            step = min(step, -v[i] / dv[i])
        inner = b * b - a * c
        if inner >= 0.0:
            if b < 0.0:
                step = min(step, c / (np.sqrt(inner) - b))
            elif a < 0.0:
                step = min(step, -(b + np.sqrt(inner)) / a)
    return step
