"""Cones' starts and steps, and the linear equations of one step of the conic solver."""

from gripsim_ros.core.numerics.socp.cone import CONE_SIZE, LEAST_DETERMINANT
from gripsim_ros.core.numerics.socp.kkt import (
    apply_constraints, apply_transpose, fill_pattern, LEAST_PIVOT)
from gripsim_ros.core.numerics.socp.lanes import INFEASIBLE, SOLVED, UNDECIDED
from gripsim_ros.core.numerics.socp.solver import (
    _range_basis, _violating, CERTIFICATE, RANK_TOLERANCE, TOLERANCE)
from hypothesis import assume, given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from one_lane import (
    add_identity, apply_scaling, determinant, factor, forward_substitute, largest_step,
    OneLane, run, shift_into_cone)
from socp_cases import random_programme

pytestmark = pytest.mark.nightly     # by day test_solver solves and judges with all of them

RTOL_ROUNDOFF = 1e-9
#: Residuals of one step's equations as they are solved, and after one refinement.
RTOL_STEP, RTOL_REFINED = 1e-8, 1e-11
#: Residuals of the last step's equations, whose scaling is of nearly no width in some cones.
ATOL_LAST_STEP = 1e-5

seeds = st.integers(0, 2 ** 32 - 1)


def margins(m, v):
    """Return how far inside the half-lines and cones a vector lies."""
    blocks = v[m:].reshape(-1, CONE_SIZE)
    return np.append(v[:m], blocks[:, 0] - np.linalg.norm(blocks[:, 1:], axis=1))


def axes_of(m, count):
    """Return the sum of the axes."""
    axes = np.zeros(count)
    axes[:m] = axes[m::CONE_SIZE] = 1.0
    return axes


def inside(rng, m, cones):
    """Return a vector inside, farther than a tenth of its size."""
    v = rng.normal(size=m + CONE_SIZE * cones)
    v[:m] = rng.uniform(0.1, 2.0, m)
    v[m::CONE_SIZE] = np.linalg.norm(v[m:].reshape(-1, CONE_SIZE)[:, 1:], axis=1) * rng.uniform(
        1.1, 3.0, cones)
    return v


@given(seeds, st.integers(0, 3), st.integers(1, 3))
@settings(max_examples=60)
def test_a_vector_is_moved_along_the_axes_to_well_inside(seed, m, cones):
    rng = np.random.default_rng(seed)
    v = rng.normal(size=m + CONE_SIZE * cones) * rng.choice([1e-8, 1.0, 1e2])
    if rng.random() < 0.7:  # just inside, well inside, just outside
        v += (rng.choice([5e-7, 1e-3, -5e-4]) - margins(m, v).min()) * axes_of(m, len(v))
    moved, lack = v.copy(), -margins(m, v).min()
    shift_into_cone(m, moved)
    amount = 0.0 if lack < -1e-6 else 1.0 + max(lack, 0.0)
    assert_allclose(moved, v + amount * axes_of(m, len(v)), rtol=RTOL_ROUNDOFF,
                    atol=RTOL_ROUNDOFF)
    add_identity(m, moved, -amount)
    assert_allclose(moved, v, rtol=RTOL_ROUNDOFF, atol=RTOL_ROUNDOFF)


@given(seeds, st.integers(0, 3), st.integers(1, 3))
@settings(max_examples=60)
def test_the_largest_step_ends_where_the_first_cone_does(seed, m, cones):
    rng = np.random.default_rng(seed)
    v = inside(rng, m, cones)
    dv = rng.normal(size=len(v)) + rng.choice([-2.0, 0.0, 2.0]) * axes_of(m, len(v))
    step = largest_step(m, v, dv)
    if np.isinf(step):
        assert margins(m, dv).min() >= 0.0
        return
    assert margins(m, v + 0.999 * step * dv).min() > 0.0
    assert abs(margins(m, v + step * dv).min()) < 1e-7 * (1.0 + step * np.abs(dv).max())


def test_steps_along_and_into_a_cone_s_boundary_have_no_end():
    v = np.array([2.0, 1.0, 0.0, 0.0])
    for dv in ((1.0, 1.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0)):
        assert largest_step(0, v, np.array(dv)) == np.inf
    assert_allclose(largest_step(0, v, np.array([-1.0, -1.0, 0.0, 0.0])), 1.5)
    assert_allclose(largest_step(0, v, np.array([0.0, 1.0, 0.0, 0.0])), 1.0)
    assert_allclose(largest_step(0, v, np.array([-1.0, 0.0, 0.0, 0.0])), 1.0)


def test_the_distance_from_the_boundary_is_squared_and_never_nothing():
    v = np.array([9.0, 7.0, 2.0, 3.0, 6.0, 9.0])
    assert determinant(v[1:], 0) == LEAST_DETERMINANT  # on the boundary: 7 = |(2, 3, 6)|
    assert_allclose(determinant(np.array([0.0, 5.0, 1.0, 2.0, 2.0]), 1), 16.0)


def below_of(G, n, size):
    """Return G with the rows of the cones below it."""
    return np.vstack([G, -np.eye(n)[:size - len(G)]])


def step_problem(seed):
    """Return A, G, and a state with a scaling that is factorised."""
    rng = np.random.default_rng(seed)
    cones, m, equalities = int(rng.integers(1, 4)), int(rng.integers(2, 6)), 3
    n = CONE_SIZE * cones + 1
    A, G = rng.normal(size=(equalities, n)), rng.normal(size=(m, n))
    G[0, : -1] = 0.0
    state = OneLane(G, equalities, cones)
    state.scale(inside(rng, m, cones), inside(rng, m, cones))
    assert state.factorise(A)
    return rng, A, G, below_of(G, n, len(state.z)), state


@given(seeds)
@settings(max_examples=30)
def test_products_are_those_of_the_rows_with_the_cones_below(seed):
    rng, A, G, below, state = step_problem(seed)
    n, size = A.shape[1], len(state.z)
    x, y, z = rng.normal(size=n), rng.normal(size=len(A)), rng.normal(size=size)
    down, across, along = np.empty(n), np.empty(len(A)), np.empty(size)
    run(lambda work, *places: apply_transpose(work, A, G, size, *places), y, z, down,
        out=[2])
    run(lambda work, *places: apply_constraints(work, A, G, size, *places), x, across, along,
        out=[1, 2])
    assert_allclose(down, A.T @ y + below.T @ z, rtol=RTOL_ROUNDOFF, atol=RTOL_ROUNDOFF)
    assert_allclose(across, A @ x, rtol=RTOL_ROUNDOFF, atol=RTOL_ROUNDOFF)
    assert_allclose(along, below @ x, rtol=RTOL_ROUNDOFF, atol=RTOL_ROUNDOFF)


@given(seeds)
@settings(max_examples=30)
def test_a_step_solves_its_equations_and_better_where_refined(seed):
    rng, A, G, below, state = step_problem(seed)
    n, size = A.shape[1], len(state.z)
    p, q, r = rng.normal(size=n), rng.normal(size=len(A)), rng.normal(size=size)
    x, y, z, scaled = np.empty(n), np.empty(len(A)), np.empty(size), np.empty(size)
    for refine, tolerance in ((False, RTOL_STEP), (True, RTOL_REFINED)):
        state.solve_kkt(A, (p, q, r), (x, y, z), refine)
        apply_scaling(state.lines, state.cones, z, scaled, False)
        apply_scaling(state.lines, state.cones, scaled, scaled, False)
        scale = max(np.abs(v).max() for v in (x, y, z, scaled))
        assert_allclose(A.T @ y + below.T @ z, p, rtol=0.0, atol=tolerance * scale)
        assert_allclose(A @ x, q, rtol=0.0, atol=tolerance * scale)
        assert_allclose(below @ x - scaled, r, rtol=0.0, atol=tolerance * scale)


@given(seeds)
@settings(max_examples=20)
def test_a_factor_times_itself_is_its_matrix(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    root = rng.normal(size=(n, n))
    matrix = root @ root.T + 0.1 * np.eye(n)
    found, diagonal, good = factor(matrix)
    assert good
    upper = np.triu(found)
    assert_allclose(upper.T @ upper, matrix, rtol=0.0, atol=RTOL_ROUNDOFF * n)
    assert_allclose(diagonal * upper.diagonal(), 1.0, rtol=RTOL_ROUNDOFF)
    columns = rng.normal(size=(n, 2))
    solved = forward_substitute(found, diagonal, columns)
    assert_allclose(upper.T @ solved, columns, rtol=0.0, atol=1e-7)


def test_a_pivot_of_nothing_is_raised_and_what_is_no_matrix_is_said():
    _, diagonal, good = factor(np.diag([4.0, 0.0]))
    assert good
    assert_allclose(diagonal, [0.5, 1.0 / np.sqrt(LEAST_PIVOT * 4.0)], rtol=RTOL_ROUNDOFF)
    assert not factor(np.zeros((2, 2)))[2]
    assert not factor(np.diag([np.inf, 1.0]))[2]


@given(seeds)
@settings(max_examples=20)
def test_the_start_is_that_of_least_squares_moved_into_the_cones(seed):
    rng, A, G, below, state = step_problem(seed)
    n, m, size = A.shape[1], len(G), len(state.z)
    right, limits = rng.normal(size=len(A)), np.append(rng.normal(size=m), np.zeros(size - m))
    downhill = rng.normal(size=n)
    state.start(-downhill, A, right, limits)
    null = np.linalg.svd(A)[2][len(A):].T
    x = np.linalg.lstsq(A, right, rcond=None)[0]
    x = x + null @ np.linalg.lstsq(below @ null, limits - below @ x, rcond=None)[0]
    s = limits - below @ x
    joint = np.linalg.lstsq(null.T @ below.T, null.T @ downhill, rcond=None)[0]
    y = np.linalg.lstsq(A.T, downhill - below.T @ joint, rcond=None)[0]
    for expected in (s, joint):
        shift_into_cone(m, expected)
    for found, expected in ((state.x, x), (state.s, s), (state.y, y), (state.z, joint)):
        assert_allclose(found, expected, rtol=0.0, atol=1e-7 * (1.0 + np.abs(expected).max()))


@given(seeds, st.floats(0.01, 10.0), st.sampled_from([1e-12, 1e-6, 1.0]))
@settings(max_examples=30)
def test_an_iterate_is_judged_by_its_relative_residuals_and_gap(seed, tau, small):
    rng, A, G, below, state = step_problem(seed)
    n, m, size = A.shape[1], len(G), len(state.z)
    objective, right, h = (rng.normal(size=k) for k in (n, len(A), size))
    state.put(z=inside(rng, m, len(state.cones)), s=inside(rng, m, len(state.cones)),
              x=rng.normal(size=n), y=rng.normal(size=len(A)))
    # Of equations that hold but for a small part.
    objective = (small * rng.normal(size=n) - A.T @ state.y - below.T @ state.z) / tau
    right = (A @ state.x + small * rng.normal(size=len(A))) / tau
    h = (below @ state.x + state.s + small * rng.normal(size=size)) / tau
    kappa = rng.uniform(0.0, 1.0)
    last = state.residuals_of(objective, A, right, h, tau, kappa)
    proof = -right @ state.y - h @ state.z
    assert_allclose(last, proof - objective @ state.x - kappa, atol=RTOL_ROUNDOFF * size)
    r1 = A.T @ state.y + below.T @ state.z + objective * tau
    r2, r3 = right * tau - A @ state.x, h * tau - state.s - below @ state.x
    for found, expected in zip(state.residuals, (r1, r2, r3)):
        assert_allclose(found, expected, rtol=0.0, atol=1e-12)
    cost = objective @ state.x / tau
    error = max(np.linalg.norm(r1) / tau, np.linalg.norm(r2) / tau,
                np.linalg.norm(r3) / (tau * max(1.0, np.linalg.norm(state.s) / tau)),
                abs(cost - proof / tau) / max(1.0, abs(cost)))
    state.put(best=np.full(n, 7.0))
    verdict, lowest = state.judge(objective, np.inf)
    assert_allclose(lowest, error, rtol=RTOL_ROUNDOFF, atol=1e-12)
    assert verdict == (SOLVED if error <= TOLERANCE else UNDECIDED)
    assert_allclose(state.best, state.x / tau, rtol=RTOL_ROUNDOFF)
    again, kept = state.judge(objective, 0.5 * error)
    assert (again, kept) == (UNDECIDED, 0.5 * error)


def certificate_state(y):
    """Return a state of one row, of zeros, and one cone, on whose axis z lies."""
    state = OneLane(np.zeros((1, 5)), 1, 1)
    state.put(x=np.zeros(5), s=np.ones(5), y=np.array([y]), z=np.eye(5)[1])
    return state


def test_a_certificate_says_that_nothing_is_feasible():
    """``A'y + G'z = 0`` with ``-b'y - h'z`` above 0."""
    A = np.zeros((1, 5))
    A[0, 0] = 1.0
    for sign, verdict in ((-1.0, INFEASIBLE), (1.0, UNDECIDED)):
        state = certificate_state(1.0)
        objective, right, h = np.ones(5), np.array([sign]), np.zeros(5)
        state.residuals_of(objective, A, right, h, 1e-3, 1.0)
        state.put(best=np.ones(5))
        assert state.judge(objective, 0.0) == (verdict, 0.0)
        assert (state.best == 0.0).all() == (verdict == INFEASIBLE)


def test_a_certificate_may_miss_a_small_part_of_what_it_proves():
    """``A'y + G'z`` is longer than that part of ``-b'y`` by half, or shorter."""
    A, objective, right = np.eye(5)[:1], np.ones(5), np.array([-1.0])
    for part, verdict in ((0.5, INFEASIBLE), (-0.5, INFEASIBLE), (1.5, UNDECIDED)):
        state = certificate_state(1.0 + part * CERTIFICATE)
        state.residuals_of(objective, A, right, np.zeros(5), 1e-3, 1.0)
        assert state.judge(objective, 0.0)[0] == verdict


def test_a_row_is_broken_beyond_the_tolerance():
    G, limits = np.eye(2), np.array([1.0, 2.0])
    for x, broken in (((1.0, 2.0), False), ((1.0, 2.0 + 2.0 * TOLERANCE), True),
                      ((1.0 + 0.5 * TOLERANCE, 0.0), False), ((1.5, 0.0), True)):
        assert len(_violating(G, limits[None], np.array([x]), 1)) == broken


def test_a_matrix_whose_factor_is_all_ones_is_factorised_and_solved():
    """Terms are left out where an entry is 0, and there alone."""
    found, diagonal, good = factor(np.array([[1.0, 1.0], [1.0, 2.0]]))
    assert good
    assert_allclose(np.triu(found), [[1.0, 1.0], [0.0, 1.0]])
    columns = forward_substitute(found, diagonal, np.ones((2, 1)))
    assert_allclose(columns, [[1.0], [0.0]], atol=RTOL_ROUNDOFF)


@given(seeds, st.integers(0, 4), st.integers(1, 3))
@settings(max_examples=30)
def test_the_factor_has_nothing_but_where_it_is_said_to(seed, m, cones):
    rng = np.random.default_rng(seed)
    n = CONE_SIZE * cones + 1
    G = rng.normal(size=(m, n)) * (rng.random((m, n)) < 0.3)
    root = np.vstack([G, np.zeros((CONE_SIZE * cones, n)), 1e-3 * np.eye(n)])
    for cone in range(cones):
        block = slice(CONE_SIZE * cone, CONE_SIZE * (cone + 1))
        root[m:][block, block] = rng.normal(size=(CONE_SIZE, CONE_SIZE))
    upper = np.linalg.cholesky(root.T @ root).T
    filled = fill_pattern(G, cones)
    assert_array_equal(upper[~filled & (np.triu(np.ones((n, n))) > 0.0)], 0.0)
    assert filled.diagonal().all() and (m or filled.sum() == CONE_SIZE * CONE_SIZE * cones + 1)


@given(seeds, st.sampled_from([1e-6, 1.0, 1e6]))
@settings(max_examples=20)
def test_the_range_of_equalities_does_not_depend_on_their_unit(seed, unit):
    """Parts of a tenth of the threshold are none, those of ten times it count."""
    rng = np.random.default_rng(seed)
    left, right = (np.linalg.qr(rng.normal(size=shape))[0] for shape in ((4, 4), (7, 4)))
    parts = np.array([1.0, 0.3, 10.0 * RANK_TOLERANCE, 0.1 * RANK_TOLERANCE])
    basis = _range_basis(unit * (left * parts) @ right.T)
    assert basis.shape == (4, 3)
    assert_allclose(basis.T @ basis, np.eye(3), atol=RTOL_ROUNDOFF)
    assert_allclose(basis.T @ left[:, 3], 0.0, atol=1e-4)
    assert _range_basis(np.zeros((3, 5))).shape == (3, 0)


@given(seeds, st.integers(2, 4))
@settings(max_examples=20)
def test_the_constant_part_of_a_direction_goes_against_the_objective(seed, cones):
    """``A'y + G'z = -c``, ``A x = b``, ``G x - W^2 z = h`` in the last scaling of a solution."""
    programme, right, limits = random_programme(np.random.default_rng(seed), cones)
    n, m = len(programme.objective), len(programme.inequality)
    state = OneLane(programme.inequality, len(right), cones)
    below = below_of(programme.inequality, n, len(state.z))
    assert state.solve(programme.objective, programme.equality, right, limits) == SOLVED
    assume(state.least_error <= TOLERANCE)     # else it went on until round-off drowned its steps
    x, y, z = state.tau_part
    scaled = np.empty(len(z))
    apply_scaling(state.lines, state.cones, z, scaled, False)
    apply_scaling(state.lines, state.cones, scaled, scaled, False)
    scale = max(1.0, *(np.abs(v).max() for v in (x, y, z, scaled)))
    assert_allclose(programme.equality.T @ y + below.T @ z, -programme.objective, rtol=0.0,
                    atol=ATOL_LAST_STEP * scale)
    assert_allclose(programme.equality @ x, right, rtol=0.0, atol=ATOL_LAST_STEP * scale)
    assert_allclose(below @ x - scaled, np.append(limits, np.zeros(len(z) - m)), rtol=0.0,
                    atol=ATOL_LAST_STEP * scale)
