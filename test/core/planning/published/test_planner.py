"""The grasp paper's planner as a whole."""

from dataclasses import replace

import numpy as np
import pytest

from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.errors import TaskError
from gripsim_ros.core.hand import forward_kinematics
from gripsim_ros.core.mechanics import MechanicsOptions
from gripsim_ros.core.pipeline import PublishedPipeline, run
from gripsim_ros.core.planning import PublishedPlanner, PublishedRules, rejections, Task
from gripsim_ros.core.planning.manipulation.kinematics import attainable_twists
from gripsim_ros.core.planning.published import common_closing
from gripsim_ros.core.planning.published.common_closing import STEPS
from gripsim_ros.core.planning.ranked_grasp import CONES_LEFT, HAND_ONLY, PUBLISHED
from gripsim_ros.core.transforms import apply, from_rotation_vector, inverse, transform
from gripsim_ros.library.in_process import FAR_BOX, planner_options
from gripsim_ros.library.resources import load_default_hand

DOWN = np.array([[0.0, 0.0, -1.0]])
#: A lift, and a way and a turn that the fingers can give [m, rad].
HYPOTHESES, SHIFT, TRAVEL, TURN = 3, 0.02, 0.006, 0.15
#: How far a link's point may leave the object's point that it touched [m].
ATOL_FOLLOWED = 1e-3
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


def lift(height=SHIFT):
    """Return the task to lift the ball."""
    return Task(gravity_directions=DOWN, displacement_object=transform(
        np.eye(3), np.array([0.0, 0.0, height])))


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
    lifted = planned(hand, ball, lift())
    assert not lifted.ranked()
    assert lifted.rejections[rejections.UNREACHABLE] == len(found.ranked())
    assert 'cannot move' in lifted.hint


def within_reach(hand, ball, monkeypatch):
    """Return a small displacement that (2) says the fingers of some grasp can give the ball."""
    asked = []

    def note(hand, joints, tips, twist, centre):
        asked.append((joints, tips, centre))
        return False, 1.0
    monkeypatch.setattr(common_closing, 'can_follow', note)
    planner = planned(hand, ball, lift())
    T_object_palm = next(closing.hypothesis.T_object_palm for closing in
                         planner._work.judged if closing.reason == rejections.UNREACHABLE)
    joints, tips, centre = asked[0]
    basis = attainable_twists(hand, joints, tips, centre, 1.0)
    # That which turns least: any basis of them gives the same, on any machine.
    twist = basis @ np.linalg.svd(basis[3:])[2][-1]
    twist *= np.sign(twist[np.abs(twist).argmax()])
    speed, spin = np.linalg.norm(twist[:3]), np.linalg.norm(twist[3:])
    twist *= min(TRAVEL / max(speed, 1e-12), TURN / max(spin, 1e-12))
    turn = from_rotation_vector(np.concatenate([np.zeros(3), T_object_palm[:3, :3] @ twist[3:]]))
    middle = apply(T_object_palm, centre[None])[0]
    shift = T_object_palm[:3, :3] @ twist[:3] + middle - turn[:3, :3] @ middle
    monkeypatch.undo()
    return transform(turn[:3, :3], shift)


def test_what_the_fingers_can_move_goes_along_its_way_with_forces_found_again(
        hand, ball, monkeypatch):
    motion = within_reach(hand, ball, monkeypatch)
    moved = planned(hand, ball, Task(gravity_directions=DOWN, displacement_object=motion))
    grasps, weight = moved.ranked(), 9.81 * ball.mass_properties.mass
    assert grasps and moved.reach_levels == {HAND_ONLY: len(grasps)}
    assert len(grasps) + sum(moved.rejections.values()) == HYPOTHESES
    for grasp in grasps:
        way = grasp.reach
        assert len(way.steps) == len(way.joints) > 2 and way.shares[-1] == 1.0
        assert (way.joints[0] == grasp.trajectory[-1]).all()
        links = [hand.link_names.index(name) for name in way.steps[0].links]
        T_object_link = (way.T_object_palm[:, None] @ forward_kinematics(
            hand, way.joints))[:, links]
        points = np.einsum('kij,kj->ki', inverse(T_object_link[0]), np.column_stack(
            [way.steps[0].points, np.ones(len(links))]))
        for row, step in zip(T_object_link, way.steps):
            moved = np.einsum('kij,kj->ki', row, points)[:, :3]
            wanted = apply(step.T_object_moved, way.steps[0].points)
            np.testing.assert_allclose(moved, wanted, atol=ATOL_FOLLOWED)
        assert np.linalg.norm(wanted - way.steps[0].points, axis=1).max() > 4.0 * ATOL_FOLLOWED
        np.testing.assert_allclose(way.steps[-1].T_object_moved, motion, atol=1e-12)
        np.testing.assert_allclose(way.T_object_palm, np.tile(
            grasp.T_object_palm, (len(way.joints), 1, 1)), atol=1e-12)
        for step in way.steps:      # in the first frame the weight keeps its direction
            np.testing.assert_allclose(step.minimal_forces.sum(axis=0), [0.0, 0.0, weight],
                                       rtol=0.0, atol=ATOL_BALANCE)
            for link in set(step.links):
                on = [other == link for other in step.links]
                pressed, least = (float((forces * step.normals)[on].sum()) for forces in (
                    step.forces, step.minimal_forces))
                assert pressed >= max(least, 0.1) - ATOL_BALANCE


@pytest.mark.nightly     # by day manipulation/test_search loses them
def test_grasps_that_lose_the_object_on_its_way_are_counted(hand, ball, monkeypatch):
    """Along what (2) does not allow, but for which it is not asked."""
    monkeypatch.setattr(common_closing, 'can_follow', lambda *_: (True, 0.0))
    far = planned(hand, ball, lift(0.06))
    lost = far.rejections.get(rejections.LOST_ON_WAY, 0)
    assert lost > 0 and len(far.ranked()) + sum(far.rejections.values()) == HYPOTHESES
    assert far.finished and all(grasp.reach is not None for grasp in far.ranked())


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
