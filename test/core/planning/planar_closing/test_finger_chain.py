"""Planar closing: published values, laws of the first touch, an oracle that steps."""

from hypothesis import given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose
import pytest

from gripsim_ros.core.errors import HandError, ShapeError
from gripsim_ros.core.planning.planar_closing.preshape import chord_frame
from gripsim_ros.core.planning.planar_closing.finger_chain import (
    PlanarChain, close_sequentially, close_simultaneously)
from gripsim_ros.core.planning.published.virtual_contour import virtual_contour

# Angles are given with three decimals of a degree; a circle is a polygon of 3600 corners.
ATOL_PUBLISHED = np.radians(0.0006)
ATOL_POLYGON = 2e-3
ATOL_ROUNDOFF = 1e-9
# Conservative advancement stops within a micrometre; its angles follow from lengths of 1 m.
ATOL_TOGETHER = 2e-6
ORACLE_STEP = 2e-4

RECTANGLE = np.array([(1.0, 1.0), (4.0, 1.0), (4.0, 3.0), (1.0, 3.0)])


def loop(points):
    """Return the closed contour through points as segments."""
    points = np.asarray(points, float)
    return np.stack([points, np.roll(points, -1, axis=0)], axis=1)


def circle(centre, radius, count=3600):
    """Return a polygon with corners on a circle."""
    angles = 2.0 * np.pi * np.arange(count) / count
    return loop(np.asarray(centre) + radius * np.column_stack([np.cos(angles), np.sin(angles)]))


def distances(chain, angles, segments, first=0):
    """Return the distance of each phalanx's middle line from the contour, by sampling it."""
    points = chain.points(angles)
    least = []
    for a, b in zip(points[first:-1], points[first + 1:]):
        samples = a + np.linspace(0.0, 1.0, 400)[:, None] * (b - a)
        c, way = segments[:, 0], segments[:, 1] - segments[:, 0]
        share = np.einsum('snx,nx->sn', samples[:, None] - c, way) / (way ** 2).sum(axis=1)
        nearest = c + np.clip(share, 0.0, 1.0)[..., None] * way
        least.append(np.linalg.norm(samples[:, None] - nearest, axis=2).min())
    return np.array(least)


def test_three_phalanges_about_a_circle_close_as_published():
    closure = close_sequentially(PlanarChain.straight([3.0, 0.0], [2.5, 0.8, 0.6]),
                                 circle((1.0, 1.0), 1.0))
    assert_allclose(np.degrees(closure.angles), [126.870, 53.130, 33.398], rtol=0.0,
                    atol=np.degrees(ATOL_POLYGON) / 10)
    assert_allclose([c.point for c in closure.contacts],
                    [(1.8, 1.6), (1.0, 2.0), (0.4495, 1.8348)], rtol=0.0, atol=ATOL_POLYGON)
    assert_allclose([c.distance for c in closure.contacts], [2.0, 0.5, 0.3], rtol=0.0,
                    atol=ATOL_POLYGON)


@pytest.mark.parametrize('lengths, angles, phalanx, point', [
    ([3.0], [26.565], 0, (4.0, 1.0)),
    # The tip meets an edge; a search over corners alone would say 135 degrees.
    ([1.5], [41.810], 0, (2.0 + 1.5 * np.cos(np.radians(41.8103)), 1.0)),
    ([2.0, 1.0], [26.565, 0.0], 1, (4.0, 1.0))])
def test_fingers_meet_a_rectangle_as_published(lengths, angles, phalanx, point):
    closure = close_sequentially(PlanarChain.straight([2.0, 0.0], lengths), loop(RECTANGLE))
    assert_allclose(closure.angles, np.radians(angles), rtol=0.0, atol=ATOL_PUBLISHED)
    assert closure.contacts[0].phalanx == phalanx
    assert_allclose(closure.contacts[0].point, point, rtol=0.0, atol=1e-4)


def test_the_corner_of_the_chord_is_where_angles_are_right():
    frame = chord_frame(np.array([(0.0, 1.0), (4.0, 4.0), (3.0, 0.0)]))
    assert_allclose(frame.origin, (1.56, -1.08), rtol=0.0, atol=ATOL_ROUNDOFF)
    assert_allclose(frame.to_frame(frame.first)[0], 0.0, atol=ATOL_ROUNDOFF)
    assert_allclose(frame.to_frame(frame.outermost)[1], 0.0, atol=ATOL_ROUNDOFF)


def test_the_published_virtual_contour_moves_coordinates():
    points = np.array([(2.0, -1.0), (-2.0, 1.0)])
    assert_allclose(virtual_contour(points, (0.1, 0.2)), [(2.1, -1.2), (-2.1, 1.2)])
    assert_allclose(virtual_contour(points, (0.1, 0.2), True), [(1.9, -0.8), (-1.9, 0.8)])


blobs = st.builds(
    lambda radii, x, y: np.array([x, y]) + np.array(radii)[:, None] * np.column_stack(
        [np.cos(2 * np.pi * np.arange(len(radii)) / len(radii)),
         np.sin(2 * np.pi * np.arange(len(radii)) / len(radii))]),
    st.lists(st.floats(0.3, 1.0), min_size=5, max_size=9), st.floats(-1.0, 1.0),
    st.floats(1.7, 2.4))
chains = st.builds(
    lambda lengths, half, bends: PlanarChain(
        np.array([1.9, 0.0]), 0.0, np.array(lengths), np.full(len(lengths), half),
        np.array(bends[:len(lengths)]) * np.arange(len(lengths)), np.full(len(lengths), 2.5)),
    st.lists(st.floats(0.5, 1.6), min_size=1, max_size=3), st.sampled_from([0.0, 0.05, 0.2]),
    st.lists(st.floats(0.0, 0.4), min_size=3, max_size=3))


@settings(max_examples=40)
@given(blobs, chains)
def test_closing_ends_touching_and_nowhere_inside(points, chain):
    segments = loop(points)
    for closure in (close_sequentially(chain, segments),
                    close_simultaneously(chain, segments, np.full(len(chain.lengths), 2.5))):
        if closure.overlap > 0.0:
            continue
        gaps = distances(chain, closure.angles, segments) - chain.half_thickness
        if chain.half_thickness[0] > 0.0:       # the sampled line overestimates a little
            assert gaps.min() > -ATOL_TOGETHER
        for contact in closure.contacts:
            assert gaps[contact.phalanx] < 5e-3
            assert abs(np.linalg.norm(contact.normal) - 1.0) < ATOL_ROUNDOFF


@settings(max_examples=25)
@given(blobs, chains)
def test_no_smaller_turn_of_the_first_joint_touches(points, chain):
    segments, angles = loop(points), chain.start.copy()
    closure = close_sequentially(chain, segments)
    half = chain.half_thickness[0]
    if closure.overlap > 0.0 or half == 0.0:
        return
    turn = closure.angles[0] - angles[0]
    for share in np.linspace(0.0, 0.999, 40):
        tried = angles.copy()
        tried[0] += share * turn
        assert distances(chain, tried, segments).min() > half - ATOL_TOGETHER


@settings(max_examples=25)
@given(blobs, chains, st.floats(-3.0, 3.0), st.floats(0.1, 3.0))
def test_closing_turns_and_grows_with_contour_and_chain(points, chain, turn, size):
    c, s = np.cos(turn), np.sin(turn)
    move = size * np.array([[c, -s], [s, c]])
    moved = PlanarChain(move @ chain.base + [0.3, -0.2], chain.direction + turn,
                        size * chain.lengths, size * chain.half_thickness, chain.start,
                        chain.limits)
    before = close_sequentially(chain, loop(points))
    after = close_sequentially(moved, loop(points @ move.T + [0.3, -0.2]))
    assert_allclose(after.angles, before.angles, rtol=0.0, atol=1e-6)


@settings(max_examples=25)
@given(blobs, st.floats(0.5, 3.5))
def test_the_first_touch_comes_no_later_than_any_corner_in_reach(points, length):
    # The published lemma, for a finite finger and whatever corner it reaches.
    chain = PlanarChain.straight([1.9, 0.0], [length])
    closure = close_sequentially(chain, loop(points))
    offsets = points - chain.base
    reached = np.linalg.norm(offsets, axis=1) <= length
    bound = np.arctan2(offsets[reached, 1], offsets[reached, 0]).min(initial=np.inf)
    if np.isfinite(bound):
        assert closure.contacts and closure.angles[0] <= bound + 1e-9


def test_both_ways_of_closing_agree_for_one_phalanx():
    chain = PlanarChain.straight([2.0, 0.0], [2.0], 0.2)
    turned = close_sequentially(chain, loop(RECTANGLE))
    assert_allclose(close_simultaneously(chain, loop(RECTANGLE), [2.0]).angles, turned.angles,
                    rtol=0.0, atol=ATOL_TOGETHER)


def test_clearance_is_a_thicker_finger_and_interference_a_thinner_one():
    thick = PlanarChain.straight([2.0, 0.0], [2.0, 1.0], 0.2)
    for clearance in (0.1, -0.15):
        other = PlanarChain.straight([2.0, 0.0], [2.0, 1.0], 0.2 + clearance)
        assert_allclose(close_sequentially(thick, loop(RECTANGLE), clearance).angles,
                        close_sequentially(other, loop(RECTANGLE)).angles, rtol=0.0,
                        atol=ATOL_ROUNDOFF)


def test_a_finger_that_reaches_nothing_goes_to_its_limit():
    chain = PlanarChain.straight([20.0, 0.0], [1.0, 1.0], limit=1.2)
    closure = close_sequentially(chain, loop(RECTANGLE))
    assert not closure.contacts
    assert_allclose(closure.angles, [1.2, 1.2])


def test_a_start_inside_the_contour_is_told():
    chain = PlanarChain.straight([0.0, 1.5], [2.0], 0.1)
    assert close_sequentially(chain, loop(RECTANGLE)).overlap == pytest.approx(0.1)


@pytest.mark.parametrize('segments, message', [
    (np.zeros((3, 2)), r'shape \(n, 2, 2\), got \(3, 2\)'),
    (np.full((2, 2, 2), np.nan), 'must be finite'),
    ('contour', 'must be numbers')])
def test_bad_contours_are_refused(segments, message):
    with pytest.raises(ShapeError, match=message):
        close_sequentially(PlanarChain.straight([0.0, 0.0], [1.0]), segments)


def test_too_much_interference_is_refused():
    with pytest.raises(HandError, match='at most the half thickness, 0.1 m, got -0.2'):
        close_sequentially(PlanarChain.straight([0.0, 0.0], [1.0], 0.1), loop(RECTANGLE), -0.2)


@pytest.mark.parametrize('lengths, half, message', [
    ([0.0], 0.0, 'lengths above 0'), ([1.0], -0.1, 'half thickness of 0 or more'),
    ([np.nan], 0.0, 'must be finite'), ([], 0.0, 'one length')])
def test_bad_chains_are_refused(lengths, half, message):
    with pytest.raises(HandError, match=message):
        PlanarChain.straight([0.0, 0.0], lengths, half)
