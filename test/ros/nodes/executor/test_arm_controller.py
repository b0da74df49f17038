"""The arm's action, with a controller that is not there, or is one of the tests' own."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

import rclpy  # noqa: E402
from action_msgs.msg import GoalStatus  # noqa: E402
from controller_cases import Controller  # noqa: E402
from execution_cases import ARM_JOINTS, arm_plan  # noqa: E402
from rclpy.action import ActionServer, CancelResponse, GoalResponse  # noqa: E402
from rclpy.callback_groups import ReentrantCallbackGroup  # noqa: E402
from rclpy.executors import MultiThreadedExecutor  # noqa: E402
from sdh_cases import wait_for  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from gripsim_ros.core.errors import TaskError  # noqa: E402
from gripsim_ros.hardware.execution.actions import MoveArm  # noqa: E402
from gripsim_ros.ros.nodes.base import trajectory_action  # noqa: E402
from gripsim_ros.ros.nodes.base.live_joints import JointsError  # noqa: E402
from gripsim_ros.ros.nodes.base.parameters import ParameterError  # noqa: E402
from gripsim_ros.ros.nodes.executor import arm_controller  # noqa: E402
from gripsim_ros.ros.nodes.executor.arm_controller import ArmController  # noqa: E402

NAME = 'arm_controller/follow_joint_trajectory'
ARM = arm_plan(None)
#: Silence that no test waits for [s].
LONG = 60.0


@pytest.fixture
def made(monkeypatch):
    """Return a function that makes an arm with a controller, heard where its way begins."""
    monkeypatch.setattr(trajectory_action, 'FollowJointTrajectory', SimpleNamespace(
        Goal=lambda trajectory: SimpleNamespace(trajectory=trajectory)))
    for wait in ('FIND_TIMEOUT', 'HEAR_TIMEOUT', 'CANCEL_TIMEOUT'):
        monkeypatch.setattr(arm_controller, wait, 0.0)
    controller = Controller()
    monkeypatch.setattr(arm_controller, 'PromptActionClient', lambda *_, **__: controller)
    node = SimpleNamespace(values={'joint_timeout': LONG},
                           create_subscription=lambda *_, **__: None)
    arm = ArmController(node, NAME, None)
    arm._on_joints(JointState(name=list(ARM_JOINTS), position=ARM.start.tolist()))
    return SimpleNamespace(arm=arm, controller=controller, node=node)


@pytest.fixture
def sent(made):
    """Return the arm with a leg on its way, not yet answered."""
    made.arm.prepare(ARM)
    assert made.arm.rests()
    made.arm.send(MoveArm(ARM.legs['start'], 12.5))
    assert not made.arm.rests()
    return made


def test_without_control_msgs_the_parameter_is_refused(made, monkeypatch):
    monkeypatch.setattr(trajectory_action, 'FollowJointTrajectory', None)
    with pytest.raises(ParameterError, match='arm_action needs control_msgs'):
        ArmController(made.node, NAME, None)


def test_a_controller_that_is_absent_is_told_before_anything_moves(made):
    made.controller.ready = False
    with pytest.raises(TaskError, match=f'action {NAME} is not there'):
        made.arm.prepare(ARM)


def test_an_arm_that_is_not_heard_is_told_by_its_joints(made):
    made.arm._heard.clear()
    made.arm._on_joints(JointState(name=[ARM_JOINTS[0]], position=[0.1]))
    with pytest.raises(TaskError, match=f'nothing in 60 s of {ARM_JOINTS[1]}$'):
        made.arm.prepare(ARM)


def test_an_arm_that_is_elsewhere_is_not_sent(made):
    made.arm._on_joints(JointState(name=[ARM_JOINTS[1]], position=[1.0]))
    with pytest.raises(TaskError, match='elbow is at 1.000 rad'):
        made.arm.prepare(ARM)
    assert not made.controller.goals


def test_a_leg_is_a_goal_with_its_stamp_and_rests_when_it_has_succeeded(sent):
    trajectory, leg = sent.controller.goals[0].trajectory, ARM.legs['start']
    assert (trajectory.header.stamp.sec, trajectory.header.stamp.nanosec) == (12, 500_000_000)
    assert tuple(trajectory.joint_names) == ARM_JOINTS
    np.testing.assert_allclose([p.positions for p in trajectory.points], leg.rows)
    sent.controller.accept()
    assert not sent.arm.rests()
    sent.controller.end()
    assert sent.arm.rests()


@pytest.mark.parametrize('end, words', [
    (lambda c: c.accept(accepted=False), 'rejected the goal'),
    (lambda c: (c.accept(), c.end(GoalStatus.STATUS_ABORTED, -4, 'path tolerance')),
     'aborted: code -4, path tolerance'),
    (lambda c: (c.accept(), c.end(GoalStatus.STATUS_ABORTED, -5)), 'aborted: code -5$'),
    (lambda c: (c.accept(), c.end(GoalStatus.STATUS_SUCCEEDED, -5)), 'aborted: code -5$'),
    (lambda c: (c.accept(), c.end(GoalStatus.STATUS_CANCELED)), 'was cancelled by another client'),
    (lambda c: setattr(c, 'ready', False), 'went away')])
def test_a_controller_that_does_not_carry_a_leg_out_is_told(sent, end, words):
    end(sent.controller)
    with pytest.raises(JointsError, match=f'action {NAME} {words}'):
        sent.arm.rests()


def test_an_answer_that_is_lost_is_asked_for_again_under_the_same_id(sent, monkeypatch):
    monkeypatch.setattr(arm_controller, 'ASK_AGAIN', 0.0)
    assert not sent.arm.rests() and len(sent.controller.goals) == 2
    assert len(set(sent.controller.ids)) == 1
    sent.controller.accept(accepted=False)      # it is known already: the first was heard
    sent.controller.end()
    assert sent.arm.rests()


def test_a_controller_that_never_answers_is_told(sent, monkeypatch):
    monkeypatch.setattr(arm_controller, 'ASK_AGAIN', 0.0)
    with pytest.raises(JointsError, match='did not answer a goal'):
        for _ in range(arm_controller.MOST_ASKS):
            sent.arm.rests()


@pytest.mark.parametrize('answered_first', [True, False])
def test_a_cancel_reaches_a_goal_whenever_it_is_accepted(sent, answered_first):
    if answered_first:
        sent.controller.accept()
    sent.arm.cancel()
    if not answered_first:
        assert sent.controller.cancelled == 0
        sent.controller.accept()
    assert sent.controller.cancelled == 1
    with pytest.raises(JointsError, match='did not answer the cancel: the arm may be moving'):
        sent.arm.wait_for_cancel()
    sent.controller.end(GoalStatus.STATUS_CANCELED)
    sent.arm.wait_for_cancel()


def test_an_arm_at_rest_has_nothing_to_cancel(made):
    made.arm.prepare(ARM)
    made.arm.cancel()
    made.arm.wait_for_cancel()
    made.arm.end()
    assert made.arm.rests()


# -- with control_msgs -------------------------------------------------------------------

class Served:
    """A controller of real messages: it follows, rejects, aborts, or waits for the cancel."""

    def __init__(self, kind):
        self.kind, self.mode, self.requests = kind, 'follow', []
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = rclpy.create_node('arm_controller', context=self.context)
        self.node.values = {'joint_timeout': LONG}
        group = ReentrantCallbackGroup()
        self.server = ActionServer(
            self.node, kind, NAME, self.execute, callback_group=group,
            goal_callback=lambda _: GoalResponse.REJECT if self.mode == 'reject'
            else GoalResponse.ACCEPT, cancel_callback=lambda _: CancelResponse.ACCEPT)
        self.arm = ArmController(self.node, NAME, group)
        self.arm._on_joints(JointState(name=list(ARM_JOINTS), position=ARM.start.tolist()))
        self.spinner = MultiThreadedExecutor(4, context=self.context)
        self.spinner.add_node(self.node)
        self.thread = threading.Thread(target=self.spinner.spin, daemon=True)
        self.thread.start()

    def execute(self, handle):
        self.requests.append(handle.request)
        result = self.kind.Result()
        if self.mode == 'wait':
            wait_for(lambda: handle.is_cancel_requested, LONG)
            handle.canceled()
        elif self.mode == 'abort':
            result.error_code, result.error_string = -4, 'off'
            handle.abort()
        else:
            handle.succeed()
        return result

    def close(self):
        self.spinner.shutdown()
        self.thread.join(LONG)
        self.server.destroy()
        self.node.destroy_node()
        self.context.try_shutdown()


@pytest.fixture(scope='module')
def served():
    actions = pytest.importorskip('control_msgs.action', reason='control_msgs comes with '
                                  'ros2_control, not from PyPI')
    running = Served(actions.FollowJointTrajectory)
    yield running
    running.close()


def test_a_controller_of_real_messages_follows_a_leg(served):
    served.mode = 'follow'
    served.arm.prepare(ARM)
    served.arm.send(MoveArm(ARM.legs['start'], 12.5))
    assert wait_for(served.arm.rests, LONG)
    sent = served.requests[-1].trajectory
    assert sent.header.stamp.sec == 12 and len(sent.points) == len(ARM.legs['start'].rows)


@pytest.mark.parametrize('mode, words', [
    ('reject', 'rejected the goal'), ('abort', 'aborted: code -4, off')])
def test_a_controller_of_real_messages_says_why_it_does_not(served, mode, words):
    served.mode = mode
    served.arm.prepare(ARM)
    served.arm.send(MoveArm(ARM.legs['start'], 12.5))
    with pytest.raises(JointsError, match=words):
        wait_for(served.arm.rests, LONG)


def test_a_cancel_reaches_a_controller_of_real_messages(served):
    served.mode = 'wait'
    served.arm.prepare(ARM)
    served.arm.send(MoveArm(ARM.legs['start'], 12.5))
    assert not served.arm.rests()
    served.arm.cancel()
    assert wait_for(served.arm._goal.ended.is_set, LONG)
    served.arm.wait_for_cancel()
