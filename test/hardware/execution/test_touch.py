"""Closing by touch: laws of forces on springs of any stiffness, and faults of pads."""

from dataclasses import replace

from execution_cases import (
    CLOSED_ANGLE, FINGERS, HAND, LateHand, OPTIONS, PERIOD, plan, PLANNED, run, SpringHand, TIPS)
from hypothesis import example, given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from gripsim_ros.hardware.execution.actions import Phase, SendRows, Status, StopHand
from gripsim_ros.hardware.execution.machine import GraspExecution
from gripsim_ros.hardware.execution.plan import make_plan, PlannedContact, Wishes
from gripsim_ros.hardware.execution.report import report_of

BY_TOUCH = Wishes(by_touch=True)
#: Nothing stiffer than this is felt on a finger whose lever is no shorter than assumed [N/rad].
STIFFEST = 600.0
#: A finger of 100 mm goes 10 mm within this [rad].
OFF = 0.1


class SpringyHand(SpringHand):
    """Each fingertip presses on a spring of its own [N/rad], at an angle of its own [rad]."""

    def __init__(self, springs=(40.0,) * 3, off=(0.0,) * 3, **more):
        super().__init__(**more)
        self.springs, self.peak = dict(zip(TIPS, springs)), dict.fromkeys(TIPS, 0.0)
        self.away = dict(zip(TIPS, off))
        self.pads = lambda link, force: force

    def measure(self):
        measured = super().measure()
        true = {link: self.springs[link] * max(0.0, measured.joints[joint] - CLOSED_ANGLE
                                               - self.away[link])
                for link, joint in FINGERS.items()}
        self.peak = {link: max(self.peak[link], force) for link, force in true.items()}
        return replace(measured, forces={link: self.pads(link, true[link])
                                         for link in measured.forces})


def carried_out(hand, wishes=BY_TOUCH, forces=(PLANNED,) * 3, **changes):
    """Return the execution of a plan by touch with a hand, and its phases."""
    execution = GraspExecution(plan(wishes, forces), replace(OPTIONS, **changes), False)
    return execution, run(execution, hand, 60.0)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(np.log(10.0), np.log(STIFFEST)), min_size=3, max_size=3),
       st.lists(st.floats(-OFF, OFF), min_size=3, max_size=3),
       st.lists(st.floats(0.3, 3.0), min_size=3, max_size=3))
@example(list(np.log([497.3, 260.8, 156.4])), [0.07, 0.09, -0.1], [0.62, 1.27, 0.55])
def test_forces_come_to_the_planned_and_never_pass_their_limit(logs, off, forces):
    """Whatever the stiffness of the object, and wherever it lies within reach."""
    hand = SpringyHand(np.exp(logs), off)
    needed = max(force / spring for force, spring in zip(forces, hand.springs.values()))
    execution, _ = carried_out(hand, forces=forces)
    limits = dict(zip(TIPS, OPTIONS.force_room * np.array(forces)))
    assert all(hand.peak[link] <= max(limits[link], first_touch(hand, link)) for link in TIPS)
    if needed < 0.9 * OPTIONS.touch_beyond:
        assert execution.status == Status.SUCCEEDED, execution.message
        felt = np.array([execution.closed.forces[link] for link in TIPS])
        assert np.minimum(felt / forces, 1.0) @ forces >= 0.9 * sum(forces)


def first_touch(hand, link):
    """Return what a finger presses with before it hears that it touches, by the way of 30 ms."""
    return OPTIONS.touch_force + hand.springs[link] * OPTIONS.touch_speed * 0.03


def test_who_touches_first_waits_for_the_others():
    hand = SpringyHand(off=(-OFF, 0.0, OFF))
    execution = GraspExecution(plan(BY_TOUCH), OPTIONS, False)
    run(execution, hand, until=lambda: execution.phase == Phase.LOADING)
    assert all(hand.peak[link] <= first_touch(hand, link) for link in TIPS)
    run(execution, hand)
    assert execution.status == Status.SUCCEEDED
    assert 'early' in execution.message and 'late' in execution.message


@pytest.mark.parametrize('lifted', [True, False])
def test_contacts_that_came_early_or_late_are_told_of_a_slip_too(lifted):
    """They are why: what lies elsewhere is held elsewhere."""
    hand = SpringyHand(off=(-OFF, 0.0, OFF), slide=0.02)
    execution = GraspExecution(plan(replace(BY_TOUCH, lift_height=0.05, hold_time=2.0)), OPTIONS,
                               True)
    run(execution, hand, until=lambda: execution.phase == Phase.HOLDING)
    hand.pads = (lambda link, force: force) if lifted else (lambda link, force: 0.0)
    run(execution, hand)
    assert execution.status == Status.SLIPPED
    said = execution.message.split('; ')
    assert said[0].startswith('the object moved 20.0 mm' if lifted else 'contact was lost')
    assert any('early' in one for one in said[1:]) and any('late' in one for one in said[1:])


@pytest.mark.parametrize('spring', [40.0, 400.0])
def test_a_finger_that_holds_goes_on_by_no_more_than_its_pad_misses(spring):
    """A step that ends as the pad falls by a tenth seems to have brought nearly nothing."""
    hand, least = SpringyHand((spring,) * 3), 0.9
    execution = GraspExecution(plan(replace(BY_TOUCH, lift_height=0.05, hold_time=4.0)), OPTIONS,
                               True)
    run(execution, hand, until=lambda: execution.phase == Phase.HOLDING)
    hand.pads = lambda link, force: force * (
        least if link == TIPS[0] and (hand.time / 0.18) % 1.0 < 0.6 else 1.0)
    run(execution, hand, 60.0)
    assert execution.status == Status.SUCCEEDED
    assert hand.peak[TIPS[0]] < 1.02 * PLANNED / least


def test_forces_rise_together():
    hand = SpringyHand((20.0, 100.0, 400.0))
    execution, worst = GraspExecution(plan(BY_TOUCH), OPTIONS, False), []

    def spread():
        if execution.phase == Phase.LOADING:
            felt = np.array(list(execution.last.forces.values())) / PLANNED
            worst.append(felt.max() - felt.mean())
        return False

    run(execution, hand, until=spread)
    assert execution.status == Status.SUCCEEDED and max(worst) < 0.3


@settings(max_examples=10, deadline=None)
@given(st.floats(0.0, 0.1), st.floats(0.0, 0.1))
def test_late_news_make_no_force_overshoot(joints, forces):
    hand = LateHand(joints, forces)
    execution, _ = carried_out(hand)
    assert execution.status == Status.SUCCEEDED, execution.message
    assert max(execution.last.forces.values()) <= OPTIONS.force_room * PLANNED


class TardyHand(SpringyHand):
    """Every trajectory begins so late [s]: the hand is behind where it was sent."""

    def __init__(self, late, *args):
        super().__init__(*args)
        self.late = late

    def obey(self, actions):
        super().obey([replace(action, times=action.times + self.late, begin=None)
                      if isinstance(action, SendRows) else action for action in actions])


@pytest.mark.parametrize('late', [0.0, 0.1, 0.3])
def test_a_finger_waits_where_it_is_and_not_where_a_tardy_hand_was_sent(late):
    hand = TardyHand(late, (160.0,) * 3)
    execution, _ = carried_out(hand, step_delay=late)
    assert execution.status == Status.SUCCEEDED, execution.message
    assert all(peak <= OPTIONS.force_room * PLANNED for peak in hand.peak.values())


class PausingHand(SpringyHand):
    """To obey new rows the hand stops, stands so long [s], and then goes along them."""

    def __init__(self, pause, *args):
        super().__init__(*args)
        self.pause = pause

    def obey(self, actions):
        now = self.follower.at(self.time)
        super().obey([replace(action, rows=np.vstack([now, action.rows]), begin=None,
                              times=np.concatenate([[0.0], action.times]) + self.pause)
                      if isinstance(action, SendRows) else action for action in actions])


@pytest.mark.parametrize('pause', [0.1, 0.6])
def test_a_hand_that_stands_still_each_time_it_is_sent_anew_is_not_blocked(pause):
    """For longer than an error may last, while a late finger goes on."""
    hand = PausingHand(pause, (40.0,) * 3, (-0.19, -0.15, 0.5 * OFF))
    execution, _ = carried_out(hand, step_delay=pause, loading_time=30.0)
    assert execution.status == Status.SUCCEEDED, execution.message
    assert 'early' in execution.message and 'late' in execution.message
    assert all(peak <= OPTIONS.force_room * PLANNED for peak in hand.peak.values())


def test_a_late_hand_has_found_nothing_once_it_is_there():
    hand = PausingHand(0.6, (40.0, 40.0, 0.0), (-0.19, -0.15, 0.0))
    execution, _ = carried_out(hand)
    assert execution.status == Status.MISSED_CONTACT and 'thumb found' in execution.message
    assert execution.last.joints[5] == pytest.approx(CLOSED_ANGLE + OPTIONS.touch_beyond, abs=6e-3)


def test_a_joint_that_is_blocked_while_others_go_on_is_found_though_the_hand_was_sent_anew():
    hand = SpringyHand(off=(-0.19, 0.0, 0.0))
    execution = GraspExecution(plan(BY_TOUCH), OPTIONS, False)
    run(execution, hand, until=lambda: hand.peak[TIPS[0]] > OPTIONS.touch_force)
    run(execution, hand, 2.0 * PERIOD)
    hand.blocked = (3,)                 # it stays at 0 rad, where its finger touches nothing
    begin = hand.time
    run(execution, hand)
    assert execution.status == Status.JOINT_ERROR, execution.message
    assert hand.time <= begin + 0.3 + OPTIONS.lag_time      # 0.08 rad at 0.7, then at 0.1 rad/s


def test_a_hand_that_stands_for_good_after_new_rows_is_a_joint_error():
    hand = SpringyHand(off=(-0.19, 0.0, 0.0))
    execution = GraspExecution(plan(BY_TOUCH), OPTIONS, False)
    run(execution, hand, until=lambda: hand.peak[TIPS[0]] > OPTIONS.touch_force)
    joints, begin = hand.follower.at(hand.time), hand.time
    hand.follower.at = lambda time: joints.copy()
    run(execution, hand)
    assert execution.status == Status.JOINT_ERROR, execution.message
    assert hand.time <= begin + OPTIONS.start_time + OPTIONS.lag_time + 3.0 * PERIOD


@pytest.mark.parametrize('seed', range(4))
def test_single_readings_that_dip_make_no_force_overshoot(seed):
    """A fifth of the readings of a pad, at random, tells six tenths of the truth."""
    dips = np.random.default_rng(seed).random(20000) < 0.2
    hand = SpringyHand((20.0,) * 3)
    hand.pads = lambda link, force: force * (
        0.6 if link == TIPS[1] and dips[round(hand.time / PERIOD)] else 1.0)
    execution, _ = carried_out(hand)
    assert execution.status == Status.SUCCEEDED, execution.message
    assert all(peak <= OPTIONS.force_room * PLANNED for peak in hand.peak.values())


def test_damage_takes_room_from_the_forces():
    rows = np.zeros((11, 7))
    rows[:, [1, 3, 5]] = np.linspace(-0.5, CLOSED_ANGLE, 11)[:, None]
    made = [make_plan(HAND, (rows, np.linspace(0.0, 1.0, 11)), rows[-1],
                      [PlannedContact(TIPS[0], 1.0)], BY_TOUCH, OPTIONS, damage_margin=margin)
            for margin in (1.05, 0.5, np.inf)]
    assert [one.touch.room for one in made] == [1.05, 1.0, OPTIONS.force_room]


def test_a_finger_that_finds_nothing_is_told_in_bounded_time():
    hand = SpringyHand(absent=(TIPS[1],))
    hand.springs[TIPS[1]] = 0.0
    execution, phases = carried_out(hand)
    assert execution.status == Status.MISSED_CONTACT and 'LOADING' not in phases
    assert 'found nothing' in execution.message and isinstance(hand.sent[-1], StopHand)


def test_a_pad_that_is_stuck_stops_the_hand_before_its_limit():
    hand = SpringyHand((STIFFEST / 2.0,) * 3)
    hand.pads = lambda link, force: min(force, 0.1) if link == TIPS[0] else force
    execution, _ = carried_out(hand)
    assert execution.status == Status.MISSED_CONTACT and 'stuck' in execution.message
    assert hand.peak[TIPS[0]] <= OPTIONS.force_room * PLANNED


def test_a_silent_pad_is_found_by_what_the_others_bear():
    """The object is pushed onto the fingers that wait."""
    hand = SpringyHand()
    hand.pads = lambda link, force: 0.0 if link == TIPS[0] else force + hand.pushed()
    hand.pushed = lambda: hand.springs[TIPS[0]] * max(
        0.0, hand.follower.setpoints[FINGERS[TIPS[0]]] - CLOSED_ANGLE)
    execution, phases = carried_out(hand)
    assert execution.status == Status.MISSED_CONTACT and 'silent pad' in execution.message
    assert hand.peak[TIPS[0]] <= OPTIONS.force_room * PLANNED


def test_a_finger_without_news_closes_to_its_grip_and_is_told():
    hand = SpringyHand(dumb=(TIPS[2],))
    execution, _ = carried_out(hand)
    assert execution.status == Status.SUCCEEDED and 'cannot feel' in execution.message
    assert hand.peak[TIPS[2]] == pytest.approx(2.0 * PLANNED)       # as without touch


def test_an_object_too_soft_for_the_planned_forces_ends_with_the_shares():
    hand = SpringyHand((40.0, 40.0, 2.0))
    execution, _ = carried_out(hand, loading_time=5.0)
    assert execution.status in (Status.MISSED_CONTACT, Status.SUCCEEDED)
    assert '%' in execution.message
    begun = dict(execution.begun)
    assert execution.closed.time - begun[Phase.LOADING] <= 5.0 + 0.1


def test_forces_are_kept_while_the_hand_holds():
    hand = SpringyHand()
    execution = GraspExecution(plan(replace(BY_TOUCH, hold_time=4.0)), OPTIONS, False)
    run(execution, hand, until=lambda: execution.phase == Phase.HOLDING)
    hand.away[TIPS[0]] += 0.015         # the object gives way
    run(execution, hand)
    assert execution.status == Status.SUCCEEDED
    assert execution.last.forces[TIPS[0]] >= 0.9 * PLANNED


@pytest.mark.parametrize('fingers', [0, 3])
def test_the_report_has_a_row_of_forces_for_each_time(fingers):
    execution = GraspExecution(plan(Wishes(), (PLANNED,) * fingers), OPTIONS, False)
    run(execution, SpringHand())
    report = report_of(execution, OPTIONS.touch_force)
    shape = len(execution.felt), fingers
    assert len(execution.felt) > 10 and len(report.finger_names) == fingers
    assert report.finger_planned_forces.shape == report.finger_felt_forces.shape == shape
