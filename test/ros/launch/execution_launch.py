"""With launch: a simulated hand comes up, a grasp is planned, carried out, and lifts."""

from pathlib import Path
import tempfile
import time
import unittest

from gripsim_interfaces.action import ExecuteGrasp
from gripsim_interfaces.srv import PlanGrasp
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_testing.actions import ReadyToTest
import launch_testing.asserts
from rclpy.action import ActionClient
import trimesh

from gripsim_ros.core.bodies import shapes
from gripsim_ros.library.resources import share_directory
from gripsim_ros.ros.clients.plan import PlanGraspClient, STATUS_NAMES

NAMESPACE = '/simulated'
#: The first start compiles the numerical kernels; an execution takes ten seconds [s].
START_TIMEOUT, LONG = 300.0, 120.0


def generate_test_description():
    """Launch the suite with a simulated hand and a ball that is published at start."""
    path = Path(tempfile.mkdtemp()) / 'ball.stl'
    ball = shapes.sphere(0.035, 0.008)
    trimesh.Trimesh(ball.vertices, ball.faces, process=False).export(path)
    source = PythonLaunchDescriptionSource(
        str(share_directory() / 'launch' / 'gripsim.launch.py'))
    suite = IncludeLaunchDescription(source, launch_arguments={
        'object': str(path), 'material': 'wood', 'namespace': NAMESPACE,
        'hardware': 'sim'}.items())
    return LaunchDescription([suite, ReadyToTest()])


def wait_for(condition, timeout):
    """Return whether a condition came true in time [s]."""
    end = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


class TestSimulatedGrasp(unittest.TestCase):
    """While it runs."""

    def test_a_planned_grasp_is_carried_out_and_lifts(self):
        """From the request to the lifted object."""
        with PlanGraspClient(namespace=NAMESPACE) as client:
            client.wait_for_server(START_TIMEOUT)
            answer = client.plan_by_service(PlanGrasp.Request(object_id='ball', max_hypotheses=8))
            assert STATUS_NAMES[answer.status] == 'SUCCEEDED', answer.message
            action = ActionClient(client.node, ExecuteGrasp, 'execute_grasp')
            assert action.wait_for_server(LONG)
            sent = action.send_goal_async(ExecuteGrasp.Goal(
                grasp=answer.grasps[0], object_id='ball', squeeze=0.03, lift_height=0.04))
            assert wait_for(sent.done, LONG)
            ended = sent.result().get_result_async()
            assert wait_for(ended.done, LONG)
            result = ended.result().result
            action.destroy()
        assert result.status == ExecuteGrasp.Result.SUCCEEDED, result.message
        assert result.lifted


@launch_testing.post_shutdown_test()
class TestExitCodes(unittest.TestCase):
    """After it ended."""

    def test_all_nodes_end_cleanly(self, proc_info):
        """Six times code 0."""
        launch_testing.asserts.assertExitCodes(proc_info)
