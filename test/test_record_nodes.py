"""A running suite is recorded, and its recording replayed in one process and over the nodes."""

import os
import signal
import sys

import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')
pytest.importorskip('mcap', reason='needs the extra `record`')

from cli_cases import gripsim, start, strict  # noqa: E402
from suite_cases import goal, parameters, wait_for  # noqa: E402

from gripsim_ros.client import PlanGraspClient  # noqa: E402
from gripsim_ros.record.mcap_file import read_messages  # noqa: E402
from gripsim_ros.suite import Suite  # noqa: E402

HYPOTHESES = 3
END_TIMEOUT = 30.0


@pytest.mark.slow
def test_a_recorded_plan_is_answered_alike_here_and_by_the_nodes(tmp_path):
    path = tmp_path / 'plan.mcap'
    with Suite(os.environ, parameters=parameters(tmp_path)), PlanGraspClient() as client:
        recorder = start('record', '--out', path)
        try:
            assert wait_for(lambda: client.node.count_subscribers('plan/grasp_states') > 1)
            for _ in range(2):      # by the second, all nodes have found the recorder
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
