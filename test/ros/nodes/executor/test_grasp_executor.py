"""The executor's node where something fails: it stops the hand, and never tells of success."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

import rclpy  # noqa: E402
from geometry_msgs.msg import WrenchStamped  # noqa: E402
from gripsim_interfaces.action import ExecuteGrasp  # noqa: E402
from gripsim_interfaces.msg import TactileFrame  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from gripsim_ros.core.errors import TaskError  # noqa: E402
from gripsim_ros.hardware.execution.actions import StopHand  # noqa: E402
from gripsim_ros.ros.nodes.base.live_joints import JointsError  # noqa: E402
from gripsim_ros.ros.nodes.executor import grasp_executor  # noqa: E402
from gripsim_ros.ros.nodes.executor.observations import Senses  # noqa: E402

Result = ExecuteGrasp.Result
ENDS = ('succeed', 'abort', 'canceled')
#: Silence of a hand that no test waits for [s].
LONG = 60.0
JOINTS = ('a', 'b')


class Goal:
    """A goal handle that notes how the goal ended."""

    def __init__(self):
        self.request, self.is_cancel_requested, self.is_active = ExecuteGrasp.Goal(), False, True
        self.ends = []
        for end in ENDS:
            setattr(self, end, lambda end=end: self.ends.append(end))


@pytest.fixture(scope='module')
def node():
    """Return an executor that nobody serves: no hand answers it."""
    context = rclpy.Context()
    rclpy.init(context=context, signal_handler_options=rclpy.SignalHandlerOptions.NO)
    made = grasp_executor.GraspExecutorNode(context=context)
    made.active = True
    yield made
    made.destroy_node()
    context.try_shutdown()


@pytest.fixture
def executor(node, monkeypatch):
    """Return the node with a hand that answers nothing; ``asked`` are the services called."""
    asked = []

    def silent(name):
        asked.append(name)
        raise JointsError(f'hand/{name} failed: no answer')

    def stop(_):
        silent('stop')

    monkeypatch.setattr(node, 'moved', SimpleNamespace(
        next=lambda ended: None, stop=lambda: silent('stop'), act=stop, end=lambda: None))
    node.last_error, node.active = '', True
    return SimpleNamespace(node=node, asked=asked, monkeypatch=monkeypatch)


def execution(error):
    """Return an execution that fails at its first step."""
    def update(_):
        raise error
    return SimpleNamespace(done=False, update=update)


@pytest.mark.parametrize('error, status', [
    (RuntimeError('a fault'), Result.INTERNAL), (JointsError('silent'), Result.HAND_LOST),
    (TaskError('no such frame'), Result.INVALID_REQUEST)])
def test_a_run_that_fails_stops_the_hand_and_is_no_success_where_it_does_not_answer(
        executor, error, status):
    executor.monkeypatch.setattr(executor.node, '_prepare', lambda _: execution(error))
    for _ in range(2):      # the second: nothing is left over of the first
        goal = Goal()
        result = executor.node._execute(goal)
        assert (result.status, goal.ends) == (status, ['abort'])
        assert str(error) in result.message and '\n' not in result.message
    assert executor.asked == ['stop', 'stop']
    assert 'hand/stop failed' in executor.node.last_error


def test_a_second_grasp_at_the_same_time_is_refused(executor):
    goal = Goal()
    with executor.node._busy:
        assert executor.node._execute(goal).status == Result.BUSY
    assert goal.ends == ['abort'] and not executor.asked


def test_a_hand_that_does_not_answer_a_stop_is_lost(executor):
    lost = SimpleNamespace(done=False, cancel=lambda: [StopHand()])
    executor.monkeypatch.setattr(executor.node, '_prepare', lambda _: lost)
    goal = Goal()
    goal.is_cancel_requested = True
    assert executor.node._execute(goal).status == Result.HAND_LOST
    assert goal.ends == ['abort'] and executor.asked == ['stop', 'stop']


@pytest.mark.parametrize('simulated', [False, True])
def test_a_node_that_is_ended_amid_a_goal_stops_the_hand(executor, simulated):
    executor.monkeypatch.setitem(executor.node.values, 'simulated', simulated)
    moving = SimpleNamespace(done=False, update=lambda _: executor.node.close() or [],
                             phase=None, lose=lambda reason: [StopHand()])
    executor.monkeypatch.setattr(executor.node, '_prepare', lambda _: moving)
    executor.monkeypatch.setattr(executor.node, '_feedback', lambda _: None)
    goal = Goal()
    goal.is_active = False
    assert executor.node._execute(goal).status == Result.HAND_LOST
    assert goal.ends == ['abort'] and executor.asked == ['stop', 'stop']
    # A simulation ends as the node does, and is not told to be moving.
    assert ('the hand may be moving' in executor.node.last_error) != simulated


def test_a_goal_that_is_refused_before_anything_moves_stops_nothing(executor):
    def refuse(_):
        raise TaskError('bad')
    executor.monkeypatch.setattr(executor.node, '_prepare', refuse)
    goal = Goal()
    assert executor.node._execute(goal).status == Result.INVALID_REQUEST
    assert goal.ends == ['abort'] and not executor.asked


# -- what it hears -----------------------------------------------------------------------


@pytest.fixture
def heard():
    """Return senses that know where the joints are; ``told`` is what they said is wrong."""
    told = []
    senses = Senses(JOINTS, LONG, False, told.append)
    senses.on_joints(JointState(name=JOINTS, position=[0.1, 0.2]))
    return SimpleNamespace(senses=senses, told=told, forces=lambda: touch(senses))


def touch(senses):
    """Return the forces of the newest measurement, without a wait for the next."""
    return {} if senses._touch is None else senses._touch[1]


def frame(**changed):
    """Return a frame of two pads with three texels, 2 N and 5 N, with some fields changed."""
    fields = {'links': ['tip', 'root'], 'offsets': [0, 2, 3], 'points_link': [0.0] * 9,
              'areas': [1e-5] * 3, 'pressures': [1e5, 1e5, 5e5], 'forces_link': [0.0] * 6,
              'calibrated': True}
    return TactileFrame(**{**fields, **changed})


def test_a_frame_gives_forces_by_link_where_the_force_vectors_are_not_known(heard):
    heard.senses.on_tactile(frame(forces_link=[np.nan] * 6))
    assert heard.forces() == pytest.approx({'tip': 2.0, 'root': 5.0})
    assert not heard.told


def test_a_frame_gives_centres_of_pressure_where_something_is_felt(heard):
    heard.senses.on_tactile(frame(points_link=[1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 5.0, 5.0, 5.0],
                                  pressures=[1e5, 3e5, 0.0]))
    centres = heard.senses._touch[2]
    assert list(centres) == ['tip']
    np.testing.assert_allclose(centres['tip'], [1.75, 0.0, 0.0])


@pytest.mark.parametrize('per_effort, effort, torques', [
    (0.5, [2.0, 4.0], [1.0, 2.0]), (0.0, [2.0, 4.0], None), (0.5, [], None),
    (0.5, [2.0, np.nan], None)])
def test_motors_tell_torques_where_a_unit_of_effort_is_known(per_effort, effort, torques):
    senses = Senses(JOINTS, LONG, False, print, per_effort)
    senses.on_joints(JointState(name=JOINTS, position=[0.1, 0.2], effort=effort))
    told = senses._torques
    assert told is None if torques is None else told.tolist() == torques


def test_what_the_wrist_bears_is_heard_unless_it_is_not_finite(heard):
    told = WrenchStamped()
    told.wrench.force.z, told.wrench.torque.x = -2.0, 0.1
    heard.senses.on_wrist(told)
    told.wrench.force.z = float('nan')
    heard.senses.on_wrist(told)
    assert heard.senses._wrist[1].tolist() == [0.0, 0.0, -2.0, 0.1, 0.0, 0.0]
    assert len(heard.told) == 1 and 'wrist_load' in heard.told[0]


@pytest.mark.parametrize('field, value', [
    ('pressures', [1e5, np.nan, 5e5]), ('pressures', [1e5, np.inf, 5e5]),
    ('pressures', [1e5]), ('areas', [np.nan] * 3), ('areas', [1e-5]), ('areas', []),
    ('offsets', [0, 3]), ('offsets', []), ('offsets', [0, 2, 4]), ('offsets', [1, 2, 3]),
    ('offsets', [0, 2, 2]), ('offsets', [0, 4, 3]), ('links', ['tip']),
    ('points_link', [0.0] * 8), ('forces_link', [0.0] * 3)])
def test_a_frame_that_contradicts_itself_is_dropped_and_told_once(heard, field, value):
    heard.senses.on_tactile(frame())
    before = heard.forces()
    for _ in range(3):
        heard.senses.on_tactile(frame(**{field: value}))
    assert heard.forces() is before
    assert len(heard.told) == 1 and heard.told[0].startswith('tactile: ')
    heard.senses.on_tactile(frame(pressures=[0.0] * 3))
    assert heard.forces() == {'tip': 0.0, 'root': 0.0}


@pytest.mark.parametrize('positions', [[0.7], [0.7, 0.8, 0.9], [np.nan, 0.8], [0.7, -np.inf]])
def test_joint_states_that_contradict_themselves_give_no_joint_what_is_not_its_own(
        heard, positions):
    for _ in range(2):
        heard.senses.on_joints(JointState(name=JOINTS, position=positions))
    joints, _ = heard.senses._joints.sample(0.0)
    known = positions if len(positions) == len(JOINTS) else [np.nan] * len(JOINTS)
    wanted = np.where(np.isfinite(known), known, [0.1, 0.2])
    np.testing.assert_array_equal(joints, wanted)
    assert len(heard.told) == 1 and heard.told[0].startswith('joint_states: position must be')


def test_joint_states_without_positions_are_nothing_wrong(heard):
    heard.senses.on_joints(JointState(name=JOINTS, velocity=[0.0, 0.0]))
    assert not heard.told
