"""Trajectories in time: what holds for every course."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gripsim_ros.hardware.driver.motion.course import plan_course
from gripsim_ros.hardware.driver.motion.path import Trajectory

START = np.zeros(3)
VELOCITIES, ACCELERATIONS = np.array([1.4, 1.0, 2.0]), np.array([7.0, 7.0, 20.0])
TOLERANCE = 0.005
#: Excess of limits between the places where the schedule looks at them.
RTOL_LIMITS = 0.05
#: A step of the schedule at the speeds here [rad].
ATOL_STEP = 0.01

rows = st.lists(st.lists(st.floats(-1.0, 1.0), min_size=3, max_size=3), min_size=1, max_size=8)
steps = st.lists(st.floats(0.05, 1.0), min_size=8, max_size=8)


def course_of(points, times, slopes=None):
    return plan_course(START, Trajectory(np.asarray(times), np.asarray(points), slopes),
                       TOLERANCE, VELOCITIES, ACCELERATIONS)


@settings(max_examples=60, deadline=None)
@given(rows, steps)
def test_every_course_ends_at_its_goal_within_limits_and_never_before_its_time(points, gaps):
    times = np.cumsum(gaps)[:len(points)]
    course = course_of(points, times)
    np.testing.assert_allclose(course.at(0.0), START, atol=1e-9)
    np.testing.assert_allclose(course.at(course.duration + 1.0), points[-1], atol=1e-9)
    assert (np.diff(course.times) >= 0.0).all() and (course.times >= course.wanted - 1e-9).all()
    slopes = np.abs(course.curve(course.wanted, 1) * course.rates[:, None])
    assert (slopes <= VELOCITIES * (1.0 + RTOL_LIMITS) + 1e-6).all()
    assert course.rates[0] == course.rates[-1] == 0.0


@settings(max_examples=60, deadline=None)
@given(rows, steps)
def test_the_path_is_that_of_the_points_but_for_rounded_corners(points, gaps):
    times = np.cumsum(gaps)[:len(points)]
    course = course_of(points, times)
    places = np.concatenate([[START], points])
    for t in np.linspace(0.0, times[-1], 200):
        straight = [np.interp(t, [0.0, *times], column) for column in places.T]
        assert np.abs(course.curve(t) - straight).max() <= TOLERANCE + 1e-9


def test_what_the_hand_can_do_is_done_in_time():
    times = 0.05 * np.arange(1, 41)
    wave = 0.25 * (1.0 - np.cos(np.pi * times))[:, None] * [1.0, 0.5, 1.0]
    course = course_of(wave, times)
    assert course.duration == pytest.approx(2.0, abs=0.01) and course.behind < 0.002


def test_what_it_cannot_do_comes_late_and_says_by_how_much():
    """From rest at once to a velocity v: behind by v^2 / 2a when it has it."""
    course = course_of([[0.7, 0.0, 0.0]], [1.0])
    assert course.behind == pytest.approx(0.7 ** 2 / (2.0 * 7.0), rel=0.2)
    assert course_of([[0.7, 0.0, 0.0]], [0.01]).duration > 0.6


def test_velocities_at_points_make_cubic_curves():
    """By hand: half-way of a cubic from rest to rest is the middle, at 1.5 times the mean."""
    course = course_of([[0.5, 0.0, 0.0]], [1.0], np.zeros((1, 3)))
    np.testing.assert_allclose(course.curve(0.5), [0.25, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(course.curve(0.5, 1), [0.75, 0.0, 0.0], atol=1e-12)
    assert course.duration == pytest.approx(1.0, abs=0.02)


def test_corners_lie_on_the_way_that_is_left():
    course = course_of([[0.5, 0.0, 0.0], [0.0, 0.5, 0.0]], [1.0, 2.0])
    np.testing.assert_allclose(course.corners(TOLERANCE)[[0, -1]],
                               [START, [0.0, 0.5, 0.0]], atol=ATOL_STEP)
    assert course.corners(TOLERANCE, 1.5)[0, 0] < 0.3
