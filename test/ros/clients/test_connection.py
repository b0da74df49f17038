"""What a connection opened is gone from ROS once it is closed."""

from pathlib import Path
import threading
from threading import Event

import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from fault_resources import SEGMENT  # noqa: E402
from std_msgs.msg import String  # noqa: E402
from suite_cases import wait_for  # noqa: E402

from gripsim_ros.ros.clients.connection import Connection  # noqa: E402
from gripsim_ros.ros.clients.execute import ExecuteGraspClient  # noqa: E402
from gripsim_ros.ros.clients.plan import PlanGraspClient  # noqa: E402
from gripsim_ros.ros.nodes.base.node_base import latched  # noqa: E402

TOPIC, TIMEOUT = 'last_words', 60.0


def test_a_closed_connection_speaks_to_nobody_any_more():
    with Connection('gone', 'listener') as listener:
        publishers = lambda: listener.node.count_publishers(TOPIC)  # noqa: E731
        with Connection('gone', 'speaker') as speaker:
            speaker.node.create_publisher(String, TOPIC, latched(1)).publish(String(data='here'))
            assert wait_for(lambda: listener.look(0.01) or publishers() == 1, TIMEOUT)
        # The name `speaker` keeps the connection alive, as a long program would.
        assert wait_for(lambda: listener.look(0.01) or publishers() == 0, TIMEOUT)
        heard = []
        listener.node.create_subscription(String, TOPIC, heard.append, latched(1))
        assert not wait_for(lambda: listener.look(0.01) or heard, 1.0)
        speaker.close()


@pytest.mark.parametrize('listens', [False, True])
def test_a_connection_is_closed_once(listens):
    connection = Connection('', 'closed_twice')
    if listens:
        connection._listen()
    connection.close()
    connection.close()
    assert not connection._thread.is_alive()


@pytest.mark.filterwarnings('ignore::pytest.PytestUnhandledThreadExceptionWarning')
@pytest.mark.parametrize('closed', [False, True])
def test_an_error_of_waiting_is_told_unless_it_comes_of_closing(closed, monkeypatch):
    connection, goes_on, told = Connection('', 'closed_at_work'), Event(), []

    def spin():
        goes_on.wait(TIMEOUT)
        raise AttributeError("'NoneType' object has no attribute 'handle'")
    monkeypatch.setattr(connection._executor, 'spin', spin)
    monkeypatch.setattr(threading, 'excepthook', told.append)
    connection._listen()
    ending = threading.Thread(target=connection.close if closed else goes_on.set)
    ending.start()
    assert wait_for(lambda: connection._closing == closed, TIMEOUT)
    goes_on.set()
    for thread in (connection._thread, ending):
        thread.join(TIMEOUT)
    connection.close()
    assert [args.exc_type for args in told] == ([] if closed else [AttributeError])


@pytest.mark.parametrize('kind', [PlanGraspClient, ExecuteGraspClient])
def test_a_closed_connection_leaves_no_shared_memory(kind):
    # Each name keeps its connection alive, as a long program would.
    def mapped():
        return set(SEGMENT.findall(Path('/proc/self/maps').read_text(encoding='ascii')))
    before = mapped()
    with kind() as connection:
        assert mapped() - before
    assert not mapped() - before, connection
