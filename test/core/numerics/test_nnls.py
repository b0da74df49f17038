"""Least squares without negative unknowns: the conditions of the optimum, and scipy's answers."""

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.optimize import lsq_linear

from gripsim_ros.core.numerics.nnls import solve_nnls

#: Of the gradient at the optimum, over the lengths of column and right-hand side.
ATOL_OPTIMUM = 1e-10
RTOL_LIBRARY = 1e-7
seeds = st.integers(0, 2 ** 32 - 1)


def draw(seed, weight=1.0):
    """Return a random system, its last row of ones with a weight, as for sums of shares."""
    rng = np.random.default_rng(seed)
    rows, count = rng.integers(1, 8), rng.integers(1, 40)
    matrix, right = rng.normal(size=(rows, count)), np.zeros(rows)
    matrix[-1], right[-1] = weight, weight
    if rng.random() < 0.5:
        right[:-1] = rng.normal(size=rows - 1)
    return matrix, right


@settings(max_examples=200)
@given(seeds, st.sampled_from([1.0, 30.0, 1e3]))
def test_the_conditions_of_the_optimum_hold(seed, weight):
    matrix, right = draw(seed, weight)
    x, residual = solve_nnls(matrix, right)
    rest = right - matrix @ x
    sizes = np.linalg.norm(matrix, axis=0) * np.linalg.norm(right)
    gradient = matrix.T @ rest / sizes
    assert (x >= 0.0).all()
    assert (gradient <= ATOL_OPTIMUM).all()
    assert (np.abs(gradient[x > 0.0]) <= ATOL_OPTIMUM).all()
    assert_allclose(residual, np.linalg.norm(rest), rtol=1e-9, atol=1e-12 * sizes.max())


@settings(max_examples=60)
@given(seeds)
def test_the_residual_is_that_of_a_library_which_goes_another_way(seed):
    matrix, right = draw(seed)
    found = solve_nnls(matrix, right)[1]
    other = lsq_linear(matrix, right, (0.0, np.inf), method='bvls', tol=1e-14)
    assert_allclose(found, np.linalg.norm(other.fun), rtol=RTOL_LIBRARY, atol=1e-9)


@pytest.mark.parametrize('matrix, right, expected, residual', [
    ([[1.0, 0.0], [0.0, 1.0]], [2.0, -3.0], [2.0, 0.0], 3.0),
    ([[1.0, -1.0]], [4.0], [4.0, 0.0], 0.0),
    ([[1.0], [1.0]], [-1.0, -1.0], [0.0], np.sqrt(2.0)),
    ([[0.0, 0.0], [0.0, 0.0]], [1.0, 0.0], [0.0, 0.0], 1.0)])
def test_small_systems_have_the_answers_worked_out_by_hand(matrix, right, expected, residual):
    x, left = solve_nnls(np.array(matrix), np.array(right))
    assert_allclose(x, expected, atol=1e-15)
    assert_allclose(left, residual, rtol=1e-15)


def test_without_unknowns_the_right_hand_side_is_left():
    x, residual = solve_nnls(np.zeros((3, 0)), np.array([0.0, 3.0, 4.0]))
    assert len(x) == 0 and residual == 5.0


@pytest.mark.parametrize('copies', [2, 20])
def test_columns_that_are_the_same_share_what_one_would_bear(copies):
    matrix = np.tile(np.array([[1.0], [2.0]]), copies)
    x, residual = solve_nnls(matrix, np.array([1.0, 2.0]))
    assert_allclose(x.sum(), 1.0, rtol=1e-14)
    assert residual < 1e-14
