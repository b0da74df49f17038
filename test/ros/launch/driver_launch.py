"""With launch: the driver comes up against emulated firmware, and a grasp is carried out."""

import time
import unittest

from geometry_msgs.msg import Vector3
from gripsim_interfaces.action import ExecuteGrasp
from gripsim_interfaces.msg import ContactPatch, Grasp
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_testing.actions import ReadyToTest
import launch_testing.asserts
import numpy as np
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from gripsim_ros.hardware.driver.emulator.firmware import Identity
from gripsim_ros.hardware.driver.emulator.server import EmulatedHand
from gripsim_ros.library.resources import load_default_hand, share_directory
from gripsim_ros.ros.clients.execute import ExecuteGraspClient, RESULT_NAMES

NAMESPACE = '/driven'
#: The first start compiles the numerical kernels [s].
START_TIMEOUT = 300.0
HAND = load_default_hand()
OPEN = next(p for p in HAND.preshapes if p.name == 'cylindrical').open
CLOSED = OPEN + np.array([0.0, 0.3, 0.1, 0.3, 0.1, 0.3, 0.1])
#: The emulated hand where it is switched on, by axis [deg], and how near it must come [rad].
ANGLES, ATOL_THERE = (10.0, -20.0, 15.0, -22.0, 16.0, -24.0, 17.0), 0.02


def generate_test_description():
    """Launch the suite with the driver of an emulated hand."""
    hand = EmulatedHand(identity=Identity(angles=ANGLES)).__enter__()
    source = PythonLaunchDescriptionSource(
        str(share_directory() / 'launch' / 'gripsim.launch.py'))
    suite = IncludeLaunchDescription(source, launch_arguments={
        'namespace': NAMESPACE, 'hardware': 'real', 'address': hand.address,
        'tactile_address': hand.tactile_address}.items())
    return LaunchDescription([suite, ReadyToTest()]), {'hand': hand}


def grasp():
    """Return a grasp that closes in two seconds."""
    points = [JointTrajectoryPoint(positions=row.tolist())
              for row in np.linspace(OPEN, CLOSED, 5)]
    for k, point in enumerate(points):
        point.time_from_start.sec, point.time_from_start.nanosec = k // 2, (k % 2) * 500_000_000
    contact = ContactPatch(link='sdh_thumb_3_link', normal=Vector3(x=1.0), force=Vector3(x=1.0))
    return Grasp(joint_trajectory=JointTrajectory(
        joint_names=list(HAND.joint_names), points=points),
        grip_joint_positions=CLOSED.tolist(), contacts=[contact])


class TestDrivenHand(unittest.TestCase):
    """While it runs."""

    def test_a_grasp_is_carried_out_by_the_driver(self, hand):
        """From the start, which moves nothing, to the closed hand."""
        with ExecuteGraspClient(NAMESPACE) as client:
            end = time.monotonic() + START_TIMEOUT
            while not (client.server_is_ready() and hand.firmware.record.commands):
                assert time.monotonic() < end, 'the suite does not come up'
                time.sleep(0.05)
            assert not hand.firmware.record.moves
            while True:                 # the executor may not have heard the joints yet
                result = client.execute(ExecuteGrasp.Goal(grasp=grasp()))
                if result.status != ExecuteGrasp.Result.HAND_LOST or time.monotonic() > end:
                    break
        assert RESULT_NAMES[result.status] == 'SUCCEEDED', result.message
        np.testing.assert_allclose(result.joint_positions, CLOSED, rtol=0, atol=ATOL_THERE)
        assert np.isnan(result.found_forces[0])         # pads that are not calibrated cannot tell


@launch_testing.post_shutdown_test()
class TestExitCodes(unittest.TestCase):
    """After it ended."""

    def test_all_nodes_end_cleanly(self, proc_info, hand):
        """Six times code 0; the hand was told to stop, and its sensors to send nothing more."""
        launch_testing.asserts.assertExitCodes(proc_info)
        assert hand.firmware.record.stops and not hand.board.acquiring
        hand.__exit__()
