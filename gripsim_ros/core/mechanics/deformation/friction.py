"""
What friction at the pads does to a body that deforms: the least that lets it rest.

Derivations and limits: docs/model/mechanics.md, "Centre of mass".
"""

import numpy as np

from ...arrays import Array
from ...transforms import cross
from .boussinesq import SurfaceLoads

#: Wrenches of friction on the body by less than this share of its strength are none: a force along
#: the normals of all pads, which only their tilt would bear [-].
LEVERAGE = 0.1


def least_friction(loads: SurfaceLoads, centre: Array, size: float) -> Array:
    """
    Return the least friction that balances pressures, spread over each patch like these.

    Parameters
    ----------
    loads : SurfaceLoads
        Pressures alone.
    centre : (3,) float
        Moments count about it [m].
    size : float
        Length by which moments count beside forces [m].

    Returns
    -------
    (k, 3) float
        On the loaded nodes, in the tangent plane of each patch [N]. What no friction can balance
        is left.
    """
    if not len(loads.totals):
        return np.zeros_like(loads.forces)
    counts = np.diff(loads.offsets)
    strength = np.sqrt((loads.totals ** 2).sum(axis=1))
    normals = loads.totals / strength[:, None]
    tangents = np.array([np.linalg.svd(normal[None])[2][1:] for normal in normals])
    arms = np.repeat((loads.centres - centre)[:, None], 2, axis=1)
    wrenches = np.concatenate([tangents, cross(arms, tangents) / size], axis=2)
    wrench = np.concatenate([loads.forces.sum(axis=0),
                             cross(loads.points - centre, loads.forces).sum(axis=0) / size])
    shares = np.linalg.lstsq(wrenches.reshape(-1, 6).T, -wrench, rcond=LEVERAGE)[0]
    friction = np.einsum('pt,pta->pa', shares.reshape(-1, 2), tangents)
    pressing = np.sqrt((loads.forces ** 2).sum(axis=1))
    sums = np.add.reduceat(pressing, loads.offsets[:-1])
    return (pressing / np.repeat(sums, counts))[:, None] * np.repeat(friction, counts, axis=0)
