"""What forces on the object ask of the joints."""

from numba import njit
import numpy as np
from numpy.typing import NDArray

from ..hand import HandModel, link_poses_and_jacobians

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
    arms = points - ((rotation @ T_palm_link[0][links, :3, 3, None])[..., 0] + origin)
    return _torques(np.ascontiguousarray(velocities), np.ascontiguousarray(arms))


@njit(cache=True)
def _torques(velocities: Array, arms: Array) -> Array:
    """Return the map of the velocities (k, 2, 3, J) of links and the arms (k, 3) of points."""
    count, joints = len(arms), velocities.shape[3]
    torque_map = np.empty((joints, 6 * count))
    for k in range(count):
        x, y, z = arms[k, 0], arms[k, 1], arms[k, 2]
        for j in range(joints):
            u, v, w = velocities[k, 1, 0, j], velocities[k, 1, 1, j], velocities[k, 1, 2, j]
            torque_map[j, 6 * k] = velocities[k, 0, 0, j] + (v * z - w * y)
            torque_map[j, 6 * k + 1] = velocities[k, 0, 1, j] + (w * x - u * z)
            torque_map[j, 6 * k + 2] = velocities[k, 0, 2, j] + (u * y - v * x)
            for a in range(3):
                torque_map[j, 6 * k + 3 + a] = velocities[k, 1, a, j]
    return torque_map
