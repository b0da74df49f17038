"""Warm starts: what is remembered of a closing's step, and that no answer hangs on it."""

from dataclasses import replace

from hypothesis import given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
import trimesh

from gripsim_ros.core.bodies import GraspObject, TriangleMesh
from gripsim_ros.core.mechanics import ElasticBody, evaluate_contacts
from gripsim_ros.core.mechanics.contact.contact_forces import (
    FIRST_GUESS_DEPTH, solve_contact_forces)
from gripsim_ros.core.mechanics.contact.warm_start import (
    MAX_SHARE, MIN_SHARE, WarmStarts, loaded_shares)
from gripsim_ros.library.resources import load_default_hand
from lattice_cases import flat_punch, join, paraboloid
from mechanics_cases import MODULUS, random_nodes
from stage_cases import contact_batch, RADIUS, rows_of, SILICONE, three_fingers

PALM = np.eye(4)
DEPTHS = (2e-4, 5e-4, 1e-3, 1.5e-3)
#: Of a paraboloid's greatest depth, by the spacing of 400 nodes.
ATOL_HALF = 0.05

seeds = st.integers(0, 2 ** 32 - 1)


class Forgetful(WarmStarts):
    """Remembers nothing."""

    def store(self, T_object_palm, nodes, solution):
        """Forget."""


def remembered(nodes):
    """Return what is recalled of one step."""
    memory = WarmStarts()
    memory.store(PALM, nodes, solve_contact_forces(nodes, MODULUS, {}))
    return memory.lookup(PALM, nodes.links)


def test_what_nobody_has_seen_is_taken_for_a_paraboloid():
    assert_array_equal(WarmStarts().lookup(PALM, np.array([3, 5])), FIRST_GUESS_DEPTH)


def test_a_paraboloid_carries_load_where_it_is_deeper_than_half():
    assert_allclose(remembered(paraboloid(8e-3, 1e-3, 400)), 0.5, atol=ATOL_HALF)


def test_a_flat_punch_carries_load_everywhere_and_so_it_is_guessed_next():
    punch = flat_punch(5e-3, 1e-3, 100)
    ball = paraboloid(8e-3, 1e-3, 100)
    both = join(punch, replace(ball, points=ball.points + [0.1, 0.0, 0.0]))
    solution = solve_contact_forces(both, MODULUS, {})
    shares = loaded_shares(both.depths[solution.rows], both.patches[solution.rows],
                           solution.forces > 0.0, both.patch_count)
    guess = both.depths / both.depths.max() > shares[both.patches]
    loaded = np.isin(np.arange(len(both.depths)), solution.rows[solution.loaded])
    assert_array_equal(guess[both.patches == 0], loaded[both.patches == 0])
    assert (guess != loaded).sum() <= 4


@given(seed=seeds)
@settings(max_examples=30)
def test_a_share_parts_shallowest_loaded_and_deepest_free_nodes_in_the_middle(seed):
    nodes = random_nodes(seed)
    solution = solve_contact_forces(nodes, MODULUS, {})
    for patch, share in enumerate(remembered(nodes)):
        own = nodes.patches[solution.rows] == patch
        depths = nodes.depths[solution.rows][own]
        free, loaded = (np.where(solution.forces[own] > 0.0, *pair) for pair in
                        ((-np.inf, depths), (depths, np.inf)))
        middle = 0.5 * (max(free.max(), 0.0) + min(loaded.min(), depths.max())) / depths.max()
        assert_allclose(share, np.clip(middle, MIN_SHARE, MAX_SHARE), rtol=1e-12)


def test_a_patch_that_is_not_pressed_is_guessed_half():
    with np.errstate(all='raise'):
        shares = loaded_shares(np.array([0.0, 0.0, -1.0, 2.0, 1.0]), np.array([1, 1, 2, 3, 3]),
                               np.array([False, True, False, True, False]), 4)
    assert_array_equal(shares, [0.5, 0.5, 0.5, 0.75])


@pytest.fixture(scope='module')
def scene():
    """Return a hand, a soft ball and the contacts of a closing in four steps."""
    hand = load_default_hand()
    mesh = trimesh.creation.icosphere(3, RADIUS)
    mesh = TriangleMesh(mesh.vertices, mesh.faces)
    return hand, GraspObject(mesh, SILICONE), [
        contact_batch(hand, [three_fingers(depth)]) for depth in DEPTHS]


def body_of(thing, kind):
    """Return a body with a memory of a kind."""
    body = ElasticBody(thing)
    body.warm_starts = kind()
    return body


def test_no_bit_of_an_answer_hangs_on_the_steps_before(scene):
    hand, thing, steps = scene
    warm, cold = body_of(thing, WarmStarts), body_of(thing, Forgetful)
    for step in (*steps, *steps[::-1]):
        answers = [rows_of(evaluate_contacts(body, hand, step), 0) for body in (warm, cold)]
        for name, values in answers[0].items():
            assert_array_equal(values, answers[1][name], err_msg=name)
    links = steps[0].patch_links
    assert (warm.warm_starts.lookup(PALM, links) != FIRST_GUESS_DEPTH).all()
    assert (cold.warm_starts.lookup(PALM, links) == FIRST_GUESS_DEPTH).all()


def test_a_full_memory_begins_anew():
    memory, nodes = WarmStarts(max_entries=3), paraboloid(8e-3, 1e-3, 30, (0.13, 0.29))
    solution = solve_contact_forces(nodes, MODULUS, {})
    palms = [np.full((4, 4), float(i)) for i in range(4)]
    for palm in palms:
        memory.store(palm, nodes, solution)
    known = [memory.lookup(palm, nodes.links)[0] != FIRST_GUESS_DEPTH for palm in palms]
    assert known == [False, False, False, True]
