"""Closing no faster than pads tell what they feel."""

from dataclasses import replace

from execution_cases import OPTIONS, plan, PLANNED, run, SpringHand
import numpy as np
import pytest

from gripsim_ros.hardware.execution.actions import Phase, Status
from gripsim_ros.hardware.execution.feeling.rate import FEWEST_PERIODS, LATE_WAY, NewsRate
from gripsim_ros.hardware.execution.machine import GraspExecution
from gripsim_ros.hardware.execution.plan import Wishes


class SlowPads(SpringHand):
    """A hand whose pads tell something every so often [s]."""

    def __init__(self, period):
        super().__init__()
        self.period, self.told = period, None

    def measure(self):
        measured = super().measure()
        if self.told is None or measured.time >= self.told.time + self.period - 1e-9:
            self.told = measured
        return replace(measured, forces=self.told.forces, forces_time=self.told.time)


class StallingHand(SpringHand):
    """A hand that is not heard for a while [s], again and again; fingers go on meanwhile."""

    def __init__(self, stall):
        super().__init__()
        self.stall, self.heard = stall, None

    def measure(self):
        if self.heard is None or (self.time - 100.0) % 0.7 >= self.stall:
            self.heard = super().measure()
        return self.heard


def test_the_period_is_that_of_news():
    rate = NewsRate()
    for time in np.repeat(0.1 * np.arange(FEWEST_PERIODS), 3):
        rate.add(time)
    assert np.isnan(rate.period)
    rate.add(0.1 * FEWEST_PERIODS)
    assert rate.period == pytest.approx(0.1)


@pytest.mark.parametrize('period', [0.01, 0.04, 0.08])
def test_fingers_go_no_farther_than_a_little_between_two_news(period):
    hand, execution = SlowPads(period), GraspExecution(plan(Wishes(by_touch=True)), OPTIONS, False)
    ways, before = [], None

    def note():
        nonlocal before
        if execution.phase == Phase.CLOSING:
            now = hand.follower.setpoints
            near = execution.last.joints[1] > 0.15
            ways.append(0.0 if before is None or not near else np.abs(now - before).max())
            before = now.copy()
        return False

    run(execution, hand, 60.0, until=note)
    assert execution.status == Status.SUCCEEDED, execution.message
    assert max(ways) * period / 0.01 <= 1.3 * 2e-3
    assert ('times a second' in execution.message) == (period > 0.02)
    assert max(execution.last.forces.values()) <= OPTIONS.force_room * PLANNED


@pytest.mark.parametrize('stall', [0.0, 0.15, 0.3])
def test_fingers_go_no_farther_than_a_little_while_a_busy_machine_is_silent(stall):
    hand, ways = StallingHand(stall), [0.0]
    execution = GraspExecution(plan(Wishes(by_touch=True)), OPTIONS, False)

    def note():
        if execution.phase == Phase.CLOSING and execution.last.joints[1] > 0.15:
            now = hand.follower.setpoints
            ways.append(np.abs(now - hand.before).max())
        hand.before = hand.follower.setpoints.copy()
        return False

    run(execution, hand, 60.0, until=note)
    assert execution.status == Status.SUCCEEDED, execution.message
    assert max(ways) <= 1.2 * LATE_WAY      # from one measurement to the next that is heard
    assert ('late' in execution.message) == (stall > 0.0)
    assert max(execution.last.forces.values()) <= OPTIONS.force_room * PLANNED
