"""Matrices as tuples hold the numbers of arrays."""

from gripsim_ros.core.numerics.vec3 import (
    add_scaled, cross, dot, load_mat3, load_mat3_at, load_vec3, store_mat3, store_vec3,
    subtract)
import numpy as np
import pytest


@pytest.mark.parametrize('position', range(3))
def test_tuples_hold_the_rows_of_a_matrix_and_multiply_from_the_first_entry_on(position):
    matrices = np.random.default_rng(position).normal(size=(3, 3, 3))
    a, b, c = rows = tuple(tuple(row) for row in matrices[position].tolist())
    assert load_mat3(matrices[position]) == load_mat3_at(matrices, position) == rows
    assert dot(a, b) == a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    assert dot(c, a) == c[0] * a[0] + c[1] * a[1] + c[2] * a[2]
    assert add_scaled(a, 0.3, b) == tuple(a[k] + 0.3 * b[k] for k in range(3))
    assert subtract(a, b) == tuple(np.subtract(a, b)) and cross(a, b) == tuple(np.cross(a, b))


def test_rows_are_read_and_written_in_place():
    rows = np.arange(15.0).reshape(3, 5)
    assert load_vec3(rows, 1) == (5.0, 6.0, 7.0)
    store_vec3(rows, 1, (-1.0, -2.0, -3.0))
    assert rows[1].tolist() == [-1.0, -2.0, -3.0, 8.0, 9.0]
    matrix = np.empty((3, 3))
    store_mat3(matrix, load_mat3(np.eye(3)))
    np.testing.assert_array_equal(matrix, np.eye(3))
