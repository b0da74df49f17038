"""
Grasps as JSON: what ``gripsim plan`` writes and ``gripsim evaluate`` reads.

Metres, newtons, pascals, radians; poses of the hand's base link in the mesh's own
scaled frame; quaternions x y z w.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.arm import ArmMotion
from ..core.arm.motion import APPROACH, PHASES, START
from ..core.bodies import GraspObject, Material
from ..core.bodies.material import NUMBERS
from ..core.errors import GripsimError, HandError, ShapeError
from ..core.fields import declared
from ..core.hand import HandModel
from ..core.planning.ranked_grasp import (
    OWN, ClosingMotion, GraspContact, ManipulationResult, ManipulationStep, NearestMiss,
    RankedGrasp)
from ..core.planning.task import Task
from ..core.transforms import from_pose
from .planned_arm import PlannedArm
from .planned_object import Completion
from .resources import lasting_name, own_hand_file
from .task_file import pose_from_mapping, pose_to_mapping, task_to_mapping

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GivenGrasp:
    """A grasp that came from elsewhere: palm pose and closing trajectory ``(m, J)`` [rad]."""

    T_object_palm: Array
    trajectory: Array


@dataclass(frozen=True, eq=False)
class PlanAnswer:
    """
    Ranked grasps of one object with reasons and numbers; planned here or by the nodes.

    ``mesh_name`` and ``scale`` are as the user gave them; ``statistics`` holds at least
    ``evaluated``, ``total``, ``planning_time`` [s] and ``repairs``. Without a grasp
    ``nearest_miss`` and ``hint`` say what was lacking. ``completion`` is how the object's points
    were closed, None of a mesh; ``arm`` the one that chose among the grasps, if known; ``task``
    what they were planned or judged for, if known.
    """

    hand: HandModel
    grasp_object: GraspObject
    mesh_name: str
    scale: float
    grasps: Sequence[RankedGrasp]
    rejected: Mapping[str, int]
    statistics: Mapping[str, Any]
    nearest_miss: NearestMiss | None = None
    hint: str = ''
    completion: Completion | None = None
    arm: PlannedArm | None = None
    task: Task | None = None

    @property
    def explanation(self) -> list[str]:
        """Return the hint and the nearest miss, a line each; nothing where there is a grasp."""
        miss, lines = self.nearest_miss, [f'Hint: {self.hint}'] if self.hint else []
        if miss is not None:
            lines.append(f'Nearest miss: hypothesis {miss.hypothesis}, {miss.preshape}, '
                         f'{len(miss.links)} links in contact: {miss.reason}')
        return lines

    def to_mapping(self) -> dict[str, Any]:
        """Return what ``gripsim plan`` writes as JSON; arrays are left as arrays."""
        mass, hand = self.grasp_object.mass_properties, self.hand
        return {
            'object': {'mesh': lasting_name(self.mesh_name), 'scale': self.scale,
                       'mass': mass.mass, 'centre_of_mass': mass.centre_of_mass,
                       'volume': mass.volume,
                       'material': material_to_mapping(self.grasp_object.material),
                       **({} if self.completion is None else {
                           'completion': self.completion.to_mapping()})},
            'hand': {'name': hand.name, 'base_link': hand.base_link,
                     'joint_names': list(hand.joint_names), 'id': hand.id,
                     'file': own_hand_file(hand)},
            **({} if self.arm is None else {'arm': self.arm.to_mapping()}),
            **({} if self.task is None else {'task': task_to_mapping(self.task)}),
            'grasps': [grasp_to_mapping(grasp, hand.joint_names) for grasp in self.grasps],
            'rejected': dict(self.rejected), 'statistics': dict(self.statistics),
            'nearest_miss': None if self.nearest_miss is None else miss_to_mapping(
                self.nearest_miss, hand.joint_names), 'hint': self.hint}


def material_to_mapping(material: Material) -> dict[str, Any]:
    """Return a material with the keys of a material file; where there is no limit, null."""
    return {name: getattr(material, name) for name in ('name', *NUMBERS)}


def grasp_to_mapping(grasp: RankedGrasp, joint_names: Sequence[str]) -> dict[str, Any]:
    """
    Return a grasp as the mapping that ``gripsim plan`` writes.

    Parameters
    ----------
    grasp : RankedGrasp
    joint_names : sequence of str
        The hand's actuated joints, in the order of the grasp's arrays.

    Returns
    -------
    dict
        Arrays are left as arrays.
    """
    return {
        'rank': grasp.rank, 'stable': grasp.stable,
        'hand_pose': pose_to_mapping(grasp.T_object_palm),
        'pregrasp_pose': pose_to_mapping(grasp.T_object_pregrasp),
        'joint_trajectory': {'joint_names': list(joint_names), 'points': grasp.trajectory},
        'grip': {'joint_positions': grasp.grip_positions, 'joint_efforts': grasp.grip_efforts},
        'contacts': [_contact(contact) for contact in grasp.contacts],
        'quality': {
            'score': grasp.score, 'margin': grasp.margin, 'quantitative': grasp.quantitative,
            'terms': {term.name: {'value': term.value, 'unit': term.unit, 'weight': term.weight,
                                  'normalised': term.normalised,
                                  'contribution': term.contribution} for term in grasp.terms},
            'limiting_load': None if grasp.limiting_load is None else {
                'force': grasp.limiting_load[:3], 'torque': grasp.limiting_load[3:]},
            **_numbers(grasp, 'quality'),
            'damage_margin': grasp.damage_margin,
            'robustness': None if grasp.robustness is None else vars(grasp.robustness)},
        'deformation': {
            'max': grasp.max_displacement, 'centre_of_mass': grasp.centre_of_mass,
            'centre_in_hand': grasp.centre_in_hand,
            'peak_pressure': max((c.peak_pressure for c in grasp.contacts), default=0.0),
            **_numbers(grasp, 'deformation')},
        'settled': {'object_pose': pose_to_mapping(grasp.T_object_settled),
                    **_numbers(grasp, 'settled')},
        'closing_motion': None if grasp.closing_motion is None else _closing(
            grasp.closing_motion),
        'reach': None if grasp.reach is None else _reach(grasp.reach),
        'arm': None if grasp.arm_motion is None else _arm(grasp.arm_motion),
        'elasticity': grasp.elasticity,
        **({} if grasp.method == OWN else {'method': grasp.method}),
        'hypothesis': grasp.hypothesis, 'preshape': grasp.preshape,
        'warnings': list(grasp.warnings), **({'reason': grasp.reason} if grasp.reason else {}),
        **({} if grasp.closing is None else {'closing': vars(grasp.closing)})}


def _numbers(grasp: RankedGrasp, part: str) -> dict[str, float]:
    """Return the numbers of a grasp that belong to a part of its mapping."""
    return {number.name: getattr(grasp, number.name) for number in declared(RankedGrasp)
            if number.metadata['grasp'] == part}


def _closing(motion: ClosingMotion) -> dict[str, Any]:
    return {'object_pose': pose_to_mapping(motion.T_object_moved), 'way': motion.way,
            'turn': motion.turn, 'lost_time': motion.lost_time, 'rests': motion.rests,
            'stays': motion.stays, 'bears': motion.bears}


def _arm(motion: ArmMotion) -> dict[str, Any]:
    return {'joint_names': list(motion.joint_names), 'points': motion.joints,
            'phases': list(motion.phases), 'path_length': motion.length,
            'pregrasp_length': motion.pregrasp_length}


def _reach(reach: ManipulationResult) -> dict[str, Any]:
    return {'level': reach.level, 'message': reach.message, 'failed_step': reach.failed_step,
            'residual': reach.residual, 'slip_share': reach.slip_share,
            'shares': reach.shares, 'joint_positions': reach.joints,
            'hand_poses': [pose_to_mapping(T) for T in reach.T_object_palm],
            'steps': [_step(step) for step in reach.steps]}


def _step(step: ManipulationStep) -> dict[str, Any]:
    return {'object_pose': pose_to_mapping(step.T_object_moved), 'links': list(step.links),
            **{name: getattr(step, name) for name in (
                'points', 'normals', 'forces', 'minimal_forces', 'joint_efforts',
                'centre_of_mass', 'margin', 'slip_share', 'by_arm', 'normal_force',
                'minimal_normal_force')}}


def miss_to_mapping(miss: NearestMiss, joint_names: Sequence[str]) -> dict[str, Any]:
    """Return the nearest miss as ``gripsim plan`` writes it; arrays are left as arrays."""
    names = ('reason', 'hypothesis', 'preshape', 'capable', 'margin', 'friction',
             'needed_friction', 'needed_force', 'allowed_force', 'held_share', 'peak_pressure',
             'max_pressure')
    return {**{name: getattr(miss, name) for name in names}, 'links': list(miss.links),
            'hand_pose': pose_to_mapping(miss.T_object_palm),
            'joint_names': list(joint_names), 'joint_positions': miss.joint_positions,
            'contacts': [_contact(contact) for contact in miss.contacts]}


def _contact(contact: GraspContact) -> dict[str, Any]:
    return {field.name: getattr(contact, field.name) for field in fields(contact)}


def load_grasps(path: Path, joint_names: Sequence[str]) -> list[GivenGrasp]:
    """
    Read the grasps of a file written by ``gripsim plan``, or by another program.

    Only ``hand_pose`` and ``joint_trajectory`` of each grasp are read; joints are taken by
    name, in any order, and a file without names must have them in the hand's order.

    Raises
    ------
    ShapeError, HandError
        The file is not JSON or a grasp cannot be read; the message says which.
    """
    _, grasps = read_grasps(path)
    return [given_grasp(grasp, joint_names, f'grasps {path}: grasp {number}')
            for number, grasp in enumerate(grasps, 1)]


def read_grasps(path: Path) -> tuple[Any, list[Any]]:
    """Return a file's content and its list of grasps, unread; errors as ``load_grasps``."""
    try:
        content = json.loads(Path(path).read_text(encoding='utf-8'))
    except (json.JSONDecodeError, UnicodeDecodeError, OSError) as error:
        raise ShapeError(f'grasps {path}: {" ".join(str(error).split())}') from error
    grasps = content.get('grasps') if isinstance(content, Mapping) else content
    if not isinstance(grasps, list):
        raise ShapeError(f'grasps {path}: needs a list of grasps under the key "grasps"')
    return content, grasps


def elasticity_of(grasps: Sequence[Any]) -> str | None:
    """Return the model of the object that all grasps of a file name, None where there is none."""
    told = {grasp.get('elasticity') if isinstance(grasp, Mapping) else None for grasp in grasps}
    return told.pop() if len(told) == 1 and told <= {'half_space', 'body'} else None


def given_reach(grasp: Mapping[str, Any], order: Sequence[int], what: str
                ) -> ManipulationResult | None:
    """Return the way of the object of one grasp, None without one; joints in this order."""
    told = grasp.get('reach')
    if told is None:
        return None
    try:
        joints = np.asarray(told['joint_positions'], float)[:, list(order)]
        steps = tuple(_given_step(step, order) for step in told['steps'])
        palms = np.array([pose_from_mapping(pose, what) for pose in told['hand_poses']])
        return ManipulationResult(
            str(told['level']), _finite(told['residual']), _finite(told['slip_share']), joints,
            palms, np.asarray(told['shares'], float), int(told['failed_step']),
            str(told['message']), steps)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise ShapeError(f'{what}: reach is not as plan writes it; wrong at {error}') from error


def given_arm(grasp: Mapping[str, Any], what: str) -> ArmMotion | None:
    """Return the arm's motion of one grasp, None without one."""
    told = grasp.get('arm')
    if told is None:
        return None
    try:
        names, joints = tuple(told['joint_names']), np.asarray(told['points'], float)
        if joints.ndim != 2 or joints.shape[1] != len(names) or not np.isfinite(joints).all():
            raise ValueError(f'points must be rows of {len(names)} finite joints')
        phases = tuple(told['phases'])
        if len(phases) != len(joints) or not {START, APPROACH} <= set(phases) <= set(PHASES):
            raise ValueError(f'phases must be one of {", ".join(PHASES)} a row, the first two '
                             'among them')
        return ArmMotion(joints, phases, float(told['path_length']), -1, '', names)
    except (KeyError, TypeError, ValueError) as error:
        raise ShapeError(f'{what}: arm is not as plan writes it; wrong at {error}') from error


def given_pregrasp(grasp: Mapping[str, Any], what: str) -> Array:
    """Return the pre-grasp pose of one grasp, its hand pose where it has none."""
    return pose_from_mapping(grasp.get('pregrasp_pose', grasp['hand_pose']), what)


def _finite(value: Any) -> float:
    """Return a number of a file, where null stands for one without end."""
    return float('inf') if value is None else float(value)


def _given_step(step: Mapping[str, Any], order: Sequence[int]) -> ManipulationStep:
    vectors = {name: np.asarray(step[name], float).reshape(-1, 3) for name in (
        'points', 'normals', 'forces', 'minimal_forces')}
    return ManipulationStep(
        pose_from_mapping(step['object_pose'], 'object_pose'), tuple(step['links']), **vectors,
        joint_efforts=np.asarray(step['joint_efforts'], float)[list(order)],
        centre_of_mass=np.asarray(step['centre_of_mass'], float), margin=float(step['margin']),
        slip_share=_finite(step['slip_share']), by_arm=bool(step['by_arm']))


def given_grasp(grasp: Any, joint_names: Sequence[str], what: str) -> GivenGrasp:
    """Return pose and trajectory of one grasp; ``what`` names it in errors."""
    try:
        pose, trajectory = grasp['hand_pose'], grasp['joint_trajectory']
        T_object_palm = from_pose(np.asarray(pose['position'], float),
                                  np.asarray(pose['orientation'], float))
        points = np.asarray(trajectory['points'], float)
        names = list(trajectory.get('joint_names', joint_names))
    except (KeyError, TypeError, AttributeError) as error:
        raise ShapeError(f'{what}: needs hand_pose {{position, orientation}} and joint_trajectory '
                         f'{{joint_names, points}}; wrong at {error}') from error
    except GripsimError as error:
        raise type(error)(f'{what}: {error}') from error
    except ValueError as error:
        raise ShapeError(f'{what}: {error}') from error
    if sorted(names) != sorted(joint_names):
        raise HandError(f'{what}: joints {names}, but the hand has {list(joint_names)}')
    if points.ndim != 2 or points.shape[1] != len(names) or not len(points):
        raise ShapeError(f'{what}: points must be rows of {len(names)} angles, '
                         f'got shape {points.shape}')
    if not np.isfinite(points).all():
        raise ShapeError(f'{what}: points must be finite')
    return GivenGrasp(T_object_palm, points[:, [names.index(name) for name in joint_names]])
