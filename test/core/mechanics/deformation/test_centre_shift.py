"""Displacement of the centre of mass: closed forms, frames, and the free body."""

from types import SimpleNamespace

from hypothesis import given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.spatial.transform import Rotation

from gripsim_ros.core.bodies import Material, shapes
from gripsim_ros.core.mechanics.deformation.centre_shift import (
    balancing_forces, centre_shift, mean_displacement)
from gripsim_ros.core.mechanics.deformation.volume import volume_and_centre

#: Edges of the faces, over which displacements are linear [m], and what that leaves of a bend.
EDGE, RTOL_BEND = 2e-3, 5e-3
SIZES = np.array([0.06, 0.05, 0.04])

seeds = st.integers(0, 2 ** 32 - 1)


def loads_of(mesh, traction, centres=(), radii=()):
    """Return tractions (of points and outward normals) as forces at the middles of all edges."""
    corners = mesh.vertices[mesh.faces]
    areas = 0.5 * np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    points = 0.5 * (corners + np.roll(corners, -1, axis=1))
    forces = traction(points, areas[:, None] / 3.0)
    return SimpleNamespace(points=points.reshape(-1, 3), forces=forces.reshape(-1, 3),
                           centres=np.reshape(centres, (-1, 3)), radii=np.asarray(radii))


@pytest.mark.parametrize('poisson_ratio', [0.0, 0.3, 0.49])
def test_the_mean_of_a_bent_block_is_the_closed_form(poisson_ratio):
    # Timoshenko and Goodier, article 102: the stress along z is x and bends the axis.
    mesh, material = shapes.box(SIZES, EDGE), Material(1.0, poisson_ratio, 500.0, 0.5)
    x, y, z = mesh.vertices.T
    moves = np.stack([-0.5 * (z * z + poisson_ratio * (x * x - y * y)),
                      -poisson_ratio * x * y, x * z], axis=1)
    loads = loads_of(mesh, lambda points, areas: np.stack(
        [0.0 * areas[..., 0] * points[..., 0], 0.0 * areas[..., 0] * points[..., 0],
         points[..., 0] * areas[..., 2]], axis=-1))
    squares = SIZES ** 2 / 12.0
    exact = -0.5 * (squares[2] + poisson_ratio * (squares[0] - squares[1]))
    found = mean_displacement(mesh, moves, loads, material, volume_and_centre(
        mesh.vertices, mesh.faces))
    assert_allclose(found, [exact, 0.0, 0.0], rtol=RTOL_BEND, atol=1e-9 * abs(exact))


@given(seed=seeds)
@settings(max_examples=10)
def test_an_even_strain_moves_the_centre_with_the_body(seed):
    rng = np.random.default_rng(seed)
    mesh = shapes.apple(edge_length=8e-3)
    material = Material(1e6, rng.uniform(0.0, 0.49), 500.0, 0.5)
    strain, shift = rng.normal(size=(3, 3)), rng.normal(size=3)
    strain = 1e-3 * (strain + strain.T)
    lame = (material.poisson_ratio / (1.0 + material.poisson_ratio)
            / (1.0 - 2.0 * material.poisson_ratio))
    stress = 1e6 * (strain / (1.0 + material.poisson_ratio) + lame * np.trace(strain) * np.eye(3))
    undeformed = volume_and_centre(mesh.vertices, mesh.faces)
    moves = (mesh.vertices - undeformed[1]) @ strain + shift
    loads = loads_of(mesh, lambda points, areas: np.broadcast_to(areas, points.shape) @ stress)
    assert_allclose(mean_displacement(mesh, moves, loads, material, undeformed), shift, rtol=1e-9)


@given(seed=seeds)
@settings(max_examples=10)
def test_a_rigid_motion_shifts_nothing(seed):
    rng = np.random.default_rng(seed)
    mesh, material = shapes.apple(edge_length=8e-3), Material(1e6, 0.4, 500.0, 0.5)
    turn = Rotation.from_rotvec(1e-6 * rng.normal(size=3)).as_matrix()
    moves = mesh.vertices @ (turn - np.eye(3)).T + 1e-6 * rng.normal(size=3)
    loads = loads_of(mesh, lambda points, areas: 0.0 * points, mesh.vertices[:2], [5e-3, 5e-3])
    found = centre_shift(mesh, moves, loads, material, volume_and_centre(
        mesh.vertices, mesh.faces))
    assert_allclose(found, 0.0, atol=1e-12)


def test_pads_all_over_leave_no_rigid_motion_to_tell():
    mesh = shapes.apple(edge_length=8e-3)
    loads = loads_of(mesh, lambda points, areas: 0.0 * points, [[0.0, 0.0, 0.0]], [0.03])
    found = centre_shift(mesh, 0.0 * mesh.vertices, loads, Material(1e6, 0.4, 500.0, 0.5),
                         volume_and_centre(mesh.vertices, mesh.faces))
    assert np.isnan(found).all()


@given(seed=seeds)
@settings(max_examples=10)
def test_what_balances_has_the_wrench_of_the_loads_reversed(seed):
    rng = np.random.default_rng(seed)
    mesh = shapes.egg()
    loads = SimpleNamespace(points=rng.normal(size=(5, 3)), forces=rng.normal(size=(5, 3)))
    balance = balancing_forces(mesh, loads)
    assert_allclose(balance.sum(axis=0), -loads.forces.sum(axis=0), atol=1e-12)
    assert_allclose(np.cross(mesh.vertices, balance).sum(axis=0),
                    -np.cross(loads.points, loads.forces).sum(axis=0), atol=1e-12)
