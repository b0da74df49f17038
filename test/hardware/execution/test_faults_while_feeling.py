"""Faults of pads, joints and link in each phase that feels: stopped or held, nothing crushed."""

from dataclasses import replace

from execution_cases import FINGERS, TIPS
from holding_cases import carried_by_feel, DAMAGE, FORCES, FRICTION, HoldingHand, step
import numpy as np
import pytest

from gripsim_ros.hardware.execution.actions import Phase, Status

#: A force limit may be passed by this, at most [-].
PASSED, LOST = 1.2, 0.02
PHASES = (Phase.CLOSING, Phase.LOADING, Phase.HOLDING, Phase.LIFTING, Phase.CARRYING,
          Phase.SETTING_DOWN)
BY_DAY = (Phase.CLOSING, Phase.LIFTING, Phase.SETTING_DOWN)
BAD = TIPS[0]


def stuck(hand, execution):
    held = dict(execution.last.forces)
    hand.pads = lambda link, force: held[link] if link == BAD else force


def dead(hand, execution):
    hand.pads = lambda link, force: 0.0 if link == BAD else force


def saturated(hand, execution):
    most = 0.5 * FORCES[0]
    hand.pads = lambda link, force: min(force, most) if link == BAD else force


def missing(hand, execution):
    hand.deal = lambda measured: replace(measured, forces={}, centres={})


def frozen(hand, execution):
    last = execution.last
    hand.deal = lambda measured: replace(measured, forces=last.forces, centres=last.centres,
                                         forces_time=last.time)


def stalled(hand, execution):
    joint, angle = FINGERS[BAD], hand.follower.at(hand.time)[FINGERS[BAD]]
    at = hand.follower.at

    def follow(time):
        joints = at(time)
        joints[joint] = angle
        return joints
    hand.follower.at = follow


def hot(hand, execution):
    """The driver stops all joints where one is too hot."""
    joints = hand.follower.at(hand.time)
    hand.follower.at = lambda time: joints.copy()


def link_lost(hand, execution):
    hand.obey(execution.lose('joint_states fell silent'))


FAULTS = stuck, dead, saturated, missing, frozen, stalled, hot, link_lost


def check(phase, fault, delay=0.1, **of_hand):
    """Let a fault come so long [s] after a phase has begun."""
    hand = HoldingHand(**{'free': True, **of_hand})
    execution = carried_by_feel(settle_time=0.5, loading_time=3.0)
    when, came_in, held, first = np.nan, None, False, execution._watch.level
    while not execution.done and hand.time < 130.0:
        if np.isnan(when) and execution.phase == phase:
            when = hand.time + delay
        if hand.time >= when:
            when, came_in = np.inf, execution.phase
            fault(hand, execution)
        if not execution.done:
            step(execution, hand)
        held |= execution.phase == Phase.HOLDING
    if came_in is None:         # it was over before: by a slip, for one
        assert execution.done
        return
    room = DAMAGE if held else execution.options.force_room * first
    told = phase.name, fault.__name__, delay, of_hand, execution.status.name, execution.message
    assert execution.done, told
    for link, force in zip(TIPS, FORCES):
        assert hand.peak[link] <= PASSED * room * force, (link, hand.peak, told)
    if execution.status == Status.SUCCEEDED:        # it was harmless there
        assert execution.lifted and execution.carried and hand.slid < LOST, told
    else:
        assert execution.message, told


# By day where fingers begin to press, to bear the weight and, by two faults of pads, to let go.
@pytest.mark.parametrize('phase, fault', [
    pytest.param(phase, fault, marks=[pytest.mark.nightly] * (
        phase not in BY_DAY or phase == Phase.SETTING_DOWN and fault not in (dead, missing)))
    for phase in PHASES for fault in FAULTS],
    ids=lambda value: value.name if isinstance(value, Phase) else value.__name__)
def test_nothing_is_crushed_and_nothing_dropped_in_silence(phase, fault):
    check(phase, fault)


@pytest.mark.parametrize('phase, fault', [
    (Phase.CLOSING, stuck), (Phase.LOADING, dead), (Phase.LOADING, saturated), *(
        pytest.param(*case, marks=pytest.mark.nightly) for case in (
            (Phase.CLOSING, dead), (Phase.CLOSING, saturated), (Phase.LOADING, stuck)))],
    ids=lambda value: value.name if isinstance(value, Phase) else value.__name__)
def test_motors_tell_what_pads_do_not_of_what_is_nailed_down(phase, fault):
    check(phase, fault, free=False, motors=True)


def test_a_pad_that_saturates_makes_no_finger_go_farther_than_the_others_in_answer_to_a_slip():
    """Its sum falls, which is told as a slip; what it bears over its travel is no stiffness."""
    check(Phase.LIFTING, saturated, 0.034, motors=True, friction=0.64, springs=(38.36,) * 3)


def test_what_slips_away_while_it_is_set_down_is_told():
    hand, execution = HoldingHand(free=True), carried_by_feel()
    hand.lets_slip = lambda: 0.02 * (execution.phase == Phase.SETTING_DOWN
                                     and hand.time > execution.begun[-1][1] + 0.05)
    while not execution.done:
        step(execution, hand)
    assert execution.status == Status.SLIPPED
    assert execution.message == 'the object moved 20.0 mm in the hand while it was set down'


def test_pads_that_fall_silent_while_it_is_set_down_are_told_once_it_stands():
    hand, execution = HoldingHand(free=True), carried_by_feel(settle_time=0.8)
    while execution.phase != Phase.SETTING_DOWN:
        step(execution, hand)
    missing(hand, execution)
    while not execution.done:
        step(execution, hand)
    assert execution.status == Status.SUCCEEDED and 'the pads are silent' in execution.message


@pytest.mark.nightly
@pytest.mark.parametrize('phase', PHASES, ids=lambda phase: phase.name)
def test_two_hundred_faults_in_each_phase(phase, count=200):
    """At any time, of any kind, with objects softer and stiffer, rougher and smoother."""
    draw = np.random.default_rng(int(phase))
    for _ in range(count):
        fault = FAULTS[draw.integers(len(FAULTS))]
        free = bool(draw.random() < 0.7)
        # Of what is nailed down and a pad that died before it touched motors alone can tell.
        motors = bool(draw.random() < 0.5) or (
            not free and phase == Phase.CLOSING and fault in (dead, stuck))
        check(phase, fault, draw.uniform(0.0, 3.0 if phase == Phase.CLOSING else 0.3), free=free,
              motors=motors,
              friction=FRICTION * draw.uniform(0.7, 1.3),
              springs=(float(np.exp(draw.uniform(np.log(15.0), np.log(60.0)))),) * 3)
