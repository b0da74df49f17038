"""The arm's motion for a grasp: core <-> message fields."""

from collections.abc import Iterable

import numpy as np
from gripsim_interfaces.msg import Grasp
from numpy.typing import NDArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ....core.arm import ArmMotion
from ..geometry import duration_to_msg, pose_to_msg

Array = NDArray[np.float64]

#: Speed of the fastest joint, from which the times of a motion follow [rad/s].
JOINT_SPEED = 0.5
#: Least time from one posture to the next [s].
LEAST_TIME = 0.02


def arm_to_msg(motion: ArmMotion, msg: Grasp, T_frame_palm: Iterable[Array] = ()) -> Grasp:
    """
    Put a motion of the arm into a ``Grasp`` message, and return it.

    Parameters
    ----------
    motion : ArmMotion
    msg : Grasp
        Changed in place.
    T_frame_palm : iterable of (4, 4) float
        Where the palm is at each row, in the frame of the message; none: not told.
    """
    times = np.zeros(len(motion.joints))
    if len(times) > 1:
        steps = np.abs(np.diff(motion.joints, axis=0)).max(axis=1) / JOINT_SPEED
        times[1:] = np.cumsum(np.maximum(steps, LEAST_TIME))
    msg.arm_trajectory = JointTrajectory(
        joint_names=list(motion.joint_names),
        points=[JointTrajectoryPoint(positions=row.tolist(), time_from_start=duration_to_msg(t))
                for row, t in zip(motion.joints, times)])
    msg.arm_phases = list(motion.phases)
    msg.arm_hand_poses = [pose_to_msg(T) for T in T_frame_palm]
    msg.arm_path_length = float(motion.length)
    msg.arm_pregrasp_length = float(motion.pregrasp_length)
    return msg
