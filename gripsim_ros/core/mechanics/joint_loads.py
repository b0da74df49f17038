"""What forces on the object ask of the joints."""

import numpy as np
from numpy.typing import NDArray

from ..hand import HandModel, forward_kinematics, link_jacobians
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
    joint_positions = np.asarray(joint_positions, float)[None]
    T_palm_link = forward_kinematics(hand, joint_positions)[0]
    jacobians = link_jacobians(hand, joint_positions)[0]
    rotation, origin = T_object_palm[:3, :3], T_object_palm[:3, 3]
    torque_map = np.zeros((len(hand.joint_names), 6 * len(links)))
    for k, link in enumerate(links):
        linear = jacobians[link, :3].T @ rotation.T
        angular = jacobians[link, 3:].T @ rotation.T
        arm = points[k] - (rotation @ T_palm_link[link, :3, 3] + origin)
        torque_map[:, 6 * k:6 * k + 3] = linear + cross(angular, arm)
        torque_map[:, 6 * k + 3:6 * k + 6] = angular
    return torque_map
