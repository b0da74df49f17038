"""The four nodes as processes over DDS."""

import os
import subprocess
import sys
import threading
import time
from dataclasses import asdict, replace

import numpy as np
import pytest
import yaml

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus  # noqa: E402
from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion  # noqa: E402
from gripsim_interfaces.action import PlanGrasps  # noqa: E402
from gripsim_interfaces.msg import (  # noqa: E402
    GraspObject, GraspStates, HandConfigurations, Material, RingHeader, Task)
from gripsim_interfaces.srv import EvaluateGrasp, PlanGrasp  # noqa: E402
from lifecycle_msgs.msg import Transition  # noqa: E402
from lifecycle_msgs.srv import ChangeState  # noqa: E402
from rcl_interfaces.srv import GetParameters, SetParameters  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from sdh_cases import answer_of  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from shape_msgs.msg import SolidPrimitive  # noqa: E402
from suite_cases import (  # noqa: E402
    ATTEMPTS, HYPOTHESES, MATERIAL, PLANNING_TIME, SHORT_TIMEOUT, SLACK, STAGES, as_request, ball,
    doubled_stages, goal, parameters, paused, quick_options, ranking, wait_for)
from visualization_msgs.msg import MarkerArray  # noqa: E402

from gripsim_ros.core import bodies  # noqa: E402
from gripsim_ros.core.batches import ConfigurationBatch  # noqa: E402
from gripsim_ros.core.planning import PlannerOptions  # noqa: E402
from gripsim_ros.library.in_process import mechanics_options, plan_grasps  # noqa: E402
from gripsim_ros.library.resources import cache_directory  # noqa: E402
from gripsim_ros.library.resources import load_default_hand  # noqa: E402
from gripsim_ros.ros import conversions  # noqa: E402
from gripsim_ros.ros.clients.plan import STATUS_NAMES, PlanGraspClient, ServerLost  # noqa: E402
from gripsim_ros.ros.clients.suite import NODES, Suite  # noqa: E402
from gripsim_ros.ros.nodes.base.node_base import latched, latest, reliable  # noqa: E402
from gripsim_ros.ros.programs import PROGRAMS  # noqa: E402

Status = PlanGrasp.Response
#: For what must happen, on a busy machine [s].
PATIENCE = 300.0
SERVICES = {}
#: The most that passes between a cancel and its result [s].
CANCEL_TIME = 0.5
#: After so long without a word the client takes a planner for lost [s].
SILENCE = 3.0
#: The material of `goal` as in a library's file.
PUTTY = {key: value for key, value in asdict(MATERIAL).items() if value and key != 'name'}
ATOL_ROUNDOFF = 1e-9
RTOL_NODES = 0.1


@pytest.fixture(scope='module')
def suite(tmp_path_factory):
    folder = tmp_path_factory.mktemp('parameters')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('XDG_CACHE_HOME', str(folder))
        mechanics_options.cache_clear()
        with Suite(os.environ, parameters=parameters(folder, SHORT_TIMEOUT)) as running:
            yield running
    mechanics_options.cache_clear()


@pytest.fixture(scope='module')
def client(suite):
    with PlanGraspClient() as connected:
        yield connected


@pytest.fixture(scope='module')
def alone(client):
    """Return the answer to the standard request, asked alone."""
    return client.plan(goal())


@pytest.fixture(scope='module')
def doubles(suite):
    """Return the process that holds stages with doubled answers, all inactive."""
    with doubled_stages() as process:
        yield process


class Listener:
    """Keeps what comes on a topic."""

    def __init__(self, client, kind, topic, quality):
        self.messages = []
        self._client = client
        self._subscription = client.node.create_subscription(
            kind, topic, self.messages.append, quality)

    def __enter__(self):
        return self.messages

    def __exit__(self, *_):
        self._client.node.destroy_subscription(self._subscription)


def call(client, kind, name, request):
    """Return the answer of a service and how often it was asked; its client is kept."""
    if name not in SERVICES:
        SERVICES[name] = client.node.create_client(kind, name)
    service = SERVICES[name]
    assert service.wait_for_service(PATIENCE), f'{name} is not there'
    return answer_of(lambda: service.call_async(request), wait_for)


def status_name(result):
    return STATUS_NAMES[result.status]


# -- planning ------------------------------------------------------------------------


def test_the_ring_answers_a_request_with_stable_grasps(alone):
    assert status_name(alone) == 'SUCCEEDED', alone.message
    assert alone.evaluated == alone.total == HYPOTHESES
    assert all(grasp.stable and grasp.contacts for grasp in alone.grasps)
    assert len(alone.grasps) + sum(alone.rejection_counts) == alone.total
    properties = ball().mass_properties
    assert alone.mass == pytest.approx(properties.mass, rel=1e-12)


def test_the_ranking_is_that_of_the_stages_in_one_process(alone):
    here = plan_grasps(ball(), hypotheses=HYPOTHESES,
                       options=PlannerOptions.from_mapping(quick_options()))
    assert [(g.hypothesis, g.score, g.margin, tuple(g.trajectory[-1]), tuple(g.grip_efforts))
            for g in here.grasps] == ranking(alone)
    assert here.rejections == dict(zip(alone.rejection_reasons, alone.rejection_counts))


def test_two_stages_are_those_of_one_process_to_the_last_bit(client, alone):
    prepared = cache_directory() / 'compliance'
    result = client.plan(goal(elasticity='auto', seed=1))
    made = {file: file.stat().st_mtime_ns for file in prepared.glob('*/sha256')}
    here = plan_grasps(ball(), hypotheses=HYPOTHESES, elasticity='auto', seed=1,
                       options=PlannerOptions.from_mapping(quick_options()))
    assert [g.robustness.holding for g in here.grasps] == [g.robustness for g in result.grasps]
    assert {g.elasticity for g in result.grasps} == {'body'}
    assert [(g.hypothesis, g.score, g.margin, tuple(g.trajectory[-1]), tuple(g.grip_efforts))
            for g in here.grasps] == ranking(result) != ranking(alone)
    assert len(made) == 1 and made == {
        file: file.stat().st_mtime_ns for file in prepared.glob('*/sha256')}


@pytest.mark.nightly     # by day library/test_own_compliance
def test_what_has_no_own_compliance_is_answered_by_half_spaces_with_the_words_of_one_process(
        client):
    mesh = ball().mesh
    crumb = 0.1 * mesh.vertices + [0.0, 0.0, 0.04]
    pair = bodies.GraspObject(bodies.TriangleMesh(
        np.concatenate([mesh.vertices, crumb]),
        np.concatenate([mesh.faces, mesh.faces + len(crumb)])), MATERIAL, 'ball and crumb')
    result = client.plan(goal(pair, elasticity='auto'))
    here = plan_grasps(pair, hypotheses=HYPOTHESES, elasticity='auto',
                       options=PlannerOptions.from_mapping(quick_options()))
    assert [g.hypothesis for g in here.grasps] == [row[0] for row in ranking(result)] != []
    assert [list(g.warnings) for g in here.grasps] == [g.warnings for g in result.grasps]
    assert all('must be of one piece' in g.warnings[-1] and g.elasticity == 'half_space'
               for g in result.grasps)


def test_the_planner_tells_its_hand(client):
    assert client.hand_files() == ('', '')


def test_no_grasp_is_answered_with_the_hint_of_one_process(client):
    request = goal(hypotheses=4)
    request.material.friction = 0.03
    answer = client.plan(request)
    body = bodies.GraspObject(ball().mesh, replace(ball().material, friction=0.03))
    here = plan_grasps(body, hypotheses=4,
                       options=PlannerOptions.from_mapping(quick_options()))
    assert status_name(answer) == 'NO_GRASP' and here.grasps == []
    assert answer.hint == answer.message == here.hint and 'slippery' in here.hint
    assert answer.has_nearest_miss
    assert answer.nearest_miss.hypothesis == here.nearest_miss.hypothesis
    assert answer.nearest_miss.needed_friction == here.nearest_miss.needed_friction


def test_the_service_answers_as_the_action_does(client, alone):
    answer = client.plan_by_service(as_request(goal(), PlanGrasp.Request))
    assert answer.status == alone.status and ranking(answer) == ranking(alone)


def test_grasps_come_in_the_frame_of_the_request(client, alone):
    half = np.sqrt(0.5)
    pose = Pose(position=Point(x=1.0, y=2.0, z=3.0),
                orientation=Quaternion(x=0.0, y=0.0, z=half, w=half))
    request = goal(object_pose=pose)
    request.header.frame_id = 'table'
    moved = client.plan(request)
    assert moved.grasps[0].header.frame_id == 'table'
    T_table_object = conversions.pose_from_msg(pose)
    for told, own in zip(moved.grasps, alone.grasps):
        np.testing.assert_allclose(
            conversions.pose_from_msg(told.hand_pose),
            T_table_object @ conversions.pose_from_msg(own.hand_pose), rtol=0.0,
            atol=ATOL_ROUNDOFF)


@pytest.mark.nightly     # by day four at once are cancelled, below
def test_four_requests_at_once_are_each_ranked_as_if_alone(client):
    goals = [goal(ball(radius), hypotheses=4, seed=seed)
             for radius, seed in ((0.03, 0), (0.035, 1), (0.04, 2), (0.03, 3))]
    together = [None] * len(goals)

    def ask(i):
        with PlanGraspClient(node_name=f'client_{i}') as own:
            together[i] = own.plan(goals[i])

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(len(goals))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for request, answer in zip(goals, together):
        assert status_name(answer) in ('SUCCEEDED', 'NO_GRASP')
        assert ranking(client.plan(request)) == ranking(answer)


def test_a_fifth_request_is_answered_busy_and_cancel_is_prompt(client):
    clients = [PlanGraspClient(node_name=f'busy_{i}') for i in range(4)]
    stop, results, ended = threading.Event(), [None] * 4, [0.0] * 4

    def ask(i):
        results[i] = clients[i].plan(goal(hypotheses=500, max_planning_time=PLANNING_TIME),
                                     lambda feedback: not stop.is_set())
        ended[i] = time.monotonic()

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    busy = None
    assert wait_for(lambda: serves(client, 4)), 'the requests did not begin'
    busy = client.plan_by_service(as_request(goal(), PlanGrasp.Request))
    stop.set()
    for thread in threads:
        thread.join()
    for one in clients:
        one.close()
    assert status_name(busy) == 'BUSY' and '4 requests' in busy.message
    assert [status_name(result) for result in results] == ['CANCELED'] * 4
    # What has been cancelled keeps its place until its hypotheses have been proposed.
    assert wait_for(lambda: serves(client, 0)), 'the requests did not end'


def serves(client, count):
    """Return whether the planner says that it works on ``count`` requests."""
    with Listener(client, DiagnosticArray, '/diagnostics', reliable(10)) as heard:
        wait_for(lambda: planner_values(heard), 3.0)
        return planner_values(heard).get('requests') == str(count)


def planner_values(heard):
    for array in reversed(heard):
        for status in array.status:
            if status.name.endswith('grasp_planner'):
                return {pair.key: pair.value for pair in status.values}
    return {}


def test_a_cancelled_plan_returns_the_best_so_far_within_half_a_second(client):
    seen, moment = [], []

    def stop_at_first(feedback):
        seen.append(feedback)
        if feedback.evaluated:
            moment.append(time.monotonic())
            return False
        return True

    result = client.plan(goal(hypotheses=500, max_planning_time=PLANNING_TIME), stop_at_first)
    assert time.monotonic() - moment[0] < CANCEL_TIME + SLACK
    assert status_name(result) == 'CANCELED'
    assert result.evaluated < result.total
    assert seen[-1].total == result.total


def test_a_plan_whose_time_is_up_returns_the_best_so_far(client):
    begin = time.monotonic()
    result = client.plan(goal(hypotheses=500, max_planning_time=1.0))
    assert time.monotonic() - begin < 1.0 + SLACK
    assert status_name(result) == 'TIMED_OUT'
    assert 'time is up' in result.message
    # On a busy machine the time may be up before there is anything to evaluate.
    assert result.evaluated < result.total or 'still being proposed' in result.message


def test_given_grasps_are_scored_as_they_were_planned(client, alone):
    request = as_request(goal(), EvaluateGrasp.Request)
    request.grasps = list(alone.grasps)
    answer = client.evaluate(request)
    assert status_name(answer) == 'SUCCEEDED', answer.message
    assert answer.grasps[0].stable and not answer.reasons[0]
    assert [bool(reason) for reason in answer.reasons] == [
        not grasp.stable for grasp in answer.grasps]
    # A pose that was a quaternion on its way is off by roundings, which may move patch nodes.
    np.testing.assert_allclose([g.margin for g in answer.grasps],
                               [g.margin for g in alone.grasps], rtol=RTOL_NODES, atol=0.0)


def test_a_given_grasp_is_closed_on_request_and_held_more_firmly(client, alone):
    request = as_request(goal(), EvaluateGrasp.Request)
    request.grasps, request.close = list(alone.grasps[:1]), True
    answer = client.evaluate(request)
    assert status_name(answer) == 'SUCCEEDED', answer.message
    closed, planned = answer.grasps[0], alone.grasps[0]
    assert closed.stable and not answer.reasons[0] and closed.preshape == planned.preshape
    assert closed.margin > planned.margin


def test_an_object_that_was_published_is_planned_by_its_label(client, alone):
    publisher = client.node.create_publisher(GraspObject, 'grasp_object', latched(1))
    publisher.publish(conversions.grasp_object_to_msg(ball()))
    request = PlanGrasp.Request(object_id='ball', max_hypotheses=HYPOTHESES,
                                max_planning_time=PLANNING_TIME)
    answer = None

    def planned():
        nonlocal answer
        answer = client.plan_by_service(request)
        return answer.status != Status.INVALID_REQUEST

    assert wait_for(planned), answer.message
    assert ranking(answer) == ranking(alone)


# -- bad requests --------------------------------------------------------------------


def broken(**changes):
    request = goal()
    for name, value in changes.items():
        setattr(request, name, value)
    return request


def open_mesh():
    mesh = ball().mesh
    return conversions.mesh_to_msg(mesh.vertices, mesh.faces[len(mesh.faces) // 2:])


def not_finite():
    mesh = conversions.mesh_to_msg(ball().mesh.vertices, ball().mesh.faces)
    mesh.vertices[0].x = float('nan')
    return mesh


@pytest.mark.parametrize('name, change', [
    ('no mesh', lambda: {'mesh': type(goal().mesh)()}),
    ('both meshes', lambda: {'mesh_resource': 'apple.stl'}),
    ('no such file', lambda: {'mesh': type(goal().mesh)(), 'mesh_resource': '/nowhere.stl'}),
    ('open mesh', lambda: {'mesh': open_mesh()}),
    ('not finite', lambda: {'mesh': not_finite()}),
    ('millimetres', lambda: {'scale': 1000.0}),
    ('scale', lambda: {'scale': -1.0}),
    ('unknown material', lambda: {'material': Material(name='jelly')}),
    ('absurd material', lambda: {'material': Material(
        youngs_modulus=1e5, poisson_ratio=0.7, density=1.0, friction=0.5)}),
    ('time', lambda: {'max_planning_time': float('nan')}),
    ('obstacle', lambda: {'obstacles': [SolidPrimitive(type=4)], 'obstacle_poses': [Pose()]}),
    ('gravity', lambda: {'task': Task(gravity=-9.81)}),
])
def test_a_malformed_request_is_refused_in_one_line(client, name, change):
    result = client.plan(broken(**change()))
    assert status_name(result) == 'INVALID_REQUEST'
    assert result.message and '\n' not in result.message


def test_a_grasp_with_unknown_joints_is_refused(client, alone):
    request = as_request(goal(), EvaluateGrasp.Request)
    request.grasps = list(alone.grasps[:1])
    names = list(request.grasps[0].joint_trajectory.joint_names)
    request.grasps[0].joint_trajectory.joint_names = ['elbow', *names[1:]]
    answer = client.evaluate(request)
    request.grasps[0].joint_trajectory.joint_names = names
    assert status_name(answer) == 'INVALID_REQUEST' and 'elbow' in answer.message


def test_the_nodes_outlive_malformed_requests(suite, client, alone):
    suite.check()
    assert ranking(client.plan(goal())) == ranking(alone)


# -- the ring by hand ----------------------------------------------------------------


def question(**ring):
    hand = load_default_hand()
    joints = np.zeros((1, len(hand.joint_names)))
    batch = ConfigurationBatch(np.eye(4)[None], joints, joints, np.zeros((1, 3)))
    return conversions.configurations_to_msg(batch, RingHeader(
        **{'planner_id': 'test', 'hand_id': hand.id, 'object_id': 'unheard of', **ring}))


def lap(client, message):
    """Return the deformation's answer to a message sent by hand."""
    publisher = client.node.create_publisher(
        HandConfigurations, 'plan/hand_configurations', reliable(8))
    with Listener(client, GraspStates, 'plan/grasp_states', reliable(8)) as heard:
        assert wait_for(lambda: publisher.get_subscription_count())
        for _ in range(10):
            publisher.publish(message)
            if wait_for(lambda: answers(heard), 1.0):
                break
        client.node.destroy_publisher(publisher)
        assert answers(heard), 'no answer'
        return answers(heard)[-1]


def answers(heard):
    return [message for message in heard if message.ring.planner_id == 'test']


def test_an_object_that_a_stage_does_not_hold_is_told_at_once(client):
    ring = lap(client, question()).ring
    assert ring.status == RingHeader.UNKNOWN_OBJECT
    assert ring.stage == 'contact_detection' and 'unheard of' in ring.message


def test_another_hand_is_told_at_once_by_the_first_stage(client):
    ring = lap(client, question(hand_id='claw', request_id='7', batch_id=3, attempt=2)).ring
    assert ring.status == RingHeader.HAND_MISMATCH and ring.stage == 'forward_kinematics'
    assert (ring.request_id, ring.batch_id, ring.attempt) == ('7', 3, 2)


def test_a_malformed_batch_fails_in_one_line_and_the_stage_lives_on(suite, client):
    message = question()
    message.joint_positions = message.joint_positions[:-2]
    ring = lap(client, message).ring
    assert ring.status == RingHeader.FAILED and ring.stage == 'forward_kinematics'
    assert 'joint_positions' in ring.message and '\n' not in ring.message
    suite.check()


# -- stages that are missing or replaced ---------------------------------------------


def test_a_stage_that_was_stopped_is_named_and_one_that_came_back_serves(
        suite, client, alone, monkeypatch):
    # A node that is killed instead stays in the graph for a while.
    monkeypatch.setattr('gripsim_ros.ros.clients.suite.STOP_TIMEOUT', PATIENCE)
    suite.stop(['contact_detection'])
    begin = time.monotonic()
    result = client.plan(goal(max_planning_time=PLANNING_TIME))
    assert status_name(result) == 'STAGE_MISSING'
    assert result.message.startswith('contact_detection is not there')
    assert time.monotonic() - begin < (ATTEMPTS + 1) * SHORT_TIMEOUT + SLACK
    suite.start(['contact_detection'])
    suite.wait_until_ready(['contact_detection'])
    assert ranking(client.plan(goal())) == ranking(alone)


@pytest.mark.nightly     # by day one that was stopped is named
@pytest.mark.parametrize('stage', STAGES)
def test_a_stage_that_is_silent_is_named_within_the_time_limit(suite, client, alone, stage):
    begin = time.monotonic()
    with paused(suite.processes[stage]):
        result = client.plan(goal(max_planning_time=PLANNING_TIME))
    assert status_name(result) == 'STAGE_MISSING', result.message
    assert result.message.startswith(stage)
    assert time.monotonic() - begin < ATTEMPTS * SHORT_TIMEOUT + SLACK


@pytest.mark.nightly     # by day the ranking over nodes is that of the stages in one process
@pytest.mark.parametrize('stage', STAGES)
def test_a_stage_with_doubled_answers_changes_the_ranking(suite, client, alone, doubles, stage):
    def change(transition):
        request = ChangeState.Request(transition=Transition(id=transition))
        answer, asks = call(client, ChangeState, f'doubled_{stage}/change_state', request)
        assert answer.success or asks > 1       # it was heard before, its answer was lost

    change(Transition.TRANSITION_CONFIGURE)
    with paused(suite.processes[stage]):
        change(Transition.TRANSITION_ACTIVATE)
        try:
            result = client.plan(goal())
        finally:
            change(Transition.TRANSITION_DEACTIVATE)
    assert status_name(result) in ('SUCCEEDED', 'NO_GRASP'), result.message
    assert forces(result) != forces(alone)


def forces(result):
    return [(grasp.hypothesis, [conversions.xyz(c.closing_force).tolist() for c in grasp.contacts])
            for grasp in result.grasps]


# -- time, state, live ---------------------------------------------------------------


def set_sim_time(client, value):
    request = SetParameters.Request(parameters=[
        Parameter('use_sim_time', value=value).to_parameter_msg()])
    for name in NODES:
        answer, _ = call(client, SetParameters, f'{name}/set_parameters', request)
        assert answer.results[0].successful


def test_a_simulated_time_without_a_clock_stops_nothing(client, alone):
    set_sim_time(client, True)
    try:
        assert ranking(client.plan(goal())) == ranking(alone)
        with Listener(client, DiagnosticArray, '/diagnostics', reliable(10)) as heard:
            assert wait_for(lambda: len(heard) >= 2 * len(NODES))
    finally:
        set_sim_time(client, False)


def set_parameter(client, node, name, value):
    request = SetParameters.Request(parameters=[Parameter(name, value=value).to_parameter_msg()])
    return call(client, SetParameters, f'{node}/set_parameters', request)[0].results[0]


def get_parameter(client, node, name):
    request = GetParameters.Request(names=[name])
    return call(client, GetParameters, f'{node}/get_parameters', request)[0].values[0].string_value


def test_options_and_materials_change_for_the_requests_that_come(client, alone, tmp_path):
    options, materials = tmp_path / 'planner.yaml', tmp_path / 'materials.yaml'
    options.write_text(yaml.safe_dump({**quick_options(), 'max_grasps': 1}))
    materials.write_text(yaml.safe_dump({'default': 'putty', 'materials': {'putty': PUTTY}}))
    of_putty = goal(max_grasps=0)
    of_putty.material = Material(name='putty')
    before = get_parameter(client, 'grasp_planner', 'planner_config')
    single = ranking(client.plan(goal(max_grasps=1)))
    try:
        assert 'putty' in client.plan(of_putty).message
        assert set_parameter(client, 'grasp_planner', 'materials', str(materials)).successful
        assert ranking(client.plan(of_putty)) == ranking(alone)
        assert set_parameter(client, 'grasp_planner', 'planner_config', str(options)).successful
        assert ranking(client.plan(of_putty)) == single != ranking(alone)
        assert len(single) == 1
    finally:
        for name, value in (('planner_config', before), ('materials', '')):
            assert set_parameter(client, 'grasp_planner', name, value).successful
    assert ranking(client.plan(goal())) == ranking(alone)


def test_a_request_that_names_no_model_of_the_object_is_planned_by_that_of_the_options(
        client, alone, tmp_path):
    options, before = tmp_path / 'planner.yaml', get_parameter(
        client, 'grasp_planner', 'planner_config')
    options.write_text(yaml.safe_dump({**quick_options(), 'elasticity': 'auto'}))
    assert set_parameter(client, 'grasp_planner', 'planner_config', str(options)).successful
    try:
        left_out, named = (client.plan(goal(elasticity=name)) for name in ('', 'half_space'))
    finally:
        assert set_parameter(client, 'grasp_planner', 'planner_config', before).successful
    assert {grasp.elasticity for grasp in left_out.grasps} == {'body'}
    assert ranking(named) == ranking(alone) != ranking(left_out)


@pytest.mark.parametrize('node, name, value, reason', [
    ('grasp_planner', 'planner_config', 'no_such_file.yaml', 'no_such_file.yaml'),
    ('deformation', 'mechanics_config', '', 'read-only'), *(
        pytest.param(*case, marks=pytest.mark.nightly) for case in (
            ('grasp_planner', 'materials', 3, 'must be str'),
            ('grasp_planner', 'credits', 2, 'read-only')))])
def test_what_cannot_change_says_so(client, alone, node, name, value, reason):
    refused = set_parameter(client, node, name, value)
    assert not refused.successful and reason in refused.reason, refused
    assert ranking(client.plan(goal())) == ranking(alone)


def test_every_node_says_how_it_is(client):
    with Listener(client, DiagnosticArray, '/diagnostics', reliable(50)) as heard:
        def levels():
            return {s.name: s.level for a in heard for s in a.status if s.name in NODES}
        # One that has been without news of another for a while says so for a moment.
        well = wait_for(lambda: levels() == dict.fromkeys(NODES, DiagnosticStatus.OK))
        last = {s.name: (s.message, {v.key: v.value for v in s.values})
                for a in heard for s in a.status if s.name in NODES}
        assert well, {name: last.get(name) for name in NODES
                      if levels().get(name) != DiagnosticStatus.OK}


def live_state(heard):
    for array in reversed(heard):
        for status in array.status:
            if status.name == 'forward_kinematics':
                return {pair.key: pair.value for pair in status.values}['live']
    return ''


def test_a_live_hand_goes_round_the_ring_and_what_is_missing_is_said(client):
    hand, node = load_default_hand(), client.node
    publishers = {
        'object': node.create_publisher(GraspObject, 'grasp_object', latched(1)),
        'joints': node.create_publisher(JointState, 'joint_states', 10),
        'palm': node.create_publisher(PoseStamped, 'palm_pose', 10),
        'body': node.create_publisher(PoseStamped, 'object_pose', 10)}
    publishers['object'].publish(conversions.grasp_object_to_msg(ball()))
    T_object_palm = np.eye(4)
    T_object_palm[2, 3] = -0.115
    step = 0

    def move(with_poses):
        nonlocal step
        step += 1
        angles = 0.001 * (step % 100)
        names = ['elbow', *hand.joint_names]
        for part in (names[:4], names[4:]):
            publishers['joints'].publish(JointState(name=part, position=[angles] * len(part)))
        if with_poses:
            for name, T in (('palm', T_object_palm), ('body', np.eye(4))):
                message = PoseStamped(pose=conversions.pose_to_msg(T))
                message.header.frame_id = 'world'
                publishers[name].publish(message)
        time.sleep(0.02)

    with Listener(client, GraspStates, 'live/grasp_states', latest()) as states, \
            Listener(client, MarkerArray, 'live/markers', latest()) as markers, \
            Listener(client, DiagnosticArray, '/diagnostics', reliable(50)) as heard:
        def missing():
            move(False)
            return 'no pose between frames' in live_state(heard)
        assert wait_for(missing), live_state(heard)
        assert not states

        def shown():
            move(True)
            return len(states) > 3 and markers
        assert wait_for(shown), live_state(heard)
    state = states[-1]
    assert state.ring.status == RingHeader.OK and state.configuration_count == 1
    assert state.ring.object_id == ball().id
    assert len(state.vertices_object) == ball().mesh.vertices.size
    for publisher in publishers.values():
        node.destroy_publisher(publisher)


# -- processes -----------------------------------------------------------------------


def start_node(*arguments, code=None, name='contact_detection'):
    command = ['-c', code] if code else ['-m', PROGRAMS[name], *arguments]
    return subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env=os.environ)


def test_a_node_without_the_interfaces_ends_with_one_line():
    process = start_node(code=(
        'import sys, runpy; sys.modules["gripsim_interfaces"] = None; '
        'runpy.run_module("gripsim_ros.ros.nodes.ring.deformation", run_name="__main__")'))
    said = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 1
    assert len(said.strip().splitlines()) == 1
    assert 'make setup' in said and 'colcon build' in said


@pytest.mark.parametrize('argument, words', [
    ('copy:=3', 'copy must be below copies'),
    *(pytest.param(*case, marks=pytest.mark.nightly) for case in (
        ('copies:=0', 'copies must be int from 1 to 64, got 0'),
        ('urdf:=/nowhere.urdf', 'urdf and hand_config go together')))])
def test_bad_parameters_end_a_node_with_one_line(argument, words):
    process = start_node('--ros-args', '-p', argument)
    said = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 2
    assert said.strip().count('\n') == 0 and words in said


def test_a_planner_that_is_not_there_is_said_and_nothing_hangs():
    with PlanGraspClient(namespace='/empty') as nobody, \
            pytest.raises(ServerLost, match='no grasp_planner was found within 0.5 s'):
        nobody.wait_for_server(0.5)


def test_a_planner_that_is_killed_while_planning_is_noticed(suite, client, monkeypatch):
    monkeypatch.setattr('gripsim_ros.ros.clients.plan.SILENCE', SILENCE)
    result = []

    def ask():
        try:
            goal_msg = goal(hypotheses=500, max_planning_time=PLANNING_TIME)
            client.plan(PlanGrasps.Goal(**fields(goal_msg)),
                        lambda feedback: result.append(feedback))
        except ServerLost as error:
            result.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    assert wait_for(lambda: result, PATIENCE)
    begin = time.monotonic()
    suite.processes['grasp_planner'].kill()
    thread.join(PATIENCE)
    assert isinstance(result[-1], ServerLost)
    assert time.monotonic() - begin < SILENCE + SLACK
    suite.processes['grasp_planner'].wait(PATIENCE)
    suite.start(['grasp_planner'])
    suite.wait_until_ready(['grasp_planner'])


def fields(message):
    return {name: getattr(message, name) for name in message.get_fields_and_field_types()}


def test_the_nodes_end_cleanly_when_they_are_asked_to(suite, monkeypatch):
    monkeypatch.setattr('gripsim_ros.ros.clients.suite.STOP_TIMEOUT', PATIENCE)
    processes = dict(suite.processes)
    suite.stop()
    assert {name: process.returncode for name, process in processes.items()} == dict.fromkeys(
        NODES, 0)


@pytest.mark.nightly
def test_a_stage_that_is_killed_in_the_second_stage_changes_no_bit(tmp_path, monkeypatch):
    """The first time before the object's own compliance is kept, then after."""
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    asked, heard = goal(elasticity='auto'), []
    with Suite(os.environ, parameters=parameters(tmp_path)) as suite, PlanGraspClient() as client:
        for _ in range(2):
            with Listener(client, HandConfigurations, 'plan/hand_configurations',
                          reliable(20)) as questions:
                thread = threading.Thread(target=lambda: heard.append(client.plan(asked)))
                thread.start()
                assert wait_for(lambda: any(question.elasticity == 'body'
                                            for question in list(questions)), PATIENCE, 0.001)
                stage = suite.processes['deformation']
                stage.kill()
            stage.wait(PATIENCE)
            suite.start(['deformation'])
            thread.join(PATIENCE)
            suite.wait_until_ready(['deformation'])
        heard.append(client.plan(asked))
    assert [status_name(result) for result in heard] == 3 * ['SUCCEEDED']
    assert ranking(heard[0]) == ranking(heard[1]) == ranking(heard[2])
    assert {grasp.elasticity for result in heard for grasp in result.grasps} == {'body'}
