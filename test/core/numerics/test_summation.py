"""Sums of kernels have the bits of numpy's."""

from gripsim_ros.core.numerics.summation import pairwise_sum
import numpy as np
import pytest


@pytest.mark.parametrize('count', [0, 1, 7, 8, 9, 16, 17, 127, 128, 129, 136, 255, 257, 300, 5000])
def test_a_sum_has_the_bits_of_numpys(count):
    for seed in range(20):
        values = np.random.default_rng(seed).normal(size=count)
        assert pairwise_sum(values) == values.sum()
