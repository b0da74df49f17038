"""Integrals over what a body has of the cubes of a grid: exact, by closed forms."""

import numpy as np
from numpy.testing import assert_allclose
import pytest

from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.mechanics.boundary_elements.cells.moments import cell_weights, POINTS

RTOL = 1e-12


def places(shape):
    """Return the points of all cubes of a grid, in cubes."""
    grid = np.stack(np.meshgrid(*map(np.arange, shape), indexing='ij'), axis=-1)
    return grid[:, :, :, None, None, None] + np.stack(
        np.meshgrid(POINTS, POINTS, POINTS, indexing='ij'), axis=-1)


@pytest.mark.parametrize('powers', [(0, 0, 0), (4, 0, 0), (1, 2, 3), (4, 4, 4), (0, 3, 4)])
def test_powers_over_a_box_are_exact(powers):
    low, high = np.array([0.3, 0.6, 0.2]), np.array([3.7, 2.1, 5.5])
    body = shapes.box(high - low)
    triangles = body.vertices[body.faces] + 0.5 * (low + high)
    shape = (4, 3, 6)
    weights = cell_weights(triangles, shape)
    found = (weights * (places(shape) ** powers).prod(axis=-1)).sum()
    grown = np.array(powers) + 1.0
    assert_allclose(found, ((high ** grown - low ** grown) / grown).prod(), rtol=RTOL)


@pytest.mark.parametrize('make', [shapes.banana, shapes.mug, lambda: shapes.sphere(0.04, 6e-3)])
def test_shares_of_cubes_are_those_of_the_body(make):
    body = make()
    low = body.vertices.min(axis=0) - 1e-3
    shape = tuple(np.ceil((body.vertices.max(axis=0) - low) / 5e-3).astype(int) + 1)
    shares = cell_weights((body.vertices[body.faces] - low) / 5e-3, shape).sum(axis=(3, 4, 5))
    assert_allclose(shares.sum() * 5e-3 ** 3, body.volume, rtol=RTOL)
    assert shares.min() > -RTOL and shares.max() < 1.0 + RTOL
    centre = (cell_weights((body.vertices[body.faces] - low) / 5e-3, shape)[..., None]
              * places(shape)).sum(axis=tuple(range(6))) / shares.sum()
    a, b, c = (body.vertices[body.faces[:, k]] for k in range(3))
    tetrahedra = (np.cross(a, b) * c).sum(axis=1)
    assert_allclose(low + 5e-3 * centre, tetrahedra @ (a + b + c) / 4.0 / tetrahedra.sum(),
                    atol=1e-9)
