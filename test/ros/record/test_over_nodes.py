"""A running suite is recorded, and its recording replayed in one process and over the nodes."""

import os
import signal
import sys
from contextlib import contextmanager

import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')
pytest.importorskip('mcap', reason='needs the extra `record`')

import rclpy  # noqa: E402
from cli_cases import assert_refused, gripsim, start, strict  # noqa: E402
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue  # noqa: E402
from suite_cases import goal, parameters, wait_for  # noqa: E402

from gripsim_ros.library.resources import load_default_hand  # noqa: E402
from gripsim_ros.ros.clients.plan import PlanGraspClient  # noqa: E402
from gripsim_ros.ros.clients.suite import Suite  # noqa: E402
from gripsim_ros.ros.record.mcap_file import read_messages, read_metadata  # noqa: E402
from gripsim_ros.ros.record.recorder import RING, SIGN_OF_LIFE, TOPICS, Recorder  # noqa: E402

HYPOTHESES = 3
END_TIMEOUT = 300.0
#: The recorder ends by itself after this, so that nobody waits for ever [s].
GUARD = 600.0


@contextmanager
def stages(names, namespace):
    """Yield nodes that publish the ring's topics, and a function that lets one speak."""
    kinds = {topic.name: topic.kind for topic in TOPICS}
    context = rclpy.Context()
    rclpy.init(context=context, signal_handler_options=rclpy.SignalHandlerOptions.NO)
    nodes = {name: rclpy.create_node(name, context=context, namespace=namespace)
             for name in names}
    signs = {name: node.create_publisher(DiagnosticArray, SIGN_OF_LIFE, 10)
             for name, node in nodes.items()}
    for topic, name in RING.items():
        if name in nodes:
            nodes[name].create_publisher(kinds[topic], topic, 8)

    def speak(name):
        full = nodes[name].get_fully_qualified_name().lstrip('/')
        told = {'hand': f'{namespace}_hand 0123456789ab', 'hand file': f'/{namespace}/hand.yaml'}
        signs[name].publish(DiagnosticArray(status=[DiagnosticStatus(
            name=full, values=[KeyValue(key=key, value=value) for key, value in told.items()])]))
    try:
        yield speak
    finally:
        for node in nodes.values():
            node.destroy_node()
        context.try_shutdown()


def test_a_node_is_recorded_once_it_is_known_to_send_to_the_recorder(tmp_path):
    names = set(RING.values())
    last = 'deformation'
    with Recorder(tmp_path / 'x.mcap', load_default_hand(), 'ready') as recorder:
        assert set(recorder.missing()) == names
        with stages(names - {last}, 'ready') as speak:
            # All are discovered, but who has not spoken may not have found the recorder.
            assert wait_for(lambda: set(recorder.missing()) == {
                last, *(f'ready/{name}' for name in names - {last})}, END_TIMEOUT)
            for name in names - {last}:
                assert wait_for(lambda: speak(name) or f'ready/{name}' not in recorder.missing(),
                                END_TIMEOUT)
            assert recorder.missing() == [last]
            with stages([last], 'ready') as speak:
                assert wait_for(lambda: speak(last) or not recorder.missing(), END_TIMEOUT)


def test_a_recording_is_of_the_hand_that_the_suite_tells(tmp_path):
    path = tmp_path / 'x.mcap'
    with Recorder(path, load_default_hand(), 'own') as recorder:
        for namespace in ('foreign', 'own'):
            with stages(['deformation'], namespace) as speak:
                assert wait_for(lambda: speak('deformation') or (
                    f'{namespace}/deformation' in recorder._heard), END_TIMEOUT)
    told = read_metadata(path)
    assert (told['hand_name'], told['hand'], told['hand_file']) == (
        'own_hand', '0123456789ab', '/own/hand.yaml')
    assert_refused(gripsim('replay', path), 'recording is of the hand /own/hand.yaml')


@pytest.mark.nightly
def test_a_recorded_plan_is_answered_alike_here_and_by_the_nodes(tmp_path):
    path = tmp_path / 'plan.mcap'
    with Suite(os.environ, parameters=parameters(tmp_path)), PlanGraspClient() as client:
        recorder = start('record', '--out', path, '--seconds', GUARD)
        try:
            assert any(line.startswith('recording to ') for line in recorder.stderr)
            assert client.plan(goal(hypotheses=HYPOTHESES)).grasps
            recorder.send_signal(signal.SIGINT)
            _, said = recorder.communicate(timeout=END_TIMEOUT)
        finally:
            recorder.kill()
        assert recorder.returncode == 0, said
        code, out, said = gripsim('replay', path, '--nodes', '--json')
        assert code == 0, said
        by_nodes = strict(out)
    code, out, said = gripsim('replay', path, '--json')
    here = strict(out)
    topics = {message.topic for message in read_messages(path)}
    assert {'/grasp_object', '/plan/hand_configurations', '/plan/link_states', '/plan/contacts',
            '/plan/grasp_states', '/diagnostics'} <= topics
    for result in (here, by_nodes):
        assert result['identical'] >= result['questions'] // 2 > HYPOTHESES
        assert not result['different'] and not result['failed']


def test_a_command_is_recorded_until_it_ends(tmp_path):
    path = tmp_path / 'command.mcap'
    code, _, said = gripsim('record', '--out', path, '--', sys.executable, '-c',
                            'raise SystemExit(3)')
    assert code == 3 and 'wrote' in said
    assert list(read_messages(path)) == []
