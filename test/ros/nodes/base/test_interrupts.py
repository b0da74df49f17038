"""A node ends in order, and with code 0, however often and whenever it is interrupted."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from gripsim_ros.ros.clients.suite import Suite  # noqa: E402
from gripsim_ros.ros.nodes.base.interrupts import (  # noqa: E402
    SIGNALS, Interrupts, is_node_process, leave_quietly_while_importing)
from gripsim_ros.ros.programs import PROGRAMS  # noqa: E402
from suite_cases import wait_for  # noqa: E402

STAGE = 'forward_kinematics'
#: Between two signals of an impatient user [s].
PAUSE = 0.02
END_TIMEOUT = 300.0


@pytest.fixture(autouse=True)
def handlers():
    """Put the handlers of the test's own process back."""
    before = [signal.getsignal(number) for number in SIGNALS]
    yield
    for number, handler in zip(SIGNALS, before):
        signal.signal(number, handler)


def test_the_first_signal_breaks_off_the_start_and_no_other_raises():
    Interrupts()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGTERM)
    signal.raise_signal(signal.SIGINT)


def test_a_node_that_serves_is_not_raised_in():
    interrupts = Interrupts()
    interrupts.serving()
    for number in SIGNALS:
        signal.raise_signal(number)


def test_a_signal_in_the_midst_of_another_waits_for_nothing():
    class Interrupted(threading.Event):
        sets = 0

        def set(self):
            self.sets += 1
            if self.sets < 3:
                signal.raise_signal(signal.SIGTERM)     # comes while the lock would be held
            super().set()

    interrupts = Interrupts()
    interrupts.serving()
    interrupts.taken = Interrupted()
    signal.raise_signal(signal.SIGTERM)
    assert interrupts.taken.sets == 1 and interrupts.taken.is_set()


def test_signals_are_ignored_after_the_end_and_usual_in_a_program_that_follows():
    interrupts = Interrupts()
    interrupts.ended()
    assert all(signal.getsignal(number) == signal.SIG_IGN for number in SIGNALS)
    interrupts.restore()
    assert all(signal.getsignal(number) == signal.SIG_DFL for number in SIGNALS)


@pytest.mark.parametrize('program', PROGRAMS)
def test_every_program_that_is_installed_as_a_node_takes_them(monkeypatch, program):
    monkeypatch.setattr(sys, 'argv', [f'/opt/ros/lib/gripsim_ros/{program}'])
    monkeypatch.setattr(sys, 'orig_argv', [sys.executable, *sys.argv])
    assert is_node_process()
    monkeypatch.setattr(sys, 'argv', ['-m'])
    monkeypatch.setattr(sys, 'orig_argv', [sys.executable, '-m', PROGRAMS[program]])
    assert is_node_process()


@pytest.mark.parametrize('program, words, expected', [
    ('/opt/ros/lib/gripsim_ros/deformation', ['/opt/ros/lib/gripsim_ros/deformation'], True),
    ('-m', ['-m', 'gripsim_ros.ros.nodes.ring.contact_detection', '--ros-args'], True),
    ('/usr/bin/pytest', ['-m', 'pytest', 'test/test_nodes.py'], False),
    ('gripsim', ['/usr/bin/gripsim', 'suite', 'up'], False)])
def test_only_programs_of_nodes_take_the_signals_when_imported(
        monkeypatch, program, words, expected):
    monkeypatch.setattr(sys, 'argv', [program])
    monkeypatch.setattr(sys, 'orig_argv', [sys.executable, *words])
    assert is_node_process() == expected
    before = signal.getsignal(signal.SIGINT)
    leave_quietly_while_importing()
    assert (signal.getsignal(signal.SIGINT) is not before) == expected


def catches(process, number):
    """Return whether a process has a handler of its own for a signal."""
    status = Path(f'/proc/{process.pid}/status').read_text()
    mask = next(line.split()[1] for line in status.splitlines() if line.startswith('SigCgt'))
    return bool(int(mask, 16) >> (number - 1) & 1)


# By day test_nodes interrupts nodes that are ready, once.
@pytest.mark.parametrize('ready', [False, pytest.param(True, marks=pytest.mark.nightly)])
def test_a_node_that_is_interrupted_three_times_ends_with_code_0(ready):
    suite = Suite(os.environ, namespace='interrupted')
    try:
        suite.start([STAGE])
        process = suite.processes[STAGE]
        if ready:
            suite.wait_until_ready([STAGE])
        else:
            assert wait_for(lambda: catches(process, signal.SIGTERM))   # it begins to import
        for _ in range(3):
            process.send_signal(signal.SIGINT)
            time.sleep(PAUSE)
        assert process.wait(END_TIMEOUT) == 0
    finally:
        suite.stop([STAGE])
