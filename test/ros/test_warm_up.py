"""Every kernel that a request can reach is loaded before the services are announced."""

import os

import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402
from geometry_msgs.msg import Point, Pose, Quaternion, Vector3, Wrench  # noqa: E402
from gripsim_interfaces.srv import EvaluateGrasp  # noqa: E402
from shape_msgs.msg import SolidPrimitive  # noqa: E402
from suite_cases import ball, goal, parameters, wait_for  # noqa: E402

from gripsim_ros.ros.clients.plan import STATUS_NAMES, PlanGraspClient  # noqa: E402
from gripsim_ros.ros.clients.suite import NODES, Suite  # noqa: E402
from gripsim_ros.ros.conversions.clouds import cloud_to_msg  # noqa: E402
from gripsim_ros.ros.nodes.base.node_base import reliable  # noqa: E402

#: Hypotheses of a plan.
FEW = 4


@pytest.fixture(scope='module')
def suite(tmp_path_factory):
    with Suite(os.environ, parameters=parameters(tmp_path_factory.mktemp('parameters'))) as run:
        yield run


@pytest.fixture(scope='module')
def client(suite):
    with PlanGraspClient() as connected:
        yield connected


def kernel_counts(client):
    """Return how many kernels each node says it has loaded."""
    heard = []
    listener = client.node.create_subscription(
        DiagnosticArray, '/diagnostics', heard.append, reliable(50))

    def found():
        return {status.name: int(pair.value) for array in heard for status in array.status
                for pair in status.values if pair.key == 'kernels' and status.name in NODES}
    assert wait_for(lambda: len(heard) > 2 * len(NODES) and set(found()) == set(NODES))
    client.node.destroy_subscription(listener)
    return found()


def test_no_request_loads_a_kernel_that_was_not_there_at_the_start(suite, client):
    before = kernel_counts(client)
    rich = goal(hypotheses=FEW, seed=3)
    rich.task.external_wrenches = [Wrench(force=Vector3(x=0.5)), Wrench(torque=Vector3(z=0.01))]
    rich.task.gravity_directions = [Vector3(z=-1.0)]
    rich.task.approach_direction, rich.task.approach_half_angle = Vector3(z=-1.0), 3.0
    near, away = Pose(orientation=Quaternion(w=1.0)), Pose(
        position=Point(z=-0.3), orientation=Quaternion(w=1.0))
    box = SolidPrimitive(type=SolidPrimitive.BOX, dimensions=[0.3] * 3)
    rod = SolidPrimitive(type=SolidPrimitive.CYLINDER, dimensions=[0.1, 0.02])
    rich.task.keep_out, rich.task.keep_out_poses = [rod], [away]
    rich.task.contact_region, rich.task.contact_region_poses = [box], [near]
    rich.obstacles, rich.obstacle_poses = [rod, box], [away, away]
    moved = goal(hypotheses=FEW)
    moved.task.has_displacement, moved.task.displacement.translation.z = True, 0.003
    slippery = goal(hypotheses=FEW)
    slippery.material.friction = 0.03
    cut = ball().mesh.vertices[ball().mesh.vertices[:, 2] > 0.0]
    seen = goal(hypotheses=FEW)
    seen.mesh, seen.completion = type(seen.mesh)(), 'mirror'
    seen.cloud = cloud_to_msg(cut, [0.0, 0.0, 1.0])
    refined = goal(hypotheses=FEW, elasticity='auto')
    for request in (goal(hypotheses=FEW), rich, moved, slippery, seen, refined):
        answer = client.plan(request)
        assert STATUS_NAMES[answer.status] in ('SUCCEEDED', 'NO_GRASP'), answer.message
    grasps = client.plan(goal(hypotheses=FEW)).grasps
    client.evaluate(EvaluateGrasp.Request(
        mesh=goal().mesh, material=goal().material, grasps=grasps, max_planning_time=600.0))
    assert kernel_counts(client) == before
