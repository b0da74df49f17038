"""The shortest convex combination of vectors: how far contacts are from balancing each other."""

import numpy as np

from ..arrays import Array
from ..numerics.nnls import solve_nnls


def min_norm(vectors: Array, sum_weight: float) -> float:
    """
    Return the least length of a convex combination of vectors.

    Parameters
    ----------
    vectors : (n, d) float
        Normals, wrenches or arms, of about unit length; at least one.
    sum_weight : float
        Weight of the equation that the shares add up to 1 [-]: the length is exact to one over
        its square.

    Returns
    -------
    float
        0 where the vectors can balance; for wrenches within friction cones that is force
        closure's necessary condition.

    Notes
    -----
    Source: the distance of the origin from a convex hull as least squares of shares that are
    not negative (Lawson & Hanson 1974, chapter 23).
    """
    system = np.vstack([vectors.T, np.full(len(vectors), sum_weight)])
    right = np.zeros(system.shape[0])
    right[-1] = sum_weight
    shares, _ = solve_nnls(np.ascontiguousarray(system), right)
    return float(np.linalg.norm(shares @ vectors) / max(float(shares.sum()), 1e-12))
