"""The pseudo-inverse's contact forces: printed cases, balance, what leaves the cones."""

from grasp_cases import all_directions, ORIGIN, pinch, pull, random_patches, ring, seeds
from grasp_cases import wrench_of
from hypothesis import given, settings
import numpy as np
from numpy.testing import assert_allclose
import pytest

from gripsim_ros.core.grasp_theory.grasp_map import contact_frames
from gripsim_ros.core.grasp_theory.grasp_force_socp import MinimalForceOptions
from gripsim_ros.core.mechanics.stability.grasp_forces import solve_minimal_forces
from gripsim_ros.core.mechanics.stability.published.pseudo_inverse_forces import (
    pseudo_inverse_forces)

WEIGHT = 9.81
RTOL_SOLVER = 1e-6
ATOL_ROUNDOFF = 1e-9


@pytest.mark.parametrize('patches, direction, gamma, violation', [
    (pinch(), [0, 0, -1], [[0.0, WEIGHT / 2], [0.0, WEIGHT / 2]], WEIGHT / 2),
    (pinch(), [1, 0, 0], [[WEIGHT / 2, 0.0], [-WEIGHT / 2, 0.0]], WEIGHT / 2)])
def test_the_pseudo_inverse_leaves_the_cones_of_a_pinch(patches, direction, gamma, violation):
    found, beyond = pseudo_inverse_forces(patches, pull(direction, WEIGHT), ORIGIN, 0.5)
    size = np.stack([found[0, :, 0], np.linalg.norm(found[0, :, 1:], axis=1)], 1)
    assert_allclose(size, gamma, rtol=0, atol=ATOL_ROUNDOFF)
    assert_allclose(beyond, violation, rtol=RTOL_SOLVER, atol=0)
    by_mode = solve_minimal_forces(patches, pull(direction, WEIGHT), ORIGIN, 0.5, None, None,
                                   MinimalForceOptions(mode='seed'))
    assert not by_mode.capable
    assert_allclose(by_mode.violation, violation, rtol=RTOL_SOLVER, atol=0)


def test_the_pseudo_inverse_lets_two_of_three_contacts_pull():
    found, beyond = pseudo_inverse_forces(ring(3), pull([1, 0, 0], WEIGHT), ORIGIN, 0.5)
    assert_allclose(found[0, :, 0], WEIGHT * np.array([1 / 3, -1 / 6, -1 / 6]), rtol=0,
                    atol=ATOL_ROUNDOFF)
    assert beyond[0] >= WEIGHT / 6


@settings(max_examples=20)
@given(seeds)
def test_an_internal_force_does_not_change_the_balance(seed):
    rng = np.random.default_rng(seed)
    patches, wrenches = random_patches(rng, 4), all_directions(2.0)[:3]
    internal = rng.uniform(0.0, 5.0, (4, 4))
    found, _ = pseudo_inverse_forces(patches, wrenches, ORIGIN, 0.5, internal)
    frames = contact_frames(patches.normals)
    for gamma, wrench in zip(found, wrenches):
        forces = np.einsum('kab,kb->ka', frames, gamma[:, :3])
        torques = patches.normals * (gamma[:, 3] * patches.friction_radii)[:, None]
        total = wrench_of(patches.points, forces, torques, ORIGIN)
        assert_allclose(total, -wrench, rtol=0, atol=ATOL_ROUNDOFF)


def test_a_squeeze_makes_the_pseudo_inverse_a_grasp():
    squeeze = np.zeros((2, 4))
    squeeze[:, 0] = 10.0
    found, beyond = pseudo_inverse_forces(pinch(), pull([0, 0, -1], WEIGHT), ORIGIN, 0.5, squeeze)
    assert_allclose(found[0, :, 0], 10.0, rtol=0, atol=ATOL_ROUNDOFF)
    assert_allclose(beyond, WEIGHT / 2 - 5.0, rtol=RTOL_SOLVER, atol=0)
