"""Complementarity where it is close: tiny depths, nodes that just touch, exchanges one by one."""

from gripsim_ros.core.numerics.complementarity import _exchange, solve_complementarity
from hypothesis import given, settings, strategies as st
import numpy as np
from numpy.testing import assert_array_equal
import pytest

seeds = st.integers(0, 2 ** 32 - 1)


def random_problem(seed):
    """Return a positive definite matrix of whole numbers, and a generator."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(3, 12))
    factor = rng.integers(-3, 4, (count, count)).astype(float)
    return factor @ factor.T + np.eye(count), rng


@given(seed=seeds, power=st.sampled_from([-60, -30, 30]))
@settings(max_examples=20)
def test_forces_scale_with_depths_to_the_bit(seed, power):
    matrix, rng = random_problem(seed)
    depths = rng.normal(size=len(matrix))
    start, order = np.zeros(len(matrix), bool), np.arange(len(matrix))
    forces, rows, _, _ = solve_complementarity(matrix, depths, start, order)
    scaled, same, _, _ = solve_complementarity(matrix, np.ldexp(depths, power), start, order)
    assert_array_equal(scaled, np.ldexp(forces, power))
    assert_array_equal(same, rows)


@given(seed=seeds)
@settings(max_examples=20)
def test_nodes_that_just_touch_are_not_loaded(seed):
    """All gaps are 0 but for round-off, which a share of the largest depth covers."""
    matrix, rng = random_problem(seed)
    count = len(matrix)
    whole = np.zeros((count + 1, count + 1))  # the last node stands alone, at depth 0
    whole[:count, :count] = matrix
    whole[count, count] = 1.0
    loaded = np.append(rng.random(count) < 0.5, False)
    forces = np.where(loaded, rng.uniform(0.5, 1.0, count + 1), 0.0)
    found, rows, _, _ = solve_complementarity(whole, whole @ forces, loaded,
                                              np.arange(count + 1))
    assert_array_equal(rows, np.flatnonzero(loaded))
    np.testing.assert_allclose(found, forces, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize('start', [False, True])
@pytest.mark.parametrize('depths, loaded', [((1.0, 0.0), [0]), ((0.0, 0.0), []),
                                            ((-1.0, -0.0), [])])
def test_a_node_without_force_is_not_loaded(depths, loaded, start):
    forces, rows, factor, definite = solve_complementarity(
        np.eye(2), np.array(depths), np.full(2, start), np.arange(2))
    assert definite and factor.shape == (len(loaded), len(loaded))
    assert_array_equal(rows, loaded)
    assert_array_equal(forces, np.maximum(depths, 0.0))


@given(seed=seeds)
@settings(max_examples=20)
def test_an_exchange_turns_all_wrong_nodes_over_or_the_last_alone(seed):
    active, wrong = np.random.default_rng(seed).random((2, 7)) < 0.5
    block, single, last = active.copy(), active.copy(), np.flatnonzero(wrong)[-1:]
    _exchange(block, wrong, True)
    _exchange(single, wrong, False)
    assert_array_equal(block, active ^ wrong)
    assert_array_equal(single, active ^ np.isin(np.arange(7), last))
