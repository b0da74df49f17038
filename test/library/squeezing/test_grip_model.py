"""Contacts of a grip are where its fingers press at each way, on the object as it settled."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
from palpation_cases import BALL, grasp, HAND, LONGEST
import pytest

from gripsim_ros.core.bodies import GraspObject, shapes
from gripsim_ros.core.errors import TaskError
from gripsim_ros.hardware.sim.hand_model import hand_as_simulated
from gripsim_ros.library.in_process import mechanics_options
from gripsim_ros.library.squeezing.fingers import HandSqueeze
from gripsim_ros.library.squeezing.grip_model import (
    _never_falling, _rising, GripModel, prepare_grip_model, SHARES)
from gripsim_ros.library.squeezing.pressing_links import contacts_of, way_of

#: Of the ball; how far off its surface is by its facets [m].
RADIUS, FACETS = 0.03, 2e-4


@pytest.mark.parametrize('share', [0.02, 0.3, 1.0])
def test_contacts_are_on_the_object_at_each_way(share):
    hand = hand_as_simulated(HAND)
    squeeze = HandSqueeze(BALL, hand, grasp().T_object_palm, grasp().trajectory[-1],
                          mechanics_options('half_space'))
    fraction, = squeeze.fractions_of(np.array([share * LONGEST]))
    contacts = contacts_of(squeeze, grasp().T_object_palm, squeeze.held_at(fraction), fraction)
    # They stand in by a depth each, at most the whole way: it is shared by two sides.
    depths = RADIUS - np.linalg.norm(contacts.points, axis=1)
    assert (depths > -FACETS).all() and (depths < 0.8 * share * LONGEST + FACETS).all()
    inward = -contacts.points / np.linalg.norm(contacts.points, axis=1)[:, None]
    assert (np.einsum('ki,ki->k', contacts.forces, inward)
            > 0.9 * np.linalg.norm(contacts.forces, axis=1)).all()
    assert np.einsum('ki,ki->', contacts.motions, contacts.forces) > 0.0
    assert (contacts.radii > 0.0).all() and (contacts.radii < 0.02).all()


@lru_cache(maxsize=1)
def strained(most_strain=0.06) -> GripModel:
    """Return the model of the ball's grip up to a share of its width."""
    return prepare_grip_model(BALL, grasp().T_object_palm, grasp().trajectory[-1], LONGEST,
                              most_strain=most_strain, hand=hand_as_simulated(HAND))


def test_friction_turns_no_ball_but_keeps_what_is_long_from_turning():
    """Forces on a ball all go to its middle; three pads press an egg's sides past each other."""
    assert strained().friction_share == pytest.approx(0.0, abs=0.01)
    egg = GraspObject(shapes.ellipsoid([0.03, 0.036, 0.026], 0.004), BALL.material, 'egg')
    palm = grasp().T_object_palm
    squeeze = HandSqueeze(egg, HAND, palm, grasp().trajectory[-1], mechanics_options('half_space'))
    held = squeeze.held_at(squeeze.fractions_of(np.array([0.3 * LONGEST]))[0])
    *_, share = way_of(HAND, palm, held.joint_positions, held.state)
    assert 0.08 < share < 0.2


def test_the_table_ends_with_the_strain_that_is_asked_for():
    """Ways of work against forces, and how much nearer pads come, differ by some per cent."""
    width = strained().width
    assert 0.06 * width < LONGEST
    assert strained().ways[0, -1] == pytest.approx(0.06 * width, rel=0.1)


def test_small_ways_are_those_of_the_table_not_of_its_first_slope():
    """Forces of a stiff object that go 0.03 mm, against squeezing so far with the fingers."""
    squeeze = HandSqueeze(BALL, hand_as_simulated(HAND), grasp().T_object_palm,
                          grasp().trajectory[-1], mechanics_options('half_space'))
    fraction, = squeeze.fractions_of(np.array([3e-5]))
    held = squeeze.held_at(fraction)
    way = strained().way(held.joint_positions[None])
    assert strained().ways[0, 0] < way[0]
    assert strained().force_at(BALL.material.youngs_modulus, way)[0] == pytest.approx(
        0.5 * held.state.normal_forces.sum(), rel=0.03)


def test_forces_that_fall_are_no_grip_but_at_the_first_touch():
    """There an object rocks between fingers that hardly press."""
    ways, forces = 1e-3 * SHARES, 2.0 * SHARES**1.5
    assert (_rising(ways, forces) == forces).all()
    rocking, falling = forces.copy(), forces.copy()
    rocking[1], falling[-3] = forces[3], forces[-6]
    np.testing.assert_allclose(_rising(ways, rocking), forces)
    with pytest.raises(TaskError, match='does not rise'):
        _rising(ways, falling)
    with pytest.raises(TaskError, match='does not rise'):
        _rising(ways[::-1], forces)


def test_pressures_of_few_nodes_at_the_first_touch_count_as_those_that_follow():
    """A can of 2 MPa was told to be damaged by less at 0.1 N than at 5 N."""
    assert _never_falling(np.array([9.0, 2.0, 3.0, 3.0, 5.0])).tolist() == [2, 2, 3, 3, 5]


@pytest.mark.parametrize('elasticity', ['half_space', 'body'])
def test_all_that_is_prepared_is_told_of_from_the_first_point_to_the_last(elasticity):
    """What pads' sticking takes is most of the time: a client that hears nothing gives up."""
    told = []
    model = prepare_grip_model(BALL, grasp().T_object_palm, grasp().trajectory[-1], LONGEST,
                               hand=hand_as_simulated(HAND), elasticity=elasticity,
                               on_point=lambda *one: told.append(one))
    total = (1 + len(model.moduli) * (elasticity == 'body')) * len(SHARES)
    assert told == [(done, total) for done in range(total)]
    if elasticity == 'body':
        with pytest.raises(TaskError, match='stopped'):
            prepare_grip_model(BALL, grasp().T_object_palm, grasp().trajectory[-1], LONGEST,
                               hand=hand_as_simulated(HAND), elasticity=elasticity,
                               on_point=lambda done, total: done < 2 * len(SHARES))


def test_the_first_touch_does_not_put_squeezes_beyond_the_models_range():
    model, modulus = strained(), BALL.material.youngs_modulus
    sound = np.ones_like(model.quantitative)
    sound[:, :3] = sound[:, -1] = False
    model = replace(model, quantitative=sound)
    forces = np.exp(model._row(modulus)[1][0])
    assert model.is_quantitative(modulus, forces[4:8])
    assert not model.is_quantitative(modulus, forces[2:8])
    assert not model.is_quantitative(modulus, forces[[5, -1]])


def test_where_forces_do_not_balance_it_says_so(monkeypatch):
    """At the first touch they need not: a squeeze begins beyond."""
    held_at, made = HandSqueeze.held_at, []

    def loose(self, fraction):
        made.append(fraction)       # the first is for the middle of the table
        held = held_at(self, fraction)
        return replace(held, balanced=False) if len(made) in (2, 10) else held
    monkeypatch.setattr(HandSqueeze, 'held_at', loose)
    model = prepare_grip_model(BALL, grasp().T_object_palm, grasp().trajectory[-1], LONGEST,
                               hand=hand_as_simulated(HAND))
    assert (model.balanced == ~np.isin(np.arange(len(SHARES)), (0, 8))).all()
    assert (model.balanced | ~model.quantitative).all()
    forces = model.forces[4]
    assert model.is_balanced(2e5, forces[2:7]) and model.is_balanced(2e5, forces[10:])
    assert not model.is_balanced(2e5, forces[2:9]) and not model.is_balanced(2e5, forces[8:10])
