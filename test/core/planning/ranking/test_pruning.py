"""Which grasps are refined: those whose refined scores may come among the best."""

from dataclasses import replace
from functools import lru_cache
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gripsim_ros.core.batches import DETAIL_FORCES, PATCH_REACHES_LINK_EDGE, PATCH_THIN
from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.pipeline import Pipeline
from gripsim_ros.core.planning import GraspPlanner, Task
from gripsim_ros.core.planning.closing.batching import Conditions
from gripsim_ros.core.planning.closing.question import Question
from gripsim_ros.core.planning.closing.grasp_state import extract_state
from gripsim_ros.core.planning.ranking.pruning import (
    RELIEF_RATIO, Pruner, predicted_score_change, score_upper_bound)
from gripsim_ros.core.planning.ranking.score import score_reference
from gripsim_ros.core.planning.task import task_load_cases
from gripsim_ros.library.in_process import mechanics_options, planner_options
from gripsim_ros.library.resources import load_default_hand


@lru_cache(maxsize=None)
def held():
    """Return the state of a grasp of a ball that holds, hand, reference and options."""
    hand, options = load_default_hand(), planner_options()
    thing = GraspObject(shapes.sphere(0.033, 0.003), Material(2e6, 0.45, 1100.0, 0.8))
    planner = GraspPlanner(thing, hand, Task(), options, max_hypotheses=1)
    pipeline = Pipeline(hand, thing, mechanics_options())
    while not planner.finished:
        ask = planner.ask()
        planner.tell(ask.batch_id, pipeline.evaluate(ask.configurations))
    grasp, cases = planner.ranked()[0], task_load_cases(Task(), np.eye(3))
    question = Question(DETAIL_FORCES, grasp.T_object_palm, grasp.trajectory[-1],
                        np.zeros(7), np.zeros(3))
    state = extract_state(pipeline.evaluate(Conditions.of(Task(), cases).batch([question])), 0)
    assert state.capable and len(state.links) >= 2
    return state, hand, score_reference(thing, hand, cases), options


def forces_of(state, ratio):
    return {link: ratio * float(state.normal_forces[state.links == link].sum())
            for link in state.links.tolist()}


@given(ratio=st.floats(0.3, 3.0))
def test_a_flagged_patch_is_in_range_again_only_where_its_force_falls(ratio):
    state, *rest = held()
    clean = replace(state, flags=np.zeros_like(state.flags))
    flagged = replace(state, flags=np.where(np.arange(len(state.flags)) == 0, PATCH_THIN, 0))
    assert predicted_score_change(clean, forces_of(state, ratio), *rest)[1]
    if abs(ratio - RELIEF_RATIO) > 1e-9:
        assert predicted_score_change(flagged, forces_of(state, ratio), *rest)[1] == (
            ratio < RELIEF_RATIO)


def test_forces_that_stay_change_no_score_and_larger_ones_lower_it():
    state, *rest = held()
    assert predicted_score_change(state, forces_of(state, 1.0), *rest)[0] == pytest.approx(
        0.0, abs=1e-12)
    assert predicted_score_change(state, forces_of(state, 2.0), *rest)[0] < 0.0


WANTED, SLACK = 3, 0.02


class Pressing(SimpleNamespace):
    """A closing on its way that every link presses, and that wants forces by a ratio."""

    judged, ratio = False, 2.0

    def loads_all_contacts(self, state):
        return True

    def wanted_forces(self, state):
        return forces_of(state, self.ratio)


def pressing(number):
    return Pressing(hypothesis=SimpleNamespace(number=number), threshold=None)


def last_of_three_waves(known):
    """Return a pruner and a closing of the third wave, where the first came to known grasps."""
    state, hand, reference, options = held()
    options = replace(options, heat_size=len(known), set_aside_slack=SLACK)
    pruner = Pruner(hand, reference, options, WANTED)
    for wave in range(2):
        closings = [pressing(wave * len(known) + i) for i in range(len(known))]
        for closing in closings:
            pruner.begin(closing)
        for closing, (quantitative, score, place) in zip(closings, known):
            number = closing.hypothesis.number
            pruner.conclude(number, SimpleNamespace(
                quantitative=quantitative, score=score, balanced=True, hypothesis=number,
                closing_motion=None,
                preshape='', T_object_palm=np.eye(4),
                contacts=[SimpleNamespace(point=np.full(3, float(place)))])
                if wave == 0 else None)
    closing = pressing(2 * len(known))
    pruner.begin(closing)
    return pruner, closing, score_upper_bound(state, hand, reference, options)


def ranking_before(known, kind, best):
    """Return how many of known grasps rank before another choice of a kind and score."""
    of_kind = {}
    for quantitative, score, place in sorted(known, reverse=True):
        if quantitative == kind:
            of_kind.setdefault(place, score)
    better = {place for quantitative, _, place in known if quantitative and not kind}
    return (sum(score - SLACK > best for place, score in of_kind.items() if place not in better)
            + sum(quantitative and not kind for quantitative, _, _ in known))


@given(known=st.lists(st.tuples(st.booleans(), st.floats(-0.3, 0.3), st.integers(0, 5)),
                      min_size=1, max_size=8),
       flag=st.sampled_from((0, PATCH_THIN, PATCH_REACHES_LINK_EDGE)))
def test_closings_are_beaten_by_as_many_as_wanted_that_rank_before_them(known, flag):
    state = held()[0]
    best = last_of_three_waves([(True, 0.0, 0)])[2]
    known = [(quantitative, best + over, place) for quantitative, over, place in known]
    pruner, closing, _ = last_of_three_waves(known)
    may_be_quantitative = flag != PATCH_THIN
    before = ranking_before(known, may_be_quantitative, best)
    flagged = replace(state, flags=np.full_like(state.flags, flag))
    assert pruner.should_defer(closing, flagged) == (before >= WANTED)


def test_a_flagged_patch_that_is_pressed_less_may_beat_all_bars():
    state = held()[0]
    pruner, closing, _ = last_of_three_waves([(True, -1.0, place) for place in range(WANTED)])
    flagged = replace(state, flags=np.full_like(state.flags, PATCH_THIN))
    assert pruner.should_defer(closing, flagged)
    closing.ratio = 0.9 * RELIEF_RATIO
    assert not pruner.should_defer(closing, flagged)


def foretelling(found, foretold, least=0, flag=0, lifted=0, size=8, waves=2, slack=SLACK, sound=0):
    """
    Return a pruner after some waves, where the first came to scores (None: no grasp).

    All but the first ``sound`` grasps have the flag.
    """
    _, hand, reference, options = held()
    pruner = Pruner(hand, reference, replace(options, heat_size=size, set_aside_slack=slack),
                    WANTED, least, lifted)
    for number in range(waves * size):
        pruner.begin(pressing(number), foretold[number] if number < len(foretold) else 0.0)
        score = found[number] if number < len(found) else None
        pruner.conclude(number, None if score is None else SimpleNamespace(
            quantitative=not flag or number < sound, score=score, balanced=True,
            hypothesis=number, closing_motion=None, preshape='', T_object_palm=np.eye(4),
            contacts=[SimpleNamespace(point=np.full(3, float(number)), flags=flag)]))
    return pruner


@given(size=st.integers(8, 60), thin=st.booleans(), data=st.data())
def test_a_closing_is_hopeless_where_one_in_twenty_at_most_gained_what_it_lacks(size, thin, data):
    scores, gains = (data.draw(st.lists(st.floats(*of), min_size=size, max_size=size))
                     for of in ((0.2, 1.0), (-0.2, 0.2)))
    foretold = [score - gain for score, gain in zip(scores, gains)]
    pruner = foretelling(scores, foretold, flag=thin * PATCH_THIN, lifted=PATCH_THIN, size=size)
    wanted = sorted(scores)[-WANTED]

    def gained(lacking):
        return sum(gain >= lacking for gain in gains)
    for foretells in np.linspace(-0.2, 1.2, 57):
        if pruner.is_hopeless(foretells):
            assert gained(wanted - foretells + 1e-9) <= 0.05 * size
        else:
            assert gained(wanted - foretells - 1e-9) > 0.05 * (size - 1)


def test_nothing_is_hopeless_where_nothing_is_to_be_set_aside():
    assert foretelling(8 * [0.9], 8 * [0.9]).is_hopeless(0.5)
    assert not foretelling(8 * [0.9], 8 * [0.9], slack=1.0).is_hopeless(0.5)


@pytest.mark.parametrize('least, hopeless', [(0, True), (8, True), (9, False)])
def test_no_closing_is_hopeless_before_as_many_grasps_are_found_as_asked(least, hopeless):
    assert foretelling(8 * [0.9], 8 * [0.9], least=least).is_hopeless(0.0) is hopeless


@pytest.mark.parametrize('flag, lifted, hopeless', [
    (0, 0, True), (PATCH_THIN, 0, False), (PATCH_THIN, PATCH_THIN, True),
    (PATCH_THIN | PATCH_REACHES_LINK_EDGE, PATCH_THIN, False)])
def test_no_closing_is_hopeless_while_the_grasps_found_may_not_be_quantitative(
        flag, lifted, hopeless):
    pruner = foretelling(8 * [0.9], 8 * [0.9], flag=flag, lifted=lifted)
    assert pruner.is_hopeless(0.0) is hopeless


@pytest.mark.parametrize('found, sound, hopeless', [
    (17, 0, False), (18, 0, True), (37, 1, False), (38, 1, True), (38, 2, False)])
def test_quantitative_grasps_are_not_waited_for_where_one_in_twenty_is_at_most(
        found, sound, hopeless):
    pruner = foretelling(found * [0.9], found * [0.9], flag=PATCH_THIN, size=found, sound=sound)
    assert pruner.is_hopeless(0.5) is hopeless and not pruner.is_hopeless(0.95)


@pytest.mark.parametrize('scores, hopeless', [
    ({0: 0.9}, True), ({0: 0.9, 5: 0.5}, False), ({}, False), ({5: 0.9}, False)])
def test_closings_without_forces_are_hopeless_once_a_wave_of_them_came_to_nothing(
        scores, hopeless):
    pruner = foretelling([scores.get(i) for i in range(8)], [0.9] + 15 * [-np.inf], size=8,
                         waves=3)
    assert pruner.is_hopeless(-np.inf) is hopeless and not pruner.is_hopeless(0.0)


def test_nothing_is_hopeless_of_which_nothing_is_foretold():
    assert not foretelling(8 * [0.9], 8 * [np.inf]).is_hopeless(np.inf)
