"""The arm that a plan was made with: where it stands, how its file tells it, how it is drawn."""

from collections.abc import Mapping
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
from ..core.errors import ArmError
from ..core.planning.ranked_grasp import RankedGrasp
from ..core.transforms import inverse
from .resources import lasting_name, resolve_uri
from .task_file import pose_from_mapping, pose_to_mapping
from .whole_motion import ArmWay, Moment, whole_motion

Array = NDArray[np.float64]

#: Most faces of a part of the arm where it is drawn.
PART_FACES = 120


@dataclass(frozen=True, eq=False)
class PlannedArm:
    """
    An arm, the object's first place before it, and the file that it comes from.

    ``T_base_object (4, 4)``; ``file`` is what the user named.
    """

    arm: ArmModel
    T_base_object: Array
    file: str

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

    def to_mapping(self) -> dict[str, Any]:
        """Return what ``gripsim plan --arm`` writes of the arm; arrays are left as arrays."""
        return {'name': self.arm.name, 'file': lasting_name(self.file),
                'object_pose': pose_to_mapping(self.T_base_object)}


def part_meshes(arm: ArmModel) -> tuple[TriangleMesh, ...]:
    """Return an arm's convex parts, at most ``PART_FACES`` faces each, in their own frames."""
    return tuple(decimate_hull(_mesh(part), PART_FACES) for part in arm.parts)


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
    file = next((place for place in (Path(named), path.parent / Path(named).name)
                 if place.is_file()), None)
    if file is None:
        raise ArmError(f'{path} was planned with the arm of {named}, which is neither there nor '
                       'beside it; --arm and --object-pose name it where it is elsewhere')
    return PlannedArm(load_arm(file, resolve_uri), pose_from_mapping(pose, f'{path}: object_pose'),
                      named)


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


def _mesh(part: ConvexPart) -> TriangleMesh:
    """Return a part's polygons as fans of triangles."""
    faces = [(polygon[0], polygon[k], polygon[k + 1]) for polygon in part.polygons
             for k in range(1, len(polygon) - 1)]
    return TriangleMesh(part.vertices, np.array(faces))
