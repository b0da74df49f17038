"""The contact stage by the papers' rules."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gripsim_ros.core.batches import ConfigurationBatch
from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.contact.published.rule_stage import detect_rule_contacts, RuleScene
from gripsim_ros.core.hand import compute_link_states, forward_kinematics
from gripsim_ros.core.hand.published.link_directions import link_displacements
from gripsim_ros.core.transforms import apply, transform
from gripsim_ros.library.resources import load_default_hand

RADIUS, SINKING = 0.03, 0.002
TIP = 'sdh_finger_13_link'
ATOL_TURNED = 1e-9


@pytest.fixture(scope='module')
def hand():
    return load_default_hand()


@pytest.fixture(scope='module')
def scene(hand):
    # Without symmetries, so that the axes of its box are its own.
    return RuleScene(hand, GraspObject(shapes.sphere(RADIUS, 0.003, jitter=0.3),
                                       Material(1e6, 0.45, 1000.0, 0.6)))


def pressed(hand, T_frame=np.eye(4), closing=0.01, sweep=(0.0, 0.0, 0.0)):
    """Return a hand whose fingertip's foremost point is sunk into the ball, seen from a frame."""
    preshape = hand.preshapes[0]
    joints = 0.5 * (preshape.open + preshape.closed)
    rates = preshape.closed - preshape.open
    link = hand.link_index(TIP)
    way = link_displacements(hand, joints[None], rates[None])[0, link]
    way /= np.linalg.norm(way)
    points = apply(forward_kinematics(hand, joints[None])[0, link], hand.links[link].mesh.vertices)
    centre = points[np.argmax(points @ way)] + (RADIUS - SINKING) * way
    return compute_link_states(hand, ConfigurationBatch(
        (T_frame @ transform(np.eye(3), -centre))[None], joints[None], closing * rates[None],
        np.array([sweep], float)))


def test_regions_are_vertices_of_the_object_with_depths_up_to_the_sinking(hand, scene):
    found = detect_rule_contacts(scene, pressed(hand))
    assert hand.link_index(TIP) in found.patch_links
    vertices = scene.body.mesh.vertices
    assert all((vertices == point).all(axis=1).any() for point in found.node_points_object)
    assert 0.0 < found.node_depths.max() <= found.depth.max()
    inwards = (found.node_points_object * found.node_normals_object).sum(axis=1)
    np.testing.assert_array_less(inwards, 0.0)


def test_depths_along_the_motion_are_shortened_to_the_normal(hand, scene):
    found = detect_rule_contacts(scene, pressed(hand))
    patch = found.patch_links.tolist().index(hand.link_index(TIP))
    nodes = slice(*found.node_offsets[patch:patch + 2])
    # The ball's foremost point was sunk by this along the link's motion, and none farther.
    assert 0.3 * SINKING < found.node_depths[nodes].max() < 1.05 * SINKING
    assert found.node_depths[nodes].max() < found.depth[0, hand.link_index(TIP)]


def test_the_answer_turns_with_hand_and_object(hand, scene):
    quarter = Rotation.from_euler('z', 90.0, degrees=True).as_matrix()
    body = scene.body.mesh
    turned = RuleScene(hand, GraspObject(
        type(body)(body.vertices @ quarter.T, body.faces), Material(1e6, 0.45, 1000.0, 0.6)))
    first = detect_rule_contacts(scene, pressed(hand))
    second = detect_rule_contacts(turned, pressed(hand, transform(quarter, np.zeros(3))))
    np.testing.assert_allclose(second.node_points_object, first.node_points_object @ quarter.T,
                               rtol=0.0, atol=ATOL_TURNED)
    np.testing.assert_allclose(second.node_depths, first.node_depths, rtol=0.0, atol=ATOL_TURNED)


def test_what_does_not_move_meets_nothing_and_an_arriving_hand_moves_as_a_whole(hand, scene):
    still = detect_rule_contacts(scene, pressed(hand, closing=0.0))
    assert not still.depth.any() and not len(still.patch_links)
    arriving = detect_rule_contacts(scene, pressed(hand, closing=0.0, sweep=(0.0, 0.0, 0.1)))
    assert arriving.depth[0, hand.link_index(TIP)] > 0.0
