"""Whether the held object can be moved as wanted: core <-> message fields."""

from typing import Any

import numpy as np
from gripsim_interfaces.msg import Grasp
from numpy.typing import NDArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ....core.planning.ranked_grasp import (
    COMPLIANT, HAND_ONLY, NOWHERE, WITH_ARM, ManipulationResult)
from ....core.transforms import inverse
from ..geometry import duration_to_msg, pose_from_msg, pose_to_msg

Array = NDArray[np.float64]

CODES = {HAND_ONLY: Grasp.REACH_HAND_ONLY, COMPLIANT: Grasp.REACH_COMPLIANT,
         WITH_ARM: Grasp.REACH_WITH_ARM, NOWHERE: Grasp.REACH_NONE}
#: Time for the whole way of the object, shared in proportion to the way [s].
MOVING_TIME = 4.0


def reach_fields(reach: ManipulationResult | None, T_frame_object: Array,
                 joint_names: tuple[str, ...]) -> dict[str, Any]:
    """Return the fields of a ``Grasp`` message about moving the object; poses in its frame."""
    if reach is None:
        return {'reach_failed_step': -1}
    points = [JointTrajectoryPoint(positions=row.tolist(),
                                   time_from_start=duration_to_msg(MOVING_TIME * share))
              for row, share in zip(reach.joints, reach.shares)]
    return {
        'reach': CODES[reach.level], 'reach_message': reach.message,
        'reach_failed_step': reach.failed_step, 'reach_residual': reach.residual,
        'reach_slip_share': min(reach.slip_share, float(np.finfo(float).max)),
        'manipulation_trajectory': JointTrajectory(joint_names=list(joint_names), points=points),
        'manipulation_hand_poses': [pose_to_msg(T_frame_object @ T)
                                    for T in reach.T_object_palm]}


def reach_from_msg(msg: Grasp, T_frame_object: Array) -> ManipulationResult | None:
    """Return what a ``Grasp`` message says about moving the object; None: not examined."""
    levels = {code: level for level, code in CODES.items()}
    if msg.reach not in levels:
        return None
    T_object_frame = inverse(T_frame_object)
    times = np.array([p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec
                      for p in msg.manipulation_trajectory.points])
    return ManipulationResult(
        level=levels[msg.reach], residual=msg.reach_residual, slip_share=msg.reach_slip_share,
        joints=np.array([list(p.positions) for p in msg.manipulation_trajectory.points]),
        T_object_palm=np.array([T_object_frame @ pose_from_msg(pose)
                                for pose in msg.manipulation_hand_poses]),
        shares=times / MOVING_TIME, failed_step=msg.reach_failed_step,
        message=msg.reach_message)
