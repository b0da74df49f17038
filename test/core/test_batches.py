"""Questions of the planner are checked once, where they are made."""

import numpy as np
from numpy.testing import assert_array_equal
import pytest

from gripsim_ros.core.batches import DETAIL_FORCES, ConfigurationBatch
from gripsim_ros.core.errors import ShapeError

BOX = np.array([[1, 0.1, 0.2, 0.3, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0]])
NAN = np.nan


def batch(**changes):
    """Return a sound question of two configurations, but for the changes."""
    fields = {'T_object_palm': np.tile(np.eye(4), (2, 1, 1)),
              'joint_positions': np.zeros((2, 7)), 'joint_displacements': np.zeros((2, 7)),
              'sweep_object': np.zeros((2, 3)), 'load_cases': np.zeros((5, 9)),
              'obstacles': BOX, 'detail': DETAIL_FORCES, 'settled_object': np.zeros((2, 6))}
    return ConfigurationBatch(**{**fields, **changes})


def changed(rows, column, value):
    """Return rows with one number of the first changed."""
    rows = np.array(rows, float)
    rows[0, column] = value
    return rows


@pytest.mark.parametrize('name, value, said', [
    ('T_object_palm', np.zeros((2, 4, 4)), 'T_object_palm must be rigid'),
    ('T_object_palm', np.eye(4)[None], r'T_object_palm must have shape \(2, 4, 4\)'),
    ('T_object_palm', np.full((2, 4, 4), NAN), 'T_object_palm must be finite'),
    ('joint_positions', np.full((2, 7), np.inf), 'joint_positions must be finite'),
    ('joint_positions', np.zeros(7), r'joint_positions must have shape \(any, any\)'),
    ('joint_positions', [['a']], 'joint_positions must be numbers'),
    ('joint_displacements', np.zeros((1, 7)), r'joint_displacements must have shape \(2, 7\)'),
    ('sweep_object', np.full((2, 3), NAN), 'sweep_object must be finite'),
    ('sweep_object', np.zeros(3), r'sweep_object must have shape \(2, 3\), got \(3,\)'),
    ('load_cases', np.full((5, 9), NAN), 'load_cases must be finite'),
    ('load_cases', np.zeros((5, 6)), r'load_cases must have shape \(any, 9\), got \(5, 6\)'),
    ('settled_object', np.full((2, 6), NAN), 'settled_object must be finite'),
    ('settled_object', np.zeros((3, 6)), r'settled_object must have shape \(2, 6\)'),
    ('obstacles', np.zeros((1, 15)), r'obstacles must have shape \(any, 16\)'),
    ('obstacles', changed(BOX, 0, NAN), 'obstacles must be finite'),
    ('obstacles', changed(BOX, 0, 4), r'obstacles\[0\] must be a box .* got kind 4'),
    ('obstacles', changed(BOX, 2, -0.2), r'obstacles\[0\] must have 3 dimensions above 0'),
    ('obstacles', changed(BOX, 4, -1), r'the pose of obstacles\[0\] must be rigid'),
    ('detail', 3, 'detail must be 0, 1 or 2, got 3'),
    ('detail', 'surface', "detail must be 0, 1 or 2, got 'surface'")])
def test_what_makes_no_question_is_refused_by_its_name(name, value, said):
    with pytest.raises(ShapeError, match=said):
        batch(**{name: value})


def test_arrays_are_kept_as_they_are_and_lists_become_arrays():
    positions = np.zeros((2, 7))
    assert batch(joint_positions=positions).joint_positions is positions
    assert_array_equal(batch(sweep_object=[[0, 0, 1]] * 2).sweep_object[:, 2], np.ones(2))
    assert_array_equal(batch(settled_object=None).settled_object, np.zeros((2, 6)))


def test_a_sphere_has_no_second_dimension():
    sphere = changed(changed(BOX, 0, 2), 2, 0.0)
    assert batch(obstacles=sphere, load_cases=np.zeros((0, 9))).count == 2
