"""Sums of kernels have the bits of numpy's."""

from gripsim_ros.core.numerics.summation import mean_of_rows, pairwise_sum
import numpy as np
from numpy.testing import assert_array_equal
import pytest


@pytest.mark.parametrize('count', [0, 1, 7, 8, 9, 16, 17, 127, 128, 129, 136, 255, 257, 300, 5000])
def test_a_sum_has_the_bits_of_numpys(count):
    for seed in range(20):
        values = np.random.default_rng(seed).normal(size=count)
        assert pairwise_sum(values) == values.sum()


@pytest.mark.parametrize('count', [1, 8, 129, 5000])
def test_a_mean_of_rows_has_the_bits_of_numpys(count):
    rows = np.random.default_rng(count).normal(size=(count, 3))
    assert_array_equal(mean_of_rows(rows), rows.mean(axis=0))
