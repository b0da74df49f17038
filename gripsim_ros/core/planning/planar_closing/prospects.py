"""What planar closing foretells of a hypothesis: whether it can hold, and its score."""

from typing import NamedTuple

import numpy as np

from ...arrays import Array
from ...bodies import GraspObject
from ...errors import HandError
from ...grasp_theory.contact_set import ContactSet, TorqueOptions
from ...grasp_theory.grasp_force_socp import ForceSpace, GraspForceSocp, MinimalForceOptions
from ...grasp_theory.grasp_map import joint_torque_map, load_wrenches
from ...hand import HandModel
from ..closing.limits import ClosingLimits
from ..hypotheses.generate import Hypothesis
from ..options import PlannerOptions
from ..ranking.score import ForetoldState, ScoreReference, score_terms
from .balance import least_unbalance
from .hand_section import ClosedHand, close_hand, finger_planes


#: Depth to which phalanges press over Hertz's indentation under the first guess of the force [-].
PRESSED_DEPTH = 1.6
#: Effective radius of torsion over the radius of a contact of Hertz, 3 pi / 16 [-].
TORSION_RADIUS = 3.0 * np.pi / 16.0
#: Share of the largest force by which loads may need less and still be the worst in truth [-].
ALIKE = 0.05
#: How the minimal forces are found.
FORCES = MinimalForceOptions()


class Prospect(NamedTuple):
    """
    What planar closing foretells of a hypothesis.

    ``promising``: the open hand is free, two fingers touch, and their forces can balance.
    ``score``: what its grasp may score [-]; ``-inf`` where forces within limits would not hold.
    """

    promising: bool
    score: float = -np.inf


class PlanarProspects:
    """
    The judge of hypotheses by planar closing, for one object, hand and task.

    Parameters
    ----------
    grasp_object : GraspObject
    hand : HandModel
        Where its fingers are no planar chains, nothing is foretold.
    reference : ScoreReference
    limits : ClosingLimits
    options : PlannerOptions
        ``closure_unbalance`` is the largest ``least_unbalance`` of a promising hypothesis, torques
        over the radius of a ball of the object's volume [-]; 0: nothing is foretold.

    Attributes
    ----------
    foretells : bool
    """

    def __init__(self, grasp_object: GraspObject, hand: HandModel, reference: ScoreReference,
                 limits: ClosingLimits, options: PlannerOptions) -> None:
        self._object, self._hand, self._reference = grasp_object, hand, reference
        self._limits, self._options = limits, options
        centre = grasp_object.mass_properties.centre_of_mass
        wrenches = load_wrenches(reference.load_cases, reference.mass, centre)
        self._wrenches = wrenches[np.linalg.norm(wrenches, axis=1) > 0.0]
        self._depth = PRESSED_DEPTH * limits.compliance.indentation(
            limits.holding_force, options.first_force_radius)
        self.foretells = (options.closure_unbalance > 0.0 and len(self._wrenches) > 0
                          and _is_planar(hand))

    def prospect(self, hypothesis: Hypothesis) -> Prospect:
        """
        Return what is foretold of a hypothesis.

        Notes
        -----
        Own formulation. Contacts are where phalanges press, ``pressed_contact``; pressures and
        displacements those of Hertz for the area that is pressed. Forces are the minimal ones.
        """
        closed = close_hand(self._hand, hypothesis.preshape, hypothesis.T_object_palm,
                            self._object.mesh, depth=self._depth)
        contacts = closed.contacts
        centre, friction = self._object.mass_properties.centre_of_mass, self._reference.friction
        if not (closed.fingers > 1 and len(contacts) > 1 and closed.overlap <= 0.0
                and least_unbalance(contacts, centre, self._reference.radius, friction)
                <= self._options.closure_unbalance):
            return Prospect(False)
        return Prospect(True, self._score(closed, hypothesis.T_object_palm))

    def _score(self, closed: ClosedHand, T_object_palm: Array) -> float:
        """Return the score of a closed hand with minimal forces; -inf where there are none."""
        contacts, compliance = closed.contacts, self._limits.compliance
        points, normals = (np.array([getattr(contact, name) for contact in contacts])
                           for name in ('point', 'normal'))
        links = np.array([contact.link for contact in contacts])
        # A bed of springs is pressed over 2 pi R d where a paraboloid of radius R goes d deep.
        radii = np.array([contact.area for contact in contacts]) / (2.0 * np.pi * self._depth)
        modulus = 1.0 / (1.0 / compliance.object_modulus + 1.0 / compliance.pad_modulus)
        # Pressure of Hertz to the power of 3, over the force.
        pressures = 6.0 * modulus ** 2 / (np.pi ** 3 * radii ** 2)
        torque_map = joint_torque_map(
            self._hand, closed.joint_positions, T_object_palm, links, points)
        space = self._force_space(
            points, normals, TORSION_RADIUS * np.sqrt(radii * self._depth),
            self._reference.max_pressure ** 3 / pressures, torque_map)
        gamma, failed = GraspForceSocp(
            space, self._reference.friction, FORCES.sum_weight).solve(self._wrenches / space.unit)
        if failed >= 0:
            return -np.inf
        normal_forces = gamma[:, ::4]
        largest = np.maximum(normal_forces.max(axis=0), 0.0)
        forces, torques = space.vectors(gamma[gentlest(gamma, normal_forces.max(axis=1))])
        depths = np.cbrt(9.0 * largest ** 2 / (16.0 * compliance.object_modulus ** 2 * radii))
        state = ForetoldState(
            points, normals, self._object.mass_properties.centre_of_mass, largest, forces,
            np.cbrt(pressures * largest), float(depths.max()))
        efforts = torque_map @ np.hstack([forces, torques]).ravel()
        return score_terms(state, efforts, self._hand, self._reference, self._options)[0]

    def _force_space(self, points: Array, normals: Array, torsion_radii: Array, largest: Array,
                     torque_map: Array) -> ForceSpace:
        contacts = ContactSet.of_contacts(points, normals, torsion_radii,
                                          np.minimum(largest, self._limits.force_limit))
        return ForceSpace(
            contacts, np.arange(len(points)), self._object.mass_properties.centre_of_mass,
            torque_map, self._hand.joint_efforts, FORCES, TorqueOptions(tilting_share=0.0))


def gentlest(gamma: Array, largest: Array) -> int:
    """
    Return which of the loads that need about as much as any has the smallest forces.

    A score takes the forces of the load that needs most, which may be twice as large in all as
    those of another that needs as much. Which of the two is ahead a tenth of a millimetre decides.

    Parameters
    ----------
    gamma : (c, 4k) float
        Normal and two tangential forces [N] of each contact and its torsion, for each load.
    largest : (c,) float
        Largest normal force of each load [N].
    """
    forces = gamma.reshape(len(gamma), -1, 4)[:, :, :3]
    sums = np.sqrt((forces ** 2).sum(axis=2)).sum(axis=1)
    return int(np.where(largest >= (1.0 - ALIKE) * largest.max(), sums, np.inf).argmin())


def _is_planar(hand: HandModel) -> bool:
    try:
        for number in range(len(hand.preshapes)):
            finger_planes(hand, number)
    except HandError:
        return False
    return True
