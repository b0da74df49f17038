"""
The queue of hypotheses that wait for their closing, promising ones first.

Planar closing finds those without balance before any question.
"""

from collections.abc import Iterator
import math

import numpy as np

from ...arrays import Array
from ...bodies import GraspObject
from ...errors import HandError
from ...grasp_theory.wrench_space import min_norm
from ...hand import HandModel
from ...transforms import cross, skew
from ..closing.closing import Closing
from ..closing.limits import ClosingLimits
from ..hypotheses.generate import Hypothesis
from ..options import PlannerOptions
from ..rejections import NO_PLANAR_BALANCE
from .hand_section import PredictedContact, close_hand, finger_planes


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


class PlanarClosingFilter:
    """
    The choice of promising hypotheses by planar closing, for one object and hand.

    Parameters
    ----------
    grasp_object : GraspObject
    hand : HandModel
        Where its fingers are no planar chains, all hypotheses are promising.
    most_unbalance : float
        Largest ``least_unbalance`` of a promising hypothesis, torques over the radius of a ball
        of the object's volume [-]; 0: all are promising.
    """

    def __init__(self, grasp_object: GraspObject, hand: HandModel, most_unbalance: float) -> None:
        properties = grasp_object.mass_properties
        self._object, self._hand, self._most = grasp_object, hand, most_unbalance
        self._centre = properties.centre_of_mass
        self._radius = float((3.0 * properties.volume / (4.0 * np.pi)) ** (1.0 / 3.0))
        self._judges = most_unbalance > 0.0 and _is_planar(hand)

    def is_promising(self, hypothesis: Hypothesis) -> bool:
        """
        Return True if closing by the stages is worth its time.

        It is where the open hand is free, two fingers touch, and their forces can balance.
        """
        if not self._judges:
            return True
        closed_hand = close_hand(self._hand, hypothesis.preshape, hypothesis.T_object_palm,
                                 self._object.mesh)
        return (closed_hand.fingers > 1 and closed_hand.overlap <= 0.0
                and least_unbalance(closed_hand.contacts, self._centre, self._radius,
                                    self._object.material.friction) <= self._most)


def _is_planar(hand: HandModel) -> bool:
    try:
        for number in range(len(hand.preshapes)):
            finger_planes(hand, number)
    except HandError:
        return False
    return True


class ClosingQueue:
    """
    Closings in their order; those that are not promising by planar closing are postponed.

    Postponed closings are refused where a grasp holds once all others have their verdict, and
    begun where none does. So the filter changes no hint and no nearest miss, and no answer
    depends on when other answers came.

    Parameters
    ----------
    closings : list of Closing
        Not begun, best first.
    judge : PlanarClosingFilter
        Asked as late as possible, when a closing is about to begin.

    Attributes
    ----------
    refused : list of Closing
        Those refused.
    """

    def __init__(self, closings: list[Closing], judge: PlanarClosingFilter) -> None:
        self._waiting, self._postponed = list(closings), list[Closing]()
        self._judge: PlanarClosingFilter | None = judge
        self._begun, self._found = 0, False
        self.refused = list[Closing]()

    @classmethod
    def of(cls, hypotheses: list[Hypothesis], grasp_object: GraspObject, hand: HandModel,
           options: PlannerOptions, limits: ClosingLimits) -> 'ClosingQueue':
        """Return the queue of the hypotheses' closings."""
        return cls([Closing(h, hand, options, limits) for h in hypotheses],
                   PlanarClosingFilter(grasp_object, hand, options.closure_unbalance))

    def __len__(self) -> int:
        """Return how many wait, those postponed included."""
        return len(self._waiting) + len(self._postponed)

    def __iter__(self) -> Iterator[Closing]:
        """Go through all that wait."""
        return iter([*self._waiting, *self._postponed])

    def clear(self) -> None:
        """Drop all that wait."""
        self._waiting, self._postponed = [], []

    def note(self, closing: Closing) -> None:
        """Take note that a closing taken before has its verdict."""
        self._begun -= 1
        self._found |= closing.held is not None

    def take(self, count: int) -> list[Closing]:
        """Return the next closings to begin, ``count`` at most."""
        taken: list[Closing] = []
        while self._waiting and len(taken) < count:
            closing = self._waiting.pop(0)
            promising = self._judge is None or self._judge.is_promising(closing.hypothesis)
            (taken if promising else self._postponed).append(closing)
        self._begun += len(taken)
        if self._begun or self._waiting or not self._postponed:
            return taken
        postponed, self._postponed, self._judge = self._postponed, [], None
        if self._found:
            for closing in postponed:
                closing.fail(NO_PLANAR_BALANCE)
            self.refused += postponed
            return []
        self._waiting = postponed
        return self.take(count)
