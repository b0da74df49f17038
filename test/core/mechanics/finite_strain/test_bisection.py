"""Halved tetrahedra: the same body, neighbours that fit, edges as short as wanted."""

from block_cases import block_tetrahedra
import numpy as np
from numpy.testing import assert_allclose

from gripsim_ros.core.bodies.tetrahedra import tetrahedron_volumes
from gripsim_ros.core.mechanics.finite_strain.meshing import refine
from gripsim_ros.core.mechanics.quadratic_elements import EDGES


def test_refined_tetrahedra_fill_the_same_body_and_fit():
    points, corners = block_tetrahedra((1.0, 1.3, 0.8), (1, 1, 1))

    def wanted(middles):
        return 0.2 + 0.8 * np.linalg.norm(middles, axis=1)
    finer, pieces = refine(points, corners, wanted, 3000)
    volumes = tetrahedron_volumes(finer, pieces)
    assert len(pieces) > 50 and (volumes > 0.0).all()
    assert_allclose(finer[:len(points)], points)
    assert_allclose(volumes.sum(), 1.0 * 1.3 * 0.8)
    sides = np.sort(pieces[:, [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]], axis=-1)
    faces, count = np.unique(sides.reshape(-1, 3), axis=0, return_counts=True)
    outer = finer[faces[count == 1]]    # a hanging point would leave sides inside open
    areas = 0.5 * np.linalg.norm(np.cross(outer[:, 1] - outer[:, 0], outer[:, 2] - outer[:, 0]),
                                 axis=1)
    assert count.max() == 2
    assert_allclose(areas.sum(), 2.0 * (1.3 + 0.8 + 1.3 * 0.8))
    edges = np.linalg.norm(finer[pieces[:, EDGES[:, 0]]] - finer[pieces[:, EDGES[:, 1]]], axis=2)
    assert (edges.max(axis=1) <= wanted(finer[pieces].mean(axis=1)) + 1e-12).all()
