"""Grasps for MoveIt, held against the definitions of its messages."""

import importlib
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
import yaml

pytest.importorskip('rclpy')

from geometry_msgs.msg import Pose, PoseStamped, Quaternion, Vector3Stamped  # noqa: E402
from gripsim_interfaces.srv import PlanGrasp  # noqa: E402
from shape_msgs.msg import SolidPrimitive  # noqa: E402
from std_msgs.msg import Header  # noqa: E402
from trajectory_msgs.msg import JointTrajectory  # noqa: E402

from gripsim_ros.core.bodies import repair_mesh, shapes  # noqa: E402
from gripsim_ros.core.bodies.mass import mass_properties  # noqa: E402
from gripsim_ros.core.errors import GripsimError  # noqa: E402
from gripsim_ros.core.transforms import from_rotation_vector, inverse, transform  # noqa: E402
from gripsim_ros.ros import conversions  # noqa: E402
from gripsim_ros.ros.conversions.moveit import (  # noqa: E402
    MoveItSettings, answer_to_moveit, request_from_moveit)
from gripsim_ros.ros.nodes.base.parameters import ParameterError  # noqa: E402
from gripsim_ros.ros.nodes.planner.moveit_service import moveit_settings  # noqa: E402
from plan_cases import made_up_grasp  # noqa: E402

DATA = Path(__file__).resolve().parents[2] / 'data'
TABLE = yaml.safe_load((DATA / 'moveit_msgs.yaml').read_text())
ROUND_OFF = 1e-9
T_WRIST_PALM = from_rotation_vector(np.array([0.01, -0.02, 0.1, 0.3, 0.2, -0.5]))
SETTINGS = MoveItSettings('wrist_3_link', T_WRIST_PALM, 0.12, '')


def default_of(kind):
    """Return the default of a field and the types that may be put there."""
    if kind.startswith('sequence'):
        return [], (list,)
    plain = {'string': ('', str), 'double': (0.0, float), 'float': (0.0, float),
             'int32': (0, int), 'octet': (b'\x00', bytes)}
    if kind in plain:
        return plain[kind][0], (plain[kind][1],)
    package, name = kind.split('/')
    if package == 'moveit_msgs':
        cls = message(name)
    elif package == 'object_recognition_msgs':
        return None, (object,)
    else:
        cls = getattr(importlib.import_module(f'{package}.msg'), name)
    return cls(), (cls,)


@lru_cache(maxsize=None)
def message(name):
    """Return a class with exactly the fields of a definition, each of its type."""
    fields = TABLE[name]

    def init(self, **values):
        for field, kind in fields.items():
            setattr(self, field, values.pop(field, default_of(kind)[0]))
        assert not values, f'{name} has no field {sorted(values)}'

    def put(self, field, value):
        assert field in fields, f'{name} has no field {field}'
        assert isinstance(value, default_of(fields[field])[1]), (field, value)
        object.__setattr__(self, field, value)

    constants = TABLE['constants'] if name == 'MoveItErrorCodes' else {}
    return type(name, (), {'__init__': init, '__setattr__': put, **constants})


def target(**fields):
    """Return a request for a box of 6 x 4 x 10 cm."""
    box = SolidPrimitive(type=SolidPrimitive.BOX, dimensions=[0.06, 0.04, 0.1])
    values = {'id': 'parcel', 'header': Header(frame_id='table'), 'primitives': [box],
              'primitive_poses': [Pose(orientation=Quaternion(w=1.0))], **fields}
    return message('CollisionObject')(**values)


def request(**fields):
    """Return MoveIt's request for a target."""
    return message('GraspPlanning.Request')(**{'target': target(), **fields})


def answer(count=2, status=PlanGrasp.Response.SUCCEEDED):
    """Return the planner's answer with made-up grasps in the frame of the table."""
    names = tuple(f'joint_{i}' for i in range(7))
    frame = conversions.GraspFrame(Header(frame_id='table'), np.eye(4), names, np.full(7, 1.0))
    return PlanGrasp.Response(status=status, grasps=[
        conversions.grasp_to_msg(made_up_grasp(rank + 1), frame) for rank in range(count)])


def to_moveit(given, **fields):
    """Return MoveIt's answer."""
    return answer_to_moveit(given, request(**fields), message('GraspPlanning.Response')(),
                            message('Grasp'), message('GripperTranslation'), SETTINGS)


def test_every_field_of_a_grasp_is_filled():
    given = answer()
    filled = to_moveit(given, support_surfaces=['table'])
    assert filled.error_code.val == 1 and len(filled.grasps) == 2
    grasp, told = filled.grasps[0], given.grasps[0]
    assert isinstance(grasp.grasp_pose, PoseStamped)
    assert grasp.grasp_pose.header.frame_id == 'table'
    T_table_wrist = conversions.pose_from_msg(grasp.grasp_pose.pose)
    assert T_table_wrist @ T_WRIST_PALM == pytest.approx(
        conversions.pose_from_msg(told.hand_pose), abs=ROUND_OFF)
    assert isinstance(grasp.pre_grasp_posture, JointTrajectory)
    assert list(grasp.pre_grasp_posture.points[0].positions) == list(
        told.joint_trajectory.points[0].positions)
    assert list(grasp.grasp_posture.points[-1].effort) == list(told.grip_joint_efforts)
    assert list(grasp.grasp_posture.points[-1].positions) == list(told.grip_joint_positions)
    times = [p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec
             for p in grasp.grasp_posture.points]
    assert (np.diff(times) > 0.0).all()
    largest = max(np.linalg.norm(conversions.xyz(c.force)) for c in told.contacts)
    assert grasp.max_contact_force == pytest.approx(largest)
    assert grasp.allowed_touch_objects == ['parcel', 'table']
    assert 0.0 <= grasp.grasp_quality <= 1.0 and grasp.id == 'grasp_1'


def test_the_approach_leads_from_the_pregrasp_to_the_grasp():
    """Moving the wrist along the direction by the distance takes the one pose to the other."""
    given = answer(1)
    grasp = to_moveit(given).grasps[0]
    approach = grasp.pre_grasp_approach
    assert isinstance(approach.direction, Vector3Stamped)
    assert approach.direction.header.frame_id == 'wrist_3_link'
    T_wrist = conversions.pose_from_msg(grasp.grasp_pose.pose)
    step = approach.desired_distance * conversions.xyz(approach.direction.vector)
    start = T_wrist @ transform(np.eye(3), -step)
    pregrasp = conversions.pose_from_msg(given.grasps[0].pregrasp_pose) @ inverse(T_WRIST_PALM)
    assert start == pytest.approx(pregrasp, abs=ROUND_OFF)
    assert 0.0 < approach.min_distance <= approach.desired_distance
    back = conversions.xyz(grasp.post_place_retreat.direction.vector)
    assert back == pytest.approx(-conversions.xyz(approach.direction.vector))
    assert grasp.post_grasp_retreat.direction.header.frame_id == 'table'
    assert conversions.xyz(grasp.post_grasp_retreat.direction.vector) == pytest.approx([0, 0, 1])
    assert grasp.post_grasp_retreat.desired_distance == pytest.approx(0.12)


@pytest.mark.parametrize('status, code', [
    ('NO_GRASP', -1), ('TIMED_OUT', -6), ('CANCELED', -7), ('INVALID_REQUEST', -19),
    ('STAGE_MISSING', -25), ('INTERNAL', 99999)])
def test_why_there_is_none_is_said_by_the_code(status, code):
    filled = to_moveit(answer(0, getattr(PlanGrasp.Response, status)))
    assert filled.error_code.val == code and filled.grasps == []


@pytest.mark.parametrize('kind, sizes, volume', [
    (SolidPrimitive.BOX, [0.06, 0.04, 0.1], 0.06 * 0.04 * 0.1),
    (SolidPrimitive.SPHERE, [0.03], 4.0 / 3.0 * np.pi * 0.03 ** 3),
    (SolidPrimitive.CYLINDER, [0.1, 0.03], np.pi * 0.03 ** 2 * 0.1)])
def test_a_primitive_becomes_the_object(kind, sizes, volume):
    asked = request_from_moveit(request(target=target(
        primitives=[SolidPrimitive(type=kind, dimensions=sizes)])), SETTINGS)
    mesh = repair_mesh(*conversions.mesh_from_msg(asked.mesh)).mesh
    assert mass_properties(mesh, 1000.0).volume == pytest.approx(volume, rel=0.03)


def test_poses_of_target_and_shape_add_up():
    outer, inner = (from_rotation_vector(np.array([0.1 * k, 0.2, 0.3, 0.1, -0.4, 0.2 * k]))
                    for k in (1, 2))
    asked = request_from_moveit(request(target=target(
        pose=conversions.pose_to_msg(outer), primitive_poses=[conversions.pose_to_msg(inner)])),
        SETTINGS)
    assert conversions.pose_from_msg(asked.object_pose) == pytest.approx(outer @ inner)
    assert asked.header.frame_id == 'table' and asked.object_id == 'parcel'


def test_obstacles_come_along_and_meshes_as_boxes():
    ball = shapes.sphere(0.05, 0.02)
    wall = message('CollisionObject')(
        id='wall', header=Header(frame_id='table'),
        meshes=[conversions.mesh_to_msg(ball.vertices + [0.0, 0.0, 0.2], ball.faces)],
        mesh_poses=[Pose(orientation=Quaternion(w=1.0))],
        primitives=[SolidPrimitive(type=SolidPrimitive.SPHERE, dimensions=[0.1])],
        primitive_poses=[Pose(orientation=Quaternion(w=1.0))])
    asked = request_from_moveit(request(movable_obstacles=[wall]), SETTINGS)
    assert [o.type for o in asked.obstacles] == [SolidPrimitive.SPHERE, SolidPrimitive.BOX]
    assert asked.obstacle_poses[1].position.z == pytest.approx(0.2, abs=1e-3)
    assert list(asked.obstacles[1].dimensions) == pytest.approx([0.1] * 3, rel=0.05)


@pytest.mark.parametrize('fields, said', [
    ({'target': {'primitives': []}}, 'needs one mesh or one primitive, got 0 meshes'),
    ({'target': {'primitives': [SolidPrimitive(type=SolidPrimitive.CONE,
                                               dimensions=[0.1, 0.1])]}}, 'must be a box'),
    ({'target': {'primitives': [SolidPrimitive(type=SolidPrimitive.BOX,
                                               dimensions=[0.1, 0.0, 0.1])]}}, 'sizes above 0')])
def test_what_cannot_be_planned_for_is_said(fields, said):
    with pytest.raises(GripsimError, match=said):
        request_from_moveit(request(target=target(**fields['target'])), SETTINGS)


def test_an_obstacle_in_another_frame_is_refused():
    wall = message('CollisionObject')(id='wall', header=Header(frame_id='moon'))
    with pytest.raises(GripsimError, match="must be in the frame of the target, 'table'"):
        request_from_moveit(request(movable_obstacles=[wall]), SETTINGS)


def test_settings_come_from_parameters():
    values = {'T_wrist_palm': '0 0 0.1 0 0 0 1', 'wrist_link': '', 'moveit_lift': 0.1,
              'moveit_material': 'foam'}
    settings = moveit_settings(values, 'sdh_palm_link')
    assert settings.wrist_link == 'sdh_palm_link' and settings.T_wrist_palm[2, 3] == 0.1
    with pytest.raises(ParameterError, match='T_wrist_palm must be seven finite numbers'):
        moveit_settings({**values, 'T_wrist_palm': '1 2 three'}, '')


class TestInstalled:
    """The table of fields against moveit_msgs itself, where that is installed."""

    def test_fields_are_those_of_the_definition(self):
        messages = pytest.importorskip('moveit_msgs.msg', reason='moveit_msgs is not installed')
        services = pytest.importorskip('moveit_msgs.srv')
        for name, fields in TABLE.items():
            if name == 'constants':
                for constant, value in fields.items():
                    assert getattr(messages.MoveItErrorCodes, constant) == value
                continue
            holder, _, part = name.partition('.')
            kind = getattr(services.GraspPlanning, part) if part else getattr(messages, holder)
            there = kind.get_fields_and_field_types()
            assert {k: there[k] for k in fields} == fields
            assert set(there) - set(fields) <= {'message', 'source'}
