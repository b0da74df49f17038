"""Means of 1/r over hats, and values at nodes of means."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.integrate import dblquad

from gripsim_ros.core.mechanics.boundary_elements.cells.hats import (
    _triangle_inverses, FEW, hats_on, MANY, mean_inverses, sharpening)
from gripsim_ros.core.mechanics.boundary_elements.remesh import QuadraticSurface

#: The outer of two means over a hat by three points a part.
RTOL_MEAN = 0.02


@pytest.fixture(scope='module')
def flat():
    """Return a flat sheet of elements whose nodes are 1 apart, and the node in its middle."""
    count = 13
    points = np.array([[i + 0.5 * j, np.sqrt(0.75) * j, 0.0]
                       for j in range(count) for i in range(count)])
    number = np.arange(count * count).reshape(count, count).T
    elements = []
    for i in range(0, count - 1, 2):
        for j in range(0, count - 1, 2):
            n = number[i:i + 3, j:j + 3]
            elements += [[n[0, 0], n[2, 0], n[0, 2], n[1, 0], n[1, 1], n[0, 1]],
                         [n[2, 0], n[2, 2], n[0, 2], n[2, 1], n[1, 2], n[1, 1]]]
    return QuadraticSurface(points, np.array(elements)), number[6, 6]


@pytest.mark.parametrize('place', [[0.2, 0.3, 0.0], [0.2, 0.3, 0.4], [1.5, -0.5, 0.0],
                                   [2.0, 0.0, 0.0], [0.0, 0.0, -0.7]])
def test_hats_over_the_distance_from_a_place_are_exact(place):
    corners, sums = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), np.empty(3)
    _triangle_inverses(np.array(place), corners, sums)
    for k, hat in enumerate([lambda x, y: 1.0 - x - y, lambda x, y: x, lambda x, y: y]):
        expected, _ = dblquad(lambda y, x: hat(x, y) / np.sqrt(
            (x - place[0]) ** 2 + (y - place[1]) ** 2 + place[2] ** 2), 0.0, 1.0, 0.0,
            lambda x: 1.0 - x)
        assert_allclose(sums[k], expected, rtol=1e-3)


def test_hats_add_up_to_one_and_are_as_large_as_two_parts(flat):
    surface, middle = flat
    for points in (FEW, MANY):
        hats = hats_on(surface, points)
        assert_allclose(hats.shares.sum(axis=1), 1.0, rtol=1e-12)
        assert_allclose(hats.sizes[middle], np.sqrt(0.75), rtol=1e-12)
        assert_allclose((hats.shares @ hats.places)[middle], surface.points[middle], atol=1e-12)


def test_hats_apart_see_each_other_as_points_and_themselves_more(flat):
    surface, middle = flat
    inverse = mean_inverses(surface, hats_on(surface, FEW))
    assert_allclose(inverse[middle, middle + 4], 0.25, rtol=RTOL_MEAN)
    # By pairs of points of ever finer parts: 2.33, 2.35, 2.38, 2.40 with 3, 12, 48, 112 a part.
    assert_allclose(inverse[middle, middle], 2.41, rtol=RTOL_MEAN)
    assert_allclose(inverse, inverse.T, rtol=1e-12)


def test_what_is_made_sharp_is_nearer_to_the_values_than_their_means(flat):
    surface, middle = flat
    hats = hats_on(surface, FEW)
    values = np.exp(-((surface.points - surface.points[middle]) ** 2).sum(axis=1) / 8.0)
    means = hats.shares @ np.exp(-((hats.places - surface.points[middle]) ** 2).sum(axis=1) / 8.0)
    normals = np.tile([0.0, 0.0, 1.0], (len(values), 1))
    sharpen = sharpening(surface, hats, normals)
    sharp = sharpen @ means
    assert means[middle] < 0.98 and abs(sharp[middle] - 1.0) < 0.9 * (1.0 - means[middle])
    assert_allclose(sharpen @ np.ones(len(values)), 1.0, rtol=1e-5)


def test_loads_of_another_direction_are_left_out(flat):
    surface, middle = flat
    normals = np.tile([0.0, 0.0, 1.0], (len(surface.points), 1))
    normals[middle] = [0.6, 0.0, 0.8]
    sharpen = sharpening(surface, hats_on(surface, FEW), normals)
    assert sharpen[middle, middle] == 1.0 and sharpen[[middle]].count_nonzero() == 1
