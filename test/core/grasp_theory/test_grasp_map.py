"""Contact frames, the grasp map and load cases."""

from grasp_cases import random_patches, seeds, wrench_of
from hypothesis import given
import numpy as np
from numpy.testing import assert_allclose
import pytest

from gripsim_ros.core.errors import ShapeError
from gripsim_ros.core.grasp_theory.grasp_map import contact_frames, grasp_map, load_wrenches

ATOL_ROUNDOFF = 1e-12


@given(seeds)
def test_contact_frames_are_right_handed_rotations_with_the_normal_first(seed):
    normals = random_patches(np.random.default_rng(seed), 6).normals
    frames = contact_frames(normals)
    assert_allclose(frames[:, :, 0], normals, rtol=0, atol=ATOL_ROUNDOFF)
    assert_allclose(frames @ frames.transpose(0, 2, 1), np.tile(np.eye(3), (6, 1, 1)),
                    rtol=0, atol=ATOL_ROUNDOFF)
    assert_allclose(np.linalg.det(frames), 1.0, rtol=0, atol=ATOL_ROUNDOFF)
    assert_allclose(frames[:, 2, 1], 0.0, rtol=0, atol=ATOL_ROUNDOFF)


def test_first_tangent_is_normal_cross_z():
    assert_allclose(contact_frames(np.array([[1.0, 0, 0]]))[0, :, 1], [0, -1, 0],
                    rtol=0, atol=ATOL_ROUNDOFF)


@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_a_normal_along_z_takes_the_x_axis(sign):
    frame = contact_frames(np.array([[0.0, 0.0, sign]]))[0]
    assert_allclose(frame[:, 1], [0, sign, 0], rtol=0, atol=ATOL_ROUNDOFF)
    assert_allclose(np.linalg.det(frame), 1.0, rtol=0, atol=ATOL_ROUNDOFF)


@given(seeds)
def test_frames_are_crosses_with_the_axes_where_some_normals_are_along_z(seed):
    normals = random_patches(np.random.default_rng(seed), 4).normals
    normals[2] = 0.0, 0.0, -1.0
    for chosen in (normals, normals[:2]):
        axes = np.tile([0.0, 0.0, 1.0], (len(chosen), 1))
        axes[2:3] = 1.0, 0.0, 0.0
        first = np.cross(chosen, axes)
        first /= np.linalg.norm(first, axis=1)[:, None]
        wanted = np.stack([chosen, first, np.cross(chosen, first)], axis=2)
        assert_allclose(contact_frames(chosen), wanted, rtol=0.0, atol=ATOL_ROUNDOFF)


@pytest.mark.parametrize('normals, message', [
    (np.zeros((2, 2)), r'must have shape \(k, 3\), got \(2, 2\)'),
    (np.array([[2.0, 0.0, 0.0]]), r'must have length 1, got \[2.0\]'),
    (np.array([[np.nan, 0.0, 0.0]]), 'must be finite')])
def test_what_is_no_normal_is_refused(normals, message):
    with pytest.raises(ShapeError, match=message):
        contact_frames(normals)


@given(seeds)
def test_the_grasp_map_sums_forces_and_their_moments(seed):
    rng = np.random.default_rng(seed)
    patches, centre = random_patches(rng, 4), rng.normal(size=3)
    frames, gamma = contact_frames(patches.normals), rng.normal(size=(4, 4))
    forces = np.stack([frames[i] @ gamma[i, :3] for i in range(4)])
    torques = patches.normals * gamma[:, 3:]
    soft = grasp_map(patches.points, frames, centre)
    hard = grasp_map(patches.points, frames, centre, soft=False)
    assert_allclose(soft @ gamma.reshape(-1), wrench_of(patches.points, forces, torques, centre),
                    rtol=0, atol=ATOL_ROUNDOFF)
    assert_allclose(hard @ gamma[:, :3].reshape(-1),
                    wrench_of(patches.points, forces, 0 * torques, centre),
                    rtol=0, atol=ATOL_ROUNDOFF)


def test_gravity_has_no_moment_about_the_centre_of_mass():
    case = np.array([[0.0, 0.0, -9.81, 0, 0, 0, 0, 0, 0]])
    assert_allclose(load_wrenches(case, 0.25, np.array([0.1, 0.2, 0.3])),
                    [[0, 0, -2.4525, 0, 0, 0]], rtol=0, atol=ATOL_ROUNDOFF)


def test_an_external_force_acts_at_the_origin_of_the_object():
    case = np.array([[0.0, 0, 0, 1.0, 0, 0, 0, 0, 0.5]])
    centre = np.array([0.0, 0.1, 0.0])
    wrench = load_wrenches(case, 0.25, centre)
    expected = wrench_of(np.zeros((1, 3)), case[:, 3:6], case[:, 6:], centre)
    assert_allclose(wrench[0], expected, rtol=0, atol=ATOL_ROUNDOFF)
    assert_allclose(wrench[0, 5], 0.6, rtol=0, atol=ATOL_ROUNDOFF)


@given(seeds)
def test_wrenches_of_loads_are_those_of_weight_at_the_centre_and_force_at_the_origin(seed):
    rng = np.random.default_rng(seed)
    cases, centre, mass = rng.normal(size=(3, 9)), rng.normal(size=3), rng.uniform(0.1, 5.0)
    points = np.stack([centre, np.zeros(3)])
    wanted = [wrench_of(points, np.stack([mass * case[:3], case[3:6]]),
                        np.stack([np.zeros(3), case[6:]]), centre) for case in cases]
    assert_allclose(load_wrenches(cases, mass, centre), wanted, rtol=0, atol=ATOL_ROUNDOFF)


def test_load_cases_of_another_width_are_refused():
    with pytest.raises(ShapeError, match=r'must have shape \(c, 9\), got \(2, 6\)'):
        load_wrenches(np.zeros((2, 6)), 1.0, np.zeros(3))
