"""How a hand feels an object: by points of its links."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.hand import forward_kinematics
from gripsim_ros.core.hand.shapes import LONGEST_EDGE
from gripsim_ros.core.planning.moving_object.distance_band import distance_band
from gripsim_ros.core.planning.moving_object.link_samples import (
    feel, Felt, link_samples, MOST, SPACING, Touch)
from gripsim_ros.core.transforms import inverse
from gripsim_ros.hardware.sim.hand_model import hand_as_simulated

RADIUS = 0.03


@pytest.fixture(scope='module')
def band():
    return distance_band(shapes.sphere(RADIUS, 0.002))


def room(hand):
    count = MOST * len(hand.links)
    return Touch(np.zeros((count, 3)), np.zeros((count, 3)), np.zeros(count),
                 np.zeros(count, np.int64))


def poses_at(hand, place, share):
    """Return the links (L, 4, 4) in a ball at a place of the palm, the hand closed by a share."""
    preshape = hand.preshapes[1]
    T_palm_ball = np.eye(4)
    T_palm_ball[:3, 3] = place
    joints = preshape.open + share * (preshape.closed - preshape.open)
    return inverse(T_palm_ball) @ forward_kinematics(hand, joints[None])[0]


def test_no_vertex_of_a_link_is_far_from_a_sample(hand):
    samples = link_samples(hand)
    for i, link in enumerate(hand.links):
        own = samples.points[samples.starts[i]:samples.starts[i + 1]]
        far, _ = cKDTree(own).query(link.mesh.vertices)
        assert far.max() <= np.sqrt(3.0) * SPACING
        assert samples.radii[i] == pytest.approx(np.linalg.norm(own, axis=1).max())


def test_no_place_of_a_link_of_large_triangles_is_far_from_a_sample(hand, rng):
    hulls = hand_as_simulated(hand)
    samples = link_samples(hulls)
    for i, link in enumerate(hulls.links):
        corners = link.mesh.vertices[link.mesh.faces]
        shares = rng.dirichlet(np.ones(3), (20, len(corners)))
        places = np.einsum('nfc,fcx->nfx', shares, corners).reshape(-1, 3)
        own = samples.points[samples.starts[i]:samples.starts[i + 1]]
        assert cKDTree(own).query(places)[0].max() <= np.sqrt(3.0) * SPACING + LONGEST_EDGE


@pytest.mark.parametrize('share', [0.3, 0.35, 0.4])
def test_gaps_are_those_of_the_links_points_over_the_ball(hand, band, share):
    samples, touch = link_samples(hand), room(hand)
    poses = poses_at(hand, [0.0, 0.0, 0.16], share)
    count = feel(samples, band, poses, Felt.nothing(samples), band.spacing, touch)
    for i, pose in enumerate(poses):
        own = samples.points[samples.starts[i]:samples.starts[i + 1]]
        gap = np.linalg.norm(own @ pose[:3, :3].T + pose[:3, 3], axis=1).min() - RADIUS
        found = touch.gaps[:count][touch.links[:count] == i]
        if -0.002 < gap < band.spacing - 1e-4:
            assert found.min() == pytest.approx(gap, abs=1e-4) and len(found) <= MOST
        elif gap > band.spacing + 1e-4:
            assert not len(found)
    near = touch.gaps[:count] > -0.002
    outward = touch.points[:count] / np.linalg.norm(touch.points[:count], axis=1, keepdims=True)
    assert ((outward * touch.normals[:count]).sum(axis=1)[near] > 0.99).all()


def test_what_was_felt_before_changes_nothing(hand, band):
    samples, felt = link_samples(hand), Felt.nothing(link_samples(hand))
    found = 0
    for step in range(60):
        poses = poses_at(hand, [0.0005 * step - 0.01, 0.0, 0.16], 0.5 + 0.006 * step)
        touch, fresh = room(hand), room(hand)
        count = feel(samples, band, poses, felt, band.spacing, touch)
        assert count == feel(samples, band, poses, Felt.nothing(samples), band.spacing, fresh)
        np.testing.assert_array_equal(touch.gaps[:count], fresh.gaps[:count])
        found += count
    assert found > 20
