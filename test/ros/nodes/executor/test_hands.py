"""A real hand of an executor, with an arm's action and without."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from action_msgs.msg import GoalStatus  # noqa: E402
from controller_cases import Controller  # noqa: E402
from execution_cases import ARM_JOINTS, arm_plan, HAND, HandOnArm, OPTIONS, plan  # noqa: E402
from gripsim_interfaces.action import ExecuteGrasp  # noqa: E402
from gripsim_interfaces.msg import Grasp  # noqa: E402

from gripsim_ros.core.errors import TaskError  # noqa: E402
from gripsim_ros.hardware.execution.actions import (  # noqa: E402
    MoveArm, Phase, SendRows, Status, StopHand)
from gripsim_ros.hardware.execution.machine import GraspExecution  # noqa: E402
from gripsim_ros.hardware.execution.measurement import Measurement  # noqa: E402
from gripsim_ros.hardware.execution.plan import Wishes  # noqa: E402
from gripsim_ros.ros.nodes.base import trajectory_action  # noqa: E402
from gripsim_ros.ros.nodes.base.live_joints import JointsError  # noqa: E402
from gripsim_ros.ros.nodes.executor import arm_controller  # noqa: E402
from gripsim_ros.ros.nodes.executor.arm_controller import ArmController  # noqa: E402
from gripsim_ros.ros.nodes.executor.hands import RealHand  # noqa: E402


def hand(arm=None):
    """Return a hand that is heard; the services that it calls are noted with the arm's."""
    made = RealHand.__new__(RealHand)
    made._arm, made.asked = arm, [] if arm is None else arm.asked
    made.senses = SimpleNamespace(next=lambda: Measurement(1.0, None))
    made.call = made.asked.append
    return made


def arm(rests=True):
    """Return an arm that notes what it is asked."""
    asked = []
    return SimpleNamespace(
        asked=asked, rests=lambda: rests, send=lambda action: asked.append(action.leg.name),
        cancel=lambda: asked.append('cancel'), wait_for_cancel=lambda: asked.append('wait'))


def goal(**wishes):
    """Return a goal whose object the arm helps to move."""
    made = ExecuteGrasp.Goal(**wishes)
    made.grasp.reach, made.grasp.reach_message = Grasp.REACH_WITH_ARM, 'the arm helps'
    return made


@pytest.mark.parametrize('wishes, words', [
    ({'carry': True}, 'arm_action is told, as in this grasp: the arm helps'),
    ({'lift_height': 0.1}, 'arm_action is told: the arm lifts')])
def test_a_real_hand_needs_an_arm_where_the_palm_moves(wishes, words):
    with pytest.raises(TaskError, match=f'simulated hand only.*{words}'):
        hand().begin(goal(**wishes), lambda: False, lambda: None)
    hand(arm()).begin(goal(**wishes), lambda: False, lambda: None)


@pytest.mark.parametrize('rests', [False, True])
def test_the_arm_tells_whether_the_palm_rests(rests):
    assert hand(arm(rests)).next(lambda: False).palm_rests is rests
    assert hand().next(lambda: False).palm_rests is None


def test_a_stop_ends_both_and_waits_for_the_arm_last():
    """Neither waits for the other before it is told."""
    made = hand(arm())
    made.act(MoveArm(arm_plan(None).legs['start'], 0.0))
    made.act(StopHand())
    assert made.asked == ['start', 'cancel', 'stop', 'wait']


# -- a whole operation with an arm's action ------------------------------------------------

#: Time between two measurements [s], and how many an operation takes at most.
PERIOD, MOST = 0.01, 6000
MOVING = [phase for phase in Phase
          if phase not in (Phase.WAITING, Phase.LOADING, Phase.DONE)]     # none is by touch


class Operation:
    """An execution with a real hand and an arm's action, over a hand and an arm of springs."""

    def __init__(self, monkeypatch):
        monkeypatch.setattr(trajectory_action, 'FollowJointTrajectory', SimpleNamespace(
            Goal=lambda trajectory: SimpleNamespace(trajectory=trajectory)))
        monkeypatch.setattr(arm_controller, 'CANCEL_TIMEOUT', 0.0)
        self.controller = Controller()
        monkeypatch.setattr(arm_controller, 'PromptActionClient',
                            lambda *_, **__: self.controller)
        planned = plan(Wishes(carry=True, release=True), with_arm=True)
        self.body = HandOnArm(planned.arm, real=True)
        self.real, self.stops, self.silent = hand(), [], False
        self.real.node = SimpleNamespace(hand=HAND, values={'joint_timeout': 60.0},
                                         create_subscription=lambda *_, **__: None)
        self.real._arm = ArmController(self.real.node, 'arm', None)
        self.real._arm._on_joints(ArmState(ARM_JOINTS, planned.arm.start.tolist()))
        self.real.prepare_arm(planned.arm)
        self.real._trajectory = SimpleNamespace(publish=lambda msg: None)
        self.real.senses = SimpleNamespace(next=self._measure)
        self.real.call = self.stops.append
        self.execution = GraspExecution(planned, OPTIONS, carries=False)
        self.phases = []

    def _measure(self):
        if self.silent:
            raise JointsError('joint_states fell silent')
        self.body.time += PERIOD
        measured = self.body.measure()
        controller = self.controller
        if measured.palm_rests and controller.results and not controller.results[-1].done():
            controller.end()
        return replace(measured, palm_rests=None)

    def act(self, actions):
        """Do what is asked for, as the executor does, and let hand and arm obey."""
        for action in actions:
            before = len(self.controller.goals)
            self.real.act(action)
            if len(self.controller.goals) > before:
                self.controller.accept()
            self.body.obey([action])

    def run(self, until=None):
        """Run to the end, or to the middle of a phase."""
        for _ in range(MOST):
            try:
                measured = self.real.next(lambda: False)
            except JointsError as error:
                self.act(self.execution.lose(str(error)))
                return
            self.act(self.execution.update(measured))
            if self.execution.phase.name not in self.phases:
                self.phases.append(self.execution.phase.name)
            if self.execution.done or self.execution.phase == until:
                return


class ArmState:
    """Joint states as they come from an arm."""

    def __init__(self, name, position):
        self.name, self.position = name, position


@pytest.fixture
def operation(monkeypatch):
    return Operation(monkeypatch)


def cancelling(operation):
    """Let a cancelled goal end as a controller does; only a goal that moves can be cancelled."""
    def cancel():
        operation.controller.cancelled += 1
        operation.controller.results[-1].set_result(SimpleNamespace(
            status=GoalStatus.STATUS_CANCELED, result=SimpleNamespace(
                error_code=0, error_string='')))
    operation.controller.cancel = cancel


def test_all_phases_come_in_order_and_each_leg_is_a_goal(operation):
    operation.run()
    assert operation.execution.status == Status.SUCCEEDED, operation.execution.message
    assert operation.phases == ['PRESHAPE', 'REACHING', 'APPROACHING', 'CLOSING', 'HOLDING',
                                'LIFTING', 'CARRYING', 'SETTING_DOWN', 'RELEASING', 'RETREATING',
                                'DONE']
    assert len(operation.controller.goals) == 6 and not operation.stops


@pytest.mark.parametrize('phase', MOVING)
def test_a_cancel_stops_hand_and_arm_in_each_phase(operation, phase):
    cancelling(operation)
    operation.run(until=phase)
    moves = not operation.controller.results or operation.controller.results[-1].done()
    goals = len(operation.controller.goals)
    operation.act(operation.execution.cancel())
    assert operation.execution.status == Status.CANCELED and operation.stops == ['stop']
    assert operation.controller.cancelled == (not moves)
    assert len(operation.controller.goals) == goals and operation.execution.done


@pytest.mark.parametrize('phase', [Phase.REACHING, Phase.LIFTING, Phase.CARRYING])
def test_the_arm_stops_where_the_hand_falls_silent(operation, phase):
    cancelling(operation)
    operation.run(until=phase)
    operation.silent = True
    operation.run()
    assert operation.execution.status == Status.HAND_LOST
    assert operation.controller.cancelled == 1 and operation.stops == ['stop']


@pytest.mark.parametrize('phase', [Phase.REACHING, Phase.LIFTING, Phase.CARRYING])
def test_the_hand_stops_where_the_arm_fails(operation, phase):
    operation.run(until=phase)
    operation.controller.end(GoalStatus.STATUS_ABORTED, -4, 'protective stop')
    operation.run()
    assert operation.execution.status == Status.HAND_LOST
    assert 'protective stop' in operation.execution.message and operation.stops == ['stop']


def test_what_failed_is_still_told_when_the_hand_opens_after_it(operation):
    """The goal that the failure cancelled is no news of the arm."""
    cancelling(operation)
    operation.run(until=Phase.LIFTING)
    operation.body.jammed = True
    operation.run()
    assert operation.execution.status == Status.TIMED_OUT
    assert 'did not rise' in operation.execution.message
    opened = [action for action in operation.body.sent if isinstance(action, SendRows)][-1]
    np.testing.assert_array_equal(opened.rows[-1], operation.execution.plan.rows[0])
    assert operation.phases[-2:] == ['RELEASING', 'DONE']
