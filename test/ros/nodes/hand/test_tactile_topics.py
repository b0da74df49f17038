"""Tactile frames of the real hand while its node ends."""

import logging

import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

import rclpy  # noqa: E402
from sdh_cases import wait_for  # noqa: E402

from gripsim_ros.hardware.driver.emulator.server import EmulatedHand  # noqa: E402
from gripsim_ros.ros.nodes.hand.sdh_driver import SdhDriverNode  # noqa: E402


@pytest.mark.parametrize('node_too', [False, True])
def test_frames_that_come_after_the_end_are_no_fault(caplog, node_too):
    context = rclpy.Context()
    rclpy.init(context=context, signal_handler_options=rclpy.SignalHandlerOptions.NO)
    try:
        with EmulatedHand() as hand:
            node = SdhDriverNode(context=context, namespace='/ending', parameter_overrides=[
                rclpy.Parameter('tactile_address', value=hand.tactile_address),
                rclpy.Parameter('address', value='')])
            session = node.tactile._session
            node.serve()
            try:
                assert wait_for(lambda: session.counts['frames'] > 2, 30.0)
                if node_too:            # its publishers are gone, while the thread still reads
                    node._started = False
                    node.destroy_node()
                else:
                    context.shutdown()
                seen = session.counts['frames']
                with caplog.at_level(logging.ERROR):
                    assert wait_for(lambda: session.counts['frames'] > seen + 3, 30.0)
            finally:
                node._started = True
                node.close()
                if not node_too:
                    node.destroy_node()
    finally:
        context.try_shutdown()
    assert not caplog.records and session.counts['connections'] == 1
