"""Velocities sent one by one, on a wire and by a clock of the test's own."""

from types import SimpleNamespace

import numpy as np
import pytest

from gripsim_ros.hardware.driver.emulator.commands import set_block
from gripsim_ros.hardware.driver.link.errors import StateError, UnsafeError
from gripsim_ros.hardware.driver.motion.motions import Motion, Outcome
from gripsim_ros.hardware.driver.options import MotionOptions

from sdh_cases import HAND, NAMES
from wire_bench import OPEN, ORDER, WireBench

OPTIONS = MotionOptions()
#: Of a velocity that the firmware tells with one decimal [rad/s], and of an angle [rad].
ATOL_TURNING, ATOL_THERE = 0.01, 0.005
#: The hand's own ramp, from rest to the velocities below; the timeout, with a cycle or two [s].
RAMP, ENDS = 0.1, OPTIONS.velocity_timeout + 0.3


def turned(joint, velocity):
    """Return velocities of one joint [rad/s]."""
    return np.where(np.array(NAMES) == joint, velocity, 0.0)


def steer(bench, velocities, seconds, motion=None):
    """Ask for velocities in each cycle; return the motion."""
    motion = motion or Motion(NAMES, [], [])
    end = bench.time + seconds
    while bench.time < end and not motion.done.is_set():
        bench.cycle()
        if not motion.done.is_set():
            bench.runner.steer(motion, velocities, bench.sample)
    return motion


def run_out(bench, motion):
    """Send no velocities any more; return how long the motion lasts then [s]."""
    begun = bench.time
    while not motion.done.is_set() and bench.time < begun + 2.0 * ENDS:
        bench.cycle()
    ended = bench.time
    for _ in range(20):
        bench.cycle()
    return ended - begun


@pytest.fixture
def bench(monkeypatch):
    bench = WireBench(monkeypatch)
    bench.cycle()
    return bench


def test_joints_turn_as_asked_and_rest_when_nothing_is_asked_any_more(bench):
    velocities = np.array([0.1, 0.5, -0.2, 0.3, 0.0, 0.2, -0.4])
    motion = steer(bench, velocities, RAMP + 0.1)
    here, when = bench.angles(), bench.time
    steer(bench, velocities, 0.5, motion)
    np.testing.assert_allclose((bench.angles() - here) / (bench.time - when), velocities,
                               rtol=0.0, atol=ATOL_TURNING)
    assert run_out(bench, motion) < ENDS
    assert motion.outcome is Outcome.REACHED and 'no velocities came' in motion.message
    rest = bench.angles()
    bench.sleep(1.0)
    np.testing.assert_allclose(bench.angles(), rest, rtol=0.0, atol=1e-9)
    assert not bench.hand.velocity_control          # it holds by pose control, where it is
    np.testing.assert_allclose(bench.follow(Motion(NAMES, [1.0], [OPEN])).errors, 0.0,
                               rtol=0.0, atol=ATOL_THERE)


@pytest.mark.parametrize('velocity', [-1.3, 0.3, 1.3])
def test_a_joint_comes_to_rest_before_its_limit(bench, velocity):
    joint, checker = NAMES.index('sdh_finger_13_joint'), bench.runner._checker
    low, high = HAND.joint_lower.copy(), HAND.joint_upper.copy()
    low[joint], high[joint] = -0.4, 0.9        # the hand stops by itself at its own
    checker.narrow(low, high, checker.velocities)
    motion = steer(bench, turned('sdh_finger_13_joint', velocity), 5.0)
    limit = (high if velocity > 0.0 else low)[joint]
    seen = np.array([angles[joint] for _, angles in bench.seen])
    assert low[joint] <= seen.min() and seen.max() <= high[joint]
    assert abs(bench.angles()[joint] - limit) < 0.02 and not motion.done.is_set()


def test_links_never_meet_whatever_is_asked(bench):
    rng = np.random.default_rng(5)
    motion, checker = Motion(NAMES, [], []), bench.runner._checker
    bench.follow(Motion(NAMES, [1.0], [0.3 * OPEN]))
    for _ in range(12):
        towards = rng.uniform(-0.4, 1.0, len(NAMES)) * checker.velocities
        steer(bench, towards, 0.25, motion)
    assert not motion.done.is_set()
    gaps = [checker.clearance(angles) for _, angles in bench.seen[::9]]
    assert min(gaps) > 0.5 * OPTIONS.self_clearance
    assert min(gaps) < 3.0 * OPTIONS.self_clearance         # and it came near


def test_what_is_refused_changes_nothing(bench):
    velocities = turned('sdh_thumb_2_joint', 0.2)
    motion = steer(bench, velocities, 0.3)
    with pytest.raises(UnsafeError, match='sdh_thumb_3_joint may move with 1.396 rad/s'):
        bench.runner.steer(motion, turned('sdh_thumb_3_joint', 3.0), bench.sample)
    with pytest.raises(UnsafeError, match='nan'):
        bench.runner.steer(motion, np.full(len(NAMES), np.nan), bench.sample)
    with pytest.raises(StateError, match='does not rest yet'):
        bench.runner.steer(Motion(NAMES, [], []), velocities, bench.sample)
    here = bench.angles()
    steer(bench, velocities, 0.2, motion)
    assert (bench.angles() - here)[NAMES.index('sdh_thumb_2_joint')] > 0.03


def test_an_axis_that_is_switched_off_ends_it_and_a_blocked_one_lets_the_others_go_on(bench):
    velocities = turned('sdh_thumb_2_joint', 0.3) + turned('sdh_finger_12_joint', 0.3)
    motion = steer(bench, velocities, 0.3)
    here, joint = bench.angles(), NAMES.index('sdh_finger_12_joint')
    set_block(SimpleNamespace(firmware=bench.firmware), ORDER[joint],
              np.degrees(here[joint]) + 0.01)
    steer(bench, velocities, 0.5, motion)
    way = dict(zip(NAMES, bench.angles() - here))
    assert way['sdh_finger_12_joint'] < 0.02 and way['sdh_thumb_2_joint'] > 0.1
    bench.firmware.answer('power=0,0,0,0,0,0,0')
    steer(bench, velocities, 0.5, motion)
    assert motion.outcome is Outcome.FAILED and 'switched off' in motion.message


def test_old_firmware_takes_none(monkeypatch):
    bench = WireBench(monkeypatch, version='0.0.2.14')
    bench.cycle()
    with pytest.raises(StateError, match='need firmware 0.0.2.15'):
        bench.runner.steer(Motion(NAMES, [], []), np.zeros(len(NAMES)), bench.sample)
