"""What the planner asks the arm's node."""

from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy', reason='needs rclpy: `make setup`')
pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from gripsim_interfaces.msg import Grasp  # noqa: E402
from gripsim_interfaces.srv import EvaluateGrasp, PlanGrasp  # noqa: E402
from rclpy.task import Future  # noqa: E402
from shape_msgs.msg import MeshTriangle  # noqa: E402

from gripsim_ros.ros.nodes.planner.arm_choice import ArmChoice  # noqa: E402


class Arm:
    """Answers at once that all grasps are free, and keeps what it was asked."""

    def service_is_ready(self):
        return True

    def call_async(self, request):
        self.asked, future = request, Future()
        future.set_result(EvaluateGrasp.Response(
            status=PlanGrasp.Response.SUCCEEDED, grasps=request.grasps,
            reasons=[''] * len(request.grasps)))
        return future


@pytest.mark.parametrize('fields, asked', [
    ({'object_id': 'fruit'}, 'a hash'), ({}, 'a hash'),
    ({'object_id': 'fruit', 'mesh_resource': 'file:///apple.ply'}, 'fruit')])
def test_the_arm_is_asked_about_what_was_planned_for(fields, asked):
    # A label may be another object's by the time the arm is asked, or in the arm's own store.
    arm = Arm()
    choice = ArmChoice(SimpleNamespace(create_client=lambda *_, **__: arm), 'choose_by_arm')
    response = PlanGrasp.Response(grasps=[Grasp(rank=1)])
    choice.order(PlanGrasp.Request(**fields), 'a hash', response, 1.0)
    assert arm.asked.object_id == asked and len(response.grasps) == 1


def test_a_mesh_in_the_request_goes_to_the_arm_with_its_label():
    arm, request = Arm(), PlanGrasp.Request(object_id='fruit')
    request.mesh.triangles = [MeshTriangle()]
    choice = ArmChoice(SimpleNamespace(create_client=lambda *_, **__: arm), 'choose_by_arm')
    choice.order(request, 'a hash', PlanGrasp.Response(grasps=[Grasp()]), 1.0)
    assert arm.asked.object_id == 'fruit' and arm.asked.mesh == request.mesh
