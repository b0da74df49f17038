"""Contacts follow a surface that goes along itself, as finite elements of the grip have it."""

from dataclasses import replace
from types import SimpleNamespace

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.hold.random_bodies import random_body
from gripsim_ros.core.batches import ConfigurationBatch, OWN_COMPLIANCE, PATCH_REACHES_OBJECT_EDGE
from gripsim_ros.core.bodies import GraspObject
from gripsim_ros.core.contact import ContactScene, detect_contacts
from gripsim_ros.core.hand import compute_link_states
from gripsim_ros.core.mechanics import ElasticBody, MechanicsOptions
from gripsim_ros.core.mechanics.body import pad_layers, solve_contact
from gripsim_ros.core.mechanics.edges import MAX_SIDEWAYS, sideways
from gripsim_ros.core.mechanics.following import follow_surface, LEAST_SLIDE
from gripsim_ros.core.mechanics.stage import contact_problem
from gripsim_ros.core.transforms import transform
from gripsim_ros.library.in_process import find_material
from gripsim_ros.library.resources import load_default_hand

HAND = load_default_hand()
FORCE = 0.1
#: Grips of random bodies of 20 kPa that bend: number, palm's rotation vector [rad] and place [m],
#: joints [rad]; and what both fingers and the thumb bear by finite elements of the whole grip,
#: without friction and sticking [N] (`python -m benchmarks fem_grip`).
GRIPS = [
    (30, [-0.531091, 0.005401, -0.004286], [0.003342, -0.111344, -0.189526],
     [0.0, -0.159119, 0.313235, -0.157953, 0.313488, -0.136839, 0.318079],
     [1.70, 1.75, 3.03], [1.83, 1.89, 3.45]),
    (38, [-0.028431, -0.299326, -0.677566], [0.060546, -0.029547, -0.20505],
     [0.0, -0.181313, 0.30841, -0.181597, 0.308349, -0.102039, 0.325644],
     [2.20, 2.31, 4.18], [2.52, 2.54, 4.71])]


def grip(number, turn, place, joints, modulus=2e4):
    """Return body, question, contacts at rest and what they bear."""
    stuff = replace(find_material('firm_fruit'), youngs_modulus=modulus)
    thing = GraspObject(random_body(9, number)[1], stuff)
    body = ElasticBody(thing, MechanicsOptions(elasticity='body'))
    asked = ConfigurationBatch(
        transform(Rotation.from_rotvec(turn).as_matrix(), np.array(place))[None],
        np.array([joints]), np.zeros((1, len(joints))), np.zeros((1, 3)),
        elasticity=OWN_COMPLIANCE)
    contact = contact_problem(detect_contacts(
        ContactScene(HAND, thing), compute_link_states(HAND, asked)), 0)
    return body, asked, contact, solve_contact(body, contact, pad_layers(
        HAND.links, contact.nodes.links))


def outside(forces, free, stuck):
    """Return how far forces are outside of both bounds of friction [-]."""
    low, high = np.minimum(free, stuck), np.maximum(free, stuck)
    return np.where(forces < low, 1.0 - forces / low, np.maximum(forces / high, 1.0) - 1.0)


def ways_under(body, contact, patches):
    """Return the ways along itself of the surface under each contact (p, 3) [m]."""
    solution, results = patches.solution, patches.results
    own = contact.nodes.patches[solution.rows] == results.rows[:, None]
    return sideways(body.compliance, solution.correction, solution.forces, own, results.normals)


@pytest.mark.parametrize('number, turn, place, joints, free, stuck', GRIPS,
                         ids=['L', 'box'])
def test_faces_that_go_along_themselves_bear_what_finite_elements_say(
        number, turn, place, joints, free, stuck):
    body, asked, contact, rest = grip(number, turn, place, joints)
    found, patches = follow_surface(body, HAND, asked, 0, contact, rest)
    assert (patches.results.magnitudes / rest.results.magnitudes).max() > 1.0 + 0.5 * FORCE
    assert outside(patches.results.magnitudes, free, stuck).max() < 0.5 * FORCE
    assert patches.links.tolist() == rest.links.tolist()
    ways, radii = ways_under(body, found, patches), patches.results.radii
    assert np.linalg.norm(ways, axis=1).max() > MAX_SIDEWAYS * radii.min()
    left = np.linalg.norm(ways - found.moved[patches.results.rows], axis=1)
    assert (left <= np.maximum(LEAST_SLIDE, 0.5 * MAX_SIDEWAYS) * radii).all()
    # At rest the way itself is what is left, so that edges beside are flagged.
    assert (rest.flags & PATCH_REACHES_OBJECT_EDGE).any()
    assert not (patches.flags & PATCH_REACHES_OBJECT_EDGE).any()


def test_what_stays_where_it_is_is_not_found_anew():
    body, asked, contact, rest = grip(*GRIPS[1][:4])
    stiff, question, there, known = grip(*GRIPS[1][:4], modulus=2e9)
    assert np.linalg.norm(ways_under(stiff, there, known), axis=1).max() < (
        LEAST_SLIDE * known.results.radii.min())
    found, patches = follow_surface(stiff, HAND, question, 0, there, known)
    assert found is there and patches is known
    half = ElasticBody(body.grasp_object)
    alone = solve_contact(half, contact, {})
    found, patches = follow_surface(half, HAND, asked, 0, contact, alone)
    assert found is contact and patches is alone


def test_links_away_from_the_body_leave_contacts_as_they_are():
    body, asked, contact, rest = grip(*GRIPS[1][:4])
    away = asked.T_object_palm.copy()
    away[:, :3, 3] += 1.0
    found, patches = follow_surface(body, HAND, replace(asked, T_object_palm=away), 0, contact,
                                    rest)
    assert found is contact and patches is rest
    assert_allclose(patches.results.magnitudes, rest.results.magnitudes)


@settings(deadline=None, max_examples=50)
@given(st.floats(-1e-2, 1e-2), st.floats(1e-3, 1.0))
def test_a_contact_so_small_that_its_forces_cancel_goes_as_the_surface_about_it(rest, size):
    """What stands for its force has negative parts: their sum may be nothing, or less."""
    moves = np.array([[1e-3, 0.0, 0.0], [2e-3, 0.0, 0.0], [0.0, 3e-3, 0.0]])
    displacements = np.zeros((3, 3, 3))     # by a force on node 0, whatever the others bear
    displacements[0] = moves
    forces = np.array([1.0, size])
    parts = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, rest - 1.0]])     # of each contact's force
    correction = SimpleNamespace(used=np.arange(3), modulus=1.0,
                                 node_forces=lambda forces: forces @ parts)
    ways = sideways(SimpleNamespace(displacements=displacements), correction, forces,
                    np.eye(2, dtype=bool), np.tile([0.0, 0.0, 1.0], (2, 1)))
    assert_allclose(ways[0], moves[0])
    assert ways[1].min() >= 0.0 and (ways[1] <= moves[1:].max(axis=0)).all()
