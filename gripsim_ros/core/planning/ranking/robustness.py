"""Robustness of grasps: verdicts where the numbers of a request are varied at random."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Array, IntArray
from ...bodies import GraspObject
from ...grasp_theory.grasp_map import joint_torque_map
from ...hand import HandModel
from ...transforms import inverse, rotation_about, skew
from ..closing.grasp_state import GraspState
from ..hypotheses.hand_geometry import find_fingers
from ..options import Uncertainty
from ..ranked_grasp import RankedGrasp, Robustness


#: Range of varied Poisson's ratios [-].
POISSON_RANGE = (0.0, 0.499)
#: Smallest varied friction [-].
LEAST_FRICTION = 1e-3
#: Largest Newton step of a joint [rad] and of the object [m].
MAX_JOINT_STEP, MAX_WAY = 0.02, 2e-3
#: How deep a finger without force may go in one step [m].
TOUCH_DEPTH = 1e-4
#: Resistance of the object to a step beside that of its contacts [N/m].
OBJECT_DRAG = 100.0


@dataclass(frozen=True, eq=False)
class Sample:
    """One draw: the object with another material, and its pose (4, 4) in the assumed one."""

    grasp_object: GraspObject
    T_object_moved: Array


def draw_samples(grasp_object: GraspObject, uncertainty: Uncertainty, count: int, seed: int
                 ) -> list[Sample]:
    """
    Return random variations of an object and its pose.

    Parameters
    ----------
    grasp_object : GraspObject
    uncertainty : Uncertainty
    count : int
    seed : int
        Samples depend on it alone, and the first of them not on ``count``.

    Returns
    -------
    list of Sample
        Modulus, friction and force limit are lognormal with the given value as the median,
        Poisson's ratio is normal and clipped, the pose turns about the centre of mass.
    """
    return [_draw(grasp_object, uncertainty, np.random.default_rng([seed, number]))
            for number in range(count)]


def _draw(grasp_object: GraspObject, uncertainty: Uncertainty, rng: np.random.Generator) -> Sample:
    numbers, material = rng.standard_normal(9), grasp_object.material
    varied = replace(
        material,
        youngs_modulus=material.youngs_modulus * float(np.exp(
            (material.modulus_spread or uncertainty.youngs_modulus) * numbers[0])),
        poisson_ratio=float(np.clip(
            material.poisson_ratio + uncertainty.poisson_ratio * numbers[1], *POISSON_RANGE)),
        friction=max(LEAST_FRICTION, material.friction * float(np.exp(
            uncertainty.friction * numbers[2]))))
    if np.isfinite(material.max_force):         # the draw is one piece, whose limit is its own
        force = material.max_force * float(np.exp(
            material.max_force_spread * rng.standard_normal()))
        varied = replace(varied, max_force=force, max_force_spread=0.0)
    centre = grasp_object.mass_properties.centre_of_mass
    T = rotation_about(centre, uncertainty.rotation * numbers[6:],
                       uncertainty.position * numbers[3:6])
    return Sample(GraspObject(grasp_object.mesh, varied, grasp_object.label), T)


def commanded_joints(hand: HandModel, grasp: RankedGrasp, squeeze: float) -> Array:
    """
    Return the set points of springs at the joints that press as closing did (J,) [rad].

    Parameters
    ----------
    hand : HandModel
    grasp : RankedGrasp
        Its closing forces give the torques at the last row.
    squeeze : float
        Multiple of these torques [-].
    """
    joints = grasp.trajectory[-1]
    links = np.array([hand.link_names.index(c.link) for c in grasp.contacts], dtype=np.int64)
    points = np.array([c.point for c in grasp.contacts]).reshape(-1, 3)
    forces = np.array([c.closing_force for c in grasp.contacts]).reshape(-1, 3)
    rows = _contact_jacobians(hand, joints, grasp.T_object_palm, links, points)
    torques = np.einsum('kxj,kx->j', rows, forces)
    return joints + squeeze * torques / hand.joint_stiffness


def balanced(hand: HandModel, joints: Array, command: Array, T_object_palm: Array,
             state: GraspState, radius: float) -> tuple[Array, Array]:
    """
    Return joints and object after one Newton step towards the balance of springs and contacts.

    ``k (q_command - q) = J^T f`` and ``sum of f = 0``, together: the object gives way while the
    joints do. Contacts stick in the step; a finger without force closes up to its touch. Joints
    that close no finger do not move.

    Parameters
    ----------
    hand : HandModel
    joints, command : (J,) float
        [rad]
    T_object_palm : (4, 4) float
    state : GraspState
        At ``joints``.
    radius : float
        Of the object [m].

    Returns
    -------
    joints : (J,) float
        [rad]
    T_object_palm : (4, 4) float
        The palm in the frame of the object where it went.
    """
    stiffness = np.broadcast_to(hand.joint_stiffness, joints.shape)
    rows = _contact_jacobians(hand, joints, T_object_palm, state.links, state.points)
    centre = state.points.mean(axis=0) if len(state.points) else np.zeros(3)
    unit = np.concatenate([np.ones(3), np.full(3, 1.0 / radius), np.ones(len(joints))])
    motions = unit * np.concatenate(
        [np.broadcast_to(-np.eye(3), (len(rows), 3, 3)), skew(state.points - centre), rows],
        axis=2)
    along = state.normals[:, :, None] * state.normals[:, None]
    springs = (state.normal_stiffness[:, None, None] * along
               + state.tangential_stiffness[:, None, None] * (np.eye(3) - along))
    matrix = np.einsum('kia,kij,kjb->ab', motions, springs, motions)
    matrix += np.diag(np.concatenate([np.full(6, OBJECT_DRAG), stiffness]))
    pull = np.concatenate([np.zeros(6), stiffness * (command - joints)])
    step = unit * np.linalg.solve(
        matrix, pull - np.einsum('kia,ki->a', motions, state.forces))
    twist, change = step[:6], _up_to_touch(hand, step[6:], state)
    way = float(np.linalg.norm(twist[:3]) + radius * np.linalg.norm(twist[3:]))
    share = min(1.0, MAX_WAY / max(way, 1e-12),
                MAX_JOINT_STEP / max(float(np.abs(change).max()), 1e-12))
    moved = rotation_about(centre, share * twist[3:], share * twist[:3])
    return (np.clip(joints + share * change, hand.joint_lower, hand.joint_upper),
            inverse(moved) @ T_object_palm)


def _up_to_touch(hand: HandModel, change: Array, state: GraspState) -> Array:
    """Return a change of the joints (J,) by which fingers without force reach their touch."""
    change, pressing = change.copy(), set(state.links.tolist())
    for finger in find_fingers(hand):
        if pressing.isdisjoint(finger.links):
            own = list(finger.joints)
            ways = finger.lever_arms @ np.abs(change[own])
            room = state.clearance[list(finger.links)] + TOUCH_DEPTH
            change[own] *= min(1.0, float((room / np.maximum(ways, 1e-12)).min()))
    return change


def _contact_jacobians(hand: HandModel, joints: Array, T_object_palm: Array,
                       links: IntArray, points: Array) -> Array:
    """Return Jacobians of points on links (k, 3, J) for the closing joints, frame object."""
    closing = np.zeros(len(joints))
    for finger in find_fingers(hand):
        closing[list(finger.joints)] = 1.0
    rows = joint_torque_map(hand, joints, T_object_palm, links, points).reshape(-1, len(links), 6)
    return rows[:, :, :3].transpose(1, 2, 0) * closing


def summarise(verdicts: Sequence[tuple[bool, float]]) -> Robustness:
    """
    Return the robustness of a grasp from its verdicts: whether it holds, and its margin.

    Parameters
    ----------
    verdicts : sequence of (bool, float)
        At least one.

    Notes
    -----
    The standard error is that of Agresti & Coull 1998, sqrt(p (1 - p) / n') with two
    successes and two failures added: it does not vanish where all samples hold.

    """
    count, holding = len(verdicts), sum(holds for holds, _ in verdicts)
    share = (holding + 2.0) / (count + 4.0)
    return Robustness(count, holding / count,
                      float(np.sqrt(share * (1.0 - share) / (count + 4.0))),
                      float(np.mean([margin for _, margin in verdicts])))
