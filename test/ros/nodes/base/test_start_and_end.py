"""A node that loads says so and answers; one that is asked to end does, whatever holds it up."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402
from lifecycle_msgs.srv import GetState  # noqa: E402
import suite_cases  # noqa: E402

from gripsim_ros.ros.clients.connection import Connection  # noqa: E402
from gripsim_ros.ros.nodes.base.node_base import (  # noqa: E402
    AT_WORK, END_TIMEOUT, LOADING, reliable)

#: What may be added to a time-out on a busy machine, and how long a node is held up [s].
SLACK, LONG = 10.0, 600.0
START_TIMEOUT = 300.0


@contextmanager
def slow_node(where):
    """Start a node that is held up while it loads, or when it ends."""
    process = subprocess.Popen(
        [sys.executable, '-m', 'slow_node', str(LONG), where],
        cwd=Path(suite_cases.__file__).parent, env=os.environ, stdout=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


class Asker(Connection):
    """Asks the slow node for its state and hears its diagnostics."""

    def __init__(self):
        super().__init__('', f'asker_{os.getpid()}')
        self.client = self.node.create_client(GetState, 'forward_kinematics/get_state')
        self.heard = []
        self.node.create_subscription(
            DiagnosticArray, '/diagnostics', lambda msg: self.heard.extend(msg.status),
            reliable(10))

    def state(self):
        """Return the lifecycle state; asked again, since the first answer may be lost."""
        end = time.monotonic() + START_TIMEOUT
        while time.monotonic() < end:
            self.look(0.05)
            if not self.client.service_is_ready():
                continue
            future, asked = self.client.call_async(GetState.Request()), time.monotonic()
            while time.monotonic() - asked < 2.0:
                self.look(0.05)
                if future.done():
                    return future.result().current_state.label
        return 'silent'


def interrupt(process):
    """Assert that a node ends in order soon after it is interrupted."""
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.wait(START_TIMEOUT) == 0
    assert time.monotonic() - begin < END_TIMEOUT + SLACK


def test_a_node_that_loads_tells_its_state_and_that_it_is_at_work_and_ends_soon():
    with slow_node('load') as process, Asker() as asker:
        assert suite_cases.wait_for(lambda: asker.state() == 'configuring', START_TIMEOUT)

        def told():
            asker.look(0.05)
            return [s for s in asker.heard if s.message.startswith(LOADING)]
        assert suite_cases.wait_for(told)
        assert any(pair.key == AT_WORK and pair.value != 'no' for pair in told()[0].values)
        assert process.stdout.readline().strip() == b'load'
        interrupt(process)


@pytest.mark.nightly     # by day while it loads
@pytest.mark.parametrize('where', ['end', 'deaf'])
def test_a_node_ends_soon_after_it_is_interrupted_whatever_holds_it_up(where):
    with slow_node(where) as process, Asker() as asker:
        wanted = 'active' if where == 'end' else 'configuring'
        assert suite_cases.wait_for(lambda: asker.state() == wanted, START_TIMEOUT)
        assert where == 'end' or process.stdout.readline().strip() == where.encode()
        interrupt(process)
