"""Kernels of planar closing against plain loops over all bars and segments."""

from hypothesis import given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest

from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.planning.planar_closing.advance import (
    BLOCK, CONTACT_TOLERANCE, _bound_gaps, _top_speed, close_chain)
from gripsim_ros.core.planning.planar_closing.contour import (
    cut_faces, pieces_near, segment_middles)
from gripsim_ros.core.planning.planar_closing.first_touch import (
    chain_points, nearest_points, place_bars)

BASE, LENGTHS, RADII = np.zeros(2), np.array([0.08, 0.05]), np.array([0.003, 0.002])
START = np.array([-1.0, 0.1])
RTOL_ROUNDOFF, ATOL_ROUNDOFF = 1e-12, 1e-12

TORUS = shapes.torus(0.03, 0.012)

seeds = st.integers(0, 2 ** 32 - 1)


def outline(length, corners, rng):
    """Return bars along a phalanx's palmar side and round its tip."""
    along = np.linspace(0.0, length, corners)
    points = np.column_stack([along, 0.004 * rng.uniform(0.5, 1.0, corners)])
    return np.stack([points[:-1], points[1:]], axis=1)


def finger(seed):
    """Return bars (K, 2, 2) of two phalanges and their owners."""
    rng = np.random.default_rng(seed)
    pieces = [outline(length, 6, rng) for length in LENGTHS]
    return np.concatenate(pieces), np.repeat([0, 1], 5)


def contour(seed, count=70):
    """Return segments round a blob before the finger, in no order."""
    rng = np.random.default_rng(seed)
    angles = 2.0 * np.pi * np.arange(count) / count
    points = np.array([0.06, 0.05]) + 0.03 * (1.0 + 0.2 * np.sin(3.0 * angles + seed))[:, None] * (
        np.column_stack([np.cos(angles), np.sin(angles)]))
    segments = np.stack([points, np.roll(points, -1, axis=0)], axis=1)
    return np.ascontiguousarray(segments[rng.permutation(count)])


def plain_gap(placed, owners, first, segments):
    """Return the first smallest gap of all pairs: gap, bar, row, point."""
    best = (np.inf, -1, -1, 0.0, 0.0)
    for k in np.flatnonzero(owners >= first):
        for i, segment in enumerate(segments):
            distance, _, x, y = nearest_points(*placed[k].ravel(), *segment.ravel())
            if distance - RADII[owners[k]] < best[0]:
                best = (distance - RADII[owners[k]], k, i, x, y)
    return best


def plain_closing(bars, owners, segments, closed):
    """Return angles and touches by conservative advancement over all pairs."""
    angles, rates, touches = START.copy(), closed - START, []
    arms = RADII[owners] + np.linalg.norm(bars, axis=2).max(axis=1)
    fraction, first = 0.0, 0
    while first < 2:
        speed = sum(abs(rates[j]) * max(
            arm + LENGTHS[j:owner].sum() for arm, owner in zip(arms, owners) if owner >= j)
            for j in range(first, 2))
        moved = 0.0
        while True:
            placed = place_bars(chain_points(BASE, 0.2, LENGTHS, angles + moved * rates), bars,
                                owners)
            gap, bar, *touch = plain_gap(placed, owners, first, segments)
            if gap <= CONTACT_TOLERANCE or moved >= 1.0 - fraction:
                break
            moved += min(1.0 - fraction - moved, max(gap, 0.5 * CONTACT_TOLERANCE) / speed)
        fraction, angles = fraction + moved, angles + moved * rates
        if gap > CONTACT_TOLERANCE:
            break
        touches.append((bar, *touch, *angles))
        first = owners[bar] + 1
        rates[:first] = 0.0
    return angles, touches


@given(seeds, st.sampled_from([0.0, 1.0]))
def test_no_points_of_two_segments_are_nearer_than_the_nearest(seed, apart):
    a, b, c, d = np.random.default_rng(seed).normal(size=(4, 2)) + np.array(
        [[0.0, 0.0], [0.0, 0.0], [2.0, 0.0], [2.0, 0.0]]) * apart
    distance, share, x, y = nearest_points(*a, *b, *c, *d)
    point, shares = np.array([x, y]), np.linspace(0.0, 1.0, 41)[:, None]
    assert 0.0 <= share <= 1.0
    assert_allclose(np.linalg.norm(a + share * (b - a) - point), distance, rtol=0.0,
                    atol=ATOL_ROUNDOFF)
    # The point lies between c and d.
    assert_allclose(np.linalg.norm(point - c) + np.linalg.norm(point - d),
                    np.linalg.norm(d - c), rtol=0.0, atol=ATOL_ROUNDOFF)
    first, second = a + shares * (b - a), c + shares * (d - c)
    assert distance <= np.linalg.norm(first[:, None] - second, axis=2).min() + ATOL_ROUNDOFF


@pytest.mark.parametrize('seed', range(6))
def test_the_smallest_gap_is_that_of_all_pairs(seed):
    (bars, owners), segments = finger(seed), contour(seed)
    placed = place_bars(chain_points(BASE, 0.2, LENGTHS, START), bars, owners)
    found, without = (close_chain(BASE, 0.2, LENGTHS, START, START, bars, owners, some, RADII)[-1]
                      for some in (segments, segments[:0]))
    assert found == plain_gap(placed, owners, 0, segments)[0]
    assert without == np.inf


@pytest.mark.parametrize('seed', range(6))
def test_closing_stops_where_it_does_when_all_pairs_are_looked_at(seed):
    (bars, owners), segments = finger(seed), contour(seed)
    closed = np.array([1.2, 1.0]) if seed else START    # of one that does not move, too
    angles, count, touching, touched, then, gap = close_chain(
        BASE, 0.2, LENGTHS, START, closed, bars, owners, segments, RADII)
    if seed == 0:
        assert count == 0
        assert_array_equal(angles, START)
        return
    expected, touches = plain_closing(bars, owners, segments, closed)
    assert_array_equal(angles, expected)
    assert count == len(touches) > 0 and gap > 0.0
    found = np.column_stack([touching, touched, then])[:count]
    assert_array_equal(found, touches)


@pytest.mark.nightly     # by day the first touch itself
@given(seeds)
def test_bounds_of_gaps_lie_below_them_by_no_more_than_what_they_leave_out(seed):
    rng = np.random.default_rng(seed)
    placed, owners = rng.normal(size=(4, 2, 2)), np.array([0, 0, 2, 2])
    segments, radii = rng.normal(size=(BLOCK + 3, 2, 2)), rng.uniform(0.0, 0.2, 3)
    bounds, floors = _bound_gaps(placed, owners, segment_middles(segments), radii)
    assert_array_equal(bounds[1], np.inf)
    for link, own in ((0, placed[:2]), (2, placed[2:])):
        lines = own[np.linalg.norm(own[:, 1] - own[:, 0], axis=1).argmax()].ravel()
        size = max(nearest_points(*lines, *end, *end)[0] for end in own.reshape(4, 2))
        for i, segment in enumerate(segments):
            gap = min(nearest_points(*bar.ravel(), *segment.ravel())[0] for bar in own)
            middle, half = segment.mean(axis=0), 0.5 * np.linalg.norm(segment[1] - segment[0])
            assert bounds[link, i] <= gap - radii[link] + ATOL_ROUNDOFF
            assert_allclose(bounds[link, i], nearest_points(*lines, *middle, *middle)[0] - half
                            - size - radii[link], rtol=0.0, atol=ATOL_ROUNDOFF)
    assert_array_equal(floors, np.stack([bounds[:, :BLOCK].min(axis=1),
                                         bounds[:, BLOCK:].min(axis=1)], axis=1))


@given(seeds, st.integers(0, 2))
def test_the_top_speed_is_that_of_all_joints_at_the_farthest_arms(seed, first):
    rng = np.random.default_rng(seed)
    lengths, rates, radii = rng.uniform(0.1, 1.0, 3), rng.normal(size=3), rng.uniform(0, 0.2, 3)
    bars, owners = rng.normal(size=(6, 2, 2)), np.array([0, 0, 1, 1, 2, 2])
    arms = radii[owners] + np.linalg.norm(bars, axis=2).max(axis=1)
    wanted = sum(abs(rates[j]) * max(
        arm + lengths[j:owner].sum() for arm, owner in zip(arms, owners) if owner >= j)
        for j in range(first, 3))
    assert_allclose(_top_speed(lengths, rates, first, bars, owners, radii), wanted,
                    rtol=RTOL_ROUNDOFF)


@pytest.mark.nightly     # by day the first touch itself
def test_several_planes_cut_what_each_cuts_alone():
    mesh, (e1, e2) = shapes.torus(0.03, 0.012), np.linalg.qr(np.arange(6.0).reshape(3, 2))[0].T
    origins = np.array([[0.0, 0.0, 0.005], [0.01, 0.0, 0.0], [0.0, 1.0, 0.0]])
    together = cut_faces(mesh.vertices, mesh.faces, origins, e1, e2, 0.04)
    alone = [cut_faces(mesh.vertices, mesh.faces, origin[None], e1, e2, 0.04)
             for origin in origins]
    for k in range(2):
        assert_array_equal(together[k], np.concatenate([cut[k] for cut in alone]))
    counts = [len(cut[0]) for cut in alone]
    assert_array_equal(together[2], np.repeat(np.arange(3), counts))
    assert min(counts[:2]) > 0 and counts[2] == 0


def plain_cut(mesh, origin, axes, reach):
    """Return rows (k, 5) of a plane's cut, sorted: face, and its ends in the plane's axes."""
    heights, rows = (mesh.vertices - origin) @ np.cross(*axes), []
    for f, face in enumerate(mesh.faces):
        ends = []
        for a, b in ((face[0], face[1]), (face[1], face[2]), (face[2], face[0])):
            if (heights[a] >= 0.0) != (heights[b] >= 0.0):
                share = heights[a] / (heights[a] - heights[b])
                way = mesh.vertices[b] - mesh.vertices[a]
                ends.append(axes @ (mesh.vertices[a] + share * way - origin))
        if ends and np.linalg.norm(np.mean(ends, axis=0)) - 0.5 * np.linalg.norm(
                ends[1] - ends[0]) <= reach:
            rows.append([f, *sorted(map(tuple, ends))[0], *sorted(map(tuple, ends))[1]])
    return np.array(rows).reshape(-1, 5)


@given(seeds, st.sampled_from([0.02, 0.035, 1.0]))
@settings(max_examples=20)
def test_a_plane_cuts_each_face_between_the_edges_that_it_crosses(seed, reach):
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(3, 2)))[0].T
    origin = rng.uniform(-0.02, 0.02, 3)
    expected = plain_cut(TORUS, origin, axes, reach)
    pieces, faces, planes = cut_faces(TORUS.vertices, TORUS.faces, origin[None], *axes, reach)
    assert_array_equal(faces, expected[:, 0])
    assert not planes.any()
    ends = np.array([sorted(map(tuple, piece)) for piece in pieces]).reshape(-1, 4)
    assert_allclose(ends, expected[:, 1:], rtol=0.0, atol=ATOL_ROUNDOFF)


@pytest.mark.parametrize('chosen', [0, 40])
def test_pieces_about_a_point_are_those_whose_middles_are_near(chosen):
    pieces, planes = contour(3), np.repeat([0.0, 0.1], [40, 30])
    point = pieces[chosen].mean(axis=0) + 1e-3
    near, lengths = pieces_near(pieces, planes, chosen, point, 0.02)
    expected = np.flatnonzero((planes == planes[chosen]) & (
        np.linalg.norm(pieces.mean(axis=1) - point, axis=1) <= 0.02))
    assert_array_equal(near, [*expected, chosen])
    assert_array_equal(lengths, np.linalg.norm(pieces[near, 1] - pieces[near, 0], axis=1))
    assert 5 < len(near) < 30
