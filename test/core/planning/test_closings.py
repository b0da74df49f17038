"""Closing the best again: stages that say the same change nothing, others decide alone."""

from copy import deepcopy
from dataclasses import replace
from itertools import islice
from types import SimpleNamespace

import numpy as np
import pytest
from fake_stages import RADIUS, SphereWorld
from numpy.testing import assert_allclose
from scipy.optimize import brentq

from gripsim_ros.core.batches import HALF_SPACE
from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.errors import TaskError
from gripsim_ros.core.planning import GraspPlanner, Task, rejections
from gripsim_ros.core.planning.closings import MOST_ROUNDS, yields_as_a_whole
from gripsim_ros.core.planning.options import IN_TWO_STAGES
from gripsim_ros.core.planning.planar_closing.prospects import PlanarProspects
from gripsim_ros.core.planning.planner import ENDED_EARLY
from gripsim_ros.core.planning.settling import SPARE_GRASPS
from gripsim_ros.library.in_process import planner_options

HYPOTHESES, WANTED, HEAVIER = 24, 2, 1.5
#: Joints as shares of their way and back [rad].
ATOL_JOINTS = 1e-12
#: Of forces at joints so near.
RTOL_SCORE = 1e-8


@pytest.fixture(scope='module')
def searched(ball, hand, world):
    """Return a planner whose search has ended; copies go on from there."""
    options = replace(planner_options(), max_grasps=WANTED, batch_size=2)
    planner = GraspPlanner(ball, hand, Task(), options, max_hypotheses=HYPOTHESES,
                           elasticity=IN_TWO_STAGES)
    return answered(planner, world)


def answered(planner, world, together=1, refused=()):
    """Answer questions, so many at a time and the last first; those about some items fail."""
    while not planner.finished:
        asks = list(islice(iter(planner.ask, None), together))
        for ask in reversed(asks):
            if set(planner._asked[ask.batch_id][1]) & set(refused):
                planner.tell_failed(ask.batch_id)
            else:
                planner.tell(ask.batch_id, world.evaluate(ask.configurations))
    return planner


def signature(planner):
    return [(g.rank, g.hypothesis, g.score, g.trajectory.tobytes()) for g in planner.ranked()]


@pytest.fixture(scope='module')
def completed(searched, world):
    planner = deepcopy(searched)
    assert not planner.closed_again and planner.ranked()[0].vertices is None
    planner.stop()
    assert planner.go_on() and not planner.closed_again
    return answered(planner, world)


def test_stages_that_say_the_same_change_nothing(searched, world, completed):
    planner = deepcopy(searched)
    assert planner.go_on()
    asked = world.questions
    answered(planner, world)
    assert planner.closed_again and len(planner.ranked()) == WANTED
    # One question each to see that nothing has changed, and one for the details.
    assert world.questions - asked <= 2 * (WANTED + SPARE_GRASPS)
    for grasp, before in zip(planner.ranked(), completed.ranked(), strict=True):
        assert (grasp.rank, grasp.hypothesis) == (before.rank, before.hypothesis)
        assert_allclose(grasp.trajectory, before.trajectory, rtol=0, atol=ATOL_JOINTS)
        assert grasp.score == pytest.approx(before.score, rel=RTOL_SCORE)
        assert grasp.vertices is not None


def test_the_ranking_does_not_depend_on_when_answers_come(searched, hand, world):
    heavier = SphereWorld(hand, RADIUS, HEAVIER * world._load, world._friction)
    planners = [deepcopy(searched) for _ in range(2)]
    for planner, together in zip(planners, (1, 5)):
        assert planner.go_on()
        answered(planner, heavier, together)
    assert signature(planners[0]) == signature(planners[1])
    assert len(planners[0].ranked()) == WANTED


def test_heavier_loads_are_held_by_more_force_than_the_search_found(
        searched, hand, world, completed):
    planner = deepcopy(searched)
    assert planner.go_on()
    heavier = SphereWorld(hand, RADIUS, HEAVIER * world._load, world._friction)
    answered(planner, heavier)
    before = {g.hypothesis: pressed(g) for g in completed.ranked()}
    both = [g for g in planner.ranked() if g.hypothesis in before]
    assert both and all(pressed(g) > before[g.hypothesis] for g in both)


def pressed(grasp):
    return sum(float(np.linalg.norm(contact.force)) for contact in grasp.contacts)


def test_where_the_best_let_go_the_next_go_on_and_are_counted(searched, world):
    planner = deepcopy(searched)
    best = {g.hypothesis for g in planner.ranked(WANTED + SPARE_GRASPS)}
    assert len(best) == WANTED + SPARE_GRASPS
    stable, rejected = planner.progress.stable, sum(planner.rejections.values())
    assert planner.go_on()
    answered(planner, world, refused=best)
    assert len(planner.ranked()) == WANTED
    assert not best & {g.hypothesis for g in planner.ranked()}
    assert planner.rejections[rejections.EVALUATION_FAILED] == len(best)
    assert sum(planner.rejections.values()) == rejected + len(best)
    assert planner.progress.stable <= stable - len(best)


def test_those_that_are_not_quantitative_are_closed_two_rounds_at_most(searched, hand, world):
    planner = deepcopy(searched)
    assert planner.go_on()
    answered(planner, FlaggedWorld(hand, RADIUS, world._load, world._friction))
    assert not any(grasp.quantitative for grasp in planner.ranked())
    assert planner.progress.stable == MOST_ROUNDS * (WANTED + SPARE_GRASPS)


class FlaggedWorld(SphereWorld):
    """The same, with no contact within the range of the model."""

    def evaluate(self, batch):
        states = super().evaluate(batch)
        return replace(states, quantitative=np.zeros_like(states.quantitative))


@pytest.mark.parametrize('answers', [0, 1])
def test_an_end_before_as_many_have_settled_leaves_the_answer_of_the_search(
        searched, world, completed, answers):
    planner = deepcopy(searched)
    assert planner.go_on()
    for _ in range(answers):
        ask = planner.ask()
        planner.tell(ask.batch_id, world.evaluate(ask.configurations))
    planner.stop()
    assert planner.finished and not planner.closed_again
    assert planner.go_on() and not planner.closed_again
    assert signature(answered(planner, world)) == signature(completed)
    assert planner.rejections == completed.rejections


def test_what_the_questions_are_to_be_answered_by_is_said_in_each(searched, world):
    planner = deepcopy(searched)
    assert planner.conditions.elasticity == 'half_space_first'
    assert planner.go_on()
    asked = {ask.configurations.elasticity for ask in questions_of(planner, world)}
    assert asked == {'body'} and not planner.go_on()


def questions_of(planner, world):
    while not planner.finished:
        ask = planner.ask()
        yield ask
        planner.tell(ask.batch_id, world.evaluate(ask.configurations))


@pytest.mark.parametrize('answers', [0, 1])
def test_a_refusal_leaves_the_answer_of_the_search_and_says_why(
        searched, world, completed, answers):
    planner = deepcopy(searched)
    planner.refuse('nobody has asked yet')
    assert planner.go_on()
    for _ in range(answers):
        ask = planner.ask()
        planner.tell(ask.batch_id, world.evaluate(ask.configurations))
    for _ in range(2):      # every question that is out is refused
        planner.refuse('it has no compliance')
    assert planner.finished and planner.go_on() and not planner.closed_again
    assert signature(answered(planner, world)) == signature(completed)
    assert not planner.go_on()
    assert all(g.warnings[-1] == 'it has no compliance' for g in planner.ranked())
    assert all(g.warnings[-1] == ENDED_EARLY for g in completed.ranked())


def test_a_planner_that_asks_once_goes_on_to_nothing(ball, hand, world):
    options = replace(planner_options(), max_grasps=1)
    planner = answered(GraspPlanner(ball, hand, Task(), options, max_hypotheses=4), world)
    assert not planner.go_on() and planner.warnings == ()


def test_an_elasticity_that_no_question_names_is_refused(ball, hand):
    with pytest.raises(TaskError, match="elasticity must be half_space or auto .*'steel'"):
        GraspPlanner(ball, hand, Task(), planner_options(), elasticity='steel')


def test_what_hangs_on_all_prospects_begins_once_the_first_wave_is_over(
        hand, ball, world, monkeypatch):
    found, prospect = [], PlanarProspects.prospect
    monkeypatch.setattr(PlanarProspects, 'prospect', lambda judge, hypothesis: (
        found.append(hypothesis.number) or prospect(judge, hypothesis)))
    first = 3
    planner = GraspPlanner(ball, hand, Task(), replace(planner_options(), heat_size=first),
                           max_hypotheses=HYPOTHESES)
    assert list(iter(planner.ask, None))
    assert first <= len(found) < HYPOTHESES // 2
    while planner.look_ahead():
        pass
    assert sorted(found) == list(range(HYPOTHESES))
    assert planner.ask() is not None and len(found) == HYPOTHESES


def thing(mesh, modulus=1.0e9):
    return GraspObject(mesh, Material(modulus, 0.3, 600.0, 0.6))


def without_pads(hand):
    return SimpleNamespace(links=[SimpleNamespace(pad=None) for _ in hand.links])


def test_whether_an_object_yields_hangs_on_its_shape_and_a_ratio_of_moduli(hand):
    block, plate = shapes.box([0.05, 0.06, 0.1]), shapes.box([0.005, 0.06, 0.1])
    assert not yields_as_a_whole(thing(block), hand) and yields_as_a_whole(thing(plate), hand)
    assert yields_as_a_whole(thing(block, 1e6), hand)
    assert not yields_as_a_whole(thing(plate, 1e12), hand)
    assert yields_as_a_whole(thing(plate, 1e12), without_pads(hand))
    for mesh, changes in ((block, False), (plate, True)):
        assert yields_as_a_whole(thing(mesh.with_scale(30.0)), hand) is changes


def test_what_a_force_changes_by_grows_with_the_cube_of_slenderness_and_falls_with_the_modulus(
        hand):
    def modulus_of(mesh):
        return brentq(lambda log: yields_as_a_whole(thing(mesh, np.exp(log)), hand) - 0.5,
                      np.log(1e3), np.log(1e12), xtol=1e-6)
    rods = [shapes.box([1.0, 1.0, length]) for length in (5.0, 10.0)]
    slender = [mesh.diagonal * mesh.area / (2.0 * mesh.volume) for mesh in rods]
    assert_allclose(np.subtract(*map(modulus_of, rods)), 3.0 * np.log(slender[0] / slender[1]),
                    rtol=1e-5)


def test_a_stiff_object_is_asked_of_half_spaces_alone(hand, ball, world):
    stiff = GraspObject(ball.mesh, replace(ball.material, youngs_modulus=1e11))
    planner = GraspPlanner(stiff, hand, Task(), replace(planner_options(), max_grasps=WANTED),
                           max_hypotheses=HYPOTHESES, elasticity=IN_TWO_STAGES)
    asked = set()
    while (ask := planner.ask()) is not None:
        asked.add(ask.configurations.elasticity)
        planner.tell(ask.batch_id, world.evaluate(ask.configurations))
    assert planner.finished and not planner.go_on()
    assert asked == {HALF_SPACE} and planner.ranked() and not planner.warnings
