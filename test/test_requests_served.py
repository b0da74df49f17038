"""The planner's requests without a ring: rooms, time limits, lines of errors."""

import threading
from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy', reason='needs rclpy: `make setup`')
pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from fault_cases import is_line  # noqa: E402
from gripsim_interfaces.srv import PlanGrasp  # noqa: E402
from suite_cases import wait_for  # noqa: E402

from gripsim_ros.core.errors import MeshError  # noqa: E402
from gripsim_ros.nodes.dispatcher import Dispatcher  # noqa: E402
from gripsim_ros.nodes.node_base import one_line  # noqa: E402
from gripsim_ros.nodes.requests_served import RequestServer  # noqa: E402
from gripsim_ros.nodes.sessions import RingSettings  # noqa: E402

Status = PlanGrasp.Response
ROOMS, LIMIT = 2, 0.05


@pytest.fixture
def node():
    """Yield what the server needs of its node; reading a mesh takes until ``read`` is set."""
    read = threading.Event()

    def wait_and_refuse(msg):
        read.wait()
        raise MeshError('read at last')
    dispatcher = Dispatcher(RingSettings(1, 1.0, 1), None, None, lambda: ())
    thread = threading.Thread(target=dispatcher.run, daemon=True)
    thread.start()
    yield SimpleNamespace(
        values={'max_requests': ROOMS}, active=True, dispatcher=dispatcher, read=read,
        reader=SimpleNamespace(read=wait_and_refuse), next_request_id=lambda: 'r',
        report_error=pytest.fail, options=SimpleNamespace(max_planning_time=1.0))
    read.set()
    dispatcher.close()
    thread.join(5.0)


def test_a_request_whose_time_is_up_keeps_its_room_until_its_mesh_is_read(node):
    server = RequestServer(node)

    def ask():
        return server.plan(PlanGrasp.Request(max_planning_time=LIMIT), PlanGrasp.Response())
    assert [ask().status for _ in range(ROOMS)] == [Status.TIMED_OUT] * ROOMS
    assert ask().status == Status.BUSY
    node.read.set()
    assert wait_for(lambda: ask().status == Status.INVALID_REQUEST)
    assert server.running == 0


def test_a_line_is_told_whole_or_by_its_ends():
    assert one_line(MeshError('short\nand  clear')) == 'short and clear'
    long = one_line(MeshError(f'got {"x" * 100_000!r}, allowed is less'))
    assert is_line(long) and long.startswith('got ') and long.endswith('allowed is less')
    assert '99' in long and 'characters' in long
