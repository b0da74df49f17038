"""Holding by feel: what slips is pressed more, in time, within the limits, or given back."""

from dataclasses import replace

from execution_cases import OPTIONS, PERIOD, run, TIPS
from holding_cases import (
    BY_FEEL, by_feel, DAMAGE, FORCES, FRICTION, hold_plan, HoldingHand, slow_pads,
    step, UNLOADING, WEIGHT)
from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from gripsim_ros.hardware.execution.actions import MovePalm, Phase, SetDown, Status, StopHand
from gripsim_ros.hardware.execution.machine import GraspExecution

#: The object goes no farther where it is held [m].
SLIPS, LOST = 0.01, 0.02
#: Friction less than the grip begins with, and room below damage for what holds it.
SLIPPERY, ROOMY = 0.35 * FRICTION, 5.0


def test_half_the_friction_is_held_before_it_slips():
    """Where damage leaves room, the grip holds the planned load with half of the friction."""
    hand, execution = HoldingHand(0.6 * FRICTION), by_feel()
    run(execution, hand)
    assert execution.status == Status.SUCCEEDED and execution.lifted, execution.message
    assert hand.slid == 0.0 and not execution._watch.slips


def test_less_friction_is_felt_and_held():
    hand, execution = HoldingHand(SLIPPERY), by_feel(hold=hold_plan(damage=ROOMY))
    run(execution, hand)
    assert execution.status == Status.SUCCEEDED and execution.lifted, execution.message
    assert 0.0 < hand.slid < SLIPS and 0.3 * FRICTION < execution._watch.friction < 0.7 * FRICTION


def test_the_planned_forces_alone_let_it_slip():
    hand, by_touch = HoldingHand(0.6 * FRICTION), replace(BY_FEEL, hold_by_feel=False,
                                                          by_touch=True)
    execution = GraspExecution(replace(by_feel(by_touch).plan, hold=None), by_feel().options, True)
    run(execution, hand)
    assert execution.status == Status.SLIPPED


def test_a_slip_raises_the_forces_within_100_ms():
    hand, execution = HoldingHand(SLIPPERY), by_feel(hold=hold_plan(damage=ROOMY))
    forces: list[float] = []
    while not execution.done and (hand.slipped_at is None
                                  or hand.time < hand.slipped_at + 0.1 + 0.5 * PERIOD):
        forces.append(sum(step(execution, hand).values()))
    slipped = forces[-round(0.1 / PERIOD) - 1]
    assert execution.phase == Phase.LIFTING and forces[-1] > 1.3 * slipped


@pytest.mark.parametrize('rate, late', [(50.0, 0.01), (50.0, 0.03), (30.0, 0.0), (30.0, 0.02)])
def test_slow_pads_answer_a_slip_within_100_ms_too(rate, late):
    """As often as tactile frames come over the line; what was felt before the raise is no slip."""
    hand, execution = HoldingHand(SLIPPERY), by_feel(hold=hold_plan(damage=ROOMY))
    hand.deal, forces = slow_pads(rate, late), []
    while not execution.done:
        forces.append((hand.time, sum(step(execution, hand).values())))
    before, after = (next(force for time, force in forces
                          if time >= hand.slipped_at + since - 0.5 * PERIOD)
                     for since in (0.0, 0.1))
    assert after > 1.1 * before
    assert execution.status == Status.SUCCEEDED and hand.slid < SLIPS, execution.message


def test_a_heavier_object_is_pressed_more_before_it_slips():
    hand, execution = HoldingHand(1.5 * FRICTION, 1.5 * WEIGHT), by_feel()
    first = execution._watch.level
    run(execution, hand)
    assert execution.status == Status.SUCCEEDED and hand.slid == 0.0
    assert execution._watch.level > max(1.2, first) and not execution._watch.slips


def test_a_lighter_object_is_pressed_no_more_than_the_planned_one():
    hand, execution = HoldingHand(weight=0.5 * WEIGHT), by_feel()
    first = execution._watch.level
    run(execution, hand)
    assert execution.status == Status.SUCCEEDED and execution._watch.level == first < 2.0


@settings(max_examples=6, deadline=None)
@given(st.floats(0.5, 1.5), st.floats(0.5, 1.5), st.floats(20.0, 200.0))
def test_no_force_passes_the_limit_of_damage(friction, weight, spring):
    """Whatever friction, weight and stiffness: held, or told before it is lost."""
    hand, execution = HoldingHand(friction * FRICTION, weight * WEIGHT, (spring,) * 3), by_feel()
    while not execution.done and execution.status == Status.SUCCEEDED:
        step(execution, hand)
    assert all(hand.peak[link] <= DAMAGE * force for link, force in zip(TIPS, FORCES))
    assert execution.status in (Status.SUCCEEDED, Status.CANNOT_HOLD), execution.message
    assert hand.slid < (SLIPS if execution.status == Status.SUCCEEDED else LOST)


def test_the_least_forces_are_solved_for_twenty_times_a_second_while_it_lifts():
    hand, execution, asked = HoldingHand(), by_feel(), []
    solve = execution._watch.programme.solve

    def noted(measured, *rest):
        asked.append(measured.time)
        return solve(measured, *rest)

    execution._watch.programme.solve = noted
    run(execution, hand)
    loaded = dict(execution.begun)[Phase.LIFTING] + UNLOADING
    times = np.unique([time for time in asked if time > loaded])
    assert execution.lifted and len(times) > 10 and np.diff(times).max() <= 0.05 + 1e-6


def test_what_cannot_be_held_is_told_and_set_down():
    hand, execution = HoldingHand(0.25 * FRICTION), by_feel()
    while execution.status == Status.SUCCEEDED and not execution.done:
        step(execution, hand)
    told = hand.slid
    run(execution, hand)
    assert execution.status == Status.CANNOT_HOLD and told < LOST
    assert 'cannot hold' in execution.message and 'friction of' in execution.message
    assert hand.height == 0.0 and isinstance(hand.sent[-1], SetDown) and not execution.lifted
    assert [a.height for a in hand.sent if isinstance(a, MovePalm)][-2:] == [0.05, 0.0]


def test_what_slides_too_far_at_the_largest_grip_cannot_be_held():
    """Where pads tell of the first slip alone, the object's own pose tells of going on."""
    hand, execution = HoldingHand(0.25 * FRICTION), by_feel()
    execution._watch._goes_on = lambda measured: False
    run(execution, hand)
    assert execution.status == Status.CANNOT_HOLD and 'moved 1' in execution.message
    assert f'at {execution._watch.level:.2f} times the planned forces' in execution.message
    assert hand.height == 0.0 and isinstance(hand.sent[-1], SetDown)


def test_a_hand_without_a_free_palm_stops_and_stays_closed():
    hand, execution = HoldingHand(0.25 * FRICTION), by_feel(replace(BY_FEEL, release=True))
    execution._free = False
    execution._move = lambda name, phase, measured, palm: (
        execution._enter(phase, measured, 15.0), [palm])[1]
    run(execution, hand)
    assert execution.status == Status.CANNOT_HOLD and isinstance(hand.sent[-1], StopHand)
    assert Phase.RELEASING not in dict(execution.begun)


def test_without_a_wrist_the_planned_load_counts():
    hand, execution = HoldingHand(0.7 * FRICTION, wrist=False), by_feel()
    run(execution, hand)
    assert execution.status == Status.SUCCEEDED and hand.slid < SLIPS


@pytest.mark.parametrize('damage, level', [(1.0, 1.0), (np.inf, None)])
def test_limits_of_the_grip(damage, level):
    """Without room nothing is raised; without a limit forces stay finite."""
    hand, execution = HoldingHand(0.6 * FRICTION), by_feel(hold=hold_plan(damage=damage))
    run(execution, hand)
    found = execution._watch.level
    assert found == level if level else (1.0 < found < 10.0 and
                                         execution.status == Status.SUCCEEDED)
    assert (execution.status == Status.CANNOT_HOLD) == (damage == 1.0)


def test_no_more_is_asked_for_than_the_motors_can_press():
    """A stiff object, of which damage is far: where nothing holds it, and when it slips."""
    times, made = 2.0, by_feel(hold=hold_plan(damage=20.0)).plan
    efforts = np.minimum(made.hold.hand.joint_efforts, 1.0)
    made = replace(made, torques=efforts / times, hold=replace(
        made.hold, hand=replace(made.hold.hand, joint_efforts=efforts)))
    execution = GraspExecution(made, replace(OPTIONS, settle_time=1.0), True)
    run(execution, HoldingHand(0.25 * FRICTION))
    asked = np.array([row for _, row, _ in execution.felt])
    assert asked.max(axis=0) == pytest.approx(times * np.array(FORCES))
    assert execution.status == Status.CANNOT_HOLD


def test_planned_forces_are_told_with_their_raise():
    hand, execution = HoldingHand(SLIPPERY), by_feel(hold=hold_plan(damage=ROOMY))
    first = execution._watch.level
    run(execution, hand)
    planned = np.array([row for _, row, _ in execution.felt])
    assert planned[0] == pytest.approx(np.array(FORCES) * first)
    assert planned[-1] == pytest.approx(np.array(FORCES) * execution._watch.level)
