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
    choice.order(PlanGrasp.Request(**fields), 'a hash', response, 1.0, 10)
    assert arm.asked.object_id == asked and len(response.grasps) == 1


def test_a_mesh_in_the_request_goes_to_the_arm_with_its_label():
    arm, request = Arm(), PlanGrasp.Request(object_id='fruit')
    request.mesh.triangles = [MeshTriangle()]
    choice = ArmChoice(SimpleNamespace(create_client=lambda *_, **__: arm), 'choose_by_arm')
    choice.order(request, 'a hash', PlanGrasp.Response(grasps=[Grasp()]), 1.0, 10)
    assert arm.asked.object_id == 'fruit' and arm.asked.mesh == request.mesh


class PickyArm(Arm):
    """Finds motions for the grasps with some ranks alone, and keeps what it was asked."""

    def __init__(self, reached):
        self.reached, self.asked = reached, []

    def call_async(self, request):
        ranks, future = [grasp.rank for grasp in request.grasps], Future()
        self.asked.append(ranks)
        future.set_result(EvaluateGrasp.Response(
            status=PlanGrasp.Response.SUCCEEDED, grasps=request.grasps,
            reasons=['' if rank in self.reached else f'step {rank}: it collides'
                     for rank in ranks]))
        return future


@pytest.mark.parametrize('reached, wanted, asked, free, status', [
    ((1, 2, 3), 2, [[1, 2]], 2, PlanGrasp.Response.SUCCEEDED),
    ((5, 6), 2, [[1, 2], [3, 4], [5, 6]], 2, PlanGrasp.Response.SUCCEEDED),
    ((1, 4, 5), 3, [[1, 2, 3], [4, 5]], 3, PlanGrasp.Response.SUCCEEDED),
    ((6,), 1, [[1], [2], [3], [4], [5], [6]], 1, PlanGrasp.Response.SUCCEEDED),
    ((), 4, [[1, 2, 3, 4], [5, 6]], 0, PlanGrasp.Response.NO_GRASP)])
def test_the_arm_is_asked_about_the_next_best_where_it_does_not_reach_the_best(
        reached, wanted, asked, free, status):
    arm = PickyArm(reached)
    choice = ArmChoice(SimpleNamespace(create_client=lambda *_, **__: arm), 'choose_by_arm')
    response = PlanGrasp.Response(grasps=[Grasp(rank=rank) for rank in range(1, 7)])
    choice.order(PlanGrasp.Request(), 'a hash', response, 5.0, wanted)
    assert arm.asked == asked and response.status == status
    assert [grasp.rank for grasp in response.grasps] == list(range(1, free + 1))
    assert sum(response.rejection_counts) == sum(map(len, asked)) - free


def test_where_the_time_is_up_the_answer_says_how_many_were_not_asked_about():
    choice = ArmChoice(SimpleNamespace(create_client=lambda *_, **__: PickyArm(())), 'an_arm')
    response = PlanGrasp.Response(grasps=[Grasp(rank=rank) for rank in range(1, 7)])
    choice.order(PlanGrasp.Request(), 'a hash', response, 0.0, 2)
    assert response.message.endswith('the arm was not asked about 4 more in time')


def test_what_an_arm_reaches_is_kept_where_it_falls_silent_later():
    class Tired(PickyArm):
        def service_is_ready(self):
            return not self.asked

    arm = Tired((2,))
    choice = ArmChoice(SimpleNamespace(create_client=lambda *_, **__: arm), 'an_arm')
    response = PlanGrasp.Response(grasps=[
        Grasp(rank=rank, hypothesis=rank) for rank in range(1, 7)])
    choice.order(PlanGrasp.Request(), 'a hash', response, 5.0, 2)
    assert [grasp.hypothesis for grasp in response.grasps] == [2]
    assert 'not ordered by the arm: an_arm: no answer' in response.message
    assert '4 more' in response.message


def test_more_grasps_are_planned_where_an_arm_has_to_reach_them():
    node = SimpleNamespace(create_client=lambda *_, **__: Arm())
    assert ArmChoice(node, '').grasps_to_plan(10) == 10
    assert ArmChoice(node, 'choose_by_arm').grasps_to_plan(1) == 40
    assert ArmChoice(node, 'choose_by_arm').grasps_to_plan(20) == 80
