"""FollowJointTrajectory of the simulated hand; control_msgs itself need not be installed."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from gripsim_ros.conversions.geometry import time_to_msg  # noqa: E402
from gripsim_ros.nodes import sdh_simulator_action as module  # noqa: E402
from gripsim_ros.nodes.sdh_simulator import SdhSimulatorNode  # noqa: E402
from gripsim_ros.resources import load_default_hand  # noqa: E402
from gripsim_ros.sim.setpoints import SetpointFollower  # noqa: E402

HAND = load_default_hand()
GOAL = np.full(7, 0.2)
#: Simulated time between two looks [s].
STEP = 0.1
#: Of the simulated clock, which begins at the time of day [s]; so sharp are its stamps.
OFFSET, ATOL_STAMP = 1.7e9, 1e-6


@pytest.mark.parametrize('ago, expected', [
    (0.5, 9.5), (0.0, 10.0), (-3.0, 10.0), (9.0, 10.0), (OFFSET + 10.0, 10.0)])
def test_a_stamp_says_when_a_trajectory_began_if_that_is_not_long_ago(ago, expected):
    """A stamp of another clock, and none at all: it begins when it arrives."""
    node = SimpleNamespace(_world=SimpleNamespace(time=10.0), _offset=OFFSET)
    begin = SdhSimulatorNode._begin_of(node, time_to_msg(OFFSET + 10.0 - ago))
    np.testing.assert_allclose(begin, expected, rtol=0, atol=ATOL_STAMP)


class Goal:
    """A goal handle that is cancelled after so many looks."""

    def __init__(self, looks=10**6):
        self.request, self.end, self.looks = SimpleNamespace(trajectory=None), '', looks

    @property
    def is_cancel_requested(self):
        self.looks -= 1
        return self.looks < 0

    def succeed(self):
        self.end = 'succeeded'

    def abort(self):
        self.end = 'aborted'

    def canceled(self):
        self.end = 'canceled'


class Simulation:
    """Follows set-points at once but for joints that are stuck; another trajectory may come."""

    def __init__(self, stuck=False, replaced_at=np.inf):
        self.follower, self.time = SetpointFollower(HAND, np.zeros(7)), 0.0
        self.stuck, self.replaced_at, self.stops = stuck, replaced_at, 0

    def follow(self, _):
        self.follower.follow(HAND.joint_names, [GOAL], [1.0], self.time)
        return True, ''

    def stop(self):
        self.stops += 1
        self.follower.stop()
        return True, ''

    def progress(self):
        self.time += STEP
        joints = self.follower.at(self.time)
        if self.time > self.replaced_at:
            self.follower.follow(HAND.joint_names, [np.zeros(7)], [1.0], self.time)
        return self.follower, self.time, np.zeros(7) if self.stuck else joints


@pytest.fixture
def execute(monkeypatch):
    monkeypatch.setattr(module, 'FollowJointTrajectory', SimpleNamespace(Result=SimpleNamespace))
    monkeypatch.setattr(module, 'POLL_PERIOD', 0.0)

    def run(simulation, goal=None, follow=None):
        goal = goal or Goal()
        action = object.__new__(module.TrajectoryAction)
        action._follow, action._stop = follow or simulation.follow, simulation.stop
        action._progress = simulation.progress
        return goal, action.execute(goal)
    return run


@pytest.mark.parametrize('simulation, end, code, text', [
    (Simulation(), 'succeeded', 0, ''), (Simulation(stuck=True), 'aborted', -5, '0.200 rad'),
    (Simulation(replaced_at=0.5), 'aborted', -4, 'another trajectory')])
def test_a_goal_ends_as_its_motion_does(execute, simulation, end, code, text):
    goal, result = execute(simulation)
    assert (goal.end, result.error_code) == (end, code) and text in result.error_string


def test_cancelling_stops_the_hand(execute):
    simulation = Simulation()
    goal, _ = execute(simulation, Goal(looks=3))
    assert goal.end == 'canceled' and simulation.stops == 1
    assert (simulation.follower.at(9.0) < GOAL).all()


def test_a_refused_trajectory_is_an_invalid_goal(execute):
    goal, result = execute(Simulation(), follow=lambda _: (False, 'emergency stop'))
    assert (goal.end, result.error_code, result.error_string) == ('aborted', -1, 'emergency stop')
