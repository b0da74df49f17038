"""Contact forces by the pseudo-inverse of the grasp map, as Leskov et al. print them."""

import numpy as np

from ....arrays import Array
from ....fields import checked_array
from ....grasp_theory.contact_set import ContactSet, TorqueOptions
from ....grasp_theory.grasp_force_socp import ForceSpace, MinimalForceOptions
from ..grasp_forces import cone_violation


def pseudo_inverse_forces(patches: ContactSet, wrenches: Array, centre_of_mass: Array,
                          friction: float, internal: Array | float = 0.0) -> tuple[Array, Array]:
    """
    Return the pseudo-inverse's contact forces and how far they leave the cones.

    ``gamma = -G+ w + (I - G+ G) gamma_0``.

    Parameters
    ----------
    patches, wrenches, centre_of_mass, friction
        As in ``solve_minimal_forces``; all patches count.
    internal : (k, 4) float, or 0
        ``gamma_0``, of which the part that presses without moving the object is kept.

    Returns
    -------
    gamma : (c, k, 4) float
        Normal, t1, t2 [N] and torsion over r_e [N] (0 for a hard finger).
    violation : (c,) float
        Largest ``max(|t| - mu n, -n)`` of the patches [N]; above 0: not a grasp.

    Notes
    -----
    Source: Leskov et al. 2017, equation for gamma_min. Differs: the sign of ``G+ w``
    follows from their equation (1); without cones the least forces have ``gamma_0 = 0``.
    """
    space = ForceSpace(patches, np.arange(patches.count), centre_of_mass, None, None,
                       MinimalForceOptions(), TorqueOptions(tilting_share=0.0))
    scaled = checked_array(wrenches, 'wrenches', 'c', 6) / space.unit
    start = np.broadcast_to(internal, (patches.count, 4)).reshape(-1)
    gamma = start - (scaled + space.map @ start) @ np.linalg.pinv(space.map).T
    gamma = gamma.reshape(len(scaled), patches.count, 4)
    return gamma, cone_violation(gamma, friction).max(1, initial=-np.inf)
