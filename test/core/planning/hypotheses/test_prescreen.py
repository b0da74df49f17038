"""The prescreen's kernels on small grids and few points, each step against a plain answer."""

from gripsim_ros.core.planning.hypotheses import prescreen
from gripsim_ros.core.planning.hypotheses.distance_field import DistanceField
from gripsim_ros.core.planning.hypotheses.prescreen import (
    _first_touch, _half_steps, _nearest_below, _section_middle, count_clearances, distance_at,
    NO_TOUCH, place_palms, score_closings)
from gripsim_ros.core.transforms import transform
from hypothesis import given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from scipy.interpolate import RegularGridInterpolator
from scipy.spatial.transform import Rotation

ATOL_ROUNDOFF = 1e-12
#: Directions of nearly no gradient lose this much.
ATOL_DIRECTION = 1e-9

seeds = st.integers(0, 2 ** 31)


def random_field(rng, whole=False):
    """Return lower corner, spacing and values of a small grid, no two lengths alike."""
    shape = tuple(rng.permutation([2, 3, 5]))
    values = rng.integers(-3, 4, shape).astype(float) if whole else rng.normal(size=shape)
    return DistanceField(rng.integers(-3, 3, 3) / 2.0, 0.5 if whole else rng.uniform(0.3, 0.7),
                         values)


def plain_distances(field, points):
    """Return what a field says at points (n, 3), with the way to its border beyond."""
    lower, spacing, values = field
    axes = [low + spacing * np.arange(count) for low, count in zip(lower, values.shape)]
    upper = np.array([axis[-1] for axis in axes])
    within = np.clip(points, lower, upper)
    return (RegularGridInterpolator(axes, values, bounds_error=False, fill_value=None)(within)
            + np.linalg.norm(points - within, axis=-1))


def distances_at(field, points):
    """Return what the kernel says at points (n, 3)."""
    return np.array([distance_at(field, tuple(point)) for point in points])


@settings(max_examples=40)
@given(seeds, st.booleans())
def test_distances_are_trilinear_and_grow_beyond_the_grid(seed, whole):
    rng = np.random.default_rng(seed)
    field = lower, spacing, values = random_field(rng, whole)
    size = spacing * (np.array(values.shape) - 1)
    share = (rng.integers(-2, 2 * np.array(values.shape) + 2, (30, 3)) * spacing / 2.0 if whole
             else rng.uniform(-0.4, 1.4, (30, 3)) * size)
    points = lower + share
    expected = plain_distances(field, points)
    found = distances_at(field, points)
    assert_allclose(found, expected, rtol=0.0, atol=ATOL_ROUNDOFF)


@settings(max_examples=20)
@given(seeds)
def test_half_steps_are_half_of_the_longest(seed):
    rng = np.random.default_rng(seed)
    pads = rng.normal(size=(3, 5, 3))
    longest = np.linalg.norm(np.diff(pads, axis=1), axis=2).max(axis=1)
    assert_allclose(_half_steps(pads), 0.5 * longest, rtol=0.0, atol=ATOL_ROUNDOFF)
    assert_array_equal(_half_steps(pads[:, :1]), np.zeros(3))


def plain_touch(distances, gap):
    """Return the step at which a pad stops, never the first, and whether it touches."""
    inside = np.flatnonzero(distances < 0.0)
    if len(inside):
        return max(int(inside[0]), 1), True
    return max(int(distances.argmin()), 1), bool(distances.min() < gap)


@settings(max_examples=40)
@given(seeds, st.integers(2, 6), st.floats(-0.5, 3.0))
def test_a_pad_stops_at_its_first_step_inside_else_at_its_nearest(seed, steps, raised):
    rng = np.random.default_rng(seed)
    field = lower, spacing, values = random_field(rng)
    values = np.abs(values) + raised * rng.random()
    turn, origin = Rotation.random(random_state=seed).as_matrix(), rng.normal(size=3)
    pad = (lower + rng.uniform(0.0, 1.0, (steps, 3)) - origin) @ turn
    distances = distances_at(field, pad @ turn.T + origin)
    for gap in (0.0, 0.9, 1.1):
        gap *= max(distances.min(), 0.0)
        assert (_first_touch(field, transform(turn, origin), pad, gap)
                == plain_touch(distances, gap))


def test_a_pad_whose_nearest_step_is_half_a_step_away_does_not_touch():
    field = DistanceField(np.zeros(3), 1.0, np.full((2, 2, 2), 0.25))
    pad = np.array([[0.0, 0, 0], [0.5, 0, 0]])
    assert _first_touch(field, np.eye(4), pad, 0.25) == (1, False)
    assert _first_touch(field, np.eye(4), pad, 0.26) == (1, True)
    # On the surface is not inside.
    on_it = DistanceField(np.zeros(3), 1.0, np.zeros((2, 2, 2)))
    assert _first_touch(on_it, np.eye(4), np.zeros((4, 3)), 0.0) == (1, False)


def score_of(field, contacts, befores, touched, shares, lengths):
    """Return score and middle of the forces of one closing, by the rule."""
    if touched.sum() < 2 and len(touched) > 1:
        return -np.inf, np.zeros(3)
    inward = np.zeros((len(contacts), 3))
    frontal = 0.0
    for f in np.flatnonzero(touched):
        for k, step in enumerate(field[1] * np.eye(3)):
            before, behind = distances_at(field, contacts[f] + [-step, step])
            inward[f, k] = before - behind
        inward[f] /= max(np.linalg.norm(inward[f]), 1e-12)
        motion = contacts[f] - befores[f]
        frontal += np.clip(motion @ inward[f] / max(np.linalg.norm(motion), 1e-12), 0.0, 1.0)
    values, middles = [-1.0], [np.zeros(3)]
    for row in shares:
        if not touched[row > 0.0].all():
            continue
        total, middle = row @ inward, row @ contacts
        values.append(0.4 * max(1.0 - np.linalg.norm(total) / lengths[0], 0.0)
                      + 0.4 * max(1.0 - np.linalg.norm(middle) / lengths[1], 0.0)
                      + (lengths[2] if (row > 0.0).sum() > 2 else 0.0))
        middles.append(middle)
    best = int(np.argmax(values))
    return 0.2 * frontal / len(touched) + values[best], middles[best]


@settings(max_examples=40)
@given(seeds, st.sampled_from([1, 2, 3, 4]))
def test_a_closing_is_scored_by_its_rule(seed, fingers):
    rng = np.random.default_rng(seed)
    field = lower, spacing, values = random_field(rng)
    field = DistanceField(lower, spacing, values + 0.5 * rng.random())
    middle = lower + 0.5 * spacing * (np.array(values.shape) - 1)
    rotations = Rotation.random(3, random_state=seed).as_matrix()
    origins = 0.3 * rng.normal(size=(3, 3)) + middle
    pads = 0.5 * rng.normal(size=(fingers, 4, 3))
    shares = rng.random((5, fingers)) * (rng.random((5, fingers)) < 0.7)
    shares[:, 0] += 0.1
    shares /= shares.sum(axis=1, keepdims=True)
    lengths = np.array([rng.uniform(0.3, 2.0), rng.uniform(0.5, 4.0), 0.08, 1.5, 0.3])
    contacts, steps, scores, offsets = score_closings(field, transform(rotations, origins), pads,
                                                      shares, lengths)
    touched = steps > NO_TOUCH
    gaps = _half_steps(pads)
    for n in range(3):
        ways = pads @ rotations[n].T + origins[n]
        befores, late = np.empty((fingers, 3)), False
        for f in range(fingers):
            at, touches = plain_touch(distances_at(field, ways[f]), gaps[f])
            assert steps[n, f] == (at if touches else NO_TOUCH)
            late = late or (touches and at >= lengths[3])
            assert_allclose(contacts[n, f], ways[f, at], rtol=0.0, atol=ATOL_ROUNDOFF)
            befores[f] = ways[f, at - 1]
        score, offset = score_of(field, contacts[n], befores, touched[n], shares, lengths)
        score -= lengths[4] * late
        assert_allclose(scores[n], score, rtol=0.0, atol=ATOL_DIRECTION)
        assert_allclose(offsets[n], offset, rtol=0.0, atol=ATOL_DIRECTION)


@pytest.mark.parametrize('shares, first', [([[0.5, 0.5], [0.6, 0.4]], True),
                                           ([[0.6, 0.4], [0.5, 0.5]], False)])
def test_of_shares_but_for_rounding_alike_the_first_is_taken(shares, first):
    # Pads that meet a slab from both sides; the second row balances better by next to nothing.
    values = np.abs(np.arange(5.0) - 2.0)[:, None, None] - 1.1 + np.zeros((5, 2, 2))
    field = DistanceField(np.array([-2.0, 0.0, 0.0]), 1.0, values)
    pads = np.array([[[-2.0, 0.5, 0.5], [-1, 0.5, 0.5]], [[2.0, 0.5, 0.5], [1, 0.5, 0.5]]])
    for length, better in ((1e10, False), (1e7, True)):
        lengths = np.array([length, length, 0.0, np.inf, 0.0])
        _, steps, scores, offsets = score_closings(field, np.eye(4)[None], pads, np.array(shares),
                                                   lengths)
        assert (steps > NO_TOUCH).all()
        assert_allclose(scores, [0.2 + 0.8], rtol=0.0, atol=1e-7)
        expected = shares[0] if first or not better else shares[1]
        assert_allclose(offsets[0], [expected[1] - expected[0], 0.5, 0.5], rtol=0.0,
                        atol=ATOL_ROUNDOFF)


def test_pads_that_stand_still_in_a_level_field_push_nowhere():
    field = DistanceField(np.full(3, -2.0), 1.0, np.full((5, 5, 5), -0.5))
    for pads in (np.zeros((2, 3, 3)), np.arange(18.0).reshape(2, 3, 3) / 1024.0):
        contacts, steps, scores, offsets = score_closings(
            field, np.eye(4)[None], pads, np.array([[0.5, 0.5]]),
            np.array([1.0, 0.5, 0.08, np.inf, 0.0]))
        assert (steps > NO_TOUCH).all()
        assert_array_equal(contacts[0], pads[:, 1])
        away = np.linalg.norm(contacts[0].mean(axis=0)) / 0.5
        assert_allclose(scores, [0.4 + 0.4 * (1.0 - away)], rtol=0.0, atol=ATOL_ROUNDOFF)
        assert_allclose(offsets[0], contacts[0].mean(axis=0), rtol=0.0, atol=ATOL_ROUNDOFF)


def ball_field(count=9, radius=0.3):
    """Return a grid of distances to a ball about the origin."""
    spacing = 1.6 / (count - 1)
    axis = -0.8 + spacing * np.arange(count)
    grid = np.stack(np.meshgrid(axis, axis, axis, indexing='ij'), axis=-1)
    return DistanceField(np.full(3, -0.8), spacing, np.linalg.norm(grid, axis=-1) - radius)


@settings(max_examples=40)
@given(seeds, st.lists(st.floats(-0.1, 0.2), min_size=1, max_size=3), st.booleans())
def test_a_hand_keeps_the_limits_that_all_its_points_keep(seed, limits, fine):
    rng = np.random.default_rng(seed)
    field = ball_field(33 if fine else 9)
    rotations = Rotation.random(6, random_state=seed).as_matrix()
    origins = rng.normal(size=(6, 3)) * rng.choice([0.3, 0.6, 1.5], (6, 1))
    starts = np.concatenate([[0], np.cumsum(rng.integers(1, 4, 4))])
    balls = np.column_stack([0.4 * rng.normal(size=(4, 3)), rng.uniform(0.01, 0.3, 4)])
    owner = np.repeat(np.arange(4), np.diff(starts))
    ways = rng.normal(size=(len(owner), 3))
    ways *= rng.uniform(0.9, 1.0, (len(owner), 1)) / np.linalg.norm(ways, axis=1)[:, None]
    points = balls[owner, :3] + balls[owner, 3:] * ways
    limits = np.sort(limits)
    kept = count_clearances(field, transform(rotations, origins), points, starts, balls, limits)
    for n in range(6):
        distances = distances_at(field, points @ rotations[n].T + origins[n])
        assert kept[n] == (distances.min() >= limits).sum()


def test_a_point_at_the_limit_itself_keeps_it():
    field = DistanceField(np.zeros(3), 1.0, np.full((2, 2, 2), 0.25))
    arguments = np.eye(4)[None], np.zeros((1, 3)), np.array([0, 1]), np.zeros((1, 4))
    for limits, kept in (([0.25], 1), ([0.26], 0), ([0.24, 0.25, 0.26], 2)):
        assert_array_equal(count_clearances(field, *arguments, np.array(limits)), [kept])


def plain_below(local, x, y, low, high):
    """Return the lowest z of samples over a rectangle about (x, y), else of all."""
    shift = np.array([x, y])
    over = ((local[:2].T >= low[:2] + shift) & (local[:2].T <= high[:2] + shift)).all(axis=1)
    return local[2, over].min() if over.any() else local[2].min()


def plain_middle(local, x, y, top, half):
    """Return the middle of the samples below a height near (x, y), where it fits the palm."""
    near = ((local[2] < top) & (np.abs(local[0] - x) < half[0])
            & (np.abs(local[1] - y) < half[1]))
    middle = np.array([x, y])
    for k in range(2 if near.any() else 0):
        low, high = local[k, near].min(), local[k, near].max()
        if high - low < 1.9 * half[k]:
            middle[k] = 0.5 * (low + high)
    return middle


@settings(max_examples=60)
@given(seeds, st.integers(1, 12), st.booleans())
def test_the_nearest_sample_and_the_sections_middle_are_those_of_all_samples(seed, count, whole):
    rng = np.random.default_rng(seed)
    draw = ((lambda *shape: rng.integers(-4, 5, shape).astype(float)) if whole
            else lambda *shape: 2.0 * rng.normal(size=shape))
    local = draw(3, count)
    low, high = -1.0 - rng.integers(0, 3, 3) / 2.0, 1.0 + rng.integers(0, 4, 3) / 2.0
    (x, y), top = draw(2), draw(1)[0]
    assert _nearest_below(local, x, y, low, high) == plain_below(local, x, y, low, high)
    half = rng.integers(1, 7, 2) / 1.0
    assert_allclose(_section_middle(local, x, y, top, half),
                    plain_middle(local, x, y, top, half), rtol=0.0, atol=ATOL_ROUNDOFF)


@pytest.mark.parametrize('axis', [0, 1])
@pytest.mark.parametrize('width, moves', [(1.89, True), (1.91, False)])
def test_a_section_as_wide_as_the_palm_moves_nothing(axis, width, moves):
    half = np.array([10.0, 10.0])
    half[axis] = 2.0
    local = np.zeros((3, 2))
    local[axis] = [1.99 - 2.0 * width, 1.99]
    found = _section_middle(local, 0.0, 0.0, 1.0, half)
    assert_allclose(found[axis], 1.99 - width if moves else 0.0, rtol=0.0, atol=ATOL_ROUNDOFF)
    assert found[1 - axis] == 0.0


@settings(max_examples=30)
@given(seeds)
def test_palms_are_centred_twice_and_stand_at_their_gap(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(12, 3))
    rotations = Rotation.random(3, random_state=seed).as_matrix()
    centroids = rng.normal(size=(3, 3))
    centres = rng.normal(size=(2, 3)) * 0.3 + [0.0, 0.0, 1.0]
    low, high, gaps = -rng.uniform(0.4, 1.0, 3), rng.uniform(0.4, 1.0, 3), np.array([0.1, 0.3])
    origins = place_palms(points, rotations, centroids, centres, low, high, gaps)
    assert origins.shape == (2, 3, 2, 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prescreen, 'SCRATCH', 2 * points.size)     # two palms at once, then one
        assert_array_equal(origins, place_palms(points, rotations, centroids, centres, low, high,
                                                gaps))
    half = 0.5 * (high[:2] - low[:2])
    for c, n, g in np.ndindex(2, 3, 2):
        local, centre = ((points - centroids[n]) @ rotations[n]).T, centres[c]
        x, y, nearest = 0.0, 0.0, plain_below(local, *-centre[:2], low, high)
        for _ in range(2):
            x, y = plain_middle(local, x, y, nearest + centre[2] - high[2] - gaps[g], half)
            nearest = plain_below(local, x - centre[0], y - centre[1], low, high)
        expected = [x - centre[0], y - centre[1], nearest - gaps[g] - high[2]]
        assert_allclose((origins[c, n, g] - centroids[n]) @ rotations[n], expected, rtol=0.0,
                        atol=ATOL_ROUNDOFF)
