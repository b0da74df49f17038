"""
Products, scalings and steps in a symmetric cone: half-lines first, then cones of four.

A vector ``(m + 4k, w)`` holds m numbers, each at least 0 inside, then k blocks whose first
entry is at least the length of the other three; its columns are the lanes of w cases, which
know nothing of each other.
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
def cone_norm(v: Array, i: int, lane: int) -> float:
    """Return the squared distance of the block at i from the cone's boundary."""
    rest = np.sqrt(v[i + 1, lane] ** 2 + v[i + 2, lane] ** 2 + v[i + 3, lane] ** 2)
    squared: float = max((v[i, lane] - rest) * (v[i, lane] + rest), TRACE)
    return squared


@njit(cache=True, error_model='numpy')
def into_cones(m: int, v: Array, width: int) -> None:
    """Move vectors along the cones' axes until they lie inside."""
    lack = np.full(width, -np.inf)
    for i in range(m):
        for lane in range(width):
            lack[lane] = max(lack[lane], -v[i, lane])
    for i in range(m, len(v), CONE):
        for lane in range(width):
            rest = np.sqrt(v[i + 1, lane] ** 2 + v[i + 2, lane] ** 2 + v[i + 3, lane] ** 2)
            lack[lane] = max(lack[lane], rest - v[i, lane])
    for lane in range(width):
        lack[lane] = 1.0 + max(lack[lane], 0.0) if lack[lane] >= -1e-6 else 0.0
    add_identity(m, v, lack, width)


@njit(cache=True, error_model='numpy')
def add_identity(m: int, v: Array, amounts: Array, width: int) -> None:
    """Add multiples of the cones' axes."""
    for i in range(m):
        for lane in range(width):
            v[i, lane] += amounts[lane]
    for i in range(m, len(v), CONE):
        for lane in range(width):
            v[i, lane] += amounts[lane]


@njit(cache=True, error_model='numpy')
def nesterov_todd(m: int, s: Array, z: Array, lines: Array, cones: Array, width: int) -> None:
    """
    Write the scaling W with ``W z = W^-1 s``.

    ``lines (m, w)`` are its roots of ratios; ``cones (k, 5, w)`` per cone its size and the
    unit hyperbolic vector that turns one direction into the other.
    """
    for i in range(m):
        for lane in range(width):
            lines[i, lane] = np.sqrt(s[i, lane] / z[i, lane])
    for cone in range(len(cones)):
        i = m + CONE * cone
        for lane in range(width):
            ns, nz = np.sqrt(cone_norm(s, i, lane)), np.sqrt(cone_norm(z, i, lane))
            inner = (s[i, lane] * z[i, lane] + s[i + 1, lane] * z[i + 1, lane]
                     + s[i + 2, lane] * z[i + 2, lane] + s[i + 3, lane] * z[i + 3, lane])
            double = 2.0 * np.sqrt(0.5 * (1.0 + inner / (ns * nz)))
            cones[cone, 0, lane] = np.sqrt(ns / nz)
            cones[cone, 1, lane] = (s[i, lane] / ns + z[i, lane] / nz) / double
            cones[cone, 2, lane] = (s[i + 1, lane] / ns - z[i + 1, lane] / nz) / double
            cones[cone, 3, lane] = (s[i + 2, lane] / ns - z[i + 2, lane] / nz) / double
            cones[cone, 4, lane] = (s[i + 3, lane] / ns - z[i + 3, lane] / nz) / double


@njit(cache=True, error_model='numpy')
def weigh(lines: Array, cones: Array, v: Array, result: Array, inverse: bool, width: int) -> None:
    """Write the scaling's product with vectors, or that of its inverse; in place if wanted."""
    m, sign = len(lines), -1.0 if inverse else 1.0
    for i in range(m):
        for lane in range(width):
            result[i, lane] = (v[i, lane] / lines[i, lane] if inverse
                               else v[i, lane] * lines[i, lane])
    for cone in range(len(cones)):
        i = m + CONE * cone
        for lane in range(width):
            size, w0 = cones[cone, 0, lane], cones[cone, 1, lane]
            w1, w2, w3 = cones[cone, 2, lane], cones[cone, 3, lane], cones[cone, 4, lane]
            size = 1.0 / size if inverse else size
            head, v1, v2, v3 = v[i, lane], v[i + 1, lane], v[i + 2, lane], v[i + 3, lane]
            along = w1 * v1 + w2 * v2 + w3 * v3
            part = sign * head + along / (1.0 + w0)
            result[i, lane] = size * (w0 * head + sign * along)
            result[i + 1, lane] = size * (v1 + part * w1)
            result[i + 2, lane] = size * (v2 + part * w2)
            result[i + 3, lane] = size * (v3 + part * w3)


@njit(cache=True, error_model='numpy')
def jordan_product(m: int, u: Array, v: Array, result: Array, width: int) -> None:
    """Write the Jordan products of two vectors."""
    for i in range(m):
        for lane in range(width):
            result[i, lane] = u[i, lane] * v[i, lane]
    for i in range(m, len(u), CONE):
        for lane in range(width):
            u0, u1, u2, u3 = u[i, lane], u[i + 1, lane], u[i + 2, lane], u[i + 3, lane]
            v0, v1, v2, v3 = v[i, lane], v[i + 1, lane], v[i + 2, lane], v[i + 3, lane]
            result[i, lane] = u0 * v0 + u1 * v1 + u2 * v2 + u3 * v3
            result[i + 1, lane] = u0 * v1 + v0 * u1
            result[i + 2, lane] = u0 * v2 + v0 * u2
            result[i + 3, lane] = u0 * v3 + v0 * u3


@njit(cache=True, error_model='numpy')
def jordan_quotient(m: int, u: Array, d: Array, result: Array, width: int) -> None:
    """Write the vectors whose Jordan product with u is d."""
    for i in range(m):
        for lane in range(width):
            result[i, lane] = d[i, lane] / u[i, lane]
    for i in range(m, len(u), CONE):
        for lane in range(width):
            u0, u1, u2, u3 = u[i, lane], u[i + 1, lane], u[i + 2, lane], u[i + 3, lane]
            d0, d1, d2, d3 = d[i, lane], d[i + 1, lane], d[i + 2, lane], d[i + 3, lane]
            head = (u0 * d0 - u1 * d1 - u2 * d2 - u3 * d3) / cone_norm(u, i, lane)
            result[i, lane] = head
            result[i + 1, lane] = (d1 - head * u1) / u0
            result[i + 2, lane] = (d2 - head * u2) / u0
            result[i + 3, lane] = (d3 - head * u3) / u0


@njit(cache=True, error_model='numpy')
def shorten_steps(m: int, v: Array, dv: Array, steps: Array, width: int) -> None:
    """Shorten steps ``(w,)`` to how far vectors may go along others inside the cones."""
    for i in range(m):
        for lane in range(width):
            end = -v[i, lane] / dv[i, lane] if dv[i, lane] < 0.0 else np.inf
            steps[lane] = min(steps[lane], end)
    for i in range(m, len(v), CONE):
        for lane in range(width):
            v0, v1, v2, v3 = v[i, lane], v[i + 1, lane], v[i + 2, lane], v[i + 3, lane]
            d0, d1, d2, d3 = dv[i, lane], dv[i + 1, lane], dv[i + 2, lane], dv[i + 3, lane]
            a, c = d0 ** 2 - d1 ** 2 - d2 ** 2 - d3 ** 2, cone_norm(v, i, lane)
            b = v0 * d0 - v1 * d1 - v2 * d2 - v3 * d3
            inner = b * b - a * c
            root = np.sqrt(max(inner, 0.0))
            end = c / (root - b) if b < 0.0 else (-(b + root) / a if a < 0.0 else np.inf)
            end = end if inner >= 0.0 else np.inf
            apex = -v0 / d0 if d0 < 0.0 else np.inf
            steps[lane] = min(steps[lane], min(end, apex))
