"""Commands to the thread that owns a world are carried out in order, and answered at its end."""

import threading
import time

import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from gripsim_ros.ros.nodes.hand.commands import COMMAND_TIMEOUT, Commands  # noqa: E402


@pytest.fixture
def told():
    return []


@pytest.fixture
def commands(told):
    return Commands(told.append)


def fail():
    raise ValueError('no such palm')


def test_they_are_carried_out_in_order_and_failures_are_told(commands, told):
    done = []
    for number in range(3):
        commands.put(lambda number=number: done.append(number))
    commands.put(fail)
    commands.put(lambda: done.append('after'))
    commands.obey(0.0)
    assert done == [0, 1, 2, 'after'] and told == ['ValueError: no such palm']


def test_whoever_asks_is_told_what_came_of_it(commands):
    obey = threading.Thread(target=lambda: [commands.obey(0.1) for _ in range(50)], daemon=True)
    obey.start()
    assert commands.ask(lambda: 'stopped') == (True, 'stopped')
    assert commands.ask(fail) == (False, 'ValueError: no such palm')


def test_nobody_waits_for_a_thread_that_has_ended(commands, told):
    answers, begin = [], time.monotonic()
    waits = threading.Thread(target=lambda: answers.append(commands.ask(fail)), daemon=True)
    waits.start()
    commands.put(fail)
    while commands._waiting.qsize() < 2:
        time.sleep(0.001)
    commands.close('it has ended')
    waits.join(COMMAND_TIMEOUT)
    assert answers == [(False, 'it has ended')] and commands.ask(fail) == answers[0]
    assert not told, 'nothing was carried out'
    assert time.monotonic() - begin < COMMAND_TIMEOUT
