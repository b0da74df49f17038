"""Hypotheses at the faces of a decimated mesh, as printed."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gripsim_ros.core.bodies import GraspObject, Material, shapes, TriangleMesh
from gripsim_ros.core.planning.published.planner import face_hypotheses
from gripsim_ros.core.transforms import apply, transform
from gripsim_ros.library.in_process import planner_options
from gripsim_ros.library.resources import load_default_hand

MATERIAL, COUNT, GAP, ATOL = Material(1e6, 0.45, 1000.0, 0.6), 12, 0.05, 1e-9


@pytest.fixture(scope='module')
def hand():
    return load_default_hand()


@pytest.fixture(scope='module')
def block():
    """Return a block with twelve faces, which decimation leaves."""
    return GraspObject(shapes.box((0.04, 0.06, 0.09), 0.1), MATERIAL)


def proposed(block, hand, **changes):
    options = replace(planner_options(), palm_gaps=(GAP,), **changes)
    return face_hypotheses(block, hand, options, COUNT)


def test_the_palm_stands_at_the_gap_before_the_middle_of_a_face(block, hand):
    mesh, palm = block.mesh, hand.links[hand.palm_index].mesh.vertices
    centroids = mesh.vertices[mesh.faces].mean(axis=1)
    for hypothesis in proposed(block, hand)[0]:
        approach = hypothesis.T_object_palm[:3, :3] @ hand.approach
        facing = np.flatnonzero(mesh.face_normals @ approach < -1.0 + 1e-9)
        assert len(facing)
        front = (apply(hypothesis.T_object_palm, palm) @ approach).max()
        np.testing.assert_allclose(centroids[facing] @ approach - front, GAP, rtol=0.0, atol=ATOL)


def test_hypotheses_turn_with_the_object(block, hand):
    motion = transform(Rotation.from_rotvec([0.3, -0.8, 0.5]).as_matrix(),
                       np.array([0.1, 0.2, -0.3]))
    moved = GraspObject(TriangleMesh(apply(motion, block.mesh.vertices), block.mesh.faces),
                        MATERIAL)
    for before, after in zip(proposed(block, hand)[0], proposed(moved, hand)[0]):
        np.testing.assert_allclose(after.T_object_palm, motion @ before.T_object_palm,
                                   rtol=0.0, atol=1e-6)


def test_all_faces_rolls_and_preshapes_are_proposed(block, hand):
    _, count = proposed(block, hand, roll_count=4)
    assert count == len(block.mesh.faces) * 4 * len(hand.preshapes)
