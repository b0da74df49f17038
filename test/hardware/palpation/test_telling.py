"""What squeezes would tell is what they tell, and of several grips the first good one is taken."""

from dataclasses import replace

from execution_cases import OPTIONS, run
from hypothesis import given, settings, strategies as st
import numpy as np
from palpation_cases import FeelingHand, grip_model, PALPATION, palpation_plan
import pytest

from gripsim_ros.hardware.execution.actions import Status
from gripsim_ros.hardware.palpation.machine import Palpation
from gripsim_ros.hardware.palpation.policy import MODEL_ERROR, SqueezePolicy
from gripsim_ros.hardware.palpation.squeeze_watch import SqueezeWatch
from gripsim_ros.hardware.palpation.telling import (
    error_at, expected_error, foretell, GOOD, MISTAKEN, most_telling, pressure_of_weakest,
    USELESS)
from gripsim_ros.library.squeezing.grip_model import TURNING_DOUBT

BELIEVED, STIFF = 2e5, 1e6
OPEN = replace(OPTIONS, loading_time=PALPATION.palpation_time)
#: What joints of a good hand are read to [rad], and surfaces known to [m].
REAL = {'joint_resolution': 2e-4, 'surface_error': 2e-5}


def policy(max_pressure=np.inf, model=None, max_force=np.inf, **changes):
    """Return what a palpation of the ball would do, with other options."""
    shares = SqueezeWatch(palpation_plan(OPEN), OPEN).shares
    return SqueezePolicy(model or grip_model(), replace(PALPATION, **changes), BELIEVED, shares,
                         OPEN.touch_force, max_pressure, max_force)


@pytest.mark.parametrize('modulus', [2e4, 2e5, 2e6])
@pytest.mark.parametrize('limit, most', [(np.inf, np.inf), (1.5e5, np.inf), (1.5e5, 2.5e6)])
def test_what_is_foretold_is_what_a_hand_tells(modulus, limit, most):
    """Squeezes as hard, as many, and the error told; but for what its steps go past their aim."""
    told = Palpation(palpation_plan(OPEN), OPEN, False, replace(
        PALPATION, most_modulus=most, **REAL), grip_model(), BELIEVED, limit)
    run(told, FeelingHand(modulus, -2e-3), 150.0)
    assert told.status == Status.SUCCEEDED, told.message
    foretold = foretell(told.policy, modulus)
    assert foretold.is_bound == told.modulus.is_bound and len(foretold.ways) == len(told.squeezes)
    assert foretold.doubt == pytest.approx(told.modulus.doubt, rel=0.15)
    assert foretold.best == pytest.approx(modulus, rel=1e-3)
    for ways, felt in zip(foretold.ways, told.modulus.ways):
        assert np.ptp(ways) == pytest.approx(np.ptp(felt), rel=0.25)
    assert error_at(told.policy, modulus) == (
        USELESS if told.modulus.is_bound else foretold.doubt)


@settings(max_examples=25, deadline=None)
@given(st.floats(-1.0, 2.0), st.floats(0.1, 2.0), st.floats(1.0, 4.0), st.floats(1e-5, 1e-3))
def test_no_force_is_foretold_that_would_damage_what_is_possible(log, wider, room, resolution):
    """The weakest squeeze spares the stiffest that is possible; any object up to it is spared."""
    modulus = BELIEVED * 10.0 ** log
    most = max(modulus, BELIEVED) * 10.0 ** wider
    least = np.array([policy().least])
    limit = room * grip_model().pressure_at(most, least)[0] / 0.97
    options = policy(limit, joint_resolution=resolution, surface_error=2e-5, most_modulus=most)
    pressed, estimate = [], SqueezePolicy.estimate_rises

    class Spied(SqueezePolicy):
        def estimate_rises(self, rises):
            pressed.extend(float(one.forces[-1]) for one in rises)
            return estimate(self, rises)
    assert foretell(Spied(**vars(options)), modulus) is not None
    assert grip_model().pressure_at(modulus, np.array([max(pressed)]))[0] <= limit


def test_more_squeezes_finer_joints_and_more_room_tell_more():
    some = error_at(policy(1.5e5, joint_resolution=5e-5), STIFF)
    assert error_at(policy(1.5e5, joint_resolution=2e-5), STIFF) < some < 1.0
    assert error_at(policy(1.5e5, joint_resolution=5e-5, squeezes=5), STIFF) < some
    assert error_at(policy(joint_resolution=5e-5), STIFF) < some
    assert error_at(policy(1e5, joint_resolution=5e-5), STIFF) > some
    assert error_at(policy(1.5e5, joint_resolution=5e-5, max_force=0.4), STIFF) > some


def test_what_cannot_be_told_at_all_counts_as_useless():
    """Softer and as believed the ball is told; ten times stiffer the weakest squeeze damages."""
    limit = 1.02 * grip_model().pressure_at(10.0 * BELIEVED, np.array([policy().least]))[0]
    spared, harmed = (policy(limit * room, joint_resolution=1e-4) for room in (1.1, 0.9))
    assert error_at(harmed, 10.0 * BELIEVED) == USELESS
    assert np.sqrt(1.0 / 3.0) < expected_error(harmed) < 0.6
    assert expected_error(policy(joint_resolution=1e-4)) < expected_error(spared)
    refused = 0.9 * grip_model().pressure_at(BELIEVED, np.array([policy().least]))[0]
    assert expected_error(policy(refused)) == USELESS
    assert expected_error(policy(max_force=0.5 * policy().least)) == USELESS


def test_a_grip_that_hurts_what_its_object_may_be_taken_for_tells_nothing():
    """Unless what it may be taken for is impossible."""
    least, fine = np.array([policy().least]), {'joint_resolution': 1e-6}
    limit = grip_model().pressure_at(MISTAKEN * STIFF, least)[0] / 0.97
    assert error_at(policy(0.98 * limit, **fine), STIFF) == USELESS
    assert error_at(policy(1.02 * limit, **fine), STIFF) < 0.2
    assert error_at(policy(0.98 * limit, most_modulus=1.9 * STIFF, **fine), STIFF) < 0.2


def test_what_is_thought_impossible_need_not_be_told():
    limit = 0.9 * grip_model().pressure_at(10.0 * BELIEVED, np.array([policy().least]))[0]
    told = [error_at(policy(limit, most_modulus=5.0 * BELIEVED), modulus)
            for modulus in (0.1 * BELIEVED, BELIEVED)]
    told = np.sqrt(np.mean(np.square(told)))
    assert expected_error(policy(limit, most_modulus=5.0 * BELIEVED)) == pytest.approx(told)
    assert told < 0.1 and expected_error(policy(limit)) > np.sqrt(1.0 / 3.0)


def test_forces_grow_where_stiffer_objects_are_impossible():
    """What 20 MPa would not bear leaves a bound of 2; where 5 are the most it is told."""
    limit = 1.2 * grip_model().pressure_at(5e6, np.array([1.2]))[0]
    options = {'first_force': 0.25, 'joint_resolution': 3e-4, 'surface_error': 2e-5}
    assert error_at(policy(limit, **options), 2e6) == USELESS
    assert error_at(policy(limit, most_modulus=5e6, **options), 2e6) < 0.25


def test_a_grip_whose_forces_do_not_balance_tells_nothing():
    """At its first touch it may: the squeeze begins beyond."""
    model = grip_model()
    for last, error in ((1, error_at(policy(), BELIEVED)), (8, USELESS)):
        loose = np.arange(model.ways.shape[1])[None] <= np.full((len(model.moduli), 1), last)
        assert error_at(policy(model=replace(model, balanced=~loose)), BELIEVED) == error


def test_what_gives_no_modulus_tells_nothing():
    """The softest of the table, and softer."""
    assert foretell(policy(), 2e3) is None and error_at(policy(), 2e3) == USELESS


def test_a_weakest_squeeze_presses_as_hertz_says_where_it_presses_hardest():
    peaks, forces = np.array([2e4, 5e4, 9e9]), np.array([1.0, 3.0, 0.0])
    assert pressure_of_weakest(peaks, forces, 2.0) == pytest.approx(5e4)
    assert pressure_of_weakest(peaks, forces, 0.25) == pytest.approx(2.5e4)
    assert pressure_of_weakest(peaks, 0.0 * forces, 2.0) == np.inf


def test_friction_that_nobody_knows_is_left_however_fine_the_joints_are():
    sticking = np.linspace(1.0, 1.6, len(grip_model().sticking))
    model = replace(grip_model(), sticking=sticking)
    error = expected_error(policy(model=model, joint_resolution=1e-9))
    doubts = [model.friction_doubt(modulus, force) for modulus, force in (
        (2e4, model.force_at(2e4, np.array([PALPATION.most_strain * model.width]))[0]),
        (2e5, PALPATION.most_force), (2e6, PALPATION.most_force))]
    all_of = np.hypot(np.sqrt(np.mean(np.square(doubts))), MODEL_ERROR)
    assert error == pytest.approx(all_of, rel=0.2)
    assert 0.08 < error < 0.2


def test_friction_that_keeps_an_object_from_turning_is_in_doubt():
    faces, aside = grip_model(), replace(grip_model(), friction_share=0.25)
    before, after = (error_at(policy(model=model, joint_resolution=1e-9), BELIEVED)
                     for model in (faces, aside))
    assert after == pytest.approx(np.hypot(before, 0.25 * TURNING_DOUBT), rel=0.05)
    assert after > 0.2


def test_surfaces_that_nobody_knows_are_left_however_fine_the_joints_are():
    """A link that rests on a second edge from the middle of the squeezes tells little."""
    plain = {'joint_resolution': 1e-9, 'surface_error': 2e-5}
    top = foretell(policy(1.5e5, **plain), STIFF).ways[-1][-1]
    later = np.arange(grip_model().ways.shape[1]) > np.searchsorted(
        grip_model().ways[6], 0.5 * top)
    both = np.where(later, 0.5, 1.0)
    model = replace(grip_model(), covariances=np.array([
        np.outer(both, both) + np.outer(1.0 - both, 1.0 - both)] * len(grip_model().moduli)))
    error = error_at(policy(1.5e5, model, **plain), STIFF)
    assert 0.1 < error < 0.3
    assert error_at(policy(1.5e5, model, joint_resolution=1e-9, surface_error=0.0),
                    STIFF) == pytest.approx(MODEL_ERROR, rel=1e-3)


@given(st.lists(st.floats(0.0, 5.0), min_size=1, max_size=8))
def test_the_first_good_grip_is_taken_or_the_best(errors):
    asked = []
    chosen = most_telling([lambda error=error: error for error in errors],
                          lambda k, error: asked.append((k, error)))
    good = [k for k, error in enumerate(errors) if error <= GOOD]
    assert chosen == (good[0] if good else int(np.argmin(errors)))
    assert asked == list(enumerate(errors))[:good[0] + 1 if good else len(errors)]
