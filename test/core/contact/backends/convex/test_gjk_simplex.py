"""The simplex of GJK that names vertices, by supporting planes and weights."""

from gripsim_ros.core.contact.backends.convex.gjk_simplex import (
    APART, INSIDE, TOUCHING, barycentric_weights, minkowski_support, nearest_simplex)
from hypothesis import given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from scipy.optimize import nnls
from scipy.spatial import ConvexHull

pytestmark = pytest.mark.nightly     # by day test_convex_contact and test_gjk take all its steps

ATOL_ROUNDOFF = 1e-12
#: Weights of nearly flat simplices lose this much.
ATOL_WEIGHTS = 1e-9
#: What the nearest points may fall short by, of bodies of about 1 m.
TOLERANCE = 1e-12

seeds = st.integers(0, 2 ** 31)
ALL = np.zeros(0, np.int64)   # no graph: every vertex is looked at


def bodies(seed, whole, count=8):
    """Return vertices of two bodies of about 1 m, and a generator."""
    rng = np.random.default_rng(seed)
    if whole:
        return *rng.integers(-2, 3, (2, count, 3)).astype(float), rng
    return *rng.normal(size=(2, count, 3)), rng


@settings(max_examples=30)
@given(seeds, st.booleans())
def test_no_corner_of_the_difference_is_farther_than_the_one_named(seed, whole):
    a, b, rng = bodies(seed, whole)
    direction, pair, out = rng.normal(size=3), np.array([3, 5]), np.empty(3)
    minkowski_support(a, ALL, b, ALL, direction, pair, out)
    assert_array_equal(out, a[pair[0]] - b[pair[1]])
    assert_allclose(out @ direction, (a @ direction).max() - (b @ direction).min(), rtol=0.0,
                    atol=ATOL_ROUNDOFF)


@settings(max_examples=30)
@given(seeds, st.integers(1, 3), st.booleans())
def test_weights_give_the_point_they_are_asked_for(seed, size, between):
    rng = np.random.default_rng(seed)
    simplex = np.full((4, 3), np.nan)
    simplex[:size] = rng.normal(size=(size, 3))
    shares = rng.dirichlet(np.ones(size))
    if not between:   # at a corner
        shares = np.eye(size)[seed % size]
    weights = barycentric_weights(simplex, size, shares @ simplex[:size])
    assert weights.shape == (4,)
    assert_allclose(weights, [*shares, *np.zeros(4 - size)], rtol=0.0, atol=ATOL_WEIGHTS)


@pytest.mark.parametrize('size', [2, 3])
def test_of_corners_in_one_place_or_line_the_first_counts(size):
    for corners in (np.ones((4, 3)), np.outer([1.0, 2.0, 4.0, 8.0], np.ones(3))):
        if size == 3 or (corners[0] == corners[1]).all():
            assert_array_equal(barycentric_weights(corners, size, corners[0]),
                               [1.0, 0.0, 0.0, 0.0])


def check_simplex(a, b, pairs, found):
    """Check a simplex by the plane through its nearest point, or by the hull about it."""
    state, size, on_a, on_b, normal, distance, steps = found
    corners = (a[:, None] - b[None]).reshape(-1, 3)
    named = a[pairs[:size, 0]] - b[pairs[:size, 1]]
    if state == APART:
        assert_allclose(np.linalg.norm(on_b - on_a), distance, rtol=0.0, atol=ATOL_WEIGHTS)
        assert_allclose((on_b - on_a) / distance, normal, rtol=0.0, atol=ATOL_WEIGHTS / distance)
        # b lies beyond the plane of the nearest points: no points are nearer.
        assert (corners @ normal).max() <= -distance + ATOL_WEIGHTS
        weights = np.linalg.lstsq(np.vstack([named.T, np.ones(size)]),
                                  np.append(on_a - on_b, 1.0), rcond=None)[0]
        assert weights.min() >= -ATOL_WEIGHTS
        assert_allclose(weights @ a[pairs[:size, 0]], on_a, rtol=0.0, atol=1e3 * ATOL_WEIGHTS)
        return
    # The origin lies among the corners named, and in no case outside of the hull.
    rows = np.vstack([named.T, np.ones(size)])
    assert nnls(rows, np.array([0.0, 0.0, 0.0, 1.0]))[1] <= ATOL_WEIGHTS
    assert not on_a.any() and not on_b.any()
    assert state in (INSIDE, TOUCHING) and (state == TOUCHING or size == 4)


@settings(max_examples=40)
@given(seeds, st.booleans(), st.floats(0.0, 4.0), st.integers(1, 4))
def test_a_simplex_carries_the_nearest_points_or_holds_the_origin(seed, whole, share, count):
    a, b, rng = bodies(seed, whole)
    way = share * rng.normal(size=3)
    b = b + (np.round(way) if whole else way)
    pairs = np.full((4, 2), -1)
    pairs[:count] = rng.integers(0, 8, (count, 2))
    found = nearest_simplex(a, ALL, b, ALL, pairs, count, TOLERANCE)
    check_simplex(a, b, pairs, found)
    hull = ConvexHull((a[:, None] - b[None]).reshape(-1, 3))
    outside = hull.equations[:, 3].max()   # above 0 where the origin is out
    assert (found[0] == APART) == (outside > 0.0) or abs(outside) < ATOL_WEIGHTS
    again = nearest_simplex(a, ALL, b, ALL, pairs, found[1], TOLERANCE)
    check_simplex(a, b, pairs, again)
    assert_allclose(again[5], found[5], rtol=0.0, atol=ATOL_WEIGHTS)
    assert again[6] <= 1   # supporting points that prove what is known


@pytest.mark.parametrize('gap, state', [(0.0, TOUCHING), (0.5, TOUCHING), (1.5, APART)])
def test_bodies_nearer_than_the_tolerance_touch(gap, state):
    a, b = np.zeros((1, 3)), np.array([[0.0, gap * 0.25, 0.0]])
    pairs = np.zeros((4, 2), np.int64)
    found = nearest_simplex(a, ALL, b, ALL, pairs, 1, 0.25)
    assert found[0] == state and found[1] == 1
    assert found[5] == gap * 0.25
    assert_array_equal(found[4], [0.0, float(gap > 0.0), 0.0])
    assert found[6] == (state == APART)
