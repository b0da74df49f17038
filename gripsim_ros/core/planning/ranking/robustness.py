"""Robustness of grasps: verdicts where the numbers of a request are varied at random."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Array, IntArray
from ...bodies import GraspObject
from ...grasp_theory.grasp_map import joint_torque_map
from ...hand import HandModel
from ...transforms import rotation_about
from ..closing.grasp_state import GraspState
from ..hypotheses.hand_geometry import find_fingers
from ..options import Uncertainty
from ..ranked_grasp import RankedGrasp, Robustness


#: Range of varied Poisson's ratios [-].
POISSON_RANGE = (0.0, 0.499)
#: Smallest varied friction [-].
LEAST_FRICTION = 1e-3
#: Largest Newton step of a joint [rad].
MAX_JOINT_STEP = 0.02


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
        Modulus and friction are lognormal with the given value as the median, Poisson's
        ratio is normal and clipped, the pose turns about the centre of mass.
    """
    return [_draw(grasp_object, uncertainty, np.random.default_rng([seed, number]))
            for number in range(count)]


def _draw(grasp_object: GraspObject, uncertainty: Uncertainty, rng: np.random.Generator) -> Sample:
    numbers, material = rng.standard_normal(9), grasp_object.material
    varied = replace(
        material,
        youngs_modulus=material.youngs_modulus * float(np.exp(
            uncertainty.youngs_modulus * numbers[0])),
        poisson_ratio=float(np.clip(
            material.poisson_ratio + uncertainty.poisson_ratio * numbers[1], *POISSON_RANGE)),
        friction=max(LEAST_FRICTION, material.friction * float(np.exp(
            uncertainty.friction * numbers[2]))))
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


def balanced_joints(hand: HandModel, joints: Array, command: Array, T_object_palm: Array,
                    state: GraspState) -> Array:
    """
    Return the joints (J,) after one Newton step to balance springs and contact forces [rad].

    ``k (q_command - q) = J^T f``, with the contacts' normal stiffness; joints that close no
    finger do not move.

    Parameters
    ----------
    hand : HandModel
    joints, command : (J,) float
        [rad]
    T_object_palm : (4, 4) float
    state : GraspState
        At ``joints``.
    """
    stiffness = np.broadcast_to(hand.joint_stiffness, joints.shape)
    rows = _contact_jacobians(hand, joints, T_object_palm, state.links, state.points)
    along = np.einsum('kxj,kx->kj', rows, state.normals)
    matrix = np.diag(stiffness) + along.T @ (state.normal_stiffness[:, None] * along)
    missing = stiffness * (command - joints) - np.einsum('kxj,kx->j', rows, state.forces)
    step = np.clip(np.linalg.solve(matrix, missing), -MAX_JOINT_STEP, MAX_JOINT_STEP)
    return np.clip(joints + step, hand.joint_lower, hand.joint_upper)


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
