"""An action client hears every answer, however soon it comes."""

import time

import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from gripsim_interfaces.action import PlanGrasps  # noqa: E402
from rclpy.action import ActionServer  # noqa: E402
from rclpy.task import Future  # noqa: E402
from sdh_cases import answer_of  # noqa: E402
from suite_cases import wait_for  # noqa: E402

from gripsim_ros.ros.clients.connection import Connection  # noqa: E402
from gripsim_ros.ros.nodes.base.action_client import PromptActionClient  # noqa: E402

#: Longer than an answer of a process to itself takes, as a thread may be kept waiting [s].
HELD_UP = 0.3
#: Of a busy machine [s].
TIMEOUT = 60.0


class HeldUp:
    """The handle of a client whose thread is held up as soon as its question is sent."""

    def __init__(self, handle):
        self._handle = handle

    def __getattr__(self, name):
        asked = getattr(self._handle, name)
        if not name.startswith('send_'):
            return asked

        def ask(request):
            number = asked(request)
            time.sleep(HELD_UP)
            return number
        return ask


@pytest.mark.parametrize('answered', ['before it is listed', 'while it is listed', 'after'])
def test_an_action_client_bears_an_answer_at_any_moment(answered, monkeypatch):
    with Connection('', 'prompt') as connection:
        client = PromptActionClient(connection.node, PlanGrasps, 'nobody_serves_this')
        future = Future()
        client._pending_goal_requests[1] = future
        if answered == 'before it is listed':
            future.set_result('handle')
        future.add_done_callback(client._remove_pending_goal_request)
        if answered == 'while it is listed':
            future.set_result('handle')
        client.add_future(future)
        if answered == 'after':
            future.set_result('handle')
        assert future.result() == 'handle'
        assert not client._futures and not client._pending_goal_requests
        client.destroy()


def ended(goal):
    goal.succeed()
    return PlanGrasps.Result(message='ended')


def test_no_answer_is_lost_that_comes_before_its_question_is_listed():
    with Connection('prompt', 'client') as connection, Connection('prompt', 'server') as other:
        server = ActionServer(other.node, PlanGrasps, 'plan', ended, callback_group=other.group)
        client = PromptActionClient(connection.node, PlanGrasps, 'plan')
        for each in (other, connection):
            each._listen()
        assert client.wait_for_server(TIMEOUT)
        # Middleware may lose an answer to a client that it has just met: let them meet.
        first, _ = answer_of(lambda: client.send_goal_async(PlanGrasps.Goal()), wait_for)
        for ask in (first.get_result_async, first.cancel_goal_async):
            answer_of(ask, wait_for)
        client._client_handle = HeldUp(client._client_handle)
        for ask in (lambda: client.send_goal_async(PlanGrasps.Goal()), first.get_result_async,
                    first.cancel_goal_async):
            answer = ask()
            assert wait_for(answer.done, TIMEOUT)
        server.destroy()
