"""The contact stage on the real hand: batches, details, distances, purity."""

from dataclasses import fields, replace

import numpy as np
import pytest

from gripsim_ros.core.batches import (DETAIL_CLEARANCE, DETAIL_FORCES, DETAIL_SURFACE,
                                      OBSTACLE_BOX, ConfigurationBatch)
from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.contact import ContactScene, detect_contacts
from gripsim_ros.core.contact.geometry.closest_point import closest_points
from gripsim_ros.core.contact.geometry.ray_casting import contains
from gripsim_ros.core.hand import compute_link_states
from gripsim_ros.core.transforms import inverse, transform
from gripsim_ros.library import resources

ATOL_ROUNDOFF = 1e-12
#: Rounding of a pose 1 m away, in distances and depths.
ATOL_COVARIANT = 1e-8
FRACTIONS = np.linspace(0.0, 0.35, 6)


@pytest.fixture(scope='module')
def hand():
    return resources.load_default_hand()


@pytest.fixture(scope='module')
def scene(hand):
    return ContactScene(hand, apple())


def apple(T=np.eye(4)):
    mesh = shapes.apple(0.08, 0.004).with_transform(T)
    return GraspObject(mesh, Material(1e6, 0.45, 900.0, 0.6))


def ask(hand, fractions, detail, T_object_object=np.eye(4), **changes):
    """Return link states of a hand above the apple that closes."""
    preshape = next(p for p in hand.preshapes if p.name == 'cylindrical')
    rates = preshape.closed - preshape.open
    count = len(fractions)
    T_object_palm = transform(np.diag([1.0, -1.0, -1.0]), np.array([0.0, 0.0, 0.172]))
    batch = ConfigurationBatch(
        np.tile(T_object_object @ T_object_palm, (count, 1, 1)),
        preshape.open + np.asarray(fractions)[:, None] * rates,
        np.tile(0.01 * rates, (count, 1)), np.zeros((count, 3)), detail=detail)
    return compute_link_states(hand, replace(batch, **changes))


def part(batch, i):
    """Return every number of configuration i, in a fixed order."""
    first, last = batch.patch_offsets[i:i + 2]
    nodes = slice(batch.node_offsets[first], batch.node_offsets[last])
    vertices = slice(*batch.vertex_offsets[i:i + 2])
    return [batch.clearance[i], batch.obstacle_clearance[i], batch.self_clearance[i],
            batch.depth[i], batch.patch_links[first:last], batch.patch_flags[first:last],
            batch.patch_thickness[first:last], batch.node_points_object[nodes],
            batch.node_normals_object[nodes], batch.node_areas[nodes], batch.node_depths[nodes],
            batch.vertex_points_object[vertices], batch.vertex_vectors_object[vertices]]


@pytest.mark.parametrize('detail', [DETAIL_CLEARANCE, DETAIL_FORCES, DETAIL_SURFACE])
def test_each_configuration_is_answered_as_if_it_were_alone(hand, scene, detail):
    together = detect_contacts(scene, ask(hand, FRACTIONS, detail))
    for i in reversed(range(len(FRACTIONS))):
        alone = detect_contacts(scene, ask(hand, FRACTIONS[i:i + 1], detail))
        for ours, theirs in zip(part(together, i), part(alone, 0)):
            np.testing.assert_array_equal(ours, theirs)


def test_a_closing_hand_comes_nearer_and_then_presses(hand, scene):
    batch = detect_contacts(scene, ask(hand, FRACTIONS, DETAIL_FORCES))
    assert (batch.clearance[0] > 0.0).all()
    assert (np.diff(batch.clearance.min(axis=1)) <= 0.0).all()
    assert batch.depth[-1].max() > 0.0
    assert (batch.clearance[batch.depth > 0.0] == 0.0).all()
    assert batch.patch_offsets[-1] == len(batch.patch_links) == len(batch.node_offsets) - 1
    assert (np.diff(batch.patch_offsets) >= 0).all()
    for p in range(len(batch.patch_links)):
        nodes = slice(*batch.node_offsets[p:p + 2])
        assert batch.node_depths[nodes].max() > 0.0
        assert (batch.node_areas[nodes] > 0.0).all()


def test_pressed_nodes_lie_in_the_link_and_on_the_object(hand, scene):
    states = ask(hand, FRACTIONS, DETAIL_FORCES)
    batch = detect_contacts(scene, states)
    for i in range(len(FRACTIONS)):
        for p in range(*batch.patch_offsets[i:i + 2]):
            nodes = slice(*batch.node_offsets[p:p + 2])
            points = batch.node_points_object[nodes]
            on_surface = closest_points(scene.body.tree, points, np.inf)[0]
            assert on_surface.max() <= scene.body.bulge + ATOL_ROUNDOFF
            deep = batch.node_depths[nodes] > 2e-4
            link = batch.patch_links[p]
            T = states.T_object_link[i, link]
            local = (points[deep] - T[:3, 3]) @ T[:3, :3]
            assert contains(scene.shapes.bodies[link].tree, local).all()


def test_details_grow_from_distances_to_patches_to_vertices(hand, scene):
    distances, forces, surface = (detect_contacts(scene, ask(hand, FRACTIONS, detail)) for
                                  detail in (DETAIL_CLEARANCE, DETAIL_FORCES, DETAIL_SURFACE))
    assert len(distances.patch_links) == 0 and len(forces.patch_links) > 0
    np.testing.assert_array_equal(forces.node_depths, surface.node_depths)
    np.testing.assert_array_equal(forces.vertex_offsets, 0)
    assert surface.vertex_offsets[-1] > 0
    np.testing.assert_array_equal(distances.self_clearance, forces.self_clearance)
    apart = forces.clearance > 0.0
    np.testing.assert_array_equal(distances.clearance[apart], forces.clearance[apart])


def test_contact_vertices_leave_along_their_vectors(hand, scene):
    states = ask(hand, FRACTIONS[-1:], DETAIL_SURFACE)
    batch = detect_contacts(scene, states)
    ways = np.linalg.norm(batch.vertex_vectors_object, axis=1)
    assert (ways > 0.0).all()
    exits = batch.vertex_points_object + batch.vertex_vectors_object
    to_object = closest_points(scene.body.tree, exits, np.inf)[0]
    to_links = np.min([closest_points(
        body.tree, (exits - T[:3, 3]) @ T[:3, :3], np.inf)[0]
        for body, T in zip(scene.shapes.bodies, states.T_object_link[0])], axis=0)
    assert np.minimum(to_object, to_links).max() < ATOL_ROUNDOFF


def test_clearance_is_below_the_distance_of_every_vertex(hand, scene):
    states = ask(hand, FRACTIONS[:1], DETAIL_CLEARANCE)
    batch = detect_contacts(scene, states)
    for link, body in enumerate(scene.shapes.bodies):
        T = states.T_object_link[0, link]
        points = body.mesh.vertices @ T[:3, :3].T + T[:3, 3]
        nearest = closest_points(scene.body.tree, points, np.inf)[0].min()
        assert 0.0 < batch.clearance[0, link] <= nearest


def test_turning_object_and_hand_together_changes_nothing(hand, scene):
    T = transform(np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]]),
                  np.array([0.3, -0.5, 0.8]))
    here = detect_contacts(scene, ask(hand, FRACTIONS, DETAIL_FORCES))
    there = detect_contacts(ContactScene(hand, apple(T), scene.shapes),
                            ask(hand, FRACTIONS, DETAIL_FORCES, T))
    np.testing.assert_allclose(there.clearance, here.clearance, rtol=0.0, atol=ATOL_COVARIANT)
    np.testing.assert_allclose(there.depth, here.depth, rtol=0.0, atol=ATOL_COVARIANT)
    np.testing.assert_array_equal(there.patch_links, here.patch_links)
    back = inverse(T)
    np.testing.assert_allclose(there.node_points_object @ back[:3, :3].T + back[:3, 3],
                               here.node_points_object, rtol=0.0, atol=ATOL_COVARIANT)


def test_a_swept_approach_is_no_farther_than_its_end(hand, scene):
    still = detect_contacts(scene, ask(hand, FRACTIONS[:1], DETAIL_CLEARANCE))
    sweep = np.array([[0.0, 0.03, 0.0]])
    swept = detect_contacts(scene, ask(hand, FRACTIONS[:1], DETAIL_CLEARANCE,
                                       sweep_object=sweep))
    assert (swept.clearance <= still.clearance + ATOL_ROUNDOFF).all()
    through = detect_contacts(scene, ask(hand, FRACTIONS[:1], DETAIL_CLEARANCE,
                                         sweep_object=np.array([[0.0, 0.0, 0.4]])))
    assert (through.clearance == 0.0).any()


def test_obstacles_and_the_hand_itself_are_kept_apart(hand, scene):
    free = detect_contacts(scene, ask(hand, FRACTIONS[:1], DETAIL_CLEARANCE))
    assert free.obstacle_clearance[0] == np.inf
    assert 0.0 < free.self_clearance[0] < 0.02
    pose = np.hstack([np.eye(3), [[0.0], [0.0], [-0.7]]]).ravel()
    table = np.concatenate([[OBSTACLE_BOX, 1.0, 1.0, 1.0], pose])[None]
    found = detect_contacts(scene, ask(hand, FRACTIONS[:1], DETAIL_CLEARANCE, obstacles=table))
    assert 0.0 < found.obstacle_clearance[0] < 0.3


def test_no_configuration_gives_an_empty_answer(hand, scene):
    batch = detect_contacts(scene, ask(hand, [], DETAIL_SURFACE))
    assert batch.clearance.shape == (0, len(hand.links))
    np.testing.assert_array_equal(batch.patch_offsets, [0])
    for field in fields(batch):
        if field.name.startswith('node_') and field.name != 'node_offsets':
            assert len(getattr(batch, field.name)) == 0


def test_shapes_of_the_hand_are_shared_between_scenes(hand, scene):
    other = ContactScene(hand, GraspObject(shapes.box([0.05, 0.05, 0.05]),
                                           Material(1e6, 0.3, 500.0, 0.5)), scene.shapes)
    assert other.shapes is scene.shapes
