"""
Compliance of an elastic half-space between pressed nodes of its surface.

Derivations and limits: docs/model/mechanics.md, "Contact forces".
"""

import numpy as np

from ...arrays import Array, IntArray
from ...numerics.kernels import njit


#: Softening of 1/r in units of the squared node radii (a_i^2 + a_j^2), a = sqrt(A/pi): the
#: value at which the sum over a square lattice equals the integral of any smooth pressure.
GRID_SOFTENING = 0.0909574


@njit(cache=True, error_model='numpy')
def half_space_rows(rows: IntArray, points: Array, normals: Array, areas: Array, modulus: float,
                    softening: float) -> Array:
    """
    Return rows ``(k, n)`` of the object's compliance between nodes ``(n, n)`` [m/N].

    ``n_i . n_j / (pi modulus sqrt(|x_i - x_j|^2 + softening (A_i + A_j) / pi))``.
    """
    count = len(points)
    compliance = np.empty((len(rows), count))
    scale = 1.0 / (np.pi * modulus)
    soft = softening / np.pi * areas
    x, y, z = points[:, 0].copy(), points[:, 1].copy(), points[:, 2].copy()
    u, v, w = normals[:, 0].copy(), normals[:, 1].copy(), normals[:, 2].copy()
    for k in range(len(rows)):
        i, row = rows[k], compliance[k]
        a, b, c, own = x[i], y[i], z[i], soft[i]
        p, q, r = u[i], v[i], w[i]
        for j in range(count):
            square = (a - x[j]) ** 2 + (b - y[j]) ** 2 + (c - z[j]) ** 2 + own + soft[j]
            row[j] = scale * (p * u[j] + q * v[j] + r * w[j]) / np.sqrt(square)
    return compliance
