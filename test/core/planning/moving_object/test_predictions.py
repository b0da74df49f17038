"""The object's motion as answers tell it."""

from dataclasses import replace

import numpy as np
import pytest

from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.planning import Task
from gripsim_ros.core.planning.moving_object.closing_motion import MOST_TOLD, ClosingPredictions
from gripsim_ros.core.planning.task import task_load_cases
from gripsim_ros.core.transforms import transform
from gripsim_ros.library.in_process import evaluate_grasps, plan_grasps, planner_options


@pytest.fixture(scope='module')
def ball():
    return GraspObject(shapes.sphere(0.033, 0.003), Material(1.0e6, 0.45, 500.0, 0.8))


@pytest.fixture(scope='module')
def planned(hand, ball):
    return plan_grasps(ball, hand=hand, hypotheses=20).grasps


def motions(predictions, grasps):
    return [grasp.closing_motion for grasp in predictions.told(grasps)]


def test_grasps_returned_tell_the_motion_and_those_that_stay_come_first(planned):
    assert planned and all(grasp.closing_motion is not None for grasp in planned)
    kinds = [(not grasp.quantitative, not grasp.balanced, not grasp.closing_motion.stays)
             for grasp in planned]
    assert kinds == sorted(kinds)
    assert planned[0].closing_motion.stays and planned[0].closing_motion.bears


def test_a_palm_aside_moves_the_object_and_the_answer_says_so(hand, ball, planned):
    best = planned[0]
    aside = best.T_object_palm @ transform(np.eye(3), np.array([0.004, 0.0, 0.0]))
    judged = evaluate_grasps(
        ball, [(best.T_object_palm, best.trajectory), (aside, best.trajectory)], hand=hand)
    middle, moved = (grasp.closing_motion for grasp in judged)
    assert middle.stays and middle.bears
    assert moved.way > 0.002 > middle.way and not moved.stays
    assert [any('closing moves the object' in text for text in grasp.warnings)
            for grasp in judged] == [False, True]


def test_a_prediction_is_made_once_and_again_where_the_grasp_has_changed(hand, ball, planned):
    predictions = ClosingPredictions(
        ball, hand, Task(), planner_options().closing,
        task_load_cases(Task(), ball.canonical_frame[:3, :3]))
    first, = motions(predictions, planned[:1])
    assert motions(predictions, planned[:1]) == [first]
    np.testing.assert_array_equal(first.T_object_moved, planned[0].closing_motion.T_object_moved)


def test_no_more_are_predicted_than_are_bearable_and_none_once_nobody_waits(hand, ball, planned):
    predictions = ClosingPredictions(
        ball, hand, Task(), planner_options().closing,
        task_load_cases(Task(), ball.canonical_frame[:3, :3]))
    bare = [replace(planned[0], hypothesis=number, closing_motion=None)
            for number in range(MOST_TOLD + 2)]
    told = [motion is not None for motion in motions(predictions, bare)]
    assert told == [True] * MOST_TOLD + [False] * 2
    assert motions(predictions, bare[:1]) != [None]
    stopped = ClosingPredictions(
        ball, hand, Task(), planner_options().closing,
        task_load_cases(Task(), ball.canonical_frame[:3, :3]))
    stopped.stop()
    assert motions(stopped, bare[:1]) == [None]


def test_side_by_side_motions_are_those_of_each_alone(hand, ball, planned):
    together, alone = (ClosingPredictions(
        ball, hand, Task(), planner_options().closing,
        task_load_cases(Task(), ball.canonical_frame[:3, :3])) for _ in range(2))
    ways = [motion.T_object_moved for motion in motions(together, planned)]
    each = [motions(alone, [grasp])[0].T_object_moved for grasp in planned]
    np.testing.assert_array_equal(ways, each)
