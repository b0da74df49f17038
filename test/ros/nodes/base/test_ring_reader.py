"""Topics of the ring: read in a thread of their own, in order, whatever goes wrong."""

import time

import pytest

rclpy = pytest.importorskip('rclpy', reason='needs rclpy: `make setup`')
pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from gripsim_interfaces.msg import RingHeader  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from suite_cases import wait_for  # noqa: E402

from gripsim_ros.library.in_process import planner_options  # noqa: E402
from gripsim_ros.ros.nodes.base.node_base import reliable  # noqa: E402
from gripsim_ros.ros.nodes.base.ring_reader import RingReader  # noqa: E402
from gripsim_ros.ros.nodes.planner.grasp_planner import (  # noqa: E402
    for_the_ring, GraspPlannerNode, RING_BATCH)

COUNT, DEPTH = 20, 40
#: The executor gets this long to take what is not its own [s].
SPIN_TIME = 0.3


@pytest.fixture
def node():
    """Return a node with an own context."""
    context = rclpy.Context()
    rclpy.init(context=context, signal_handler_options=rclpy.SignalHandlerOptions.NO)
    made = rclpy.create_node('reader', context=context)
    yield made
    made.destroy_node()
    context.try_shutdown()


@pytest.fixture
def ring(node):
    """Return a reader, what it read, its errors, and how to publish a batch."""
    got, errors = [], []

    def read(msg, info):
        if msg.batch_id == 3:
            raise ValueError('three')
        got.append(msg.batch_id)

    reader = RingReader(node, RingHeader, 'ring', reliable(DEPTH), read,
                        lambda error, text: errors.append((error, text)))
    publisher = node.create_publisher(RingHeader, 'ring', reliable(DEPTH))
    assert wait_for(publisher.get_subscription_count)
    yield reader, got, errors, lambda i: publisher.publish(RingHeader(batch_id=i))
    reader.stop()


def test_messages_are_served_in_order_and_an_error_ends_nothing(ring):
    reader, got, errors, publish = ring
    for i in range(COUNT):
        publish(i)
    assert not got, 'nothing is served before the start'
    reader.start()
    reader.start()
    assert wait_for(lambda: len(got) == COUNT - 1)
    assert got == [i for i in range(COUNT) if i != 3]
    (error, text), = errors
    assert str(error) == 'three' and 'Traceback' in text


def test_an_executor_leaves_the_ring_alone(ring, node):
    reader, got, _, publish = ring
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    publish(1)
    end = time.monotonic() + SPIN_TIME
    while time.monotonic() < end:
        executor.spin_once(0.05)
    assert not got
    reader.start()
    assert wait_for(lambda: got == [1])
    executor.shutdown()


def test_a_stopped_reader_serves_nothing_more(ring):
    reader, got, _, publish = ring
    reader.start()
    publish(1)
    assert wait_for(lambda: got == [1])
    reader.stop()
    publish(2)
    time.sleep(SPIN_TIME)
    assert got == [1]


def test_a_planner_offers_its_services_once_it_is_ready(monkeypatch):
    monkeypatch.setattr(GraspPlannerNode, 'warm_up', lambda node: None)     # takes ten seconds
    context = rclpy.Context()
    rclpy.init(context=context, signal_handler_options=rclpy.SignalHandlerOptions.NO)
    planner = GraspPlannerNode(context=context)
    try:
        def offered():
            return {service.srv_name.rsplit('/', 1)[-1] for service in planner.services}
        planner.prepare_start()
        assert not offered() & {'plan_grasp', 'evaluate_grasp'}
        planner.start()
        assert offered() >= {'plan_grasp', 'evaluate_grasp'}
    finally:
        planner.close()
        planner.destroy_node()
        context.try_shutdown()


def test_batches_on_the_ring_are_small_and_hypotheses_fill_them():
    options = planner_options()
    ringed = for_the_ring(options, 8)
    assert ringed.batch_size == RING_BATCH < options.batch_size
    assert ringed.active_hypotheses == 8 * options.batch_size > options.active_hypotheses
