"""Every kernel that a request can reach is loaded before the services are announced."""

import os
from functools import partial
from pathlib import Path

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
#: An arm, the nodes of a suite that has it, and where an object is within its reach.
ARM = Path(__file__).parents[1] / 'data' / 'ur5e.yaml'
ASKED = {*NODES, 'arm_planner'}
IN_REACH = Pose(position=Point(x=0.45, y=0.1, z=0.3), orientation=Quaternion(w=1.0))


@pytest.fixture(scope='module')
def suite(tmp_path_factory):
    values = parameters(tmp_path_factory.mktemp('parameters'))
    with Suite(os.environ, parameters=values, arm=ARM) as run:
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
                for pair in status.values if pair.key == 'kernels' and status.name in ASKED}
    assert wait_for(lambda: len(heard) > 2 * len(ASKED) and set(found()) == ASKED)
    client.node.destroy_subscription(listener)
    return found()


@pytest.mark.nightly     # a suite with an arm, and nine plans: a minute and more
def test_no_request_loads_a_kernel_that_was_not_there_at_the_start(suite, client):
    before, ask = kernel_counts(client), partial(goal, object_pose=IN_REACH, hypotheses=FEW)
    rich = ask(seed=3)
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
    moved = ask()
    moved.task.has_displacement, moved.task.displacement.translation.z = True, 0.003
    carried = ask(arm_criterion='whole')
    carried.task.has_displacement, carried.task.displacement.translation.z = True, 0.05
    slippery = ask()
    slippery.material.friction = 0.03
    cut = ball().mesh.vertices[ball().mesh.vertices[:, 2] > 0.0]
    seen = ask()
    seen.mesh, seen.completion = type(seen.mesh)(), 'mirror'
    seen.cloud = cloud_to_msg(cut, [0.0, 0.0, 1.0])
    refined = ask(elasticity='auto')
    for request in (ask(), rich, moved, carried, slippery, seen, refined):
        answer = client.plan(request)
        assert STATUS_NAMES[answer.status] in ('SUCCEEDED', 'NO_GRASP'), answer.message
    grasps = client.plan(ask()).grasps
    client.evaluate(EvaluateGrasp.Request(
        mesh=goal().mesh, material=goal().material, grasps=grasps, max_planning_time=600.0,
        object_pose=IN_REACH))
    assert kernel_counts(client) == before
