"""Compiled sums over the elements of a body."""

import numpy as np

from ...arrays import Array
from ...numerics.kernels import njit


@njit(cache=True)
def element_matrices(gradients: Array, moduli: Array, swelling: Array, factors: Array) -> Array:
    """
    Return element matrices (T, n, 3, n, 3) from tangents at their points.

    Parameters
    ----------
    gradients : (T, q, n, 3) float
        Of the shape functions.
    moduli : (T, q, 3, 3, 3, 3) float
        Tangent by F and F times the point's volume.
    swelling : (T, n, 3) float
        Derivative of the element's volume by its nodes.
    factors : (T,) float
        Of the square of that derivative.
    """
    count, points, nodes, _ = gradients.shape
    result = np.zeros((count, nodes, 3, nodes, 3))
    half = np.empty((3, 3))
    for t in range(count):
        for a in range(nodes):
            for i in range(3):
                for q in range(points):
                    for j in range(3):
                        for m in range(3):
                            total = 0.0
                            for k in range(3):
                                total += gradients[t, q, a, k] * moduli[t, q, i, k, j, m]
                            half[j, m] = total
                    for b in range(a, nodes):
                        for j in range(3):
                            total = 0.0
                            for m in range(3):
                                total += half[j, m] * gradients[t, q, b, m]
                            result[t, a, i, b, j] += total
                factor = factors[t] * swelling[t, a, i]
                for b in range(a, nodes):
                    for j in range(3):
                        result[t, a, i, b, j] += factor * swelling[t, b, j]
        for a in range(nodes):
            for b in range(a):
                for i in range(3):
                    for j in range(3):
                        result[t, a, i, b, j] = result[t, b, j, a, i]
    return result
