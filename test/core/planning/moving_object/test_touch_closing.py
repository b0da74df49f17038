"""What a free object bears in a hand that closes by touch."""

from functools import lru_cache

import numpy as np
from plan_cases import plan_by_half_spaces
import pytest

from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.planning import Task, task_load_cases
from gripsim_ros.core.planning.moving_object.touch_closing import MOST, touch_margin
from gripsim_ros.core.transforms import transform
from gripsim_ros.library.in_process import evaluate_grasps, planner_options
from gripsim_ros.library.resources import load_default_hand

#: Weights along the axes: what is borne of them.
AXES = Task(gravity_directions=np.concatenate([np.eye(3), -np.eye(3)]))
HAND = load_default_hand()
#: A margin is found by four halvings of a step of 1.6.
RESOLUTION = 0.05


def ball(density=900.0, friction=0.5):
    return GraspObject(shapes.sphere(0.035, 0.007), Material(1e9, 0.3, density, friction))


@lru_cache(maxsize=1)
def planned():
    return plan_by_half_spaces(ball(), hypotheses=4).grasps[0]


def margin(thing, joints=None, T_object_palm=None, loads=1.0):
    """Return the margin of the planned grasp of a ball."""
    grasp = planned()
    way = next(one for one in HAND.preshapes if one.name == grasp.preshape)
    return touch_margin(
        thing, HAND, grasp.T_object_palm if T_object_palm is None else T_object_palm,
        grasp.trajectory[-1] if joints is None else joints, way.closed - way.open,
        loads * task_load_cases(AXES, thing.canonical_frame[:3, :3]), planner_options().closing)


def test_twice_the_load_is_borne_by_half_of_the_margin():
    heavy = ball(density=9000.0)
    once, twice = margin(heavy), margin(heavy, loads=2.0)
    assert 0.0 < once < MOST
    np.testing.assert_allclose(2.0 * twice, once, rtol=2.0 * RESOLUTION)


def test_more_friction_bears_more_and_a_light_object_all_that_is_told():
    slippery, rough = (margin(ball(9000.0, friction)) for friction in (0.2, 0.8))
    assert 0.0 < slippery < rough
    assert margin(ball(density=50.0)) == MOST


@pytest.mark.parametrize('share', [-0.3, 0.1])
def test_it_begins_anew_from_an_opened_hand_and_from_joints_within_the_object(share):
    grasp, heavy = planned(), ball(density=9000.0)
    moved = grasp.trajectory[-1] + share * np.sign(grasp.trajectory[-1] - grasp.trajectory[0])
    np.testing.assert_allclose(margin(heavy, moved), margin(heavy), rtol=0.25)


def test_a_hand_that_is_far_from_the_object_bears_nothing():
    away = transform(np.eye(3), np.array([0.0, 0.0, -1.0]))
    assert margin(ball(), T_object_palm=away) == 0.0


def test_evaluating_with_closing_tells_it():
    grasp = planned()
    (judged,) = evaluate_grasps(ball(9000.0), [(grasp.T_object_palm, grasp.trajectory[-1:])], AXES,
                                close=True)
    np.testing.assert_allclose(judged.closing.touch_margin, margin(ball(9000.0)), rtol=1e-9)
