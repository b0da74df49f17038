"""What the planner asks the arm's node."""

from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs rclpy: `make setup`')
pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from gripsim_interfaces.msg import Grasp  # noqa: E402
from gripsim_interfaces.srv import EvaluateGrasp, PlanGrasp  # noqa: E402
from rclpy.task import Future  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from shape_msgs.msg import MeshTriangle  # noqa: E402

from gripsim_ros.core.errors import TaskError  # noqa: E402
from gripsim_ros.core.planning.rejections import (  # noqa: E402
    ARM_NOT_ASKED, ARM_OUT_OF_TIME, NO_ARM_MOTION)
from gripsim_ros.core.planning.task import ARM_TIME_SHARE  # noqa: E402
from gripsim_ros.ros.nodes.base.node_base import LARGE_MESH  # noqa: E402
from gripsim_ros.ros.nodes.planner.arm_choice import ArmChoice  # noqa: E402


class Arm:
    """Answers at once that all grasps are free, and keeps what it was asked."""

    def service_is_ready(self):
        return True

    def call_async(self, request):
        self.asked, future = request, Future()
        for rank, grasp in enumerate(request.grasps, start=1):
            grasp.rank = rank
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


@pytest.mark.parametrize('status, refused', [
    (PlanGrasp.Response.INVALID_REQUEST, True), (PlanGrasp.Response.INTERNAL, False),
    (PlanGrasp.Response.SUCCEEDED, False)])
def test_only_what_the_arm_cannot_do_is_refused_before_planning(status, refused):
    class Far(Arm):
        def call_async(self, request):
            self.asked, future = request, Future()
            future.set_result(EvaluateGrasp.Response(status=status, message='3.21 m away'))
            return future

    arm = Far()
    choice = ArmChoice(SimpleNamespace(create_client=lambda *_, **__: arm), 'an_arm')
    start = JointState(name=['a'], position=[9.0])
    with pytest.raises(TaskError, match='3.21 m away') if refused else nullcontext():
        choice.check(PlanGrasp.Request(arm_start=start), 'a hash')
    assert not arm.asked.grasps and arm.asked.object_id == 'a hash'


def test_without_an_arm_or_its_node_nothing_is_checked(monkeypatch):
    class Silent(Arm):
        def call_async(self, request):
            return Future()

        def remove_pending_request(self, future):
            self.removed = True

    monkeypatch.setattr('gripsim_ros.ros.nodes.planner.arm_choice.TICK', 0.01)
    monkeypatch.setattr('gripsim_ros.ros.nodes.planner.arm_choice.CHECK_TIME', 0.05)
    arm = Silent()
    node = SimpleNamespace(create_client=lambda *_, **__: arm)
    ArmChoice(node, '').check(PlanGrasp.Request(), 'a hash')
    large = PlanGrasp.Request()
    large.mesh.triangles = [MeshTriangle()] * (LARGE_MESH + 1)
    ArmChoice(node, 'an_arm').check(large, 'a hash')
    assert not hasattr(arm, 'removed')
    ArmChoice(node, 'an_arm').check(PlanGrasp.Request(), 'a hash')
    assert arm.removed


def test_without_an_arm_the_answer_says_that_nobody_was_asked_about_the_way():
    choice = ArmChoice(SimpleNamespace(create_client=None), '')
    response = PlanGrasp.Response(grasps=[Grasp()], reach_levels=['with_arm'], reach_counts=[1])
    choice.order(PlanGrasp.Request(), 'a hash', response, 1.0, 10)
    assert not response.message                     # nothing is to be moved
    far = np.eye(4)
    far[2, 3] = 3.0
    choice.order(PlanGrasp.Request(), 'a hash', response, 1.0, 10, displacement=far)
    assert response.message == ('no arm is asked whether it carries the object 3000 mm and 0° '
                                'away, as 1 of 1 grasps need')


class PickyArm(Arm):
    """Answers with given reasons, its own order of those free, and keeps what it was asked."""

    def __init__(self, reasons, order=()):
        self.reasons, self.order = reasons, order

    def call_async(self, request):
        self.asked, future = request, Future()
        for hypothesis, rank in self.order:
            request.grasps[hypothesis].rank = rank
        future.set_result(EvaluateGrasp.Response(
            status=PlanGrasp.Response.SUCCEEDED, grasps=request.grasps, reasons=self.reasons))
        return future


def ordered(arm, wanted=2, timeout=5.0, **fields):
    """Return the answer of three grasps that hold, once an arm has chosen among them."""
    choice = ArmChoice(SimpleNamespace(create_client=lambda *_, **__: arm), 'an_arm')
    response = PlanGrasp.Response(grasps=[Grasp(rank=i + 1, hypothesis=i) for i in range(3)])
    choice.order(PlanGrasp.Request(**fields), 'a hash', response, timeout, wanted)
    return response


def test_the_arm_is_asked_about_all_grasps_that_hold_and_told_how_many_are_wanted():
    arm = PickyArm(['', ARM_NOT_ASKED, ''], order=((0, 2), (2, 1)))
    response = ordered(arm, arm_criterion='whole')
    assert (len(arm.asked.grasps), arm.asked.arm_wanted, arm.asked.arm_criterion) == (
        3, 2, 'whole')
    assert [grasp.hypothesis for grasp in response.grasps] == [2, 0]
    assert (response.rejection_reasons, list(response.rejection_counts)) == ([ARM_NOT_ASKED], [1])
    assert response.status == PlanGrasp.Response.SUCCEEDED and not response.message


def test_who_has_no_motion_is_counted_and_the_first_reason_told():
    response = ordered(PickyArm(['step 3: it collides', 'step 1: out of reach', 'step 1: far']))
    assert response.status == PlanGrasp.Response.NO_GRASP and not response.grasps
    assert dict(zip(response.rejection_reasons, response.rejection_counts)) == {NO_ARM_MOTION: 3}
    assert response.message == f'{NO_ARM_MOTION}: step 3: it collides'


def test_where_the_time_is_up_the_answer_says_of_how_many_nothing_is_known():
    response = ordered(PickyArm(['', ARM_OUT_OF_TIME, ARM_OUT_OF_TIME]))
    assert len(response.grasps) == 1 and response.message == (
        "the arm's time was up: of 2 of 3 grasps that hold it is not known whether its way is "
        'shorter')


def test_an_arm_that_is_silent_leaves_the_best_as_they_were():
    class Silent(Arm):
        def service_is_ready(self):
            return False

    response = ordered(Silent())
    assert [grasp.hypothesis for grasp in response.grasps] == [0, 1]
    assert response.message == 'not ordered by the arm: an_arm: no answer'


def test_who_cancels_waits_for_the_arm_no_longer(monkeypatch):
    class Slow(Arm):
        def call_async(self, request):
            return Future()

        def remove_pending_request(self, future):
            self.removed = future

    arm = Slow()
    monkeypatch.setattr('gripsim_ros.ros.nodes.planner.arm_choice.TICK', 0.01)
    choice = ArmChoice(SimpleNamespace(create_client=lambda *_, **__: arm), 'an_arm')
    response = PlanGrasp.Response(grasps=[Grasp()])
    choice.order(PlanGrasp.Request(), 'a hash', response, 600.0, 1, tick=lambda: False)
    assert arm.removed is not None and 'no answer' in response.message


def test_where_an_arm_chooses_all_that_hold_are_planned_and_it_gets_its_time():
    node = SimpleNamespace(create_client=lambda *_, **__: Arm())
    alone, with_arm = ArmChoice(node, ''), ArmChoice(node, 'choose_by_arm')
    assert (alone.grasps_to_plan(10, 200), alone.time_kept(60.0)) == (10, 0.0)
    assert (with_arm.grasps_to_plan(1, 200), with_arm.time_kept(60.0)) == (
        200, 60.0 * ARM_TIME_SHARE)
