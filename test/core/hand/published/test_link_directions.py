"""Directions of motion of links."""

import hand_cases
import numpy as np
import pytest

from gripsim_ros.core.errors import HandError, ShapeError
from gripsim_ros.core.hand import forward_kinematics, HandModel
from gripsim_ros.core.hand.published.link_directions import (
    link_displacements, mesh_centroids, SEED)
from gripsim_ros.core.transforms import apply
from gripsim_ros.library.resources import load_default_hand

ATOL_ROUNDOFF = 1e-9
STEP = 1e-6
ATOL_FINITE_DIFFERENCE = 1e-8


@pytest.fixture
def planar(tmp_path):
    return HandModel.load(*hand_cases.write_hand(
        tmp_path, hand_cases.PLANAR_URDF, hand_cases.PLANAR_CONFIG))


def test_truncated_sum_of_a_planar_arm_is_the_published_one(planar):
    # Unit links at 0 and 90 degrees, unit rates: (-1, 1), where the exact tip moves by (-2, 1).
    q, rates = np.array([[0.0, np.pi / 2]]), np.ones((1, 2))
    tip = planar.link_index('lower')
    np.testing.assert_allclose(link_displacements(planar, q, rates, SEED)[0, tip],
                               [-1.0, 1.0, 0.0], rtol=0.0, atol=ATOL_ROUNDOFF)
    np.testing.assert_allclose(link_displacements(planar, q, rates)[0, tip],
                               [-2.0, 1.0, 0.0], rtol=0.0, atol=ATOL_ROUNDOFF)


def test_truncated_sum_of_an_inner_link_is_the_motion_of_the_next_joint(planar):
    moved = link_displacements(planar, np.array([[0.3, 0.4]]), np.array([[1.0, 5.0]]), SEED)
    np.testing.assert_allclose(moved[0, planar.link_index('upper')],
                               [-np.sin(0.3), np.cos(0.3), 0.0], rtol=0.0, atol=ATOL_ROUNDOFF)


def test_exact_displacement_is_that_of_the_centroid(rng):
    hand = load_default_hand()
    q = rng.uniform(hand.joint_lower, hand.joint_upper, (5, 7))
    rates = rng.normal(size=(5, 7))
    ends = [apply(forward_kinematics(hand, q + sign * STEP * rates),
                  mesh_centroids(hand)[:, None])[:, :, 0] for sign in (1.0, -1.0)]
    np.testing.assert_allclose(link_displacements(hand, q, rates),
                               (ends[0] - ends[1]) / (2.0 * STEP),
                               rtol=0.0, atol=ATOL_FINITE_DIFFERENCE)


@pytest.mark.parametrize('method', [SEED, 'jacobian_centroid'])
def test_opening_is_the_opposite_of_closing(method, rng):
    hand = load_default_hand()
    q = rng.uniform(hand.joint_lower, hand.joint_upper, (4, 7))
    rates = rng.normal(size=(4, 7))
    np.testing.assert_allclose(link_displacements(hand, q, -rates, method),
                               -link_displacements(hand, q, rates, method),
                               rtol=0.0, atol=ATOL_ROUNDOFF)


def test_methods_agree_where_one_joint_turns_the_last_link(planar):
    q, rates = np.array([[0.3, 0.7]]), np.array([[0.0, 0.2]])
    np.testing.assert_allclose(link_displacements(planar, q, rates, SEED),
                               link_displacements(planar, q, rates),
                               rtol=0.0, atol=ATOL_ROUNDOFF)


def test_the_truncated_sum_points_elsewhere_than_a_bent_finger_moves():
    """Only the knuckle turns; the finger is bent, and its tip goes sideways."""
    hand = load_default_hand()
    q = np.array([[0.5, -0.3, 0.6, -0.3, 0.6, -0.3, 0.6]])
    knuckle = np.zeros((1, 7))
    knuckle[0, 0] = 0.01
    for name in ('sdh_finger_12_link', 'sdh_finger_13_link'):
        link = hand.link_index(name)
        exact = link_displacements(hand, q, knuckle)[0, link]
        seed = link_displacements(hand, q, knuckle, SEED)[0, link]
        assert np.linalg.norm(exact) > 1e-4
        assert np.linalg.norm(seed) < 1e-2 * np.linalg.norm(exact)


def test_an_unknown_method_is_refused(planar):
    with pytest.raises(HandError, match='unknown method'):
        link_displacements(planar, np.zeros((1, 2)), np.zeros((1, 2)), 'guess')


def test_displacements_of_another_shape_are_refused(planar):
    with pytest.raises(ShapeError, match='joint_displacements'):
        link_displacements(planar, np.zeros((1, 2)), np.zeros((2, 2)))
