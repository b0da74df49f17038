"""What the tests of the hand's driver share: a hand that is not there, sessions, waiting."""

import time
from contextlib import contextmanager

import numpy as np

from gripsim_ros.core.contact import LinkShapes
from gripsim_ros.hardware.driver.emulator.firmware import Identity
from gripsim_ros.hardware.driver.emulator.server import EmulatedHand
from gripsim_ros.hardware.driver.motion.motions import Motion
from gripsim_ros.hardware.driver.options import DriverOptions, LinkOptions, MotionOptions
from gripsim_ros.hardware.driver.session import HandSession
from gripsim_ros.library.resources import load_default_hand

HAND = load_default_hand()
NAMES = HAND.joint_names
SHAPES = LinkShapes.of_hand(HAND)
#: For what must happen, on a busy machine [s].
TIMEOUT = 60.0
#: After so long an answer of a node was lost [s].
LOST = 10.0
#: For the result of a whole execution, on a busy machine [s].
LONG = 300.0
#: Short, so that faults are over soon; longer than a busy machine keeps a thread waiting [s].
QUICK_LINK = {'reply_timeout': 2.0, 'retry_first': 0.05, 'retry_longest': 0.2}
#: Where silence is waited for many times, and an answer that is late changes nothing [s].
SILENT_LINK = {**QUICK_LINK, 'reply_timeout': 0.5}
#: What a motion may take longer on a busy machine [s].
LATE = 20.0
#: An open hand, and a little closed, in the hand's joint order [rad].
OPEN = np.array([0.2, -0.4, 0.3, -0.4, 0.3, -0.4, 0.3])
CLOSED = np.array([0.3, -0.1, 0.4, -0.1, 0.4, -0.1, 0.4])
#: Where the emulated fingers stand when it is switched on, by axis [deg].
ANGLES = (10.0, -20.0, 15.0, -22.0, 16.0, -24.0, 17.0)


@contextmanager
def connected(host='127.0.0.1', identity=None, seed=0, wait=True, link=QUICK_LINK, **motion):
    """Run an emulated hand and a session that is connected to it."""
    with EmulatedHand(host, identity=identity or Identity(angles=ANGLES), seed=seed) as hand:
        session = make_session(hand.address, link=link, **motion)
        session.start()
        try:
            assert not wait or session.wait_connected(TIMEOUT)
            yield hand, session
        finally:
            session.close()


def make_session(address, on_sample=None, link=QUICK_LINK, **motion):
    """Return a session that is not started."""
    motion = {'follow': False, **motion}
    return HandSession(HAND, DriverOptions(
        LinkOptions(address, **link), MotionOptions(**{'rate': 100.0, 'late': LATE, **motion})),
        on_sample, SHAPES)


def go(session, target=CLOSED, duration=0.5, names=NAMES):
    """Ask for a motion to one point."""
    return session.follow(Motion(list(names), [duration], [list(target)]))


def finished(motion):
    """Return the outcome of a motion that must end."""
    assert motion.done.wait(TIMEOUT), 'the motion does not end'
    return motion.outcome


def wait_for(condition, timeout=TIMEOUT):
    """Return whether a condition came true in time."""
    end = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def answer_of(ask, until, timeout=TIMEOUT):
    """
    Return the answer to a question that may be asked again, and how often it was asked.

    Middleware drops an answer to a client that it has just met. ``ask`` returns a future;
    ``until`` takes a condition and a time-out and listens meanwhile.
    """
    futures, end = [], time.monotonic() + timeout
    while time.monotonic() < end:
        futures.append(ask())
        if until(lambda: any(future.done() for future in futures), LOST):
            return next(f.result() for f in futures if f.done()), len(futures)
    raise AssertionError('there is no answer')


def angles_of(hand):
    """Return the emulated angles by axis, now [deg]."""
    with hand.firmware.lock:
        hand.firmware.advance()
        return np.array([axis.angle for axis in hand.firmware.motors.axes])


def rests(hand):
    """Return whether no axis moves."""
    with hand.firmware.lock:
        hand.firmware.advance()
        return not hand.firmware.motors.moving
