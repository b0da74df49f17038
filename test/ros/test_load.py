"""What the running suite promises holds where others disturb it: forged answers, many callers."""

import os
import time
from contextlib import contextmanager

import numpy as np
import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402
from geometry_msgs.msg import Point, Pose, Quaternion, Vector3, Wrench  # noqa: E402
from gripsim_interfaces.msg import (  # noqa: E402
    GraspStates, HandConfigurations, LinkStates, RingHeader)
from gripsim_interfaces.srv import EvaluateGrasp, PlanGrasp  # noqa: E402
from shape_msgs.msg import SolidPrimitive  # noqa: E402
from suite_cases import as_request, ball, goal, parameters, ranking, wait_for  # noqa: E402

from gripsim_ros.core.batches import (  # noqa: E402
    ConfigurationBatch, ContactBatch, LinkStateBatch)
from gripsim_ros.core.hand import compute_link_states  # noqa: E402
from gripsim_ros.core.mechanics.state_builder import StateBuilder  # noqa: E402
from gripsim_ros.library.resources import load_default_hand  # noqa: E402
from gripsim_ros.ros import conversions  # noqa: E402
from gripsim_ros.ros.clients.plan import STATUS_NAMES, PlanGraspClient  # noqa: E402
from gripsim_ros.ros.clients.suite import NODES, Suite  # noqa: E402
from gripsim_ros.ros.conversions.clouds import cloud_to_msg  # noqa: E402
from gripsim_ros.ros.nodes.base.node_base import reliable  # noqa: E402
from gripsim_ros.ros.nodes.ring.stage_node import PLAN_DEPTH  # noqa: E402
from gripsim_ros.ros.quality import many_calls  # noqa: E402

#: Hypotheses of a plan that others disturb.
FEW = 4
HAND = load_default_hand()


@pytest.fixture(scope='module')
def suite(tmp_path_factory):
    with Suite(os.environ, parameters=parameters(tmp_path_factory.mktemp('parameters'))) as run:
        yield run


@pytest.fixture(scope='module')
def client(suite):
    with PlanGraspClient() as connected:
        yield connected


@pytest.fixture(scope='module')
def alone(client):
    """Return the answer where nobody disturbs."""
    answer = client.plan(goal(hypotheses=FEW))
    assert STATUS_NAMES[answer.status] == 'SUCCEEDED', answer.message
    return answer


@contextmanager
def forger(client, kind, topic, forge):
    """Answer every question of the planner at once, on a topic of the ring."""
    joints = np.zeros((1, len(HAND.joint_names)))
    forge(conversions.configurations_to_msg(ConfigurationBatch(     # compiles
        np.eye(4)[None], joints, joints, np.zeros((1, 3))), RingHeader()))
    publisher = client.node.create_publisher(kind, topic, reliable(PLAN_DEPTH))
    heard = client.node.create_subscription(
        HandConfigurations, 'plan/hand_configurations',
        lambda msg: publisher.publish(forge(msg)), reliable(PLAN_DEPTH))
    assert wait_for(lambda: publisher.get_subscription_count()
                    and client.node.count_publishers('plan/hand_configurations'))
    time.sleep(0.5)         # the planner, too, is to have found the forger
    try:
        yield
    finally:
        client.node.destroy_subscription(heard)
        client.node.destroy_publisher(publisher)


def without_contact(question):
    """Return an answer by which nothing is touched."""
    configurations = conversions.configurations_from_msg(question)
    n = configurations.count
    clear = np.full((n, len(HAND.link_names)), 0.001)
    none, zero = np.zeros(0), np.zeros(1, np.int64)
    contacts = ContactBatch(
        configurations, clear, np.full(n, np.inf), np.full(n, np.inf), 0.0 * clear,
        np.zeros(n + 1, np.int64), none.astype(int), none.astype(int), none, zero,
        np.zeros((0, 3)), np.zeros((0, 3)), none, none, np.zeros(n + 1, np.int64),
        np.zeros((0, 3)), np.zeros((0, 3)))
    states = StateBuilder(contacts, ball().mesh.vertices).build()
    return conversions.grasp_states_to_msg(states, configurations, question.ring)


def foreign(question):
    """Return an answer about another object and hand."""
    msg = without_contact(question)
    msg.ring.object_id, msg.ring.hand_id = 'f' * 64, 'e' * 64
    return msg


def not_finite(question):
    """Return an answer whose distances are no numbers."""
    msg = without_contact(question)
    msg.clearance[:] = type(msg.clearance)('d', [np.nan] * len(msg.clearance))
    return msg


def misrouted(question):
    """Return an answer to another question under this one's name."""
    msg = without_contact(question)
    msg.joint_positions[0] += 0.1
    return msg


@pytest.mark.parametrize('forge', [foreign, not_finite, misrouted])
def test_answers_that_fit_no_question_change_no_ranking(client, alone, forge):
    with forger(client, GraspStates, 'plan/grasp_states', forge):
        answer = client.plan(goal(hypotheses=FEW))
    assert ranking(answer) == ranking(alone)


def test_link_states_that_are_no_numbers_change_no_ranking(client, alone):
    def forge(question):
        configurations = conversions.configurations_from_msg(question)
        links = compute_link_states(HAND, configurations)
        links = LinkStateBatch(configurations, links.T_object_link,
                               links.twists_object)
        links.T_object_link[:] = np.nan
        return conversions.link_states_to_msg(links, question.ring)
    with forger(client, LinkStates, 'plan/link_states', forge):
        answer = client.plan(goal(hypotheses=FEW))
    assert ranking(answer) == ranking(alone)


# -- what is loaded, and when --------------------------------------------------------


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
    for request in (goal(hypotheses=FEW), rich, moved, slippery, seen):
        answer = client.plan(request)
        assert STATUS_NAMES[answer.status] in ('SUCCEEDED', 'NO_GRASP'), answer.message
    grasps = client.plan(goal(hypotheses=FEW)).grasps
    client.evaluate(EvaluateGrasp.Request(
        mesh=goal().mesh, material=goal().material, grasps=grasps, max_planning_time=600.0))
    assert kernel_counts(client) == before


# -- many callers --------------------------------------------------------------------

#: Callers at once; a script of the nightly run takes more.
CALLERS = int(os.environ.get('GRIPSIM_CALLERS', '30'))
#: Statuses of those that are not served.
ANSWERS = {'SUCCEEDED', 'BUSY'}


def small_request():
    """Return a request that is answered soon, where it is not refused."""
    return as_request(goal(hypotheses=1), PlanGrasp.Request)


def statuses(futures):
    """Return the answers' statuses, once all are there."""
    assert wait_for(lambda: all(f.done() for f in futures), 300.0), (
        f'{sum(f.done() for f in futures)} of {len(futures)} answered')
    return [STATUS_NAMES[f.result().status] for f in futures]


def test_every_one_of_many_callers_at_once_is_answered(client):
    services = [client.node.create_client(PlanGrasp, 'plan_grasp', qos_profile=many_calls(),
                                          callback_group=client.group) for _ in range(CALLERS)]
    assert all(service.wait_for_service(60.0) for service in services)
    time.sleep(1.0)         # the planner, too, is to have found them
    told = statuses([service.call_async(small_request()) for service in services])
    for service in services:
        client.node.destroy_client(service)
    assert len(told) == CALLERS and set(told) <= ANSWERS and 'SUCCEEDED' in told


def test_every_one_of_many_goals_at_once_is_accepted_and_ends(client):
    goals = [client._plan.send_goal_async(goal(hypotheses=1)) for _ in range(CALLERS)]
    assert wait_for(lambda: all(f.done() for f in goals), 300.0), (
        f'{sum(f.done() for f in goals)} of {CALLERS} acknowledged')
    assert all(future.result().accepted for future in goals)
    results = [future.result().get_result_async() for future in goals]
    assert wait_for(lambda: all(f.done() for f in results), 300.0)
    told = [STATUS_NAMES[future.result().result.status] for future in results]
    assert set(told) <= ANSWERS and 'SUCCEEDED' in told
