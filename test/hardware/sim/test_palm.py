"""The palm on its way: limits of speed and acceleration, arrival, rest."""

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from gripsim_ros.core.transforms import from_rotation_vector
from gripsim_ros.hardware.sim.options import default_options
from gripsim_ros.hardware.sim.palm import ARRIVED, PalmGuide

ATOL_ROUNDOFF = 1e-9
#: The simulation's own step is 2 ms; the laws are those of any.
OPTIONS = default_options(time_step=0.005, contact_time=0.01)
STEP = OPTIONS.time_step
#: Longest way of the tests and its time [s].
LONG = 12.0

twists = st.tuples(*[st.floats(-0.2, 0.2)] * 3, *[st.floats(-0.8, 0.8)] * 3)


def pose(twist):
    return from_rotation_vector(np.array(twist))


def travel(guide, seconds):
    """Go on, and return velocities and spins of all steps."""
    velocities, spins = [guide.velocity], [guide.spin]
    for _ in range(round(seconds / STEP)):
        guide.step()
        velocities.append(guide.velocity)
        spins.append(guide.spin)
    return np.array(velocities), np.array(spins)


@settings(max_examples=10)
@given(st.lists(twists, min_size=1, max_size=3), st.floats(0.01, 1.5))
def test_no_limit_is_passed_and_the_last_goal_is_reached_wherever_it_is_called(goals, pause):
    guide, told = PalmGuide(OPTIONS, np.eye(4)), []
    for goal in goals:
        guide.go(pose(goal))
        told.append(travel(guide, pause))
    told.append(travel(guide, LONG))
    for moves, speed, acceleration in zip(
            (np.vstack(part) for part in zip(*told)),
            (OPTIONS.palm_speed, OPTIONS.palm_spin),
            (OPTIONS.palm_acceleration, OPTIONS.palm_spin_acceleration)):
        assert np.linalg.norm(moves, axis=1).max() <= speed + ATOL_ROUNDOFF
        change = np.linalg.norm(np.diff(moves, axis=0), axis=1)
        assert change.max() <= acceleration * STEP + ATOL_ROUNDOFF
    assert not guide.moves
    np.testing.assert_allclose(guide.pose, pose(goals[-1]), rtol=0, atol=2.0 * ARRIVED)


@pytest.mark.parametrize('length', [0.004, 0.04, 0.3])
def test_a_straight_way_takes_no_longer_than_the_limits_ask(length):
    """Two ramps and what is left between them at full speed."""
    speed, acceleration = OPTIONS.palm_speed, OPTIONS.palm_acceleration
    ramps = speed**2 / acceleration
    wanted = length / speed + speed / acceleration if length > ramps else \
        2.0 * np.sqrt(length / acceleration)
    guide, time = PalmGuide(OPTIONS, np.eye(4)), 0.0
    guide.go(pose([length, 0.0, 0.0, 0.0, 0.0, 0.0]))
    while guide.moves:
        guide.step()
        time += STEP
    assert time == pytest.approx(wanted, abs=4.0 * STEP)


def test_a_palm_that_is_stopped_brakes_and_stays():
    guide = PalmGuide(OPTIONS, np.eye(4))
    guide.go(pose([0.5, 0.0, 0.0, 0.0, 0.0, 1.0]))
    travel(guide, 1.0)
    before = guide.position.copy()
    guide.stop()
    travel(guide, 1.0)
    braking = OPTIONS.palm_speed**2 / (2.0 * OPTIONS.palm_acceleration)
    assert not guide.moves
    assert guide.position[0] - before[0] == pytest.approx(braking, abs=OPTIONS.palm_speed * STEP)


def test_a_palm_that_is_placed_rests_there():
    guide = PalmGuide(OPTIONS, np.eye(4))
    guide.go(pose([0.5, 0.0, 0.0, 0.0, 0.0, 1.0]))
    travel(guide, 0.3)
    guide.place(pose([0.0, 0.1, 0.0, 0.0, 0.0, 0.0]))
    travel(guide, 0.3)
    np.testing.assert_allclose(guide.pose, pose([0.0, 0.1, 0.0, 0.0, 0.0, 0.0]), rtol=0,
                               atol=ATOL_ROUNDOFF)
