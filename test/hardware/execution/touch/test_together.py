"""Fingers that are loaded together: who waits, and by how much each may rise."""

from dataclasses import replace

from execution_cases import OPTIONS, plan, run, TIPS
from holding_cases import FORCES, HoldingHand
import pytest

from gripsim_ros.hardware.execution.actions import Phase, Status
from gripsim_ros.hardware.execution.machine import GraspExecution
from gripsim_ros.hardware.execution.plan import Wishes
from gripsim_ros.hardware.execution.touch.together import ON_THE_WAY, Together

WANTED = {'finger': 1.0, 'other': 1.0, 'thumb': 2.0}
LIMITS = {name: 1.2 * force for name, force in WANTED.items()}
TOUCH = 0.05


def judged(*forces):
    together = Together(TOUCH)
    together.judge(dict(zip(WANTED, forces)), WANTED, LIMITS)
    return together


def test_a_thumb_rises_by_no_more_than_one_finger_has_room_for():
    together = judged(0.9, 0.5, 1.4)
    assert together.rise('thumb') == pytest.approx(0.3 / ON_THE_WAY)
    assert together.rise('finger') == pytest.approx(0.3 / ON_THE_WAY)


@pytest.mark.parametrize('forces', [(0.0, 0.5, 0.5), (1.25, 0.5, 1.7)])
def test_none_rises_while_one_feels_nothing_or_is_beyond_its_limit(forces):
    assert all(judged(*forces).rise(name) == 0.0 for name in WANTED)


def test_those_that_wait_tell_when_they_are_pressed():
    together = judged(0.0, 0.2, 0.2)
    for pressed, told in ((0.3, []), (0.75, []), (0.85, ['other', 'thumb'])):
        together.judge({'finger': 0.0, 'other': pressed, 'thumb': pressed}, WANTED, LIMITS)
        assert together.pressed == told
    together.judge({'finger': 0.1, 'other': 0.9, 'thumb': 1.0}, WANTED, LIMITS)
    assert together.pressed == []


def loaded(hand, on_loading, **changes):
    """Return the execution of a hand to which something comes once all fingers have touched."""
    execution = GraspExecution(plan(Wishes(by_touch=True), FORCES), replace(OPTIONS, **changes),
                               False)
    run(execution, hand, until=lambda: execution.phase == Phase.LOADING)
    on_loading(hand)
    run(execution, hand, 60.0)
    return execution


@pytest.mark.parametrize('away', [0.02, 0.05])
def test_others_wait_for_a_finger_that_the_object_has_left(away):
    """The thumb would press the object onto the one finger that is left, with twice its force."""
    hand = HoldingHand(free=True)
    execution = loaded(hand, lambda hand: hand.away.update({TIPS[0]: away}))
    assert execution.status == Status.SUCCEEDED, execution.message
    for link, force in zip(TIPS, FORCES):
        assert hand.peak[link] <= OPTIONS.force_room * force


def test_a_pad_that_dies_while_it_is_loaded_is_found_by_what_the_others_bear():
    hand = HoldingHand(free=True)
    execution = loaded(hand, lambda hand: setattr(
        hand, 'pads', lambda link, force: 0.0 if link == TIPS[0] else force))
    assert execution.status == Status.MISSED_CONTACT and 'feels nothing' in execution.message
    assert hand.peak[TIPS[0]] <= FORCES[0]
