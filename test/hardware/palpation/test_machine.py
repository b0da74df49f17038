"""Palpation: the modulus that a hand feels, how gently, and what keeps it from feeling one."""

from dataclasses import replace

from execution_cases import OPTIONS, run
import numpy as np
from palpation_cases import BALL, FeelingHand, grip_model, PALPATION, palpation_plan
import pytest

from gripsim_ros.core.errors import TaskError
from gripsim_ros.hardware.execution.actions import Phase, Status, StopHand
from gripsim_ros.hardware.palpation.machine import Palpation
from gripsim_ros.hardware.palpation.options import PalpationOptions

#: Modulus over the one that is believed, up to which nothing may be damaged.
STIFFER = 100.0
OPEN = replace(OPTIONS, loading_time=PALPATION.palpation_time)


def palpated(hand, max_pressure=np.inf, nominal=3e5, until=None, max_force=np.inf, **changes):
    """Return a palpation that has been carried out."""
    palpation = Palpation(palpation_plan(OPEN), OPEN, False, replace(PALPATION, **changes),
                          grip_model(), nominal, max_pressure, max_force)
    run(palpation, hand, 150.0, until)
    return palpation


def pushed(hand, joints):
    """Return how much farther than all together each pad has gone [m]."""
    depths, weights = hand.depths(joints)
    return depths - np.average(depths, weights=weights)


@pytest.mark.parametrize('modulus, wider', [(2e4, 2e-3), (2e5, -2e-3), (2e6, -2e-3), (5e6, 5e-4)])
def test_the_modulus_is_felt_wherever_the_fingers_touch_first(modulus, wider):
    """
    The width is wrong by up to 4 mm: only differences of ways count.

    This hand's joints do not give way. Stiff bodies are met with more force than the first squeeze
    aims at, and are stiffer to its fingers than joints that give way let any object be.
    """
    hand = FeelingHand(modulus, wider)
    palpation = palpated(hand)
    assert hand.peak < 1.2 * PALPATION.most_force
    assert palpation.status == Status.SUCCEEDED, palpation.message
    assert not palpation.modulus.is_bound
    assert palpation.modulus.youngs_modulus == pytest.approx(modulus, rel=0.05)
    assert palpation.phase == Phase.DONE and palpation.begun[-1][0] == Phase.RELEASING


def test_an_object_that_bears_otherwise_than_planned_is_not_pushed_away():
    """Where it floats no finger can have its planned share: others' forces grow with its own."""
    hand = FeelingHand(2e5)
    hand.uneven = (1.15, 1.0, 0.88)[:len(hand.shares)]
    palpation = palpated(hand, until=lambda: hand.peak > 0.1)
    before = pushed(hand, hand.measure().joints)
    run(palpation, hand, 150.0)
    assert palpation.status == Status.SUCCEEDED, palpation.message
    assert abs(pushed(hand, palpation.squeezes[-1].joints[0]) - before).max() < 5e-4
    assert palpation.modulus.youngs_modulus == pytest.approx(2e5, rel=0.06)


def test_noisy_pads_and_joints_tell_how_well_it_is_known():
    felt = [palpated(FeelingHand(2e5, noise=0.02, jitter=1e-4), joint_resolution=1e-4).modulus]
    exact = palpated(FeelingHand(2e5)).modulus
    for one in felt:
        off = abs(one.youngs_modulus - 2e5)
        assert off < 3.0 * one.standard_error and exact.standard_error < one.standard_error


def test_no_squeeze_presses_near_damage_whatever_was_believed():
    """The limit is felt anew after each squeeze; the first is weak."""
    limit = BALL.material.max_pressure
    for modulus in (1e5, 3e5):
        hand = FeelingHand(modulus)
        palpation = palpated(hand, limit, nominal=2e4)
        pressure = grip_model().pressure_at(modulus, np.array([hand.peak]))[0]
        assert pressure < 0.7 * limit
        assert palpation.damage_share == pytest.approx(pressure / limit, rel=0.1)
    assert hand.peak < palpated(FeelingHand(3e5)).peak_force        # which knows no limit


@pytest.mark.parametrize('ratio', [1.0, 10.0, 30.0, 100.0])
@pytest.mark.parametrize('room', [1.1, 1.6])
def test_nothing_is_damaged_however_stiffer_than_believed_it_is(ratio, room):
    """
    The limit leaves little beyond the weakest squeeze of an object a hundred times as stiff.

    Forces go past what is aimed at by a fifth at most, whatever a step of the fingers brings.
    """
    model, nominal = grip_model(), 2e4
    weakest = Palpation(palpation_plan(OPEN), OPEN, False, PALPATION, model, nominal).policy.least
    limit = room * model.pressure_at(STIFFER * nominal, np.array([weakest]))[0]
    for wider, noise, jitter in ((-2e-3, 0.0, 0.0), (5e-4, 0.01, 1e-4)):
        hand, aims = FeelingHand(ratio * nominal, wider, noise, jitter), []
        palpation = Palpation(palpation_plan(OPEN), OPEN, False, replace(
            PALPATION, joint_resolution=2e-4, surface_error=2e-5), model, nominal, limit)
        run(palpation, hand, 150.0,
            lambda palpation=palpation, aims=aims: aims.extend(palpation._levels[-1:]))
        pressure = model.pressure_at(ratio * nominal, np.array([hand.peak]))[0]
        assert palpation.status == Status.SUCCEEDED, palpation.message
        assert hand.peak < 1.2 * max(aims) and pressure < limit
        felt = palpation.modulus
        assert felt.is_bound or felt.best == pytest.approx(ratio * nominal, rel=0.2)
        assert felt.youngs_modulus < 1.2 * ratio * nominal


def test_what_the_weakest_squeeze_would_damage_is_told_and_as_believed_not_squeezed():
    model, believed = grip_model(), 2e5
    weakest = np.array([Palpation(palpation_plan(OPEN), OPEN, False, PALPATION, model,
                                  believed).policy.least])
    limit = model.pressure_at(4.0 * believed, weakest)[0]
    told = palpated(FeelingHand(believed, -2e-3), limit, believed)
    assert told.status == Status.SUCCEEDED
    stiffest = float(told.message.split('more than ')[1].split(' Pa')[0])
    assert 0.6 * 4.0 * believed < stiffest < 4.0 * believed
    limit = 0.9 * model.pressure_at(believed, weakest)[0]
    refused = palpated(hand := FeelingHand(believed, -2e-3), limit, believed)
    assert refused.status == Status.MISSED_CONTACT and 'as is believed' in refused.message
    assert hand.peak < weakest[0] and not refused.squeezes
    assert 'damaged' not in palpated(FeelingHand(believed, -2e-3), np.inf, believed).message


def test_no_force_is_aimed_at_that_would_damage_a_stiff_object_which_felt_soft():
    """A second edge begins to bear at 0.3 N: the best modulus is that of a softer object."""
    step = 1.0 + 2.0 / (1.0 + np.exp(-(np.arange(grip_model().forces.shape[1]) - 4) / 0.3))
    model, modulus, aims = replace(grip_model(), forces=grip_model().forces * step), 2e6, []
    limit = 1.05 * model.pressure_at(modulus, np.array([0.5]))[0]
    hand = FeelingHand(modulus, -2e-3, jitter=2e-4)
    hand.model, hand.random = model, np.random.default_rng(0)
    palpation = Palpation(palpation_plan(OPEN), OPEN, False, replace(
        PALPATION, joint_resolution=2e-4, surface_error=2e-5), model, 2e5, limit)
    run(palpation, hand, 150.0, lambda: aims.extend(palpation._levels[-1:]))
    assert palpation.status == Status.SUCCEEDED, palpation.message
    assert len(palpation.squeezes) > 1
    assert model.pressure_at(modulus, np.array([max(aims)]))[0] < limit


@pytest.mark.parametrize('ratio', [1.0, 5.0, 10.0])
@pytest.mark.parametrize('room', [1.1, 1.6])
def test_what_is_said_to_be_no_stiffer_is_not_damaged_up_to_there(ratio, room):
    """The limit leaves little beyond the weakest squeeze of the stiffest that is possible."""
    model, nominal, most = grip_model(), 2e5, 2.05e6
    weakest = Palpation(palpation_plan(OPEN), OPEN, False, PALPATION, model, nominal).policy.least
    limit = room * model.pressure_at(most, np.array([weakest]))[0]
    for wider, noise, jitter in ((-2e-3, 0.0, 0.0), (5e-4, 0.01, 1e-4)):
        hand, aims = FeelingHand(ratio * nominal, wider, noise, jitter), []
        palpation = Palpation(palpation_plan(OPEN), OPEN, False, replace(
            PALPATION, joint_resolution=2e-4, surface_error=2e-5, most_modulus=most), model,
            nominal, limit)
        run(palpation, hand, 150.0,
            lambda palpation=palpation, aims=aims: aims.extend(palpation._levels[-1:]))
        pressure = model.pressure_at(ratio * nominal, np.array([hand.peak]))[0]
        assert palpation.status == Status.SUCCEEDED, palpation.message
        assert hand.peak < 1.2 * max(aims) and pressure < limit
        assert 'damaged' not in palpation.message
        felt = palpation.modulus
        assert felt.is_bound or felt.best == pytest.approx(ratio * nominal, rel=0.2)


def test_what_cannot_be_stiffer_is_pressed_harder_and_told():
    """What 20 MPa would not bear leaves a bound; where it has 5 at most it is told."""
    model, modulus = grip_model(), 2e6
    limit = 1.2 * model.pressure_at(5e6, np.array([1.2]))[0]
    options = {'joint_resolution': 3e-4, 'surface_error': 2e-5, 'first_force': 0.25}
    bound, told = (palpated(FeelingHand(modulus), limit, 2e5, **options, **more)
                   for more in ({}, {'most_modulus': 5e6}))
    assert bound.status == told.status == Status.SUCCEEDED
    assert bound.modulus.is_bound and not told.modulus.is_bound
    assert told.peak_force > 1.5 * bound.peak_force
    assert told.modulus.youngs_modulus == pytest.approx(modulus, rel=0.05)
    assert told.damage_share < 0.97


@pytest.mark.parametrize('modulus, most', [(2e6, 4e5), (1e6, 8e5)])
def test_what_is_stiffer_than_it_is_said_to_be_is_told_so_and_pressed_no_harder(modulus, most):
    hand, aims = FeelingHand(modulus), []
    palpation = Palpation(palpation_plan(OPEN), OPEN, False, replace(
        PALPATION, most_modulus=most), grip_model(), 2e5)
    run(palpation, hand, 150.0, lambda: aims.append(palpation._squeeze._aim))
    assert palpation.status == Status.SUCCEEDED and palpation.modulus.is_bound
    assert 'stiffer than the' in palpation.message and '\n' not in palpation.message
    assert palpation.modulus.youngs_modulus >= most and len(palpation.squeezes) == 1
    assert max(aims) <= PALPATION.first_force and hand.peak < 1.2 * PALPATION.first_force
    assert 'stiffer' not in palpated(FeelingHand(modulus), nominal=2e5).message


def test_what_may_be_softer_than_it_fits_best_is_squeezed_on_with_forces_that_spare_any():
    """Where it stays so the answer is a bound, and says so."""
    limit = 1.2 * grip_model().pressure_at(2e7, np.array([0.4]))[0]
    options = {'joint_resolution': 2e-4, 'surface_error': 2e-5}
    told, free = (palpated(FeelingHand(1e6), limit, 2e5, **options, **more)
                  for more in ({'most_modulus': 9.5e5}, {}))
    assert told.status == Status.SUCCEEDED and told.modulus.is_bound
    assert 'stiffer than the' in told.message and told.modulus.youngs_modulus < 9.5e5
    assert len(told.squeezes) == 2 * PALPATION.squeezes and not free.modulus.is_bound
    assert told.squeezes[1].forces == pytest.approx(free.squeezes[1].forces, rel=1e-9)


def test_what_any_squeeze_would_damage_is_not_squeezed_on():
    """The first squeeze tells so; it is the weakest that tells anything."""
    model, modulus = grip_model(), 2e6
    limit = 0.3 * model.pressure_at(modulus, np.array([PALPATION.first_force]))[0]
    felt = palpated(FeelingHand(modulus), limit, nominal=2e4, joint_resolution=1e-5)
    assert felt.status == Status.SUCCEEDED and len(felt.squeezes) == 1
    assert 'harder than the object bears' in felt.message
    assert len(palpated(FeelingHand(modulus), 10.0 * limit, nominal=2e4).squeezes) == 3


def test_no_finger_presses_near_the_force_that_the_object_bears():
    free = palpated(FeelingHand(3e5))
    shares = free._squeeze.shares.values()
    most = 0.5 * max(shares) * free.peak_force
    hand = FeelingHand(3e5)
    palpation = palpated(hand, max_force=most)
    assert palpation.status == Status.SUCCEEDED, palpation.message
    assert max(shares) * hand.peak < 0.7 * most
    assert palpation.damage_share == pytest.approx(max(shares) * hand.peak / most, rel=0.1)
    refused = palpated(FeelingHand(3e5), max_force=0.05)
    assert refused.status == Status.MISSED_CONTACT and 'the object bears' in refused.message


def test_a_soft_object_is_squeezed_no_further_than_its_width_allows():
    palpation = palpated(FeelingHand(1e4))
    way = PALPATION.most_strain * palpation.model.width
    assert max(ways.max() for ways in palpation.modulus.ways) < 1.4 * way


def test_what_is_too_stiff_to_tell_has_a_lower_bound():
    palpation = palpated(FeelingHand(2e6, jitter=5e-4), joint_resolution=2e-3)
    assert palpation.status == Status.SUCCEEDED and palpation.modulus.is_bound
    assert len(palpation.squeezes) == 2 * PALPATION.squeezes
    assert np.isnan(palpation.modulus.standard_error)
    assert 2e4 < palpation.modulus.youngs_modulus < 2e6


def test_one_more_squeeze_tells_what_two_do_not():
    """Where there is no time for it, a bound is told."""
    known, late = (palpated(FeelingHand(2e6, jitter=5e-5), squeezes=2, joint_resolution=2e-4,
                            palpation_time=time) for time in (60.0, 3.5))
    assert len(known.squeezes) == 3 and not known.modulus.is_bound
    assert known.modulus.youngs_modulus == pytest.approx(2e6, rel=0.05)
    assert late.status == Status.SUCCEEDED and late.modulus.is_bound
    assert len(late.squeezes) == 2


def test_nothing_between_the_fingers_is_told():
    hand = FeelingHand(2e5)
    hand.absent = tuple(hand.shares)
    palpation = palpated(hand)
    assert palpation.status == Status.MISSED_CONTACT and 'found nothing' in palpation.message
    assert palpation.modulus is None and any(isinstance(one, StopHand) for one in hand.sent)


def test_a_pad_that_cannot_feel_is_told_before_anything_is_squeezed():
    hand = FeelingHand(2e5)
    hand.dumb = next(f.links for f in palpation_plan().fingers if list(hand.shares)[0] in f.links)
    palpation = palpated(hand)
    assert palpation.status == Status.MISSED_CONTACT and 'cannot feel' in palpation.message
    assert not palpation.squeezes


def test_a_stuck_pad_stops_the_hand():
    hand = FeelingHand(2e5)
    first = list(hand.shares)[0]
    hand.pads = lambda link, force: min(force, 0.09) if link == first else force
    palpation = palpated(hand)
    assert palpation.status == Status.MISSED_CONTACT
    assert 'stuck' in palpation.message or 'bears' in palpation.message
    assert hand.peak < 1.5


def test_an_object_that_leaves_while_it_is_squeezed_is_told():
    hand = FeelingHand(2e5)
    palpation = palpated(hand, until=lambda: hand.peak > 1.0)
    hand.absent = tuple(hand.shares)[:1]
    run(palpation, hand, 60.0)
    assert palpation.status == Status.MISSED_CONTACT and palpation.message


@pytest.mark.parametrize('way', [0.5e-3, 1.5e-3, 2.5e-3])
def test_fingers_follow_an_object_that_gave_way_when_it_was_touched(way):
    """
    Their steps stay as short as the stiffest object allows: it may be there at once.

    Not how many steps it takes counts, but how far away it is: nothing was learned before.
    """
    hand = FeelingHand(2e5)
    palpation = palpated(hand, until=lambda: hand.peak > 0.1)
    hand.wider -= way
    run(palpation, hand, 150.0)
    assert palpation.status == Status.SUCCEEDED, palpation.message
    assert palpation.modulus.youngs_modulus == pytest.approx(2e5, rel=0.05)
    assert hand.peak < 1.2 * PALPATION.most_force


def test_an_object_that_left_at_its_first_touch_is_told_soon():
    """Fingers do not close upon each other in search of it."""
    hand = FeelingHand(2e5)
    palpation = palpated(hand, until=lambda: hand.peak > 0.1)
    begun, before = palpation.last.time, hand.depths(palpation.last.joints)[0]
    hand.absent = tuple(hand.shares)
    run(palpation, hand, 150.0, until=lambda: palpation._squeeze.fault)
    gone = hand.depths(palpation.last.joints)[0] - before
    assert (gone > 1e-3).all() and (gone < 3e-3).all()
    assert palpation.last.time - begun < 30.0
    run(palpation, hand, 50.0)
    assert palpation.status == Status.MISSED_CONTACT and 'has left' in palpation.message


def test_what_short_steps_told_wrongly_does_not_make_fingers_press_too_far():
    """Where forces are nearly borne steps are short, and others' pushes more than they bring."""
    hand = FeelingHand(2e5)
    palpation = palpated(hand, until=lambda: hand.peak > 0.3)
    for loaded in palpation._squeeze._loaded.values():
        loaded.stiffness, loaded.step = 0.02 * loaded.stiffness, 0.0
    run(palpation, hand, 150.0)
    assert palpation.status == Status.SUCCEEDED, palpation.message
    assert hand.peak < 1.2 * PALPATION.most_force


def test_a_force_far_beyond_what_is_aimed_at_stops_the_hand():
    """Below soft flesh there is a stone."""
    hand = FeelingHand(5e4)
    palpation = palpated(hand, until=lambda: hand.peak > 0.5)
    hand.modulus = 5e6
    run(palpation, hand, 20.0)
    assert palpation.status == Status.MISSED_CONTACT and 'something stiff' in palpation.message
    stops = [k for k, one in enumerate(hand.sent) if isinstance(one, StopHand)]
    assert len(stops) == 1


def test_cancelled_it_stops_at_once():
    hand = FeelingHand(2e5)
    palpation = palpated(hand, until=lambda: hand.peak > 0.2)
    assert palpation.phase == Phase.LOADING and 0.0 <= palpation.progress < 1.0
    hand.obey(palpation.cancel())
    assert palpation.status == Status.CANCELED and isinstance(hand.sent[-1], StopHand)


def test_too_little_time_ends_it():
    palpation = palpated(FeelingHand(2e5), palpation_time=2.0)
    assert palpation.status == Status.TIMED_OUT and 'of 3 squeezes' in palpation.message


@pytest.mark.parametrize('changes', [{'squeezes': 0}, {'squeezes': 11}, {'most_force': 0.0},
                                     {'most_force': np.inf}, {'most_modulus': 0.0},
                                     {'most_modulus': np.nan}])
def test_options_out_of_range_are_refused(changes):
    with pytest.raises(TaskError, match=f'{list(changes)[0]} must be'):
        replace(PALPATION, **changes)
    assert PalpationOptions.from_mapping({**vars(PALPATION), 'more': 1}) == PALPATION
    assert PalpationOptions.from_mapping({**vars(PALPATION), 'most_modulus': 0.0}) == PALPATION


def test_what_is_wished_for_counts_and_what_is_not_stays():
    assert PALPATION.wished(squeezes=0, most_force=0.0, most_modulus=0.0) == PALPATION
    assert PALPATION.wished(squeezes=2, most_modulus=1e6) == replace(
        PALPATION, squeezes=2, most_modulus=1e6)
    with pytest.raises(TaskError, match='most_modulus must be above 0'):
        PALPATION.wished(most_modulus=-1.0)


def test_it_must_be_thought_possible_that_it_is_stiffer_than_is_believed():
    for most in (1e5, 2e5):
        with pytest.raises(TaskError, match='above the 2e.05 Pa that the object is believed'):
            palpated(FeelingHand(2e5), nominal=2e5, most_modulus=most)
