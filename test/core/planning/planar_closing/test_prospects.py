"""What planar closing foretells, beside what closing by the stages comes to."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.hand import HandModel
from gripsim_ros.core.pipeline import Pipeline, run
from gripsim_ros.core.planning import GraspPlanner, Task
from gripsim_ros.core.planning.closing.limits import closing_limits
from gripsim_ros.core.planning.planar_closing.prospects import PlanarProspects, gentlest
from gripsim_ros.core.planning.ranking.score import score_reference
from gripsim_ros.core.planning.task import task_load_cases
from gripsim_ros.library.in_process import mechanics_options, planner_options
from gripsim_ros.library.resources import load_default_hand
from hand_cases import PLANAR_CONFIG, PLANAR_URDF, write_hand

FRUIT = Material(youngs_modulus=2e6, poisson_ratio=0.4, density=900.0, friction=0.6,
                 max_pressure=4e5)
BODIES = {'ellipsoid': lambda: shapes.ellipsoid([0.035, 0.027, 0.05]),
          'cylinder': lambda: shapes.cylinder(0.033, 0.1)}


def judge(body, hand=None, **options):
    hand, options = hand or load_default_hand(), replace(planner_options(), **options)
    cases = task_load_cases(Task(), body.canonical_frame[:3, :3])
    reference = score_reference(body, hand, cases)
    return PlanarProspects(body, hand, reference, closing_limits(
        body, hand, reference.load, reference.max_pressure), options)


@lru_cache(maxsize=None)
def closed(name):
    """Return the judge and the closings, all closed by the stages, of 24 hypotheses."""
    body, hand = GraspObject(BODIES[name](), FRUIT), load_default_hand()
    planner = GraspPlanner(body, hand, Task(), planner_options(), max_hypotheses=24,
                           max_grasps=24)
    closings = [*planner._search.waiting]
    run(planner, Pipeline(hand, body, mechanics_options()))
    return judge(body), closings, planner._search.answer.verdicts.grasps


@pytest.mark.parametrize('name', BODIES)
def test_scores_are_foretold_in_their_order_and_within_a_tenth(name):
    prospects, closings, grasps = closed(name)
    held = [closing for closing in closings if closing.hypothesis.number in grasps]
    assert len(held) >= 12
    foretold = np.array([prospects.prospect(c.hypothesis).score for c in held])
    scores = np.array([grasps[c.hypothesis.number].score for c in held])
    np.testing.assert_allclose(foretold, scores, rtol=0.0, atol=0.1)
    assert np.ptp(scores) < 0.03 or np.corrcoef(foretold, scores)[0, 1] > 0.7


def test_what_the_joints_cannot_bear_has_no_forces():
    heavy = GraspObject(shapes.cylinder(0.033, 0.1), Material(2e9, 0.3, 25e3, 0.3))
    _, closings, _ = closed('cylinder')
    found = [judge(heavy).prospect(closing.hypothesis) for closing in closings]
    assert any(prospect.promising for prospect in found)
    assert all(prospect.score == -np.inf for prospect in found)


def test_a_hand_far_away_is_not_promising():
    prospects, closings, _ = closed('cylinder')
    hypothesis = closings[0].hypothesis
    away = hypothesis.T_object_palm.copy()
    away[0, 3] += 9.0
    assert not prospects.prospect(replace(hypothesis, T_object_palm=away)).promising


def test_nothing_is_foretold_of_hands_whose_fingers_are_no_planar_chains_or_on_request(tmp_path):
    body = GraspObject(BODIES['cylinder'](), FRUIT)
    urdf = PLANAR_URDF.replace('<origin xyz="1 0 0"/><axis xyz="0 0 1"/>',
                               '<origin xyz="1 0 0"/><axis xyz="0 1 0"/>')
    hand = HandModel.load(*write_hand(tmp_path, urdf, PLANAR_CONFIG))
    assert judge(body).foretells and not judge(body, hand).foretells
    assert not judge(body, closure_unbalance=0.0).foretells


def test_of_loads_that_need_about_as_much_the_one_with_the_smallest_forces_counts():
    # Normal, two tangents, torsion of two contacts, for three loads.
    gamma = np.array([[1.0, 0.5, 0.0, 0.0, 1.0, 0.5, 0.0, 0.0],
                      [0.97, 0.0, 0.0, 9.0, 0.2, 0.0, 0.0, 9.0],
                      [0.9, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]])
    assert gentlest(gamma, np.array([1.0, 0.97, 0.9])) == 1
    assert gentlest(gamma, np.array([1.0, 0.94, 0.9])) == 0
