"""The four nodes composed in one process answer as those of a suite."""

import os
from pathlib import Path
import signal
import subprocess
import sys

import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from suite_cases import ball, goal  # noqa: E402

from gripsim_ros.ros.clients.plan import PlanGraspClient, STATUS_NAMES  # noqa: E402

EXAMPLE = Path(__file__).resolve().parents[2] / 'examples' / 'one_process.py'
#: For a process to end, on a busy machine [s].
PATIENCE = 60.0


@pytest.mark.nightly     # the same nodes are asked as processes by day
def test_nodes_in_one_process_plan_and_end_in_order():
    with subprocess.Popen([sys.executable, EXAMPLE, '--ros-args', '-r', '__ns:=/composed'],
                          stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as process:
        try:
            assert process.stdout.readline() == 'ready\n'
            with PlanGraspClient(namespace='composed') as client:
                answer = client.plan(goal(ball()))
            assert STATUS_NAMES[answer.status] == 'SUCCEEDED' and answer.grasps
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
