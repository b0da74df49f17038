"""Contacts found, missed and lost with the real hand's driver, the emulated firmware behind it."""

import os
from uuid import uuid4

import numpy as np
import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

import rclpy  # noqa: E402
from builtin_interfaces.msg import Duration  # noqa: E402
from geometry_msgs.msg import Vector3  # noqa: E402
from gripsim_interfaces.action import ExecuteGrasp  # noqa: E402
from gripsim_interfaces.msg import ContactPatch, Grasp  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint  # noqa: E402
from unique_identifier_msgs.msg import UUID  # noqa: E402

from gripsim_ros.hardware.driver.emulator.commands import obey, set_block  # noqa: E402
from gripsim_ros.hardware.driver.emulator.firmware import Identity  # noqa: E402
from gripsim_ros.hardware.driver.emulator.server import EmulatedHand  # noqa: E402
from gripsim_ros.hardware.driver.link.protocol import AXIS_JOINTS  # noqa: E402
from gripsim_ros.ros.clients.suite import Suite  # noqa: E402
from gripsim_ros.ros.nodes.base.action_client import PromptActionClient  # noqa: E402

from sdh_cases import (  # noqa: E402
    ANGLES, CLOSED, LATE, LONG, NAMES, OPEN, TIMEOUT, angles_of, answer_of, rests, wait_for)

pytestmark = pytest.mark.slow
NODES = ['sdh_driver', 'grasp_executor']
START_TIMEOUT = 120.0
#: Delays that a busy machine may cause, of joints and of one answer [s].
PATIENCE, REPLY = 10.0, 5.0
#: Seconds of closing, in so many rows.
CLOSING, ROWS = 1.5, 7
#: What the thumb meets [deg]; its proximal pad shall press with this force [N].
BLOCK, FORCE = -15.0, 0.05
TOUCHED = 'sdh_thumb_2_link'
#: A joint that closes has come so far; the driver's own goal_tolerance [rad].
BEGUN, ATOL_THERE = 0.05, 0.02
Status = ExecuteGrasp.Result


def grasp(contacts=()):
    """Return a grasp that closes from one posture to another."""
    msg = Grasp(contacts=list(contacts), grip_joint_positions=CLOSED.tolist())
    msg.joint_trajectory = JointTrajectory(joint_names=list(NAMES))
    for share in np.linspace(0.0, 1.0, ROWS):
        time = CLOSING * share
        msg.joint_trajectory.points.append(JointTrajectoryPoint(
            positions=(OPEN + share * (CLOSED - OPEN)).tolist(),
            time_from_start=Duration(sec=int(time), nanosec=int(1e9 * (time % 1.0)))))
    return msg


class Client:
    """Sends goals to the executor."""

    def __init__(self):
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = rclpy.create_node('client', context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.action = PromptActionClient(self.node, ExecuteGrasp, 'execute_grasp')
        self.phases, self.joints = [], None
        assert self.until(self.action.server_is_ready)

    def until(self, condition, timeout=TIMEOUT):
        """Return whether a condition came true while listening."""
        def listen():
            self.executor.spin_once(timeout_sec=0.02)
            return condition()
        return wait_for(listen, timeout)

    def send(self, msg, **wishes):
        """Return the handle of an accepted goal."""
        self.phases.clear()
        goal, name = ExecuteGrasp.Goal(grasp=msg, **wishes), UUID(uuid=list(uuid4().bytes))

        def hear(message):
            self.phases.append(message.feedback.phase)
            self.joints = np.array(message.feedback.joint_positions)
        handle, asks = answer_of(
            lambda: self.action.send_goal_async(goal, hear, name), self.until)
        assert handle.accepted or asks > 1              # a name is accepted once
        return handle

    def result(self, handle):
        """Return the result of a goal."""
        return answer_of(handle.get_result_async, self.until, LONG)[0].result

    def close(self):
        self.executor.shutdown()
        self.action.destroy()
        self.node.destroy_node()
        self.context.try_shutdown()


@pytest.fixture(scope='module')
def running():
    """Yield an emulated hand and a client; driver and executor are between them."""
    with EmulatedHand(identity=Identity(angles=ANGLES)) as hand:
        suite = Suite(os.environ, parameters={
            'sdh_driver': {'address': hand.address, 'tactile_address': hand.tactile_address,
                           'reply_timeout': REPLY, 'late': LATE,
                           'pressure_per_count': 100.0, 'tactile_calibrated': True},
            'grasp_executor': {'hand_node': 'sdh_driver', 'simulated': False,
                               'lag_time': PATIENCE, 'joint_timeout': PATIENCE}})
        suite.start(NODES)
        client = None
        try:
            suite.wait_until_ready(NODES, START_TIMEOUT)
            client = Client()
            yield hand, client
        finally:
            if client is not None:
                client.close()
            suite.stop(NODES)


def test_a_contact_is_found_where_it_is_planned(running):
    hand, client = running
    obey(hand, 'free')
    with hand.firmware.lock:
        set_block(hand, AXIS_JOINTS.index('sdh_thumb_2_joint'), BLOCK)
    patch = ContactPatch(link=TOUCHED, force=Vector3(z=FORCE), normal=Vector3(z=1.0))
    result = client.result(client.send(grasp([patch])))
    assert result.status == Status.SUCCEEDED, result.message
    assert list(result.contact_links) == [TOUCHED]
    assert result.found_forces[0] > 0.0


def test_a_contact_that_is_not_there_is_missed(running):
    hand, client = running
    obey(hand, 'free')
    patch = ContactPatch(link=TOUCHED, force=Vector3(z=FORCE), normal=Vector3(z=1.0))
    result = client.result(client.send(grasp([patch])))
    assert result.status == Status.MISSED_CONTACT, result.message


def test_cancel_stops_the_real_hand_on_its_way(running):
    hand, client = running
    obey(hand, 'free')
    handle = client.send(grasp(), speed_scale=0.1)     # longer than to ask again takes
    assert client.until(lambda: ExecuteGrasp.Feedback.CLOSING in client.phases
                        and np.abs(client.joints - OPEN).max() > BEGUN, LONG)
    answer_of(handle.cancel_goal_async, client.until)
    assert client.result(handle).status == Status.CANCELED
    assert wait_for(lambda: rests(hand))
    closed = np.degrees([CLOSED[list(NAMES).index(name)] for name in AXIS_JOINTS])
    assert np.abs(angles_of(hand) - closed).max() > np.degrees(ATOL_THERE)


@pytest.mark.nightly     # by day test_hands, and test_sdh_driver over topics
def test_a_hand_that_is_lost_ends_the_execution(running):
    hand, client = running
    obey(hand, 'free')
    handle = client.send(grasp(), wait_for_go=True)
    assert client.until(lambda: ExecuteGrasp.Feedback.WAITING in client.phases)
    hand.faults.add('disconnect')
    try:
        assert client.result(handle).status == Status.HAND_LOST
    finally:
        hand.faults.clear()
