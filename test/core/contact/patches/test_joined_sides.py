"""Smooth sides of scans: specks of noise join a neighbour, true sides stay."""

import numpy as np
import pytest

from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.contact.geometry.curved_surface import joined_sides


def rough_box():
    """Return a box of 40 mm with fine faces, one vertex of which stands 4 mm out."""
    box = shapes.box([0.04, 0.04, 0.04], 0.004)
    vertices = box.vertices.copy()
    middle = int(np.argmin(np.linalg.norm(vertices - [0.02, 0.004, 0.004], axis=1)))
    vertices[middle, 0] += 0.004
    return box.with_vertices(vertices)


def test_a_speck_on_a_side_belongs_to_the_side():
    box = rough_box()
    assert len(np.unique(box.smooth_sides())) > 6
    sides = joined_sides(box)
    assert len(np.unique(sides)) == 6
    pulled = int(np.argmax(box.vertices[:, 0]))
    front = box.face_normals[:, 0] > 0.999
    around = (box.faces == pulled).any(axis=1)
    assert len(np.unique(sides[front | around])) == 1


@pytest.mark.parametrize('mesh, count', [
    (shapes.box([0.05, 0.07, 0.1]), 6), (shapes.cylinder(0.03, 0.12), 3),
    (shapes.plate(), 3), (shapes.sphere(0.03), 1)])
def test_true_sides_stay(mesh, count):
    assert len(np.unique(joined_sides(mesh))) == count
    np.testing.assert_array_equal(joined_sides(mesh), mesh.smooth_sides())
