"""The grip while friction is doubtful: laws of doubt, of limits, and of what a slip tells."""

from dataclasses import replace

from execution_cases import TIPS
from holding_cases import FORCES, FRICTION, hold_plan, HoldingHand
import numpy as np
import pytest

from gripsim_ros.hardware.execution.holding.belief import (
    DOUBT_MOST, DOUBT_ROOM, DOUBTS, GripBelief, HALVINGS, LEAST_FRICTION, LOWERED)
from gripsim_ros.hardware.execution.holding.programme import HoldProgramme

RTOL_SOLVER = 1e-5


def believed(damage, measured, room=1.2):
    """Return belief, programme and planned load of a plan with a limit of damage."""
    plan = hold_plan(damage=damage)
    most = damage / room
    programme = HoldProgramme(plan, most, 0.05)
    return GripBelief(plan, programme, most), programme, plan.load


@pytest.fixture
def measured():
    return replace(HoldingHand().measure(), forces=dict(zip(TIPS, FORCES)), centres={})


def test_with_room_the_load_is_held_at_half_the_friction(measured):
    belief, programme, load = believed(10.0, measured)
    load = 0.5 * load
    assert belief.grip_for(measured, load, 1.0).level == pytest.approx(
        programme.solve(measured, load, DOUBTS[0] * FRICTION).level, rel=RTOL_SOLVER)


@pytest.mark.parametrize('damage', [1.6, 2.0, 2.5, 5.0])
def test_doubt_leaves_room_below_damage(damage, measured):
    """Doubt asks for more the more is allowed, and never for more than its room."""
    belief, programme, load = believed(damage, measured)
    bare = programme.solve(measured, load, FRICTION).level
    level = belief.grip_for(measured, load, 1.0).level
    assert bare <= level <= max(bare, min(DOUBT_MOST, DOUBT_ROOM * damage)) * (1.0 + RTOL_SOLVER)


def test_where_there_is_no_room_the_bare_load_counts_up_to_the_limit(measured):
    belief, programme, load = believed(1.2, measured)
    bare = programme.solve(measured, load, FRICTION).level
    heavy = 0.95 / bare * load      # the limit is 1: it holds this, and not 1.2 times this
    assert belief.grip_for(measured, heavy, 1.2).level == pytest.approx(1.0, rel=RTOL_SOLVER)
    assert np.isinf(belief.grip_for(measured, 1.1 / bare * load, 1.0).level)


@pytest.mark.parametrize('share', [0.5, 0.65, 0.8])
def test_a_slip_tells_the_friction_that_just_fails(share, measured):
    """A load that needs just the felt forces at a friction slips: that friction is found."""
    belief, programme, load = believed(10.0, measured)
    free = programme.solve(measured, load, share * FRICTION).level
    belief.learn_of_slip(measured, load / free)
    wide = (1.0 - LEAST_FRICTION) * 0.5**HALVINGS
    assert belief.slipped and LOWERED * (share - 0.12) <= belief.friction / FRICTION \
        <= LOWERED * (share + wide)


def test_friction_is_never_believed_to_rise_or_to_vanish(measured):
    belief, _, load = believed(10.0, measured)
    before = belief.friction
    for pull in (5.0, 1.0, 1e-3, 1e-3):     # far too much, and next to nothing
        belief.learn_of_slip(measured, pull * load)
        assert LEAST_FRICTION * FRICTION <= belief.friction <= max(
            LOWERED * before, LEAST_FRICTION * FRICTION)
        before = belief.friction
