"""The YAML of a task: keys as in the message, bad ones refused by name."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from gripsim_ros.core.batches import OBSTACLE_BOX, OBSTACLE_CYLINDER
from gripsim_ros.core.errors import TaskError
from gripsim_ros.core.planning import Task
from gripsim_ros.core.planning.task import POSE_UNCERTAINTY
from gripsim_ros.core.transforms import transform
from gripsim_ros.library.task_file import (
    KEYS, load_task, pose_from_mapping, task_from_mapping, task_of_grasps, task_to_mapping)

ROOT = Path(__file__).resolve().parents[2]
ATOL_EXACT = 1e-15
POSE = {'position': [0.1, 0.2, 0.3], 'orientation': [0.0, 0.0, 1.0, 0.0]}


def test_an_empty_task_lets_the_weight_pull_anywhere(tmp_path):
    path = tmp_path / 'task.yaml'
    path.write_text('')
    task = load_task(path)
    assert task.gravity_directions.shape == (0, 3) and task.displacement_object is None


def test_every_key_arrives_in_the_task(tmp_path):
    path = tmp_path / 'task.yaml'
    path.write_text("""
gravity_directions: [[0, 0, -1], {x: 1, y: 0, z: 0}]
gravity: 1.62
external_wrenches: [{force: [1, 2, 3], torque: [4e-3, 5, 6]}, {force: [0, 0, 1]}]
displacement: {translation: [0, 0, 0.1], rotation: [0, 0, 0, 1]}
approach_direction: [0, 0, -1]
approach_half_angle: 0.5
keep_out: [{type: box, dimensions: [1, 2, 3]}]
keep_out_poses: [{position: [0.1, 0.2, 0.3], orientation: [0, 0, 1, 0]}]
obstacles: [{type: 3, dimensions: [0.2, 0.05]}]
obstacle_poses: [{position: [0, 0, 1]}]
contact_region: [{type: sphere, dimensions: [0.02]}]
contact_region_poses: [{position: [0, 0, 0.05]}]
pose_uncertainty: [0.002, 0.035]
""")
    task = load_task(path)
    assert_allclose(task.gravity_directions, [[0, 0, -1], [1, 0, 0]], atol=ATOL_EXACT)
    assert task.gravity == 1.62
    assert_allclose(task.external_wrenches, [[1, 2, 3, 0.004, 5, 6], [0, 0, 1, 0, 0, 0]])
    assert_allclose(task.displacement_object[:3, 3], [0, 0, 0.1], atol=ATOL_EXACT)
    assert_allclose(task.keep_out, [[OBSTACLE_BOX, 1, 2, 3,
                                     -1, 0, 0, 0.1, 0, -1, 0, 0.2, 0, 0, 1, 0.3]],
                    atol=ATOL_EXACT)
    assert_allclose(task.obstacles[0, :4], [OBSTACLE_CYLINDER, 0.2, 0.05, 0])
    assert task.approach_half_angle == 0.5 and task.pose_uncertainty.tolist() == [0.002, 0.035]
    assert_allclose(task.contact_region[0], [2, 0.02, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0.05])


def test_keys_are_those_of_the_message_and_of_obstacles_in_its_request():
    text = (ROOT / 'gripsim_interfaces' / 'msg' / 'Task.msg').read_text()
    fields = {line.split()[1] for line in text.splitlines() if line and line[0] != '#'}
    assert set(KEYS) == fields | {'obstacles', 'obstacle_poses', 'frame', 'object_pose'}


def test_a_displacement_may_be_said_to_be_none_as_in_the_message():
    there = {'displacement': {'position': [0, 0, 0.1]}}
    assert task_from_mapping({**there, 'has_displacement': False}).displacement_object is None
    assert task_from_mapping({'has_displacement': False}).displacement_object is None
    for said in ({}, {'has_displacement': True}):
        assert task_from_mapping({**there, **said}).displacement_object[2, 3] == 0.1
    stays = task_from_mapping({'has_displacement': True}).displacement_object
    assert_allclose(stays, np.eye(4), atol=ATOL_EXACT)


def test_zeros_stand_for_what_is_left_out_as_in_the_message():
    task = task_from_mapping({'gravity': 0, 'approach_direction': [0, 0, 0],
                              'approach_half_angle': 0, 'pose_uncertainty': []})
    assert task.pose_uncertainty.tolist() == list(POSE_UNCERTAINTY) and task.gravity == 9.81
    assert task.approach_direction is None
    assert task.approach_half_angle == np.pi


def test_a_task_in_the_world_or_before_the_arm_is_that_of_the_object():
    table = {'gravity_directions': [[0, 0, -1]],
             'obstacles': [{'type': 'box', 'dimensions': [1, 1, 0.02]}],
             'obstacle_poses': [{'position': [0.5, 0, 0.73]}]}
    stands = {'position': [0.5, 0.1, 0.8], 'orientation': [0.0, 0.0, 1.0, 0.0]}
    T = pose_from_mapping(stands, 'pose')
    found = [task_from_mapping({**table, 'frame': 'world', 'object_pose': stands}),
             task_from_mapping({**table, 'frame': 'arm', 'object_pose': stands}),
             task_from_mapping({**table, 'frame': 'arm'}, T)]
    expected = task_from_mapping({
        **table, 'obstacle_poses': [{'position': [0, 0.1, -0.07],
                                     'orientation': [0.0, 0.0, -1.0, 0.0]}]})
    for task in found:
        assert_allclose(task.obstacles, expected.obstacles, atol=1e-12)
        assert_allclose(task.gravity_directions, [[0, 0, -1]], atol=1e-12)


@pytest.mark.parametrize('content, T_arm_object, said', [
    ({'frame': 'table'}, None, "frame must be one of object, world, arm, got 'table'"),
    ({'frame': 'world'}, np.eye(4), 'frame is world: give the pose of the object in it'),
    ({'frame': 'arm'}, None, 'give the pose of the object in it as object_pose, or the arm'),
    ({'frame': 'arm', 'object_pose': POSE}, np.eye(4), 'is said already'),
    ({'object_pose': POSE}, None, 'say which with frame: world or arm'),
    ({'frame': ['arm']}, None, 'frame must be one of'),
    ({'frame': 'world', 'object_pose': [1]}, None, r'task.object_pose must be \{position')])
def test_a_frame_that_is_unknown_or_has_no_pose_is_refused(content, T_arm_object, said):
    with pytest.raises(TaskError, match=said):
        task_from_mapping(content, T_arm_object)


@pytest.mark.parametrize('content, said', [
    ([1], 'must be a mapping'),
    ({'gravty': 9.81}, 'unknown key gravty'),
    ({'gravity': -1}, 'gravity must be between 0 and 1000'),
    ({'gravity': 'much'}, 'task.gravity must be a finite number'),
    ({'gravity': float('nan')}, 'finite'),
    ({'gravity': True}, 'finite number'),
    ({'gravity_directions': [0, 0, -1]}, r'gravity_directions\[0\] must be 3 numbers'),
    ({'gravity_directions': [[0, 0, 0]]}, 'zero length'),
    ({'gravity_directions': [[0, 0, -1e200]]}, 'too long to be measured'),
    ({'gravity_directions': 'down'}, 'must be a list'),
    ({'external_wrenches': [{'forces': [0, 0, 1]}]}, r'external_wrenches\[0\]'),
    ({'external_wrenches': [{'force': [0, 0]}]}, 'force must be 3 numbers'),
    ({'approach_direction': [0, 0, -1], 'approach_half_angle': 0}, 'above 0 and at most pi'),
    ({'has_displacement': 'no', 'displacement': POSE}, 'must be true or false'),
    ({'approach_direction': [0, 1e200, 0]}, 'not huge'),
    ({'approach_half_angle': 7}, 'approach_half_angle'),
    ({'displacement': {'position': [0, 0, 0], 'orientation': [0, 0, 0, 2]}}, 'norm'),
    ({'displacement': [0, 0, 0]}, 'task.displacement must be'),
    ({'obstacles': [{'type': 'box', 'dimensions': [1, 1, 1]}]}, '1 shapes and 0 poses'),
    ({'obstacles': [{'type': 'cone', 'dimensions': [1]}], 'obstacle_poses': [POSE]}, 'cone'),
    ({'obstacles': [{'type': 'box', 'dimensions': [1]}], 'obstacle_poses': [POSE]},
     'three sides'),
    ({'obstacles': [{'type': 'sphere', 'dimensions': [-1]}], 'obstacle_poses': [POSE]},
     'above 0'),
])
def test_a_bad_value_is_refused_by_its_name(content, said):
    with pytest.raises(TaskError, match=said):
        task_from_mapping(content)


def test_a_file_that_is_no_yaml_is_refused_in_one_line(tmp_path):
    path = tmp_path / 'task.yaml'
    path.write_text('a: [1,\nb')
    with pytest.raises(TaskError) as refused:
        load_task(path)
    assert '\n' not in str(refused.value)


def test_a_pose_without_orientation_is_not_turned():
    assert_allclose(pose_from_mapping({'position': [1, 2, 3]}, 'pose')[:3, :3], np.eye(3))


def test_a_pose_named_twice_is_refused():
    with pytest.raises(TaskError, match='once each'):
        pose_from_mapping({'position': [0, 0, 0], 'translation': [0, 0, 0]}, 'pose')


def plain(value):
    """Return a mapping as JSON has it."""
    return json.loads(json.dumps(value, default=lambda array: array.tolist()))


def full_task():
    """Return a task with everything in it."""
    turn = Rotation.from_rotvec([0.1, -0.2, 0.3]).as_matrix()
    box = np.concatenate([[OBSTACLE_BOX, 0.4, 0.3, 0.02], transform(
        turn, np.array([0.0, 0.1, -0.05]))[:3].ravel()])
    cylinder = np.concatenate([[OBSTACLE_CYLINDER, 0.2, 0.05, 0.0], np.eye(4)[:3].ravel()])
    return Task(np.array([[0.0, 0.0, -1.0], [1.0, 0.0, -1.0]]), 1.62,
                np.array([[1.0, 2.0, 3.0, 0.1, 0.2, 0.3]]),
                transform(turn, np.array([0.0, 0.0, 0.1])), np.array([0.0, 0.6, -0.8]), 0.5,
                np.array([box, cylinder]), box[None], cylinder[None], 'prefer_fingers')


@pytest.mark.parametrize('task', [Task(), full_task()])
def test_a_plan_tells_its_task_and_may_stand_for_the_file(task, tmp_path):
    path = tmp_path / 'grasps.json'
    path.write_text(json.dumps({'grasps': [], 'task': plain(task_to_mapping(task))}))
    again = load_task(path)
    for name, value in vars(task).items():
        if isinstance(value, np.ndarray):
            assert_allclose(getattr(again, name), value, rtol=1e-14, atol=ATOL_EXACT)
        else:
            assert getattr(again, name) == value


def test_grasps_without_a_task_stand_for_none(tmp_path):
    path = tmp_path / 'grasps.json'
    path.write_text('{"grasps": []}')
    with pytest.raises(TaskError, match='tell no task'):
        load_task(path)
    assert not len(task_of_grasps({'grasps': []}, path).obstacles)
    with pytest.raises(TaskError, match='grasps.json: task: unknown key up'):
        task_of_grasps({'grasps': [], 'task': {'up': 1}}, path)
