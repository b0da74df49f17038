"""The shortest convex combination: known hulls, and a quadratic programme of a library."""

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.optimize import minimize

from gripsim_ros.core.grasp_theory.wrench_space import min_norm

WEIGHT = 1e3


@pytest.mark.parametrize('vectors, expected', [
    ([[1.0, 0.0, 0.0]], 1.0),
    ([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]], 0.0),
    ([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], np.sqrt(0.5)),
    ([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], np.sqrt(1.0 / 3.0)),
    ([[1.0, 1.0, 0.0], [1.0, -1.0, 0.0], [2.0, 5.0, 0.0]], 1.0)])
def test_hulls_whose_distance_is_known(vectors, expected):
    assert_allclose(min_norm(np.array(vectors), WEIGHT), expected, atol=1e-6)


@settings(max_examples=30)
@given(st.integers(0, 2 ** 32 - 1))
def test_it_is_that_of_a_general_solver(seed):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(rng.integers(2, 9), 3)) + 2.0 * rng.random() * np.eye(3)[0]
    count = len(vectors)
    best = minimize(lambda shares: np.sum((shares @ vectors) ** 2), np.full(count, 1.0 / count),
                    jac=lambda shares: 2.0 * vectors @ (shares @ vectors), method='SLSQP',
                    bounds=[(0.0, 1.0)] * count, options={'ftol': 1e-15, 'maxiter': 500},
                    constraints={'type': 'eq', 'fun': lambda shares: shares.sum() - 1.0,
                                 'jac': lambda shares: np.ones(count)})
    assert_allclose(min_norm(vectors, WEIGHT), np.sqrt(best.fun), atol=2e-4)
