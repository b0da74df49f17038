"""A task is checked where it is made: each field named, what arrived told."""

import numpy as np
from numpy.testing import assert_array_equal
import pytest

from gripsim_ros.core.errors import TaskError
from gripsim_ros.core.planning import Task

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
    ('displacement_object', 2.0 * np.eye(4), 'displacement_object must be rigid'),
    ('displacement_object', MIRROR, 'displacement_object must be rigid'),
    ('displacement_object', np.eye(3), r'pose of shape \(4, 4\), got \(3, 3\)'),
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
