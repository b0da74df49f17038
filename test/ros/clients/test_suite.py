"""How the suite's processes are kept up: what ends is started again, but not for ever."""

import ast
import os
import re
import sys
import threading
import time
from pathlib import Path

import pytest
from suite_cases import wait_for

from gripsim_ros.apps.cli import progress as shown, suite as command
from gripsim_ros.ros.clients import suite as suite_module
from gripsim_ros.ros.clients.suite import NODES, own_parameters, Suite, SuiteError
from gripsim_ros.ros.nodes.base.parameters import default_values

ROOT = Path(__file__).resolve().parents[3]
IDLE, FAILING = 'import time; time.sleep(100)', 'raise SystemExit(3)'


@pytest.fixture
def suite(monkeypatch):
    """Return a suite whose nodes do nothing, all of them started."""
    monkeypatch.setattr(suite_module, 'RESPAWN_DELAY', 0.05)
    monkeypatch.setattr(Suite, '_command', lambda self, name: [sys.executable, '-c', IDLE])
    made = Suite(os.environ)
    made.start()
    yield made
    made.stop()


def kill(suite, name):
    suite.processes[name].kill()
    suite.processes[name].wait()


def test_a_node_that_died_is_started_again_and_the_others_are_left_alone(suite):
    before = dict(suite.processes)
    assert suite.revive() == []
    kill(suite, 'deformation')
    assert suite.revive() == ['deformation ended with exit code -9; it is started again']
    assert suite.processes == before, 'not before the delay'
    time.sleep(suite_module.RESPAWN_DELAY)
    assert suite.revive() == []
    assert suite.processes['deformation'].poll() is None
    assert {name for name in NODES if suite.processes[name] is not before[name]} == {'deformation'}


def test_nodes_outlive_the_thread_that_started_them(suite):
    suite.stop(['deformation'])
    starter = threading.Thread(target=suite.start, args=(['deformation'],))
    starter.start()
    starter.join()
    time.sleep(0.5)
    assert suite.processes['deformation'].poll() is None


def test_a_node_that_ends_again_and_again_ends_the_suite(suite, monkeypatch):
    monkeypatch.setattr(Suite, '_command', lambda self, name: [sys.executable, '-c', FAILING])
    kill(suite, 'grasp_planner')
    told = []
    with pytest.raises(SuiteError, match='^grasp_planner ended 4 times within 60 s, the last time '
                                         'with exit code 3$'):
        wait_for(lambda: told.extend(suite.revive()))
    assert len(told) == suite_module.MOST_RESPAWNS


def test_a_node_that_cannot_start_as_configured_is_not_started_again(suite, monkeypatch):
    monkeypatch.setattr(Suite, '_command', lambda self, name: [
        sys.executable, '-c', f'raise SystemExit({suite_module.MISCONFIGURED})'])
    suite.stop(['deformation'])
    suite.start(['deformation'])
    suite.processes['deformation'].wait()
    with pytest.raises(SuiteError, match='^deformation ended with exit code 2: it cannot start '
                                         'as configured$'):
        suite.revive()


def test_a_node_that_dies_now_and_then_is_always_started_again(suite, monkeypatch):
    monkeypatch.setattr(suite_module, 'RESPAWN_WINDOW', 0.01)
    for _ in range(suite_module.MOST_RESPAWNS + 1):
        kill(suite, 'deformation')
        assert len(suite.revive()) == 1
        assert wait_for(lambda: not suite.revive()
                        and suite.processes['deformation'].poll() is None)


def test_the_command_keeps_the_nodes_up_and_says_so(suite, monkeypatch, capsys):
    looks, revive, first = [], suite.revive, suite.processes['contact_detection']

    def look():
        if not looks:
            kill(suite, 'contact_detection')
        elif suite.processes['contact_detection'] is not first:
            raise KeyboardInterrupt
        looks.append(revive())
        return looks[-1]
    monkeypatch.setattr(command, 'WATCH_PERIOD', 0.02)
    monkeypatch.setattr(suite_module, 'Suite', lambda *_, **options: suite)
    monkeypatch.setattr(suite, 'wait_until_ready', lambda: None)
    monkeypatch.setattr(suite, 'revive', look)
    assert command.up(None, 'none', None) == 0
    said = capsys.readouterr().err.splitlines()
    assert 'contact_detection ended with exit code -9; it is started again' in said
    assert said[-1] == 'stopping'


def test_delay_exit_code_and_what_is_told_of_a_simulated_hand_are_those_of_the_launch_file():
    text = (ROOT / 'launch' / 'gripsim.launch.py').read_text()
    told = dict(re.findall(r'^([A-Z_]+) = (.+)$', text, re.MULTILINE))
    for name in ('RESPAWN_DELAY', 'MISCONFIGURED', 'SIMULATED_READINGS'):
        assert ast.literal_eval(told[name]) == getattr(suite_module, name)


def test_a_simulated_hand_is_read_better_than_a_real_one():
    names = ('grasp_executor', 'sdh_simulator')
    simulated = own_parameters((*NODES, *names), 'sim')['grasp_executor']
    real = own_parameters((*NODES, 'grasp_executor', 'sdh_driver'), 'real')['grasp_executor']
    known = default_values('grasp_executor')
    for name in ('surface_error', 'joint_resolution'):
        assert simulated[name] < known[name]
        assert name not in real


def test_while_nodes_load_it_is_told_which_and_how_many_kernels_they_have(
        suite, monkeypatch, capsys):
    states = [{'deformation': 0, 'grasp_planner': 7}, {'grasp_planner': 9}, {}]

    class Watch:
        loading = states[0]

        def __init__(self, namespace, names):
            self.left = list(states)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def all_active(self):
            self.loading = self.left.pop(0)
            return not self.loading
    monkeypatch.setattr(suite_module, '_StateWatch', Watch)
    monkeypatch.setattr(shown, 'PLAIN_INTERVAL', 0.0)
    suite._on_progress = shown.StartProgress()
    suite.wait_until_ready()
    assert capsys.readouterr().err.splitlines() == [
        'starting: 2 of 4 nodes are active; loading: deformation, grasp_planner (7 kernels)',
        'starting: 3 of 4 nodes are active; loading: grasp_planner (9 kernels)']
