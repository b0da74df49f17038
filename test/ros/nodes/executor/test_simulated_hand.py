"""The simulated hand of an executor, with answers of a simulator that is not there."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from gripsim_interfaces.action import ExecuteGrasp  # noqa: E402
from gripsim_interfaces.srv import StepSimulation  # noqa: E402
from rclpy.task import Future  # noqa: E402
from execution_cases import ARM_JOINTS, arm_plan  # noqa: E402
from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from gripsim_ros.core.errors import TaskError  # noqa: E402
from gripsim_ros.core.transforms import from_rotation_vector, transform  # noqa: E402
from gripsim_ros.hardware.execution.actions import (  # noqa: E402
    LiftOff, MoveArm, MovePalm, SetDown, StopHand)
from gripsim_ros.ros.conversions import pose_from_msg  # noqa: E402
from gripsim_ros.ros.nodes.executor import simulated_hand  # noqa: E402
from gripsim_ros.ros.nodes.executor.hands import GoalEnded  # noqa: E402
from gripsim_ros.ros.nodes.executor.simulated_hand import SimulatedHand  # noqa: E402

UNIT = Pose(orientation=Quaternion(w=1.0))


def state(**fields):
    """Return what a simulator answers to a step."""
    return StepSimulation.Response(success=True, palm_pose=PoseStamped(pose=UNIT), **fields)


def holding(label):
    return state(object_pose=[PoseStamped(pose=UNIT)], object_id='f00d', object_label=label)


@pytest.fixture
def begin(monkeypatch):
    """Return a function that begins a goal with a simulator's answers, the last for ever."""
    monkeypatch.setattr(simulated_hand, 'OBJECT_TIMEOUT', 0.0)
    monkeypatch.setattr(simulated_hand, 'OBJECT_PERIOD', 0.0)

    def run(answers, object_id='', ended=lambda: False, planned_for=''):
        hand = SimulatedHand.__new__(SimulatedHand)
        hand.node = SimpleNamespace(values={'object_frame': 'object'})
        told, asked, left = [], [], list(answers)

        def step(_, __):
            return left.pop(0) if len(left) > 1 else left[0]
        hand._ask, hand.call = step, asked.append
        goal = ExecuteGrasp.Goal(object_id=object_id)
        goal.grasp.object_id = planned_for
        goal.grasp.hand_pose, goal.grasp.pregrasp_pose = UNIT, UNIT
        hand.begin(goal, ended, lambda: told.append(1))
        assert asked == ['reset'] and np.array_equal(hand._T_world_grasp, np.eye(4))
        return len(told)
    return run


def test_an_object_that_is_made_ready_is_waited_for_and_told_of(begin):
    assert begin([state(preparing='apple')] * 3 + [holding('apple')], 'apple') == 3


def test_another_object_goes_on_being_held_until_the_wanted_one_is_ready(begin):
    old = holding('pear')
    old.preparing = 'apple'
    assert begin([old, old, holding('apple')], 'apple') == 2


def test_what_waits_can_be_cancelled(begin):
    with pytest.raises(GoalEnded):
        begin([state(preparing='apple')], 'apple', ended=lambda: True)


def test_a_goal_that_is_cancelled_before_the_first_answer_ends(monkeypatch):
    monkeypatch.setattr(simulated_hand, 'GLANCE', 0.0)
    hand = SimulatedHand.__new__(SimulatedHand)
    hand._name, hand._last = 'sdh_simulator', None
    hand._client = SimpleNamespace(wait_for_service=lambda _: True, call_async=lambda _: Future())
    with pytest.raises(GoalEnded, match='while sdh_simulator/step was waited for'):
        hand.begin(ExecuteGrasp.Goal(), lambda: True, lambda: None)


def test_a_grasp_of_another_object_of_the_same_label_is_refused(begin):
    """A label is that of the newest object; the hash of the grasp's own tells them apart."""
    with pytest.raises(TaskError, match="planned for the object beef…, .* holds f00d… as 'apple'"):
        begin([holding('apple')], 'apple', planned_for='beef')
    assert begin([holding('apple')], 'apple', planned_for='f00d') == 0
    old = holding('apple')
    old.object_id = 'beef'
    old.preparing = 'apple'     # the newest is waited for
    assert begin([old, holding('apple')], 'apple', planned_for='f00d') == 1


def test_the_palm_is_led_in_the_frame_in_which_the_object_began():
    hand = SimulatedHand.__new__(SimulatedHand)
    asked, hand._wanted, hand._frame = [], StepSimulation.Request(), 'world'
    hand.call = asked.append
    hand._T_world_frame = from_rotation_vector(np.array([0.1, 0.0, 0.3, 0.0, 0.0, 1.0]))
    T_object_palm = from_rotation_vector(np.array([0.0, 0.0, -0.2, 0.0, 0.4, 0.0]))
    up, back = transform(np.eye(3), np.array([0.0, 0.0, 0.05])), transform(
        np.eye(3), np.array([0.0, 0.0, -0.1]))
    hand._T_world_grasp = hand._T_world_frame @ T_object_palm
    hand._T_world_pregrasp = hand._T_world_grasp @ back
    step = from_rotation_vector(np.array([0.0, 0.02, 0.0, 0.3, 0.0, 0.0])) @ T_object_palm
    for action, wanted in (
            (MovePalm(0.05), up @ hand._T_world_grasp),
            (MovePalm(0.05, step), up @ hand._T_world_frame @ step),
            (MovePalm(0.0, step, back=True), hand._T_world_frame @ step @ back)):
        hand.act(action)
        np.testing.assert_allclose(pose_from_msg(hand._wanted.palm_target[0].pose), wanted,
                                   atol=1e-12)
    hand.act(LiftOff())
    hand.act(SetDown())
    assert asked == ['lift_off', 'set_down']


@pytest.mark.parametrize('answer, words', [
    (state(), 'was it published'), (holding('pear'), "holds the object 'pear', not 'apple'"),
    (state(refused='object apple refused: meshing was ended by SIGINT'), 'SIGINT')])
def test_an_object_that_does_not_come_is_told_by_its_cause(begin, answer, words):
    with pytest.raises(TaskError, match=words):
        begin([answer], 'apple')


# -- on an arm ---------------------------------------------------------------------------

def on_arm(*positions, names=ARM_JOINTS, palm=UNIT):
    """Return what a simulator answers whose palm hangs on an arm."""
    answer = holding('apple')
    answer.arm_joint_state = JointState(name=list(names), position=list(positions))
    answer.palm_pose.pose = palm
    answer.joint_state.header.stamp.sec = 7
    return answer


@pytest.fixture
def armed():
    """Return a simulated hand on an arm that is where its way begins, and the arm's plan."""
    hand, arm = SimulatedHand.__new__(SimulatedHand), arm_plan(None)
    hand._wanted, hand._T_world_pregrasp, hand.call = StepSimulation.Request(), np.eye(4), str
    hand._last = on_arm(*reversed(arm.start), names=ARM_JOINTS[::-1])     # names count, not order
    assert hand.has_arm
    hand.prepare_arm(arm)
    return hand, arm


def test_a_free_palm_has_no_arm():
    hand = SimulatedHand.__new__(SimulatedHand)
    hand._last = holding('apple')
    assert not hand.has_arm


def test_a_leg_goes_with_the_next_step_and_rests_once_the_joints_are_there(armed):
    hand, arm = armed
    assert hand._rests(np.eye(4), hand._last)
    leg = arm.legs['start']
    hand.act(MoveArm(leg, 3.0))
    sent = hand._wanted.arm_trajectory
    assert tuple(sent.joint_names) == ARM_JOINTS and sent.header.stamp.sec == 7
    np.testing.assert_allclose([point.positions for point in sent.points], leg.rows)
    np.testing.assert_allclose([point.velocities for point in sent.points], leg.velocities)
    assert not hand._rests(np.eye(4), hand._last)
    assert hand._rests(np.eye(4), on_arm(*leg.rows[-1]))
    hand.act(StopHand())
    assert not hand._wanted.arm_trajectory.joint_names


def test_an_arm_that_brought_the_palm_elsewhere_does_not_approach(armed):
    hand, arm = armed
    hand._last = on_arm(*arm.legs['start'].rows[-1], palm=Pose(
        position=Point(x=0.12), orientation=Quaternion(w=1.0)))
    with pytest.raises(TaskError, match='120 mm from the pre-grasp, allowed are 5 mm'):
        hand.act(MoveArm(arm.legs['approach'], 3.0))
    assert not hand._wanted.arm_trajectory.joint_names


def test_an_arm_of_another_plan_is_refused(armed):
    hand, arm = armed
    hand._last = on_arm(*arm.start, names=('shoulder', 'knee'))
    with pytest.raises(TaskError, match="no joint 'elbow': the grasp was planned with another"):
        hand.prepare_arm(arm)
    hand._last = on_arm(*(arm.start + 0.3))
    with pytest.raises(TaskError, match='not where its way begins'):
        hand.prepare_arm(arm)
