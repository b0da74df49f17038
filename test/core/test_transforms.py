"""Small algebra of vectors, against numpy's."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from transforms3d import affines, axangles, euler, quaternions

from gripsim_ros.core.errors import ShapeError
from gripsim_ros.core.transforms import (
    apply, checked_rigid, cross, euler_angles, from_pose, from_rotation_vector, inverse, rotate,
    rotation_of_rpy, skew, to_pose, transform)

NUMBERS = st.floats(-10.0, 10.0)
POINTS = st.tuples(NUMBERS, NUMBERS, NUMBERS).map(np.array)
#: Quaternions w, x, y, z of norm 1, as transforms3d writes them.
QUATERNIONS = st.tuples(*4 * [st.floats(-1.0, 1.0)]).map(np.array).filter(
    lambda q: np.linalg.norm(q) > 0.1).map(lambda q: q / np.linalg.norm(q))
ROUND_OFF = 1e-12
#: Near gimbal lock two angles are known together only, each to the root of the round-off.
NEAR_LOCK = 1e-7


@pytest.mark.parametrize('shapes', [((3,), (3,)), ((7, 3), (7, 3)), ((3,), (5, 3)),
                                    ((4, 1, 3), (4, 3, 3))])
def test_cross_products_are_numpys_to_the_last_bit(shapes):
    generator = np.random.default_rng(1)
    a, b = (generator.normal(size=shape) for shape in shapes)
    np.testing.assert_array_equal(cross(a, b), np.cross(a, b))


@pytest.mark.parametrize('shape', [(3,), (6, 3), (2, 4, 3)])
def test_skew_matrices_multiply_like_cross_products(shape):
    generator = np.random.default_rng(2)
    v, x = generator.normal(size=(2, *shape))
    np.testing.assert_allclose((skew(v) @ x[..., None])[..., 0], np.cross(v, x), rtol=1e-15,
                               atol=1e-15)


@pytest.mark.parametrize('position, quaternion, said', [
    (np.zeros(2), (0, 0, 0, 1), r'needs 3 and 4 numbers, got \(2,\) and \(4,\)'),
    (np.zeros(3), (0, 0, 1), r'needs 3 and 4 numbers, got \(3,\) and \(3,\)'),
    ((0, np.nan, 0), (0, 0, 0, 1), 'must be finite'),
    (np.zeros(3), (0, 0, np.inf, 1), 'must be finite'),
    (np.zeros(3), (0, 0, 0, 1.01), r'norm 1 \(x, y, z, w\), got 1.01')])
def test_what_is_no_pose_is_refused(position, quaternion, said):
    with pytest.raises(ShapeError, match=said):
        from_pose(position, quaternion)


@pytest.mark.parametrize('not_rigid, said', [
    (np.diag([1.0, 1.0, -1.0, 1.0]), 'a pose must be rigid: a rotation .no mirror, no scale.'),
    (2.0 * np.eye(4), 'must be rigid'), (np.zeros((4, 4)), 'must be rigid'),
    (1e200 * np.eye(4), 'must be rigid'), (np.full((4, 4), np.nan), 'must be rigid'),
    (np.diag([1.0, 1.0, 1.0, 0.0]), 'last row 0 0 0 1'),
    (np.eye(3), r'shape \(4, 4\), got \(3, 3\)'), (np.zeros(0), r'got \(0,\)'),
    (np.eye(4)[None], r'got \(1, 4, 4\)'), ([['a'] * 4] * 4, 'must be numbers')])
def test_what_is_no_rigid_transform_has_no_position_and_quaternion(not_rigid, said):
    with pytest.raises(ShapeError, match=said):
        to_pose(not_rigid)


def test_a_stack_of_poses_is_rigid_where_each_is():
    poses = np.stack([from_pose(np.ones(3), (0.0, 0.6, 0.0, 0.8)), np.eye(4)])
    assert checked_rigid(poses, 'poses') is poses
    assert checked_rigid(np.zeros((0, 4, 4)), 'poses').shape == (0, 4, 4)
    poses[1, 0, 0] = -1.0
    with pytest.raises(ShapeError, match=r'poses must be rigid.*got \[\[-1.0, 0.0'):
        checked_rigid(poses, 'poses')


@pytest.mark.parametrize('mapped', [apply, rotate])
def test_points_of_another_shape_are_refused(mapped):
    with pytest.raises(ShapeError, match=r'takes rows \(..., n, 3\), got \(4, 4\) and \(3, 2\)'):
        mapped(np.eye(4), np.zeros((3, 2)))


@pytest.mark.parametrize('angles', [(0.3, 0.5 * np.pi, 0.2), (0.3, -0.5 * np.pi, 0.2),
                                    (-2.0, 0.7, 3.0), (0.0, 0.0, 0.0)])
def test_euler_angles_turn_back_to_the_rotation_and_warn_of_nothing(angles):
    rotation = Rotation.from_euler('xyz', angles).as_matrix()
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        found = euler_angles(rotation, 'xyz')
    np.testing.assert_allclose(Rotation.from_euler('xyz', found).as_matrix(), rotation,
                               atol=1e-12)


@given(position=POINTS, quaternion=QUATERNIONS)
def test_poses_are_those_of_transforms3d(position, quaternion):
    wanted = affines.compose(position, quaternions.quat2mat(quaternion), np.ones(3))
    T_a_b = from_pose(position, np.roll(quaternion, -1))
    np.testing.assert_allclose(T_a_b, wanted, atol=ROUND_OFF)
    np.testing.assert_allclose(inverse(T_a_b), np.linalg.inv(wanted), atol=10 * ROUND_OFF)
    place, turned = to_pose(T_a_b)
    np.testing.assert_array_equal(place, position)
    assert turned[3] >= 0.0
    assert abs(turned @ np.roll(quaternion, -1)) == pytest.approx(1.0, abs=ROUND_OFF)


@given(translation=POINTS, vector=POINTS)
def test_rotation_vectors_are_axes_and_angles_of_transforms3d(translation, vector):
    angle = float(np.linalg.norm(vector))
    turn = axangles.axangle2mat(vector, angle) if angle > 0.0 else np.eye(3)
    np.testing.assert_allclose(from_rotation_vector(np.concatenate([translation, vector])),
                               affines.compose(translation, turn, np.ones(3)), atol=ROUND_OFF)


@given(quaternion=QUATERNIONS)
def test_euler_angles_turn_about_fixed_axes_as_those_of_transforms3d(quaternion):
    rotation = quaternions.quat2mat(quaternion)
    np.testing.assert_allclose(euler.euler2mat(*euler_angles(rotation, 'xyz'), axes='sxyz'),
                               rotation, atol=NEAR_LOCK)


@given(angles=st.lists(st.floats(-4.0, 4.0), min_size=3, max_size=3))
def test_roll_pitch_and_yaw_are_those_of_transforms3d(angles):
    np.testing.assert_allclose(rotation_of_rpy(*angles), euler.euler2mat(*angles, axes='sxyz'),
                               atol=ROUND_OFF)


@given(quaternion=QUATERNIONS, seed=st.integers(0, 1000))
def test_a_rotation_that_is_off_by_a_little_counts_as_the_nearest(quaternion, seed):
    rotation = quaternions.quat2mat(quaternion)
    off = rotation + 1e-5 * np.random.default_rng(seed).normal(size=(3, 3))
    left, _, right = np.linalg.svd(off)
    turned = to_pose(transform(off, np.zeros(3)))[1]
    np.testing.assert_allclose(quaternions.quat2mat(np.roll(turned, 1)), left @ right, atol=1e-9)
