"""Matrices as tuples hold the numbers of arrays."""

from gripsim_ros.core.numerics.vec3 import dot, load_mat3, load_mat3_at
import numpy as np
import pytest


@pytest.mark.parametrize('position', range(3))
def test_tuples_hold_the_rows_of_a_matrix_and_multiply_from_the_first_entry_on(position):
    matrices = np.random.default_rng(position).normal(size=(3, 3, 3))
    a, b, c = rows = tuple(tuple(row) for row in matrices[position].tolist())
    assert load_mat3(matrices[position]) == load_mat3_at(matrices, position) == rows
    assert dot(a, b) == a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    assert dot(c, a) == c[0] * a[0] + c[1] * a[1] + c[2] * a[2]
