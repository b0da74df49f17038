"""Grasps carried out with a hand of springs: every end, and what is reported of it."""

from dataclasses import replace

from execution_cases import (
    CLOSED_ANGLE, GRIP, HAND, HandOnArm, LateHand, OPTIONS, PERIOD, plan, PLANNED, run, SPRING,
    SpringHand, TIPS)
from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from gripsim_ros.core.errors import GripsimError, HandError, TaskError
from gripsim_ros.hardware.execution.actions import (
    LiftOff, MovePalm, Phase, PlacePalm, SendRows, Status, StopHand)
from gripsim_ros.hardware.execution.machine import GraspExecution
from gripsim_ros.hardware.execution.plan import (
    make_plan, PlannedContact, press_as_planned, Wishes)
from gripsim_ros.hardware.execution.report import report_of

ATOL_ROUNDOFF = 1e-9
#: The grip is reached in 0.5 s: so much more may a finger press by the next measurement [N].
ONE_PERIOD = SPRING * GRIP / OPTIONS.grip_time * PERIOD


def execute(hand=None, wishes=None, carries=True, **changes):
    hand = hand or SpringHand()
    execution = GraspExecution(plan(wishes), replace(OPTIONS, **changes), carries)
    return execution, hand, run(execution, hand)


def test_all_phases_come_in_order():
    execution, hand, phases = execute(wishes=Wishes(lift_height=0.05, release=True))
    assert phases == ['PRESHAPE', 'CLOSING', 'HOLDING', 'LIFTING', 'RELEASING', 'DONE']
    assert execution.status == Status.SUCCEEDED and execution.lifted
    assert hand.placed == 1 and hand.height == 0.05 and hand.stopped == 0


def test_the_whole_operation_ends_with_an_open_hand_drawn_back():
    execution, hand, phases = execute(wishes=Wishes(lift_height=0.05, carry=True, release=True))
    assert phases == ['PRESHAPE', 'CLOSING', 'HOLDING', 'LIFTING', 'CARRYING', 'SETTING_DOWN',
                      'RELEASING', 'RETREATING', 'DONE']
    way, report = execution.plan.way, report_of(execution, OPTIONS.touch_force)
    assert report.status == Status.SUCCEEDED and report.carried and report.lifted
    assert report.slip == pytest.approx(0.0, abs=ATOL_ROUNDOFF)
    assert [phase.name for phase, _ in report.phases if phase != Phase.WAITING] == phases[:-1]
    assert (np.diff([time for _, time in report.phases]) >= 0.0).all()
    carried = [palm for palm in hand.palms if palm.T_object_palm is not None]
    np.testing.assert_allclose(carried[0].T_object_palm, way.palm(PERIOD), atol=ATOL_ROUNDOFF)
    assert [palm.back for palm in carried] == [False] * (len(carried) - 1) + [True]
    assert {palm.height for palm in carried[:-2]} == {0.05} and hand.height == 0.0
    for palm in carried[-2:]:
        np.testing.assert_allclose(palm.T_object_palm, way.T_object_palm[-1], atol=ATOL_ROUNDOFF)
    assert not hand.lifted
    np.testing.assert_allclose(hand.measure().joints, execution.plan.rows[0], atol=ATOL_ROUNDOFF)


def test_the_weight_sets_in_and_comes_to_rest_before_anything_moves_on():
    """Where nothing is lifted, too: fingers that carry are not those that catch."""
    execution, hand, phases = execute(wishes=Wishes(carry=True))
    assert phases[phases.index('HOLDING'):][:3] == ['HOLDING', 'LIFTING', 'CARRYING']
    begun = dict(execution.begun)
    assert begun[Phase.CARRYING] - begun[Phase.LIFTING] >= OPTIONS.settle_time
    lifted = next(k for k, action in enumerate(hand.sent) if isinstance(action, LiftOff))
    led = next(k for k, action in enumerate(hand.sent)
               if isinstance(action, MovePalm) and action.T_object_palm is not None)
    assert lifted < led


def test_fingers_press_on_the_way_as_each_step_wants_and_go_with_its_joints():
    execution, hand, _ = execute(wishes=Wishes(carry=True))
    assert execution.status == Status.SUCCEEDED and execution.carried
    way, at_end = execution.plan.way, hand.measure()
    wanted = execution.closed.joints + way.joints[-1] + way.presses[-1]
    others = [0, 1, 2, 3, 4]                # their forces on the way are not told
    np.testing.assert_allclose(at_end.joints[others], wanted[others], atol=ATOL_ROUNDOFF)
    assert at_end.forces[TIPS[2]] >= way.forces[TIPS[2]][-1] > PLANNED


def test_an_object_that_slides_while_carried_has_slipped_and_nothing_moves_any_more():
    execution, hand = GraspExecution(plan(Wishes(carry=True)), OPTIONS, True), SpringHand()
    run(execution, hand, until=lambda: execution.phase == Phase.CARRYING
        and execution.progress > 0.5)
    hand.lets_slip = lambda: 0.02
    run(execution, hand)
    assert execution.status == Status.SLIPPED and not execution.carried
    assert '20.0 mm' in execution.message and '5' in execution.message.split('%')[0]
    assert isinstance(hand.sent[-1], StopHand)


def test_a_palm_that_does_not_come_to_the_end_of_the_way_is_told():
    execution, hand = GraspExecution(plan(Wishes(carry=True)), OPTIONS, True), SpringHand()
    run(execution, hand, until=lambda: execution.phase == Phase.CARRYING)
    measure = hand.measure
    hand.measure = lambda: replace(measure(), palm_rests=False)
    run(execution, hand)
    assert execution.status == Status.TIMED_OUT and 'end of the way' in execution.message


def test_each_finger_stops_at_its_planned_force():
    execution, _, _ = execute()
    report = report_of(execution, OPTIONS.touch_force)
    assert report.contact_links == TIPS
    assert (report.found_forces >= PLANNED - ATOL_ROUNDOFF).all()
    assert (report.found_forces <= PLANNED + ONE_PERIOD + ATOL_ROUNDOFF).all()


@settings(max_examples=15)
@given(st.lists(st.floats(0.1, 1.9), min_size=3, max_size=3), st.floats(0.2, 3.0))
def test_fingers_stop_each_at_its_own_force_at_any_speed(forces, speed):
    wishes = Wishes(speed_scale=speed)
    execution = GraspExecution(plan(wishes, forces), OPTIONS, False)
    hand = SpringHand()
    run(execution, hand, 40.0)
    found = [execution.closed.forces[link] for link in TIPS]
    assert execution.status == Status.SUCCEEDED
    assert (np.array(found) >= np.array(forces) - ATOL_ROUNDOFF).all()
    assert (np.array(found) <= np.array(forces) + ONE_PERIOD + ATOL_ROUNDOFF).all()


@settings(max_examples=15)
@given(st.floats(0.0, 0.08), st.floats(0.0, 0.08), st.floats(0.0, 0.1))
def test_forces_do_not_depend_on_how_late_the_news_is(joints, forces, commands):
    """Whether forces are older than joints or younger, and however late the hand obeys."""
    execution, hand = GraspExecution(plan(), OPTIONS, False), LateHand(joints, forces, commands)
    run(execution, hand)
    found = np.array([execution.closed.forces[link] for link in TIPS])
    assert execution.status == Status.SUCCEEDED, execution.message
    assert (found >= PLANNED - ATOL_ROUNDOFF).all()
    assert (found <= PLANNED + ONE_PERIOD + ATOL_ROUNDOFF).all()


def test_a_hand_that_hears_late_is_not_blocked():
    late = 0.7 * OPTIONS.start_time
    assert late > 2.0 * OPTIONS.lag_time
    execution, hand = GraspExecution(plan(), OPTIONS, False), LateHand(commands=late)
    run(execution, hand)
    assert execution.status == Status.SUCCEEDED, execution.message


def test_a_hand_that_does_not_begin_is_a_joint_error():
    execution, hand = GraspExecution(plan(Wishes(wait_for_go=True)), OPTIONS, False), LateHand()
    run(execution, hand, until=lambda: execution.phase == Phase.WAITING)
    hand.deaf, begin = True, hand.time
    execution.go()
    run(execution, hand)
    assert execution.status == Status.JOINT_ERROR
    assert hand.time <= begin + OPTIONS.start_time + OPTIONS.lag_time + 2.0 * PERIOD


def test_a_finger_goes_on_whose_object_gives_way_in_the_closed_hand():
    execution = GraspExecution(plan(Wishes(hold_time=2.0)), OPTIONS, False)
    hand = SpringHand()
    run(execution, hand, until=lambda: execution.phase == Phase.HOLDING)
    hand.away[TIPS[0]] = 0.4 * GRIP
    run(execution, hand)
    forces = hand.measure().forces
    assert execution.status == Status.SUCCEEDED
    assert all(PLANNED - ATOL_ROUNDOFF <= forces[link] <= PLANNED + ONE_PERIOD + ATOL_ROUNDOFF
               for link in TIPS)


def test_a_finger_that_cannot_reach_its_force_stops_at_its_angle():
    execution = GraspExecution(plan(forces=(9.0,) * 3), OPTIONS, False)
    run(execution, SpringHand())
    assert execution.status == Status.SUCCEEDED
    np.testing.assert_allclose(execution.closed.joints[[1, 3, 5]], CLOSED_ANGLE + GRIP,
                               rtol=0, atol=ATOL_ROUNDOFF)


def test_squeeze_goes_beyond_the_grip_for_moving_joints_alone():
    squeezed = plan(Wishes(squeeze=0.02))
    np.testing.assert_allclose(squeezed.rows[-1] - plan().rows[-1],
                               [0.0, 0.02, 0.0, 0.02, 0.0, 0.02, 0.0], rtol=0,
                               atol=ATOL_ROUNDOFF)


def test_a_planned_contact_that_is_not_found_is_named():
    execution, hand, _ = execute(SpringHand(absent=TIPS[1:2]), Wishes(lift_height=0.05))
    report = report_of(execution, OPTIONS.touch_force)
    assert report.status == Status.MISSED_CONTACT and TIPS[1] in report.message
    assert report.found_forces[1] == 0.0 and not report.lifted and not hand.lifted


def test_a_hand_that_cannot_feel_closes_by_angle_and_says_so():
    execution, _, _ = execute(SpringHand(dumb=TIPS))
    report = report_of(execution, OPTIONS.touch_force)
    assert report.status == Status.SUCCEEDED
    assert np.isnan(report.found_forces).all()
    np.testing.assert_allclose(report.joint_errors[[1, 3, 5]], GRIP, rtol=0, atol=ATOL_ROUNDOFF)


def test_a_blocked_joint_that_touches_nothing_ends_closing():
    execution = GraspExecution(plan(), OPTIONS, False)
    hand = SpringHand(absent=TIPS)
    run(execution, hand, until=lambda: execution.phase == Phase.CLOSING)
    hand.blocked = (3,)
    run(execution, hand)
    assert execution.status == Status.JOINT_ERROR
    assert HAND.joint_names[3] in execution.message and HAND.joint_names[1] not in \
        execution.message
    assert isinstance(hand.sent[-1], StopHand)


def test_a_hand_that_does_not_take_its_first_shape_is_a_joint_error():
    execution, hand, _ = execute(SpringHand(blocked=(1,)))
    assert execution.status == Status.JOINT_ERROR and HAND.joint_names[1] in execution.message
    assert not any(isinstance(action, LiftOff) for action in hand.sent)


def test_an_object_that_slides_while_lifted_has_slipped():
    execution, hand, _ = execute(SpringHand(slide=0.02), Wishes(lift_height=0.05))
    assert execution.status == Status.SLIPPED and not execution.lifted
    assert execution.slip == pytest.approx(0.02) and hand.stopped == 1


def test_a_contact_lost_while_holding_has_slipped():
    execution = GraspExecution(plan(Wishes(hold_time=5.0)), OPTIONS, False)
    hand = SpringHand()
    run(execution, hand, until=lambda: execution.phase == Phase.HOLDING)
    hand.absent = TIPS[:1]
    run(execution, hand)
    assert execution.status == Status.SLIPPED and TIPS[0] in execution.message


def test_closing_waits_for_the_sign_to_go_on():
    execution = GraspExecution(plan(Wishes(wait_for_go=True)), OPTIONS, False)
    hand = SpringHand()
    assert run(execution, hand, 2.0)[-1] == 'WAITING'
    execution.go()
    run(execution, hand)
    assert execution.status == Status.SUCCEEDED


def test_nobody_waits_for_the_sign_for_ever():
    execution, _, _ = execute(wishes=Wishes(wait_for_go=True))
    assert execution.status == Status.TIMED_OUT


@pytest.mark.parametrize('phase', [phase for phase in Phase if phase != Phase.DONE])
def test_cancel_stops_in_every_phase_and_nothing_follows(phase):
    wishes = Wishes(wait_for_go=True, lift_height=0.05, release=True, carry=True,
                    by_touch=phase == Phase.LOADING)
    planned = plan(wishes, with_arm=phase in (Phase.REACHING, Phase.APPROACHING))
    execution = GraspExecution(planned, OPTIONS, True)
    hand = SpringHand() if planned.arm is None else HandOnArm(planned.arm)
    run(execution, hand, until=lambda: execution.phase in (phase, Phase.WAITING))
    if execution.phase != phase:
        execution.go()
        run(execution, hand, until=lambda: execution.phase == phase)
    assert execution.phase == phase
    assert execution.cancel() == [StopHand()]
    assert execution.done and execution.status == Status.CANCELED
    assert execution.update(hand.measure()) == [] and execution.cancel() == []


def test_a_hand_that_falls_silent_is_lost():
    execution = GraspExecution(plan(), OPTIONS, False)
    hand = SpringHand()
    run(execution, hand, until=lambda: execution.phase == Phase.CLOSING)
    assert execution.lose('no joint state') == [StopHand()]
    report = report_of(execution, OPTIONS.touch_force)
    assert report.status == Status.HAND_LOST and np.isnan(report.joint_positions).all()


def test_a_real_hand_is_not_carried_about():
    _, hand, _ = execute(carries=False)
    assert all(isinstance(action, SendRows) for action in hand.sent)


def test_releasing_opens_the_hand():
    execution, hand, _ = execute(wishes=Wishes(release=True))
    np.testing.assert_allclose(hand.measure().joints, execution.plan.rows[0], rtol=0,
                               atol=ATOL_ROUNDOFF)
    assert isinstance(hand.sent[0], PlacePalm)


@settings(max_examples=10)
@given(st.floats(0.0, 0.08), st.booleans())
def test_all_rows_begin_after_the_last_stop_however_late_the_news_is(late, found):
    """Whether somebody else has just stopped the hand, or the execution before it opens."""
    wishes = Wishes(lift_height=0.05, release=True)
    execution, hand = GraspExecution(plan(wishes), OPTIONS, True), LateHand(late, late)
    hand.stopped_at, hand.absent = hand.time, () if found else TIPS[:1]
    run(execution, hand)
    assert execution.status == (Status.SUCCEEDED if found else Status.MISSED_CONTACT)
    assert all(action.begin is not None for action in hand.sent if isinstance(action, SendRows))
    assert not hand.refused
    np.testing.assert_allclose(hand.measure().joints, execution.plan.rows[0], rtol=0,
                               atol=OPTIONS.joint_tolerance)


def test_closing_is_slowed_down_to_the_joints_limits():
    rows = np.array([np.zeros(7), np.full(7, 0.5)])
    slow = make_plan(HAND, (rows, np.array([0.0, 0.01])), [], [], Wishes(), OPTIONS)
    pace = np.abs(np.diff(slow.rows, axis=0)) / np.diff(slow.times)[:, None]
    assert (pace <= HAND.joint_velocities + ATOL_ROUNDOFF).all()


@pytest.mark.parametrize('share, wanted', [(2.0, 2.0), (0.5, 1.0), (-2.0, 1.0)])
def test_joints_are_sent_on_until_they_press_as_at_the_end_of_closing(share, wanted):
    """The grip's forces may be less, those of one load; a joint that rests is left alone."""
    given = plan()
    grip = given.rows[-1] - given.closed
    torques = share * HAND.joint_stiffness * grip
    torques[0] = 1.0
    pressed = press_as_planned(given, HAND, torques)
    np.testing.assert_allclose(pressed.rows[-1] - pressed.closed, wanted * grip,
                               rtol=0, atol=ATOL_ROUNDOFF)
    np.testing.assert_array_equal(pressed.rows[:-1], given.rows[:-1])
    far = press_as_planned(given, HAND, np.full(7, 1e3))
    pace = np.abs(far.rows[-1] - far.rows[-2]) / (far.times[-1] - far.times[-2])
    assert (pace <= HAND.joint_velocities + ATOL_ROUNDOFF).all()
    assert (far.rows[-1] <= HAND.joint_upper).all()


@pytest.mark.parametrize('changes, message', [
    ({'rows': np.zeros((2, 6))}, 'rows of 7 angles'), ({'times': np.zeros(2)}, 'must grow'),
    ({'rows': np.full((2, 7), np.nan)}, 'finite'), ({'grip': np.zeros(3)}, '7 angles, got 3'),
    ({'rows': np.full((2, 7), 1.8)}, 'sdh_knuckle_joint leaves its limits'),
    ({'contacts': [PlannedContact('arm', 1.0)]}, "does not have: \\['arm'\\]")])
def test_plans_that_do_not_fit_the_hand_are_refused(changes, message):
    given = {'rows': np.zeros((2, 7)), 'times': np.array([0.0, 1.0]), 'grip': np.zeros(7),
             'contacts': [], **changes}
    with pytest.raises((HandError, TaskError), match=message):
        make_plan(HAND, (given['rows'], given['times']), given['grip'], given['contacts'],
                  Wishes(), OPTIONS)


@pytest.mark.parametrize('closing, least, wanted', [
    (3.0, 1.0, 3.0), (1.0, 3.0, 1.0), (0.0, 1.0, 1.0), (-1.0, 1.0, 0.0)])
def test_a_link_is_to_press_as_its_margin_was_judged(closing, least, wanted):
    """Where a plan tells no force of closing, as with the least one."""
    normal, slide = np.array([0.0, 0.6, 0.8]), np.array([0.3, 0.0, 0.0])
    contact = PlannedContact.of_patch(TIPS[0], normal, closing * (normal + slide),
                                      least * (normal - slide))
    assert contact.link == TIPS[0] and contact.force == pytest.approx(wanted)


@pytest.mark.parametrize('wish', [{'squeeze': 0.04}, {'speed_scale': -1.0},
                                  {'hold_time': np.inf}, {'lift_height': np.nan}])
def test_wishes_outside_their_range_are_refused(wish):
    with pytest.raises(GripsimError, match=next(iter(wish))):
        Wishes(**wish)
