"""The deformation stage by the grasp paper's rules."""

import numpy as np
import pytest
from stage_cases import contact_batch, RADIUS, SILICONE, three_fingers, WEIGHT

from gripsim_ros.core.batches import DETAIL_SURFACE
from gripsim_ros.core.bodies import GraspObject, shapes
from gripsim_ros.core.mechanics import ElasticBody, MechanicsOptions
from gripsim_ros.core.mechanics.published_stage import (
    CELLS_ALONG, evaluate_published, published_options)
from gripsim_ros.library.resources import load_default_hand

RTOL_BALANCE, RTOL_VOLUME = 1e-6, 1e-9


@pytest.fixture(scope='module')
def hand():
    return load_default_hand()


@pytest.fixture(scope='module')
def body():
    return ElasticBody(GraspObject(shapes.sphere(RADIUS, 0.006), SILICONE),
                       published_options(MechanicsOptions()))


def answer(hand, body, least_links=3, **changes):
    contacts = contact_batch(hand, [three_fingers()], detail=DETAIL_SURFACE)
    return evaluate_published(body, hand, contacts, least_links, **changes)


def test_the_pseudo_inverse_balances_the_weight_and_leaves_the_cones(hand, body):
    states = answer(hand, body)
    assert states.capable[0]
    weight = body.mass * WEIGHT[0, :3]
    np.testing.assert_allclose(states.minimal_forces_object.sum(axis=0), -weight, rtol=0.0,
                               atol=RTOL_BALANCE * np.linalg.norm(weight))
    # Three fingers about the equator carry the weight by friction alone: nothing presses.
    pressing = (states.minimal_forces_object * states.patch_normals_object).sum(axis=1)
    assert np.abs(pressing).max() < 0.1 * np.linalg.norm(weight)


def test_forces_within_friction_press_at_least_the_weight_over_it(hand, body):
    states = answer(hand, body, by_pseudo_inverse=False)
    pressing = (states.minimal_forces_object * states.patch_normals_object).sum()
    assert pressing >= body.mass * 9.81 / SILICONE.friction * (1.0 - 1e-3)


def test_it_holds_where_the_simulated_forces_are_not_below_the_computed(hand, body):
    for changes in ({}, {'by_pseudo_inverse': False}):
        states = answer(hand, body, **changes)
        pressed = (states.patch_forces_object * states.patch_normals_object).sum(axis=1)
        assert states.holds[0] == (pressed >= states.minimal_envelope).all()
        assert states.margin[0] == float(states.holds[0])


def test_the_volume_stays_and_cells_find_the_centre_within_a_cell(hand, body):
    states, exact = answer(hand, body), answer(hand, body, by_cells=False)
    volume = body.undeformed[0]
    assert abs(states.volume_change[0]) <= RTOL_VOLUME * volume
    offset = np.abs(states.centre_of_mass_object - exact.centre_of_mass_object).max()
    assert 0.0 < offset < 2.0 * RADIUS / CELLS_ALONG


def test_fewer_links_than_asked_for_are_no_grasp(hand, body):
    states = answer(hand, body, least_links=4)
    assert not len(states.patch_links) and not states.capable[0]
