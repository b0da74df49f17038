"""The box on stairs and on a sine track: it tumbles to rest, and nothing is made of nothing."""

import numpy as np
import pytest

from gripsim_ros.apps.examples import tumbling as stairs

ATOL_ROUNDOFF = 1e-9
#: Where the box rests its lower face is this deep in the step at most [m], as elsewhere.
PART_OF_SIZE = 0.01


@pytest.fixture(scope='module')
def run():
    return stairs.simulate(stairs.first_state(), stairs.stairs())


def step_under(state):
    """Return the number of the step under the box's centre, from 0 at the top."""
    return int(np.floor(state.centre[0] / stairs.TREAD))


@pytest.mark.nightly     # by day on a track of sine waves
def test_the_box_tumbles_down_and_rests_on_a_step(run):
    states, _, touching = run
    last = states[-1]
    visited = {step_under(state) for state, points in zip(states, touching) if points}
    assert len(visited) >= 4
    assert last.time < 8.0 and 0 < step_under(last) < stairs.STEPS
    assert np.linalg.norm(last.velocity) + np.linalg.norm(last.spin) < 0.05
    # On a face: one of its axes is upright, its centre half that side above the tread.
    axis = int(np.argmax(np.abs(last.rotation[2])))
    np.testing.assert_allclose(abs(last.rotation[2, axis]), 1.0, rtol=0.0, atol=1e-4)
    tread = -step_under(last) * stairs.RISE
    np.testing.assert_allclose(last.centre[2] - tread, stairs.SIDES[axis] / 2.0, rtol=0.0,
                               atol=2.0 * stairs.SLOP)
    assert touching[-1] >= 3


@pytest.mark.nightly     # by day on a track of sine waves
def test_energy_never_grows(run):
    energies = np.array([stairs.energy(state) for state in run[0]])
    assert np.diff(energies).max() <= ATOL_ROUNDOFF
    assert energies[0] - energies[-1] > stairs.MASS * stairs.GRAVITY * stairs.RISE


@pytest.mark.nightly     # by day on a track of sine waves
def test_the_box_stays_out_of_the_stairs(run):
    states, depths, touching = run
    assert depths.max() <= stairs.SLOP + ATOL_ROUNDOFF
    assert stairs.SLOP < PART_OF_SIZE * stairs.SIDES.min()
    # It meets them by corners, edges and faces.
    assert {1, 2, 4} <= set(touching.tolist())


def test_a_block_on_a_level_step_stays_where_it_is():
    start = stairs.State(0.0, np.array([0.15, 0.0, 0.5 * stairs.SIDES[2] - 1e-5]), np.eye(3),
                         np.zeros(3), np.zeros(3))
    states, depths, touching = stairs.simulate(start, stairs.stairs(), longest=0.5)
    np.testing.assert_allclose(states[-1].centre, start.centre, rtol=0.0, atol=1e-6)
    assert touching[0] == 4 and depths.max() < 2e-5


def test_a_sliding_block_stops_after_the_way_that_friction_allows():
    speed = 0.5
    start = stairs.State(0.0, np.array([0.13, 0.0, 0.5 * stairs.SIDES[2] - 1e-5]), np.eye(3),
                         np.array([0.0, speed, 0.0]), np.zeros(3))
    states, _, _ = stairs.simulate(start, stairs.stairs(), longest=1.0)
    way = speed ** 2 / (2.0 * stairs.FRICTION * stairs.GRAVITY)
    # One step in time early or late, at the first speed.
    np.testing.assert_allclose(states[-1].centre[1], way, rtol=0.0,
                               atol=speed * stairs.TIME_STEP)


def test_on_a_sine_track_energy_never_grows_and_the_box_stays_above():
    # Enough of the way for the first waves: it touches and goes on.
    states, depths, touching = stairs.simulate(stairs.first_state(), stairs.sine_track(), 0.8)
    energies = np.array([stairs.energy(state) for state in states])
    assert np.diff(energies).max() <= ATOL_ROUNDOFF
    assert touching.any() and depths.max() <= stairs.SLOP + ATOL_ROUNDOFF
    assert all(state.centre[2] > stairs.sine_height(state.centre[0]) for state in states)


def test_columns_follow_the_sine():
    corners = np.concatenate([body.vertices for body in stairs.sine_track()])
    top = corners[corners[:, 2] > corners[:, 2].min() + 0.5 * stairs.RISE]
    np.testing.assert_allclose(top[:, 2], stairs.sine_height(top[:, 0]), rtol=0.0, atol=1e-12)
