"""The arm that a plan was made with: where it stands, how its file tells it, how it is drawn."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from ..core.arm import ArmModel, ArmMotion, OtherArm, load_arm
from ..core.arm import motion as arm_phases
from ..core.bodies import TriangleMesh, decimate_hull
from ..core.contact.backends.convex.decomposition import ConvexPart
from ..core.errors import ArmError
from ..core.planning.ranked_grasp import ManipulationStep, RankedGrasp
from ..core.transforms import apply, inverse
from .resources import lasting_name, resolve_uri
from .task_file import pose_from_mapping, pose_to_mapping
from .whole_motion import (
    APPROACH, CLOSING, LIFTING, OPENING, REACHING, RETREAT, SETTING_DOWN, WAY, Moment, has_steps,
    opening, spread, whole_motion)

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
        return tuple(decimate_hull(_mesh(part), PART_FACES) for part in self.arm.parts)

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
        In order, to be shown one after the other; at most ``4 FEW + 5 MOST``. Without a
        displacement an arm's motion ends with the lift.
    """
    motion = grasp.arm_motion
    if arm is None or motion is None or not len(motion.joints) or motion.failed_step >= 0:
        return whole_motion(grasp)
    return tuple(_with_arm(grasp, motion, arm))


def _with_arm(grasp: RankedGrasp, motion: ArmMotion, arm: PlannedArm) -> Iterator[Moment]:
    """Yield the moments along the rows of the arm's motion, the hand at rest or as planned."""
    opened, closed = grasp.trajectory[0], grasp.trajectory[-1]
    rows = {phase: motion.joints[[told == phase for told in motion.phases]]
            for phase in arm_phases.PHASES}

    def moment(phase: str, joints: Array, T_hold_object: Array | None, arm_joints: Array,
               T_object_moved: Array = np.eye(4)) -> Moment:
        palm = arm.palm_pose(arm_joints)
        moved = T_object_moved if T_hold_object is None else palm @ T_hold_object
        return Moment(phase, joints, palm, moved, None, arm_joints)

    for phase, name in ((REACHING, arm_phases.START), (APPROACH, arm_phases.APPROACH)):
        for i in spread(len(rows[name])):
            yield moment(phase, opened, None, rows[name][i])
    for i in spread(len(grasp.trajectory)):
        yield moment(CLOSING, grasp.trajectory[i], None, rows[arm_phases.APPROACH][-1])
    in_hand = inverse(grasp.T_object_palm)
    for i in spread(len(rows[arm_phases.LIFT])):
        yield moment(LIFTING, closed, in_hand, rows[arm_phases.LIFT][i])
    way = rows[arm_phases.CARRY]
    last = None
    for i in spread(len(way)):
        last = _carried(grasp, moment(WAY, closed, in_hand, way[i]), i, len(way))
        yield last
    if last is None:
        return
    in_hand = inverse(last.T_object_palm) @ last.T_object_moved
    for i in spread(len(rows[arm_phases.LOWER])):
        last = moment(SETTING_DOWN, last.joints, in_hand, rows[arm_phases.LOWER][i])
        yield last
    for joints in opening(last.joints, opened):
        yield replace(last, phase=OPENING, joints=joints, step=None)
    for i in spread(len(rows[arm_phases.RETREAT])):
        yield moment(RETREAT, opened, None, rows[arm_phases.RETREAT][i], last.T_object_moved)


def _carried(grasp: RankedGrasp, held: Moment, row: int, count: int) -> Moment:
    """Return a moment of carrying as ``reach`` tells it, where the arm has the palm."""
    reach = grasp.reach
    if reach is None or len(reach.joints) != count:
        return held
    if not has_steps(reach):
        return replace(held, joints=reach.joints[row])
    T_lift = held.T_object_palm @ inverse(reach.T_object_palm[row])
    step = _displaced(reach.steps[row], T_lift)
    return replace(held, joints=reach.joints[row], T_object_moved=step.T_object_moved, step=step)


def _displaced(step: ManipulationStep, T: Array) -> ManipulationStep:
    """Return a step whose way begins elsewhere: all of it moved by ``T`` (4, 4)."""
    turned = {name: getattr(step, name) @ T[:3, :3].T
              for name in ('normals', 'forces', 'minimal_forces')}
    return replace(step, T_object_moved=T @ step.T_object_moved, points=apply(T, step.points),
                   centre_of_mass=apply(T, step.centre_of_mass[None])[0], **turned)


def _mesh(part: ConvexPart) -> TriangleMesh:
    """Return a part's polygons as fans of triangles."""
    faces = [(polygon[0], polygon[k], polygon[k + 1]) for polygon in part.polygons
             for k in range(1, len(polygon) - 1)]
    return TriangleMesh(part.vertices, np.array(faces))
