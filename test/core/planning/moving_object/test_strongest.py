"""Palms of which the hand bears most, and what their grasps tell."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.planning import Task, task_load_cases
from gripsim_ros.core.planning.hypotheses.generate import propose_hypotheses
from gripsim_ros.core.planning.moving_object.stronger import (
    firm_presses, PRESS, PressTrial, steps_at_most)
from gripsim_ros.core.planning.moving_object.strongest import (
    deeper, DEPTHS, from_open_hand, strongest_palms, tried_at_most, unlike)
from gripsim_ros.core.planning.moving_object.touch_closing import press_margins
from gripsim_ros.library.in_process import evaluate_grasps, planner_options
from gripsim_ros.library.resources import load_default_hand

HAND, OPTIONS = load_default_hand(), planner_options()
#: Weights along the axes: what is borne of them.
AXES = Task(gravity_directions=np.concatenate([np.eye(3), -np.eye(3)]))


@lru_cache(maxsize=1)
def box():
    """Return a packet of salt."""
    return GraspObject(shapes.box((0.065, 0.07, 0.145)), Material(2e9, 0.3, 700.0, 0.5))


def trial(approaches=lambda T_object_palm, opened: True):
    return PressTrial(box(), HAND, AXES, OPTIONS, approaches)


@lru_cache(maxsize=1)
def strongest():
    return strongest_palms(trial(), 2, 24)


def margin(palm, at_least=0.0, opened=None):
    way = HAND.preshapes[palm.preshape]
    loads = task_load_cases(AXES, box().canonical_frame[:3, :3])
    return min(press_margins(
        box(), HAND, palm.T_object_palm, way.open if opened is None else opened,
        way.closed - way.open, loads, OPTIONS.closing, firm_presses, at_least))


@pytest.mark.slow
def test_the_strongest_come_first_and_bear_what_they_say():
    found, tried = strongest()
    told = [palm.margin for palm in found]
    assert tried == tried_at_most(24, 2) == 24 + steps_at_most(2)
    assert 0 < len(told) <= 6 and told == sorted(told, reverse=True)
    assert len({palm.hypothesis.number for palm in found}) == len(found)
    assert any(palm.hypothesis.number >= 24 for palm in found)      # stronger than proposed
    assert margin(found[0].hypothesis, opened=found[0].opened) == told[0]


@pytest.mark.slow
def test_none_of_the_palms_left_out_bears_more():
    found, _ = strongest()
    proposed, _ = propose_hypotheses(box(), HAND, AXES, OPTIONS, 24)
    told = {palm.hypothesis.number for palm in found}
    for palm, _ in zip(deeper(unlike(proposed), trial()), range(24)):
        assert palm.number in told or margin(palm) <= found[-1].margin


def test_who_bears_less_than_asked_for_is_not_told_apart():
    (first, *_), _ = propose_hypotheses(box(), HAND, AXES, OPTIONS, 1)
    free = margin(first)
    assert margin(first, 0.5 * free) == free > 0.0 and margin(first, 2.0 * free) == 0.0


def test_palms_stand_deeper_along_their_approach_until_the_open_hand_touches():
    (first, *_), _ = propose_hypotheses(box(), HAND, AXES, OPTIONS, 1)
    found = list(deeper([first], trial()))
    inward = first.T_object_palm[:3, :3] @ HAND.approach
    ways = [palm.T_object_palm[:3, 3] - first.T_object_palm[:3, 3] for palm in found]
    np.testing.assert_allclose(ways, np.outer(DEPTHS[:len(found)], inward), atol=1e-12)
    assert [palm.number for palm in found] == list(range(len(found))) and len(found) > 1
    touching = replace(first, T_object_palm=first.T_object_palm.copy())
    touching.T_object_palm[:3, 3] = box().mass_properties.centre_of_mass
    assert not list(deeper([touching], trial()))


def test_of_palms_much_alike_the_first_is_kept():
    (first, *_), _ = propose_hypotheses(box(), HAND, AXES, OPTIONS, 1)
    near, far = (replace(first, T_object_palm=first.T_object_palm.copy()) for _ in range(2))
    near.T_object_palm[:3, 3] += 0.004
    far.T_object_palm[:3, 3] += 0.02
    other = replace(near, preshape=first.preshape + 1)
    assert unlike([first, near, far, other]) == [first, far, other]


def test_nobody_waits_for_palms_once_they_are_not_wanted():
    found, tried = strongest_palms(trial(), 2, 24, go_on=lambda tried: False)
    assert not found and not tried


@pytest.mark.slow
def test_a_grasp_leads_from_the_open_hand_and_tells_what_its_grip_bears():
    palm = strongest()[0][0]
    way = HAND.preshapes[palm.hypothesis.preshape]
    given = palm.hypothesis.T_object_palm, np.array([palm.opened, palm.opened])
    (closed,) = evaluate_grasps(box(), [given], AXES, hand=HAND, close=True)
    grasp = from_open_hand(closed, palm, HAND, 9)
    assert grasp.margin == palm.margin
    assert grasp.trajectory.shape == (9, len(HAND.joint_names))
    np.testing.assert_allclose(grasp.trajectory[[0, -1]], [palm.opened, closed.trajectory[-1]],
                               atol=1e-9)
    steps = np.diff(grasp.trajectory, axis=0) * np.sign(way.closed - way.open)
    assert (steps >= -1e-12).all()
    pressing = grasp.grip_efforts != 0.0
    assert pressing.any()
    np.testing.assert_allclose(np.abs(grasp.grip_efforts[pressing]),
                               PRESS * HAND.joint_efforts[pressing])
