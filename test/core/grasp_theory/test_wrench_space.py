"""Epsilon, volume and force closure against values known in closed form."""

from grasp_cases import move, ORIGIN, pinch, RADIUS, random_patches, ring, rotations, seeds
from grasp_cases import tetrahedron, translations
from hypothesis import given, settings
import numpy as np
from numpy.testing import assert_allclose
import pytest

from gripsim_ros.core.errors import TaskError
from gripsim_ros.core.grasp_theory.wrench_space import (
    hull_metrics, primitive_wrenches, wrench_space_metrics)
from oracle_wrench_space import epsilon_bounds, force_closure, minkowski_sums

ATOL_ROUNDOFF = 1e-9
ATOL_PRINTED_6_DIGITS = 1e-6
ATOL_PRINTED_5_DIGITS = 1e-5
RTOL_ROUNDOFF = 1e-9


def planar_edges(angles, friction, tilts=None):
    """Return primitive wrenches (k, 2, 3) of contacts on the unit circle of the plane."""
    edges = []
    for angle, tilt in zip(angles, tilts if tilts is not None else np.zeros(len(angles))):
        point = np.array([np.cos(angle), np.sin(angle)])
        normal = -np.array([np.cos(angle + tilt), np.sin(angle + tilt)])
        tangent = np.array([-normal[1], normal[0]])
        forces = [normal + side * friction * tangent for side in (1.0, -1.0)]
        edges.append([[*f, point[0] * f[1] - point[1] * f[0]] for f in forces])
    return np.array(edges)


def circle(count):
    """Return angles evenly about the circle."""
    return 2.0 * np.pi * np.arange(count) / count


@pytest.mark.parametrize('friction', [0.2, 0.5, 1.0])
def test_two_planar_contacts_have_the_epsilon_of_the_formula(friction):
    epsilon, volume = hull_metrics(planar_edges(circle(2), friction).reshape(-1, 3))
    assert_allclose(epsilon, friction / np.sqrt(friction ** 2 + 2.0), rtol=0,
                    atol=ATOL_ROUNDOFF)
    assert_allclose(volume, 8.0 * friction ** 2 / 3.0, rtol=0, atol=ATOL_ROUNDOFF)


@pytest.mark.parametrize('count, friction, epsilon, volume', [
    (3, 0.2, 0.2, 0.646543), (3, 0.5, 0.5, 2.157291), (3, 1.0, 0.935113, 6.464102),
    (4, 0.2, 0.2, 0.917333), (4, 0.5, 0.5, 2.833333), (4, 1.0, 1.0, 8.0)])
def test_planar_rings_have_known_epsilon_and_volume(count, friction, epsilon, volume):
    found = hull_metrics(planar_edges(circle(count), friction).reshape(-1, 3))
    assert_allclose(found, (epsilon, volume), rtol=0, atol=ATOL_PRINTED_6_DIGITS)


@pytest.mark.parametrize('count, epsilon', [(2, 0.577350), (3, 0.998286), (4, 1.690309)])
def test_limits_per_contact_give_the_minkowski_sum(count, epsilon):
    found, _ = hull_metrics(minkowski_sums(planar_edges(circle(count), 0.5)))
    assert_allclose(found, epsilon, rtol=0, atol=ATOL_PRINTED_6_DIGITS)


@pytest.mark.parametrize('beyond_deg, epsilon', [(-2.0, 0.012342), (2.0, 0.0)])
def test_a_planar_pair_closes_just_inside_the_antipodal_limit(beyond_deg, epsilon):
    # The angle between the two, not that of each, is 2 degrees off its limit.
    half = np.arctan(0.5) + 0.5 * np.deg2rad(beyond_deg)
    edges = planar_edges([half, np.pi - half], 0.5)
    found, _ = hull_metrics(edges.reshape(-1, 3))
    assert_allclose(found, epsilon, rtol=0, atol=ATOL_PRINTED_6_DIGITS)
    assert (force_closure(edges.reshape(-1, 3)) > ATOL_ROUNDOFF) == (beyond_deg < 0.0)


@pytest.mark.parametrize('patches, epsilon', [
    (ring(3), 0.27593), (ring(4), 0.32043), (tetrahedron(), 0.34303)])
def test_sphere_grasps_have_known_epsilon_with_eight_edges(patches, epsilon):
    found, _ = wrench_space_metrics(patches.points, patches.normals, ORIGIN, 0.5, RADIUS)
    assert_allclose(found, epsilon, rtol=0, atol=ATOL_PRINTED_5_DIGITS)


@pytest.mark.parametrize('patches, bounds, exact', [
    (ring(3), (0.28676, 0.28817), 0.28771), (ring(4), (0.32952, 0.33122), 0.32968),
    (tetrahedron(), (0.35287, 0.35460), np.sqrt(0.125))])
def test_pyramids_inside_and_about_the_cones_enclose_the_exact_epsilon(patches, bounds, exact):
    found = epsilon_bounds(patches.points, patches.normals, ORIGIN, 0.5, RADIUS, 32)
    assert_allclose(found, bounds, rtol=0, atol=ATOL_PRINTED_5_DIGITS)
    assert found[0] <= exact <= found[1]


def test_two_hard_contacts_never_close_in_space():
    patches = pinch()
    found = wrench_space_metrics(patches.points, patches.normals, ORIGIN, 0.5, RADIUS)
    assert found == (0.0, 0.0)
    edges = primitive_wrenches(patches.points, patches.normals, ORIGIN, 0.5, RADIUS)
    assert force_closure(edges.reshape(-1, 6)) == -np.inf


@pytest.mark.parametrize('count', [0, 1, 3])
def test_degenerate_grasps_have_no_quality(count):
    points = np.tile([RADIUS, 0.0, 0.0], (count, 1))
    normals = np.tile([-1.0, 0.0, 0.0], (count, 1))
    assert wrench_space_metrics(points, normals, ORIGIN, 0.5, RADIUS) == (0.0, 0.0)


def test_contacts_on_one_side_have_volume_but_no_epsilon():
    patches = ring(3)
    points = patches.points + [0.0, 0.0, 0.02]
    normals = points / np.linalg.norm(points, axis=1)[:, None] * [1.0, 1.0, -1.0] * [-1, -1, 1]
    found = wrench_space_metrics(points, normals, ORIGIN, 0.1, RADIUS)
    assert found[0] == 0.0 and found[1] > 0.0


@settings(max_examples=25)
@given(seeds)
def test_the_linear_programme_and_the_hull_agree_on_closure(seed):
    rng = np.random.default_rng(seed)
    patches = random_patches(rng, int(rng.integers(3, 5)))
    edges = primitive_wrenches(patches.points, patches.normals, ORIGIN, 0.6, RADIUS, 6)
    epsilon, _ = hull_metrics(edges.reshape(-1, 6))
    assert (epsilon > ATOL_ROUNDOFF) == (force_closure(edges.reshape(-1, 6)) > ATOL_ROUNDOFF)


@settings(max_examples=20)
@given(seeds, translations)
def test_metrics_do_not_depend_on_where_the_frame_is(seed, translation):
    patches = random_patches(np.random.default_rng(seed), 4)
    moved, _, centre = move(patches, np.zeros((0, 6)), ORIGIN, np.eye(3), translation)
    assert_allclose(
        wrench_space_metrics(moved.points, moved.normals, centre, 0.5, RADIUS),
        wrench_space_metrics(patches.points, patches.normals, ORIGIN, 0.5, RADIUS),
        rtol=1e-6, atol=ATOL_ROUNDOFF)


@settings(max_examples=10)
@given(seeds, rotations)
def test_bounds_of_one_grasp_in_two_frames_overlap(seed, rotation):
    patches = random_patches(np.random.default_rng(seed), 3)
    moved, _, centre = move(patches, np.zeros((0, 6)), ORIGIN, rotation, np.zeros(3))
    first = epsilon_bounds(patches.points, patches.normals, ORIGIN, 0.5, RADIUS, 8)
    second = epsilon_bounds(moved.points, moved.normals, centre, 0.5, RADIUS, 8)
    assert max(first[0], second[0]) <= min(first[1], second[1]) + ATOL_ROUNDOFF


@settings(max_examples=20)
@given(seeds)
def test_more_friction_never_lowers_the_metrics(seed):
    patches = random_patches(np.random.default_rng(seed), 4)
    found = [wrench_space_metrics(patches.points, patches.normals, ORIGIN, friction, RADIUS)
             for friction in (0.3, 0.6)]
    assert found[1][0] >= found[0][0] - ATOL_ROUNDOFF
    assert found[1][1] >= found[0][1] * (1.0 - RTOL_ROUNDOFF)


@pytest.mark.parametrize('values, message', [
    ((-0.1, 1.0, 8), 'friction must be 0 or above and finite, got -0.1'),
    ((0.5, 0.0, 8), 'length_scale must be above 0, got 0.0'),
    ((0.5, 1.0, 2), 'edge_count must be at least 3, got 2')])
def test_parameters_out_of_range_are_refused(values, message):
    patches = ring(3)
    with pytest.raises(TaskError, match=message):
        primitive_wrenches(patches.points, patches.normals, ORIGIN, *values)
