"""What tests of elastic bodies share."""

import numpy as np


def ball_response(order, ratio):
    """
    Return radial and polar displacement of a ball's surface under the pressure P_n.

    At unit E, radius and pressure, inwards; the polar one is the factor of dP_n / d theta.
    Source: Lur'e, Three-dimensional problems of the theory of elasticity, 1964, chapter 5.
    """
    n, shear = order, 0.5 / (1.0 + ratio)
    tractions = 2.0 * shear * np.array(
        [[(n + 1) * (n ** 2 - n - 2 - 2 * ratio), n * (n - 1)],
         [n ** 2 + 2 * n - 1 + 2 * ratio, n - 1]])
    a, b = np.linalg.solve(tractions, [-1.0, 0.0])
    return (a * (n + 1) * (n - 2 + 4 * ratio) + b * n, a * (n + 5 - 4 * ratio) + b)
