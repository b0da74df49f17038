"""The grasp paper's planner as a whole."""

from dataclasses import replace

import numpy as np
import pytest

from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.errors import TaskError
from gripsim_ros.core.mechanics import MechanicsOptions
from gripsim_ros.core.pipeline import PublishedPipeline, run
from gripsim_ros.core.planning import PublishedPlanner, PublishedRules, rejections, Task
from gripsim_ros.core.planning.published.common_closing import STEPS
from gripsim_ros.core.planning.ranked_grasp import CONES_LEFT, PUBLISHED
from gripsim_ros.core.transforms import transform
from gripsim_ros.library.in_process import FAR_BOX, planner_options
from gripsim_ros.library.resources import load_default_hand

DOWN = np.array([[0.0, 0.0, -1.0]])
HYPOTHESES, SHIFT = 3, 0.02
RULES = PublishedRules(hypotheses='prescreened')
ATOL_BALANCE = 1e-6


@pytest.fixture(scope='module')
def hand():
    return load_default_hand()


@pytest.fixture(scope='module')
def ball():
    return GraspObject(shapes.sphere(0.035, 0.006), Material(1e6, 0.45, 1000.0, 0.6))


def planned(hand, ball, task, **limits):
    planner = PublishedPlanner(ball, hand, task, planner_options(), rules=RULES,
                               **{'max_hypotheses': HYPOTHESES, **limits})
    run(planner, PublishedPipeline(hand, ball, MechanicsOptions(), RULES))
    return planner


@pytest.fixture(scope='module')
def found(hand, ball):
    return planned(hand, ball, Task(gravity_directions=DOWN))


def test_each_hypothesis_is_a_grasp_or_excluded_for_a_reason(found):
    assert found.finished
    assert len(found.ranked()) + sum(found.rejections.values()) == HYPOTHESES
    assert found.ranked()


def test_grasps_say_whose_they_are_and_that_friction_would_not_bear_them(found):
    for grasp in found.ranked():
        assert grasp.method == PUBLISHED and grasp.stable and grasp.margin == 1.0
        assert len({contact.link for contact in grasp.contacts}) > 2
        assert any(warning.startswith(CONES_LEFT) for warning in grasp.warnings)


def test_computed_forces_balance_the_weight_and_order_the_grasps(found, ball):
    sums = []
    for grasp in found.ranked():
        forces = np.array([contact.force for contact in grasp.contacts])
        weight = 9.81 * ball.mass_properties.mass
        np.testing.assert_allclose(forces.sum(axis=0), [0.0, 0.0, weight], rtol=0.0,
                                   atol=ATOL_BALANCE)
        sums.append(np.linalg.norm(forces, axis=1).sum())
    assert sums == sorted(sums)


def test_all_joints_close_alike(found, hand):
    for grasp in found.ranked():
        preshape = next(p for p in hand.preshapes if p.name == grasp.preshape)
        rates = preshape.closed - preshape.open
        shares = (grasp.trajectory - preshape.open)[:, rates != 0.0] / rates[rates != 0.0]
        np.testing.assert_allclose(shares, shares[:, :1].repeat(shares.shape[1], axis=1),
                                   rtol=0.0, atol=1e-12)
        assert 1.0 / STEPS < shares[-1, 0] <= 1.0


def test_what_the_fingers_cannot_move_is_excluded(found, hand, ball):
    lifted = planned(hand, ball, Task(gravity_directions=DOWN, displacement_object=transform(
        np.eye(3), np.array([0.0, 0.0, SHIFT]))))
    assert not lifted.ranked()
    assert lifted.rejections[rejections.UNREACHABLE] == len(found.ranked())
    assert 'cannot move' in lifted.hint


def test_a_plan_that_is_stopped_counts_what_was_not_judged(hand, ball):
    planner = PublishedPlanner(ball, hand, Task(), planner_options(), rules=RULES,
                               max_hypotheses=HYPOTHESES)
    planner.stop()
    assert planner.finished and planner.rejections == {rejections.NOT_EVALUATED: HYPOTHESES}


@pytest.mark.parametrize('name', ['obstacles', 'keep_out', 'contact_region'])
def test_a_task_with_what_the_method_does_not_know_is_refused(hand, ball, name):
    with pytest.raises(TaskError, match=f'knows no task.{name}'):
        PublishedPlanner(ball, hand, replace(Task(), **{name: FAR_BOX}), planner_options())


def test_an_approach_direction_is_refused(hand, ball):
    with pytest.raises(TaskError, match='approach_direction'):
        PublishedPlanner(ball, hand, Task(approach_direction=DOWN[0]), planner_options())
