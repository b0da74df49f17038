"""Palpating, and holding by feel: which object, what is refused and told; without a simulator."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from execution_cases import HAND, OPTIONS  # noqa: E402
from geometry_msgs.msg import Point, Wrench  # noqa: E402
from gripsim_interfaces.action import ExecuteGrasp, Palpate  # noqa: E402
from palpation_cases import BALL, FeelingHand, grasp, PALPATION  # noqa: E402
import rclpy  # noqa: E402

from gripsim_ros.core.bodies import GraspObject, Material  # noqa: E402
from gripsim_ros.core.transforms import transform  # noqa: E402
from gripsim_ros.ros.conversions import grasp_object_to_msg, pose_to_msg  # noqa: E402
from gripsim_ros.ros.conversions.requests.grasps import (  # noqa: E402
    GraspFrame, grasp_to_msg)
from gripsim_ros.ros.nodes.executor import grasp_executor, palpation  # noqa: E402
from gripsim_ros.ros.nodes.executor.holding import GRAVITY, read_hold_plan  # noqa: E402
from std_msgs.msg import Header  # noqa: E402

Result, Feedback = Palpate.Result, Palpate.Feedback
PERIOD = 0.01


class Goal:
    """A goal handle that notes feedback and how the goal ended."""

    def __init__(self, request):
        self.request, self.is_cancel_requested, self.is_active = request, False, True
        self.told, self.ends = [], []
        for end in ('succeed', 'abort', 'canceled'):
            setattr(self, end, lambda end=end: self.ends.append(end))

    def publish_feedback(self, feedback):
        self.told.append(feedback)


class Moved:
    """The hand of the node: without physics."""

    has_arm = False

    def __init__(self, hand):
        self.hand, self.stopped = hand, 0

    def begin(self, goal, ended, tell):
        assert goal.by_touch

    def next(self, ended):
        self.hand.time += PERIOD
        return self.hand.measure()

    def act(self, action):
        self.hand.obey([action])

    def stop(self):
        self.stopped += 1

    def end(self):
        pass


@pytest.fixture(scope='module')
def node():
    """Return an executor that nobody serves, and that knows the ball."""
    context = rclpy.Context()
    rclpy.init(context=context, signal_handler_options=rclpy.SignalHandlerOptions.NO)
    made = grasp_executor.GraspExecutorNode(context=context)
    made.active, made.options, made._palpation = True, OPTIONS, PALPATION
    made._known.put(grasp_object_to_msg(BALL))
    yield made
    made.destroy_node()
    context.try_shutdown()


def request(**changes):
    """Return a goal with the grasp of the ball, some fields changed."""
    frame = GraspFrame(Header(frame_id='object'), np.eye(4), HAND.joint_names,
                       HAND.joint_velocities)
    return Palpate.Goal(grasp=grasp_to_msg(grasp(), frame), **changes)


def test_the_modulus_is_told_with_its_curve(node):
    node.moved = Moved(FeelingHand(1e5, elasticity='body'))
    goal = Goal(request(object_id='ball'))
    result = node._palpate(goal)
    assert (result.status, goal.ends) == (Result.SUCCEEDED, ['succeed']), result.message
    assert result.material.youngs_modulus == pytest.approx(1e5, rel=0.05)
    assert result.material.friction == BALL.material.friction and not result.is_bound
    assert 0.0 < result.damage_share < 1.0 and len(result.moduli) == PALPATION.squeezes
    assert list(result.offsets) == sorted(result.offsets) and result.offsets[-1] == len(
        result.ways) == len(result.forces)
    phases = [told.phase for told in goal.told]
    assert phases[0] == Feedback.PREPARING and 12 in phases
    assert all(0.0 <= told.progress <= 1.0 for told in goal.told)


def test_what_is_stiffer_than_a_goal_says_it_can_be_is_told(node):
    node.moved = Moved(FeelingHand(2e6, elasticity='body'))
    result = node._palpate(Goal(request(most_modulus=6e5)))
    assert result.status == Result.SUCCEEDED and result.is_bound
    assert 'stiffer than the 6e+05 Pa' in result.message


def test_the_grasp_may_be_told_in_another_frame(node):
    T_world_object = transform(np.eye(3), np.array([0.4, -0.2, 0.7]))
    node.moved = Moved(FeelingHand(1e5, elasticity='body'))
    goal = request(object_pose=pose_to_msg(T_world_object), squeezes=1)
    goal.grasp.hand_pose = pose_to_msg(T_world_object @ grasp().T_object_palm)
    result = node._palpate(Goal(goal))
    assert result.status == Result.SUCCEEDED and len(result.moduli) == 1
    assert result.material.youngs_modulus == pytest.approx(1e5, rel=0.05)


@pytest.mark.parametrize('changes, message', [
    ({'object_id': 'pear'}, "'pear' was not published"),
    ({'squeezes': 50}, 'squeezes must be 1 to 10'), ({'most_force': -1.0}, 'most_force must be'),
    ({'most_modulus': 3e5}, 'most_modulus must be above the 3e+05 Pa'),
    ({'object_pose': pose_to_msg(transform(np.eye(3), np.array([0.0, 0.0, 1.0])))},
     'fingers touch the object')])
def test_goals_that_cannot_be_are_refused_in_one_line_before_anything_moves(
        node, monkeypatch, changes, message):
    monkeypatch.setattr(palpation, 'OBJECT_TIMEOUT', 0.1)
    hand = FeelingHand(1e5)
    node.moved = Moved(hand)
    goal = Goal(request(**changes))
    result = node._palpate(goal)
    assert (result.status, goal.ends) == (Result.INVALID_REQUEST, ['abort'])
    assert message in result.message and '\n' not in result.message and not hand.sent


def test_cancelled_while_the_model_is_made_ready_nothing_moves(node):
    hand = FeelingHand(1e5)
    node.moved, goal = Moved(hand), Goal(request())
    goal.is_cancel_requested = True
    result = node._palpate(goal)
    assert (result.status, goal.ends) == (Result.CANCELED, ['canceled']) and not hand.sent


def test_an_object_that_comes_late_is_waited_for(node):
    known = grasp_executor.KnownObjects()
    timer = threading.Timer(0.3, lambda: known.put(grasp_object_to_msg(BALL)))
    timer.start()
    assert known.find('ball').id == BALL.id


def test_it_is_busy_while_a_grasp_is_carried_out(node):
    goal = Goal(request())
    with node._busy:
        assert node._palpate(goal).status == Result.BUSY
    assert goal.ends == ['abort']


def test_of_objects_of_a_label_the_newest_counts(node):
    known = grasp_executor.KnownObjects()
    for modulus in (1e4, 1e5):
        known.put(grasp_object_to_msg(GraspObject(BALL.mesh, Material(
            modulus, 0.4, 500.0, 0.8), 'thing')))
    assert known.find('thing').material.youngs_modulus == known.find('').material.youngs_modulus \
        == 1e5


def test_bars_of_the_forces_are_published_while_fingers_press_and_somebody_looks(
        node, monkeypatch):
    shown, lookers = [], []
    publisher = SimpleNamespace(publish=shown.append, get_subscription_count=lambda: len(lookers))
    monkeypatch.setattr(node._shown, '_publisher', publisher)
    for looks in (False, True):
        lookers[:] = [None] * looks
        node.moved = Moved(FeelingHand(1e5))
        assert node._palpate(Goal(request(squeezes=1))).status == Result.SUCCEEDED
        assert bool(shown) == looks
    frames = {marker.header.frame_id for array in shown for marker in array.markers}
    assert frames == {node.values['object_frame']}
    assert {'planned_forces', 'felt_forces'} <= {m.ns for array in shown for m in array.markers}


# -- holding by feel ------------------------------------------------------------------


@pytest.fixture
def message():
    """Return the grasp of the ball as it is sent."""
    return grasp_to_msg(grasp(), GraspFrame(Header(frame_id='object'), np.eye(4),
                                            HAND.joint_names, HAND.joint_velocities))


def clear_load(message):
    message.limiting_load = Wrench()


def test_the_load_that_fails_first_is_taken_about_the_objects_origin(message):
    clear_load(message)
    message.limiting_load.force.x = 3.0
    message.centre_of_mass = Point(y=0.5)
    made, planned = read_hold_plan(message, np.zeros(7), HAND, BALL), grasp()
    turn, origin = planned.T_object_palm[:3, :3], planned.T_object_palm[:3, 3]
    force = np.array([3.0, 0.0, 0.0])
    np.testing.assert_allclose(made.load[:3], turn.T @ force, atol=1e-12)
    about = np.cross([0.0, 0.5, 0.0], force) - np.cross(origin, force)
    np.testing.assert_allclose(made.load[3:], turn.T @ about, atol=1e-12)
    assert made.friction == BALL.material.friction


def test_without_it_the_weight_counts(message):
    clear_load(message)
    made = read_hold_plan(message, np.zeros(7), HAND, BALL)
    assert made.weight == pytest.approx(GRAVITY * BALL.mass_properties.mass)


def test_a_goal_holds_by_feel(node, message, monkeypatch):
    node.moved = Moved(FeelingHand(1e5))
    goal = Goal(ExecuteGrasp.Goal(grasp=message, object_id='ball', hold_by_feel=True,
                                  by_touch=True))
    result = node._execute(goal)
    assert result.status == ExecuteGrasp.Result.SUCCEEDED, result.message
    monkeypatch.setattr(palpation, 'OBJECT_TIMEOUT', 0.0)
    lost = Goal(ExecuteGrasp.Goal(grasp=message, object_id='another', hold_by_feel=True))
    result = node._execute(lost)
    assert result.status == ExecuteGrasp.Result.INVALID_REQUEST
    assert 'grasp_object' in result.message
