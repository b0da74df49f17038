"""Requests of planning and evaluation -> object, task and limits in the object's frame."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from geometry_msgs.msg import Pose, Wrench
from gripsim_interfaces.msg import Task as TaskMsg
from numpy.typing import NDArray
from shape_msgs.msg import SolidPrimitive

from ....core.bodies import GraspObject, Material, load_mesh, repair_mesh
from ....core.bodies.scans.complete import complete_scan
from ....core.errors import GripsimError, MeshError, TaskError
from ....core.planning.task import ANY, POSE_UNCERTAINTY, Task, task_in_object_frame
from ....core.transforms import inverse
from ..clouds import cloud_from_msg, has_cloud
from ..geometry import (
    LARGEST, mesh_from_msg, pose_from_msg, primitives_from_msg, primitives_to_msg,
    transform_from_msg, transform_to_msg, vector_to_msg, xyz)
from ..objects import check_label, material_from_msg

Array = NDArray[np.float64]
MeshArrays = tuple[Array, NDArray[np.int64]]

#: Standard gravity where a request leaves it 0 [m/s^2].
STANDARD_GRAVITY = 9.81
#: Most of each in a request: gravity directions, wrenches, primitives, grasps. Every question
#: carries them, and every answer is judged under all of them.
MOST_ROWS = 1000
#: Most load cases: each gravity direction is met with each wrench.
MOST_LOAD_CASES = 30_000
#: Bytes of a triangle in a binary STL file.
STL_BYTES = 50


@dataclass(frozen=True, eq=False)
class Request:
    """
    What both kinds of request have in common, understood and checked.

    ``T_frame_object (4, 4)`` is the object's pose in the frame ``frame_id`` of the
    request; ``repairs`` says what was mended in the mesh. ``scale`` is already applied.
    """

    grasp_object: GraspObject
    task: Task
    T_frame_object: Array
    frame_id: str
    repairs: tuple[str, ...]
    scale: float


@dataclass(frozen=True, eq=False)
class RequestReader:
    """
    What reading a request needs besides the request.

    Attributes
    ----------
    materials : mapping of str to Material
        The library, by name.
    resolve_uri : callable
        ``package://``, ``file://`` or path to a path.
    find_object : callable
        Label to an object published before, or None.
    """

    materials: Mapping[str, Material]
    resolve_uri: Callable[[str], Path]
    find_object: Callable[[str], GraspObject | None]

    def read(self, msg, mesh: MeshArrays | None = None) -> Request:
        """
        Return the understood request of ``PlanGrasp``, ``PlanGrasps`` or ``EvaluateGrasp``.

        Parameters
        ----------
        msg : PlanGrasp.Request, PlanGrasps.Goal or EvaluateGrasp.Request
        mesh : tuple of (V, 3) float and (F, 3) int, optional
            The message's mesh, taken out of it before by `take_mesh`.

        Raises
        ------
        GripsimError
            Anything in it is out of its range; the message says what is allowed.
        """
        _check_sizes(msg)
        T_frame_object = _named('object_pose', lambda: pose_from_msg(msg.object_pose))
        T_object_frame = inverse(T_frame_object)
        planning_time(msg)
        obstacles = _named('obstacles', lambda: primitives_from_msg(
            msg.obstacles, msg.obstacle_poses, 'obstacles'))
        task = task_in_object_frame(
            replace(task_from_msg(msg.task), obstacles=obstacles), T_object_frame)
        grasp_object, repairs = self._object(msg, mesh)
        return Request(grasp_object, task, T_frame_object, msg.header.frame_id, repairs,
                       _scale(msg.scale))

    def triangle_estimate(self, msg) -> int:
        """
        Return about how many triangles a request brings, before anything is read.

        A file counts by its length, with the 50 bytes that STL takes for a triangle; one
        that is not there, or not allowed, counts nothing: ``read`` says what is wrong.
        """
        if not msg.mesh_resource:
            return len(msg.mesh.triangles)
        try:
            return self.resolve_uri(msg.mesh_resource).stat().st_size // STL_BYTES
        except (GripsimError, OSError, ValueError):
            return 0

    def _object(self, msg, mesh: MeshArrays | None) -> tuple[GraspObject, tuple[str, ...]]:
        """Return the object that a request names or brings, and what was mended."""
        brings_mesh = mesh is not None or bool(msg.mesh.vertices or msg.mesh.triangles)
        if msg.mesh_resource and brings_mesh:
            raise MeshError('give exactly one of mesh_resource and mesh, got both')
        if hasattr(msg, 'cloud') and (msg.completion or has_cloud(msg.cloud)):
            if msg.mesh_resource or brings_mesh:
                raise MeshError('give a cloud or a mesh, got both')
            return self._completed(msg)
        if not (msg.mesh_resource or brings_mesh):
            return self._published(msg), ()
        material = material_from_msg(msg.material, self.materials)
        if msg.mesh_resource:
            loaded = load_mesh(self.resolve_uri(msg.mesh_resource), _scale(msg.scale))
        else:
            loaded = repair_mesh(*(mesh or mesh_from_msg(msg.mesh)), scale=_scale(msg.scale))
        label = msg.object_id or Path(msg.mesh_resource).stem
        grasp_object = GraspObject(loaded.mesh, material, label)
        return grasp_object, tuple(str(repair) for repair in loaded.repairs)

    def _completed(self, msg) -> tuple[GraspObject, tuple[str, ...]]:
        """Return the object that closes a request's cloud, and what was assumed."""
        material = material_from_msg(msg.material, self.materials)
        points, viewpoint = cloud_from_msg(msg.cloud)
        completion = complete_scan(points, msg.completion, _scale(msg.scale), viewpoint)
        grasp_object = GraspObject(completion.mesh, material, msg.object_id, completion.seen)
        return grasp_object, completion.notes

    def _published(self, msg) -> GraspObject:
        """Return the object published before under the request's label."""
        known = self.find_object(msg.object_id) if msg.object_id else None
        if known is None:
            raise MeshError('give mesh_resource or mesh, or the object_id of a published '
                            f'object, got none and object_id {msg.object_id!r}')
        if msg.scale not in (0.0, 1.0):
            raise MeshError('scale of a published object must be 0 or 1, '
                            f'got {msg.scale}')
        if not (msg.material.name or msg.material.youngs_modulus):
            return known
        material = material_from_msg(msg.material, self.materials)
        return GraspObject(known.mesh, material, known.label, known.seen)


def _check_sizes(msg) -> None:
    """Refuse what is too long to travel with every question, before it is read; TaskError."""
    check_label('object_id', msg.object_id, TaskError)
    task = msg.task
    counts = {'task.gravity_directions': task.gravity_directions,
              'task.external_wrenches': task.external_wrenches, 'task.keep_out': task.keep_out,
              'task.contact_region': task.contact_region,
              'obstacles': getattr(msg, 'obstacles', ()), 'grasps': getattr(msg, 'grasps', ())}
    for name, rows in counts.items():
        if len(rows) > MOST_ROWS:
            raise TaskError(f'{name} must hold at most {MOST_ROWS}, got {len(rows)}')
    cases = max(1, len(task.gravity_directions)) * max(1, len(task.external_wrenches))
    if cases > MOST_LOAD_CASES:
        raise TaskError(f'gravity directions times external wrenches must be at most '
                        f'{MOST_LOAD_CASES} load cases, got {cases}')


def take_mesh(msg) -> MeshArrays:
    """
    Return the mesh of a request as arrays, and leave the message without it.

    Raises
    ------
    MeshError
        It cannot be used; the message is without it all the same.
    """
    mesh, msg.mesh = msg.mesh, type(msg.mesh)()
    return mesh_from_msg(mesh)


def planning_time(msg) -> float:
    """Return the request's limit of time [s], 0 = default; TaskError if negative or NaN."""
    seconds = float(msg.max_planning_time)
    if not (np.isfinite(seconds) and seconds >= 0.0):
        raise TaskError('max_planning_time must be finite and not negative '
                        f'(0 = default) [s], got {seconds}')
    return seconds


def task_from_msg(msg: TaskMsg) -> Task:
    """
    Return a task in the request's frame, as its message is.

    Raises
    ------
    TaskError
        A number is out of its range.
    """
    directions = _rows('gravity_directions', [xyz(v) for v in msg.gravity_directions], 3)
    wrenches = _rows('external_wrenches', [
        (*xyz(w.force), *xyz(w.torque)) for w in msg.external_wrenches], 6)
    approach = _rows('approach_direction', [xyz(msg.approach_direction)], 3)[0]
    _rows('gravity', [msg.gravity], 1)
    keep_out = _named('keep_out', lambda: primitives_from_msg(
        msg.keep_out, msg.keep_out_poses, 'keep_out'))
    region = _named('contact_region', lambda: primitives_from_msg(
        msg.contact_region, msg.contact_region_poses, 'contact_region'))
    return Task(
        gravity_directions=directions,
        gravity=msg.gravity if msg.gravity != 0.0 else STANDARD_GRAVITY,
        external_wrenches=wrenches, displacement_object=_displacement(msg),
        approach_direction=approach if approach.any() else None,
        approach_half_angle=_half_angle(msg, bool(approach.any())), keep_out=keep_out,
        contact_region=region, reach=msg.reach or ANY,
        pose_uncertainty=np.array(list(msg.pose_uncertainty) or POSE_UNCERTAINTY))


def task_to_msg(task: Task) -> tuple[TaskMsg, list[SolidPrimitive], list[Pose]]:
    """
    Return a task in the object's frame, with its obstacles and their poses.

    Raises
    ------
    TaskError
        Gravity is 0, which a message cannot tell from one left out.
    """
    if task.gravity == 0.0:
        raise TaskError('task.gravity must be above 0 m/s^2 over nodes, got 0; a message takes '
                        f'0 as {STANDARD_GRAVITY}')
    msg = TaskMsg(gravity=float(task.gravity), reach=task.reach,
                  gravity_directions=[vector_to_msg(v) for v in task.gravity_directions],
                  external_wrenches=[
                      Wrench(force=vector_to_msg(w[:3]), torque=vector_to_msg(w[3:]))
                      for w in task.external_wrenches])
    if task.displacement_object is not None:
        msg.has_displacement = True
        msg.displacement = transform_to_msg(task.displacement_object)
    if task.approach_direction is not None:
        msg.approach_direction = vector_to_msg(task.approach_direction)
        msg.approach_half_angle = float(task.approach_half_angle)
    msg.pose_uncertainty = task.pose_uncertainty.tolist()
    msg.keep_out, msg.keep_out_poses = primitives_to_msg(task.keep_out)
    msg.contact_region, msg.contact_region_poses = primitives_to_msg(task.contact_region)
    return msg, *primitives_to_msg(task.obstacles)


def _displacement(msg: TaskMsg) -> Array | None:
    if not msg.has_displacement:
        return None
    T_motion: Array = _named('task.displacement', lambda: transform_from_msg(msg.displacement))
    return T_motion


def _half_angle(msg: TaskMsg, has_direction: bool) -> float:
    if not has_direction and msg.approach_half_angle == 0.0:
        return float(np.pi)
    return msg.approach_half_angle


def _rows(name: str, values: list, width: int) -> Array:
    rows = np.array(values, float).reshape(-1, width)
    if not (np.abs(rows) <= LARGEST).all():
        wrong = rows[~(np.abs(rows) <= LARGEST).all(axis=1)][0]
        raise TaskError(f'{name} must be finite numbers up to {LARGEST:g}, got {wrong.tolist()}')
    return rows


def _scale(scale: float) -> float:
    if not (np.isfinite(scale) and scale >= 0.0):
        raise MeshError(f'scale must be above 0 (0 = 1), got {scale}')
    return float(scale) if scale else 1.0


def _named(name: str, read: Callable[[], Array]) -> Array:
    """Return what ``read`` returns; its error says which field it is about."""
    try:
        return read()
    except GripsimError as error:
        text = str(error)
        raise type(error)(text if text.startswith(name) else f'{name}: {text}') from None
