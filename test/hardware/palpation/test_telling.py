"""What squeezes would tell is what they tell, and of several grips the first good one is taken."""

from dataclasses import replace

from hypothesis import given, strategies as st
import numpy as np
from palpation_cases import felt, grip_model, PALPATION
import pytest

from gripsim_ros.hardware.palpation.telling import (
    error_at, expected_error, GOOD, grip_shares, harmless_force, LOWEST_SHARE, most_telling,
    pressure_of_weakest, unharmed_force, USELESS, weakest_squeeze)
from gripsim_ros.library.squeezing.palpated import estimate_modulus

STIFF = 1e6


def test_the_error_that_is_expected_is_the_one_told_of_exact_readings():
    """Of a stiff object, which joints tell worst; forces as far as the object bears."""
    model, damage, options = grip_model(), 1.5e5, replace(PALPATION, joint_resolution=5e-5)
    top = harmless_force(model, STIFF, options, damage, np.inf)
    assert 0.2 < top < options.most_force
    squeeze = felt(STIFF, shares=np.linspace(LOWEST_SHARE, 1.0, options.levels), top=top)
    told = estimate_modulus(model, [squeeze] * options.squeezes, options.joint_resolution)
    np.testing.assert_allclose(error_at(model, STIFF, options, damage, np.inf),
                               told.standard_error / told.youngs_modulus, rtol=0.1)


def test_more_squeezes_finer_joints_and_more_room_tell_more():
    def error(options, damage=1.5e5, grip=np.inf):
        return error_at(grip_model(), STIFF, options, damage, grip)
    some = error(PALPATION)
    np.testing.assert_allclose(error(replace(PALPATION, squeezes=2)), np.sqrt(1.5) * some)
    np.testing.assert_allclose(error(replace(PALPATION, joint_resolution=5e-6)), 0.5 * some)
    assert error(PALPATION, 1e5) > some > error(PALPATION, np.inf)
    assert error(PALPATION, grip=0.2) > some


def test_what_cannot_be_told_at_all_counts_as_useless():
    """Softer and as believed the ball is told; ten times stiffer it would be damaged at once."""
    options = replace(PALPATION, joint_resolution=1e-4)
    error = expected_error(grip_model(), 2e5, options, 4e4)
    assert 1.0 / 3.0 < error < 0.45
    assert expected_error(grip_model(), 2e5, options) < 0.1


def test_a_grip_whose_weakest_squeeze_would_damage_what_is_stiff_tells_nothing_of_that():
    """It bears 0.97 of its damage and no more: by a force below that all is as without."""
    model, damage = grip_model(), 1.5e5
    bears = unharmed_force(model, 2e6, PALPATION, damage, np.inf)
    told = expected_error(model, 2e5, PALPATION, damage)
    assert expected_error(model, 2e5, PALPATION, damage, weakest=0.99 * bears) == told
    stiff = error_at(model, 2e6, PALPATION, damage, np.inf)
    harmed = expected_error(model, 2e5, PALPATION, damage, weakest=1.01 * bears)
    assert harmed == pytest.approx(told + (USELESS - stiff) / 3.0)


def test_the_weakest_squeeze_is_felt_by_the_finger_that_bears_least():
    shares = grip_shares({'thumb': 3.0, 'one': 2.0, 'two': 1.0, 'aside': 0.0})
    assert shares == {'thumb': 1.0, 'one': pytest.approx(2.0 / 3.0), 'two': pytest.approx(1 / 3)}
    assert weakest_squeeze(shares, 0.1) == pytest.approx(3.0 * weakest_squeeze({'a': 1.0}, 0.1))


def test_a_weakest_squeeze_presses_as_hertz_says_where_it_presses_hardest():
    peaks, forces = np.array([2e4, 5e4, 9e9]), np.array([1.0, 3.0, 0.0])
    assert pressure_of_weakest(peaks, forces, 2.0) == pytest.approx(5e4)
    assert pressure_of_weakest(peaks, forces, 0.25) == pytest.approx(2.5e4)
    assert pressure_of_weakest(peaks, 0.0 * forces, 2.0) == np.inf


def test_friction_that_nobody_knows_is_left_however_fine_the_joints_are():
    sticking = np.linspace(1.0, 1.6, len(grip_model().sticking))
    model = replace(grip_model(), sticking=sticking)
    error = expected_error(model, 2e5, replace(PALPATION, joint_resolution=1e-9))
    doubts = [model.friction_doubt(modulus, force) for modulus, force in (
        (2e4, model.force_at(2e4, np.array([PALPATION.most_strain * model.width]))[0]),
        (2e5, PALPATION.most_force), (2e6, PALPATION.most_force))]
    assert error == pytest.approx(np.mean(doubts), rel=0.2) and 0.02 < error < 0.2


def test_surfaces_that_nobody_knows_are_left_however_fine_the_joints_are():
    """A link that rests on a second edge from the middle of the squeezes tells little."""
    options = replace(PALPATION, joint_resolution=1e-9, surface_error=1e-5)
    top = harmless_force(grip_model(), STIFF, options, 1.5e5, np.inf)
    later = np.arange(grip_model().ways.shape[1]) > np.searchsorted(
        grip_model().forces[6], 0.5 * top)
    both = np.where(later, 0.5, 1.0)
    model = replace(grip_model(), covariances=np.array([
        np.outer(both, both) + np.outer(1.0 - both, 1.0 - both)] * len(grip_model().moduli)))
    error = error_at(model, STIFF, options, 1.5e5, np.inf)
    doubt = model.surface_doubt(STIFF, [np.linspace(LOWEST_SHARE * top, top, 5)], 1e-5)
    assert error == pytest.approx(doubt, rel=0.1) and 0.03 < error < 0.3
    assert error > 5.0 * error_at(model, STIFF, replace(options, surface_error=0.0), 1.5e5, np.inf)


@given(st.lists(st.floats(0.0, 5.0), min_size=1, max_size=8))
def test_the_first_good_grip_is_taken_or_the_best(errors):
    asked = []
    chosen = most_telling([lambda error=error: error for error in errors],
                          lambda k, error: asked.append((k, error)))
    good = [k for k, error in enumerate(errors) if error <= GOOD]
    assert chosen == (good[0] if good else int(np.argmin(errors)))
    assert asked == list(enumerate(errors))[:good[0] + 1 if good else len(errors)]
