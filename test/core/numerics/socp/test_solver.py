"""The conic solver against an independent one, and against cones and constraints themselves."""


from gripsim_ros.core.grasp_theory.grasp_force_socp import solve_by_clarabel
from gripsim_ros.core.numerics.simd import LANES
from gripsim_ros.core.numerics.socp.cone import CONE_SIZE
from gripsim_ros.core.numerics.socp.lanes import INFEASIBLE, SOLVED, UNDECIDED
from gripsim_ros.core.numerics.socp.solver import ConeProgramme, solve_cone_programme
from hypothesis import given, strategies as st
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from one_lane import jordan_product, jordan_quotient, nesterov_todd, apply_scaling
from socp_cases import random_programme

RTOL_COST = 1e-7
ATOL_FEASIBLE = 1e-7
RTOL_ALGEBRA = 1e-9

seeds = st.integers(0, 2 ** 32 - 1)


def answer(programme, right, limits):
    solutions, verdicts = solve_cone_programme(programme, right[None], limits[None])
    return solutions[0], verdicts[0]


@given(seeds, st.integers(2, 8), st.integers(1, 6), st.integers(0, 8), st.booleans())
def test_solutions_are_feasible_and_cost_what_an_independent_solver_finds(
        seed, cones, equalities, bounds, tight):
    rng = np.random.default_rng(seed)
    programme, right, limits = random_programme(rng, cones, equalities, bounds,
                                                0.0 if tight else 0.5)
    x, verdict = answer(programme, right, limits)
    if verdict == UNDECIDED:  # may happen where the feasible set has no inside
        assert tight
        return
    assert verdict == SOLVED
    size = 1.0 + np.abs(x).max()
    assert_allclose(programme.equality @ x, right, rtol=0, atol=ATOL_FEASIBLE * size)
    assert (programme.inequality @ x <= limits + ATOL_FEASIBLE * size).all()
    blocks = x[:-1].reshape(-1, CONE_SIZE)
    assert (np.linalg.norm(blocks[:, 1:], axis=1) <= blocks[:, 0] + ATOL_FEASIBLE * size).all()
    other = solve_by_clarabel(programme, right, limits)
    assert_allclose(programme.objective @ x, programme.objective @ other,
                    rtol=0, atol=RTOL_COST * size)


@given(seeds, st.integers(1, 5))
def test_where_nothing_is_feasible_both_solvers_say_so(seed, cones):
    """All cones push along one axis at most, so nothing pulls back along it."""
    rng = np.random.default_rng(seed)
    programme, right, limits = random_programme(rng, cones)
    programme.equality[0] = 0.0
    programme.equality[0, :-1:CONE_SIZE] = rng.uniform(0.5, 1.0, cones)
    right[0] = -rng.uniform(0.1, 1.0)
    x, verdict = answer(programme, right, limits)
    assert verdict == INFEASIBLE
    assert not x.any()
    assert solve_by_clarabel(programme, right, limits) is None


@given(seeds)
def test_dependent_equalities_are_no_obstacle(seed):
    rng = np.random.default_rng(seed)
    programme, right, limits = random_programme(rng, 3, equalities=4)
    twice = programme._replace(equality=np.vstack([programme.equality, programme.equality[:2]]))
    alone, _ = answer(programme, right, limits)
    found, verdict = answer(twice, np.append(right, right[:2]), limits)
    assert verdict == SOLVED
    assert_allclose(programme.objective @ found, programme.objective @ alone, rtol=0,
                    atol=RTOL_COST * (1.0 + np.abs(alone).max()))
    against = np.append(right, right[:2] + [1.0, 0.0])
    assert answer(twice, against, limits)[1] == INFEASIBLE


def test_rows_that_are_tried_later_count_all_the_same():
    """The least largest head is 1 for two equal ones; a row that caps one raises the other."""
    equality = np.zeros((1, 9))
    equality[0, [0, 4]] = 1.0
    rows = np.zeros((3, 9))
    rows[[0, 1], [0, 4]], rows[:2, -1], rows[2, 0] = 1.0, -1.0, 1.0
    programme = ConeProgramme(np.eye(9)[8], equality, rows, 2, 2)
    x, verdict = answer(programme, np.array([2.0]), np.array([0.0, 0.0, 0.5]))
    assert verdict == SOLVED
    assert_allclose(x[[0, 4, 8]], [0.5, 1.5, 1.5], rtol=0, atol=ATOL_FEASIBLE)


def test_where_constraints_ask_for_nothing_zero_is_the_solution():
    programme, right, limits = random_programme(np.random.default_rng(1), 3)
    still = programme._replace(equality=np.zeros_like(programme.equality))
    limits[3:] = np.maximum(limits[3:], 0.1)
    x, verdict = answer(still, np.zeros_like(right), limits)
    assert verdict == SOLVED and np.abs(x).max() < ATOL_FEASIBLE
    assert answer(still, right, limits)[1] == INFEASIBLE


def test_cases_behind_an_infeasible_one_are_left_open():
    programme, right, limits = random_programme(np.random.default_rng(1), 3)
    blocked = limits.copy()
    blocked[3:] = -1e6
    solutions, verdicts = solve_cone_programme(
        programme, np.array([right, right, right]), np.array([limits, blocked, limits]))
    assert verdicts.tolist() == [SOLVED, INFEASIBLE, UNDECIDED]
    assert not solutions[1:].any()


@given(seeds, st.sampled_from([2, LANES - 1, LANES + 1, 4 * LANES + 3]))
def test_a_case_is_solved_among_others_to_the_bit_as_alone(seed, count):
    rng = np.random.default_rng(seed)
    programme, right, limits = random_programme(rng, 3)
    wide = rng.choice([0.3, 0.01])      # with the first some cases are infeasible
    rights = right + wide * rng.normal(size=(count, len(right)))
    bounds = np.tile(limits, (count, 1))
    bounds[-2, 4] = -0.2 * np.abs(programme.inequality[4]).max()      # a row that is tried later
    if rng.random() < 0.5:
        bounds[-1, 3:] = -1e6
    solutions, verdicts = solve_cone_programme(programme, rights, bounds)
    behind = False
    for case in range(count):
        alone, verdict = solve_cone_programme(programme, rights[case:case + 1],
                                              bounds[case:case + 1])
        assert verdicts[case] == (UNDECIDED if behind else verdict[0])
        assert_array_equal(solutions[case], 0.0 if behind else alone[0])
        behind |= verdict[0] == INFEASIBLE


@given(seeds)
def test_the_scaling_takes_one_side_to_the_other(seed):
    rng = np.random.default_rng(seed)
    m, cones = 3, 2
    s, z = rng.normal(size=(2, m + CONE_SIZE * cones))
    for v in (s, z):
        v[:m] = rng.uniform(0.1, 2.0, m)
        for i in range(m, len(v), CONE_SIZE):
            v[i] = np.linalg.norm(v[i + 1:i + CONE_SIZE]) * rng.uniform(1.01, 3.0)
    lines, sizes = np.empty(m), np.empty((cones, CONE_SIZE + 1))
    nesterov_todd(m, s, z, lines, sizes)
    forward, back = np.empty_like(s), np.empty_like(s)
    apply_scaling(lines, sizes, z, forward, False)
    apply_scaling(lines, sizes, s, back, True)
    assert_allclose(forward, back, rtol=0, atol=RTOL_ALGEBRA * np.abs(forward).max())
    apply_scaling(lines, sizes, forward.copy(), back, True)
    assert_allclose(back, z, rtol=0, atol=RTOL_ALGEBRA * np.abs(z).max())
    product, quotient = np.empty_like(s), np.empty_like(s)
    jordan_product(m, s, z, product)
    jordan_quotient(m, s, product, quotient)
    assert_allclose(quotient, z, rtol=0, atol=1e3 * RTOL_ALGEBRA * np.abs(z).max())
