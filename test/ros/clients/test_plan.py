"""The client against a planner whose messages get lost."""

import contextlib
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

rclpy = pytest.importorskip('rclpy', reason='needs rclpy: `make setup`')
pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from gripsim_interfaces.action import PlanGrasps  # noqa: E402
from gripsim_interfaces.srv import PlanGrasp  # noqa: E402
from rclpy.action.server import GoalResponse  # noqa: E402
from rclpy.exceptions import InvalidHandle  # noqa: E402
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor  # noqa: E402
from shape_msgs.msg import MeshTriangle  # noqa: E402
from suite_cases import wait_for  # noqa: E402

from gripsim_ros.ros.clients import plan as client_module  # noqa: E402
from gripsim_ros.ros.clients.plan import PlanGraspClient, ServerLost  # noqa: E402
from lossy_planner import (  # noqa: E402
    ALWAYS, ASK_AGAIN, EVALUATED, LossyPlanner, NAMESPACE, SILENCE)


#: For what must happen, on a busy machine [s].
LONG = 60.0


@pytest.fixture(scope='module')
def shared():
    """Yield one planner and a client of it."""
    context = rclpy.Context()
    rclpy.init(context=context, signal_handler_options=rclpy.SignalHandlerOptions.NO)
    planner = LossyPlanner(context)
    executor = MultiThreadedExecutor(4, context=context)
    executor.add_node(planner.node)

    def spin():
        with contextlib.suppress(ExternalShutdownException):
            executor.spin()

    thread = threading.Thread(target=spin, daemon=True)
    thread.start()
    with PlanGraspClient(namespace=NAMESPACE) as client:
        yield planner, client
    executor.shutdown(1.0)
    thread.join(5.0)
    planner._action.destroy()
    planner.node.destroy_node()     # else it stays in the graph
    context.try_shutdown()


@pytest.fixture
def lossy(shared, monkeypatch):
    """Return planner and client with short times, and nothing lost yet."""
    monkeypatch.setattr(client_module, 'ASK_AGAIN', ASK_AGAIN)
    monkeypatch.setattr(client_module, 'SILENCE', LONG)
    planner, client = shared
    planner.losses.clear()
    planner.runs, planner.accepts = 0, GoalResponse.ACCEPT
    return planner, client


@pytest.mark.parametrize('lost', ['send_goal_response', 'send_result_response'])
@pytest.mark.parametrize('count', [1, 2])
def test_a_plan_whose_messages_get_lost_is_asked_for_again_and_runs_once(lossy, lost, count):
    planner, client = lossy
    planner.losses[lost] = count
    result = client.plan(PlanGrasps.Goal())
    assert result.evaluated == EVALUATED
    assert planner.runs == 1
    assert planner.losses[lost] == 0


def test_a_planner_that_never_answers_is_lost_after_a_silence(lossy, monkeypatch):
    planner, client = lossy
    monkeypatch.setattr(client_module, 'SILENCE', SILENCE)
    planner.losses['send_goal_response'] = planner.losses['send_result_response'] = ALWAYS
    begin = time.monotonic()
    with pytest.raises(ServerLost, match='silent'):
        client.plan(PlanGrasps.Goal())
    assert SILENCE <= time.monotonic() - begin < LONG
    assert wait_for(lambda: planner.runs) and planner.runs == 1


def test_a_planner_that_serves_others_is_not_silent(lossy, monkeypatch):
    planner, client = lossy
    monkeypatch.setattr(client_module, 'SILENCE', SILENCE)
    planner.losses['send_goal_response'] = planner.losses['send_result_response'] = ALWAYS
    ended = threading.Event()

    def ask_on():
        while not ended.wait(0.3 * SILENCE):
            client._plan.send_goal_async(PlanGrasps.Goal())
    others = threading.Thread(target=ask_on)
    others.start()
    try:
        with pytest.raises(ServerLost, match='in time'):
            client.plan(PlanGrasps.Goal(), timeout=1.5 * SILENCE)
    finally:
        ended.set()
        others.join()


@pytest.mark.parametrize('call, wait', [('plan', '_ask'), ('plan_by_service', '_await')])
def test_the_time_to_find_the_planner_counts(lossy, monkeypatch, call, wait):
    _, client = lossy
    now, ends = [100.0], []

    def find(timeout):
        now[0] += 0.5 * timeout

    def wait_until(answer, end, *_, **__):
        ends.append(end)
        raise ServerLost('asked')
    monkeypatch.setattr(client_module, 'time', SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(client, 'wait_for_server', find)
    monkeypatch.setattr(client, wait, wait_until)
    request = {'plan': PlanGrasps.Goal(), 'plan_by_service': PlanGrasp.Request()}[call]
    for timeout in (4.0, 20.0):
        begin = now[0]
        with pytest.raises(ServerLost, match='asked'):
            getattr(client, call)(request, timeout=timeout)
        assert ends.pop() == begin + timeout
        assert now[0] - begin == 0.5 * min(timeout, client_module.DISCOVERY_TIMEOUT)


def test_a_client_goes_on_listening_when_something_on_its_node_is_destroyed():
    ends = [InvalidHandle('a subscription that was waited for'), ExternalShutdownException()]

    def spin():
        raise ends.pop(0)

    client = PlanGraspClient.__new__(PlanGraspClient)
    client._context = SimpleNamespace(ok=lambda: True)
    client._executor = SimpleNamespace(spin=spin)
    client._spin()
    assert not ends


def test_an_answer_that_comes_while_its_question_is_taken_back_does_no_harm(lossy):
    _, client = lossy

    class Answered:
        def done(self):
            return True

        def result(self):
            return 'answer'

        def cancel(self):       # as rclpy does where its own thread was faster
            raise ValueError('list.remove(x): x not in list')
    assert client._ask(Answered, time.monotonic() + 60.0, [0.0]) == ('answer', 1)


def test_a_question_is_asked_again_more_and_more_seldom(lossy, monkeypatch):
    _, client = lossy
    now, asked = [0.0], []

    def pass_by(period):
        now[0] += period
    monkeypatch.setattr(client_module, 'time',
                        SimpleNamespace(monotonic=lambda: now[0], sleep=pass_by))

    def check(end, heard):
        if now[0] > end:
            raise ServerLost('late')
    monkeypatch.setattr(client, '_check', check)

    class Silent:
        def done(self):
            return False

        def cancel(self):
            pass

    def ask():
        asked.append(now[0])
        return Silent()
    with pytest.raises(ServerLost):
        client._ask(ask, 100.0, [0.0], wait=1.0)
    np.testing.assert_allclose(np.diff(asked), (ASK_AGAIN + 1.0) * np.array([1.0, 2.0, 4.0]),
                               atol=3 * client_module.POLL_PERIOD)


def test_a_large_mesh_is_given_time_to_be_read(lossy, monkeypatch):
    _, client = lossy
    now, given = [100.0], []

    def keep(ask, end, heard, *_, wait=0.0):
        given.append((heard[0] - now[0], wait))
        raise ServerLost('asked')
    monkeypatch.setattr(client_module, 'time', SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(client, 'wait_for_server', lambda *_: None)
    monkeypatch.setattr(client, '_ask', keep)
    goal = PlanGrasps.Goal()
    goal.mesh.triangles = [MeshTriangle()] * 500_000
    with pytest.raises(ServerLost, match='asked'):
        client.plan(goal)
    expected = 500_000 * client_module.READ_TIME
    assert expected >= 20.0
    np.testing.assert_allclose(given, [(expected, expected)])


def test_a_refused_plan_is_not_asked_for_again(lossy):
    planner, client = lossy
    planner.accepts = GoalResponse.REJECT
    with pytest.raises(ServerLost, match='did not accept'):
        client.plan(PlanGrasps.Goal())
    assert planner.runs == 0
