"""What forces on the object ask of the joints."""

import numpy as np
from numpy.typing import NDArray

from ..hand import HandModel, link_poses_and_jacobians
from ..transforms import cross

Array = NDArray[np.float64]


def joint_torque_map(hand: HandModel, joint_positions: Array, T_object_palm: Array,
                     links: NDArray[np.int64], points: Array) -> Array:
    """
    Return the joint torques per force and torque of each patch: transposed Jacobians.

    Parameters
    ----------
    hand : HandModel
    joint_positions : (J,) float
        [rad].
    T_object_palm : (4, 4) float
    links : (k,) int
        Link that presses each patch.
    points : (k, 3) float
        Where it does, frame object [m].

    Returns
    -------
    (J, 6 k) float
        Columns per patch: force [N], then torque about the point [N m], that the hand
        applies to the object, frame object; times them, the torques of the joints [N m].

    Notes
    -----
    Source: duality of forces and velocities (Murray, Li & Sastry 1994, section 5.3). The
    velocity of a point of the link at p is ``v + w x (p - o)`` of the link's origin o.
    """
    T_palm_link, jacobians = link_poses_and_jacobians(
        hand, np.asarray(joint_positions, float)[None])
    rotation, origin = T_object_palm[:3, :3], T_object_palm[:3, 3]
    count, joints = len(links), len(hand.joint_names)
    velocities = rotation @ jacobians[0][links].reshape(count, 2, 3, joints)
    linear, angular = velocities.transpose(1, 3, 0, 2)
    arms = points - ((rotation @ T_palm_link[0][links, :3, 3, None])[..., 0] + origin)
    torque_map = np.empty((joints, count, 2, 3))
    torque_map[:, :, 0] = linear + cross(angular, arms)
    torque_map[:, :, 1] = angular
    return torque_map.reshape(joints, 6 * count)
