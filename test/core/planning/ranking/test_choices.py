"""Ranked grasps are choices: what is much like a better one comes after the others of its kind."""

from types import SimpleNamespace

import numpy as np
from plan_cases import plan_by_half_spaces
import pytest
from hypothesis import given, strategies as st
from scipy.spatial.transform import Rotation

from gripsim_ros.core.bodies import GraspObject, shapes
from gripsim_ros.core.planning.ranking.assemble import (
    CONTACT_NEAR, PALM_NEAR, PALM_TURN, are_alike, as_choices, rank_key)
from gripsim_ros.library.in_process import find_material


def grasp(number=0, score=0.5, *, place=0.0, turn=0.0, touch=0.0, preshape='pinch',
          quantitative=True, balanced=True):
    """Return what the order looks at; places of palm and contacts [m], a turn [rad]."""
    palm = np.eye(4)
    palm[:3, :3] = Rotation.from_rotvec([0.0, turn, 0.0]).as_matrix()
    palm[0, 3] = place
    return SimpleNamespace(
        hypothesis=number, score=score, preshape=preshape, quantitative=quantitative,
        balanced=balanced, closing_motion=None, T_object_palm=palm, contacts=[
            SimpleNamespace(point=np.array([side * 0.03, touch, 0.0])) for side in (-1.0, 1.0)])


@pytest.mark.parametrize('changed, alike', [
    ({}, True), ({'place': 0.9 * PALM_NEAR}, True), ({'place': 1.1 * PALM_NEAR}, False),
    ({'turn': 0.9 * PALM_TURN}, True), ({'turn': 1.1 * PALM_TURN}, False),
    ({'touch': 0.9 * CONTACT_NEAR}, True), ({'touch': 1.1 * CONTACT_NEAR}, False),
    ({'preshape': 'spherical'}, False)])
def test_grasps_are_alike_where_palm_contacts_and_preshape_are(changed, alike):
    assert are_alike(grasp(), grasp(**changed)) == alike
    assert are_alike(grasp(**changed), grasp()) == alike


def test_a_contact_more_is_another_choice_if_it_is_elsewhere():
    more = grasp()
    more.contacts = [*more.contacts, SimpleNamespace(point=np.array([0.0, 0.03, 0.0]))]
    assert not are_alike(grasp(), more) and not are_alike(more, grasp())


@given(st.lists(st.tuples(st.floats(0.0, 1.0), st.integers(0, 4), st.booleans(), st.booleans())))
def test_every_choice_of_a_kind_comes_before_what_repeats_a_better_one(rows):
    grasps = [grasp(i, score, place=0.1 * place, quantitative=sound, balanced=still)
              for i, (score, place, sound, still) in enumerate(rows)]
    found = as_choices(grasps)
    assert sorted(g.hypothesis for g, _ in found) == list(range(len(rows)))
    kinds = [(*rank_key(g)[:3], like is not None) for g, like in found]
    assert kinds == sorted(kinds)
    choices = [g for g, like in found if like is None]
    assert not any(are_alike(a, b) for i, a in enumerate(choices) for b in choices[:i])
    for g, like in found:
        if like is not None:
            assert are_alike(g, like) and rank_key(like) < rank_key(g)
    for kind in set(kinds):
        scores = [g.score for (g, _), of in zip(found, kinds) if of == kind]
        assert [round(s, 9) for s in scores] == sorted((round(s, 9) for s in scores), reverse=True)


def test_what_is_returned_are_choices_and_a_repeat_says_so():
    ball = GraspObject(shapes.sphere(0.03, 0.006), find_material('foam'))
    grasps = plan_by_half_spaces(ball, hypotheses=60).grasps
    for i, later in enumerate(grasps):
        alike = any(are_alike(later, better) for better in grasps[:i])
        assert any('much like hypothesis' in line for line in later.warnings) == alike
    repeats = [any('much like' in line for line in g.warnings) for g in grasps if g.quantitative]
    assert len(grasps) >= 5 and repeats == sorted(repeats)
