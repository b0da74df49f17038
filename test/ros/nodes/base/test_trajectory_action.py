"""FollowJointTrajectory of both hands with the real control_msgs, over processes."""

import os
import time
from types import SimpleNamespace
from uuid import uuid4

import numpy as np
import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

import rclpy  # noqa: E402
from action_msgs.msg import GoalStatus  # noqa: E402
from builtin_interfaces.msg import Duration  # noqa: E402
from lifecycle_msgs.msg import Transition  # noqa: E402
from lifecycle_msgs.srv import ChangeState  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint  # noqa: E402
from unique_identifier_msgs.msg import UUID  # noqa: E402

from gripsim_ros.hardware.driver.emulator.firmware import Identity  # noqa: E402
from gripsim_ros.hardware.driver.emulator.server import EmulatedHand  # noqa: E402
from gripsim_ros.hardware.driver.motion.motions import Motion, Outcome  # noqa: E402
from gripsim_ros.ros.clients.suite import Suite  # noqa: E402
from gripsim_ros.ros.nodes.base import trajectory_action  # noqa: E402
from gripsim_ros.ros.nodes.base.action_client import PromptActionClient  # noqa: E402
from gripsim_ros.ros.nodes.hand import driver_action  # noqa: E402

from goal_cases import GoalEnd  # noqa: E402
from sdh_cases import ANGLES, CLOSED, LATE, LONG, NAMES, OPEN, answer_of, wait_for  # noqa: E402

#: How each ends, and the driver's own tolerance at the end [rad].
ENDS = {GoalStatus.STATUS_SUCCEEDED: 'succeeded', GoalStatus.STATUS_CANCELED: 'canceled',
        GoalStatus.STATUS_ABORTED: 'aborted'}
TOLERANCE = 0.02
REASON = 'control_msgs comes with ros2_control, not from PyPI'
START_TIMEOUT = 180.0
#: For one answer of the emulated hand, on a busy machine [s].
REPLY = 5.0
#: Both hands come near the end of a trajectory within this [rad].
ATOL_THERE = 0.05


# -- without control_msgs: how the driver's motions end goals ---------------------------------

class Goal(GoalEnd):
    """A goal of an action as the driver sees it."""

    def __init__(self, cancelled=False, tolerance=(), patience=None, path=()):
        point = JointTrajectoryPoint(positions=CLOSED.tolist(), time_from_start=Duration(sec=1))
        listed = [[SimpleNamespace(name=name, position=value) for name, value in pairs]
                  for pairs in (path, tolerance)]
        self.request = SimpleNamespace(
            trajectory=JointTrajectory(joint_names=list(NAMES), points=[point]),
            multi_dof_trajectory=SimpleNamespace(points=[]), path_tolerance=listed[0],
            goal_tolerance=listed[1], goal_time_tolerance=patience or Duration())
        self.is_cancel_requested = cancelled


def carried_out(monkeypatch, motion, goal, cancel, sample=None):
    """Return the result of a goal that a motion carries out."""
    kinds = SimpleNamespace(Result=SimpleNamespace, Feedback=lambda: SimpleNamespace(
        desired=SimpleNamespace(), actual=SimpleNamespace(), error=SimpleNamespace()))
    monkeypatch.setattr(trajectory_action, 'FollowJointTrajectory', kinds)
    action = object.__new__(driver_action.TrajectoryAction)
    action._node = SimpleNamespace(
        follow=lambda trajectory: motion, cancel=cancel,
        sample=sample or SimpleNamespace(time=0.0, positions=OPEN),
        values={'goal_tolerance': TOLERANCE, 'follow_tolerance': 0.1, 'late': 2.0},
        hand=SimpleNamespace(joint_names=NAMES))
    return action.execute(goal)


@pytest.mark.parametrize('outcome, off, wishes, end, code', [
    (Outcome.REACHED, 0.01, {}, 'succeeded', 0), (Outcome.MISSED, 0.03, {}, 'aborted', -5),
    (Outcome.REACHED, 0.01, {'tolerance': [(NAMES[0], 0.005)]}, 'aborted', -5),
    (Outcome.MISSED, 0.03, {'tolerance': [(NAMES[0], 0.04)]}, 'succeeded', 0),
    (Outcome.REFUSED, 0.0, {}, 'aborted', -1),
    (Outcome.REFUSED, 0.0, {'outdated': True}, 'aborted', -3),
    (Outcome.FAILED, 0.0, {}, 'aborted', -4),
    (Outcome.FAILED, 0.0, {'started': 1.1}, 'aborted', -5),
    (Outcome.STOPPED, 0.0, {'cancelled': True}, 'canceled', -4)])
def test_a_goal_ends_as_its_motion_does(monkeypatch, outcome, off, wishes, end, code):
    wishes = dict(wishes)
    ago = wishes.pop('started', np.nan)                     # the goal lasts a second
    motion = Motion([], [], [], outdated=wishes.pop('outdated', False),
                    started=time.monotonic() - ago)
    errors = np.zeros(7)
    errors[0] = off
    goal = Goal(**wishes)
    if not goal.is_cancel_requested:
        motion.finish(outcome, 'said', errors)
    result = carried_out(monkeypatch, motion, goal,
                         lambda motion: motion.finish(outcome, 'said', errors))
    assert (goal.end, result.error_code) == (end, code)


@pytest.mark.parametrize('cancelled, least, end', [(False, 1.3, 'succeeded'),
                                                   (True, 0.0, 'canceled')])
def test_what_is_there_before_its_time_is_told_at_its_time(monkeypatch, cancelled, least, end):
    """The goal lasts a second, and is to begin a little later."""
    now, goal = time.monotonic(), Goal(cancelled)
    motion = Motion([], [], [], begin=now + 0.3, started=now)
    motion.finish(Outcome.REACHED, 'reached', np.zeros(7))
    carried_out(monkeypatch, motion, goal, lambda motion: None)
    assert goal.end == end and least <= time.monotonic() - now
    assert not cancelled or time.monotonic() < now + 1.0


@pytest.mark.parametrize('off, patience, tolerance, end, text', [
    (0.03, Duration(nanosec=500_000_000), (), 'aborted', '0.0300 rad 0.5 s after its time, '),
    (0.03, Duration(), (), 'aborted', '0.0300 rad 2 s after its time, '),
    (0.03, Duration(sec=-1), (), 'succeeded', ''),
    (0.01, Duration(nanosec=500_000_000), (), 'succeeded', ''),
    (0.03, Duration(nanosec=500_000_000), [(NAMES[0], 0.04)], 'succeeded', '')])
def test_a_hand_that_is_late_is_told_where_a_joint_is_not_at_its_goal(
        monkeypatch, off, patience, tolerance, end, text):
    """It still goes on 3 s after its time, and ends there once it was looked at."""
    motion, goal = Motion([], [], [], started=time.monotonic()), Goal(
        tolerance=tolerance, patience=patience, path=[(name, -1.0) for name in NAMES])
    goal.publish_feedback = lambda message: motion.finish(Outcome.REACHED, 'reached', np.zeros(7))
    sample = SimpleNamespace(time=motion.started + 4.0,
                             positions=CLOSED + off * (np.arange(7) == 0))
    motion.begin = motion.started - 1.0                     # it ends at once where it is there
    result = carried_out(monkeypatch, motion, goal, lambda motion: None, sample)
    assert goal.end == end and result.error_code == (-5 if text else 0)
    assert text in result.error_string and (NAMES[0] in result.error_string) == bool(text)


# -- with it ----------------------------------------------------------------------------------

class Client:
    """Sends real goals to both hands, and hears how they go."""

    def __init__(self, kinds, hand):
        self.context, self.hand, self.kinds = rclpy.Context(), hand, kinds
        rclpy.init(context=self.context)
        self.node = rclpy.create_node('client', context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.actions = {
            name: PromptActionClient(self.node, kinds.FollowJointTrajectory,
                                     f'{name}/follow_joint_trajectory') for name in HANDS}
        self.states = {name: self.node.create_client(ChangeState, f'{name}/change_state')
                       for name in HANDS}
        self.feedback = []
        assert self.until(lambda: all(a.server_is_ready() for a in self.actions.values()))

    def until(self, condition, timeout=START_TIMEOUT):
        """Return whether a condition came true while listening."""
        def listen():
            self.executor.spin_once(timeout_sec=0.02)
            return condition()
        return wait_for(listen, timeout)

    def send(self, name, target, seconds, path=(), **wishes):
        """Return the handle of a goal of one point, and whether it was accepted."""
        self.feedback.clear()
        goal = self.kinds.FollowJointTrajectory.Goal(**wishes)
        goal.trajectory = JointTrajectory(joint_names=list(NAMES), points=[JointTrajectoryPoint(
            positions=np.asarray(target, float).tolist(), time_from_start=Duration(sec=seconds))])
        goal.path_tolerance = [self.kinds.JointTolerance(name=joint, position=value)
                               for joint, value in path]
        label = UUID(uuid=list(uuid4().bytes))
        handle, asks = answer_of(lambda: self.actions[name].send_goal_async(
            goal, lambda message: self.feedback.append(message.feedback), label), self.until)
        return handle, handle.accepted or asks > 1

    def ended(self, handle):
        """Return how a goal ended, and its result."""
        answer, _ = answer_of(handle.get_result_async, self.until, LONG)
        return ENDS[answer.status], answer.result

    def carry_out(self, *arguments, **wishes):
        """Send a goal and return how it ended, and its result."""
        handle, accepted = self.send(*arguments, **wishes)
        assert accepted
        return self.ended(handle)

    def change(self, name, transition):
        """Activate or deactivate a node."""
        request = ChangeState.Request(transition=Transition(id=transition))
        return answer_of(lambda: self.states[name].call_async(request), self.until)[0].success

    def close(self):
        self.executor.shutdown()
        for action in self.actions.values():
            action.destroy()
        self.node.destroy_node()
        self.context.try_shutdown()


HANDS = ['sdh_driver', 'sdh_simulator']


@pytest.fixture(scope='module')
def client():
    """Yield a client of both hands; skip without control_msgs."""
    messages = pytest.importorskip('control_msgs.msg', reason=REASON)
    pytest.importorskip('mujoco', reason='the simulator is the extra `sim`')
    from control_msgs.action import FollowJointTrajectory
    kinds = SimpleNamespace(FollowJointTrajectory=FollowJointTrajectory,
                            JointTolerance=messages.JointTolerance)
    with EmulatedHand(identity=Identity(angles=ANGLES)) as hand:
        suite = Suite(os.environ, parameters={'sdh_driver': {
            'address': hand.address, 'tactile_address': hand.tactile_address,
            'reply_timeout': REPLY, 'late': LATE}})
        suite.start(HANDS)
        found = None
        try:
            suite.wait_until_ready(HANDS, START_TIMEOUT)
            found = Client(kinds, hand)
            yield found
        finally:
            if found is not None:
                found.close()
            suite.stop(HANDS)


each_hand = pytest.mark.parametrize('name', HANDS)
slow = pytest.mark.slow


@slow
@each_hand
def test_a_goal_is_reached_and_told_on_the_way(client, name):
    end, result = client.carry_out(name, OPEN, 1)
    assert (end, result.error_code) == ('succeeded', result.SUCCESSFUL), result.error_string
    end, result = client.carry_out(name, CLOSED, 2)
    assert end == 'succeeded', result.error_string
    last = client.feedback[-1]
    assert tuple(last.joint_names) == NAMES and len(client.feedback) > 3
    np.testing.assert_allclose(last.error.positions, np.subtract(
        last.desired.positions, last.actual.positions), atol=1e-12)
    np.testing.assert_allclose(last.actual.positions, CLOSED, atol=ATOL_THERE)


@slow
@each_hand
def test_a_goal_that_is_cancelled_stops_the_hand(client, name):
    assert client.carry_out(name, OPEN, 1)[0] == 'succeeded'
    handle, accepted = client.send(name, CLOSED, 20)
    assert accepted and client.until(lambda: client.feedback)
    answer_of(handle.cancel_goal_async, client.until)
    assert client.ended(handle)[0] == 'canceled'
    off = np.abs(np.subtract(client.feedback[-1].actual.positions, CLOSED)).max()
    assert off > ATOL_THERE                                 # it did not go on to the end


@slow
@each_hand
def test_a_joint_that_leaves_its_path_ends_the_goal(client, name):
    """Nothing follows to a ten-millionth: what is violated first is told, and the hand stops."""
    assert client.carry_out(name, OPEN, 1)[0] == 'succeeded'
    end, result = client.carry_out(name, CLOSED, 2, [(NAMES[1], 1e-7)])
    assert (end, result.error_code) == ('aborted', result.PATH_TOLERANCE_VIOLATED)
    assert NAMES[1] in result.error_string


@slow
@each_hand
def test_what_cannot_be_followed_is_told_by_its_code(client, name):
    end, result = client.carry_out(name, np.full(7, 9.0), 20)
    assert (end, result.error_code) == ('aborted', result.INVALID_GOAL)
    assert 'must stay within' in result.error_string
    end, result = client.carry_out(name, CLOSED, 2, [('nobody', 0.1)])
    assert (end, result.error_code) == ('aborted', result.INVALID_JOINTS)


@slow
@each_hand
def test_a_node_that_is_not_active_rejects_goals(client, name):
    assert client.change(name, Transition.TRANSITION_DEACTIVATE)
    assert not client.send(name, OPEN, 1)[1]
    assert client.change(name, Transition.TRANSITION_ACTIVATE)
    assert client.carry_out(name, OPEN, 1)[0] == 'succeeded'
