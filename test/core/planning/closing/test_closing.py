"""Closing one hypothesis: which answers of the stages end it, and with what reason."""

from dataclasses import fields, replace

import numpy as np
from numpy.testing import assert_allclose
import pytest

from gripsim_ros.core import batches
from gripsim_ros.core.hand import forward_kinematics
from gripsim_ros.core.planning import rejections
from gripsim_ros.core.planning.closing.closing import Closing
from gripsim_ros.core.planning.closing.force_level import FORCE_GROWTH
from gripsim_ros.core.planning.closing.grasp_state import GraspState
from gripsim_ros.core.planning.closing.limits import ClosingLimits, ContactCompliance
from gripsim_ros.core.planning.hypotheses.generate import Hypothesis
from gripsim_ros.core.transforms import apply
from gripsim_ros.library.in_process import planner_options
from gripsim_ros.library.resources import load_default_hand

TIPS = ('sdh_finger_13_link', 'sdh_finger_23_link', 'sdh_thumb_3_link')
PRESHAPE = 0
#: Round-off of steps of joints.
RTOL = 1e-9


@pytest.fixture(scope='module')
def hand():
    return load_default_hand()


def closing_of(hand, **known):
    """Return a closing about the origin that is as far as told."""
    limits = ClosingLimits(holding_force=1.0, compliance=ContactCompliance(1e6), max_pressure=1e6)
    closing = Closing(Hypothesis(0, np.eye(4), PRESHAPE, 0.0), hand, planner_options(), limits)
    closing.known = replace(closing.known, **known)
    return closing


def squeezing(hand, fraction=0.0):
    """Return a closing whose fingertips have come to touch, each joint at a fraction."""
    arrived = np.isin(np.arange(len(hand.link_names)), [hand.link_index(n) for n in TIPS])
    return closing_of(hand, phase='squeeze', steps=1, in_contact=arrived,
                      fractions=np.full(len(hand.joint_names), fraction))


def state_of(hand, forces, minimal=0.5, **changes):
    """Return a state of the open hand whose fingertips press with forces (3,) [N]."""
    links = np.array([hand.link_index(name) for name in TIPS])
    poses = forward_kinematics(hand, hand.preshapes[PRESHAPE].open[None])[0][links]
    points = np.array([apply(T, np.array([[0.012, 0.0, 0.03]]))[0] for T in poses])
    normals = -points * [1.0, 1.0, 0.0]
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    ones, far = np.ones(3), np.ones(len(hand.link_names))
    far[links] = 0.0
    values = {field.name: np.nan for field in fields(GraspState)}
    values.update(
        links=links, points=points, normals=normals, forces=np.array(forces)[:, None] * normals,
        flags=np.zeros(3, np.int64), clearance=far, depth=1e-3 * (1.0 - far), margin=0.5,
        self_clearance=np.inf, obstacle_clearance=np.inf, peak_pressures=1e3 * ones,
        normal_stiffness=1e3 * ones, link_stiffness=1e3 * np.eye(len(far)),
        minimal_envelope=minimal * ones, capable=True, holds=False)
    return GraspState(**{**values, **changes})


def test_fingers_that_meet_nothing_close_whole_and_are_too_few(hand):
    closing = closing_of(hand)
    nothing = state_of(hand, np.zeros(3), clearance=np.full(len(hand.link_names), 10.0))
    answers = 0
    while not closing.done:
        last = closing.question().joint_positions
        closing.answer(nothing)
        answers += 1
    assert (closing.reason, answers) == (rejections.TOO_FEW_FINGERS, 2)
    assert closing.held is None and not closing.reached_contact
    assert_allclose(last, hand.preshapes[PRESHAPE].closed)


@pytest.mark.parametrize('flags, reason', [
    (batches.PATCH_THROUGH, rejections.PRESSES_THROUGH),
    (batches.PATCH_THROUGH | batches.PATCH_REACHES_OBJECT_EDGE, ''),
    (batches.PATCH_THIN, '')])
def test_pressing_through_a_wall_ends_it_but_at_an_edge_every_wall_is_thin(hand, flags, reason):
    closing = squeezing(hand)
    closing.answer(state_of(hand, np.ones(3), flags=np.array([0, flags, 0])))
    assert closing.reason == reason and closing.done is bool(reason)


def test_joints_that_are_at_their_limits_hold_nothing_more(hand):
    posture = hand.preshapes[PRESHAPE].open
    closing = squeezing(replace(hand, joint_lower=posture, joint_upper=posture))
    closing.answer(state_of(hand, np.ones(3)))
    assert closing.done and closing.reason == rejections.NOT_HELD
    assert_allclose(closing.question().joint_positions, posture)


@pytest.mark.parametrize('needed, force, ends', [
    (np.inf, 0.5, True), (np.inf, 0.2, False), (8.0, 0.5, False)])
def test_where_no_force_at_all_would_hold_no_more_are_tried(hand, needed, force, ends):
    closing = squeezing(hand)
    closing.answer(state_of(hand, np.full(3, force), 0.0, capable=False, needed_force=needed))
    assert closing.done is ends
    assert closing.reason == (rejections.CANNOT_BALANCE if ends else '')


@pytest.mark.parametrize('force, peak, ends', [
    (0.5, 1.2e6, True), (0.2, 1.2e6, False), (0.5, 1.05e6, False)])
def test_what_no_forces_hold_is_pressed_no_harder_where_pressure_is_beyond_its_limit(
        hand, force, peak, ends):
    closing = squeezing(hand)
    closing.answer(state_of(hand, np.full(3, force), 0.0, capable=False, needed_force=8.0,
                            peak_pressures=np.array([1e3, peak, 1e3])))
    assert closing.done is ends
    assert closing.reason == (rejections.CANNOT_BALANCE if ends else '')


@pytest.mark.parametrize('margin, force, peak, reason', [
    (0.0, 2.0, 1e5, rejections.SLIPS_OUT), (0.0, 1.5, 1e5, ''), (0.01, 20.0, 1e5, ''),
    (np.nan, 2.0, 1e5, ''), (0.0, 2.0, 1.1e6, rejections.EXCESSIVE_PRESSURE)])
def test_what_is_not_held_without_load_is_given_up_when_pressed_harder_it_is_not_either(
        hand, margin, force, peak, reason):
    """Where a pressure is beyond its limit, that may be all that keeps it from being held."""
    closing = squeezing(hand)
    state = state_of(hand, np.full(3, force), 4.0, margin=margin, needed_force=0.1,
                     peak_pressures=np.full(3, peak))
    closing.answer(state)
    assert closing.reason == ('' if reason == rejections.SLIPS_OUT else reason)
    closing = closing_of(hand, **vars(closing.known)) if not closing.done else closing
    if not closing.done:
        closing.answer(state)
    assert closing.reason == reason and closing.done is bool(reason)


def test_a_contact_that_brings_no_force_is_gone_twice_as_far_each_time_up_to_a_bound(hand):
    closing, steps = squeezing(hand), []
    nothing = state_of(hand, np.zeros(3), 0.0, capable=False)
    while not closing.done:
        before = closing.question().joint_positions
        closing.answer(nothing)
        steps.append(np.abs(closing.question().joint_positions - before).max())
    ratios = np.array(steps[1:-1]) / np.array(steps[:-2])
    bounded = np.flatnonzero(ratios < 2.0 - RTOL)[0]
    assert bounded >= 3 and closing.reason == rejections.NOT_CONVERGED
    assert_allclose(ratios[:bounded], 2.0, rtol=RTOL)
    assert_allclose(ratios[bounded + 1:], 1.0, rtol=RTOL)


def test_beyond_a_limit_forces_are_lowered_to_what_just_holds_however_they_are_shared(hand):
    wanted = []
    for forces in ((2.0, 2.0, 2.0), (3.0, 3.0, 0.0)):
        closing, state = squeezing(hand, 0.5), state_of(hand, forces, margin=1.25)
        closing.answer(state)
        assert not closing.done
        wanted.append(list(closing.wanted_forces(state).values()))
    # Four times the least forces hold 1.25 times the load; aims lie half a tolerance above.
    above = np.sqrt(1.0 + planner_options().force_tolerance)
    assert_allclose(wanted, np.full((2, 3), 0.5 * 4.0 / 1.25 * above))


@pytest.mark.parametrize('trace, within', [(0.0, True), (4e-4, True), (0.05, False)])
def test_until_each_contact_bears_no_finger_presses_harder_than_a_trial(hand, trace, within):
    """What hardly touches bears no torsion, by which minimal forces come out far too large."""
    closing = squeezing(hand)
    state = state_of(hand, (0.05, 0.4, trace), (15.0, 15.0, 2.0), margin=0.01)
    closing.answer(state)
    assert not closing.done
    wanted = np.array(list(closing.wanted_forces(state).values()))
    assert bool((wanted <= 1.0).all()) == within and wanted.min() > 0.0


@pytest.mark.parametrize('margin, growth', [(0.65, 2.0), (0.0, FORCE_GROWTH), (0.9, 1.3 / 0.9)])
def test_forces_below_which_the_balance_was_lost_are_raised_alone(hand, margin, growth):
    forces = np.array([2.0, 2.2, 0.4])
    fresh, tried = squeezing(hand, 0.5), squeezing(hand, 0.5)
    tried.answer(state_of(hand, forces, 0.5, margin=margin))
    tried.answer(state_of(hand, np.full(3, 0.5), 0.0, capable=False, needed_force=8.0))
    state = state_of(hand, forces, 0.5, margin=margin)
    wanted = {}
    for name, closing in (('fresh', fresh), ('tried', tried)):
        closing.answer(state)
        assert not closing.done
        wanted[name] = np.array(list(closing.wanted_forces(state).values()))
    assert (wanted['fresh'] < growth * forces).any()    # or there were nothing to see
    assert_allclose(wanted['tried'], np.maximum(wanted['fresh'], growth * forces))


def test_where_balance_was_lost_too_much_pressure_ends_it(hand):
    closing = squeezing(hand, 0.5)
    over = {'margin': 0.5, 'peak_pressures': np.array([2e6, 1e3, 1e3])}
    lost = state_of(hand, np.full(3, 0.5), 0.0, capable=False, needed_force=8.0)
    for state in (state_of(hand, np.full(3, 2.0), **over), lost):
        closing.answer(state)
        assert not closing.done
    closing.answer(state_of(hand, np.full(3, 2.0), **over))
    assert closing.reason == rejections.EXCESSIVE_PRESSURE


def test_beyond_a_limit_forces_are_lowered_also_where_balance_was_lost(hand):
    fresh, tried = squeezing(hand, 0.5), squeezing(hand, 0.5)
    over = state_of(hand, np.full(3, 2.0), 0.5, margin=1.1)
    tried.answer(state_of(hand, np.full(3, 2.0), 0.5, margin=0.5))
    tried.answer(state_of(hand, np.full(3, 0.5), 0.0, capable=False, needed_force=8.0))
    for closing in (fresh, tried):
        closing.answer(over)
        assert not closing.done
        wanted = np.array(list(closing.wanted_forces(over).values()))
        assert (wanted < 2.0).all()
