"""What pads tell of slip, and what is none."""

import numpy as np
import pytest

from gripsim_ros.hardware.execution.holding.slip import FALL, falls_on, GOES_ON, JUMP, SlipWatch
from gripsim_ros.hardware.execution.measurement import Measurement

LINKS, DOWN, PERIOD = ('a', 'b', 'c'), np.array([0.0, 0.0, -1.0]), 0.01


def seen(ways, forces=lambda t: (1.0, 1.0, 1.0), seconds=1.0):
    """Return when slip is seen first [s], None where it is not; ways (3, 3) [m] by time."""
    watch, pulls = SlipWatch(0.05), dict.fromkeys(LINKS, DOWN)
    for k in range(int(seconds / PERIOD)):
        time = k * PERIOD
        told = Measurement(time, np.zeros(7), dict(zip(LINKS, forces(time))), centres={
            link: np.asarray(way, float) for link, way in zip(LINKS, ways(time))})
        if watch.update(told, pulls):
            return time
    return None


def along(*speeds):
    """Return ways of centres that go along the load from 0.3 s on, at speeds [m/s]."""
    return lambda time: [DOWN * speed * max(0.0, time - 0.3) for speed in speeds]


@pytest.mark.parametrize('speed', [0.01, 0.03, 0.1])
def test_centres_that_go_with_the_load_are_slip(speed):
    when = seen(along(speed, speed, speed))
    assert 0.3 < when <= 0.3 + 1.4 * JUMP / speed + PERIOD + 1e-9


@pytest.mark.parametrize('ways', [
    along(0.05, 0.0, 0.0),                                  # one centre alone wanders
    along(-0.05, -0.05, -0.05),                             # against the load
    along(0.001, 0.001, 0.001),                             # creep
    lambda t: [[0.05 * t, 0.0, 0.0]] * 3], ids=['one', 'against', 'creep', 'across'])
def test_what_is_no_slip(ways):
    assert seen(ways) is None


def chattering(width, speed=0.0, seed=0):
    """Return ways of centres that chatter, in full from 0.1 s on, and slip from 0.6 s on."""
    draw = np.random.default_rng(seed)
    return lambda time: [DOWN * (min(1.0, 10.0 * time) * width * draw.normal()
                                 + speed * max(0.0, time - 0.6)) for _ in LINKS]


@pytest.mark.parametrize('width', [0.3 * JUMP, 0.6 * JUMP, JUMP])
def test_centres_that_chatter_are_no_slip(width):
    assert all(seen(chattering(width, seed=seed)) is None for seed in range(20))


def test_what_slips_is_seen_in_spite_of_chatter():
    for seed in range(20):
        assert 0.6 < seen(chattering(0.3 * JUMP, 0.03, seed)) <= 0.7


def test_chatter_is_known_after_fingers_have_risen():
    watch, pulls, ways = SlipWatch(0.05), dict.fromkeys(LINKS, DOWN), chattering(JUMP)
    for k in range(300):
        if k % 10 == 0 and k >= 100:
            watch.forget()
        assert not watch.update(Measurement(
            PERIOD * k, np.zeros(7), dict.fromkeys(LINKS, 1.0),
            centres=dict(zip(LINKS, ways(PERIOD * k)))), pulls)


@pytest.mark.parametrize('fall, slips', [(1.2 * FALL, True), (0.8 * FALL, False)])
def test_a_sum_that_falls_is_slip(fall, slips):
    rest = along(0.0, 0.0, 0.0)
    when = seen(rest, lambda t: (1.0 - fall * (t >= 0.5),) * 3)
    assert (when == pytest.approx(0.5)) if slips else when is None


def test_a_bad_frame_makes_no_slip_of_what_comes_after_it():
    assert seen(along(0.0, 0.0, 0.0), lambda t: (6.0 if abs(t - 0.5) < 1e-9 else 1.0,) * 3) is None


def test_old_news_are_none():
    watch, pulls = SlipWatch(0.05), dict.fromkeys(LINKS, DOWN)
    told = [Measurement(0.01 * k, np.zeros(7), dict.fromkeys(LINKS, 1.0 - 0.5 * (k > 3)),
                        forces_time=0.0) for k in range(6)]
    assert not any(watch.update(one, pulls) for one in told)


@pytest.mark.parametrize('way, sums, falls', [
    (1.2 * GOES_ON, 1.0, True), (0.8 * GOES_ON, 1.0, False), (-1.2 * GOES_ON, 1.0, False),
    (0.0, 1.0 - 1.2 * FALL, True), (0.0, 1.5, False)])
def test_what_falls_although_fingers_rise(way, sums, falls):
    before, now = (Measurement(time, np.zeros(7), dict.fromkeys(LINKS, force), centres={
        link: far * DOWN for link in LINKS}) for time, force, far in ((0.0, 1.0, 0.0),
                                                                      (0.05, sums, way)))
    assert falls_on(before, now, dict.fromkeys(LINKS, DOWN)) == falls


def test_one_centre_alone_does_not_fall():
    ways = (DOWN * 2.0 * GOES_ON, 0.0 * DOWN, 0.0 * DOWN)
    before, now = (Measurement(time, np.zeros(7), dict.fromkeys(LINKS, 1.0), centres={
        link: far * way for link, way in zip(LINKS, ways)}) for time, far in ((0.0, 0.0),
                                                                              (0.05, 1.0)))
    assert not falls_on(before, now, dict.fromkeys(LINKS, DOWN))
