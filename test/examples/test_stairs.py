"""The box on the stairs: it tumbles to rest, and nothing is made of nothing."""

from importlib import util
from pathlib import Path

import numpy as np
import pytest

PATH = Path(__file__).resolve().parents[2] / 'examples' / 'stairs.py'
ATOL_ROUNDOFF = 1e-9
#: Where the box rests its lower face is this deep in the step at most [m], as elsewhere.
PART_OF_SIZE = 0.01


@pytest.fixture(scope='module')
def stairs():
    spec = util.spec_from_file_location('stairs', PATH)
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope='module')
def run(stairs):
    return stairs.simulate(stairs.first_state())


def test_the_box_tumbles_down_and_rests_on_a_step(stairs, run):
    states, _, touching = run
    last = states[-1]
    visited = {stairs.step_under(state) for state, points in zip(states, touching) if points}
    assert len(visited) >= 4
    assert last.time < 8.0 and 0 < stairs.step_under(last) < stairs.STEPS
    assert np.linalg.norm(last.velocity) + np.linalg.norm(last.spin) < 0.05
    # On a face: one of its axes is upright, its centre half that side above the tread.
    axis = int(np.argmax(np.abs(last.rotation[2])))
    np.testing.assert_allclose(abs(last.rotation[2, axis]), 1.0, rtol=0.0, atol=1e-4)
    tread = -stairs.step_under(last) * stairs.RISE
    np.testing.assert_allclose(last.centre[2] - tread, stairs.SIDES[axis] / 2.0, rtol=0.0,
                               atol=2.0 * stairs.SLOP)
    assert touching[-1] >= 3


def test_energy_never_grows(stairs, run):
    energies = np.array([stairs.energy(state) for state in run[0]])
    assert np.diff(energies).max() <= ATOL_ROUNDOFF
    assert energies[0] - energies[-1] > stairs.MASS * stairs.GRAVITY * stairs.RISE


def test_the_box_stays_out_of_the_stairs(stairs, run):
    states, depths, touching = run
    assert depths.max() <= stairs.SLOP + ATOL_ROUNDOFF
    assert stairs.SLOP < PART_OF_SIZE * stairs.SIDES.min()
    # It meets them by corners, edges and faces.
    assert {1, 2, 4} <= set(touching.tolist())


def test_a_block_on_a_level_step_stays_where_it_is(stairs):
    start = stairs.State(0.0, np.array([0.15, 0.0, 0.5 * stairs.SIDES[2] - 1e-5]), np.eye(3),
                         np.zeros(3), np.zeros(3))
    states, depths, touching = stairs.simulate(start, longest=0.5)
    np.testing.assert_allclose(states[-1].centre, start.centre, rtol=0.0, atol=1e-6)
    assert touching[0] == 4 and depths.max() < 2e-5


def test_a_sliding_block_stops_after_the_way_that_friction_allows(stairs):
    speed = 0.5
    start = stairs.State(0.0, np.array([0.13, 0.0, 0.5 * stairs.SIDES[2] - 1e-5]), np.eye(3),
                         np.array([0.0, speed, 0.0]), np.zeros(3))
    states, _, _ = stairs.simulate(start, longest=1.0)
    way = speed ** 2 / (2.0 * stairs.FRICTION * stairs.GRAVITY)
    # One step in time early or late, at the first speed.
    np.testing.assert_allclose(states[-1].centre[1], way, rtol=0.0,
                               atol=speed * stairs.TIME_STEP)
