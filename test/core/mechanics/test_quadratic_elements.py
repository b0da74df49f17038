"""Shape functions of quadratic triangles and tetrahedra: nodes, sums, slopes by differences."""

import numpy as np
from numpy.testing import assert_allclose
import pytest

from gripsim_ros.core.mechanics.quadratic_elements import (
    EDGES, shape_functions, shape_slopes, TRIANGLE_NODES, TRIANGLE_SIDES)

#: Round-off of polynomials of degree 2; differences over a step of 1e-6 lose half of the digits.
ATOL, ATOL_DIFFERENCE = 1e-14, 1e-9
CASES = pytest.mark.parametrize('sides, corners', [(TRIANGLE_SIDES, 3), (EDGES, 4)])


def places_within(corners):
    """Return barycentric coordinates of random places."""
    return np.random.default_rng(corners).dirichlet(np.ones(corners), 20)


@CASES
def test_each_function_is_one_at_its_own_node_alone(sides, corners):
    nodes = np.vstack([np.eye(corners), 0.5 * np.eye(corners)[sides].sum(axis=1)])
    assert_allclose(shape_functions(nodes, sides), np.eye(len(nodes)), atol=ATOL)


@CASES
def test_they_add_up_to_one_everywhere(sides, corners):
    assert_allclose(shape_functions(places_within(corners), sides).sum(axis=1), 1.0, rtol=ATOL)


@CASES
def test_slopes_are_those_of_differences(sides, corners):
    places, step = places_within(corners), 1e-6
    slopes = shape_slopes(places, sides)
    for k in range(corners - 1):
        move = np.zeros(corners)
        move[0], move[1 + k] = -step, step
        change = shape_functions(places + move, sides) - shape_functions(places - move, sides)
        assert_allclose(slopes[:, :, k], change / (2.0 * step), atol=ATOL_DIFFERENCE)


def test_a_triangle_has_its_middles_between_its_corners():
    assert_allclose(TRIANGLE_NODES[3:], 0.5 * (np.eye(3) + np.roll(np.eye(3), -1, axis=0)))
