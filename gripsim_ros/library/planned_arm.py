"""The arm that a plan was made with: where it stands, how its file tells it, how it is drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from ..core.arm import ArmModel, OtherArm, load_arm
from ..core.bodies import TriangleMesh, decimate_hull
from ..core.contact.backends.convex.decomposition import ConvexPart
from ..core.errors import ArmError, TaskError
from ..core.planning.ranked_grasp import RankedGrasp
from ..core.transforms import inverse
from .resources import lasting_name, resolve_uri
from .task_file import pose_from_mapping, pose_to_mapping
from .whole_motion import ArmWay, Moment, whole_motion

Array = NDArray[np.float64]

#: Frames in which it may be said where object and arm stand to each other.
POSE_FRAMES = ARM_FRAME, WORLD_FRAME, OBJECT_FRAME = 'arm', 'world', 'object'
#: Most faces of a part of the arm where it is drawn.
PART_FACES = 120


@dataclass(frozen=True, eq=False)
class PlannedArm:
    """
    An arm, the object's first place before it, and the file that it comes from.

    ``T_base_object (4, 4)``; ``file`` is what the user named; ``others`` stand or move beside it,
    by the file ``others_file``, '' without any.
    """

    arm: ArmModel
    T_base_object: Array
    file: str
    others: tuple[OtherArm, ...] = ()
    others_file: str = ''

    @cached_property
    def meshes(self) -> tuple[TriangleMesh, ...]:
        """Return the convex parts, at most ``PART_FACES`` faces each, in their own frames."""
        return part_meshes(self.arm)

    def palm_pose(self, joints: Array) -> Array:
        """Return ``T_object_palm (4, 4)`` in the object's first frame, for joints (A,) [rad]."""
        return inverse(self.T_base_object) @ self.arm.palm_pose(joints)

    def part_poses(self, joints: Array) -> Array:
        """Return ``T_object_part (p, 4, 4)``, likewise."""
        return inverse(self.T_base_object) @ self.arm.poses(joints)[self.arm.part_frames]

    def parts_at(self, moment: Moment) -> list[tuple[TriangleMesh, Array]]:
        """Return the parts with their poses ``(4, 4)`` at a moment; none where it has no arm."""
        return [] if moment.arm_joints is None else list(
            zip(self.meshes, self.part_poses(moment.arm_joints)))

    @cached_property
    def other_parts(self) -> tuple[tuple[TriangleMesh, Array], ...]:
        """Return the parts of the other arms with their poses, at each row of their ways."""
        T_object_base = inverse(self.T_base_object)
        return tuple((mesh, T_object_base @ pose) for mesh, pose in parts_of_others(self.others))

    def to_mapping(self) -> dict[str, Any]:
        """Return what ``gripsim plan --arm`` writes of the arm; arrays are left as arrays."""
        others = {'other_arms': lasting_name(self.others_file)} if self.others else {}
        return {'name': self.arm.name, 'file': lasting_name(self.file), **others,
                'object_pose': pose_to_mapping(self.T_base_object)}


def parts_of_others(others: Sequence[OtherArm]) -> list[tuple[TriangleMesh, Array]]:
    """Return the parts of other arms with their poses (4, 4) in the base of the planned one."""
    found = []
    for other in others:
        meshes = part_meshes(other.arm)
        for joints in other.way:
            poses = other.T_base_other @ other.arm.poses(joints)[other.arm.part_frames]
            found += list(zip(meshes, poses))
    return found


def part_meshes(arm: ArmModel) -> tuple[TriangleMesh, ...]:
    """Return an arm's convex parts, at most ``PART_FACES`` faces each, in their own frames."""
    return tuple(decimate_hull(mesh_of_part(part), PART_FACES) for part in arm.parts)


def arm_of_grasps(content: Any, path: Path) -> PlannedArm | None:
    """
    Return the arm that the grasps of a file were planned with, None where they tell none.

    Parameters
    ----------
    content : Any
        Of the file: ``arm`` is read.
    path : Path
        Of the file: an arm that is not where it says is looked for beside it.

    Raises
    ------
    ArmError
        The arm cannot be found or used.
    """
    told = content.get('arm') if isinstance(content, Mapping) else None
    if told is None:
        return None
    try:
        named, pose = str(told['file']), told['object_pose']
    except (KeyError, TypeError) as error:
        raise ArmError(f'{path}: arm is not as plan writes it; wrong at {error}') from error
    file = _found(named, path)
    if file is None:
        raise ArmError(f'{path} was planned with the arm of {named}, which is neither there nor '
                       'beside it; --arm and --object-pose name it where it is elsewhere')
    others_named = str(told.get('other_arms') or '')
    others = _found(others_named, path) if others_named else None
    if others_named and others is None:
        raise ArmError(f'{path} was planned with the other arms of {others_named}, which is '
                       'neither there nor beside it')
    return PlannedArm(load_arm(file, resolve_uri), pose_from_mapping(pose, f'{path}: object_pose'),
                      str(file), load_other_arms(others) if others else (), str(others or ''))


def _found(named: str, path: Path) -> Path | None:
    """Return a file where it was, or beside the one that names it; None if it is gone."""
    return next((place for place in (Path(named), path.parent / Path(named).name)
                 if place.is_file()), None)


def object_before_arm(content: Any, what: str) -> Array:
    """
    Return ``T_base_object (4, 4)``, the object before an arm, given in one of three frames.

    Parameters
    ----------
    content : mapping
        ``{position, orientation}`` of the object in the arm's base; with ``frame: world`` that in
        the world, and ``arm_pose`` of the arm's base there; with ``frame: object`` ``arm_pose``
        alone, of the arm's base in the object's frame.
    what : str
        Names it in errors.

    Raises
    ------
    TaskError
        It is none of these.
    """
    told = dict(content) if isinstance(content, Mapping) else content
    frame = told.pop('frame', ARM_FRAME) if isinstance(told, dict) else ARM_FRAME
    if frame not in POSE_FRAMES:
        raise TaskError(f'{what}: frame must be one of {", ".join(POSE_FRAMES)}, got '
                        f'{frame!r:.60}')
    if frame == ARM_FRAME:
        return pose_from_mapping(told, what)
    if 'arm_pose' not in told:
        raise TaskError(f'{what}: frame is {frame}: give the pose of the arm\'s base in it as '
                        'arm_pose')
    T_base_frame = inverse(pose_from_mapping(told.pop('arm_pose'), f'{what}: arm_pose'))
    if frame == OBJECT_FRAME and told:
        raise TaskError(f'{what}: frame is object: arm_pose alone says where the arm stands, got '
                        f'{", ".join(map(str, told))} too')
    return T_base_frame if frame == OBJECT_FRAME else T_base_frame @ pose_from_mapping(told, what)


def load_other_arms(path: Path) -> tuple[OtherArm, ...]:
    """
    Return the arms of a file that stand or move beside the one that is planned for.

    Parameters
    ----------
    path : Path
        YAML, a list of ``{arm, pose, joints}``: the arm's file (taken relative to this one), its
        base before that of the planned arm, and one row of joints or more.

    Raises
    ------
    ArmError
        The file cannot be read, or one of them cannot be used.
    """
    try:
        told = yaml.safe_load(path.read_text(encoding='utf-8'))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ArmError(f'other arms {path}: {" ".join(str(error).split())}') from None
    if not isinstance(told, list):
        raise ArmError(f'other arms {path}: needs a list of {{arm, pose, joints}}, '
                       f'got {told!r:.60}')
    return tuple(_other_arm(entry, f'other arms {path}: arm {number}', path)
                 for number, entry in enumerate(told, 1))


def _other_arm(told: Any, what: str, path: Path) -> OtherArm:
    try:
        arm = load_arm(path.parent / str(told['arm']), resolve_uri)
        return OtherArm(arm, pose_from_mapping(told['pose'], what),
                        np.atleast_2d(np.asarray(told['joints'], float)))
    except ArmError as error:
        raise ArmError(f'{what}: {error}') from None
    except (KeyError, TypeError, ValueError) as error:
        raise ArmError(f'{what} must be {{arm, pose, joints}}; wrong at {error}') from None


def motion_of(grasp: RankedGrasp, arm: PlannedArm | None) -> tuple[Moment, ...]:
    """
    Return the moments of a grasp as its arm brings it; without one, those of ``whole_motion``.

    Parameters
    ----------
    grasp : RankedGrasp
        With pre-grasp and, if it is carried, ``reach``.
    arm : PlannedArm or None
        The one of ``arm_motion``.

    Returns
    -------
    tuple of Moment
        As ``whole_motion`` has them.
    """
    motion = grasp.arm_motion
    if arm is None or motion is None or not len(motion.joints) or motion.failed_step >= 0:
        return whole_motion(grasp)
    palms = np.array([arm.palm_pose(row) for row in motion.joints])
    return whole_motion(grasp, ArmWay(motion.joint_names, motion.joints, motion.phases, palms))


def mesh_of_part(part: ConvexPart) -> TriangleMesh:
    """Return a part's polygons as fans of triangles."""
    faces = [(polygon[0], polygon[k], polygon[k + 1]) for polygon in part.polygons
             for k in range(1, len(polygon) - 1)]
    return TriangleMesh(part.vertices, np.array(faces))
