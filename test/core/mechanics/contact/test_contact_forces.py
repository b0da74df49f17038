"""Contact forces: Hertz, punches, layers, and the laws of complementarity."""

from hypothesis import given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from scipy.optimize import brentq, nnls
from scipy.spatial.transform import Rotation
from scipy.special import j0, j1

from gripsim_ros.core.errors import ShapeError, TaskError
from gripsim_ros.core.mechanics.contact import bonded_layer, half_space
from gripsim_ros.core.mechanics.contact.contact_forces import (
    ContactForceOptions, PatchNodes, solve_contact_forces)
from gripsim_ros.core.numerics import complementarity
from lattice_cases import flat_punch, hertz_force, join, paraboloid, transformed
from mechanics_cases import MODULUS, random_nodes


RADIUS, DEPTH = 8e-3, 1e-3
RUBBER = bonded_layer.fit_layer(2e6, 0.45, 3e-3)
RIGID = 1e13

RTOL_ROUNDOFF = 1e-9
#: Forces of the lattice against Hertz, by loaded nodes.
RTOL_HERTZ = {17: 0.035, 50: 0.015, 110: 0.007}
#: A punch's singular edge converges with the spacing; this is it at 400 nodes.
RTOL_PUNCH = 0.025
RTOL_LAYER_TRANSFORM = 0.035
#: Punch on a layer against rings of pressure: the edge again, on both sides.
RTOL_LAYER_PUNCH = 0.04
RTOL_PLATE_FACTOR = 0.03

offsets = st.tuples(st.floats(-0.5, 0.5), st.floats(-0.5, 0.5))
seeds = st.integers(0, 2 ** 32 - 1)


def compliance_of(nodes, solution, layers):
    """Return the whole compliance between the candidates, from its definition."""
    rows = solution.rows
    whole = half_space.half_space_rows(np.arange(len(rows)), nodes.points[rows],
                                       nodes.normals[rows], nodes.areas[rows], MODULUS,
                                       half_space.GRID_SOFTENING)
    assert not layers
    return whole


@pytest.mark.parametrize('count', sorted(RTOL_HERTZ))
@given(offset=offsets)
@settings(max_examples=15)
def test_force_is_that_of_hertz_wherever_the_lattice_lies(count, offset):
    nodes = paraboloid(RADIUS, DEPTH, count, offset)
    solution = solve_contact_forces(nodes, MODULUS, {})
    assert_allclose(solution.forces.sum(), hertz_force(MODULUS, RADIUS, DEPTH),
                    rtol=RTOL_HERTZ[count])


def test_the_published_hertz_case_is_met():
    # E* = 1e5, R = 8 mm, 1 mm: F = 0.3771236 N (Johnson 1985, section 4.2).
    solution = solve_contact_forces(paraboloid(8e-3, 1e-3, 400), 1e5, {})
    assert_allclose(solution.forces.sum(), 0.3771236, rtol=0.003)


def test_the_softening_is_that_at_which_lattice_sums_equal_integrals():
    steps = np.arange(-40, 41)
    lengths = np.hypot(*np.meshgrid(steps, steps)).ravel()
    lengths = lengths[lengths > 0.0]

    def excess(sigma):
        return 2.0 * np.pi * sigma - (np.exp(-2.0 * np.pi * lengths * sigma) / lengths).sum()

    sigma = brentq(excess, 0.1, 0.5)
    assert_allclose(half_space.GRID_SOFTENING, np.pi * sigma ** 2 / 2.0, rtol=1e-5)


def test_the_force_under_a_flat_punch_converges_with_the_spacing():
    exact = 2.0 * MODULUS * 5e-3 * 1e-3
    errors = [solve_contact_forces(flat_punch(5e-3, 1e-3, count), MODULUS, {}).forces.sum()
              / exact - 1.0 for count in (100, 400, 1600)]
    assert abs(errors[1]) < RTOL_PUNCH
    assert abs(errors[2]) < 0.75 * abs(errors[1]) < 0.75 ** 2 * abs(errors[0])


@given(seed=seeds)
@settings(max_examples=40)
def test_nodes_are_closed_under_load_or_open_and_free(seed):
    nodes = random_nodes(seed)
    solution = solve_contact_forces(nodes, MODULUS, {})
    whole = compliance_of(nodes, solution, {})
    gaps = whole @ solution.forces - nodes.depths[solution.rows]
    scale = np.abs(nodes.depths).max()
    assert (solution.forces >= 0.0).all()
    assert gaps.min() > -1e-9 * scale
    assert_allclose(gaps * (solution.forces > 0.0), 0.0, atol=1e-9 * scale)


@given(seed=seeds)
@settings(max_examples=20)
def test_forces_are_those_of_nonnegative_least_squares(seed):
    nodes = random_nodes(seed)
    solution = solve_contact_forces(nodes, MODULUS, {})
    whole = compliance_of(nodes, solution, {})
    lower = np.linalg.cholesky(whole)
    expected, _ = nnls(lower.T, np.linalg.solve(lower, nodes.depths[solution.rows]))
    assert_allclose(solution.forces, expected, atol=1e-8 * expected.max())


@given(seed=seeds)
@settings(max_examples=30)
def test_the_first_guess_changes_no_bit(seed):
    nodes = random_nodes(seed)
    rng = np.random.default_rng(seed)
    whole = half_space.half_space_rows(np.arange(len(nodes.points)), nodes.points, nodes.normals,
                                       nodes.areas, MODULUS, half_space.GRID_SOFTENING)
    order = np.argsort(-nodes.depths, kind='stable')
    answers = [complementarity.solve_complementarity(whole, nodes.depths, start, order)[0]
               for start in (nodes.depths > 0.0, rng.random(len(nodes.depths)) < 0.5,
                             np.zeros(len(nodes.depths), bool))]
    assert_array_equal(answers[1], answers[0])
    assert_array_equal(answers[2], answers[0])


@given(seed=seeds)
@settings(max_examples=30)
def test_any_symmetric_positive_definite_problem_is_solved(seed):
    # Far from the kernel, where blocks of wrong nodes may cycle.
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 25))
    factor = rng.normal(size=(count, count))
    matrix = factor @ factor.T + 1e-3 * np.eye(count)
    depths = rng.normal(size=count)
    forces, _, _, definite = complementarity.solve_complementarity(
        matrix, depths, rng.random(count) < 0.5, rng.permutation(count))
    gaps = matrix @ forces - depths
    assert definite and (forces >= 0.0).all() and gaps.min() > -1e-7
    assert abs(float(gaps @ forces)) < 1e-7 * max(1.0, float(forces.sum()))


@pytest.mark.parametrize('count, seed', [(4, 2283), (5, 345), (8, 405)])
def test_problems_on_which_block_exchanges_cycle_end_by_single_ones(count, seed):
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(count, count))
    matrix, depths = factor @ factor.T + 1e-3 * np.eye(count), rng.normal(size=count)
    forces, _, _, _ = complementarity.solve_complementarity(
        matrix, depths, np.zeros(count, bool), np.arange(count))
    assert_cycles(matrix, depths)
    assert (matrix @ forces - depths).min() > -1e-9 * forces.max() - 1e-9
    assert abs(float(forces @ (matrix @ forces - depths))) < 1e-9 * max(1.0, forces.max())


def assert_cycles(matrix, depths):
    """Check that exchanging all wrong nodes at once comes back to a set it has seen."""
    active, seen = np.zeros(len(depths), bool), set()
    while tuple(active) not in seen:
        seen.add(tuple(active))
        rows, forces = np.flatnonzero(active), np.zeros(len(depths))
        forces[rows] = np.linalg.solve(matrix[np.ix_(rows, rows)], depths[rows])
        wrong = np.where(active, forces <= 0.0, matrix @ forces - depths < -1e-12)
        assert wrong.any()
        active ^= wrong


@given(scale=st.floats(1e-3, 1e3))
def test_forces_grow_in_proportion_to_the_modulus(scale):
    nodes = paraboloid(RADIUS, DEPTH, 50)
    soft = solve_contact_forces(nodes, MODULUS, {})
    stiff = solve_contact_forces(nodes, scale * MODULUS, {})
    assert_allclose(stiff.forces, scale * soft.forces, rtol=RTOL_ROUNDOFF, atol=0.0)


@given(seed=seeds)
@settings(max_examples=20)
def test_forces_do_not_depend_on_the_frame(seed):
    nodes = random_nodes(seed)
    rotation = Rotation.random(random_state=seed).as_matrix()
    layers = {3: RUBBER, 5: RUBBER}
    moved = transformed(nodes, rotation, np.array([0.3, -0.1, 0.2]))
    first = solve_contact_forces(nodes, MODULUS, layers)
    second = solve_contact_forces(moved, MODULUS, layers)
    assert_allclose(second.forces, first.forces, atol=1e-7 * first.forces.max())


@given(seed=seeds)
@settings(max_examples=20)
def test_forces_do_not_depend_on_the_order_of_nodes(seed):
    nodes = random_nodes(seed)
    order = np.random.default_rng(seed).permutation(len(nodes.depths))
    mixed = PatchNodes(nodes.points[order], nodes.normals[order], nodes.areas[order],
                       nodes.depths[order], nodes.patches[order], nodes.links)
    forces = np.zeros((2, len(order)))
    for row, case in enumerate((nodes, mixed)):
        solution = solve_contact_forces(case, MODULUS, {3: RUBBER})
        forces[row, solution.rows] = solution.forces
    assert_allclose(forces[1], forces[0][order], atol=1e-8 * forces.max())


@given(depth=st.floats(1e-5, 2e-3), more=st.floats(1.01, 1.5))
def test_pressing_deeper_needs_more_force(depth, more):
    lattice = paraboloid(RADIUS, 3e-3, 150)
    gap = 3e-3 - lattice.depths
    totals = []
    for each in (depth, depth * more):
        nodes = PatchNodes(lattice.points, lattice.normals, lattice.areas, each - gap,
                           lattice.patches, lattice.links)
        totals.append(solve_contact_forces(nodes, MODULUS, {0: RUBBER}).forces.sum())
    assert totals[1] > totals[0]


@given(seed=seeds)
@settings(max_examples=30)
def test_the_kernel_is_positive_definite_on_any_points(seed):
    nodes = random_nodes(seed, 60)
    matrix = half_space.half_space_rows(np.arange(len(nodes.points)), nodes.points, nodes.normals,
                                        nodes.areas, MODULUS, half_space.GRID_SOFTENING)
    assert np.linalg.eigvalsh(matrix).min() > 0.0


@pytest.mark.nightly     # by day punches on it
@given(seed=seeds)
@settings(max_examples=30)
def test_the_layer_with_shared_softening_is_positive_semi_definite(seed):
    rng = np.random.default_rng(seed)
    count = 60
    plane = np.column_stack([rng.uniform(-5e-3, 5e-3, (count, 2)), np.zeros(count)])
    areas = rng.uniform(1e-8, 1e-5, count)
    radii = bonded_layer.softening_radii(areas, half_space.GRID_SOFTENING)
    matrix = np.zeros((count, count))
    bonded_layer.add_layer_compliance(
        matrix, np.arange(count), plane, np.tile([0.0, 0.0, 1.0], (count, 1)), radii,
        (RUBBER.modulus, RUBBER.depths, RUBBER.weights), 1.0)
    values = np.linalg.eigvalsh(matrix)
    assert values.min() > -1e-12 * values.max()


@pytest.mark.parametrize('nu', [0.0, 0.3, 0.4, 0.45, 0.48, 0.4999])
def test_images_of_a_layer_have_the_exact_transform(nu):
    layer = bonded_layer.fit_layer(2e6, nu, 1.0)
    x = np.geomspace(1e-3, 20.0, 300)
    exact = bonded_layer.layer_transform(x, layer.poisson_ratio)
    fitted = 1.0 - np.exp(-np.outer(x, layer.depths)) @ layer.weights
    assert_allclose(fitted, exact, rtol=RTOL_LAYER_TRANSFORM)


@pytest.mark.parametrize('nu', [0.0, 0.3, 0.45])
def test_a_wide_load_on_a_layer_meets_the_confined_modulus(nu):
    # Integral of the kernel: h (1 + nu)(1 - 2 nu) / (E (1 - nu)).
    young, thickness = 2e6, 3e-3
    layer = bonded_layer.fit_layer(young, nu, thickness)
    integral = 2.0 * float((layer.weights * layer.depths).sum()) / layer.modulus
    confined = thickness * (1.0 + nu) * (1.0 - 2.0 * nu) / (young * (1.0 - nu))
    assert_allclose(integral, confined, rtol=1e-9)


def test_a_layer_that_hardly_changes_volume_is_at_most_ten_times_as_stiff():
    layer = bonded_layer.fit_layer(2e6, 0.4999, 3e-3)
    integral = 2.0 * float((layer.weights * layer.depths).sum()) / layer.modulus
    assert_allclose(3e-3 / integral, 10.0 * 2e6, rtol=1e-9)


def ring_force(radius, rings=40):
    """Return the force under a flat punch on a bonded layer, from rings of pressure."""
    edges = radius * np.sin(np.linspace(0.0, np.pi / 2.0, rings + 1))
    middles = 0.5 * (edges[1:] + edges[:-1])
    k = np.linspace(1e-6, 400.0 / radius, 200001)
    transform = bonded_layer.layer_transform(k * RUBBER.thickness, RUBBER.poisson_ratio)
    discs = np.array([b * j1(k * b) / k if b > 0.0 else 0.0 * k for b in edges])
    pressed = (np.diff(discs, axis=0) * transform * k * (k[1] - k[0]) / k).T
    moves = 2.0 / RUBBER.modulus * j0(np.outer(middles, k)) @ pressed
    return float(np.linalg.solve(moves, np.full(rings, 1e-5)) @ (np.pi * np.diff(edges ** 2)))


@pytest.mark.parametrize('ratio', [
    0.2, 2.0, *(pytest.param(ratio, marks=pytest.mark.nightly) for ratio in (0.5, 1.0))])
def test_a_punch_on_a_bonded_layer_meets_rings_of_pressure(ratio):
    radius = ratio * RUBBER.thickness
    solution = solve_contact_forces(flat_punch(radius, 1e-5, 900), RIGID, {0: RUBBER})
    assert_allclose(solution.forces.sum(), ring_force(radius), rtol=RTOL_LAYER_PUNCH)


def test_pad_and_object_deform_in_series():
    nodes = paraboloid(RADIUS, 2e-4, 110)
    together, pad, own = (solve_contact_forces(nodes, modulus, layers).forces.sum() for
                          modulus, layers in ((2e6, {0: RUBBER}), (RIGID, {0: RUBBER}),
                                              (2e6, {})))
    assert together < min(pad, own)
    # Compliances add; forces go with the power -1 of them for a fixed contact.
    assert_allclose(1.0 / together, 1.0 / pad + 1.0 / own, rtol=0.1)


def test_pads_of_different_links_do_not_feel_each_other():
    first = paraboloid(RADIUS, 2e-4, 50)
    second = transformed(first, np.eye(3), np.array([4e-3, 0.0, 0.0]))
    alone = solve_contact_forces(first, RIGID, {0: RUBBER}).forces.sum()
    both = solve_contact_forces(join(first, second), RIGID, {0: RUBBER, 1: RUBBER})
    assert_allclose(both.forces.sum(), 2.0 * alone, rtol=1e-4)


@pytest.mark.parametrize('ratio, factor', [(0.12, 1.04), (0.24, 1.09), (0.49, 1.18)])
def test_opposite_punches_stiffen_a_plate(ratio, factor):
    # Published factors of the kernel n_i . n_j on a pinched plate, by a / (T / 2).
    upper = flat_punch(2e-3, 1e-4, 200)
    lower = PatchNodes(upper.points + [0.0, 0.0, 4e-3 / ratio], -upper.normals, upper.areas,
                       upper.depths, upper.patches, upper.links)
    alone = solve_contact_forces(upper, MODULUS, {}).forces.sum()
    both = solve_contact_forces(join(upper, lower), MODULUS, {}).forces.sum() / 2.0
    assert_allclose(both / alone, factor, rtol=RTOL_PLATE_FACTOR)


def test_without_overlap_there_is_no_force():
    nodes = paraboloid(RADIUS, DEPTH, 50)
    apart = PatchNodes(nodes.points, nodes.normals, nodes.areas, nodes.depths - 2.0 * DEPTH,
                       nodes.patches, nodes.links)
    solution = solve_contact_forces(apart, MODULUS, {})
    assert len(solution.forces) == 0 and solution.strain_energy == 0.0


def test_nodes_without_counterpart_carry_nothing():
    nodes = paraboloid(RADIUS, DEPTH, 50)
    depths = nodes.depths.copy()
    depths[nodes.points[:, 0] > 0.0] = -np.inf
    half = PatchNodes(nodes.points, nodes.normals, nodes.areas, depths, nodes.patches,
                      nodes.links)
    solution = solve_contact_forces(half, MODULUS, {})
    assert (nodes.points[solution.rows, 0] <= 0.0).all() and solution.forces.sum() > 0.0


def test_depths_that_are_no_numbers_are_refused():
    nodes = paraboloid(RADIUS, DEPTH, 20)
    with pytest.raises(ShapeError, match='depths'):
        PatchNodes(nodes.points, nodes.normals, nodes.areas, nodes.depths * np.nan,
                   nodes.patches, nodes.links)


def test_areas_of_zero_are_refused():
    nodes = paraboloid(RADIUS, DEPTH, 20)
    with pytest.raises(ShapeError, match='areas'):
        PatchNodes(nodes.points, nodes.normals, 0.0 * nodes.areas, nodes.depths,
                   nodes.patches, nodes.links)


def test_options_out_of_range_are_refused():
    with pytest.raises(TaskError, match='softening'):
        ContactForceOptions(softening=0.0)


def test_coinciding_nodes_of_no_area_raise_instead_of_answering():
    nodes = paraboloid(RADIUS, DEPTH, 20)
    twice = PatchNodes(np.tile(nodes.points, (2, 1)), np.tile(nodes.normals, (2, 1)),
                       np.tile(nodes.areas, 2), np.tile(nodes.depths, 2),
                       np.zeros(2 * len(nodes.depths), np.int64), nodes.links)
    with pytest.raises(np.linalg.LinAlgError):
        solve_contact_forces(twice, MODULUS, {})


def test_a_modulus_of_zero_is_refused():
    with pytest.raises(TaskError, match='modulus must be above 0'):
        solve_contact_forces(paraboloid(RADIUS, DEPTH, 20), 0.0, {})
