"""Oracles of grasp quality: force closure as a linear programme, bounds of epsilon, sums."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from gripsim_ros.core.grasp_theory.wrench_space import _rank, wrench_space_metrics

Array = NDArray[np.float64]


def minkowski_sums(edges: Array) -> Array:
    """
    Return points whose hull is the Minkowski sum of the contacts' own hulls with 0.

    Every contact's normal force is limited by itself (the L-infinity norm), where the
    hull of all edges limits their sum (L1).

    Parameters
    ----------
    edges : (k, m, d) float
        As of ``primitive_wrenches``.

    Returns
    -------
    ((m + 1)^k, d) float
    """
    sums = np.zeros((1, edges.shape[2]))
    for contact in edges:
        choices = np.vstack([np.zeros(edges.shape[2]), contact])
        sums = (sums[:, None] + choices).reshape(-1, edges.shape[2])
    return sums


def epsilon_bounds(points: Array, normals: Array, centre_of_mass: Array, friction: float,
                   length_scale: float, edge_count: int = 16) -> tuple[float, float]:
    """
    Return bounds of the exact cones' epsilon, by pyramids inside and about the cones.

    Parameters as in ``primitive_wrenches``.

    Returns
    -------
    lower, upper : float
    """
    outer = friction / np.cos(np.pi / edge_count)
    lower, upper = (wrench_space_metrics(points, normals, centre_of_mass, value, length_scale,
                                         edge_count)[0] for value in (friction, outer))
    return lower, upper


def force_closure(wrenches: Array) -> float:
    """
    Return how far wrenches are from losing force closure.

    Largest t with ``sum a_k w_k = 0``, ``sum a_k = 1``, ``a_k >= t``.

    Parameters
    ----------
    wrenches : (p, d) float
        Primitive wrenches.

    Returns
    -------
    float
        At most 1/p; closure where above 0. ``-inf`` where the wrenches do not span
        the space or no combination balances.

    Notes
    -----
    Source: linear programme after Lynch & Park, Modern Robotics, section 12.1.7.
    """
    wrenches = np.asarray(wrenches, float)
    count, dimension = wrenches.shape
    if _rank(wrenches) < dimension:
        return -np.inf
    equal = np.zeros((dimension + 1, count + 1))
    equal[:dimension, :count] = wrenches.T
    equal[dimension, :count] = 1.0
    below = np.hstack([-np.eye(count), np.ones((count, 1))])
    objective = np.zeros(count + 1)
    objective[-1] = -1.0
    answer = linprog(objective, A_ub=below, b_ub=np.zeros(count), A_eq=equal,
                     b_eq=np.eye(dimension + 1)[-1], bounds=(None, None), method='highs')
    return float(answer.x[-1]) if answer.status == 0 else -np.inf
