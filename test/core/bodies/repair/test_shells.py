"""Winding numbers: how often a closed surface surrounds a point."""

from hypothesis import given, strategies as st
import numpy as np
import pytest

from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.bodies.repair.shells import (
    SMALL_TANGENT, _angle, surface_winding_numbers, winding_numbers)
from gripsim_ros.core.bodies.topology import edge_table

RADIUS = 0.04
#: Rounding of a sum over some ten thousand triangles.
ROUNDING = 1e-12
#: Of an angle by its series, relative.
SERIES = 4.0 * np.finfo(float).eps
LARGE_AND_SMALL = st.floats(-1.0, 1.0) | st.floats(-4.0 * SMALL_TANGENT, 4.0 * SMALL_TANGENT)


@given(LARGE_AND_SMALL, LARGE_AND_SMALL, st.floats(1e-12, 1e12))
def test_an_angle_is_that_of_the_library_whatever_the_length(sine, cosine, length):
    expected = np.arctan2(length * sine, length * cosine)
    assert _angle(length * sine, length * cosine) == pytest.approx(expected, rel=SERIES, abs=0.0)


@pytest.mark.parametrize('edge', [0.02, 0.002])
def test_a_ball_surrounds_once_what_is_inside(edge):
    ball = shapes.sphere(RADIUS, edge)
    triangles = ball.vertices[ball.faces]
    directions = np.random.default_rng(0).normal(size=(20, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    inside, outside = 0.8 * RADIUS * directions, 1.05 * RADIUS * directions
    np.testing.assert_allclose(winding_numbers(inside, triangles), 1.0, atol=ROUNDING)
    np.testing.assert_allclose(winding_numbers(outside, triangles), 0.0, atol=ROUNDING)
    np.testing.assert_allclose(
        winding_numbers(inside, triangles[:, ::-1]), -1.0, atol=ROUNDING)
    chosen = np.arange(0, len(triangles), max(1, len(triangles) // 20))
    numbers = winding_numbers(triangles[chosen].mean(axis=1), triangles, chosen)
    np.testing.assert_allclose(numbers, 0.5, atol=ROUNDING)


@pytest.mark.parametrize('body', [
    shapes.mug(edge_length=0.008), shapes.box([0.1, 0.06, 0.08], 0.01), shapes.apple()])
@pytest.mark.parametrize('damage', [0.0, 0.2])
def test_patches_seen_by_their_outlines_count_as_their_triangles_do(body, damage):
    rng = np.random.default_rng(3)
    kept = body.faces[rng.random(len(body.faces)) >= damage]
    faces = np.concatenate([kept, kept[:9], kept[9:18, ::-1]])      # edges of three and four
    triangles = body.vertices[faces]
    chosen = rng.choice(len(faces), 80, replace=False)
    numbers = surface_winding_numbers(triangles, edge_table(faces), chosen)
    expected = winding_numbers(triangles[chosen].mean(axis=1), triangles, chosen)
    np.testing.assert_allclose(numbers, expected, atol=ROUNDING)
