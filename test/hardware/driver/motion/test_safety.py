"""No motion leaves the driver that could hit a limit or the hand itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree

from gripsim_ros.core.hand import forward_kinematics
from gripsim_ros.core.transforms import apply
from gripsim_ros.hardware.driver.link.errors import UnsafeError
from gripsim_ros.hardware.driver.motion.path import (
    SLOWEST, SOFTEST, Trajectory, plan_segments, ramp_profile, read_trajectory, shortest_time)
from gripsim_ros.hardware.driver.motion.safety import SafetyChecker, reach_bounds

from sdh_cases import CLOSED, HAND, NAMES, OPEN, SHAPES

CLEARANCE, SLACK, MAX_VELOCITY = 0.001, 0.002, 1.4
ROUNDOFF = 1e-9
#: Samples of a path.
DENSE = 40
ACCELERATION = np.full(7, 1.7)
VELOCITIES = np.full(7, 1.2)


@pytest.fixture(scope='module')
def checker():
    return SafetyChecker(HAND, CLEARANCE, SLACK, MAX_VELOCITY, SHAPES)


def nearest_vertices(positions):
    """Return the least distance between vertices of links that can hit each other [m]."""
    poses = forward_kinematics(HAND, positions[None])[0]
    clouds = [apply(T, link.mesh.vertices[::4]) for T, link in zip(poses, HAND.links)]
    trees = [cKDTree(cloud) for cloud in clouds]
    return min(trees[i].query(clouds[j])[0].min() for i, j in SHAPES.pairs)


def random_positions(rng):
    return rng.uniform(HAND.joint_lower, HAND.joint_upper)


def test_no_accepted_path_brings_links_together(checker, rng):
    """The least allowed gap halved is kept on the whole way, and vertices are no nearer."""
    accepted = refused = 0
    while accepted < 5 or refused < 5:
        path = np.stack([OPEN, random_positions(rng)])
        dense = path[0] + np.linspace(0.0, 1.0, DENSE)[:, None] * (path[1] - path[0])
        gaps = [checker.clearance(row) for row in dense]
        try:
            checker.check_path(path)
        except UnsafeError:
            refused += 1
            continue
        accepted += 1
        assert min(gaps) >= 0.5 * CLEARANCE - ROUNDOFF
        worst = dense[int(np.argmin(gaps))]
        assert nearest_vertices(worst) >= 0.5 * CLEARANCE - ROUNDOFF


def test_links_that_hit_on_the_way_are_seen_though_both_ends_are_clear(checker, rng):
    found = 0
    while found < 2:
        path = np.stack([random_positions(rng), random_positions(rng)])
        if min(checker.clearance(end) for end in path) < 5.0 * CLEARANCE / 2.0:
            continue
        dense = path[0] + np.linspace(0.0, 1.0, DENSE)[:, None] * (path[1] - path[0])
        if min(checker.clearance(row) for row in dense[1:-1]) > 0.0:
            continue
        found += 1
        with pytest.raises(UnsafeError, match='as near as'):
            checker.check_path(path)


def test_no_refused_path_is_clear_of_itself(checker, rng):
    """Where dense samples keep twice the allowed gap, nothing is refused."""
    clear = 0
    while clear < 8:
        path = np.stack([OPEN, OPEN + rng.uniform(-0.3, 0.3, 7)])
        path = np.clip(path, HAND.joint_lower, HAND.joint_upper)
        dense = path[0] + np.linspace(0.0, 1.0, DENSE)[:, None] * (path[1] - path[0])
        if min(checker.clearance(row) for row in dense) > 2.0 * CLEARANCE:
            clear += 1
            checker.check_path(path)


def test_no_point_of_a_link_moves_farther_than_its_bound(rng):
    bounds = reach_bounds(HAND)
    for _ in range(5):
        here = random_positions(rng)
        for joint in range(7):
            there = here.copy()
            there[joint] += 1e-4
            poses = forward_kinematics(HAND, np.stack([here, there]))
            for number, link in enumerate(HAND.links):
                moved = np.linalg.norm(apply(poses[1, number], link.mesh.vertices)
                                       - apply(poses[0, number], link.mesh.vertices), axis=1)
                assert moved.max() <= 1e-4 * bounds[number, joint] + 1e-12
                assert (bounds[number, joint] == 0.0) == (not HAND.moves_link[number, joint])


def test_fingers_that_would_cross_are_refused(checker):
    crossing = np.array([1.57, 1.2, 0.0, 1.2, 0.0, 0.0, 0.0])
    with pytest.raises(UnsafeError, match='as near as'):
        checker.check_path(np.stack([OPEN, crossing]))


def test_links_that_touch_may_part_but_not_press(checker):
    preshape = next(p for p in HAND.preshapes if p.name == 'pinch')
    low, high = 0.0, 0.5        # apart, in collision: nearly touching lies between
    for _ in range(20):
        share = 0.5 * (low + high)
        touching = preshape.open + share * (preshape.closed - preshape.open)
        gap = checker.clearance(touching)
        if 0.0 < gap < 0.5 * CLEARANCE:
            break
        low, high = (share, high) if gap > 0.0 else (low, share)
    assert 0.0 < gap < 0.5 * CLEARANCE
    checker.check_path(np.stack([touching, preshape.open]))
    with pytest.raises(UnsafeError):
        checker.check_path(np.stack([touching, preshape.closed]))


def test_links_that_meet_may_be_parted_by_small_parts_but_not_stay(checker):
    """As a course has them, whose first corner is where the hand is."""
    preshape = next(p for p in HAND.preshapes if p.name == 'pinch')
    meeting = next(posture for posture in np.linspace(preshape.open, preshape.closed, DENSE)
                   if checker.clearance(posture) <= 0.0)
    course = np.linspace(meeting, preshape.open, 10 * DENSE)
    checker.check_path(np.concatenate([meeting[None], course]))
    assert checker.clearance(course[1]) <= 0.0          # still, after the first part
    for end in (course[1], preshape.closed):
        with pytest.raises(UnsafeError):
            checker.check_path(np.stack([meeting, meeting, end]))


@pytest.mark.parametrize('joint', range(7))
@pytest.mark.parametrize('side', [-1, 1])
def test_targets_beyond_a_limit_are_refused_by_name(checker, joint, side):
    target = OPEN.copy()
    limit = HAND.joint_upper[joint] if side > 0 else HAND.joint_lower[joint]
    target[joint] = limit + side * 1.01 * SLACK
    with pytest.raises(UnsafeError, match=NAMES[joint]):
        checker.check_target(np.stack([OPEN, target]))
    target[joint] = limit + side * 0.9 * SLACK
    assert checker.check_target(target)[joint] == limit


def test_the_hands_own_limits_narrow_those_of_the_urdf():
    checker = SafetyChecker(HAND, CLEARANCE, SLACK, MAX_VELOCITY, SHAPES)
    checker.narrow(np.full(7, -0.5), np.full(7, 0.5), np.full(7, 0.3))
    with pytest.raises(UnsafeError, match='0.5000'):
        checker.check_target(np.full(7, 0.6))
    with pytest.raises(UnsafeError, match='0.300 rad/s'):
        checker.check_velocities(np.full(7, 0.31))
    checker.check_velocities(np.full(7, -0.3))
    with pytest.raises(UnsafeError, match='no room'):
        checker.narrow(np.full(7, 0.5), np.full(7, -0.5), np.ones(7))


# -- trajectories -----------------------------------------------------------------------------

@pytest.mark.parametrize('names, times, rows', [
    (['elbow'], [1.0], [[0.0]]), ([], [1.0], [[]]), (2 * [NAMES[0]], [1.0], [[0.0, 0.0]]),
    ([NAMES[0]], [], []), ([NAMES[0]], [1.0], [[0.0, 0.0]]), ([NAMES[0]], [-1.0], [[0.0]]),
    ([NAMES[0]], [1.0], [[float('nan')]]), ([NAMES[0]], [1.0, 1.0], [[0.0], [0.1]]),
    ([NAMES[0]], [float('inf')], [[0.0]])])
def test_trajectories_that_are_none_are_refused(names, times, rows):
    with pytest.raises(UnsafeError):
        read_trajectory(NAMES, OPEN, names, times, rows)


def test_joints_are_taken_by_name_and_the_others_stay():
    trajectory = read_trajectory(NAMES, OPEN, [NAMES[4], NAMES[1]], [0.5], [[0.1, 0.2]])
    expected = OPEN.copy()
    expected[[4, 1]] = 0.1, 0.2
    np.testing.assert_array_equal(trajectory.points, [expected])


@settings(max_examples=40)
@given(st.integers(0, 2**31), st.integers(2, 40), st.floats(0.001, 0.1))
def test_motions_stay_within_the_tolerance_of_the_trajectory(seed, count, tolerance):
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.uniform(0.05, 0.3, count))
    points = OPEN + np.cumsum(rng.normal(0.0, 0.01, (count, 7)), axis=0)
    segments = plan_segments(OPEN, Trajectory(times, points), tolerance, VELOCITIES, ACCELERATION)
    ends = np.concatenate([[0.0], np.cumsum([segment.duration for segment in segments])])
    corners = np.stack([OPEN, *(segment.target for segment in segments)])
    assert abs(ends[-1] - times[-1]) < ROUNDOFF
    np.testing.assert_array_equal(corners[-1], points[-1])
    for time, point in zip(times, points):
        here = [np.interp(time, ends, corners[:, j]) for j in range(7)]
        assert np.abs(here - point).max() <= tolerance + ROUNDOFF


def test_a_straight_closing_is_one_motion():
    times = np.linspace(0.1, 2.0, 20)
    points = OPEN + (times / 2.0)[:, None] * (CLOSED - OPEN)
    (segment,) = plan_segments(OPEN, Trajectory(times, points), 0.005, VELOCITIES, ACCELERATION)
    assert abs(segment.duration - 2.0) < ROUNDOFF


def test_a_far_first_point_delays_the_rest():
    points = np.stack([CLOSED, OPEN])
    far = Trajectory(np.array([0.0, 1.0]), points)
    first, second = plan_segments(OPEN, far, 0.005, VELOCITIES, ACCELERATION)
    assert first.duration == shortest_time(CLOSED - OPEN, VELOCITIES, ACCELERATION)
    assert abs(second.duration - 1.0) < ROUNDOFF


@settings(max_examples=60)
@given(st.integers(0, 2**31), st.floats(0.3, 5.0))
def test_ramps_take_the_time_that_is_wanted_on_a_straight_line(seed, duration):
    """Area and length of each joint's trapezoid, from velocity and acceleration alone."""
    rng = np.random.default_rng(seed)
    ways = rng.uniform(0.2, 0.5, 7)
    speeds, ramps = ramp_profile(ways, duration, VELOCITIES, ACCELERATION)
    assert (speeds <= VELOCITIES + ROUNDOFF).all() and (ramps <= ACCELERATION + ROUNDOFF).all()
    least = shortest_time(ways, VELOCITIES, ACCELERATION)
    free = (speeds > SLOWEST) & (ramps > SOFTEST)
    plateau = speeds ** 2 / ramps < ways
    taken = np.where(plateau, ways / speeds + speeds / ramps, 2.0 * np.sqrt(ways / ramps))
    np.testing.assert_allclose(taken[free], max(duration, least), rtol=1e-6)
