"""Calls that wait for the thread of a session: what announces a stop, and what does not."""

import time

import pytest

from gripsim_ros.hardware.driver.link.calls import CallQueue
from gripsim_ros.hardware.driver.link.errors import StateError


@pytest.fixture
def calls():
    """Return an open queue."""
    queue = CallQueue()
    queue.open()
    return queue


def do_nothing():
    """Be called."""


def test_a_stop_counts_until_its_turn(calls):
    calls.put(do_nothing, stops=True)
    assert calls.stops == 1
    calls.take(time.monotonic())
    assert calls.stops == 0


def test_a_cancel_announces_no_stop_where_a_newer_motion_was_begun(calls):
    old, new = object(), object()
    calls.put(do_nothing, begins=old)
    calls.put(do_nothing, begins=new)
    calls.put(do_nothing, stops=old)
    assert calls.stops == 0
    calls.put(do_nothing, stops=new)
    assert calls.stops == 1


def test_what_is_not_connected_takes_none(calls):
    waiting = calls.put(do_nothing, stops=True)
    calls.close('gone')
    with pytest.raises(StateError, match='gone'):
        calls.put(do_nothing)
    calls.refuse_all()
    with pytest.raises(StateError, match='gone'):
        waiting.result(0.0)
