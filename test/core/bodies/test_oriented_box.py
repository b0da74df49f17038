"""Oriented boxes: covariance fit, rejection by axes, and the region two of them share."""

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.contact.boxes import separation
from gripsim_ros.core.contact.geometry.culling import boxes_apart
from gripsim_ros.core.bodies.oriented_box import (
    OrientedBox, fit_oriented_box, interaction_region)
from gripsim_ros.core.errors import ShapeError
from gripsim_ros.core.transforms import transform

ATOL_ROUNDOFF = 1e-12
ATOL_PAPER_4_DIGITS = 5e-4

seeds = st.integers(0, 2 ** 31)


def upright(centre, half):
    return OrientedBox(np.eye(3), np.asarray(centre, float), np.asarray(half, float))


def random_box(rng):
    axes = Rotation.random(random_state=int(rng.integers(2 ** 31))).as_matrix()
    return OrientedBox(axes, rng.uniform(-1.5, 1.5, 3), rng.uniform(0.2, 1.0, 3))


def are_apart(a, b):
    """Ask the kernel about two boxes of one frame."""
    rows = [np.vstack([box.axes, box.centre, box.half_lengths]) for box in (a, b)]
    return boxes_apart(*rows, np.eye(3), np.zeros(3))


def test_the_box_of_a_wedge_is_centred_in_its_own_axes():
    points = np.array([[x, y, z] for x, y in ((0, 0), (2, 4), (4, 2)) for z in (-1, 1)], float)
    box = fit_oriented_box(points)
    np.testing.assert_allclose(box.centre, [1.5, 1.5, 0.0], rtol=0.0, atol=ATOL_ROUNDOFF)
    np.testing.assert_allclose(np.sort(box.half_lengths), [1.0, np.sqrt(2.0), 3 / np.sqrt(2.0)],
                               rtol=0.0, atol=ATOL_ROUNDOFF)


@given(seeds)
def test_a_fitted_box_holds_every_point_and_touches_them_on_all_sides(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(30, 3)) * (1.0, 0.4, 0.1) @ Rotation.random(
        random_state=seed % 2 ** 31).as_matrix()
    box = fit_oriented_box(points)
    local = (points - box.centre) @ box.axes.T
    np.testing.assert_allclose(local.max(axis=0), box.half_lengths, rtol=0.0, atol=ATOL_ROUNDOFF)
    np.testing.assert_allclose(local.min(axis=0), -box.half_lengths, rtol=0.0, atol=ATOL_ROUNDOFF)
    np.testing.assert_allclose(np.linalg.det(box.axes), 1.0, rtol=0.0, atol=ATOL_ROUNDOFF)


def test_the_axes_follow_the_surface_and_not_the_density_of_vertices():
    line = [[2.0 * t, t, 0.0] for t in np.linspace(0.2, 1.0, 40)]
    vertices = np.array([[-2, -1, 0], [2, -1, 0], [2, 1, 0], [-2, 1, 0], *line], float)
    by_surface = fit_oriented_box(vertices, np.array([[0, 1, 2], [0, 2, 3]]))
    np.testing.assert_allclose(np.abs(by_surface.axes), np.eye(3), rtol=0.0, atol=ATOL_ROUNDOFF)
    assert np.abs(np.abs(fit_oriented_box(vertices).axes) - np.eye(3)).max() > 0.05


def test_crossed_edges_are_told_apart_only_by_cross_axes():
    turned = np.array([[1.0, 1.0, np.sqrt(2.0)], [1.0, 1.0, -np.sqrt(2.0)],
                       [np.sqrt(2.0), -np.sqrt(2.0), 0.0]]) / 2.0
    a = upright((0, 0, 0), (1, 1, 1))
    b = OrientedBox(turned, 3.3 * np.array([1.0, 1.0, 0.0]) / np.sqrt(2.0), np.ones(3))
    np.testing.assert_allclose(separation(a, b, cross_axes=False), -0.374, rtol=0.0,
                               atol=ATOL_PAPER_4_DIGITS)
    np.testing.assert_allclose(separation(a, b), 3.3 - 2.0 * np.sqrt(2.0), rtol=0.0,
                               atol=ATOL_ROUNDOFF)
    assert are_apart(a, b)


@given(seeds)
def test_boxes_apart_have_no_common_point(seed):
    rng = np.random.default_rng(seed)
    a, b = random_box(rng), random_box(rng)
    inside_a = a.centre + (rng.uniform(-1, 1, (300, 3)) * a.half_lengths) @ a.axes
    common = (np.abs((inside_a - b.centre) @ b.axes.T) <= b.half_lengths).all(axis=1)
    if are_apart(a, b):
        assert not common.any()
    region = interaction_region(b, a)
    if region is None:
        assert not common.any()
    else:
        local = (inside_a[common] - region.centre) @ region.axes.T
        assert (np.abs(local) <= region.half_lengths + ATOL_ROUNDOFF).all()


@given(seeds)
def test_separation_does_not_depend_on_the_frame(seed):
    rng = np.random.default_rng(seed)
    a, b = random_box(rng), random_box(rng)
    T = transform(Rotation.random(random_state=seed % 2 ** 31).as_matrix(), rng.normal(size=3))
    np.testing.assert_allclose(separation(a.with_transform(T), b.with_transform(T)),
                               separation(a, b), rtol=0.0, atol=1e-9)


def test_the_region_of_two_cubes_is_their_common_corner():
    region = interaction_region(upright((0, 0, 0), (1, 1, 1)), upright((1.5,) * 3, (1,) * 3))
    np.testing.assert_allclose(region.centre, np.full(3, 0.75), rtol=0.0, atol=ATOL_ROUNDOFF)
    np.testing.assert_allclose(region.half_lengths, np.full(3, 0.25), rtol=0.0,
                               atol=ATOL_ROUNDOFF)


def test_a_surface_without_area_is_boxed_by_its_vertices():
    along = np.array([[1.0], [2.0], [4.0]]) * [3.0, 0.0, 4.0]
    box = fit_oriented_box(along, np.array([[0, 1, 2]]))
    np.testing.assert_allclose(np.sort(box.half_lengths), [0.0, 0.0, 7.5], atol=ATOL_ROUNDOFF)
    np.testing.assert_allclose(box.centre, [7.5, 0.0, 10.0], atol=ATOL_ROUNDOFF)


@given(st.integers(0, 10**6))
def test_edges_are_as_long_as_the_sides_and_each_corner_has_three(seed):
    box = fit_oriented_box(np.random.default_rng(seed).normal(size=(20, 3)))
    edges = box.edges()
    along = np.abs((edges[:, 1] - edges[:, 0]) @ box.axes.T)
    expected = 2.0 * np.repeat(np.diag(box.half_lengths), 4, axis=0)
    np.testing.assert_allclose(np.sort(along.sum(axis=1)), np.sort(expected.sum(axis=1)))
    assert (np.count_nonzero(along > 1e-9, axis=1) == 1).all()
    _, counts = np.unique(np.round(edges.reshape(-1, 3), 9), axis=0, return_counts=True)
    assert (counts == 3).all() and len(counts) == 8


def test_a_box_without_points_is_bad_input():
    with pytest.raises(ShapeError, match=r'\(n, 3\) with n > 0, got none'):
        fit_oriented_box(np.zeros((0, 3)))
    with pytest.raises(ShapeError, match='must be finite'):
        fit_oriented_box(np.full((2, 3), np.nan))
