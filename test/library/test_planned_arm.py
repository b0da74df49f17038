"""Where an arm stands to the object that is planned for, said in any frame."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from gripsim_ros.core.errors import TaskError
from gripsim_ros.core.transforms import inverse, to_pose, transform
from gripsim_ros.library.planned_arm import object_before_arm

ATOL = 1e-12
T_BASE_OBJECT = transform(Rotation.from_rotvec([0.2, -0.4, 0.9]).as_matrix(),
                          np.array([0.5, 0.1, 0.3]))
T_WORLD_BASE = transform(Rotation.from_rotvec([0.0, 0.0, 2.0]).as_matrix(),
                         np.array([-1.0, 2.0, 0.7]))


def pose(T):
    """Return a pose as YAML has it."""
    position, orientation = to_pose(T)
    return {'position': position.tolist(), 'orientation': orientation.tolist()}


@pytest.mark.parametrize('told', [
    pose(T_BASE_OBJECT), {'frame': 'arm', **pose(T_BASE_OBJECT)},
    {'frame': 'world', **pose(T_WORLD_BASE @ T_BASE_OBJECT), 'arm_pose': pose(T_WORLD_BASE)},
    {'frame': 'object', 'arm_pose': pose(inverse(T_BASE_OBJECT))}])
def test_it_is_the_same_place_in_every_frame(told):
    assert_allclose(object_before_arm(told, 'pose.yaml'), T_BASE_OBJECT, atol=ATOL)


@pytest.mark.parametrize('told, words', [
    ({'frame': 'hand', 'position': [0, 0, 0]}, 'frame must be one of arm, world, object'),
    ({'frame': 'world', 'position': [0, 0, 0]}, "give the pose of the arm's base in it as arm_po"),
    ({'frame': 'world', 'arm_pose': {'position': [0, 0]}}, 'pose.yaml: arm_pose: position must'),
    ({'frame': 'object', 'arm_pose': {}, 'position': [0, 0, 0]}, 'arm_pose alone says'),
    ({'arm_pose': {}}, 'takes position and orientation once each'),
    ([0, 0, 1], 'pose.yaml must be')])
def test_what_says_no_place_is_refused_in_one_line(told, words):
    with pytest.raises(TaskError, match=words) as caught:
        object_before_arm(told, 'pose.yaml')
    assert '\n' not in str(caught.value)
