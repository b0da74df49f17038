"""Elements in cubes: stiffness of what a body has of them, by closed forms of energy."""

import numpy as np
from numpy.testing import assert_allclose
import pytest

from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.mechanics.boundary_elements.cells.elements import cells_of, FILLED

RATIO = 0.3
#: What the rest of the cubes adds to the energy, which they fill several times over.
RTOL_FILLED = 20.0 * FILLED


@pytest.fixture(scope='module')
def plate():
    """Return a plate 6 mm thick, less than half a cube, and its cubes."""
    body = shapes.box([0.06, 0.05, 0.006])
    return body, cells_of(body.vertices[body.faces], 0.013)


def test_rigid_motions_cost_nothing(plate):
    _, cells = plate
    stiffness = cells.stiffness(RATIO)
    turn = np.cross([1.0, 2.0, 3.0], cells.nodes) + [0.1, 0.2, 0.3]
    size = np.abs(stiffness) @ np.abs(turn).ravel()
    assert np.abs(stiffness @ turn.ravel()).max() < 1e-9 * size.max()


@pytest.mark.parametrize('ratio', [0.0, 0.3, 0.49])
def test_a_plate_that_is_bent_has_the_energy_of_a_beam(plate, ratio):
    """E curvature^2 t^2 / 12 for each volume: cubes thicker than the plate lock in nothing."""
    body, cells = plate
    x, y, z = cells.nodes.T
    moves = np.stack([-x * z, ratio * y * z,
                      0.5 * (x ** 2 + ratio * z ** 2 - ratio * y ** 2)], axis=1).ravel()
    energy = moves @ cells.stiffness(ratio) @ moves
    assert_allclose(energy, body.volume * 0.006 ** 2 / 12.0, rtol=3e-3)
    stretched = np.stack([x, -ratio * y, -ratio * z], axis=1).ravel()
    assert_allclose(stretched @ cells.stiffness(ratio) @ stretched, body.volume,
                    rtol=RTOL_FILLED + 1e-4)


def test_shapes_add_up_to_one_and_are_those_of_a_quadratic_field(plate):
    body, cells = plate
    points = body.face_centroids + [1e-3, 2e-3, 0.0]
    hosts, shares = cells.shapes_at(points)

    def field(places):
        x, y, z = places.T
        return 1.0 + x + 30.0 * x * y - 20.0 * z ** 2 + 40.0 * x * y * z

    assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12)
    found = (shares * field(cells.nodes)[cells.elements[hosts]]).sum(axis=1)
    assert_allclose(found, field(points), rtol=1e-12)


def test_a_point_without_a_cube_takes_the_nearest(plate):
    _, cells = plate
    hosts, _ = cells.shapes_at(np.array([[0.2, 0.0, 0.0]]))
    assert cells.corners[hosts[0], 0] == cells.corners[:, 0].max()
