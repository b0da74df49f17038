"""The executor with the driver of the real hand, and emulated firmware behind it."""

import os
import uuid

import numpy as np
import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from gripsim_interfaces.action import ExecuteGrasp  # noqa: E402
from gripsim_interfaces.msg import ContactPatch, Grasp  # noqa: E402
from sdh_cases import (  # noqa: E402
    ANGLES, answer_of, LATE, LONG, NAMES, wait_for)
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint  # noqa: E402
from unique_identifier_msgs.msg import UUID  # noqa: E402

from gripsim_ros.hardware.driver.emulator.firmware import Identity  # noqa: E402
from gripsim_ros.hardware.driver.emulator.server import EmulatedHand  # noqa: E402
from gripsim_ros.library.resources import load_default_hand  # noqa: E402
from gripsim_ros.ros.clients.plan import PlanGraspClient  # noqa: E402
from gripsim_ros.ros.clients.suite import HAND_NODES, Suite  # noqa: E402
from gripsim_ros.ros.nodes.base.action_client import PromptActionClient  # noqa: E402

# By day test_lost_contacts drives such a hand; test_machine closes by angle.
pytestmark = [pytest.mark.nightly, pytest.mark.slow]
START_TIMEOUT = 120.0
#: Silence that a busy machine may cause, of joints and of one answer [s].
PATIENCE, REPLY = 10.0, 5.0
OPEN = next(p for p in load_default_hand().preshapes if p.name == 'cylindrical').open
CLOSED = OPEN + np.array([0.0, 0.3, 0.1, 0.3, 0.1, 0.3, 0.1])
#: The driver's own goal_tolerance [rad].
ATOL_THERE = 0.02


def grasp():
    """Return a grasp that closes in two seconds."""
    points = []
    for share in np.linspace(0.0, 1.0, 5):
        point = JointTrajectoryPoint(positions=(OPEN + share * (CLOSED - OPEN)).tolist())
        point.time_from_start.sec = int(2.0 * share)
        point.time_from_start.nanosec = int(1e9 * (2.0 * share % 1.0))
        points.append(point)
    contact = ContactPatch(link='sdh_thumb_3_link')
    contact.normal.x = contact.force.x = 1.0
    return Grasp(joint_trajectory=JointTrajectory(joint_names=list(NAMES), points=points),
                 grip_joint_positions=CLOSED.tolist(), contacts=[contact])


@pytest.fixture(scope='module')
def real():
    """Yield an emulated hand and a client of its executor."""
    names = HAND_NODES['real']
    with EmulatedHand(identity=Identity(angles=ANGLES)) as hand:
        suite = Suite(os.environ, hardware='real', parameters={
            'sdh_driver': {'address': hand.address, 'tactile_address': hand.tactile_address,
                           'reply_timeout': REPLY, 'late': LATE},
            'grasp_executor': {'joint_timeout': PATIENCE, 'lag_time': PATIENCE}})
        try:
            suite.start(names)
            suite.wait_until_ready(names, START_TIMEOUT)
            with PlanGraspClient() as client:
                action = PromptActionClient(client.node, ExecuteGrasp, 'execute_grasp')
                assert action.wait_for_server(START_TIMEOUT)
                yield hand, action
                action.destroy()
        finally:
            suite.stop(names)


def send(action, **wishes):
    goal, name = ExecuteGrasp.Goal(grasp=grasp(), **wishes), UUID(uuid=list(uuid.uuid4().bytes))
    handle, asks = answer_of(lambda: action.send_goal_async(goal, None, name), wait_for)
    assert handle.accepted or asks > 1
    return handle


def result_of(handle):
    return answer_of(handle.get_result_async, wait_for, LONG)[0].result


def test_a_hand_without_calibrated_pads_closes_by_angle_and_says_so(real):
    _, action = real
    result = result_of(send(action))
    assert result.status == ExecuteGrasp.Result.SUCCEEDED, result.message
    assert result.contact_links == ['sdh_thumb_3_link'] and np.isnan(result.found_forces[0])
    np.testing.assert_allclose(result.joint_errors, 0.0, rtol=0, atol=ATOL_THERE)


def test_the_real_hand_lifts_nothing_by_itself(real):
    result = result_of(send(real[1], lift_height=0.1))
    assert result.status == ExecuteGrasp.Result.INVALID_REQUEST and 'arm' in result.message
