"""Whether contacts of planar closing can balance: the least wrench of forces that press."""

import math

import numpy as np

from ...arrays import Array
from ...grasp_theory.wrench_space import min_norm
from ...transforms import cross, skew
from .hand_section import PredictedContact


#: Number of edges of a linearised friction cone.
CONE_EDGES = 8
COSINES, SINES = (f(2.0 * np.pi * np.arange(CONE_EDGES) / CONE_EDGES)[:, None]
                  for f in (np.cos, np.sin))
#: Radius of the contact patch that resists torsion [m].
PATCH_RADIUS = 0.006
#: Weight of the row that makes the normal forces add up to 1 [-].
SUM_WEIGHT = 100.0


def least_unbalance(contacts: tuple[PredictedContact, ...], centre: Array, radius: float,
                    friction: float) -> float:
    """
    Return the smallest wrench of contact forces whose normal parts add up to 1.

    Parameters
    ----------
    contacts : tuple of PredictedContact
    centre : (3,) float
    radius : float
        Torques are divided by it [m].
    friction : float

    Returns
    -------
    float
        0 where forces within the cones balance; a necessary condition for a grasp that
        holds under loads from all sides.

    Notes
    -----
    Friction cones with 8 edges and a torsion of friction times ``PATCH_RADIUS``; the least
    norm by non-negative least squares (Lawson and Hanson 1974). Own formulation.
    """
    normals = np.array([contact.normal for contact in contacts])
    tangents = cross(normals, np.eye(3)[np.abs(normals).argmin(axis=1)])
    for tangent in tangents:
        tangent /= math.sqrt(tangent.dot(tangent))
    forces = np.empty((len(contacts), CONE_EDGES + 2, 3))       # edges, then torsion either way
    forces[:, :-2] = normals[:, None] + friction * (
        COSINES * tangents[:, None] + SINES * cross(normals, tangents)[:, None])
    forces[:, -2:] = normals[:, None]
    arms = np.array([contact.point for contact in contacts]) - centre
    torques = forces @ skew(arms).swapaxes(1, 2)
    torsion = friction * PATCH_RADIUS * normals
    torques[:, -2] += torsion
    torques[:, -1] -= torsion
    wrenches = np.concatenate([forces, torques / radius], axis=2)
    return min_norm(wrenches.reshape(-1, 6), SUM_WEIGHT)
