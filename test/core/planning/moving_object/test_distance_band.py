"""Distances on a grid: those of formulas, and of every triangle."""

import numpy as np
from numpy.testing import assert_allclose
import pytest

from gripsim_ros.core.bodies import TriangleMesh, shapes
from gripsim_ros.core.planning.moving_object import distance_band as distance_band_module
from gripsim_ros.core.planning.moving_object.distance_band import (
    closest_on_triangle, distance_at, distance_band)

SIDES = np.array([0.05, 0.07, 0.03])


def grid_points(band):
    return band.lower + band.spacing * np.stack(np.meshgrid(
        *(np.arange(n) for n in band.values.shape), indexing='ij'), axis=-1)


def box_distance(points):
    beyond = np.abs(points) - 0.5 * SIDES
    return (np.linalg.norm(np.maximum(beyond, 0.0), axis=-1)
            + np.minimum(beyond.max(axis=-1), 0.0))


def test_distances_to_a_box_are_exact_near_it_and_keep_their_side_far_from_it():
    band = distance_band(shapes.box(SIDES))
    truth = box_distance(grid_points(band))
    near = np.abs(truth) < band.width - 1e-9
    assert near.any() and (truth < -band.width).any()
    assert_allclose(band.values[near], truth[near], atol=1e-12)
    assert_allclose(band.values[~near], band.width * np.sign(truth[~near]), atol=1e-9)


def test_the_side_of_a_leaning_body_is_that_of_its_faces():
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn))
    box = shapes.box(SIDES)
    band = distance_band(TriangleMesh(box.vertices @ turn.T, box.faces))
    truth = box_distance(grid_points(band) @ turn)
    clear = np.abs(truth) > 1e-9
    assert (np.sign(band.values[clear]) == np.sign(truth[clear])).all()


def test_between_grid_points_a_ball_is_as_far_as_its_radius_says():
    band = distance_band(shapes.sphere(0.03, 0.002))
    generator = np.random.default_rng(1)
    directions = generator.normal(size=(200, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    for direction, away in zip(directions, generator.uniform(-0.001, 0.001, 200)):
        distance, *gradient = distance_at(band, *((0.03 + away) * direction))
        assert distance == pytest.approx(away, abs=5e-5)    # of the facets and the grid
        assert np.dot(gradient, direction) == pytest.approx(1.0, abs=0.03)
    assert distance_at(band, 1.0, 0.0, 0.0) == (band.width, 0.0, 0.0, 0.0)


def test_the_closest_point_of_a_triangle_is_no_farther_than_any_of_its_points():
    generator = np.random.default_rng(2)
    weights = generator.dirichlet(np.ones(3), 4000)
    for _ in range(50):
        corners, point = generator.normal(size=(3, 3)), 2.0 * generator.normal(size=3)
        found = np.array(closest_on_triangle(tuple(point), *map(tuple, corners)))
        least = np.linalg.norm(weights @ corners - point, axis=1).min()
        gap = np.linalg.norm(found - point)
        assert gap <= least + 1e-12 and least - gap < 0.1
        inside = np.linalg.lstsq(np.vstack([corners.T, np.ones(3)]), np.append(found, 1.0),
                                 rcond=None)[0]
        assert (inside > -1e-9).all()


@pytest.mark.parametrize('size', [[0.3, 0.3, 0.3], [2.0, 0.1, 0.3], [5.0, 5.0, 5.0]])
def test_a_large_body_has_a_coarser_grid_and_no_larger_one(monkeypatch, size):
    monkeypatch.setattr(distance_band_module, 'MOST_POINTS', 1e5)
    band = distance_band(shapes.box(size))
    assert band.values.size <= 1e5
    assert band.spacing > distance_band_module.COARSEST
    assert band.values.min() < 0.0 < band.values.max()
    middle = np.unravel_index(band.values.argmin(), band.values.shape)
    assert (np.abs(grid_points(band)[middle]) <= 0.5 * np.array(size)).all()


def test_a_body_of_half_a_metre_keeps_its_spacing():
    n = 0.5 / distance_band_module.COARSEST + 2.0 * distance_band_module.WIDTH + 4.0
    assert n ** 3 < distance_band_module.MOST_POINTS
