"""What a connection opened is gone from ROS once it is closed."""

import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from std_msgs.msg import String  # noqa: E402
from suite_cases import wait_for  # noqa: E402

from gripsim_ros.connection import Connection  # noqa: E402
from gripsim_ros.nodes.node_base import latched  # noqa: E402

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
