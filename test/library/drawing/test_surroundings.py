"""What stands about a planned object: obstacles of its task, arms beside the planned one."""

from dataclasses import replace

import numpy as np
import pytest
import yaml
from arm_cases import ARM_FILE, T_BASE_OBJECT, planned_arm
from numpy.testing import assert_allclose

from gripsim_ros.core.batches import OBSTACLE_BOX, OBSTACLE_SPHERE
from gripsim_ros.core.errors import ArmError
from gripsim_ros.core.planning import Task
from gripsim_ros.core.transforms import apply
from gripsim_ros.library.planned_arm import arm_of_grasps, load_other_arms
from gripsim_ros.library.drawing.surroundings import surroundings_of

ATOL = 1e-12
TABLE = np.array([OBSTACLE_BOX, 0.4, 0.3, 0.02, 1, 0, 0, 0.1, 0, 1, 0, 0.0, 0, 0, 1, -0.05])
BALL = np.array([OBSTACLE_SPHERE, 0.03, 0, 0, 1, 0, 0, 0.0, 0, 1, 0, 0.2, 0, 0, 1, 0.0])
POSE = {'position': [1.0, 0.4, 0.0], 'orientation': [0.0, 0.0, 1.0, 0.0]}
WAY = [[0.0, -1.6, 1.6, -1.6, -1.6, 0.0], [0.5, -1.6, 1.6, -1.6, -1.6, 0.0]]


@pytest.fixture
def others_file(tmp_path):
    """Return a file of another arm that moves."""
    file = tmp_path / 'others.yaml'
    file.write_text(yaml.safe_dump([{'arm': str(ARM_FILE), 'pose': POSE, 'joints': WAY}]))
    return file


def test_obstacles_are_as_large_as_they_are_and_where_they_are():
    table, ball = surroundings_of(Task(obstacles=np.array([TABLE, BALL]),
                                       keep_out=BALL[None]), None)
    assert_allclose(table.mesh.vertices.min(axis=0), [-0.1, -0.15, -0.06], atol=ATOL)
    assert_allclose(table.mesh.vertices.max(axis=0), [0.3, 0.15, -0.04], atol=ATOL)
    assert_allclose(table.mesh.volume, 0.4 * 0.3 * 0.02)
    away = np.linalg.norm(ball.mesh.vertices - [0.0, 0.2, 0.0], axis=1)
    assert (away >= 0.03 - ATOL).all() and away.max() < 0.033
    assert surroundings_of(None, planned_arm()) == ()


def test_other_arms_stand_at_each_row_of_their_ways(others_file):
    arm = replace(planned_arm(), others=load_other_arms(others_file))
    other, parts = arm.others[0], len(arm.meshes)
    shown = surroundings_of(Task(), arm)
    assert len(shown) == 2 * parts
    for row in range(2):
        poses = other.T_base_other @ other.arm.poses(other.way[row])[other.arm.part_frames]
        for k, one in enumerate(shown[row * parts:(row + 1) * parts]):
            assert_allclose(apply(T_BASE_OBJECT, one.mesh.vertices),
                            apply(poses[k], arm.meshes[k].vertices), atol=ATOL)


def test_a_file_tells_its_other_arms_and_says_where_they_are_lacking(others_file, tmp_path):
    arm = replace(planned_arm(), others=load_other_arms(others_file),
                  others_file=str(others_file))
    told = {**arm.to_mapping(), 'object_pose': POSE}
    again = arm_of_grasps({'arm': told}, tmp_path / 'grasps.json')
    assert_allclose(again.others[0].way, WAY)
    assert again.to_mapping()['other_arms'] == str(others_file)
    assert 'other_arms' not in planned_arm().to_mapping()
    others_file.unlink()
    with pytest.raises(ArmError, match='other arms of .*others.yaml, which is neither there'):
        arm_of_grasps({'arm': told}, tmp_path / 'grasps.json')
