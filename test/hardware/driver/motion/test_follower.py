"""Following in time, on a wire and by a clock of the test's own: nothing waits or is late."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from gripsim_ros.hardware.driver.emulator.commands import set_block
from gripsim_ros.hardware.driver.link.protocol import AXIS_JOINTS, BLOCKED
from gripsim_ros.hardware.driver.motion.motions import Motion, Outcome

from sdh_cases import NAMES
from wire_bench import OPEN, ORDER, PERIOD, WireBench

#: The error in time that is allowed at rated speed [rad]; and where velocities can be sent only
#: ten times a second: a cycle's change of velocity, 4.2 * 0.1, for a quarter of the cycle.
IN_TIME, IN_TIME_SLOW = 0.02, 0.0105
#: Where requests take 17 to 50 ms by chance. A cycle of two and a question is planned as 0.1 s and
#: takes 0.15 at most: 4.2 * (0.15 - 0.1) * 0.15 / 2 is missed then, beside what is missed anyway.
IN_TIME_JUMPS, JUMPS = 0.016 + IN_TIME_SLOW, (1.0 / 60.0, 0.05)
#: The firmware tells one decimal, and a goal is one of hundredths [rad].
ATOL_THERE = 0.005
#: Bytes a second of a serial line, and what the firmware is said to answer over it [1/s].
SERIAL, SLOW = 115200 / 10, 30.0
#: Both proximal joints of a finger and the distal ones swing so far [rad].
SWING = np.array([0.0, 0.85, 0.3, 0.85, 0.3, 0.85, 0.3])


def swing(time):
    """Return a swing from rest to rest in 2 s; 1.34 rad/s at most, 4.2 rad/s^2."""
    return OPEN + SWING * 0.5 * (1.0 - np.cos(np.pi * np.clip(time, 0.0, 2.0)))


def most_off(bench, motion):
    """Return by how much a joint was off its swing at most [rad]."""
    return max(np.abs(angles - swing(time - motion.started)).max()
               for time, angles in bench.seen if 0.0 <= time - motion.started)


def sine(count=40, end=2.0):
    times = end * np.arange(1, count + 1) / count
    return Motion(NAMES, list(times), [swing(t).tolist() for t in times])


@pytest.mark.parametrize('wire, allowed', [
    ({}, IN_TIME), ({'rate': SERIAL}, IN_TIME), ({'pause': 1.0 / SLOW}, IN_TIME_SLOW),
    ({'pause': 0.6 / SLOW}, IN_TIME_SLOW), ({'pause': 1.5 / SLOW}, IN_TIME)],
    ids=['tcp', 'serial', 'slow_firmware', 'faster', 'slower'])
def test_a_sine_is_followed_in_time_at_rated_speed(monkeypatch, wire, allowed):
    bench = WireBench(monkeypatch, **wire)
    motion = bench.follow(sine())
    assert motion.outcome is Outcome.REACHED, motion.message
    assert most_off(bench, motion) < allowed
    np.testing.assert_allclose(bench.angles(), swing(2.0), atol=ATOL_THERE)
    slack = 0.4 + 20 * bench.pause()                    # to hold where it has come
    assert bench.seen[-1][0] - motion.started < 2.0 + slack
    assert not bench.hand.velocity_control and bench.firmware.controller == 0


@pytest.mark.parametrize('wait', np.arange(0.0, 1.0, 0.1).round(1))
def test_it_is_in_time_whatever_else_is_due_when_it_begins(monkeypatch, wait):
    """States, temperatures and controller are asked for, each in its turn."""
    bench = WireBench(monkeypatch, pause=1.0 / SLOW)
    end = bench.time + wait
    while bench.time < end:
        bench.cycle()
    assert most_off(bench, bench.follow(sine())) < IN_TIME_SLOW


def test_a_course_begins_with_its_first_velocities(monkeypatch):
    """What else is asked of the hand first takes nothing of its time."""
    bench, motion = WireBench(monkeypatch, pause=1.0 / SLOW), sine()
    bench.cycle()
    bench.runner.accept(motion, bench.sample)
    bench.sleep(0.3)
    while not motion.done.is_set():
        bench.cycle()
    assert most_off(bench, motion) < IN_TIME_SLOW


@pytest.mark.parametrize('seed', range(10))
def test_a_firmware_whose_answers_take_longer_by_chance_is_followed(monkeypatch, seed):
    draw = np.random.default_rng(seed)
    bench = WireBench(monkeypatch, pause=lambda: draw.uniform(*JUMPS))
    motion = bench.follow(sine())
    assert motion.outcome is Outcome.REACHED
    assert most_off(bench, motion) < IN_TIME_JUMPS


def test_it_goes_on_through_points_with_velocities(monkeypatch):
    bench = WireBench(monkeypatch)
    times = np.array([0.5, 1.0, 1.5, 2.0])
    slopes = SWING * 0.5 * np.pi * np.sin(np.pi * times)[:, None]
    motion = bench.follow(Motion(NAMES, list(times), [swing(t).tolist() for t in times],
                                 slopes.tolist()))
    assert motion.outcome is Outcome.REACHED
    assert most_off(bench, motion) < IN_TIME


def test_one_with_a_time_to_come_waits_for_it(monkeypatch):
    bench = WireBench(monkeypatch)
    motion = sine()
    motion.begin = bench.time + 1.0
    bench.follow(motion, lambda: bench.time > motion.begin - 1.5 * PERIOD)
    np.testing.assert_allclose(bench.angles(), OPEN, atol=1e-6)
    while not motion.done.is_set():
        bench.cycle()
    assert motion.started == motion.begin and motion.outcome is Outcome.REACHED


def test_an_old_firmware_goes_from_corner_to_corner(monkeypatch):
    bench = WireBench(monkeypatch, version='0.0.2.14')
    motion = bench.follow(sine(8))
    assert motion.outcome is Outcome.REACHED
    assert len(bench.firmware.record.moves) > 4
    assert not any(text.startswith('con=2') for _, text in bench.firmware.record.commands)


def test_a_blocked_joint_is_told_and_still_pressed(monkeypatch):
    bench = WireBench(monkeypatch)
    axis, joint = AXIS_JOINTS.index('sdh_thumb_2_joint'), NAMES.index('sdh_thumb_2_joint')
    set_block(SimpleNamespace(firmware=bench.firmware), axis, -40.0)
    motion = bench.follow(sine(20, 1.0))
    assert motion.outcome is Outcome.MISSED and 'sdh_thumb_2_joint' in motion.message
    assert bench.firmware.motors.states()[axis] in BLOCKED
    assert bench.firmware.motors.axes[axis].target == pytest.approx(
        math.degrees(swing(1.0)[joint]), abs=0.1)
    others = np.arange(7) != joint
    np.testing.assert_allclose(bench.angles()[others], swing(1.0)[others], atol=ATOL_THERE)


def pressed(bench, axis):
    """Return how far an axis is sent beyond what is in its way [rad]."""
    told = bench.firmware.motors.axes[axis]
    return math.radians(max(0.0, told.target - told.block_high))


def test_a_blocked_joint_is_pressed_no_harder_than_its_way(monkeypatch):
    """What cannot move must not make its error press ever harder."""
    bench, most = WireBench(monkeypatch), [0.0]
    axis, joint = AXIS_JOINTS.index('sdh_thumb_2_joint'), NAMES.index('sdh_thumb_2_joint')
    set_block(SimpleNamespace(firmware=bench.firmware), axis, -40.0)
    rows = [np.where(np.arange(7) == joint, np.radians(-40.0) + beyond, OPEN).tolist()
            for beyond in (0.0, 0.02, 0.02)]

    def note():
        most.append(pressed(bench, axis))
        return False

    bench.follow(Motion(NAMES, [1.0, 1.5, 4.0], rows), note)
    assert 0.015 < max(most) < 0.03


def test_steps_of_a_finger_that_presses_do_not_let_go(monkeypatch):
    bench = WireBench(monkeypatch)
    axis, joint = AXIS_JOINTS.index('sdh_thumb_2_joint'), NAMES.index('sdh_thumb_2_joint')
    set_block(SimpleNamespace(firmware=bench.firmware), axis, -40.0)

    def sent(beyond):
        return np.where(np.arange(7) == joint, np.radians(-40.0) + beyond, OPEN).tolist()
    bench.follow(Motion(NAMES, [1.5], [sent(0.02)]))
    for beyond in np.arange(0.03, 0.2, 0.01):       # farther than a step is from the joint
        least = []
        bench.follow(Motion(NAMES, [0.01, 0.05, 0.5], [sent(beyond - 0.008), sent(beyond),
                                                       sent(beyond)]),
                     lambda: least.append(pressed(bench, axis)) or bench.firmware.controller)
        assert bench.firmware.controller == 0 and min(least) > beyond - 0.012
        assert least[-1] == pytest.approx(beyond, abs=0.002)


def test_a_stop_on_the_way_ends_at_rest_in_pose_control(monkeypatch):
    bench = WireBench(monkeypatch)
    begun = bench.time
    motion = bench.follow(sine(), lambda: bench.time > begun + 1.0)
    bench.hand.stop()
    bench.runner.end(Outcome.STOPPED, 'stopped')
    assert motion.outcome is Outcome.STOPPED
    for _ in range(20):
        bench.cycle()
    here = bench.angles()
    for _ in range(20):
        bench.cycle()
    np.testing.assert_array_equal(bench.angles(), here)
    assert bench.firmware.controller == 0 and np.abs(here - swing(2.0)).max() > 0.1
    np.testing.assert_allclose(np.radians(bench.firmware.sets['p'])[ORDER], here, atol=0.002)


def test_axes_that_lose_their_power_fail_the_motion(monkeypatch):
    bench = WireBench(monkeypatch)
    begun = bench.time
    bench.follow(sine(), lambda: bench.time > begun + 1.0)
    bench.firmware.answer('power(3)=0')
    motion = bench.runner._motion
    while not motion.done.is_set():
        bench.cycle()
    assert motion.outcome is Outcome.FAILED and 'switched off' in motion.message
    assert not any(bench.firmware.sets['v'])
