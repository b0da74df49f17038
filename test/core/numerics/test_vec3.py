"""Rows are those of matrices, and sums of kernels have the bits of numpy's."""

from gripsim_ros.core.numerics.vec3 import along, matrix_rows, sum_pairwise, triangle_rows
import numpy as np
import pytest


@pytest.mark.parametrize('count', [0, 1, 7, 8, 9, 16, 17, 127, 128, 129, 136, 255, 257, 300, 5000])
def test_a_sum_has_the_bits_of_numpys(count):
    for seed in range(20):
        values = np.random.default_rng(seed).normal(size=count)
        assert sum_pairwise(values) == values.sum()


@pytest.mark.parametrize('position', range(3))
def test_rows_hold_the_numbers_of_a_matrix_and_multiply_from_the_first_on(position):
    matrices = np.random.default_rng(position).normal(size=(3, 3, 3))
    a, b, c = rows = tuple(tuple(row) for row in matrices[position].tolist())
    assert matrix_rows(matrices[position]) == triangle_rows(matrices, position) == rows
    assert along(a, b) == a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    assert along(c, a) == c[0] * a[0] + c[1] * a[1] + c[2] * a[2]
