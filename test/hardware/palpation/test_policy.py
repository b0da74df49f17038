"""How hard a squeeze may press, and who bears how much of it."""

from dataclasses import replace

import numpy as np
from palpation_cases import felt, grip_model, PALPATION
import pytest

from gripsim_ros.core.errors import TaskError
from gripsim_ros.hardware.palpation.policy import (
    BOUND_GROWTH, grip_shares, MORE_SQUEEZES, SqueezePolicy, weakest_squeeze)

BELIEVED, TOUCH = 2e5, 0.02
SHARES = {'thumb': 1.0, 'one': 0.6, 'two': 0.4}
LIMIT = 1e5


def policy(max_pressure=LIMIT, max_force=np.inf, shares=SHARES, **changes):
    return SqueezePolicy(grip_model(), replace(PALPATION, **changes), BELIEVED, shares, TOUCH,
                         max_pressure, max_force)


def told(made, modulus, **changes):
    """Return what one squeeze of an object told."""
    return made.estimate([felt(modulus, **changes)])


def test_the_weakest_squeeze_is_felt_by_the_finger_that_bears_least():
    shares = grip_shares({'thumb': 3.0, 'one': 2.0, 'two': 1.0, 'aside': 0.0})
    assert shares == {'thumb': 1.0, 'one': pytest.approx(2.0 / 3.0), 'two': pytest.approx(1 / 3)}
    assert weakest_squeeze(shares, 0.1) == pytest.approx(3.0 * weakest_squeeze({'a': 1.0}, 0.1))
    assert policy().least == weakest_squeeze(SHARES, TOUCH)
    assert policy().levels(None, 0.0)[0] * min(SHARES.values()) >= 2.0 * TOUCH


@pytest.mark.parametrize('modulus', [2e4, 2e5, 2e6])
def test_forces_keep_to_the_pressure_that_is_allowed(modulus):
    made = policy()
    for force, room in ((made.harmless(modulus), PALPATION.damage_room),
                        (made.unharmed(modulus), 1.0)):
        assert grip_model().pressure_at(modulus, np.array([force]))[0] <= room * LIMIT
        assert force == PALPATION.most_force or grip_model().pressure_at(
            modulus, np.array([1.2 * force]))[0] > 0.9 * room * LIMIT
    shares = {'one': 0.7, 'two': 0.8, 'three': 0.5}
    assert policy(np.inf, 2.0, shares).unharmed(modulus) == pytest.approx(0.97 * 2.0 / 0.8)


def test_the_first_squeeze_bears_what_is_most_surprising_or_possible():
    firsts = [policy(2.0 * LIMIT, first_force=5.0, most_modulus=most, damage_room=1.0
                     ).levels(None, 0.0)[-1] for most in (np.inf, 4e6, 4e5)]
    assert policy().least == firsts[0] < firsts[1] < firsts[2] == pytest.approx(5.0)
    assert grip_model().pressure_at(4e6, firsts[1:2])[0] <= 2.0 * LIMIT


def test_forces_grow_by_what_was_felt():
    free = policy(np.inf)
    soft = told(free, 3e5)
    assert free.levels(soft, 0.4)[-1] == pytest.approx(PALPATION.force_growth * 0.4)
    bound = replace(soft, is_bound=True)
    assert free.levels(bound, 0.4)[-1] == pytest.approx(BOUND_GROWTH * 0.4)


def test_it_ends_where_the_object_is_surely_stiffer_than_was_said():
    """A vague best fit that is does not end it: forces follow as where nothing is said."""
    free, said = policy(np.inf), policy(np.inf, most_modulus=5e5)
    sure, vague = told(said, 1e6), policy(np.inf, most_modulus=5e5, joint_resolution=2e-3)
    assert said.is_beyond(sure) and said.is_surely_beyond(sure) and said.ends(sure)
    assert not free.is_beyond(told(free, 1e6)) and not free.ends(told(free, 1e6))
    felt_vaguely = told(vague, 1e6)
    assert vague.is_beyond(felt_vaguely) and not vague.ends(felt_vaguely)
    loose = policy(np.inf, joint_resolution=2e-3)
    assert (vague.levels(felt_vaguely, 0.4) == loose.levels(told(loose, 1e6), 0.4)).all()
    assert felt_vaguely.stiffest == told(loose, 1e6).stiffest > 5e5


def test_more_squeezes_are_made_only_while_more_may_be_told():
    free = policy()
    bound = replace(told(free, 1e6), is_bound=True)
    assert free.wanted(None, 0) == free.wanted(bound, 1) == PALPATION.squeezes
    assert free.wanted(bound, 3) == MORE_SQUEEZES * PALPATION.squeezes
    assert free.wanted(told(free, 1e6), 3) == PALPATION.squeezes


def test_a_rise_ends_before_it_hurts_or_goes_too_far():
    """So it does where the object is stiffer than was said."""
    made, model = policy(np.inf, most_modulus=5e5), grip_model()
    forces = np.linspace(0.2, 0.8, 4)

    def rises(after, modulus, limit=np.inf, most=5e5, **changes):
        made = policy(limit, most_modulus=most, **changes)
        return made.may_rise(after, model.way_at(modulus, forces), forces,
                             lambda: told(made, modulus))
    assert rises(1.0, 3e5) and not rises(1.0, 1e6) and rises(1.0, 1e6, most=np.inf)
    assert rises(1.0, 1e6, joint_resolution=2e-3)       # may be softer
    harmed = 0.9 * model.pressure_at(1e6, np.array([1.0]))[0]
    assert not rises(1.0, 1e6, harmed, np.inf) and rises(1.0, 3e5, 2.0 * harmed)
    assert rises(policy().least, 1e6, harmed)       # less tells nothing
    far = model.way_at(1e4, np.array([1.0]))[0] / model.width
    assert not rises(1.0, 1e4, most_strain=0.9 * far, most=np.inf)
    assert rises(1.0, 1e4, most_strain=1.2 * far, most=np.inf)

    def fails():
        raise TaskError('no modulus')
    assert made.may_rise(1.0, model.way_at(3e5, forces), forces, fails)


def test_what_a_hand_is_to_tell_ends_at_the_most_that_is_possible():
    assert policy().told == [2e4, 2e5, 2e6]
    assert policy(most_modulus=2e6).told == [2e4, 2e5, 2e6]
    assert policy(most_modulus=1.9e6).told == [2e4, 2e5]


def test_the_stiffest_that_the_weakest_squeeze_spares_is_known_before():
    made = policy()
    limit = grip_model().pressure_at(4.0 * BELIEVED, np.array([made.least]))[0]
    assert 0.6 * 4.0 * BELIEVED < policy(limit).stiffest_borne() < 4.0 * BELIEVED
    assert policy(limit, most_modulus=3.0 * BELIEVED).stiffest_borne() == np.inf
    assert policy(np.inf).stiffest_borne() == np.inf and policy(1.0).stiffest_borne() == 0.0


def test_what_is_damaged_as_it_is_believed_is_refused():
    weakest = policy().least
    assert policy(np.inf).refusal() == ''
    limit = 0.9 * grip_model().pressure_at(BELIEVED, np.array([weakest]))[0]
    assert 'as is believed' in policy(limit).refusal()
    assert 'the object bears' in policy(max_force=0.9 * weakest).refusal()


def test_policies_that_cannot_be_are_refused():
    with pytest.raises(TaskError, match='no finger of the grasp presses'):
        policy(shares={})
    with pytest.raises(TaskError, match='most_modulus must be above the 2e.05 Pa'):
        policy(most_modulus=BELIEVED)
