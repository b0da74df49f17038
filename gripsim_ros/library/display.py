"""What all pictures of a plan share: colours of pressure, moments of a closing, coarse hands."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..core.bodies import TriangleMesh, decimate_hull, decimate_mesh
from ..core.errors import TaskError
from ..core.hand import HandModel, forward_kinematics
from ..core.planning.ranked_grasp import RankedGrasp

Array = NDArray[np.float64]

#: Colour of an object without pressure: red, green, blue in 0 to 1.
OBJECT_COLOUR = (0.90, 0.83, 0.70)
#: Colours of an arm, of others beside it, and of obstacles.
ARM_COLOUR, OTHER_ARM_COLOUR = (0.55, 0.66, 0.72), (0.74, 0.69, 0.62)
OBSTACLE_COLOUR = (0.66, 0.60, 0.74)
#: Colours of oriented boxes, and of what of them is in reach of each other.
BOX_COLOUR, REGION_COLOUR = (0.0, 0.62, 0.45), (0.90, 0.60, 0.0)
#: Pressure over its maximum, and the colour there.
PRESSURE_STOPS = (0.0, 0.04, 0.35, 0.7, 1.0)
PRESSURE_COLOURS = (OBJECT_COLOUR, (0.99, 0.86, 0.40), (0.97, 0.53, 0.14), (0.83, 0.16, 0.14),
                    (0.42, 0.00, 0.22))
#: Faces of a link where the hand moves, and of a link's hull where hands are many.
MOVING_FACES, GHOST_FACES = 500, 60


def pressure_colours(pressures: Array, largest: float) -> Array:
    """Return colours ``(..., 3)`` of pressures; ``largest`` has the last colour."""
    share = np.asarray(pressures) / largest if largest > 0.0 else np.zeros(np.shape(pressures))
    return np.stack([np.interp(share, PRESSURE_STOPS, channel)
                     for channel in np.transpose(PRESSURE_COLOURS)], axis=-1)


def joints_at(trajectory: Array, fraction: float) -> Array:
    """
    Return the joints at a moment of a closing.

    Parameters
    ----------
    trajectory : (m, J) float
        Rows evenly spaced in time [rad].
    fraction : float
        Of its time: 0 the open hand, 1 the grasp; between rows joints turn evenly.

    Returns
    -------
    (J,) float
        [rad]

    Raises
    ------
    TaskError
        ``fraction`` is outside 0 to 1.
    """
    if not 0.0 <= fraction <= 1.0:
        raise TaskError(f'fraction must be from 0 (open hand) to 1 (the grasp), got {fraction:g}')
    times = np.linspace(0.0, 1.0, len(trajectory))
    return np.array([np.interp(fraction, times, joint) for joint in trajectory.T])


def link_poses_at(grasp: RankedGrasp, hand: HandModel, fraction: float) -> Array:
    """Return ``T_object_link (L, 4, 4)`` at a moment of a grasp's closing; errors as above."""
    joints = joints_at(grasp.trajectory, fraction)
    return grasp.T_object_palm @ forward_kinematics(hand, joints[None])[0]


@lru_cache(maxsize=4)
def moving_links(hand: HandModel) -> Sequence[TriangleMesh]:
    """Return the links with at most ``MOVING_FACES`` faces each, in the hand's order."""
    return tuple(decimate_mesh(link.mesh, MOVING_FACES) for link in hand.links)


@lru_cache(maxsize=4)
def ghost_links(hand: HandModel) -> Sequence[TriangleMesh]:
    """Return the links' convex hulls of about ``GHOST_FACES`` faces, in the hand's order."""
    return tuple(decimate_hull(link.mesh, GHOST_FACES) for link in hand.links)
