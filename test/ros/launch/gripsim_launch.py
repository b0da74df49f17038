"""The launch file starts a suite that plans, serves again after a fault, and ends cleanly."""

import os
from pathlib import Path
import signal
import tempfile
import time
import unittest

from gripsim_interfaces.srv import PlanGrasp
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_testing.actions import ReadyToTest
import launch_testing.asserts
import trimesh

from gripsim_ros.core.bodies import shapes
from gripsim_ros.library.resources import share_directory
from gripsim_ros.ros.clients.plan import STATUS_NAMES, PlanGraspClient

NAMESPACE = '/launched'
#: The first start compiles the numerical kernels [s].
START_TIMEOUT = 300.0
NODES = ('forward_kinematics', 'contact_detection', 'deformation', 'grasp_planner')


def launch_file():
    """Return the source of the launch file."""
    return PythonLaunchDescriptionSource(
        str(share_directory() / 'launch' / 'gripsim.launch.py'))


def generate_test_description():
    """Launch the suite with a ball that is published at start."""
    path = Path(tempfile.mkdtemp()) / 'ball.stl'
    ball = shapes.sphere(0.035, 0.008)
    trimesh.Trimesh(ball.vertices, ball.faces, process=False).export(path)
    suite = IncludeLaunchDescription(launch_file(), launch_arguments={
        'object': str(path), 'material': 'rubber', 'namespace': NAMESPACE}.items())
    return LaunchDescription([suite, ReadyToTest()])


class TestLaunchedSuite(unittest.TestCase):
    """While it runs."""

    def plan(self):
        """Return the answer for the object that the launch file published."""
        request = PlanGrasp.Request(object_id='ball', max_hypotheses=6)
        end = time.monotonic() + START_TIMEOUT
        with PlanGraspClient(namespace=NAMESPACE) as client:
            client.wait_for_server(START_TIMEOUT)
            while True:
                answer = client.plan_by_service(request)
                if (STATUS_NAMES[answer.status] not in ('INTERNAL', 'STAGE_MISSING')
                        or time.monotonic() > end):
                    return answer

    def test_1_it_plans_the_object_of_the_launch_arguments(self):
        """A request by the object's label is answered."""
        answer = self.plan()
        assert STATUS_NAMES[answer.status] == 'SUCCEEDED', answer.message
        assert answer.evaluated == answer.total == 6

    def test_2_a_node_that_died_serves_again(self, proc_info):
        """A killed stage is started again and configures itself."""
        name = next(n for n in proc_info.process_names() if 'contact_detection' in n)
        os.kill(proc_info[name].pid, signal.SIGKILL)
        answer = self.plan()
        assert STATUS_NAMES[answer.status] == 'SUCCEEDED', answer.message


@launch_testing.post_shutdown_test()
class TestExitCodes(unittest.TestCase):
    """After it ended."""

    def test_all_nodes_end_cleanly(self, proc_info):
        """Only the killed one has another exit code than 0."""
        allowed = [0, -signal.SIGKILL]
        launch_testing.asserts.assertExitCodes(proc_info, allowable_exit_codes=allowed)
