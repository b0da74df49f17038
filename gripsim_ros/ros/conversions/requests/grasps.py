"""Ranked grasps <-> messages; the message's poses are in the frame of the request."""

from copy import copy
from dataclasses import dataclass, fields

import numpy as np
from geometry_msgs.msg import Wrench
from gripsim_interfaces.msg import ContactPatch, Grasp, ScoreTerm
from numpy.typing import NDArray
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ....core.errors import HandError, TaskError
from ....core.fields import declared
from ....core.planning.rejections import NOT_EVALUATED
from ....core.planning.ranked_grasp import GraspContact, RankedGrasp, Robustness
from ....core.transforms import apply, inverse
from ..geometry import duration_to_msg, point_to_msg, pose_from_msg, pose_to_msg, vector_to_msg
from .closing_motion import closing_fields
from .reach import reach_fields

Array = NDArray[np.float64]

#: Time that closing takes unless a joint's velocity limit asks for more [s].
CLOSING_TIME = 2.0


@dataclass(frozen=True, eq=False)
class GraspFrame:
    """
    Where grasps are told: the request's header and object pose, and the hand's joints.

    ``joint_names`` and ``joint_velocities (J,)`` [rad/s] are in the hand's order; ``object_id`` is
    the hash of the object.
    """

    header: Header
    T_frame_object: Array
    joint_names: tuple[str, ...]
    joint_velocities: Array
    object_id: str = ''


def grasp_to_msg(grasp: RankedGrasp, frame: GraspFrame) -> Grasp:
    """Return a ranked grasp in the frame of its request."""
    T_frame_object = frame.T_frame_object
    centre = apply(T_frame_object, grasp.centre_of_mass[None])[0]
    return Grasp(
        header=frame.header, rank=int(grasp.rank), stable=bool(grasp.stable),
        object_id=frame.object_id,
        hypothesis=max(0, int(grasp.hypothesis)), preshape=grasp.preshape,
        hand_pose=pose_to_msg(T_frame_object @ grasp.T_object_palm),
        pregrasp_pose=pose_to_msg(T_frame_object @ grasp.T_object_pregrasp),
        joint_trajectory=trajectory_to_msg(grasp.trajectory, frame),
        grip_joint_positions=grasp.grip_positions.tolist(),
        grip_joint_efforts=grasp.grip_efforts.tolist(),
        contacts=[contact_to_msg(c, T_frame_object) for c in grasp.contacts],
        score=float(grasp.score),
        quality=[ScoreTerm(name=t.name, value=float(t.value), unit=t.unit,
                           weight=float(t.weight), contribution=float(t.contribution),
                           normalised=float(t.normalised))
                 for t in grasp.terms],
        margin=float(grasp.margin), quantitative=bool(grasp.quantitative),
        max_displacement=float(grasp.max_displacement), centre_of_mass=point_to_msg(centre),
        elasticity=grasp.elasticity, warnings=list(grasp.warnings),
        damage_margin=float(grasp.damage_margin),
        **{number.name: float(getattr(grasp, number.name)) for number in declared(RankedGrasp)},
        peak_pressure=float(max((c.peak_pressure for c in grasp.contacts), default=0.0)),
        settled_object_pose=pose_to_msg(T_frame_object @ grasp.T_object_settled),
        limiting_load=_wrench_to_msg(grasp.limiting_load, T_frame_object),
        **_robustness_fields(grasp.robustness),
        **closing_fields(grasp.closing_motion, T_frame_object),
        **reach_fields(grasp.reach, T_frame_object, frame.joint_names))


def judged_to_msgs(grasps: list[RankedGrasp], given: list[Grasp],
                   frame: GraspFrame) -> list[Grasp]:
    """
    Return given grasps as they were judged, in the order given.

    Those that no time was left for come back with poses and trajectory as they were given; all
    else is the same for all of them, so that a thousand cost hardly more than one.
    """
    left = next((grasp for grasp in grasps if grasp.reason == NOT_EVALUATED), None)
    blank = None if left is None else grasp_to_msg(left, frame)
    return [grasp_to_msg(grasp, frame) if blank is None or grasp.reason != NOT_EVALUATED
            else _as_given(grasp, msg, blank) for grasp, msg in zip(grasps, given, strict=True)]


def _as_given(grasp: RankedGrasp, given: Grasp, blank: Grasp) -> Grasp:
    msg = copy(blank)
    msg.rank, msg.hypothesis = int(grasp.rank), int(grasp.hypothesis)
    msg.hand_pose = msg.pregrasp_pose = given.hand_pose
    msg.joint_trajectory = given.joint_trajectory
    msg.joint_trajectory.header.stamp = blank.header.stamp
    msg.grip_joint_positions = given.joint_trajectory.points[-1].positions
    return msg


def _wrench_to_msg(wrench: Array | None, T_frame_object: Array) -> Wrench:
    if wrench is None:
        return Wrench()
    force, torque = wrench.reshape(2, 3) @ T_frame_object[:3, :3].T
    return Wrench(force=vector_to_msg(force), torque=vector_to_msg(torque))


def _robustness_fields(robustness: Robustness | None) -> dict[str, float]:
    if robustness is None:
        return {}
    return {'robustness_samples': robustness.samples, 'robustness': robustness.holding,
            'robustness_error': robustness.error, 'robustness_margin': robustness.mean_margin}


def trajectory_to_msg(rows: Array, frame: GraspFrame) -> JointTrajectory:
    """Return rows ``(m, J)`` evenly spaced in time, no joint above its velocity limit."""
    steps = max(1, len(rows) - 1)
    fastest = 0.0
    if len(rows) > 1:
        fastest = float((np.abs(np.diff(rows, axis=0)) / frame.joint_velocities).max())
    step = max(CLOSING_TIME / steps, fastest)
    points = [JointTrajectoryPoint(positions=row.tolist(),
                                   time_from_start=duration_to_msg(i * step))
              for i, row in enumerate(rows)]
    return JointTrajectory(header=Header(stamp=frame.header.stamp),
                           joint_names=list(frame.joint_names), points=points)


def contact_to_msg(contact: GraspContact, T_frame_object: Array,
                   kind: type = ContactPatch) -> ContactPatch:
    """Return the message of a contact, in the frame of the request; ``kind`` of message."""
    types = kind.get_fields_and_field_types()
    return kind(**{field.name: _TO_MSG[types[field.name]](
        getattr(contact, field.name), T_frame_object) for field in fields(contact)})


#: How what a contact tells goes into a message, by the type of the message's field.
_TO_MSG = {
    'geometry_msgs/Point': lambda point, T: point_to_msg(apply(T, point[None])[0]),
    'geometry_msgs/Vector3': lambda vector, T: vector_to_msg(T[:3, :3] @ vector),
    'double': lambda number, T: float(number), 'uint32': lambda number, T: int(number),
    'string': lambda text, T: text}


def grasp_from_msg(msg: Grasp, T_frame_object: Array,
                   joint_names: tuple[str, ...]) -> tuple[Array, Array]:
    """
    Return what a grasp from elsewhere says of the hand.

    Parameters
    ----------
    msg : Grasp
    T_frame_object : (4, 4) float
        Pose of the object in the frame of the request.
    joint_names : tuple of str
        The hand's joints, in its order; those of the message may come in any order.

    Returns
    -------
    T_object_palm : (4, 4) float
    trajectory : (m, J) float
        In the hand's order [rad].

    Raises
    ------
    HandError
        A joint is unknown, missing or named twice.
    TaskError
        There is no row, or a row has the wrong length or is not finite.
    """
    T_object_palm = inverse(T_frame_object) @ pose_from_msg(msg.hand_pose)
    names = list(msg.joint_trajectory.joint_names)
    unknown = [name for name in names if name not in joint_names]
    missing = [name for name in joint_names if name not in names]
    if unknown or missing or len(set(names)) != len(names):
        raise HandError(f'joint_trajectory must name each of {", ".join(joint_names)} once; '
                        f'unknown {unknown}, missing {missing}')
    rows = [list(point.positions) for point in msg.joint_trajectory.points]
    if not rows or any(len(row) != len(names) for row in rows):
        raise TaskError(f'joint_trajectory must have at least one point of {len(names)} '
                        f'positions each, got lengths {[len(row) for row in rows]}')
    trajectory = np.array(rows, float)[:, [names.index(name) for name in joint_names]]
    if not np.isfinite(trajectory).all():
        raise TaskError('joint_trajectory must be finite')
    return T_object_palm, trajectory
