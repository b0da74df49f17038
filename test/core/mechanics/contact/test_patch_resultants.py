"""Results of patches: resultants, pressures, stiffness, flags."""

from dataclasses import replace

from hypothesis import given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.spatial.transform import Rotation

from gripsim_ros.core import batches
from gripsim_ros.core.errors import TaskError
from gripsim_ros.core.mechanics.contact import bonded_layer
from gripsim_ros.core.mechanics.contact.contact_forces import (
    ContactForces, PatchNodes, solve_contact_forces)
from gripsim_ros.core.mechanics.contact.patch_resultants import (
    max_normal_forces, shared_force_limits, stiffness_by_link, summarise_patches, validity_flags,
    ValidityOptions, wall_bending)
from lattice_cases import (ball_under_pad, flat_punch, hertz_force, join, paraboloid,
                           transformed)

MODULUS, POISSON = 1e5, 0.3
RADIUS, DEPTH = 8e-3, 1e-3
CONTACT_RADIUS = np.sqrt(RADIUS * DEPTH)
RUBBER = bonded_layer.fit_layer(2e6, 0.45, 3e-3)

RTOL_LATTICE = 0.01
#: Counting nodes overestimates the area by its rim.
RTOL_AREA = 0.12
RTOL_PUNCH_EDGE = 0.03
RTOL_FINITE_DIFFERENCE = 5e-3
RTOL_POWER_LAW = 0.1


def results_of(nodes, modulus=MODULUS, layers=None):
    """Return solution and results of nodes."""
    solution = solve_contact_forces(nodes, modulus, layers or {})
    return solution, summarise_patches(nodes, solution, POISSON, layers or {})


def deepened(nodes, amount):
    """Return nodes of which each lies deeper along its normal's z component."""
    return replace(nodes, depths=nodes.depths + amount)


@pytest.fixture(scope='module')
def hertz():
    """Return the results of a Hertzian contact."""
    return results_of(paraboloid(RADIUS, DEPTH, 200, (0.1, 0.2)))


def test_the_friction_radius_is_that_of_hertz(hertz):
    # r_e = 3 pi a / 16 = 0.5890 a.
    assert_allclose(hertz[1].friction_radii, 0.589049 * CONTACT_RADIUS, rtol=RTOL_LATTICE)


def test_the_peak_pressure_is_that_of_hertz(hertz):
    # Johnson 1985: p0 = 22507.908 Pa at E* = 1e5 Pa, R = 8 mm, 1 mm.
    assert_allclose(hertz[1].peak_pressures, 22507.908, rtol=RTOL_LATTICE)


def test_the_area_is_that_of_hertz_within_its_rim(hertz):
    assert_allclose(hertz[1].areas, np.pi * RADIUS * DEPTH, rtol=RTOL_AREA)
    assert_allclose(hertz[1].radii, np.sqrt(hertz[1].areas / np.pi))


def test_the_normal_stiffness_is_that_of_hertz(hertz):
    assert_allclose(hertz[1].normal_stiffness, 2.0 * MODULUS * CONTACT_RADIUS,
                    rtol=RTOL_LATTICE)


def test_the_tangential_stiffness_has_mindlins_ratio(hertz):
    # 2 (1 - nu) / (2 - nu) = 0.824 at nu = 0.3.
    ratio = hertz[1].tangential_stiffness / hertz[1].normal_stiffness
    assert_allclose(ratio, 0.8235294, rtol=1e-6)


def test_the_strain_energy_is_that_of_hertz(hertz):
    assert_allclose(hertz[0].strain_energy,
                    0.4 * hertz_force(MODULUS, RADIUS, DEPTH) * DEPTH, rtol=RTOL_LATTICE)


def test_the_surface_under_a_rigid_pad_moves_by_the_depth(hertz):
    assert_allclose(hertz[1].indentations, hertz[1].depths, rtol=1e-9)


def test_the_centre_of_pressure_has_no_moment(hertz):
    assert_allclose(hertz[1].torques, 0.0, atol=1e-9)
    assert_allclose(hertz[1].points[0, :2], 0.0, atol=1e-2 * CONTACT_RADIUS)


def test_a_punch_has_its_own_friction_radius():
    # p ~ 1 / sqrt(a^2 - r^2): r_e = pi a / 4.
    _, results = results_of(flat_punch(5e-3, 1e-4, 1200))
    assert_allclose(results.friction_radii, np.pi / 4.0 * 5e-3, rtol=RTOL_PUNCH_EDGE)


def test_an_even_pressure_has_a_friction_radius_of_two_thirds():
    nodes = flat_punch(5e-3, 1e-4, 1200)
    count = len(nodes.depths)
    even = ContactForces(np.arange(count), np.arange(count), np.full(count, 1e-3),
                         np.zeros(count), np.eye(count), np.eye(count), np.arange(count))
    results = summarise_patches(nodes, even, POISSON, {})
    assert_allclose(results.friction_radii, 2.0 / 3.0 * 5e-3, rtol=RTOL_LATTICE)


@pytest.mark.parametrize('layers', [{}, {0: RUBBER}])
def test_the_normal_stiffness_is_the_derivative_of_the_force(layers):
    nodes = paraboloid(RADIUS, DEPTH, 110)
    _, results = results_of(nodes, layers=layers)
    step = 2e-3 * DEPTH
    more, less = (results_of(deepened(nodes, sign * step), layers=layers)[1].magnitudes
                  for sign in (1.0, -1.0))
    assert_allclose(results.normal_stiffness, (more - less) / (2.0 * step),
                    rtol=RTOL_FINITE_DIFFERENCE)


def beside_each_other():
    """Return two paraboloids of different depth that press a half-space near each other."""
    first, second = paraboloid(RADIUS, DEPTH, 110), paraboloid(RADIUS, 0.6 * DEPTH, 110, link=1)
    apart = np.array([2.5 * CONTACT_RADIUS, 0.0, 0.0])
    return join(first, replace(second, points=second.points + apart))


@pytest.mark.parametrize('layers', [{}, {0: RUBBER}])
def test_the_stiffness_between_patches_is_the_derivative_of_one_by_another(layers):
    nodes, step = beside_each_other(), 5e-4 * DEPTH
    _, results = results_of(nodes, layers=layers)
    assert_allclose(results.stiffness, results.stiffness.T, rtol=1e-9)
    for pressed in range(2):
        more, less = (results_of(deepened(nodes, sign * step * (nodes.patches == pressed)),
                                 layers=layers)[1].magnitudes for sign in (1.0, -1.0))
        assert_allclose(results.stiffness[:, pressed], (more - less) / (2.0 * step),
                        rtol=RTOL_FINITE_DIFFERENCE)
    assert results.stiffness[0, 1] < -0.05 * results.stiffness[0, 0]    # neighbours sink along


def test_links_gain_what_all_their_patches_do():
    _, results = results_of(beside_each_other())
    for links in ([2, 0], [1, 1]):
        found = stiffness_by_link(results, np.array(links), 4)
        for i in range(4):
            for j in range(4):
                wanted = sum(results.stiffness[a, b] for a in range(2) for b in range(2)
                             if (links[a], links[b]) == (i, j))
                assert_allclose(found[i, j], wanted, rtol=1e-12)


def test_a_pad_makes_the_contact_softer_in_both_directions():
    nodes = paraboloid(RADIUS, 2e-4, 110)
    _, rigid = results_of(nodes, 2e6)
    _, padded = results_of(nodes, 2e6, {0: RUBBER})
    assert padded.normal_stiffness < rigid.normal_stiffness
    assert padded.tangential_stiffness < rigid.tangential_stiffness


def test_a_thick_pad_slides_like_a_half_space():
    thick = bonded_layer.fit_layer(2e6, 0.45, 10.0)
    radius = 3e-3
    shear = 2e6 / 2.9
    assert_allclose(thick.tangential_stiffness(radius), 8.0 * shear * radius / 1.55, rtol=1e-3)


def test_patches_without_load_are_left_out():
    nodes = paraboloid(RADIUS, DEPTH, 50)
    away = replace(nodes, points=nodes.points + [0.05, 0.0, 0.0], depths=nodes.depths - 0.01)
    _, results = results_of(join(away, nodes))
    assert results.rows.tolist() == [1]


@given(seed=st.integers(0, 2 ** 32 - 1))
@settings(max_examples=15)
def test_results_turn_with_the_frame(seed):
    nodes = ball_under_pad(0.04, [0.2, 0.3, 1.0], 1e-3, 0.01, 60)
    rotation = Rotation.random(random_state=seed).as_matrix()
    translation = np.array([0.1, -0.2, 0.3])
    _, first = results_of(nodes, layers={0: RUBBER})
    _, second = results_of(transformed(nodes, rotation, translation), layers={0: RUBBER})
    assert_allclose(second.forces, first.forces @ rotation.T, atol=1e-6)
    assert_allclose(second.points, first.points @ rotation.T + translation, atol=1e-9)
    for name in ('areas', 'peak_pressures', 'normal_stiffness', 'tangential_stiffness'):
        assert_allclose(getattr(second, name), getattr(first, name), rtol=1e-6)


@given(factor=st.floats(0.3, 3.0))
@settings(max_examples=15)
def test_the_limit_of_force_is_where_hertz_meets_the_limit_of_pressure(factor):
    _, results = results_of(paraboloid(RADIUS, DEPTH, 110))
    limit = factor * results.peak_pressures
    expected = results.magnitudes * factor ** 3
    assert_allclose(max_normal_forces(results, limit), expected, rtol=RTOL_POWER_LAW)


def test_the_limit_of_force_under_a_punch_is_in_proportion():
    _, results = results_of(flat_punch(5e-3, 1e-4, 300))
    assert_allclose(max_normal_forces(results, 2.0 * results.peak_pressures),
                    2.0 * results.magnitudes, rtol=1e-6)


def test_without_a_limit_of_pressure_there_is_none_of_force(hertz):
    assert np.isinf(max_normal_forces(hertz[1], np.array([np.inf]))).all()


def test_patches_of_a_link_share_its_limit_as_they_share_its_force():
    links, forces = np.array([3, 5, 3]), np.array([1.0, 4.0, 2.0])
    limits = shared_force_limits(links, forces, 6.0)
    assert_allclose(limits, [2.0, 6.0, 4.0], rtol=1e-12)
    assert np.isinf(shared_force_limits(links, forces, np.inf)).all()


def flags_of(results, thickness=1.0, geometric=0, extent=0.0, links=None):
    """Return the flags of results with one thickness and extent for all, each of its own link."""
    links = np.arange(results.count) if links is None else links
    return validity_flags(results, links, np.full(results.count, geometric),
                          np.full(results.count, thickness),
                          np.full(results.count, max(thickness, extent)), ValidityOptions())


def test_a_gentle_contact_on_a_thick_body_has_no_flag():
    _, results = results_of(paraboloid(0.05, 1e-3, 110))
    assert flags_of(results).tolist() == [0]


def test_few_loaded_nodes_are_coarse_and_many_are_not():
    _, few = results_of(paraboloid(0.05, 1e-3, 4))
    _, many = results_of(paraboloid(0.05, 1e-3, 60))
    assert flags_of(few)[0] == batches.PATCH_COARSE
    assert flags_of(many, geometric=batches.PATCH_COARSE)[0] == 0


def test_a_contact_wide_against_the_thickness_is_thin_unless_the_pads_govern():
    _, results = results_of(paraboloid(0.05, 1e-3, 60))
    thickness = 4.0 * float(results.radii[0])
    assert flags_of(results, thickness)[0] == batches.PATCH_THIN
    beside = replace(results, indentations=1e-3 * results.depths)
    assert flags_of(beside, thickness)[0] == 0


def test_a_wall_is_thin_by_its_bending_wherever_that_adds_to_the_approach():
    # A ring of steel (Roark): R 50 mm, t 2 mm, length 2 R, F 1 N yields by 0.1488 R^3 / (E I).
    _, results = results_of(paraboloid(0.05, 1e-3, 60))
    radius, ring, wall = float(results.radii[0]), 0.05, 0.002
    bending = 0.5 * (np.pi / 4 - 2 / np.pi) * ring ** 3 / (2 * ring * wall ** 3 / 12)
    ratio = bending / (1 / (2 * radius))
    found = wall_bending(results.radii, np.array([wall]), np.array([wall + 2 * ring]))
    assert_allclose(found, ratio, rtol=1e-12)
    for over, flag in ((1.05, batches.PATCH_THIN), (0.95, 0)):
        share = over * ValidityOptions().max_bending / ratio
        beside = replace(results, indentations=share * results.depths)
        assert flags_of(beside, wall, extent=wall + 2 * ring)[0] == flag
    assert wall_bending(results.radii, np.array([wall]), np.array([wall]))[0] == 0.0


def test_a_deep_contact_is_strained():
    _, results = results_of(paraboloid(1.05e-3, 1e-3, 60))
    assert flags_of(results)[0] & batches.PATCH_STRAINED


def test_normals_that_spread_are_flagged():
    nodes = paraboloid(0.05, 1e-3, 60)
    tilt = np.arctan(nodes.points[:, 0] / CONTACT_RADIUS)
    normals = np.column_stack([np.sin(tilt), np.zeros(len(tilt)), np.cos(tilt)])
    _, results = results_of(replace(nodes, normals=normals))
    assert flags_of(results)[0] & batches.PATCH_SPREAD


def test_neighbours_on_one_side_are_close_and_opposite_ones_are_not():
    nodes = paraboloid(0.05, 1e-3, 60)
    beside = transformed(nodes, np.eye(3), np.array([0.02, 0.0, 0.0]))
    turned = Rotation.from_euler('x', np.pi).as_matrix()
    opposite = transformed(nodes, turned, np.array([0.0, 0.0, 0.02]))
    assert (flags_of(results_of(join(nodes, beside))[1]) & batches.PATCH_CLOSE).all()
    assert not (flags_of(results_of(join(nodes, opposite))[1]) & batches.PATCH_CLOSE).any()


def test_flags_of_geometry_are_kept():
    _, results = results_of(paraboloid(0.05, 1e-3, 60))
    flag = batches.PATCH_THROUGH
    assert flags_of(results, geometric=flag)[0] == flag


def test_the_edge_of_a_link_counts_where_its_pad_yields():
    _, results = results_of(paraboloid(0.05, 1e-3, 60))
    edge, most = batches.PATCH_REACHES_LINK_EDGE, 0.5 * ValidityOptions().max_edge_yield
    for share, flag in ((1.0, 0), (1.0 - 0.9 * most, 0), (1.0 - 1.1 * most, edge), (0.0, edge)):
        found = replace(results, indentations=share * results.depths)
        assert flags_of(found, geometric=edge)[0] == flag


def test_an_edge_counts_where_the_object_yields_or_the_link_passes_round_it():
    nodes = paraboloid(0.05, 1e-3, 60)
    beside = transformed(nodes, np.eye(3), np.array([0.2, 0.0, 0.0]))
    results, edge = results_of(join(nodes, beside))[1], batches.PATCH_REACHES_OBJECT_EDGE
    most = ValidityOptions().max_edge_yield
    stiff, yielding = (replace(results, indentations=share * most * results.depths)
                       for share in (0.9, 1.1))
    assert flags_of(stiff, 1e3, edge).tolist() == [0, 0]
    assert flags_of(yielding, 1e3, edge).tolist() == [edge, edge]
    assert flags_of(stiff, 1e3, edge, links=np.array([3, 3])).tolist() == [edge, edge]


# Finite elements: a ball of 10 mm goes 0.5 mm into a face that ends 0, 2 or 4 mm beside it, at an
# angle; its force there, and of a half-space on the same part of a face [N].
@pytest.mark.parametrize('angle, beside, force, half_space', [
    (90.0, 0.0, 0.739, 1.406), (90.0, 2e-3, 1.248, 1.826), (90.0, 4e-3, 1.560, 1.828),
    (60.0, 0.0, 0.244, 1.406), (60.0, 2e-3, 0.528, 1.826), (60.0, 4e-3, 0.812, 1.828),
    (45.0, 0.0, 0.108, 1.406), (45.0, 2e-3, 0.239, 1.826), (45.0, 4e-3, 0.406, 1.828)])
def test_no_contact_at_an_edge_is_left_unflagged_whose_force_is_off_by_more_than_a_tenth(
        angle, beside, force, half_space):
    _, results = results_of(paraboloid(0.01, 5e-4, 60))
    disc = np.linspace(-1.0, 1.0, 401)[:, None] * 2.3e-3 + [beside, 0.0]
    radius, middle = 1.7e-3, max(beside, disc[disc[:, 0] > 0.0, 0].mean())
    thickness = 0.04 if angle == 90.0 else middle * np.tan(np.deg2rad(angle))
    edge = batches.PATCH_REACHES_OBJECT_EDGE
    for share in np.geomspace(1e-3, 1.0, 60):
        there = replace(results, radii=np.array([radius]), indentations=share * results.depths)
        error = share * (half_space / force - 1.0)
        assert flags_of(there, thickness, edge)[0] & edge or error < 0.1


def test_limits_of_validity_must_be_above_zero():
    with pytest.raises(TaskError, match='max_spread must be above 0'):
        ValidityOptions(max_spread=0.0)


def test_few_nodes_take_hertz_peak_over_the_mean():
    nodes = PatchNodes(np.array([[0.0, 0.0, 0.0], [1e-3, 0.0, 0.0]]),
                       np.tile([0.0, 0.0, 1.0], (2, 1)), np.full(2, 1e-6), np.full(2, 1e-4),
                       np.zeros(2, np.int64), np.array([0]))
    _, results = results_of(nodes)
    assert_allclose(results.peak_pressures, 1.5 * results.mean_pressures)
