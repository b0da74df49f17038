"""Doubt of a grip's way by the surfaces that touch, against springs that begin too late."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose
from palpation_cases import felt, grip_model
import pytest
from scipy.optimize import brentq

from gripsim_ros.library.squeezing.palpated import estimate_modulus
from gripsim_ros.library.squeezing.surface_doubt import (
    ALIKE, mean_deviation, Spots, way_covariance)

#: Edges of a link and the middle of another [m]: far apart, and how strong contacts there are.
PLACES = np.array([[0.011, 0.0, 0.0], [-0.011, 0.0, 0.0], [0.0, 0.0, 0.0]])
LINKS, STRENGTHS, GAPS = np.array([4, 4, 7]), np.array([2e5, 3e5, 2.5e5]), np.array([0, 1e-4, 0])
FORCES = np.array([0.05, 0.12, 0.6, 2.0])
RESOLUTION, COARSE = 1e-6, 4e-5


def pressed(force, errors=0.0):
    """Return depths of two links under a force each [m], and what their spots bear (3,) [N]."""
    starts = GAPS + errors

    def borne(depths):
        depths = np.array([depths[0], depths[0], depths[1]])
        return STRENGTHS * np.maximum(0.0, depths - starts)**1.5

    def depth(of):
        return brentq(lambda d: borne([d, d])[of].sum() - force, 0.0, 0.01, xtol=1e-15)
    depths = np.array([depth([0, 1]), depth([2])])
    return depths, borne(depths)


def spots(force):
    """Return where springs press under a force, and how they share more of it."""
    _, borne = pressed(force)
    on = borne > 0.0
    stiff = 1.5 * STRENGTHS ** (2.0 / 3.0) * borne ** (1.0 / 3.0)
    shares = stiff / np.array([stiff[LINKS == link].sum() for link in LINKS])
    return Spots(LINKS[on], PLACES[on], shares[on], np.zeros(on.sum()))


def test_ways_are_wrong_together_as_those_of_springs_that_begin_too_late():
    """One edge bears at first, then two: by each spot's own error, ways changed by solving."""
    step = 1e-8
    answers = np.array([[pressed(force, step * one)[0].sum() - pressed(force)[0].sum()
                         for force in FORCES] for one in np.eye(3)]) / step
    found = way_covariance([spots(force) for force in FORCES])
    assert_allclose(found, answers.T @ answers, rtol=1e-3, atol=1e-3)
    change = found[0, 0] + found[-1, -1] - 2.0 * found[0, -1]
    assert 0.6 < np.sqrt(change) < 0.9


def test_the_same_spots_with_the_same_shares_are_one_error_of_the_touch():
    one = spots(1.0)
    assert_allclose(np.diff(way_covariance([one] * 3)), 0.0, atol=1e-12)
    ways = np.array([1e-4, 3e-4, 5e-4])
    assert mean_deviation(np.array([-1.0, 0.0, 1.0]), ways, ways, way_covariance([one] * 3)) == 0.0


def test_a_wide_spot_has_the_mean_of_the_errors_under_its_pressure(count=1500, root=0.003):
    rng = np.random.default_rng(5)
    flat = np.concatenate([root * rng.normal(size=(count, 2)), np.zeros((count, 1))], axis=1)
    away = np.linalg.norm(flat[:, None] - flat, axis=2)
    wanted = np.exp(-0.5 * (away / ALIKE)**2).mean()
    wide = Spots(np.array([1]), np.zeros((1, 3)), np.ones(1),
                 np.array([np.linalg.norm(flat, axis=1).mean()]))
    assert_allclose(way_covariance([wide]), wanted, rtol=0.05)


def edges_model(first):
    """Return the ball's model; a link bears on a second edge from a point of the table on."""
    model = grip_model()
    rows = [spots(FORCES[0] if k < first else FORCES[-1]) for k in range(model.ways.shape[1])]
    return replace(model, covariances=np.array([way_covariance(rows)] * len(model.moduli)))


def test_the_error_told_is_what_such_surfaces_make_of_a_modulus(modulus=1e6, size=2e-7):
    """Each independent part of the ways' errors in turn, the modulus estimated with it anew."""
    top = 1.0
    model = edges_model(int(np.searchsorted(grip_model().forces[6], 0.5 * top)))
    parts = np.linalg.cholesky(model.covariances[0] + 1e-9 * np.eye(model.ways.shape[1])).T

    def told(ways):
        squeeze = felt(modulus, top=top, model=replace(model, ways=ways))
        return np.log(estimate_modulus(model, [squeeze] * 2, RESOLUTION).best)
    changes = [told(model.ways + size * part) - told(model.ways) for part in parts]
    shares = np.array([0.2, 0.4, 0.6, 0.8, 1.0])
    found = model.surface_doubt(modulus, [top * shares] * 2, size)
    assert_allclose(found, np.linalg.norm(changes), rtol=0.1)
    assert found > 5e-4


def test_an_edge_that_may_bear_already_counts():
    """It begins just beyond the ways gone: no doubt for surfaces known well, some for others."""
    forces, modulus = np.linspace(0.1, 0.5, 5), 1e6
    model = grip_model()
    way = model.way_at(modulus, forces[-1:])[0]
    model = edges_model(int(np.searchsorted(model.ways[6], way)) + 1)
    beyond = model.ways[6][np.searchsorted(model.ways[6], way)] - way
    assert model.surface_doubt(modulus, [forces], 0.1 * beyond) < 1e-6
    assert model.surface_doubt(modulus, [forces], 2.0 * beyond) > 0.004


@pytest.mark.parametrize('modulus', [2e4, 2e5, 2e6])
def test_round_bodies_do_not_mind(modulus):
    """Their spots stay where they are; fingertips roll a little on them."""
    forces = grip_model().force_at(modulus, np.linspace(2e-4, 1e-3, 5))
    assert grip_model().surface_doubt(modulus, [forces], 5e-5) < 0.03


def test_what_surfaces_leave_in_doubt_is_told():
    """A modulus by a larger standard error, a bound by a lower one."""
    squeezes, model = [felt(1e6)] * 3, edges_model(8)
    known, doubted = (estimate_modulus(model, squeezes, RESOLUTION, error)
                      for error in (0.0, 1e-5))
    doubt = model.surface_doubt(known.best, [one.forces for one in squeezes], 1e-5)
    assert doubted.best == known.best and 0.03 < doubt < 0.2
    least = np.hypot(known.standard_error, doubt * known.best)
    assert 0.999 * least < doubted.standard_error < 2.0 * least
    bound = estimate_modulus(model, squeezes, RESOLUTION, 1e-4)
    assert bound.is_bound and bound.youngs_modulus < 0.7 * known.best


def squeezed_below_an_edge():
    """Return a model, a modulus and a squeeze; an edge begins to bear below all of its forces."""
    model = grip_model()
    forces = np.linspace(0.5, 1.0, 5)
    first = int(np.searchsorted(model.forces[6], 0.6))
    modulus = 0.9 * forces[0] / model.forces[6, first] * model.moduli[6]
    model = edges_model(first)
    return model, modulus, [felt(modulus, shares=forces, model=model)]


def test_an_edge_that_would_begin_to_bear_if_the_object_were_stiffer_counts():
    """By the modulus told it does so below all squeezes: by one that agrees too, amid them."""
    model, modulus, squeezes = squeezed_below_an_edge()
    sure, unsure = (estimate_modulus(model, squeezes, resolution, 1e-6)
                    for resolution in (1e-7, COARSE))
    blind = estimate_modulus(model, squeezes, COARSE, 0.0)
    assert not (sure.is_bound or unsure.is_bound or blind.is_bound)
    known = model.surface_doubt(modulus, [squeezes[0].forces], 1e-6)
    told = np.sqrt(unsure.standard_error**2 - blind.standard_error**2) / modulus
    assert known < 1e-6 and told > 5e-4


def test_an_edge_that_would_bear_if_the_object_were_stiffer_than_it_can_be_does_not_count():
    """The same, where those that are stiff enough for it are said to be impossible."""
    model, modulus, squeezes = squeezed_below_an_edge()
    free, cut, blind = (estimate_modulus(model, squeezes, COARSE, error, most_modulus=most)
                        for error, most in ((1e-6, np.inf), (1e-6, 1.001 * modulus),
                                            (0.0, np.inf)))
    doubts = [np.sqrt(max(0.0, one.standard_error**2 - blind.standard_error**2)) / modulus
              for one in (free, cut)]
    assert doubts[0] > 5e-4 and doubts[1] < 0.1 * doubts[0]
