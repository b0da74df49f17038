"""A task is checked where it is made: each field named, what arrived told."""

import numpy as np
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from scipy.spatial.transform import Rotation

from gripsim_ros.core.errors import TaskError
from gripsim_ros.core.planning import Task
from gripsim_ros.core.planning.task import task_in_object_frame
from gripsim_ros.core.transforms import apply, inverse, transform

BOX = np.array([[1, 0.1, 0.2, 0.3, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0]])
MIRROR = np.diag([1.0, 1.0, -1.0, 1.0])


def changed(column, value):
    """Return a box with one number of its row changed."""
    rows = BOX.copy()
    rows[0, column] = value
    return rows


@pytest.mark.parametrize('name, value, said', [
    ('gravity', 'x', "gravity must be numbers, got 'x'"),
    ('gravity', None, 'gravity must be finite'), ('gravity', [9.81], 'gravity must be one number'),
    ('gravity', 2000.0, 'between 0 and 1000 m/s'), ('gravity', np.inf, 'gravity must be finite'),
    ('gravity_directions', [[0, 0], [1]], 'gravity_directions must be numbers'),
    ('external_wrenches', [['a'] * 6], 'external_wrenches must be numbers'),
    ('approach_direction', 'up', "approach_direction must be numbers, got 'up'"),
    ('approach_half_angle', 'a', "approach_half_angle must be numbers, got 'a'"),
    ('approach_half_angle', None, 'approach_half_angle must be finite'),
    ('pose_uncertainty', 'far', 'pose_uncertainty must be numbers'),
    ('pose_uncertainty', [0.1], 'pose_uncertainty must be a way in metres and an angle'),
    ('pose_uncertainty', [-0.1, 0.0], 'neither negative'),
    ('pose_uncertainty', [0.1, 4.0], 'an angle up to pi'),
    ('displacement_object', 2.0 * np.eye(4), 'displacement_object must be rigid'),
    ('displacement_object', MIRROR, 'displacement_object must be rigid'),
    ('displacement_object', np.eye(3), r'must have shape \(4, 4\), got \(3, 3\)'),
    ('displacement_object', 'up', 'displacement_object must be numbers'),
    ('obstacles', changed(0, np.nan), 'obstacles must be finite'),
    ('obstacles', changed(0, 7), r'obstacles\[0\] must be a box .* got kind 7'),
    ('keep_out', changed(1, -0.1), r'keep_out\[0\] must have 3 dimensions above 0 m'),
    ('contact_region', changed(3, 0), r'contact_region\[0\] must have 3 dimensions above 0 m'),
    ('contact_region', changed(4, 2), r'the pose of task.contact_region\[0\] must be rigid')])
def test_what_makes_no_task_is_refused_by_its_name(name, value, said):
    with pytest.raises(TaskError, match=said) as caught:
        Task(**{name: value})
    assert f'task.{name}' in str(caught.value) and '\n' not in str(caught.value)


def test_a_sound_task_is_taken_as_it_is():
    task = Task(gravity=1, displacement_object=np.eye(4).tolist(), obstacles=BOX[0])
    assert task.gravity == 1.0
    assert_array_equal(task.displacement_object, np.eye(4))
    assert_array_equal(task.obstacles, BOX)


NUMBERS = st.floats(-2.0, 2.0)
POSES = st.builds(lambda twist, place: transform(
    Rotation.from_rotvec(twist).as_matrix(), np.array(place)),
    st.tuples(NUMBERS, NUMBERS, NUMBERS), st.tuples(NUMBERS, NUMBERS, NUMBERS))


def rich_task():
    """Return a task that has everything."""
    turn = transform(Rotation.from_rotvec([0.3, -0.2, 0.9]).as_matrix(), np.array([0.1, 0, 0]))
    return Task(gravity_directions=[[0, 0, -1.0]], external_wrenches=[[1, 2, 3, 4, 5, 6.0]],
                displacement_object=turn, approach_direction=[0, 1.0, 0], obstacles=BOX,
                keep_out=BOX, contact_region=BOX, reach='fingers_only',
                pose_uncertainty=[0.002, 0.035])


@pytest.mark.parametrize('fields, said', [
    ({'reach': 'feet'}, 'must be one of any, prefer_fingers, fingers_only, got .feet'),
    ({'reach': 'fingers_only'}, 'is fingers_only: give the displacement that is meant')])
def test_by_whom_the_object_is_moved_is_one_of_three_words_and_means_a_way(fields, said):
    with pytest.raises(TaskError, match=f'task.reach {said}'):
        Task(**fields)


@given(POSES)
def test_a_task_in_another_frame_comes_back_as_it_was(T):
    there = task_in_object_frame(rich_task(), T)
    for name, value in vars(task_in_object_frame(there, inverse(T))).items():
        wanted = vars(rich_task())[name]
        if name == 'reach':
            assert value == wanted != Task().reach
        else:
            assert_allclose(value, wanted, atol=1e-12, err_msg=name)


@given(POSES)
def test_a_body_that_moves_with_the_other_frame_stays_where_it_is(T):
    """A corner of an obstacle, and a point that the displacement moves, are the same points."""
    task, corner = rich_task(), np.array([0.05, 0.1, 0.15])
    there = task_in_object_frame(task, T)

    def pose(row):
        return transform(row[4:].reshape(3, 4)[:, :3], row[4:].reshape(3, 4)[:, 3])
    assert_allclose(apply(pose(there.obstacles[0]), corner),
                    apply(T, apply(pose(task.obstacles[0]), corner)), atol=1e-12)
    way = task.displacement_object[:3, 3]
    assert_allclose(there.displacement_object[:3, 3], T[:3, :3] @ way, atol=1e-12)
    assert_allclose(there.external_wrenches[0, 3:], T[:3, :3] @ [4, 5, 6], atol=1e-12)
