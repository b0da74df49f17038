"""A real hand of an executor, with an arm's action and without."""

from types import SimpleNamespace

import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from execution_cases import arm_plan  # noqa: E402
from gripsim_interfaces.action import ExecuteGrasp  # noqa: E402
from gripsim_interfaces.msg import Grasp  # noqa: E402

from gripsim_ros.core.errors import TaskError  # noqa: E402
from gripsim_ros.hardware.execution.actions import MoveArm, StopHand  # noqa: E402
from gripsim_ros.hardware.execution.measurement import Measurement  # noqa: E402
from gripsim_ros.ros.nodes.executor.hands import RealHand  # noqa: E402


def hand(arm=None):
    """Return a hand that is heard; the services that it calls are noted with the arm's."""
    made = RealHand.__new__(RealHand)
    made._arm, made.asked = arm, [] if arm is None else arm.asked
    made.senses = SimpleNamespace(next=lambda: Measurement(1.0, None))
    made.call = made.asked.append
    return made


def arm(rests=True):
    """Return an arm that notes what it is asked."""
    asked = []
    return SimpleNamespace(
        asked=asked, rests=lambda: rests, send=lambda action: asked.append(action.leg.name),
        cancel=lambda: asked.append('cancel'), wait_for_cancel=lambda: asked.append('wait'))


def goal(**wishes):
    """Return a goal whose object the arm helps to move."""
    made = ExecuteGrasp.Goal(**wishes)
    made.grasp.reach, made.grasp.reach_message = Grasp.REACH_WITH_ARM, 'the arm helps'
    return made


@pytest.mark.parametrize('wishes, words', [
    ({'carry': True}, 'arm_action is told, as in this grasp: the arm helps'),
    ({'lift_height': 0.1}, 'arm_action is told: the arm lifts')])
def test_a_real_hand_needs_an_arm_where_the_palm_moves(wishes, words):
    with pytest.raises(TaskError, match=f'simulated hand only.*{words}'):
        hand().begin(goal(**wishes), lambda: False, lambda: None)
    hand(arm()).begin(goal(**wishes), lambda: False, lambda: None)


@pytest.mark.parametrize('rests', [False, True])
def test_the_arm_tells_whether_the_palm_rests(rests):
    assert hand(arm(rests)).next(lambda: False).palm_rests is rests
    assert hand().next(lambda: False).palm_rests is None


def test_a_stop_ends_both_and_waits_for_the_arm_last():
    """Neither waits for the other before it is told."""
    made = hand(arm())
    made.act(MoveArm(arm_plan(None).legs['start'], 0.0))
    made.act(StopHand())
    assert made.asked == ['start', 'cancel', 'stop', 'wait']
