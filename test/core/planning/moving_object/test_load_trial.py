"""Loads on an object in a closed hand, one after the other, against one motion at a time."""

import numpy as np
import pytest

from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.planning.moving_object.load_trial import Trial
from gripsim_ros.core.planning.moving_object.motion import along, MovingObject
from gripsim_ros.core.transforms import inverse, transform
from gripsim_ros.library.in_process import planner_options

DYNAMICS = planner_options().closing
#: As ``bears_loads`` has it: steps of 50 ms, 0.2 s of growth, 0.5 s in all; 25 mm of radius.
TRIAL = Trial(0.05, 4, 10, 1, 5e-4, 0.025, 0.005, np.deg2rad(5.0))


@pytest.fixture(scope='module')
def held(hand):
    """Return a ball between two fingers that press it, and their command."""
    pinch = next(preshape for preshape in hand.preshapes if preshape.name == 'pinch')
    ball = GraspObject(shapes.sphere(0.025, 0.002), Material(1e6, 0.3, 500.0, 0.5))
    T_palm_ball = transform(np.eye(3), [0.019, 0.0, 0.21])
    end = pinch.open + 0.3 * (pinch.closed - pinch.open)
    moving = MovingObject(ball, hand, inverse(T_palm_ball), pinch.open, DYNAMICS)
    moving.follow(along(np.stack([pinch.open, end]), 150))
    moving.follow(np.repeat(end[None], 50, axis=0))
    return moving, end


def bears(moving, command, wrenches, trial):
    """Return whether all wrenches are borne."""
    return moving.first_not_borne(command, wrenches, trial) is None


def yields(moving, command, wrench):
    """Return how far an object goes and turns under a load that grows, then stays."""
    loaded = moving.copy()
    finer = TRIAL.step / DYNAMICS.time_step
    steps, growing = round(finer * TRIAL.longest), finer * TRIAL.growing
    shares = np.minimum(1.0, np.arange(1, steps + 1) / growing)
    loaded.follow(np.repeat(command[None], steps, axis=0), shares[:, None] * wrench)
    change = inverse(moving.T_palm_object) @ loaded.T_palm_object
    return np.linalg.norm(change[:3, 3]), np.arccos(0.5 * (np.trace(change[:3, :3]) - 1.0))


def test_loads_are_borne_that_move_the_ball_little_and_others_are_not(held):
    moving, command = held
    pull = np.array([0.6, -0.5, 0.5, 0.0, 0.0, 0.0])
    told = []
    for multiple in np.geomspace(0.5, 50.0, 9):
        shift, turn = yields(moving, command, multiple * pull)
        told.append(bears(moving, command, multiple * pull[None], TRIAL))
        assert told[-1] == (shift <= TRIAL.most_shift and turn <= TRIAL.most_turn)
    assert told[0] and not told[-1]


def test_steps_of_50_ms_find_the_way_of_steps_of_2_ms_where_the_object_comes_to_rest(held):
    moving, command = held
    pull = np.array([0.4, -0.3, 0.4, 0.0, 0.01, 0.0])
    whole = TRIAL._replace(still=0.0)
    for limit in ('most_shift', 'most_turn'):
        coarse, fine = (borne_from(moving, command, pull, trial, limit) for trial in (
            whole, whole._replace(step=0.002, growing=100, longest=250)))
        assert coarse == pytest.approx(fine, rel=0.02)


def borne_from(moving, command, pull, trial, limit):
    """Return the least limit from which a pull is borne."""
    low, high = 0.0, 0.1
    while high - low > 1e-7:
        middle = 0.5 * (low + high)
        limits = trial._replace(most_shift=1.0, most_turn=1.0)._replace(**{limit: middle})
        borne = bears(moving, command, pull[None], limits)
        low, high = (low, middle) if borne else (middle, high)
    return high


def test_the_turn_counts_as_well(held):
    moving, command = held
    about_the_fingers = np.array([0.0, 0.0, 0.0, 0.0, 0.02, 0.0])
    _, turn = yields(moving, command, about_the_fingers)
    for share, borne in ((0.8, False), (1.2, True)):
        limits = TRIAL._replace(still=0.0, most_shift=1.0, most_turn=share * turn)
        assert bears(moving, command, about_the_fingers[None], limits) is borne


def test_each_load_acts_alone_and_the_ball_stays_where_it_is(held):
    moving, command = held
    before, speeds = moving.T_palm_object, moving.speeds
    weak, strong = np.array([0.1, 0.0, 0.0, 0.0, 0.0, 0.0]), np.array(
        [0.0, 0.0, -30.0, 0.0, 0.0, 0.0])
    assert bears(moving, command, np.tile(weak, (30, 1)), TRIAL)
    assert moving.first_not_borne(command, np.stack([weak, strong, weak]), TRIAL) == 1
    np.testing.assert_array_equal(moving.T_palm_object, before)
    np.testing.assert_array_equal(moving.speeds, speeds)
