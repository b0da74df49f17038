"""Forces along a body's surface: what they bend is bent as a beam."""

import numpy as np
from numpy.testing import assert_allclose
import pytest

from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.mechanics.boundary_elements.body_compliance import prepare_compliance
from gripsim_ros.core.mechanics.boundary_elements.tangential_loads import TangentialLoads
from gripsim_ros.core.mechanics.deformation.metrics import fit_rigid_motion

MODULUS, RATIO = 1e6, 0.3
WIDTH, LENGTH, PLACE = 0.02, 0.16, 0.05
#: Of a rod five times as long between its forces as it is thick, by 500 nodes.
RTOL_BEAM = 0.05


@pytest.fixture(scope='module')
def rod():
    """Return a rod along z, the compliance of its surface, and what it knows of friction."""
    mesh = shapes.box([WIDTH, WIDTH, LENGTH], 0.008)
    compliance = prepare_compliance(mesh, RATIO, 500)
    return mesh, compliance, TangentialLoads(compliance)


def moved(rod, points, forces):
    """Return how the rod's vertices move under forces near its surface."""
    mesh, compliance, tangential = rod
    sinking = tangential.sinking(
        compliance.correction(np.asarray(points), MODULUS / (1.0 - RATIO ** 2)),
        np.asarray(forces))
    return tangential.moves(compliance.interpolation(mesh.vertices), sinking)


def turn_of_ends(mesh, moves):
    """Return by how much the ends of the rod turn against each other about x [rad]."""
    turns = []
    for side in (1.0, -1.0):
        end = (side * mesh.vertices[:, 2] > 1.3 * PLACE).astype(float)
        rotation, _ = fit_rigid_motion(mesh.vertices, mesh.vertices + moves, end)
        turns.append(rotation[2, 1])
    return turns[0] - turns[1]


@pytest.mark.parametrize('side', [1.0, -1.0])
def test_friction_that_pulls_at_one_side_bends_a_rod_as_a_beam(rod, side):
    force, height = 1e-3, 0.5 * WIDTH * side
    moves = moved(rod, [[0.0, height, PLACE], [0.0, height, -PLACE]],
                  [[0.0, 0.0, force], [0.0, 0.0, -force]])
    # Bernoulli: the moment over the bending stiffness, along the way between the forces.
    expected = force * height * 2.0 * PLACE / (MODULUS * WIDTH ** 4 / 12.0)
    assert_allclose(turn_of_ends(rod[0], moves), expected, rtol=RTOL_BEAM)


@pytest.mark.parametrize('side', [1.0, -1.0])
def test_the_middle_sinks_as_a_beam_sags(rod, side):
    mesh, compliance, tangential = rod
    force, height = 1e-3, 0.5 * WIDTH
    sinking = tangential.sinking(
        compliance.correction(np.array([[0.0, height, PLACE], [0.0, height, -PLACE]]),
                              MODULUS / (1.0 - RATIO ** 2)),
        np.array([[0.0, 0.0, side * force], [0.0, 0.0, -side * force]]))
    below = (np.abs(compliance.points[:, 2]) < 0.8 * PLACE) & (compliance.normals[:, 1] > 0.9)
    bent = np.polynomial.Polynomial.fit(compliance.points[below, 2], sinking[below], 2).convert()
    curvature = side * force * height / (MODULUS * WIDTH ** 4 / 12.0)
    assert_allclose(2.0 * bent.coef[2], -curvature, rtol=RTOL_BEAM)


def test_ways_agree_with_how_far_nodes_sink_and_no_force_moves_nothing(rod, rng):
    _, compliance, tangential = rod
    every = (np.arange(len(compliance.points))[:, None].repeat(6, axis=1),
             np.eye(6)[np.zeros(len(compliance.points), int)])
    sinking = rng.normal(size=len(compliance.points))
    ways = tangential.moves(every, sinking)
    assert_allclose((ways * compliance.normals).sum(axis=1), sinking, rtol=1e-9)
    assert not tangential.moves(every, 0.0 * sinking).any()
