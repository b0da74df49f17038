"""Pieces that overlap or touch are one body; what they share counts once."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest

from gripsim_ros.core.bodies import repair_mesh, shapes
from gripsim_ros.core.bodies.repair import shells, united
from gripsim_ros.core.errors import MeshError

BOX = shapes.box([0.1, 0.06, 0.08])


def together(*placed):
    """Return vertices and faces of meshes, each with its shift."""
    starts = np.cumsum([0] + [len(mesh.vertices) for mesh, _ in placed])
    return (np.concatenate([mesh.vertices + shift for mesh, shift in placed]),
            np.concatenate([mesh.faces + start for (mesh, _), start in zip(placed, starts)]))


@pytest.mark.parametrize('shift, volume', [
    ((0.08, 0.0, 0.0), 1.8), ((0.1, 0.0, 0.0), 2.0), ((0.05, 0.03, 0.04), 1.875)])
def test_what_two_boxes_share_counts_once(shift, volume):
    loaded = repair_mesh(*together((BOX, np.zeros(3)), (BOX, np.array(shift))))
    assert_allclose(loaded.mesh.volume, volume * BOX.volume, rtol=1e-12)
    assert loaded.repairs == ('took 2 separate pieces as one body',
                              'united those that overlap or touch: 1 is left')


def test_nothing_is_left_of_the_surface_inside():
    loaded = repair_mesh(*together((BOX, np.zeros(3)), (BOX, np.array([0.1, 0.0, 0.0]))))
    x = loaded.mesh.face_centroids[:, 0]
    across = np.abs(loaded.mesh.face_normals[:, 0]) > 0.5
    assert_allclose(np.abs(x[across] - 0.05), 0.1, rtol=1e-12)


def test_balls_that_overlap_have_the_volume_of_two_caps():
    ball, d = shapes.sphere(0.04, 0.003), 0.05
    loaded = repair_mesh(*together((ball, np.zeros(3)), (ball, np.array([d, 0.0, 0.0]))))
    r = (ball.volume * 0.75 / np.pi) ** (1.0 / 3.0)
    lens = np.pi * (2.0 * r - d) ** 2 * (d * d + 4.0 * d * r) / (12.0 * d)
    assert_allclose(loaded.mesh.volume, 2.0 * ball.volume - lens, rtol=2e-3)


def test_a_ring_of_pieces_holds_a_cavity():
    plates = [(shapes.box(np.where(np.arange(3) == axis, 0.02, 0.1)),
               0.04 * side * (np.arange(3) == axis)) for axis in range(3) for side in (-1, 1)]
    loaded = repair_mesh(*together(*plates))
    assert_allclose(loaded.mesh.volume, 0.1 ** 3 - 0.06 ** 3, rtol=1e-9)


@pytest.mark.parametrize('other, shift', [
    (BOX, (0.102, 0.0, 0.0)), (shapes.sphere(0.01, 0.004), (0.061, 0.0, 0.0))])
def test_pieces_apart_stay_as_they_are(other, shift):
    vertices, faces = together((BOX, np.zeros(3)), (other, np.array(shift)))
    loaded = repair_mesh(vertices, faces)
    assert_array_equal(loaded.mesh.vertices, vertices + 0.0)
    assert_array_equal(loaded.mesh.faces, faces)


@pytest.mark.parametrize('name', ['MAX_UNITED', 'MAX_UNITED_FACES'])
def test_more_than_a_number_is_left_alone(monkeypatch, name):
    monkeypatch.setattr(united, name, 1)
    loaded = repair_mesh(*together((BOX, np.zeros(3)), (BOX, np.array([0.08, 0.0, 0.0]))))
    assert_allclose(loaded.mesh.volume, 2.0 * BOX.volume, rtol=1e-12)
    assert 'counts twice' in loaded.repairs[-1]


def test_too_many_pieces_are_refused(monkeypatch):
    monkeypatch.setattr(shells, 'MAX_PIECES', 1)
    with pytest.raises(MeshError, match='the mesh falls into 2 pieces, allowed are 1'):
        repair_mesh(*together((BOX, np.zeros(3)), (BOX, np.array([0.08, 0.0, 0.0]))))
