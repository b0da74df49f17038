"""Deformation and stress of a grasped object against closed forms."""

from hypothesis import given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.integrate import quad
from scipy.spatial.transform import Rotation
import trimesh

from gripsim_ros.core.bodies import Material, TriangleMesh
from gripsim_ros.core.mechanics.contact.contact_forces import solve_contact_forces
from gripsim_ros.core.mechanics.contact.half_space import GRID_SOFTENING
from gripsim_ros.core.mechanics.contact.patch_resultants import summarise_patches
from gripsim_ros.core.mechanics.deformation.boussinesq import surface_loads
from gripsim_ros.core.mechanics.deformation.deformed_surface import deform_surface
from gripsim_ros.core.mechanics.deformation.metrics import (
    fit_rigid_motion, hertz_stress_ratio, measure_deformation, peak_von_mises, von_mises_below)
from lattice_cases import ball_under_pad, flat_punch, join, paraboloid, transformed

MODULUS, POISSON = 1e5, 0.3
RADIUS, DEPTH = 8e-3, 1e-3
PEAK = 2.0 * MODULUS * np.sqrt(RADIUS * DEPTH) / (np.pi * RADIUS)
FOAM = Material(5e5, 0.3, 100.0, 0.5)

#: Johnson 1985, section 4.2: 0.31 p0 of largest shear at 0.48 a, nu = 0.3.
RATIO_AT_03 = 0.62
#: Of Hertz' largest stress, by loaded nodes; below 20 it is a ratio of the peak pressure.
RTOL_STRESS = {10: 0.1, 40: 0.02, 200: 0.015}
RTOL_DISC = 3e-3

seeds = st.integers(0, 2 ** 32 - 1)


def results_of(nodes, poisson_ratio=POISSON):
    """Return solution, results and stresses of nodes."""
    solution = solve_contact_forces(nodes, MODULUS, {})
    results = summarise_patches(nodes, solution, poisson_ratio, {})
    return solution, results, peak_von_mises(nodes, solution, results, poisson_ratio)


def test_the_ratio_of_hertz_is_the_published_one():
    assert_allclose(hertz_stress_ratio(0.3), RATIO_AT_03, rtol=2e-3)


@pytest.mark.parametrize('poisson_ratio', [0.0, 0.3, 0.49])
@pytest.mark.parametrize('depth', [0.3, 0.7, 1.5])
def test_stress_below_an_even_pressure_on_a_disc_is_the_closed_form(poisson_ratio, depth):
    # On the axis (Johnson 1985, equation 3.33), p = a = 1.
    nodes = flat_punch(1.0, 1e-3, 3000)
    even = np.full(len(nodes.depths), np.pi / len(nodes.depths))
    found = von_mises_below(nodes.points[:, :2], even, np.zeros((1, 2)), np.array([depth]),
                            poisson_ratio)
    t = depth / np.hypot(1.0, depth)
    axial = -(1.0 - t ** 3)
    radial = -0.5 * (1.0 + 2.0 * poisson_ratio - 2.0 * (1.0 + poisson_ratio) * t + t ** 3)
    assert_allclose(found[0, 0], abs(axial - radial), rtol=RTOL_DISC)


@given(x=st.floats(-2.0, 2.0), y=st.floats(-2.0, 2.0), nu=st.floats(0.0, 0.5))
@settings(max_examples=30)
def test_a_point_load_is_carried_through_every_plane(x, y, nu):
    # Far from the axis the stress depends on nu; what a plane carries is the load alone.
    def carried(radius):
        # At nu = 0.5 a point load's stress is radial: von Mises is the whole of it.
        rho = np.hypot(radius, 1.0)
        return von_mises_below(np.zeros((1, 2)), np.ones(1), np.array([[radius, 0.0]]),
                               np.ones(1), 0.5)[0, 0] * (1.0 / rho) ** 2 * 2 * np.pi * radius
    total, _ = quad(carried, 0.0, np.inf, limit=200)
    assert_allclose(total, 1.0, rtol=1e-6)
    turned = von_mises_below(np.zeros((1, 2)), np.ones(1),
                             np.array([[x, y], [np.hypot(x, y), 0.0]]), np.ones(1), nu)
    assert_allclose(turned[0], turned[1], rtol=1e-9)


@pytest.mark.parametrize('count', sorted(RTOL_STRESS))
@pytest.mark.parametrize('poisson_ratio', [0.3, 0.45])
def test_the_largest_stress_below_a_ball_is_that_of_hertz(count, poisson_ratio):
    _, _, stresses = results_of(paraboloid(RADIUS, DEPTH, count, (0.1, 0.2)), poisson_ratio)
    assert_allclose(stresses, hertz_stress_ratio(poisson_ratio) * PEAK,
                    rtol=RTOL_STRESS[count])


@given(seed=seeds)
@settings(max_examples=10)
def test_stress_does_not_depend_on_the_frame(seed):
    nodes = join(paraboloid(RADIUS, DEPTH, 60), ball_under_pad(0.04, [1.0, 2.0, 3.0], 1e-3,
                                                               0.01, 60))
    rotation = Rotation.random(random_state=seed).as_matrix()
    first = results_of(nodes)[2]
    second = results_of(transformed(nodes, rotation, np.array([0.1, 0.2, -0.3])))[2]
    assert_allclose(second, first, rtol=1e-6)


@given(seed=seeds)
@settings(max_examples=20)
def test_a_rigid_motion_is_found_and_deforms_nothing(seed):
    rng = np.random.default_rng(seed)
    points, weights = rng.normal(size=(30, 3)), rng.uniform(0.1, 1.0, 30)
    rotation = Rotation.random(random_state=seed).as_matrix()
    found, shift = fit_rigid_motion(points, points @ rotation.T + [1.0, -2.0, 3.0], weights)
    assert_allclose(found, rotation, atol=1e-9)
    assert_allclose(shift, [1.0, -2.0, 3.0], atol=1e-9)


@given(seed=seeds, mirrored=st.booleans())
@settings(max_examples=20)
def test_no_other_rigid_motion_is_nearer(seed, mirrored):
    rng = np.random.default_rng(seed)
    before, weights = rng.normal(size=(12, 3)), rng.uniform(0.1, 1.0, 12)
    after = before * [1.0, -1.0 if mirrored else 1.0, 1.0] + 0.5 * rng.normal(size=(12, 3))
    rotation, shift = fit_rigid_motion(before, after, weights)

    def distance(turn, move):
        return (weights * ((after - before @ turn.T - move) ** 2).sum(axis=1)).sum()

    least = distance(rotation, shift)
    assert_allclose(np.linalg.det(rotation), 1.0)
    for _ in range(10):
        other = Rotation.from_rotvec(1e-2 * rng.normal(size=3)).as_matrix() @ rotation
        assert distance(other, shift + 1e-2 * rng.normal(size=3)) >= least


def deformed_ball(turn=None):
    """Return the metrics of a pinched ball, moved after it deformed."""
    ball = trimesh.creation.icosphere(4, 0.04)
    mesh = TriangleMesh(ball.vertices, ball.faces)
    nodes = join(*(ball_under_pad(0.04, [sign, 0.0, 0.0], 2e-3, 0.01, 100)
                   for sign in (1.0, -1.0)))
    solution = solve_contact_forces(nodes, FOAM.plane_strain_modulus, {})
    results = summarise_patches(nodes, solution, FOAM.poisson_ratio, {})
    vertices = deform_surface(mesh, FOAM, surface_loads(nodes, solution, results,
                                                        GRID_SOFTENING)).vertices
    if turn is not None:
        vertices = vertices @ turn.T + [0.01, 0.02, -0.03]
    areas = np.bincount(mesh.faces.ravel(), np.repeat(ball.area_faces / 3.0, 3))
    return measure_deformation(mesh.vertices, vertices, areas, nodes, solution, results,
                               FOAM.poisson_ratio), solution


def test_a_pinched_ball_deforms_by_the_depth_at_most_and_little_in_the_mean():
    metrics, solution = deformed_ball()
    assert_allclose(metrics.max_deformation, 2e-3, rtol=0.01)
    assert 0.0 < metrics.mean_deformation < 0.1 * metrics.max_deformation
    assert_allclose(metrics.patch_strain_energies.sum(), solution.strain_energy, rtol=1e-9)
    assert_allclose(metrics.patch_strain_energies[0], metrics.patch_strain_energies[1],
                    rtol=1e-6)
    assert metrics.peak_von_mises == metrics.patch_von_mises.max() > 0.0
    largest, means = metrics.patch_max_deformations, metrics.patch_mean_deformations
    assert_allclose(largest, metrics.max_deformation, rtol=0.02)
    # Under a paraboloid's contact the surface has moved by half of the depth at its edge.
    assert (0.5 * largest < means).all() and (means < largest).all()


def test_moving_the_deformed_object_leaves_its_mean_deformation():
    still, _ = deformed_ball()
    moved, _ = deformed_ball(Rotation.from_rotvec([0.3, -0.2, 0.5]).as_matrix())
    assert_allclose(moved.mean_deformation, still.mean_deformation, rtol=1e-9)
