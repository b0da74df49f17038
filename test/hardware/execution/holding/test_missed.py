"""A contact that is not found: kept without it where the others hold, released, or stopped."""

from dataclasses import replace

from execution_cases import (
    arm_plan, HandOnArm, OPTIONS, plan, PLANNED, run, SpringHand, TIPS)
from holding_cases import hold_plan
import numpy as np
import pytest

from gripsim_ros.core.errors import TaskError
from gripsim_ros.core.hand import forward_kinematics
from gripsim_ros.core.transforms import apply
from gripsim_ros.hardware.execution.actions import MovePalm, SendRows, Status, StopHand
from gripsim_ros.hardware.execution.feeling.policies import KEEP, RELEASE, REPLAN, STOP
from gripsim_ros.hardware.execution.machine import GraspExecution
from gripsim_ros.hardware.execution.plan import Wishes

GONE = TIPS[1]


def keep_plan(weight, friction=1.5):
    """Return what is held: a load that finger and thumb can bear without the other finger."""
    made, joints = hold_plan(), plan().closed
    poses = forward_kinematics(made.hand, joints[None])[0]
    points = {link: apply(poses[made.hand.link_names.index(link)], point[None])[0]
              for link, point in zip(made.links, made.points_link)}
    middle = 0.5 * (points[TIPS[0]] + points[TIPS[2]])
    across = points[TIPS[2]] - points[TIPS[0]]
    across /= np.linalg.norm(across)
    normals = np.array([
        poses[made.hand.link_names.index(link)][:3, :3].T @ (sign * across)
        for link, sign in zip(made.links, (1.0, 1.0, -1.0))])
    pull = np.array([0.0, 0.0, -weight])
    return replace(made, normals_link=normals, friction=friction, forces=np.full(3, PLANNED),
                   load=np.concatenate([pull, np.cross(middle, pull)]))


def carried_out(policy, hand=None, weight=0.5, carries=False, **wishes):
    made = replace(plan(Wishes(by_touch=True, missed_contact=policy, **wishes)),
                   keep=keep_plan(weight))
    execution, hand = GraspExecution(made, OPTIONS, carries), hand or SpringHand(absent=(GONE,))
    return execution, hand, run(execution, hand, 40.0)


def test_kept_without_a_finger_where_the_others_hold():
    execution, _, phases = carried_out(KEEP)
    assert execution.status == Status.SUCCEEDED, execution.message
    assert 'found nothing' in execution.message and 'the others hold' in execution.message
    assert phases[-3:] == ['LOADING', 'HOLDING', 'DONE']
    felt = execution.closed.forces
    assert all(felt[link] >= 0.9 * PLANNED for link in TIPS if link != GONE)


def test_not_kept_where_the_others_do_not_hold():
    execution, _, phases = carried_out(KEEP, weight=50.0)
    assert execution.status == Status.MISSED_CONTACT
    assert 'the others do not hold the load' in execution.message
    assert 'LOADING' not in phases and phases[-2:] == ['RELEASING', 'DONE']


def test_not_kept_where_a_pad_lies():
    """A finger pressed while another feels nothing is no contact that comes late."""
    hand = SpringHand()
    true = hand.measure

    def measure():
        measured = true()
        pushed = measured.forces[GONE]
        return replace(measured, forces={
            link: 0.0 if link == GONE else force + pushed
            for link, force in measured.forces.items()})
    hand.measure = measure
    execution, _, phases = carried_out(KEEP, hand)
    assert execution.status == Status.MISSED_CONTACT and 'silent pad' in execution.message
    assert 'HOLDING' not in phases


@pytest.mark.parametrize('policy', [RELEASE, REPLAN])
def test_released_and_drawn_back(policy):
    execution, hand, phases = carried_out(policy, carries=True)
    assert execution.status == Status.MISSED_CONTACT and 'drawn back' in execution.message
    assert phases[-3:] == ['RELEASING', 'RETREATING', 'DONE']
    assert isinstance(hand.sent[-1], MovePalm) and hand.sent[-1].back
    rows = [action for action in hand.sent if isinstance(action, SendRows)][-1]
    np.testing.assert_allclose(rows.rows[-1], execution.plan.rows[0])


@pytest.mark.parametrize('policy, leg, joints', [
    (RELEASE, 'back off', 'approach'), (REPLAN, 'back', 'start')])
def test_an_arm_goes_back_the_way_that_it_came(policy, leg, joints):
    arm = arm_plan(None)
    made = replace(plan(Wishes(by_touch=True, missed_contact=policy)), arm=arm)
    hand, execution = HandOnArm(arm, absent=(GONE,)), GraspExecution(made, OPTIONS, True)
    run(execution, hand, 40.0)
    assert execution.status == Status.MISSED_CONTACT and hand.legs[-1] == leg
    end = arm.start if joints == 'start' else arm.legs['start'].rows[-1]
    np.testing.assert_allclose(hand.arm, end)


def test_stopped_as_it_is():
    execution, hand, phases = carried_out(STOP)
    assert execution.status == Status.MISSED_CONTACT and isinstance(hand.sent[-1], StopHand)
    assert phases[-2:] == ['CLOSING', 'DONE']


def test_a_contact_that_came_early_is_told_of_a_failure_too():
    hand = SpringHand(absent=(GONE,))
    hand.away[TIPS[0]] = -0.1
    execution, _, _ = carried_out(RELEASE, hand)
    assert 'finger_1 touched 0.1' in execution.message and 'early' in execution.message


@pytest.mark.parametrize('wishes, text', [
    ({'missed_contact': 'hope', 'by_touch': True}, 'must be one of keep, replan, release, stop'),
    ({'missed_contact': KEEP}, 'needs by_touch')])
def test_what_cannot_be_wished(wishes, text):
    with pytest.raises(TaskError, match=text):
        Wishes(**wishes)


@pytest.mark.parametrize('weight, status', [(0.1, Status.SUCCEEDED), (1.0, Status.MISSED_CONTACT)])
def test_forces_that_stay_short_are_kept_where_they_hold(weight, status):
    """Two fingers press on something so soft that a quarter of their force is all they reach."""
    hand, soft = SpringHand(), {TIPS[0]: 1.0, TIPS[1]: 0.05, TIPS[2]: 0.05}
    true = hand.measure

    def measure():
        measured = true()
        return replace(measured, forces={link: soft[link] * force
                                         for link, force in measured.forces.items()})
    hand.measure = measure
    execution, _, _ = carried_out(KEEP, hand, weight)
    assert execution.status == status and 'were not reached' in execution.message
