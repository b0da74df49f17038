"""What nodes tell about themselves: rates, queues, delays, the last error, and whom they await."""

from collections import deque
from importlib import import_module
import re
import threading

import pytest

rclpy = pytest.importorskip('rclpy', reason='needs rclpy: `make setup`')
pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from gripsim_interfaces.msg import HandConfigurations, RingHeader  # noqa: E402
from suite_cases import wait_for  # noqa: E402

from gripsim_ros.ros.nodes.base.health import (  # noqa: E402
    AWAITED_TIME, NAMESAKE_TIME, Awaited, Namesakes, Traffic, if_ok)
from gripsim_ros.ros.nodes.base.node_base import reliable  # noqa: E402
from gripsim_ros.ros.nodes.base.ring_reader import RingReader  # noqa: E402
from gripsim_ros.ros.nodes.ring.forward_kinematics import ForwardKinematicsNode  # noqa: E402
from gripsim_ros.ros.programs import PROGRAMS  # noqa: E402

#: Nodes that run without extras or other processes, and whom each awaits when it is alone.
NODES = {'ForwardKinematicsNode': 'waiting for grasp_planner',
         'DeformationNode': 'waiting for contact_detection',
         'GraspPlannerNode': 'waiting for forward_kinematics, contact_detection, deformation',
         'GraspExecutorNode': 'waiting for sdh_simulator', 'SdhDriverNode': ''}
RING = ('ForwardKinematicsNode', 'DeformationNode', 'GraspPlannerNode')


@pytest.fixture
def context():
    """Yield an own context."""
    made = rclpy.Context()
    rclpy.init(context=made, signal_handler_options=rclpy.SignalHandlerOptions.NO)
    yield made
    made.try_shutdown()


@pytest.mark.parametrize('kind', NODES)
def test_a_node_that_is_alone_says_how_it_is_and_whom_it_awaits(context, kind, monkeypatch):
    monkeypatch.setattr('gripsim_ros.ros.nodes.base.health.AWAITED_TIME', 0.0)
    module = re.sub('(?<!^)(?=[A-Z])', '_', kind.removesuffix('Node')).lower()
    node = getattr(import_module(PROGRAMS[module]), kind)(
        context=context, namespace='/alone')
    told, logged = [], []
    monkeypatch.setattr(node._diagnostics, 'publish', told.append)
    monkeypatch.setattr(node, 'get_logger', lambda: type('Log', (), {
        'info': staticmethod(logged.append), 'error': staticmethod(lambda *_, **__: None)}))
    try:
        node.report_error('the hand fell off')
        node._publish_diagnostics()
        node._publish_diagnostics()
    finally:
        node.close()
        node.destroy_node()
    status = told[-1].status[0]
    values = {pair.key: pair.value for pair in status.values}
    assert values['last error'] == 'the hand fell off' and 'callbacks late [ms]' in values
    assert any(key == 'laps' or key.endswith(' laps') for key in values)
    assert any(key.endswith('rate [1/s]') for key in values)
    if NODES[kind]:
        assert status.message.startswith(NODES[kind])
        assert sum(line.startswith(NODES[kind]) for line in logged) == 1
    if kind in RING:
        assert any(key.startswith('queue of plan/') for key in values)


@pytest.mark.parametrize('kind', NODES)
def test_a_node_that_is_destroyed_leaves_the_graph(context, kind):
    """And not when memory is collected: another of its name would be taken for a second suite."""
    looker = rclpy.create_node('looker', context=context)
    module = re.sub('(?<!^)(?=[A-Z])', '_', kind.removesuffix('Node')).lower()
    node = getattr(import_module(PROGRAMS[module]), kind)(context=context, namespace='/ended')
    name = (node.get_name(), node.get_namespace())
    try:
        assert wait_for(lambda: name in looker.get_node_names_and_namespaces())
        node.close()
        node.destroy_node()
        assert name not in looker.get_node_names_and_namespaces()
    finally:
        looker.destroy_node()


def test_a_timer_that_meets_the_end_of_ros_is_no_fault(context):
    def fail():
        raise ValueError('no graph any more')
    called = if_ok(context, fail)
    with pytest.raises(ValueError):
        called()
    context.shutdown()
    called()


def test_messages_are_counted_by_topic_and_delays_told():
    times = deque([0.0, 1.0, 3.5])
    traffic = Traffic(1.0, times.popleft)
    got = []
    take = traffic.counted('joints', got.append)
    for number in range(7):
        take(number)
    assert got == list(range(7))
    assert traffic.read() == {'taken from joints [1/s]': '7.0', 'callbacks late [ms]': '0'}
    take(7)
    assert traffic.read() == {'taken from joints [1/s]': '0.4', 'callbacks late [ms]': '1500'}


def test_a_counted_callback_keeps_its_signature():
    import inspect

    def callback(msg, info):
        return msg, info
    counted = Traffic(1.0).counted('topic', callback)
    assert list(inspect.signature(counted).parameters) == ['msg', 'info']
    assert counted(1, 2) == (1, 2)


def test_a_reader_tells_how_many_messages_waited(context):
    node = rclpy.create_node('waited', context=context)
    go_on, got = threading.Event(), []

    def serve(msg, info):
        got.append(msg.batch_id)
        go_on.wait(30.0)
    reader = RingReader(node, RingHeader, 'ring', reliable(20), serve, pytest.fail)
    publisher = node.create_publisher(RingHeader, 'ring', reliable(20))
    assert wait_for(publisher.get_subscription_count)
    try:
        publisher.publish(RingHeader(batch_id=0))
        reader.start()
        assert wait_for(lambda: got == [0])
        assert reader.read_waiting() == 1
        for number in range(1, 6):
            publisher.publish(RingHeader(batch_id=number))
        assert publisher.wait_for_all_acked(rclpy.duration.Duration(seconds=30))
        go_on.set()
        assert wait_for(lambda: got == [0, 1, 2, 3, 4, 5])
        assert reader.read_waiting() >= 4 and reader.read_waiting() == 0
    finally:
        go_on.set()
        reader.stop()
        node.destroy_node()


def test_a_stage_awaits_its_planner_no_more_once_it_is_there(context):
    node = ForwardKinematicsNode(context=context, namespace='/late')
    other = rclpy.create_node('planner', context=context, namespace='/late')
    try:
        assert node.diagnose()[0].startswith('waiting for grasp_planner')
        other.create_publisher(HandConfigurations, 'plan/hand_configurations', 1)
        assert wait_for(lambda: not node.diagnose()[0])
    finally:
        node.close()
        node.destroy_node()
        other.destroy_node()


def test_what_is_waited_for_long_is_told_once_and_its_coming_too():
    now = [0.0]
    awaited = Awaited(lambda: now[0])
    assert not awaited.look('waiting for a') and not awaited.look('')    # it comes at once
    assert not awaited.look('waiting for a')
    now[0] = 0.9 * AWAITED_TIME
    assert not awaited.look('waiting for a') and not awaited.look('waiting for b')
    now[0] += 1.1 * AWAITED_TIME
    assert awaited.look('waiting for b') == 'waiting for b'
    assert not awaited.look('waiting for b')
    assert awaited.look('') == 'waits for nothing any more' and not awaited.look('')


def test_a_namesake_is_told_once_it_has_outlived_the_lease_of_a_dead_one():
    now = [0.0]
    namesakes = Namesakes('planner', '/left', lambda: now[0])
    mine, other, elsewhere = ('planner', '/left'), ('planner', '/left'), ('planner', '/')
    assert not namesakes.look([mine, elsewhere])
    assert not namesakes.look([mine, other])
    now[0] = 0.9 * NAMESAKE_TIME        # the one before was killed, and is gone now
    assert not namesakes.look([mine])
    assert not namesakes.look([mine, other])
    now[0] += 1.01 * NAMESAKE_TIME
    assert namesakes.look([mine, elsewhere, other]).startswith(
        '2 nodes are called /left/planner in this ROS domain')
    assert not namesakes.look([mine, elsewhere])


def test_two_suites_in_one_domain_warn_of_each_other(context, monkeypatch):
    monkeypatch.setattr('gripsim_ros.ros.nodes.base.health.NAMESAKE_TIME', 0.2)
    node = ForwardKinematicsNode(context=context, namespace='/same')
    told, logged = [], []
    monkeypatch.setattr(node._diagnostics, 'publish', told.append)
    monkeypatch.setattr(node, 'diagnose', lambda: ('', {}))
    monkeypatch.setattr(node, 'get_logger', lambda: type('Log', (), {
        'info': staticmethod(lambda _: None), 'warning': staticmethod(logged.append)}))
    other = rclpy.create_node('forward_kinematics', context=context, namespace='/same')

    def message():
        node._publish_diagnostics()
        return told[-1].status[0].message
    try:
        assert wait_for(lambda: message().startswith('2 nodes are called /same/forward_kin'))
        message()
        assert len(logged) == 1 and 'ROS_DOMAIN_ID' in logged[0]
        other.destroy_node()
        assert wait_for(lambda: not message().startswith('2 nodes'))
        assert len(logged) == 2
    finally:
        node.close()
        node.destroy_node()
