"""The oracle itself: distances known in closed form, verdicts that must fail."""

import grasp_oracle as oracle
import numpy as np
import pytest
import trimesh
from numpy.testing import assert_allclose

ATOL_ROUNDOFF = 1e-9
CUBE = np.array(trimesh.creation.box((0.02, 0.02, 0.02)).vertices)


@pytest.mark.parametrize('shift, expected', [
    ((0.05, 0.0, 0.0), 0.02), ((0.05, 0.06, 0.0), np.hypot(0.02, 0.03)),
    ((0.03, 0.0, 0.0), 0.0), ((0.0, 0.0, 0.0), 0.0)])
def test_the_distance_of_two_boxes_is_exact(shift, expected):
    mesh = trimesh.creation.box((0.04, 0.04, 0.2))
    assert_allclose(oracle.hull_distance(CUBE + shift, mesh), expected, atol=ATOL_ROUNDOFF)


def test_crossing_edges_are_the_nearest():
    turned = trimesh.transformations.rotation_matrix(np.pi / 4, (0, 1, 0))[:3, :3]
    blade = (CUBE * [1, 8, 1]) @ turned.T
    mesh = trimesh.creation.box((0.02, 0.02, 0.16))
    mesh.apply_transform(trimesh.transformations.rotation_matrix(np.pi / 4, (0, 0, 1)))
    gap = 0.003
    blade += [2.0 * np.sqrt(2.0) * 0.01 + gap, 0.0, 0.0]
    assert_allclose(oracle.hull_distance(blade, mesh), gap, atol=ATOL_ROUNDOFF)
    assert oracle.keeps_clear(blade, mesh, gap - 1e-6)
    assert not oracle.keeps_clear(blade, mesh, gap + 1e-6)


def test_a_pin_through_a_large_face_touches():
    mesh = trimesh.creation.box((0.2, 0.2, 0.001))
    assert oracle.hull_distance(CUBE * [0.1, 0.1, 3.0] + [0.013, 0.021, 0.0], mesh) == 0.0
    assert not oracle.separated(CUBE, CUBE + [0.0199, 0.0, 0.0])
    assert oracle.separated(CUBE, CUBE + [0.0201, 0.0, 0.0])
