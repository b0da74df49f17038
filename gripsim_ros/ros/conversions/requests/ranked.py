"""A ranked grasp as a client gets it: the message, read back in the object's frame."""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
from geometry_msgs.msg import Wrench
from gripsim_interfaces.msg import ContactPatch, Grasp
from numpy.typing import NDArray

from ....core.fields import declared
from ....core.planning.ranked_grasp import GraspContact, RankedGrasp, Robustness, ScoreTerm
from ....core.transforms import apply, inverse
from ....library.whole_motion import ArmWay
from ..geometry import pose_from_msg, xyz
from .closing_motion import closing_from_msg
from .grasps import grasp_from_msg
from .reach import reach_from_msg

Array = NDArray[np.float64]


def ranked_grasp_from_msg(msg: Grasp, T_frame_object: Array,
                          joint_names: tuple[str, ...]) -> RankedGrasp:
    """
    Return the grasp of an answer; the inverse of ``grasp_to_msg`` but for the surface.

    Parameters
    ----------
    msg : Grasp
        Of a planner that has the same hand.
    T_frame_object : (4, 4) float
        Pose of the object in the frame of the request.
    joint_names : tuple of str
        The hand's joints, in its order.

    Returns
    -------
    RankedGrasp
        ``vertices`` and ``vertex_pressures`` are None.

    Raises
    ------
    HandError, TaskError
        The joints are not those of the hand.
    """
    T_object_frame = inverse(T_frame_object)
    T_object_palm, trajectory = grasp_from_msg(msg, T_frame_object, joint_names)
    return RankedGrasp(
        rank=msg.rank, hypothesis=msg.hypothesis, preshape=msg.preshape, stable=msg.stable,
        T_object_palm=T_object_palm,
        T_object_pregrasp=T_object_frame @ pose_from_msg(msg.pregrasp_pose),
        trajectory=trajectory, grip_positions=np.array(msg.grip_joint_positions),
        grip_efforts=np.array(msg.grip_joint_efforts),
        contacts=tuple(contact_from_msg(contact, T_object_frame) for contact in msg.contacts),
        score=msg.score, terms=tuple(
            ScoreTerm(t.name, t.value, t.unit, t.weight, t.contribution, t.normalised)
            for t in msg.quality),
        margin=msg.margin, quantitative=msg.quantitative, max_displacement=msg.max_displacement,
        centre_of_mass=apply(T_object_frame, xyz(msg.centre_of_mass)[None])[0],
        warnings=tuple(msg.warnings), damage_margin=msg.damage_margin,
        T_object_settled=T_object_frame @ pose_from_msg(msg.settled_object_pose),
        **{number.name: getattr(msg, number.name) for number in declared(RankedGrasp)},
        limiting_load=_wrench(msg.limiting_load, T_object_frame),
        robustness=Robustness(msg.robustness_samples, msg.robustness, msg.robustness_error,
                              msg.robustness_margin) if msg.robustness_samples else None,
        closing_motion=closing_from_msg(msg, T_object_frame),
        reach=reach_from_msg(msg, T_frame_object), elasticity=msg.elasticity)


def arm_way_from_msg(msg: Grasp, T_frame_object: Array) -> ArmWay | None:
    """Return the arm's way of a message whose points all tell where the hand is; else None."""
    rows = [list(point.positions) for point in msg.arm_trajectory.points]
    if not rows or not len(rows) == len(msg.arm_phases) == len(msg.arm_hand_poses):
        return None
    T_object_frame = inverse(T_frame_object)
    return ArmWay(tuple(msg.arm_trajectory.joint_names), np.array(rows), tuple(msg.arm_phases),
                  np.array([T_object_frame @ pose_from_msg(pose) for pose in msg.arm_hand_poses]))


def as_answered(grasps: Sequence[RankedGrasp], answer: Sequence[Grasp], T_frame_object: Array
                ) -> list[tuple[RankedGrasp, ArmWay | None]]:
    """
    Return grasps in the order and with the ranks of an answer, each with the arm's way.

    Parameters
    ----------
    grasps : sequence of RankedGrasp
        All that hold; those of the answer among them.
    answer : sequence of Grasp
    T_frame_object : (4, 4) float
        Pose of the object in the frame of the answer.
    """
    known = {grasp.hypothesis: grasp for grasp in grasps}
    return [(replace(known[msg.hypothesis], rank=msg.rank), arm_way_from_msg(msg, T_frame_object))
            for msg in answer]


def _wrench(msg: Wrench, T_object_frame: Array) -> Array | None:
    """Return a load (6,); none is told as zeros."""
    wrench: Array = np.concatenate([T_object_frame[:3, :3] @ xyz(msg.force),
                                    T_object_frame[:3, :3] @ xyz(msg.torque)])
    return wrench if wrench.any() else None


def contact_from_msg(msg: ContactPatch, T_object_frame: Array) -> GraspContact:
    """Return the contact of a message, in the object's frame."""
    types = msg.get_fields_and_field_types()
    return GraspContact(**{field.name: _FROM_MSG.get(types[field.name], _as_it_is)(
        getattr(msg, field.name), T_object_frame) for field in fields(GraspContact)})


def _as_it_is(value: Any, _: Array) -> Any:
    return value


_FROM_MSG = {'geometry_msgs/Point': lambda point, T: apply(T, xyz(point)[None])[0],
             'geometry_msgs/Vector3': lambda vector, T: T[:3, :3] @ xyz(vector)}
