"""Where the links of a held grasp press, by its contacts."""

import numpy as np

from ...core.arrays import Array
from ...core.hand import forward_kinematics, HandModel
from ...core.planning.closing.grasp_state import GraspState, sums_by_link
from ...core.planning.closing.knowledge import HeldGrasp
from ...core.transforms import apply, inverse, rotate
from .fingers import HandSqueeze
from .sticking import GripContacts, work_directions
from .surface_doubt import Spots

#: Part of the closing that tells how pads move [-].
CLOSED = 1e-3


def contacts_of(squeeze: HandSqueeze, T_object_palm: Array, held: HeldGrasp, fraction: float
                ) -> GripContacts:
    """Return the contacts of a grip closed by a fraction, on the object as it settled."""
    links, points, directions = grip_of(
        squeeze.hand, T_object_palm, held.joint_positions, held.state)
    poses = [forward_kinematics(squeeze.hand, joints[None])[0] for joints in (
        held.joint_positions, squeeze.joints_at(fraction + CLOSED))]
    before, after = (np.array([apply(T_object_palm @ pose[link], point[None])[0]
                               for link, point in zip(links, points)]) for pose in poses)
    settled = inverse(held.T_object_settled)
    radii = np.sqrt(sums_by_link(links, held.state, held.state.areas) / np.pi)
    return GripContacts(apply(settled, before), rotate(settled @ T_object_palm, directions),
                        rotate(settled, after - before), radii[None])


def spots_of(hand: HandModel, T_object_palm: Array, held: HeldGrasp) -> Spots:
    """Return where the links of a held grasp press."""
    state, bears = held.state, held.state.normal_forces > 0.0
    links, growing = state.links[bears], state.normal_stiffness[bears]
    of_links = state.normal_forces_by_link[bears] / state.normal_forces.sum()
    shares = growing / np.array([growing[links == link].sum() for link in links])
    poses = T_object_palm @ forward_kinematics(hand, held.joint_positions[None])[0][links]
    points = np.einsum('pji,pj->pi', poses[:, :3, :3], state.points[bears] - poses[:, :3, 3])
    return Spots(links, points, 2.0 * of_links * shares, state.friction_radii[bears])


def way_of(hand: HandModel, T_object_palm: Array, joints: Array, state: GraspState
           ) -> tuple[tuple[int, ...], Array, Array, float]:
    """
    Return as ``grip_of``, with the directions whose work is that of the fingers.

    The last is by how much they differ from the normal forces, over these [-]: what friction
    bears so that the object does not turn.
    """
    links, points, pushes = grip_of(hand, T_object_palm, joints, state)
    poses = forward_kinematics(hand, joints[None])[0]
    of_palm = np.array([apply(poses[link], point[None])[0] for link, point in zip(links, points)])
    directions = work_directions(of_palm, pushes)
    kept = float(np.linalg.norm(directions - pushes) / np.linalg.norm(pushes))
    return links, points, directions, kept


def grip_of(hand: HandModel, T_object_palm: Array, joints: Array, state: GraspState
            ) -> tuple[tuple[int, ...], Array, Array]:
    """Return the links that press, their points (k, 3) and normal pushes (k, 3)."""
    poses = forward_kinematics(hand, joints[None])[0]
    force = 0.5 * float(state.normal_forces.sum())
    links, points, directions = [], [], []
    for link in np.unique(state.links[state.normal_forces > 0.0]):
        own = (state.links == link) & (state.normal_forces > 0.0)
        middle = np.average(state.points[own], axis=0, weights=state.normal_forces[own])
        links.append(int(link))
        points.append(apply(inverse(T_object_palm @ poses[link]), middle[None])[0])
        directions.append(rotate(inverse(T_object_palm), state.forces[own].sum(axis=0)[None])[0])
    pushes = np.array(directions) / force
    return tuple(links), np.array(points), pushes - pushes.mean(axis=0)     # exactly balanced
