"""Factors of parts of a matrix: right, and the same in every bit however they came about."""

from hypothesis import given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from gripsim_ros.core.numerics.cholesky import (
    back_substitute, BLOCK, combine_rows, factorise_part, forward_substitute, solve_factored)
from gripsim_ros.core.numerics.simd import LANES

RTOL_ROUNDOFF = 1e-10
NO_ROWS, NO_FACTOR = np.zeros(0, np.int64), np.zeros((0, 0))

seeds = st.integers(0, 2 ** 32 - 1)


def positive_matrix(rng, count):
    """Return a random symmetric positive definite matrix."""
    factor = rng.normal(size=(count, count))
    return factor @ factor.T + 0.1 * np.eye(count)


def part_of(rng, count):
    """Return some of the rows of a matrix, in any order."""
    return rng.permutation(count)[:int(rng.integers(1, count + 1))]


@given(seed=seeds, count=st.integers(1, 40))
@settings(max_examples=40)
def test_a_factor_times_itself_is_the_part_and_solves_its_equations(seed, count):
    rng = np.random.default_rng(seed)
    matrix = positive_matrix(rng, count)
    rows = part_of(rng, count)
    factor, definite = factorise_part(matrix, rows, NO_ROWS, NO_FACTOR)
    part, upper = matrix[np.ix_(rows, rows)], np.triu(factor)
    assert definite
    assert_allclose(upper.T @ upper, part, atol=RTOL_ROUNDOFF * np.abs(part).max())
    right = rng.normal(size=len(rows))
    solution = right.copy()
    solve_factored(factor, solution)
    assert_allclose(part @ solution, right, atol=1e-7 * np.abs(right).max())


@given(seed=seeds, count=st.integers(1, 40))
@settings(max_examples=20)
def test_eight_sides_solved_at_once_have_the_bits_of_each_alone(seed, count):
    rng = np.random.default_rng(seed)
    factor, _ = factorise_part(positive_matrix(rng, count), np.arange(count), NO_ROWS, NO_FACTOR)
    right = rng.normal(size=(count, LANES)) * (rng.random((count, LANES)) < 0.7)
    solutions = right.copy()
    forward_substitute(factor, solutions)
    assert_allclose(np.triu(factor).T @ solutions, right, rtol=0.0, atol=1e-7)
    back_substitute(factor, solutions)
    for column in range(LANES):
        alone = right[:, column].copy()
        solve_factored(factor, alone)
        assert_array_equal(solutions[:, column], alone)


@given(seed=seeds, count=st.integers(2, 60))
@settings(max_examples=60)
def test_keeping_parts_of_a_factor_changes_no_bit(seed, count):
    rng = np.random.default_rng(seed)
    matrix = positive_matrix(rng, count)
    order = rng.permutation(count)
    old = order[rng.random(count) < 0.8]
    # Alike at the start, nodes joining and leaving after it.
    new = order[np.isin(order, old) ^ (rng.random(count) < np.linspace(0.0, 0.4, count))]
    old_factor, _ = factorise_part(matrix, old, NO_ROWS, NO_FACTOR)
    kept, _ = factorise_part(matrix, new, old, old_factor)
    fresh, _ = factorise_part(matrix, new, NO_ROWS, NO_FACTOR)
    assert_array_equal(np.triu(kept), np.triu(fresh))


def test_what_lies_before_the_first_change_is_taken_over():
    # A wrong old factor shows in the answer where, and only where, it was kept.
    matrix = positive_matrix(np.random.default_rng(1), 4 * BLOCK)
    rows = np.arange(4 * BLOCK)
    old_rows = rows[:3 * BLOCK]
    old_factor, _ = factorise_part(matrix, old_rows, NO_ROWS, NO_FACTOR)
    kept, _ = factorise_part(matrix, rows, old_rows, 2.0 * old_factor)
    assert_array_equal(np.triu(kept)[:3 * BLOCK, :3 * BLOCK], np.triu(2.0 * old_factor))


@given(seed=seeds)
@settings(max_examples=20)
def test_a_matrix_that_is_not_positive_definite_is_noticed(seed):
    rng = np.random.default_rng(seed)
    matrix = positive_matrix(rng, 20)
    k = int(rng.integers(20))
    matrix[k, k] = -1.0
    _, definite = factorise_part(matrix, np.arange(20), NO_ROWS, NO_FACTOR)
    assert not definite


@given(seed=seeds)
@settings(max_examples=20)
def test_rows_are_combined_as_by_a_product(seed):
    rng = np.random.default_rng(seed)
    matrix, weights = rng.normal(size=(7, 9)), rng.normal(size=7)
    assert_allclose(combine_rows(matrix, weights), weights @ matrix, atol=1e-12)
