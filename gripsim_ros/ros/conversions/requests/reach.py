"""Whether the held object can be moved as wanted: core <-> message fields."""

from typing import Any

import numpy as np
from gripsim_interfaces.msg import Grasp
from gripsim_interfaces.msg import ManipulationStep as ManipulationStepMsg
from numpy.typing import NDArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ....core.planning.ranked_grasp import (
    COMPLIANT, HAND_ONLY, NOWHERE, WITH_ARM, ManipulationResult, ManipulationStep)
from ....core.transforms import apply, inverse
from ..geometry import (
    duration_to_msg, point_to_msg, pose_from_msg, pose_to_msg, vector_to_msg, xyz)

Array = NDArray[np.float64]

CODES = {HAND_ONLY: Grasp.REACH_HAND_ONLY, COMPLIANT: Grasp.REACH_COMPLIANT,
         WITH_ARM: Grasp.REACH_WITH_ARM, NOWHERE: Grasp.REACH_NONE}
#: Time for the whole way of the object, shared in proportion to the way [s].
MOVING_TIME = 4.0
#: Largest number of a message, for an infinite share [-].
LARGEST = float(np.finfo(float).max)


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
        'reach_slip_share': min(reach.slip_share, LARGEST),
        'manipulation_trajectory': JointTrajectory(joint_names=list(joint_names), points=points),
        'manipulation_hand_poses': [pose_to_msg(T_frame_object @ T)
                                    for T in reach.T_object_palm],
        'manipulation_steps': [step_to_msg(step, T_frame_object) for step in reach.steps]}


def step_to_msg(step: ManipulationStep, T_frame_object: Array) -> ManipulationStepMsg:
    """Return one step of the object's way, in the frame of the request."""
    turn = T_frame_object[:3, :3].T
    return ManipulationStepMsg(
        object_pose=pose_to_msg(T_frame_object @ step.T_object_moved), links=list(step.links),
        points=[point_to_msg(point) for point in apply(T_frame_object, step.points)],
        normals=[vector_to_msg(vector) for vector in step.normals @ turn],
        forces=[vector_to_msg(vector) for vector in step.forces @ turn],
        minimal_forces=[vector_to_msg(vector) for vector in step.minimal_forces @ turn],
        joint_efforts=step.joint_efforts.tolist(),
        centre_of_mass=point_to_msg(apply(T_frame_object, step.centre_of_mass[None])[0]),
        margin=float(step.margin), slip_share=float(min(step.slip_share, LARGEST)),
        by_arm=bool(step.by_arm))


def _step_from_msg(msg: ManipulationStepMsg, T_object_frame: Array) -> ManipulationStep:
    turn = T_object_frame[:3, :3].T
    vectors = [np.array([xyz(v) for v in rows]).reshape(-1, 3) @ turn
               for rows in (msg.normals, msg.forces, msg.minimal_forces)]
    points = apply(T_object_frame, np.array([xyz(p) for p in msg.points]).reshape(-1, 3))
    return ManipulationStep(
        T_object_frame @ pose_from_msg(msg.object_pose), tuple(msg.links), points, *vectors,
        np.array(msg.joint_efforts), apply(T_object_frame, xyz(msg.centre_of_mass)[None])[0],
        msg.margin, msg.slip_share, msg.by_arm)


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
        message=msg.reach_message,
        steps=tuple(_step_from_msg(step, T_object_frame) for step in msg.manipulation_steps))
