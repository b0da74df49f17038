"""Forces by motors: the law of virtual work, dead and stuck pads on what is nailed down."""

from dataclasses import replace

from execution_cases import (
    CLOSED_ANGLE, FINGERS, HAND, OPTIONS, plan, PLANNED, run, SpringHand, TIPS, torques_of)
from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from gripsim_ros.core.hand import forward_kinematics
from gripsim_ros.core.transforms import apply
from gripsim_ros.hardware.execution.actions import Phase, Status
from gripsim_ros.hardware.execution.feeling.motors import planned_torques
from gripsim_ros.hardware.execution.machine import GraspExecution
from gripsim_ros.hardware.execution.plan import Wishes

BY_TOUCH = Wishes(by_touch=True)
BAD = TIPS[0]
#: Torque that free motion takes [N m], about half a planned force's.
DRAG = 0.04
#: A force limit may be passed by this, at most [-].
PASSED = 1.2


class MotorHand(SpringHand):
    """
    Springs [N/rad] that are nailed down; motors tell their torque, and what motion takes.

    ``pads(link, force)`` is what a pad tells of a true force; ``tells`` False: no torque is told.
    """

    def __init__(self, spring=40.0, tells=True, **more):
        super().__init__(**more)
        self.spring, self.tells, self.pads = spring, tells, lambda link, force: force
        self.true, self.peak, self._before = {}, 0.0, None

    def measure(self):
        measured = super().measure()
        self.true = {link: self.spring * max(0.0, measured.joints[joint] - CLOSED_ANGLE)
                     for link, joint in FINGERS.items()}
        self.peak = max(self.peak, *self.true.values())
        before = measured.joints if self._before is None else self._before
        self._before = measured.joints
        torques = torques_of(self.true) + DRAG * (measured.joints - before > 1e-6)
        return replace(measured, torques=torques if self.tells else None, forces={
            link: self.pads(link, self.true[link]) for link in measured.forces})


def execution_of():
    made = replace(plan(BY_TOUCH), torques=torques_of(dict.fromkeys(TIPS, PLANNED)))
    return GraspExecution(made, OPTIONS, False)


def dead(link, force):
    return 0.0 if link == BAD else force


@settings(max_examples=10, deadline=None)
@given(st.floats(-0.3, 0.5), st.floats(-0.5, 0.5), st.floats(-0.5, 0.5))
def test_planned_torques_do_the_work_of_the_forces(angle, along, across):
    """Virtual work: torque times turn is force times way of the point, for every joint."""
    joints = np.array([0.1, angle, 0.2, angle, 0.3, angle, 0.1])
    link = next(link for link in HAND.links if link.name == BAD)
    index, force, turn = HAND.link_names.index(BAD), np.array([along, across, 1.0]), 1e-6

    def point(moved):
        return apply(forward_kinematics(HAND, moved[None])[0][index], link.pad_point[None])[0]
    torques = planned_torques(HAND, joints, np.eye(4), [(BAD, point(joints), force)])
    work = [force @ (point(joints + turn * one) - point(joints - turn * one)) / (2.0 * turn)
            for one in np.eye(7)]
    np.testing.assert_allclose(torques, work, atol=1e-8)


@settings(max_examples=15, deadline=None)
@given(st.floats(np.log(15.0), np.log(60.0)))
def test_a_pad_dead_on_what_is_nailed_down_is_replaced_by_motors(log):
    hand, execution = MotorHand(float(np.exp(log))), execution_of()
    hand.pads = dead
    run(execution, hand)
    assert hand.peak <= PASSED * OPTIONS.force_room * PLANNED
    assert execution.status == Status.SUCCEEDED, execution.message
    assert "its motors' torque counts" in execution.message
    assert np.minimum(list(hand.true.values()), PLANNED).sum() >= 0.9 * 3 * PLANNED


def test_without_torques_a_dead_pad_on_what_is_nailed_down_crushes():
    """The law above can fail: this is what motors are for."""
    hand, execution = MotorHand(tells=False), execution_of()
    hand.pads = dead
    run(execution, hand)
    assert execution.status == Status.MISSED_CONTACT
    assert hand.peak > PASSED * OPTIONS.force_room * PLANNED


@pytest.mark.parametrize('most', [0.3, 0.6])
def test_a_saturated_pad_is_replaced_by_motors(most):
    hand, execution = MotorHand(), execution_of()
    hand.pads = lambda link, force: min(most, force) if link == BAD else force
    run(execution, hand)
    assert execution.status == Status.SUCCEEDED, execution.message
    assert 'stuck or saturated' in execution.message or 'too little' in execution.message
    assert 0.8 * PLANNED <= hand.true[BAD] and hand.peak <= OPTIONS.force_room * PLANNED


class LeavingHand(MotorHand):
    """An object that slips out as it is loaded; stiff fingers ``meet`` so far on [rad]."""

    def __init__(self, meet):
        super().__init__()
        self.meet, self.left = meet, False

    def measure(self):
        measured = super().measure()
        self.left |= max(self.true.values()) > 0.3 * PLANNED
        if not self.left:
            return measured
        met = {link: 400.0 * max(0.0, measured.joints[joint] - CLOSED_ANGLE - self.meet)
               for link, joint in FINGERS.items()}
        return replace(measured, torques=torques_of(met), forces=dict.fromkeys(TIPS, 0.0))


@pytest.mark.parametrize('meet', [0.012, 0.05])
def test_fingers_that_meet_where_an_object_slipped_out_do_not_hold_it(meet):
    hand, execution = LeavingHand(meet), execution_of()
    phases = run(execution, hand)
    assert execution.status == Status.MISSED_CONTACT and 'HOLDING' not in phases
    assert 'slipped out' in execution.message and 'motors' not in execution.message
    assert execution.closing_time < 4.0


def test_a_hand_without_pads_closes_by_its_motors():
    hand, execution = MotorHand(dumb=TIPS), execution_of()
    run(execution, hand)
    assert execution.status == Status.SUCCEEDED, execution.message
    assert all(0.8 * PLANNED <= force <= OPTIONS.force_room * PLANNED
               for force in hand.true.values())


def test_pads_that_tell_the_truth_are_believed():
    hand, execution = MotorHand(), execution_of()
    run(execution, hand)
    assert execution.status == Status.SUCCEEDED and execution.message == ''


def test_a_pad_that_tells_too_much_is_told():
    hand, execution = MotorHand(), execution_of()
    hand.pads = lambda link, force: 4.0 * force if link == BAD else force
    run(execution, hand)
    assert 'its pad tells' in execution.message and 'its motors' in execution.message


def test_what_hangs_on_the_hand_makes_no_pad_doubted_while_it_holds():
    hand, execution = MotorHand(), execution_of()
    run(execution, hand, until=lambda: execution.phase == Phase.HOLDING)
    hand.spring *= 3.0
    hand.pads = lambda link, force: force / 3.0
    run(execution, hand)
    assert execution.status == Status.SUCCEEDED and execution.message == ''
