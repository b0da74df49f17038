"""
The YAML of ``--task``: keys as in ``Task.msg``, SI units, all in the object's frame or ``frame``.

=====================  ==============================================================
key                    value
=====================  ==============================================================
gravity_directions     list of directions ``[x, y, z]`` of any length above 0
gravity                magnitude [m/s^2]; 0 = 9.81
external_wrenches      list of ``{force: [x, y, z], torque: [x, y, z]}`` [N, N m]
displacement           ``{position: [x, y, z], orientation: [x, y, z, w]}``
has_displacement       true or false; left out: whether there is a displacement
approach_direction     ``[x, y, z]`` of the palm; zero = any
approach_half_angle    [rad], of the cone about it
keep_out, obstacles    list of ``{type: box|sphere|cylinder, dimensions: […]}`` [m]
contact_region         the same; every contact must lie in one of them
…_poses                one ``{position, orientation}`` for each of them
reach                  any (default), prefer_fingers or fingers_only: by whom the
                       object is moved
pose_uncertainty       ``[way, angle]``, standard deviations of the object's pose [m, rad],
                       under which grasps are judged and ranked; left out: 2 mm and 2 degrees
frame                  object (default), world, or arm: the base of the arm
object_pose            ``{position, orientation}`` of the object in that frame; left
                       out for the arm of ``--arm``, before which it stands anyway
=====================  ==============================================================

The JSON of ``gripsim plan`` may stand for such a file: its task is that of the plan.

Vectors may also be written ``{x: 1, y: 0, z: 0}``, a displacement ``{translation,
rotation}``, and the type of a primitive by its number in ``shape_msgs/SolidPrimitive``.
Torques are about the object's origin, and a displacement turns the object about it, in any frame.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from ..core.batches import OBSTACLE_BOX, OBSTACLE_CYLINDER, OBSTACLE_SPHERE, OBSTACLE_WIDTH
from ..core.errors import GripsimError, TaskError
from ..core.planning.task import Task, task_in_object_frame
from ..core.transforms import from_pose, inverse, to_pose

Array = NDArray[np.float64]

KEYS = ('gravity_directions', 'gravity', 'external_wrenches', 'displacement',
        'has_displacement', 'approach_direction', 'approach_half_angle',
        'keep_out', 'keep_out_poses', 'obstacles', 'obstacle_poses',
        'contact_region', 'contact_region_poses', 'reach', 'pose_uncertainty',
        'frame', 'object_pose')

#: Keys of primitives, and of their poses.
PRIMITIVE_KEYS = (('keep_out', 'keep_out_poses'), ('obstacles', 'obstacle_poses'),
                  ('contact_region', 'contact_region_poses'))

#: Frames that a task may be given in; in the others the object's pose must be known.
FRAMES = ('object', 'world', 'arm')

#: Kind and dimensions of the primitives, as in ``shape_msgs/SolidPrimitive``.
PRIMITIVES = {'box': (OBSTACLE_BOX, 'three sides'), 'sphere': (OBSTACLE_SPHERE, 'radius'),
              'cylinder': (OBSTACLE_CYLINDER, 'height and radius')}
DIMENSIONS = {'box': 3, 'sphere': 1, 'cylinder': 2}


def load_task(path: Path, T_arm_object: Array | None = None) -> Task:
    """
    Read a task from a YAML file, or that of a plan from its JSON.

    Parameters
    ----------
    path : Path
    T_arm_object : (4, 4) float, optional
        As in ``task_from_mapping``.

    Raises
    ------
    TaskError
        The file is neither, a plan tells no task, or see ``task_from_mapping``.
    """
    read = json.loads if Path(path).suffix == '.json' else yaml.safe_load
    try:
        content = read(Path(path).read_text(encoding='utf-8'))
    except (yaml.YAMLError, ValueError, OSError) as error:
        raise TaskError(f'task {path}: {" ".join(str(error).split())}') from error
    if isinstance(content, Mapping) and 'grasps' in content:
        if content.get('task') is None:
            raise TaskError(f'task {path}: these grasps tell no task; name the file of the task')
        return task_of_grasps(content, path)
    return task_from_mapping({} if content is None else content, T_arm_object)


def task_of_grasps(content: Any, path: Path) -> Task:
    """Return the task of a file of grasps, the default where none is told; errors as above."""
    told = content.get('task') if isinstance(content, Mapping) else None
    try:
        return task_from_mapping({} if told is None else told)
    except TaskError as error:
        raise TaskError(f'grasps {path}: {error}') from None


def task_from_mapping(content: Any, T_arm_object: Array | None = None) -> Task:
    """
    Return the task of a mapping with the keys of this module's table, in the object's frame.

    Parameters
    ----------
    content : mapping
    T_arm_object : (4, 4) float, optional
        Pose of the object in the base of the arm that is to be used.

    Raises
    ------
    TaskError
        A key is unknown, or a value has the wrong form or range; the message names it.
    """
    if not isinstance(content, Mapping):
        raise TaskError(f'a task must be a mapping of keys, got {content!r:.60}')
    unknown = [str(key) for key in content if key not in KEYS]
    if unknown:
        raise TaskError(f'task: unknown key {", ".join(unknown)}; known: {", ".join(KEYS)}')
    given = {key: value for key, value in content.items() if value is not None}
    readers = {'gravity_directions': _directions, 'gravity': _number,
               'external_wrenches': _wrenches, 'approach_direction': _vector,
               'approach_half_angle': _number, 'reach': lambda value, _: value,
               'pose_uncertainty': lambda value, _: value}
    values = {key: read(given[key], f'task.{key}') for key, read in readers.items()
              if key in given}
    if _has_displacement(given):
        values['displacement_object'] = pose_from_mapping(
            given.get('displacement', {}), 'task.displacement')
    for key, poses in PRIMITIVE_KEYS:
        values[key] = _primitives(given.get(key, []), given.get(poses, []), key, poses)
    task = Task(**_without_zeros(values))
    T_frame_object = _object_pose(given, T_arm_object)
    return task if T_frame_object is None else task_in_object_frame(task, inverse(T_frame_object))


def task_to_mapping(task: Task) -> dict[str, Any]:
    """
    Return what ``task_from_mapping`` reads as this task, in the object's frame.

    Parameters
    ----------
    task : Task
        Without any gravity it cannot be told, since 0 stands for "left out".

    Returns
    -------
    dict
        Without what is left to its default; arrays are left as arrays.
    """
    told: dict[str, Any] = {'gravity': task.gravity}
    if len(task.gravity_directions):
        told['gravity_directions'] = task.gravity_directions
    if len(task.external_wrenches):
        told['external_wrenches'] = [{'force': row[:3], 'torque': row[3:]}
                                     for row in task.external_wrenches]
    if task.displacement_object is not None:
        told |= {'displacement': pose_to_mapping(task.displacement_object), 'reach': task.reach}
    if task.approach_direction is not None:
        told |= {'approach_direction': task.approach_direction,
                 'approach_half_angle': task.approach_half_angle}
    told['pose_uncertainty'] = task.pose_uncertainty
    for key, poses in PRIMITIVE_KEYS:
        if len(rows := getattr(task, key)):
            told |= {key: [_shape(row) for row in rows], poses: [_pose_of(row) for row in rows]}
    return told


def _shape(row: Array) -> dict[str, Any]:
    name = next(name for name, (kind, _) in PRIMITIVES.items() if kind == int(row[0]))
    return {'type': name, 'dimensions': row[1:1 + DIMENSIONS[name]]}


def _pose_of(row: Array) -> dict[str, Any]:
    return pose_to_mapping(np.vstack([row[4:].reshape(3, 4), [0.0, 0.0, 0.0, 1.0]]))


def _object_pose(given: Mapping[str, Any], T_arm_object: Array | None) -> Array | None:
    """Return the object's pose in the task's frame, None where that is the object's own."""
    frame, pose = given.get('frame', 'object'), given.get('object_pose')
    if frame not in FRAMES:
        raise TaskError(f'task.frame must be one of {", ".join(FRAMES)}, got {frame!r:.60}')
    if frame == 'object':
        if pose is not None:
            raise TaskError('task.object_pose is the pose in another frame: say which with '
                            'frame: world or arm')
        return None
    if frame == 'arm' and T_arm_object is not None:
        if pose is not None:
            raise TaskError('task.object_pose: where the object stands before the arm is said '
                            'already; leave it out')
        return T_arm_object
    if pose is None:
        raise TaskError(f'task.frame is {frame}: give the pose of the object in it as object_pose'
                        + (', or the arm' if frame == 'arm' else ''))
    return pose_from_mapping(pose, 'task.object_pose')


def _has_displacement(given: Mapping[str, Any]) -> bool:
    """Return whether a displacement is wanted: as it is said, else whether there is one."""
    said = given.get('has_displacement', 'displacement' in given)
    if not isinstance(said, bool):
        raise TaskError(f'task.has_displacement must be true or false, got {said!r:.60}')
    return said


def _without_zeros(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values without zeros that stand for "left out", as in ``Task.msg``."""
    given = {key: value for key, value in values.items()
             if key not in ('gravity', 'approach_direction') or np.any(value)}
    if np.size(given.get('pose_uncertainty', 0.0)) == 0:
        del given['pose_uncertainty']
    if 'approach_direction' not in given and given.get('approach_half_angle') == 0.0:
        del given['approach_half_angle']
    return given


def pose_to_mapping(T_a_b: Array) -> dict[str, Any]:
    """Return ``{position, orientation}`` of a transform."""
    position, orientation = to_pose(T_a_b)
    return {'position': position, 'orientation': orientation}


def pose_from_mapping(value: Any, what: str) -> Array:
    """
    Return the transform of ``{position, orientation}``; either may be left out.

    Raises
    ------
    TaskError
        The value has another form, is not finite, or the quaternion is not of norm 1.
    """
    if not isinstance(value, Mapping):
        raise TaskError(f'{what} must be {{position: [x, y, z], orientation: [x, y, z, w]}}, '
                        f'got {value!r:.60}')
    names = {'translation': 'position', 'rotation': 'orientation'}
    parts = {names.get(key, key): part for key, part in value.items()}
    unknown = [str(key) for key in parts if key not in ('position', 'orientation')]
    if unknown or len(parts) != len(value):
        raise TaskError(f'{what}: takes position and orientation once each, got {list(value)}')
    position = _vector(parts.get('position', (0.0, 0.0, 0.0)), f'{what}: position')
    orientation = _vector(parts.get('orientation', (0.0, 0.0, 0.0, 1.0)),
                          f'{what}: orientation', 'xyzw')
    try:
        return from_pose(position, orientation)
    except GripsimError as error:
        raise TaskError(f'{what}: {error}') from error


def _number(value: Any, what: str) -> float:
    if isinstance(value, str):      # YAML 1.1 reads 1e-3 as text
        try:
            value = float(value)
        except ValueError:
            pass
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not np.isfinite(value):
        raise TaskError(f'{what} must be a finite number, got {value!r:.60}')
    return float(value)


def _vector(value: Any, what: str, axes: str = 'xyz') -> Array:
    if isinstance(value, Mapping) and sorted(value) == sorted(axes):
        value = [value[axis] for axis in axes]
    if not isinstance(value, (list, tuple)) or len(value) != len(axes):
        raise TaskError(f'{what} must be {len(axes)} numbers [{", ".join(axes)}], '
                        f'got {value!r:.60}')
    return np.array([_number(item, what) for item in value])


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise TaskError(f'{what} must be a list, got {value!r:.60}')
    return value


def _directions(value: Any, what: str) -> Array:
    rows = [_vector(row, f'{what}[{i}]') for i, row in enumerate(_list(value, what))]
    return np.array(rows).reshape(-1, 3)


def _wrenches(value: Any, what: str) -> Array:
    rows = []
    for i, row in enumerate(_list(value, what)):
        if not isinstance(row, Mapping) or not set(row) <= {'force', 'torque'}:
            raise TaskError(f'{what}[{i}] must be {{force: [x, y, z], torque: [x, y, z]}}, '
                            f'got {row!r:.60}')
        rows.append(np.concatenate([_vector(row.get(part, [0.0, 0.0, 0.0]), f'{what}[{i}].{part}')
                                    for part in ('force', 'torque')]))
    return np.array(rows).reshape(-1, 6)


def _primitives(shapes: Any, poses: Any, shapes_key: str, poses_key: str) -> Array:
    shapes, poses = _list(shapes, f'task.{shapes_key}'), _list(poses, f'task.{poses_key}')
    if len(shapes) != len(poses):
        raise TaskError(f'task.{shapes_key} needs one pose for each shape in task.{poses_key}, '
                        f'got {len(shapes)} shapes and {len(poses)} poses')
    rows = [_primitive(shape, pose, f'task.{shapes_key}[{i}]', f'task.{poses_key}[{i}]')
            for i, (shape, pose) in enumerate(zip(shapes, poses))]
    return np.array(rows).reshape(-1, OBSTACLE_WIDTH)


def _primitive(shape: Any, pose: Any, what: str, what_pose: str) -> Array:
    if not isinstance(shape, Mapping) or set(shape) != {'type', 'dimensions'}:
        raise TaskError(f'{what} must be {{type, dimensions}}, got {shape!r:.60}')
    by_number = {kind: name for name, (kind, _) in PRIMITIVES.items()}
    name = by_number.get(shape['type'], shape['type']) if not isinstance(
        shape['type'], (list, Mapping)) else None
    if name not in PRIMITIVES:
        raise TaskError(f'{what}.type must be one of {", ".join(PRIMITIVES)}, '
                        f'got {shape["type"]!r:.60}')
    dimensions = [_number(item, f'{what}.dimensions')
                  for item in _list(shape['dimensions'], f'{what}.dimensions')]
    if len(dimensions) != DIMENSIONS[name] or min(dimensions) <= 0.0:
        raise TaskError(f'{what}.dimensions of a {name} must be its {PRIMITIVES[name][1]} '
                        f'above 0 m, got {dimensions}')
    T_object_shape = pose_from_mapping(pose, what_pose)
    row = np.zeros(OBSTACLE_WIDTH)
    row[0] = PRIMITIVES[name][0]
    row[1:1 + len(dimensions)] = dimensions
    row[4:] = T_object_shape[:3].ravel()
    return row
