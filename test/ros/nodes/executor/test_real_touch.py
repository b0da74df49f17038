"""Closing by touch with the nodes of the real hand, and emulated firmware behind them."""

import os
import uuid

import numpy as np
import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from benchmarks.hardware.touch_driver import (  # noqa: E402
    emulated_hand, FORCE, GRIP, OPEN, pressure_per_count, PRESSING, TOUCH)
from gripsim_interfaces.action import ExecuteGrasp  # noqa: E402
from gripsim_interfaces.msg import ContactPatch, Grasp  # noqa: E402
from sdh_cases import answer_of, LATE, LONG, NAMES, wait_for  # noqa: E402
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint  # noqa: E402
from unique_identifier_msgs.msg import UUID  # noqa: E402

from gripsim_ros.ros.clients.plan import PlanGraspClient  # noqa: E402
from gripsim_ros.ros.clients.suite import HAND_NODES, Suite  # noqa: E402
from gripsim_ros.ros.nodes.base.action_client import PromptActionClient  # noqa: E402

pytestmark = [pytest.mark.nightly, pytest.mark.slow]
START_TIMEOUT, STIFFNESS, ROOM = 120.0, 40.0, 1.2


def grasp():
    """Return a grasp whose proximal joints close onto three contacts in two seconds."""
    moved, points = np.array([name in PRESSING for name in NAMES]), []
    for share in np.linspace(0.0, 1.0, 5):
        row = np.where(moved, OPEN + share * (TOUCH - OPEN), 0.0)
        point = JointTrajectoryPoint(positions=row.tolist())
        point.time_from_start.sec = int(2.0 * share)
        point.time_from_start.nanosec = int(1e9 * (2.0 * share % 1.0))
        points.append(point)
    contacts = []
    for link in PRESSING.values():
        contact = ContactPatch(link=link)
        contact.normal.x, contact.closing_force.x = 1.0, FORCE
        contacts.append(contact)
    return Grasp(joint_trajectory=JointTrajectory(joint_names=list(NAMES), points=points),
                 grip_joint_positions=np.where(moved, GRIP, 0.0).tolist(), contacts=contacts)


def test_the_nodes_of_a_real_hand_close_by_touch():
    names = HAND_NODES['real']
    with emulated_hand(off=0.0) as hand:
        suite = Suite(os.environ, hardware='real', parameters={
            'sdh_driver': {'address': hand.address, 'tactile_address': hand.tactile_address,
                           'reply_timeout': 5.0, 'late': LATE, 'tactile_calibrated': True,
                           'pressure_per_count': pressure_per_count(STIFFNESS)},
            'grasp_executor': {'joint_timeout': 10.0, 'lag_time': 10.0, 'loading_time': 30.0}})
        try:
            suite.start(names)
            suite.wait_until_ready(names, START_TIMEOUT)
            with PlanGraspClient() as client:
                action = PromptActionClient(client.node, ExecuteGrasp, 'execute_grasp')
                assert action.wait_for_server(START_TIMEOUT)
                goal = ExecuteGrasp.Goal(grasp=grasp(), by_touch=True)
                name = UUID(uuid=list(uuid.uuid4().bytes))
                handle, _ = answer_of(lambda: action.send_goal_async(goal, None, name), wait_for)
                result = answer_of(handle.get_result_async, wait_for, LONG)[0].result
                action.destroy()
        finally:
            suite.stop(names)
    assert result.status == ExecuteGrasp.Result.SUCCEEDED, result.message
    felt = np.reshape(result.finger_felt_forces, (-1, len(result.finger_names)))
    assert 0.9 * FORCE <= np.nanmax(felt) <= ROOM * FORCE, np.nanmax(felt)
    assert min(result.found_forces) >= 0.8 * FORCE
