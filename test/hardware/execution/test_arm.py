"""The arm's part of an execution: its legs, and the phases in which it goes along them."""

import numpy as np
import pytest
from execution_cases import (
    ARM_JOINTS, arm_plan, HAND, HandOnArm, OPTIONS, plan, reach, run)
from hypothesis import given, strategies as st

from gripsim_ros.core.arm.motion import PALM_STEP
from gripsim_ros.core.errors import TaskError
from gripsim_ros.hardware.execution.actions import MoveArm, MovePalm, SendRows, Status, StopHand
from gripsim_ros.hardware.execution.arm import EMPTY_SPEED
from gripsim_ros.hardware.execution.machine import GraspExecution
from gripsim_ros.hardware.execution.plan import Wishes
from gripsim_ros.hardware.execution.way import make_way

WHOLE = Wishes(carry=True, release=True)
LEGS = ['start', 'approach', 'lift', 'carry', 'lower', 'retreat']
PHASES = ['PRESHAPE', 'REACHING', 'APPROACHING', 'CLOSING', 'HOLDING', 'LIFTING', 'CARRYING',
          'SETTING_DOWN', 'RELEASING', 'RETREATING', 'DONE']
ATOL_ROUNDOFF = 1e-9


@pytest.fixture
def way():
    return make_way(HAND, reach(), OPTIONS.carry_speed, OPTIONS.carry_spin)


def executed(wishes=WHOLE, real=False):
    """Return an execution with an arm that ran to its end, the hand and the phases."""
    planned = plan(wishes, with_arm=True)
    execution, hand = GraspExecution(planned, OPTIONS, not real), HandOnArm(planned.arm, real)
    return execution, hand, run(execution, hand, 60.0)


def test_legs_follow_on_each_other_from_rest_to_rest(way):
    made = arm_plan(way)
    assert list(made.legs) == LEGS
    before = made.start
    for name, leg in made.legs.items():
        assert np.abs(leg.rows[0] - before).max() <= 0.1 + ATOL_ROUNDOFF, name
        assert not leg.velocities[-1].any() and (np.diff(leg.times) > 0.0).all()
        assert leg.times[0] > 0.0 and leg.velocities.shape == leg.rows.shape
        before = leg.rows[-1]


def test_the_carrying_keeps_the_times_of_the_hands_way(way):
    np.testing.assert_allclose(arm_plan(way).legs['carry'].times, way.times[1:],
                               atol=ATOL_ROUNDOFF)


@given(st.floats(0.005, 0.2))
def test_a_palm_with_an_object_is_no_faster_than_told(speed):
    """No step of a straight way is longer than the planner's."""
    way = make_way(HAND, reach(), OPTIONS.carry_speed, OPTIONS.carry_spin)
    legs = arm_plan(way, carry_speed=speed).legs
    for name, most in (('lift', speed), ('lower', speed), ('approach', EMPTY_SPEED)):
        spans = np.diff([0.0, *legs[name].times])
        assert (spans >= PALM_STEP / most - ATOL_ROUNDOFF).all()


def test_without_a_way_the_arm_carries_nothing():
    assert list(arm_plan(None).legs) == ['start', 'approach', 'lift']


@pytest.mark.parametrize('changes, words', [
    ({'trajectory': (np.zeros((3, 1)), np.arange(3.0))}, 'needs rows of 2 finite joints'),
    ({'trajectory': (np.full((3, 2), np.nan), np.arange(3.0))}, 'needs rows of 2 finite joints'),
    ({'trajectory': (np.zeros((3, 2)), np.zeros(3))}, 'times that grow'),
    ({'phases': ['start']}, 'has 19 points and arm_phases tell of 1'),
    ({'phases': ['approach', 'start'] + ['lift'] * 17}, 'in this order, from start on'),
    ({'phases': ['start'] * 10 + ['fly'] * 9}, "got \\['start', 'fly'\\]"),
    ({'phases': ['start'] * 19}, 'it has no approach'),
    ({'phases': ['start'] * 10 + ['approach'] * 6 + ['carry'] * 3}, 'in 3 steps, the hand in 5')])
def test_a_trajectory_that_is_not_of_the_plan_is_refused(way, changes, words):
    with pytest.raises(TaskError, match=words):
        arm_plan(way, **changes)


def test_an_arm_that_is_elsewhere_is_told_with_numbers(way):
    made = arm_plan(way)
    made.check_start(made.start + 0.04)
    with pytest.raises(TaskError, match=f'{ARM_JOINTS[1]} is at 0.220 rad, planned from 0.020'):
        made.check_start(made.start + np.array([0.0, 0.2]))
    with pytest.raises(TaskError, match='nan'):
        made.check_start(made.start * np.nan)


@pytest.mark.parametrize('real', [False, True])
def test_the_whole_operation_goes_along_all_legs(real):
    """A real hand tells nothing of the object in it, so its slip is not known."""
    execution, hand, phases = executed(real=real)
    assert execution.status == Status.SUCCEEDED, execution.message
    assert phases == PHASES and hand.legs == LEGS
    assert execution.lifted and execution.carried and bool(np.isnan(execution.slip)) == real
    assert not any(isinstance(action, MovePalm) for action in hand.sent)
    np.testing.assert_allclose(hand.arm, execution.plan.arm.legs['retreat'].rows[-1])


def test_hand_and_arm_begin_to_carry_at_one_time():
    execution, hand, _ = executed()
    begun = {action.leg.name: number for number, action in enumerate(hand.sent)
             if isinstance(action, MoveArm)}['carry']
    arm, fingers = hand.sent[begun:begun + 2]
    assert isinstance(fingers, SendRows) and arm.begin == fingers.begin


def test_the_hand_is_shaped_before_the_arm_sets_off():
    execution, hand, _ = executed()
    first, then = hand.sent[:2]
    assert isinstance(first, SendRows) and isinstance(then, MoveArm)
    assert then.begin >= first.begin + first.times[-1]


def test_without_carrying_the_arm_lifts_if_it_is_asked_to():
    for wishes, legs in ((Wishes(), LEGS[:2]), (Wishes(lift_height=0.01), LEGS[:3])):
        execution, hand, _ = executed(wishes)
        assert execution.status == Status.SUCCEEDED and hand.legs == legs


@pytest.mark.parametrize('phase, words', [
    ('REACHING', 'did not come to the pre-grasp'), ('APPROACHING', 'did not come to the grasp'),
    ('LIFTING', 'did not rise'), ('CARRYING', 'end of the way'), ('SETTING_DOWN', 'did not sink'),
    ('RETREATING', 'did not draw back')])
def test_an_arm_that_jams_is_told_by_its_phase_and_stopped(phase, words):
    planned = plan(WHOLE, with_arm=True)
    execution, hand = GraspExecution(planned, OPTIONS, False), HandOnArm(planned.arm, real=True)
    run(execution, hand, 60.0, until=lambda: execution.phase.name == phase)
    hand.jammed = True
    run(execution, hand, 60.0)
    assert execution.status == Status.TIMED_OUT and words in execution.message
    assert any(isinstance(action, StopHand) for action in hand.sent)
