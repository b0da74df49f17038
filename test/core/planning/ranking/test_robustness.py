"""Robustness and what a ranked grasp says of itself."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
from plan_cases import plan_by_half_spaces
import pytest

from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.errors import TaskError
from gripsim_ros.core.planning.options import Uncertainty
from gripsim_ros.core.planning.ranking.robustness import draw_samples, summarise
from gripsim_ros.library.in_process import planner_options, robust_grasps

HYPOTHESES, SAMPLES, SEED = 4, 8, 3
RTOL_ROUNDOFF = 1e-12
#: The joints' stiffness against a contact that is not linear, over the margin.
RTOL_PROPORTION = 0.15
#: Four standard errors of the mean of so many draws of unit variance.
DRAWS = 400
ATOL_MEAN = 4.0 / np.sqrt(DRAWS)
SURE = Uncertainty(0.0, 0.0, 0.0, 0.0, 0.0, 1.0)


@lru_cache(maxsize=1)
def fruit():
    return GraspObject(shapes.sphere(0.035, 0.007), Material(
        1e6, 0.4, 900.0, 0.5, max_pressure=4e5))


@lru_cache(maxsize=1)
def planned():
    return plan_by_half_spaces(fruit(), hypotheses=HYPOTHESES).grasps[:2]


def robust(samples=SAMPLES, seed=SEED, **uncertainty):
    options = replace(planner_options(), uncertainty=replace(SURE, **uncertainty))
    grasps = robust_grasps(fruit(), planned(), None, samples, seed, options=options)
    return [grasp.robustness for grasp in grasps]


def test_a_grasp_pressed_hard_is_sure_and_one_near_its_limit_is_not():
    generous, near = robust(squeeze=3.0, friction=0.1), robust(squeeze=1.0, friction=0.1)
    assert all(result.holding == 1.0 for result in generous)
    assert all(result.holding < 1.0 for result in near)
    assert all(a.mean_margin > b.mean_margin for a, b in zip(generous, near))


def test_the_same_seed_gives_the_same_numbers_and_another_one_others():
    uncertain = {'friction': 0.2, 'youngs_modulus': 0.2, 'position': 2e-4}
    first = robust(4, **uncertain)
    assert first == robust(4, **uncertain)
    assert first != robust(4, seed=SEED + 1, **uncertain)


def test_without_uncertainty_the_margin_is_the_planned_one_and_grows_with_the_squeeze():
    for grasp, once, twice in zip(planned(), robust(1), robust(1, squeeze=2.0)):
        np.testing.assert_allclose(once.mean_margin, grasp.margin, rtol=RTOL_PROPORTION)
        np.testing.assert_allclose(twice.mean_margin, 2.0 * once.mean_margin,
                                   rtol=RTOL_PROPORTION)


def test_a_firm_grasp_of_an_object_that_lies_a_millimetre_off_holds():
    for result in robust(4, position=1e-3, rotation=0.0175, squeeze=2.0):
        assert result.holding == 1.0    # joints and object come to balance together


def test_less_friction_holds_less():
    def mean(spread):
        return np.mean([result.holding for result in robust(squeeze=1.3, friction=spread)])
    assert mean(0.05) > mean(0.5)


def test_samples_have_the_given_medians_and_do_not_depend_on_their_number():
    spread = Uncertainty(0.3, 0.02, 0.1, 1e-3, 0.02, 1.0)
    samples = draw_samples(fruit(), spread, DRAWS, SEED)
    stuff = fruit().material
    logarithms = {name: np.log([getattr(s.grasp_object.material, name) / getattr(stuff, name)
                                for s in samples]) / getattr(spread, name)
                  for name in ('youngs_modulus', 'friction')}
    for values in logarithms.values():
        assert abs(values.mean()) < ATOL_MEAN and abs(values.std() - 1.0) < ATOL_MEAN
    moved = np.array([s.T_object_moved[:3, 3] for s in samples]) / spread.position
    assert np.abs(moved.mean(axis=0)).max() < 1.2 * ATOL_MEAN
    again = draw_samples(fruit(), spread, 2, SEED)
    for a, b in zip(samples, again):
        assert a.grasp_object.id == b.grasp_object.id
        np.testing.assert_array_equal(a.T_object_moved, b.T_object_moved)


def test_each_piece_that_is_drawn_has_a_limit_of_force_of_its_own_and_else_is_as_before():
    spread = Uncertainty(0.3, 0.02, 0.1, 1e-3, 0.02, 1.0)
    sturdy, stuff = fruit(), replace(fruit().material, max_force=6.6, max_force_spread=0.4)
    fragile = GraspObject(sturdy.mesh, stuff)
    samples = draw_samples(fragile, spread, DRAWS, SEED)
    limits = np.log([s.grasp_object.material.force_limit / 6.6 for s in samples]) / 0.4
    assert abs(limits.mean()) < ATOL_MEAN and abs(limits.std() - 1.0) < ATOL_MEAN
    for a, b in zip(samples, draw_samples(sturdy, spread, 3, SEED)):
        assert a.grasp_object.material.numbers == b.grasp_object.material.numbers
        np.testing.assert_array_equal(a.T_object_moved, b.T_object_moved)


def test_the_standard_error_adds_two_of_each():
    result = summarise([(True, 1.5)] * 4 + [(False, 0.5)] * 4)
    assert result.holding == 0.5 and result.mean_margin == 1.0
    np.testing.assert_allclose(result.error, np.sqrt(0.25 / 12.0), rtol=RTOL_ROUNDOFF)
    assert summarise([(True, 2.0)] * 10).error > 0.0


def test_terms_and_damage_margin_say_how_they_come_about():
    for grasp in planned():
        for term in grasp.terms:
            assert 0.0 <= term.normalised <= 1.0 and term.unit
            np.testing.assert_allclose(term.contribution, term.weight * term.normalised,
                                       rtol=RTOL_ROUNDOFF)
        peak = max(contact.peak_pressure for contact in grasp.contacts)
        np.testing.assert_allclose(grasp.damage_margin, 4e5 / peak, rtol=RTOL_ROUNDOFF)


@pytest.mark.parametrize('changes', [{'friction': -0.1}, {'position': np.nan}, {'rotation': 'x'}])
def test_an_uncertainty_out_of_its_range_is_refused(changes):
    with pytest.raises(TaskError, match=f'uncertainty.{next(iter(changes))}'):
        replace(SURE, **changes)


def test_negative_samples_are_refused():
    with pytest.raises(TaskError, match='0 or more'):
        robust_grasps(fruit(), [], None, -1)
