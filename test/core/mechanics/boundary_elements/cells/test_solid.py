"""Displacements by unit loads in cubes: held just so, balanced, the same both ways."""

import numpy as np
from numpy.testing import assert_allclose

from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.mechanics.boundary_elements.body_compliance import node_normals
from gripsim_ros.core.mechanics.boundary_elements.cells.elements import cells_of
from gripsim_ros.core.mechanics.boundary_elements.cells.hats import hats_on, MANY
from gripsim_ros.core.mechanics.boundary_elements.cells.solid import _springs, solve_cells
from gripsim_ros.core.mechanics.boundary_elements.remesh import quadratic_surfaces

RATIO, RADIUS = 0.3, 0.04


def test_a_ball_under_pressure_shrinks_as_lame_found_and_acts_both_ways_alike():
    ball = shapes.sphere(RADIUS, 3e-3)
    surface = next(quadratic_surfaces(ball, 300))
    normals, hats = node_normals(surface), hats_on(surface, MANY)
    moves = solve_cells(ball, cells_of(ball.vertices[ball.faces], 0.012), hats, normals, RATIO)
    pressed = np.einsum('ia,iaj,j->i', normals, moves, hats.sizes)
    assert_allclose(pressed, RADIUS * (1.0 - 2.0 * RATIO), rtol=0.03)
    along = np.einsum('ia,iaj->ij', normals, moves)
    assert_allclose(along, along.T, atol=1e-9 * np.abs(along).max())
    assert np.linalg.eigvalsh(0.5 * (along + along.T)).min() > 0.0


def test_springs_hold_every_rigid_motion_and_nothing_else():
    box = shapes.box([0.1, 0.03, 0.02])
    cells = cells_of(box.vertices[box.faces], 0.011)
    springs = _springs(cells.nodes, cells.stiffness(RATIO).diagonal())
    assert springs.diagonal().astype(bool).sum() == 6
    still = np.broadcast_to(np.eye(3), (len(cells.nodes), 3, 3))
    turns = np.stack([np.cross(axis, cells.nodes) for axis in 20.0 * np.eye(3)], axis=2)
    motions = np.concatenate([still, turns], axis=2).reshape(-1, 6)
    energies = np.linalg.eigvalsh(motions.T @ (springs @ motions))
    assert energies.min() > 0.01 * energies.max()
