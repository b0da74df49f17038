"""Grasps for MoveIt: ``moveit_msgs/srv/GraspPlanning`` <-> requests and answers of the planner."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from geometry_msgs.msg import Pose, PoseStamped, Vector3Stamped
from gripsim_interfaces.msg import Grasp
from gripsim_interfaces.srv import PlanGrasp
from numpy.typing import NDArray
from shape_msgs.msg import Mesh, SolidPrimitive
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ...core.bodies import shapes
from ...core.errors import MeshError, TaskError
from ...core.transforms import inverse
from .geometry import mesh_to_msg, pose_from_msg, pose_to_msg, vector_to_msg, xyz

Array = NDArray[np.float64]

#: Edge of the triangles of a primitive over its smallest size.
FINENESS = 0.15
#: Part of the approach that must be possible before a grasp is tried at all.
LEAST_APPROACH = 0.5
#: Names of the error codes for the planner's status; SUCCESS is 1 in MoveIt.
ERRORS = {
    PlanGrasp.Response.SUCCEEDED: 'SUCCESS', PlanGrasp.Response.NO_GRASP: 'PLANNING_FAILED',
    PlanGrasp.Response.INVALID_REQUEST: 'INVALID_OBJECT_NAME',
    PlanGrasp.Response.TIMED_OUT: 'TIMED_OUT', PlanGrasp.Response.CANCELED: 'PREEMPTED',
    PlanGrasp.Response.STAGE_MISSING: 'COMMUNICATION_FAILURE'}


@dataclass(frozen=True, eq=False)
class MoveItSettings:
    """
    What MoveIt wants to know and a request does not say.

    Attributes
    ----------
    wrist_link : str
        Parent link of the end effector.
    T_wrist_palm : (4, 4) float
    lift : float
        Way of the retreat after the grasp, along +z of the request's frame [m].
    material : str
        Of targets, in the library; '': the default.
    """

    wrist_link: str
    T_wrist_palm: Array
    lift: float
    material: str


def request_from_moveit(msg: Any, settings: MoveItSettings) -> PlanGrasp.Request:
    """
    Return the planner's request for a MoveIt request.

    Parameters
    ----------
    msg : moveit_msgs.srv.GraspPlanning.Request
        The target has one mesh or one primitive; of movable obstacles, boxes, spheres and
        cylinders count as they are and meshes by their bounding boxes.
    settings : MoveItSettings

    Raises
    ------
    MeshError, TaskError
        The target has no shape or more than one, or an obstacle is of an unknown kind.
    """
    target = msg.target
    mesh, T_target_shape = _shape(target)
    T_frame_target = _pose(target.pose)
    request = PlanGrasp.Request(header=target.header, object_id=target.id, mesh=mesh)
    request.object_pose = pose_to_msg(T_frame_target @ T_target_shape)
    request.material.name = settings.material
    for obstacle in msg.movable_obstacles:
        if obstacle.header.frame_id not in ('', target.header.frame_id):
            raise TaskError(f'obstacle {obstacle.id!r} must be in the frame of the target, '
                            f'{target.header.frame_id!r}, got {obstacle.header.frame_id!r}')
        _add_obstacle(request, obstacle)
    return request


def _pose(msg: Pose) -> Array:
    empty = not any((msg.orientation.x, msg.orientation.y, msg.orientation.z, msg.orientation.w))
    if empty:
        msg = Pose(position=msg.position)
        msg.orientation.w = 1.0
    return pose_from_msg(msg)


def _shape(target: Any) -> tuple[Mesh, Array]:
    """Return the target's mesh and its pose in the target's frame."""
    count = len(target.meshes) + len(target.primitives)
    if count != 1:
        raise MeshError(f'target {target.id!r} needs one mesh or one primitive, got '
                        f'{len(target.meshes)} meshes and {len(target.primitives)} primitives')
    poses = list(target.mesh_poses) + list(target.primitive_poses)
    pose = _pose(poses[0]) if poses else np.eye(4)
    if target.meshes:
        return target.meshes[0], pose
    body = _primitive_mesh(target.primitives[0], target.id)
    return mesh_to_msg(body.vertices, body.faces), pose


def _primitive_mesh(primitive: SolidPrimitive, name: str):
    sizes = [float(s) for s in primitive.dimensions]
    wanted = {SolidPrimitive.BOX: 3, SolidPrimitive.SPHERE: 1, SolidPrimitive.CYLINDER: 2}
    if len(sizes) != wanted.get(primitive.type, -1) or not min(sizes, default=0.0) > 0.0:
        raise MeshError(f'target {name!r} must be a box, sphere or cylinder with sizes above 0, '
                        f'got type {primitive.type} with {sizes}')
    edge = FINENESS * min(sizes)
    if primitive.type == SolidPrimitive.BOX:
        return shapes.box(sizes, edge)
    if primitive.type == SolidPrimitive.SPHERE:
        return shapes.sphere(sizes[0], edge)
    return shapes.cylinder(sizes[1], sizes[0], edge_length=edge)


def _add_obstacle(request: PlanGrasp.Request, obstacle: Any) -> None:
    T_frame_obstacle = _pose(obstacle.pose)
    for primitive, pose in zip(obstacle.primitives, obstacle.primitive_poses):
        request.obstacles.append(primitive)
        request.obstacle_poses.append(pose_to_msg(T_frame_obstacle @ _pose(pose)))
    for mesh, pose in zip(obstacle.meshes, obstacle.mesh_poses):
        if not mesh.vertices:
            raise TaskError(f'obstacle {obstacle.id!r} has a mesh without vertices')
        points = np.array([xyz(vertex) for vertex in mesh.vertices])
        low, high = points.min(axis=0), points.max(axis=0)
        T_mesh_box = np.eye(4)
        T_mesh_box[:3, 3] = 0.5 * (low + high)
        sides = np.maximum(high - low, 1e-4)
        request.obstacles.append(
            SolidPrimitive(type=SolidPrimitive.BOX, dimensions=sides.tolist()))
        request.obstacle_poses.append(
            pose_to_msg(T_frame_obstacle @ _pose(pose) @ T_mesh_box))


def answer_to_moveit(answer: PlanGrasp.Response, msg: Any, response: Any, grasp_type: type,
                     translation_type: type, settings: MoveItSettings) -> Any:
    """
    Fill MoveIt's answer from the planner's, and return it.

    Parameters
    ----------
    answer : PlanGrasp.Response
    msg : moveit_msgs.srv.GraspPlanning.Request
    response : moveit_msgs.srv.GraspPlanning.Response
    grasp_type, translation_type : type
        ``moveit_msgs.msg.Grasp`` and ``GripperTranslation``.
    settings : MoveItSettings
    """
    codes = type(response.error_code)
    response.error_code.val = getattr(codes, ERRORS.get(answer.status, 'FAILURE'))
    if hasattr(response.error_code, 'message'):
        response.error_code.message = answer.message
    touchable = [name for name in [msg.target.id, *msg.support_surfaces] if name]
    response.grasps = [_grasp(g, touchable, grasp_type, translation_type, settings)
                       for g in answer.grasps]
    return response


def _grasp(grasp: Grasp, touchable: Sequence[str], grasp_type: type, translation_type: type,
           settings: MoveItSettings) -> Any:
    T_frame_palm = pose_from_msg(grasp.hand_pose)
    T_palm_pregrasp = inverse(T_frame_palm) @ pose_from_msg(grasp.pregrasp_pose)
    way = -settings.T_wrist_palm[:3, :3] @ T_palm_pregrasp[:3, 3]
    names, frame = list(grasp.joint_trajectory.joint_names), grasp.header.frame_id
    forces = [float(np.hypot.reduce(xyz(c.force))) for c in grasp.contacts]
    up = np.array([0.0, 0.0, settings.lift])
    return grasp_type(
        id=f'grasp_{grasp.rank}',
        pre_grasp_posture=JointTrajectory(
            joint_names=names, points=list(grasp.joint_trajectory.points[:1])),
        grasp_posture=JointTrajectory(
            joint_names=names, points=[*grasp.joint_trajectory.points, _grip(grasp)]),
        grasp_pose=PoseStamped(header=grasp.header, pose=pose_to_msg(
            T_frame_palm @ inverse(settings.T_wrist_palm))),
        grasp_quality=float(grasp.score),
        pre_grasp_approach=_translation(way, settings.wrist_link, translation_type),
        post_grasp_retreat=_translation(up, frame, translation_type),
        post_place_retreat=_translation(-way, settings.wrist_link, translation_type),
        max_contact_force=max(forces, default=0.0), allowed_touch_objects=list(touchable))


def _grip(grasp: Grasp) -> JointTrajectoryPoint:
    """Return where a position-controlled hand is sent for its forces, with the torques."""
    last = grasp.joint_trajectory.points[-1].time_from_start
    point = JointTrajectoryPoint(positions=list(grasp.grip_joint_positions),
                                 effort=list(grasp.grip_joint_efforts))
    point.time_from_start.sec = last.sec + 1
    point.time_from_start.nanosec = last.nanosec
    return point


def _translation(way: Array, frame: str, kind: type) -> Any:
    length = float(np.sqrt(way @ way))
    direction = way / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
    return kind(direction=Vector3Stamped(header=Header(frame_id=frame),
                                         vector=vector_to_msg(direction)),
                desired_distance=length, min_distance=LEAST_APPROACH * length)
