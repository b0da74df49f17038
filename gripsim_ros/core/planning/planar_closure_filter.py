"""Planar closure in front of the planner: hopeless hypotheses are found before any is asked."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from ..bodies import GraspObject
from ..errors import HandError
from ..hand import HandModel
from ..transforms import skew
from .hypotheses import Hypothesis
from .planar_closure_hand import HandClosure, ReachedContact, close_hand, finger_planes

Array = NDArray[np.float64]

#: Edges of a linearised friction cone.
CONE_EDGES = 8
#: Radius of the patch that resists turning about a contact's normal [m].
PATCH_RADIUS = 0.006
#: Weight of the row that makes the forces along the normals add up to 1.
SUM_WEIGHT = 100.0


@dataclass(frozen=True)
class ClosureVerdict:
    """
    What planar closure says of a hypothesis.

    ``hopeful``: the open hand is free, two fingers reach, and their forces can balance.
    ``fingers`` that touch; ``unbalance`` [-] is the least wrench of forces whose normal
    parts add up to 1, torques over the object's radius; ``inf`` without
    two fingers, or where the open fingers already are in the object.
    """

    hopeful: bool
    fingers: int
    unbalance: float


def judge_closure(closure: HandClosure, centre: Array, radius: float, friction: float,
                  most_unbalance: float) -> ClosureVerdict:
    """
    Return the verdict on a closed hand.

    Parameters
    ----------
    closure : HandClosure
    centre : (3,) float
        Where torques are taken about [m].
    radius : float
        Of the object [m].
    friction : float
    most_unbalance : float
        Largest ``unbalance`` that is hopeful.

    Returns
    -------
    ClosureVerdict
    """
    if closure.fingers < 2 or closure.overlap > 0.0:
        return ClosureVerdict(False, closure.fingers, np.inf)
    unbalance = least_unbalance(closure.contacts, centre, radius, friction)
    return ClosureVerdict(unbalance <= most_unbalance, closure.fingers, unbalance)


def least_unbalance(contacts: tuple[ReachedContact, ...], centre: Array, radius: float,
                    friction: float) -> float:
    """
    Return the least wrench of contact forces whose normal parts add up to 1.

    Parameters
    ----------
    contacts : tuple of ReachedContact
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
    columns = [_generators(contact, centre, radius, friction) for contact in contacts]
    wrenches = np.vstack(columns)
    system = np.vstack([wrenches.T, np.full(len(wrenches), SUM_WEIGHT)])
    shares, _ = nnls(system, np.append(np.zeros(6), SUM_WEIGHT))
    return float(np.linalg.norm(shares @ wrenches) / max(float(shares.sum()), 1e-12))


def _generators(contact: ReachedContact, centre: Array, radius: float, friction: float) -> Array:
    """Return wrenches (CONE_EDGES + 2, 6) of unit normal force, torques over the radius."""
    n = contact.normal
    t = np.cross(n, np.eye(3)[int(np.argmin(np.abs(n)))])
    t /= np.linalg.norm(t)
    angles = 2.0 * np.pi * np.arange(CONE_EDGES) / CONE_EDGES
    edges = n + friction * (np.outer(np.cos(angles), t) + np.outer(np.sin(angles), np.cross(n, t)))
    forces = np.vstack([edges, n, n])
    torques = forces @ skew(contact.point - centre).T
    torques[-2:] += np.outer([1.0, -1.0], friction * PATCH_RADIUS * n)
    return np.hstack([forces, torques / radius])


class ClosureFilter:
    """
    Tells hypotheses with hope from hopeless ones, for one object and hand.

    Parameters
    ----------
    grasp_object : GraspObject
    hand : HandModel
        One whose fingers are no planar chains: all have hope.
    most_unbalance : float
        Largest ``unbalance`` with hope [-]; 0: all have.
    """

    def __init__(self, grasp_object: GraspObject, hand: HandModel,
                 most_unbalance: float) -> None:
        properties = grasp_object.mass_properties
        self._object, self._hand, self._most = grasp_object, hand, most_unbalance
        self._centre = properties.centre_of_mass
        self._radius = float((3.0 * properties.volume / (4.0 * np.pi)) ** (1.0 / 3.0))
        self._judges = most_unbalance > 0.0 and _is_planar(hand)

    def has_hope(self, hypothesis: Hypothesis) -> bool:
        """Return whether full closing is worth its time."""
        return not self._judges or self.verdict(hypothesis).hopeful

    def verdict(self, hypothesis: Hypothesis) -> ClosureVerdict:
        """Return what planar closure says of a hypothesis."""
        closure = close_hand(self._hand, hypothesis.preshape, hypothesis.T_object_palm,
                             self._object.mesh)
        return judge_closure(closure, self._centre, self._radius,
                             self._object.material.friction, self._most)


def _is_planar(hand: HandModel) -> bool:
    try:
        for number in range(len(hand.preshapes)):
            finger_planes(hand, number)
    except HandError:
        return False
    return True
