"""Forward kinematics, Jacobians and link displacements, of the SDH and a made-up hand."""

import hand_cases
from hypothesis import given, strategies as st
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gripsim_ros.core.batches import ConfigurationBatch
from gripsim_ros.core.errors import ShapeError
from gripsim_ros.core.hand import (
    compute_link_states, forward_kinematics, frame_poses, HandModel, link_jacobians)
from gripsim_ros.core.transforms import transform
from gripsim_ros.library.resources import HAND_URDF, load_default_hand, share_directory

ATOL_ROUNDOFF = 1e-9
#: Central differences at STEP: error of order STEP squared, and roundoff over STEP.
STEP = 1e-5
ATOL_FINITE_DIFFERENCE = 1e-8
#: Distance of the fingertip from the distal joint, and of the two bending joints [m].
TIP, BEND = 0.0685, 0.0865
#: Link, base of the finger (x, y), sense of the pivot, first bending joint.
FINGERS = (('sdh_finger_13_link', 0.01905, 0.033, 1.0, 1),
           ('sdh_finger_23_link', 0.01905, -0.033, -1.0, 3),
           ('sdh_thumb_3_link', -0.03811, 0.0, None, 5))


@pytest.fixture(scope='module')
def sdh():
    return load_default_hand()


@pytest.fixture(params=['sdh', 'gripper'])
def hand(request, sdh, tmp_path):
    return sdh if request.param == 'sdh' else HandModel.load(*hand_cases.write_hand(tmp_path))


def random_positions(hand, rng, count):
    return rng.uniform(hand.joint_lower, hand.joint_upper, (count, len(hand.joint_names)))


def random_batch(hand, rng, count):
    T_object_palm = transform(Rotation.random(count, rng).as_matrix(),
                              rng.normal(size=(count, 3)))
    positions = random_positions(hand, rng, count)
    return ConfigurationBatch(T_object_palm, positions, 0.1 * rng.normal(size=positions.shape),
                              np.zeros((count, 3)))


@given(st.lists(st.floats(-1.57, 1.57), min_size=7, max_size=7))
def test_fingertips_follow_the_closed_formula(angles):
    hand = load_default_hand()
    q = np.array([abs(angles[0]), *angles[1:]])
    T_palm_link = forward_kinematics(hand, q[None])[0]
    for name, x, y, sense, joint in FINGERS:
        heading = 0.0 if sense is None else np.pi + sense * q[0]
        reach = BEND * np.sin(q[joint]) + TIP * np.sin(q[joint] + q[joint + 1])
        height = BEND * np.cos(q[joint]) + TIP * np.cos(q[joint] + q[joint + 1])
        tip = T_palm_link[hand.link_index(name)] @ [0.0, 0.0, TIP, 1.0]
        np.testing.assert_allclose(
            tip[:3], [x + reach * np.cos(heading), y + reach * np.sin(heading), 0.091 + height],
            rtol=0.0, atol=ATOL_ROUNDOFF)


def test_straight_fingertips_are_at_their_published_height(sdh):
    T_palm_link = forward_kinematics(sdh, np.zeros((1, 7)))[0]
    for name, *_ in FINGERS:
        tip = T_palm_link[sdh.link_index(name)] @ [0.0, 0.0, TIP, 1.0]
        np.testing.assert_allclose(tip[2], 0.246, rtol=0.0, atol=ATOL_ROUNDOFF)


def test_poses_agree_with_another_library(hand, rng, tmp_path):
    yourdfpy = pytest.importorskip('yourdfpy')
    path = share_directory() / HAND_URDF if hand.name == 'sdh' else tmp_path / 'hand.urdf'
    urdf = yourdfpy.URDF.load(str(path), load_meshes=False)
    order = [hand.joint_names.index(name) for name in urdf.actuated_joint_names]
    positions = random_positions(hand, rng, 20)
    poses = frame_poses(hand, positions)
    for q, T_palm_frame in zip(positions, poses):
        urdf.update_cfg(q[order])
        for name, pose in zip(hand.frame_names, T_palm_frame):
            np.testing.assert_allclose(pose, urdf.get_transform(name, hand.base_link),
                                       rtol=0.0, atol=ATOL_ROUNDOFF)


def test_jacobian_is_the_derivative_of_the_pose(hand, rng):
    positions = random_positions(hand, rng, 6)
    jacobian = link_jacobians(hand, positions)
    rotation = forward_kinematics(hand, positions)[..., :3, :3]
    for j in range(len(hand.joint_names)):
        step = STEP * np.eye(len(hand.joint_names))[j]
        ahead = forward_kinematics(hand, positions + step)
        behind = forward_kinematics(hand, positions - step)
        rate = (ahead - behind) / (2.0 * STEP)
        spin = rate[..., :3, :3] @ np.swapaxes(rotation, -1, -2)
        angular = np.stack([spin[..., 2, 1], spin[..., 0, 2], spin[..., 1, 0]], -1)
        np.testing.assert_allclose(jacobian[..., :3, j], rate[..., :3, 3],
                                   rtol=0.0, atol=ATOL_FINITE_DIFFERENCE)
        np.testing.assert_allclose(jacobian[..., 3:, j], angular,
                                   rtol=0.0, atol=ATOL_FINITE_DIFFERENCE)


def test_twist_is_the_motion_of_a_small_step(hand, rng):
    batch = random_batch(hand, rng, 5)
    small = ConfigurationBatch(batch.T_object_palm, batch.joint_positions,
                               STEP * batch.joint_displacements, batch.sweep_object)
    states = compute_link_states(hand, small)
    ends = [compute_link_states(hand, ConfigurationBatch(
        batch.T_object_palm, batch.joint_positions + sign * 0.5 * small.joint_displacements,
        small.joint_displacements, batch.sweep_object)).T_object_link for sign in (1.0, -1.0)]
    turn = ends[0][..., :3, :3] @ np.swapaxes(ends[1][..., :3, :3], -1, -2)
    angles = Rotation.from_matrix(turn.reshape(-1, 3, 3)).as_rotvec().reshape(*turn.shape[:2], 3)
    np.testing.assert_allclose(states.twists_object[..., :3],
                               ends[0][..., :3, 3] - ends[1][..., :3, 3],
                               rtol=0.0, atol=STEP * ATOL_FINITE_DIFFERENCE)
    np.testing.assert_allclose(states.twists_object[..., 3:], angles,
                               rtol=0.0, atol=STEP * ATOL_FINITE_DIFFERENCE)


def test_link_poses_are_those_in_the_palm_moved_with_the_palm(hand, rng):
    batch = random_batch(hand, rng, 4)
    states = compute_link_states(hand, batch)
    T_palm_link = forward_kinematics(hand, batch.joint_positions)
    np.testing.assert_allclose(states.T_object_link, batch.T_object_palm[:, None] @ T_palm_link,
                               rtol=0.0, atol=ATOL_ROUNDOFF)
    assert states.configurations is batch


def test_links_that_no_moving_joint_moves_have_no_twist(sdh, rng):
    batch = random_batch(sdh, rng, 3)
    one = np.zeros_like(batch.joint_displacements)
    one[:, 5] = 0.1
    states = compute_link_states(sdh, ConfigurationBatch(
        batch.T_object_palm, batch.joint_positions, one, batch.sweep_object))
    moves = np.any(states.twists_object != 0.0, axis=(0, 2))
    np.testing.assert_array_equal(moves, sdh.moves_link[:, 5])


def test_jacobian_is_zero_exactly_where_a_joint_moves_nothing(hand, rng):
    jacobian = link_jacobians(hand, random_positions(hand, rng, 10))
    moves = np.any(jacobian != 0.0, axis=(0, 2))
    np.testing.assert_array_equal(moves, hand.moves_link)


def test_both_fingers_turn_outwards_with_the_pivot(sdh):
    q = np.zeros((1, 7))
    q[0, 0] = 0.5
    angular = link_jacobians(sdh, q)[0, :, 3:, 0]
    np.testing.assert_allclose(angular[sdh.link_index('sdh_finger_13_link')], [0, 0, 1],
                               rtol=0.0, atol=ATOL_ROUNDOFF)
    np.testing.assert_allclose(angular[sdh.link_index('sdh_finger_23_link')], [0, 0, -1],
                               rtol=0.0, atol=ATOL_ROUNDOFF)


def test_an_answer_does_not_depend_on_its_neighbours_in_the_batch(hand, rng):
    batch = random_batch(hand, rng, 37)
    together = compute_link_states(hand, batch)
    for i in (0, 5, 36):
        alone = compute_link_states(hand, ConfigurationBatch(
            batch.T_object_palm[i:i + 1], batch.joint_positions[i:i + 1],
            batch.joint_displacements[i:i + 1], batch.sweep_object[i:i + 1]))
        assert alone.T_object_link.tobytes() == together.T_object_link[i:i + 1].tobytes()
        assert alone.twists_object.tobytes() == together.twists_object[i:i + 1].tobytes()


def test_an_empty_batch_has_an_empty_answer(sdh):
    assert forward_kinematics(sdh, np.zeros((0, 7))).shape == (0, 10, 4, 4)
    assert link_jacobians(sdh, np.zeros((0, 7))).shape == (0, 10, 6, 7)


def test_joint_positions_of_another_shape_are_refused(sdh):
    with pytest.raises(ShapeError, match=r'joint_positions must have shape \(n, 7\)'):
        forward_kinematics(sdh, np.zeros((2, 8)))


@pytest.mark.parametrize('values', [[['a'] * 7], [[0.0], [0.0, 1.0]], [{}]])
def test_joint_positions_that_are_no_numbers_are_refused(sdh, values):
    with pytest.raises(ShapeError, match=r'joint_positions must be numbers of shape \(n, 7\)'):
        forward_kinematics(sdh, values)


def test_joint_positions_that_are_not_finite_are_refused(sdh):
    with pytest.raises(ShapeError, match='must be finite'):
        forward_kinematics(sdh, np.full((1, 7), np.nan))


def test_a_batch_for_another_hand_is_refused(sdh):
    batch = ConfigurationBatch(np.eye(4)[None], np.zeros((1, 6)), np.zeros((1, 6)),
                               np.zeros((1, 3)))
    with pytest.raises(ShapeError, match=r'joint_positions must have shape \(n, 7\)'):
        compute_link_states(sdh, batch)
