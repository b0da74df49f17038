"""FollowJointTrajectory of the simulated hand; control_msgs itself need not be installed."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from gripsim_ros.ros.conversions.geometry import time_to_msg  # noqa: E402
from builtin_interfaces.msg import Duration  # noqa: E402
from goal_cases import GoalEnd  # noqa: E402
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint  # noqa: E402
from trajectory_msgs.msg import MultiDOFJointTrajectory  # noqa: E402

from gripsim_ros.hardware.sim.setpoints import SetpointFollower  # noqa: E402
from gripsim_ros.library.resources import load_default_hand  # noqa: E402
from gripsim_ros.ros.nodes.base import trajectory_action  # noqa: E402
from gripsim_ros.ros.nodes.hand import simulator_action as module  # noqa: E402
from gripsim_ros.ros.nodes.hand.sdh_simulator import SdhSimulatorNode  # noqa: E402

HAND = load_default_hand()
GOAL = np.full(7, 0.2)
#: Simulated time between two looks [s].
STEP = 0.1
#: Of the simulated clock, which begins at the time of day [s]; so sharp are its stamps.
OFFSET, ATOL_STAMP = 1.7e9, 1e-6


@pytest.mark.parametrize('ago, expected', [(0.5, 9.5), (0.0, 10.0), (-3.0, 13.0)])
def test_a_stamp_says_when_a_trajectory_begins(ago, expected):
    begin = SdhSimulatorNode._begin_of(SimpleNamespace(_offset=OFFSET),
                                       time_to_msg(OFFSET + 10.0 - ago))
    np.testing.assert_allclose(begin, expected, rtol=0, atol=ATOL_STAMP)


def test_without_a_stamp_a_trajectory_begins_when_it_arrives():
    assert SdhSimulatorNode._begin_of(SimpleNamespace(_offset=OFFSET), time_to_msg(0.0)) is None


@pytest.mark.parametrize('stamp, text', [
    (0.0, ''), (20.0, ''), (15.5, ''), (14.5, 'is 5.5 s old'),
    (11.0, 'is not after the last stop')])
def test_what_is_too_old_is_told(stamp, text):
    said = trajectory_action.why_old(stamp, 20.0, 12.0)
    assert text in said and bool(text) == bool(said)


def request(names=HAND.joint_names, rows=(GOAL,), path=(), goal=(), patience=0):
    """Return a goal as control_msgs has it, a row a second; tolerances are (name, rad)."""
    points = [JointTrajectoryPoint(positions=np.asarray(row, float).tolist(),
                                   time_from_start=Duration(sec=k + 1))
              for k, row in enumerate(rows)]
    listed = [[SimpleNamespace(name=name, position=position) for name, position in pairs]
              for pairs in (path, goal)]
    return SimpleNamespace(
        trajectory=JointTrajectory(joint_names=list(names), points=points),
        multi_dof_trajectory=MultiDOFJointTrajectory(), path_tolerance=listed[0],
        goal_tolerance=listed[1], goal_time_tolerance=Duration(sec=patience))


class Goal(GoalEnd):
    """A goal handle that is cancelled after so many looks."""

    def __init__(self, looks=10**6, **wishes):
        self.request, self.looks = request(**wishes), looks
        self.feedback = []

    def publish_feedback(self, message):
        self.feedback.append(message)

    @property
    def is_cancel_requested(self):
        self.looks -= 1
        return self.looks < 0


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
    monkeypatch.setattr(trajectory_action, 'FollowJointTrajectory', SimpleNamespace(
        Result=SimpleNamespace, Feedback=lambda: SimpleNamespace(
            desired=SimpleNamespace(), actual=SimpleNamespace(), error=SimpleNamespace())))
    monkeypatch.setattr(module, 'POLL_PERIOD', 0.0)

    def run(simulation, goal=None, follow=None):
        goal = goal or Goal()
        action = object.__new__(module.TrajectoryAction)
        action._follow, action._stop = follow or simulation.follow, simulation.stop
        action._progress, action._names = simulation.progress, HAND.joint_names
        action._why_old = lambda stamp: 'too old' if stamp.sec else ''
        return goal, action.execute(goal)
    return run


#: No joint is held to its way.
ANYHOW = [(name, -1.0) for name in HAND.joint_names]


@pytest.mark.parametrize('simulation, path, end, code, text', [
    (Simulation(), (), 'succeeded', 0, ''),
    (Simulation(stuck=True), (), 'aborted', -4, 'allowed are 0.1000 rad'),
    (Simulation(stuck=True), ANYHOW, 'aborted', -5, '0.2000 rad'),
    (Simulation(replaced_at=0.5), (), 'aborted', -4, 'another trajectory')])
def test_a_goal_ends_as_its_motion_does(execute, simulation, path, end, code, text):
    goal, result = execute(simulation, Goal(path=path))
    assert (goal.end, result.error_code) == (end, code) and text in result.error_string


def test_cancelling_stops_the_hand(execute):
    simulation = Simulation()
    goal, _ = execute(simulation, Goal(looks=3))
    assert goal.end == 'canceled' and simulation.stops == 1
    assert (simulation.follower.at(9.0) < GOAL).all()


def test_a_refused_trajectory_is_an_invalid_goal(execute):
    goal, result = execute(Simulation(), follow=lambda _: (False, 'emergency stop'))
    assert (goal.end, result.error_code, result.error_string) == ('aborted', -1, 'emergency stop')


def test_an_old_goal_is_told_by_its_code(execute):
    goal = Goal()
    goal.request.trajectory.header.stamp.sec = 1
    _, result = execute(Simulation(), goal)
    assert (goal.end, result.error_code, result.error_string) == ('aborted', -3, 'too old')


def test_a_goal_that_waits_gives_no_feedback_before_it_begins(execute):
    simulation = Simulation()

    def follow(_):
        simulation.follower.follow(HAND.joint_names, [GOAL], [1.0], simulation.time, 3.0)
        return True, ''
    goal, _ = execute(simulation, follow=follow)
    assert goal.end == 'succeeded' and simulation.time >= 4.0
    assert len(goal.feedback) == pytest.approx(1.0 / STEP, abs=2)


def test_a_goal_whose_time_is_below_zero_may_be_as_late_as_it_likes(execute):
    """As -1 lifts a joint's tolerance: it lasts until somebody ends it."""
    goal, _ = execute(Simulation(stuck=True), Goal(looks=100, patience=-1, path=ANYHOW))
    assert goal.end == 'canceled'


LAST = HAND.joint_names[-1]


@pytest.mark.parametrize('wishes, end, code, text', [
    ({'path': [*ANYHOW[:-1], (LAST, 0.1)]}, 'aborted', -4, f'{LAST} is off by'),
    ({'path': ANYHOW, 'goal': [(n, 0.3) for n in HAND.joint_names]}, 'succeeded', 0, ''),
    ({'path': ANYHOW, 'goal': [(LAST, 0.3)]}, 'aborted', -5, 'allowed are 0.0500 rad'),
    ({'path': ANYHOW, 'patience': 1}, 'aborted', -5, 'off by 0.2000')])
def test_tolerances_are_those_of_the_goal(execute, wishes, end, code, text):
    simulation = Simulation(stuck=True)
    goal, result = execute(simulation, Goal(**wishes))
    assert (goal.end, result.error_code) == (end, code) and text in result.error_string
    if 'patience' in wishes:
        assert simulation.time < 1.0 + 1.0 + 3 * STEP
    assert simulation.stops == (code == -4)
    last = goal.feedback[-1]
    np.testing.assert_allclose(last.error.positions, np.subtract(
        last.desired.positions, last.actual.positions))


@pytest.mark.parametrize('wishes, code', [
    ({'names': ['nobody'], 'rows': [[0.1]]}, -2), ({'names': 2 * [LAST], 'rows': [[0, 0]]}, -2),
    ({'path': [('nobody', 0.1)]}, -2), ({'rows': []}, -1), ({'rows': [[0.1]]}, -1),
    ({'rows': [np.full(7, np.nan)]}, -1)])
def test_a_goal_that_cannot_be_followed_moves_nothing(execute, wishes, code):
    simulation = Simulation()
    goal, result = execute(simulation, Goal(**wishes))
    assert (goal.end, result.error_code) == ('aborted', code) and result.error_string
    assert not goal.feedback and (simulation.follower.at(9.0) == 0.0).all()
