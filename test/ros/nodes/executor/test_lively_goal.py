"""A goal's client hears of it while nothing new is told, so that it does not take it for lost."""

import time
from types import SimpleNamespace

import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from rclpy.exceptions import InvalidHandle  # noqa: E402

from gripsim_ros.ros.nodes.executor import lively_goal  # noqa: E402
from gripsim_ros.ros.nodes.executor.lively_goal import LivelyGoal  # noqa: E402

SILENCE, WAIT = 0.1, 20.0


@pytest.fixture(autouse=True)
def fixture_silence(monkeypatch):
    """Let silences be short."""
    monkeypatch.setattr(lively_goal, 'LONGEST_SILENCE', SILENCE)


def goal_handle(told, active=True):
    """Return a handle that notes feedback."""
    return SimpleNamespace(publish_feedback=told.append, is_active=active, request='wanted')


def wait_for(condition):
    """Wait until something is so, and tell whether it came about."""
    end = time.monotonic() + WAIT
    while not condition() and time.monotonic() < end:
        time.sleep(0.2 * SILENCE)
    return condition()


def test_the_last_feedback_is_repeated_until_there_is_another_and_never_after():
    told = []
    with LivelyGoal(goal_handle(told), 'begun') as goal:
        assert goal.request == 'wanted'
        assert wait_for(lambda: told[:2] == ['begun', 'begun'])
        goal.publish_feedback('half done')
        assert wait_for(lambda: told[-2:] == ['half done', 'half done'])
    count = len(told)
    time.sleep(3.0 * SILENCE)
    assert len(told) == count and set(told) == {'begun', 'half done'}


def test_who_tells_often_is_not_repeated():
    told, begin = [], time.monotonic()
    with LivelyGoal(goal_handle(told), 'begun') as goal:
        for number in range(200):
            goal.publish_feedback(number)
            time.sleep(0.02 * SILENCE)
    slow = time.monotonic() - begin > 200 * 0.1 * SILENCE       # on a busy machine
    assert slow or told == list(range(200))


def test_a_goal_that_has_ended_is_not_told_of():
    told = []
    with LivelyGoal(goal_handle(told, active=False), 'begun'):
        time.sleep(3.0 * SILENCE)
    assert not told


def test_ros_that_is_shut_down_under_it_ends_it():
    def fails(_):
        raise InvalidHandle('gone')
    handle = goal_handle([])
    handle.publish_feedback = fails
    with LivelyGoal(handle, 'begun') as goal:
        assert wait_for(lambda: not goal._thread.is_alive())
