"""The planner's requests without a ring: rooms, time limits, lines of errors."""

import gc
import threading
from types import SimpleNamespace
import weakref

import pytest

pytest.importorskip('rclpy', reason='needs rclpy: `make setup`')
pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from fault_cases import is_line  # noqa: E402
from geometry_msgs.msg import Point  # noqa: E402
from gripsim_interfaces.action import PlanGrasps  # noqa: E402
from gripsim_interfaces.msg import Grasp  # noqa: E402
from gripsim_interfaces.srv import EvaluateGrasp, PlanGrasp  # noqa: E402
from shape_msgs.msg import Mesh, MeshTriangle  # noqa: E402
from suite_cases import wait_for  # noqa: E402

from gripsim_ros.core.errors import MeshError  # noqa: E402
from gripsim_ros.ros.nodes.base.node_base import one_line  # noqa: E402
from gripsim_ros.ros.nodes.planner import requests_served  # noqa: E402
from gripsim_ros.ros.nodes.planner.dispatcher import Dispatcher  # noqa: E402
from gripsim_ros.ros.nodes.planner.requests_served import (  # noqa: E402
    LARGE_MESH, TURN_PERIOD, RequestServer, _Plan)
from gripsim_ros.ros.nodes.planner.sessions import RingSettings, Session  # noqa: E402

Status = PlanGrasp.Response
ROOMS, LIMIT = 2, 0.05


def large_mesh(count: int = LARGE_MESH + 1) -> Mesh:
    """Return a mesh of so many triangles at one vertex."""
    return Mesh(vertices=[Point()], triangles=[MeshTriangle()] * count)


@pytest.fixture
def node():
    """Yield what the server needs of its node; reading a mesh takes until ``read`` is set."""
    read, reading = threading.Event(), []

    def wait_and_refuse(msg, mesh=None):
        reading.append(mesh)
        read.wait()
        raise MeshError('read at last')
    dispatcher = Dispatcher(RingSettings(1, 1.0, 1), None, None, lambda: ())
    thread = threading.Thread(target=dispatcher.run, daemon=True)
    thread.start()
    yield SimpleNamespace(
        values={'max_requests': ROOMS}, active=True, dispatcher=dispatcher, read=read,
        reading=reading, next_request_id=lambda: 'r',
        reader=SimpleNamespace(read=wait_and_refuse,
                               triangle_estimate=lambda msg: len(msg.mesh.triangles)),
        arm_choice=SimpleNamespace(is_wanted=False, time_kept=lambda limit: 0.0,
                                   grasps_to_plan=lambda wanted, _: wanted),
        report_error=pytest.fail, options=SimpleNamespace(max_planning_time=1.0, max_grasps=10))
    read.set()
    dispatcher.close()
    thread.join(5.0)


@pytest.mark.parametrize('lives', [True, False])
def test_what_fails_because_ros_has_ended_is_told_as_that(node, lives):
    def publish(msg, mesh=None):
        raise RuntimeError("Failed to publish: publisher's context is invalid")
    said = []
    node.reader.read, node.report_error = publish, said.append
    node.context = SimpleNamespace(ok=lambda: lives)
    answer = RequestServer(node).plan(PlanGrasp.Request(max_planning_time=10.0),
                                      PlanGrasp.Response())
    assert answer.status == Status.INTERNAL
    assert ('context is invalid' if lives else 'the node is shutting down') in answer.message


def test_a_request_whose_time_is_up_keeps_its_room_until_its_mesh_is_read(node):
    server = RequestServer(node)

    def ask():
        return server.plan(PlanGrasp.Request(max_planning_time=LIMIT), PlanGrasp.Response())
    # On a busy machine a request's time may be up before its mesh is begun with.
    assert wait_for(lambda: ask().status == Status.TIMED_OUT and len(node.reading) == ROOMS)
    assert ask().status == Status.BUSY and len(node.reading) == ROOMS
    node.read.set()
    assert wait_for(lambda: ask().status == Status.INVALID_REQUEST)
    assert server.running == 0


@pytest.mark.parametrize('count, judging', [(0, 4.0), (100, 4.0 - 0.3), (10000, 1.0)])
def test_what_writing_an_answer_takes_is_within_the_limit(node, count, judging):
    msg = EvaluateGrasp.Request(grasps=[Grasp()] * count, max_planning_time=4.0)
    session = RequestServer(node)._begin(msg, 100.0).session
    assert session.limit == pytest.approx(4.0) and session.deadline == pytest.approx(100 + judging)


def test_large_meshes_take_turns_and_small_ones_do_not_wait(node):
    server, ended, waiting = RequestServer(node), threading.Event(), threading.Event()
    inside, said = [], []

    class Waits(threading.Event):
        def is_set(self):
            waiting.set()
            return super().is_set()

    def prepare(name, faces, done):
        with server._turn(faces, SimpleNamespace(done=done)):
            inside.append(name)
            assert ended.wait(60.0) or name != 'first'
        said.append(name)
    done = {name: Waits() for name in ('second', 'third')}
    first = threading.Thread(target=prepare, args=('first', LARGE_MESH + 1, threading.Event()))
    first.start()
    assert wait_for(lambda: inside == ['first'])
    others = [threading.Thread(target=prepare, args=(name, LARGE_MESH + 1, event))
              for name, event in done.items()]
    for thread in others:
        thread.start()
    assert waiting.wait(60.0)
    with server._turn(LARGE_MESH, SimpleNamespace(done=threading.Event())):
        assert inside == ['first']
    done['second'].set()        # its caller has gone: it waits no more
    assert wait_for(lambda: 'second' in inside)
    assert 'third' not in inside
    ended.set()
    for thread in [first, *others]:
        thread.join(60.0)
    assert sorted(said) == ['first', 'second', 'third'] and not server._large.locked()


def test_large_meshes_are_read_one_after_the_other(node):
    server = RequestServer(node)
    answers = []

    def ask():
        request = PlanGrasp.Request(max_planning_time=60.0, mesh=large_mesh())
        answers.append(server.plan(request, PlanGrasp.Response()).status)
    threads = [threading.Thread(target=ask) for _ in range(ROOMS)]
    for thread in threads:
        thread.start()
    assert wait_for(lambda: server.running == ROOMS and node.reading)
    assert not wait_for(lambda: len(node.reading) > 1, timeout=5 * TURN_PERIOD)
    node.read.set()
    for thread in threads:
        thread.join(60.0)
    assert answers == [Status.INVALID_REQUEST] * ROOMS and len(node.reading) == ROOMS


@pytest.mark.parametrize('with_arm', [False, True])
def test_a_large_mesh_leaves_its_message_while_its_request_waits(node, with_arm):
    node.arm_choice.is_wanted = with_arm
    server, msg = RequestServer(node), PlanGrasp.Request(max_planning_time=60.0, mesh=large_mesh())
    server._large.acquire()
    thread = threading.Thread(target=server.plan, args=(msg, PlanGrasp.Response()))
    thread.start()
    left = wait_for(lambda: not msg.mesh.triangles, timeout=5 * TURN_PERIOD if with_arm else 60.0)
    assert left is not with_arm and not node.reading
    server._large.release()
    node.read.set()
    thread.join(60.0)
    assert not msg.mesh.triangles
    [mesh] = node.reading
    assert (mesh is None) if with_arm else (mesh[1].shape == (LARGE_MESH + 1, 3))


def test_a_mesh_whose_size_shows_once_it_is_read_waits_for_its_turn_too(node, monkeypatch):
    server, go_on, published = RequestServer(node), threading.Event(), []
    large = SimpleNamespace(mesh=SimpleNamespace(faces=range(LARGE_MESH + 1)), id='o')
    node.reader.read = lambda msg, mesh: SimpleNamespace(grasp_object=large, scale=1.0)
    node.publish_object = lambda *_: (published.append('begun'), go_on.wait(60.0))
    node.shown = SimpleNamespace(show_object=lambda *_: None)
    monkeypatch.setattr(server, '_frame', lambda plan: None)

    def refuse(request):
        raise MeshError('enough')
    threads = [threading.Thread(target=server._prepare, args=(
        _Plan(PlanGrasp.Request(), Session('r', 0.0, 60.0)), refuse)) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert wait_for(lambda: published)
    assert not wait_for(lambda: len(published) > 1, timeout=5 * TURN_PERIOD)
    go_on.set()
    for thread in threads:
        thread.join(60.0)
    assert len(published) == 2 and not server._large.locked()


def test_a_line_is_told_whole_or_by_its_ends():
    assert one_line(MeshError('short\nand  clear')) == 'short and clear'
    long = one_line(MeshError(f'got {"x" * 100_000!r}, allowed is less'))
    assert is_line(long) and long.startswith('got ') and long.endswith('allowed is less')
    assert '99' in long and 'characters' in long


def test_a_mesh_is_let_go_of_once_it_is_answered_and_read(node):
    server = RequestServer(node)
    requests = [PlanGrasp.Request(max_planning_time=LIMIT) for _ in range(ROOMS + 1)]
    for request in requests:
        request.mesh.vertices = [Point()]
        request.cloud.data = b'points'
        server.plan(request, PlanGrasp.Response())
    assert [len(request.mesh.vertices) for request in requests] == [1] * ROOMS + [0]
    node.read.set()
    assert wait_for(lambda: not any(len(r.mesh.vertices) or len(r.cloud.data) for r in requests))


def test_what_a_goal_took_is_free_once_it_is_answered(node, monkeypatch):
    submitted, submit = [], node.dispatcher.submit

    def note(session):
        submitted.append(weakref.ref(session))
        submit(session)
    monkeypatch.setattr(node.dispatcher, 'submit', note)
    node.context = SimpleNamespace(ok=lambda: True)
    goal = SimpleNamespace(request=PlanGrasps.Goal(max_planning_time=60.0), abort=lambda: None,
                           goal_id=SimpleNamespace(uuid=bytes(16)), is_cancel_requested=False,
                           is_active=False)
    node.read.set()
    gc.disable()        # what refers to itself waits for the collector, perhaps long
    try:
        assert RequestServer(node).plan_with_feedback(goal).status == Status.INVALID_REQUEST
        assert wait_for(lambda: submitted[0]() is None, timeout=5.0)
    finally:
        gc.enable()


def test_a_planner_is_gone_before_memory_is_given_back(node, monkeypatch):
    class Planner:
        pass

    def work(plan, response):
        plan.session.planner = Planner()
        planners.append(weakref.ref(plan.session.planner))
    planners, alive = [], []
    monkeypatch.setattr(requests_served, 'LARGE_MESH', 2)
    monkeypatch.setattr(requests_served, 'return_memory',
                        lambda collect: alive.append(planners[-1]() is not None))
    msg = PlanGrasp.Request(mesh=large_mesh(3))
    RequestServer(node)._serve(msg, PlanGrasp.Response(), work)
    assert alive == [False]


@pytest.mark.parametrize('rooms, limit', [(ROOMS, LIMIT), (0, LIMIT), (ROOMS, 0.0)])
def test_freed_memory_goes_back_and_is_looked_for_after_large_meshes_even_if_not_read(
        node, monkeypatch, rooms, limit):
    given = []
    monkeypatch.setattr(requests_served, 'return_memory',
                        lambda collect: given.append((len(goal.triangles), collect)))
    monkeypatch.setattr(requests_served, 'LARGE_MESH', 2)
    node.values['max_requests'] = rooms
    server = RequestServer(node)
    if not limit:
        node.read.set()
    for count, expected in ((2, [(2, False)]), (3, [(2, False), (3, True)])):
        msg = PlanGrasp.Request(max_planning_time=limit)
        goal = msg.mesh = large_mesh(count)
        server.plan(msg, PlanGrasp.Response())
        node.read.set()
        assert wait_for(lambda: given == expected and not msg.mesh.triangles)
