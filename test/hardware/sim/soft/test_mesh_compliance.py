"""What tetrahedra yield beside the body: pressure about nodes, half-spaces under it, bending."""

import numpy as np
import pytest

from benchmarks.hardware.flex_indentation import soft_ball, structured
from gripsim_ros.hardware.sim.soft.mesh_compliance import (
    HAT_COMPLIANCE, MeshCompliance, PART_HAT_COMPLIANCE, Press)
from gripsim_ros.hardware.sim.solids import node_masses, outer_faces, tetrahedron_volumes
from gripsim_ros.hardware.sim.world_model import SoftMesh

POISSON_RATIO = 0.3
#: Parts along a triangle's side by which it is integrated, and what is wrong by them.
PARTS, RTOL_PARTS = 20, 0.01


def block(counts, size):
    """Return a block of tetrahedra with its lower corner in the origin."""
    nodes, corners = structured([np.linspace(0.0, size * n, n + 1) for n in counts])
    turned = tetrahedron_volumes(nodes, corners) < 0.0
    corners[turned, :2] = corners[turned, 1::-1]
    return SoftMesh(nodes, corners, outer_faces(corners), node_masses(nodes, corners, 1.0))


def hat_compliance(count, angle):
    """Return the mean yield, times E* and root of area, of ``count`` triangles round a node."""
    steps = (np.arange(PARTS)[:, None] + [1 / 3, 2 / 3]).T / PARTS
    places = [(u, v) for k in (0, 1) for u in steps[k] for v in steps[k]
              if u + v < 1.0 - 1e-9]
    inner = np.array(places)
    points, weights = [], []
    for i in range(count):
        ends = np.array([[np.cos(a), np.sin(a)] for a in (i * angle, (i + 1) * angle)])
        points.append(inner @ ends)
        weights.append(1.0 - inner.sum(axis=1))
    flat, pressure = np.concatenate(points), np.concatenate(weights)
    part = 0.5 * np.sin(angle) / PARTS**2
    away = np.linalg.norm(flat[:, None] - flat[None], axis=2)
    # A part yields to itself as a disc of its area does under even pressure.
    np.fill_diagonal(away, 3.0 * np.pi / 16.0 * np.sqrt(part / np.pi))
    mean = pressure @ (1.0 / (np.pi * away)) @ pressure / pressure.sum()**2
    return mean * np.sqrt(count * 0.5 * np.sin(angle))


@pytest.mark.parametrize('count,angle,taken', [
    (6, np.pi / 3, HAT_COMPLIANCE), (3, np.pi / 3, PART_HAT_COMPLIANCE),
    (2, np.pi / 4, PART_HAT_COMPLIANCE)])
def test_a_half_space_yields_so_to_pressure_about_a_node(count, angle, taken):
    np.testing.assert_allclose(hat_compliance(count, angle), taken, rtol=2 * RTOL_PARTS)


def test_pressure_about_a_node_has_its_sum_and_centre():
    """Of a pyramid over a triangle the centre of mass is half way to the far side's middle."""
    soft = soft_ball(0.04, 3)
    mesh = MeshCompliance(soft, POISSON_RATIO)
    node = int(soft.faces[0, 0])
    triangles = np.flatnonzero((soft.faces == node).any(axis=1))
    forces, area = mesh._hat(node, triangles)
    corners = soft.nodes[soft.faces[triangles]]
    areas = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0],
                                          corners[:, 2] - corners[:, 0]), axis=1)
    centres = (corners.sum(axis=1) + soft.nodes[node]) / 4.0
    np.testing.assert_allclose(area, areas.sum())
    np.testing.assert_allclose(forces.sum(), 1.0)
    np.testing.assert_allclose(forces @ mesh._quadratic.points, areas @ centres / area,
                               atol=1e-15)


def test_what_presses_on_an_edge_presses_on_the_face_towards_it():
    soft = block((3, 3, 3), 0.02)
    mesh = MeshCompliance(soft, POISSON_RATIO)
    edge = int(np.flatnonzero((soft.nodes == [0.02, 0.0, 0.06]).all(axis=1))[0])
    inside = int(np.flatnonzero((soft.nodes == [0.02, 0.02, 0.06]).all(axis=1))[0])
    one = np.ones(1)
    near, _ = mesh.compliances(
        [Press(np.array([node]), one, np.array(normal))
         for node, normal in ((edge, (0.0, 0.0, 1.0)), (edge, (0.0, -1.0, 0.0)),
                              (inside, (0.0, 0.0, 1.0)))])
    up, side, middle = np.diag(near)
    # Half of the triangles, but for how the diagonals run.
    assert up > 1.2 * middle and side > 1.2 * middle


def test_a_bar_on_three_points_yields_more_than_its_tetrahedra():
    soft = block((12, 2, 2), 0.01)
    mesh = MeshCompliance(soft, POISSON_RATIO)

    def press(x, z):
        nodes = np.flatnonzero(np.isclose(soft.nodes[:, 0], x) & np.isclose(soft.nodes[:, 2], z))
        return Press(nodes, np.full(len(nodes), 1.0 / len(nodes)),
                     np.array([0.0, 0.0, 1.0 if z > 0.0 else -1.0]))

    presses, forces = [press(0.0, 0.0), press(0.06, 0.02), press(0.12, 0.0)], [1.0, 2.0, 1.0]
    near, excess = mesh.compliances(presses)
    np.testing.assert_allclose(excess, excess.T, atol=1e-9 * abs(excess).max())
    # Tetrahedra alone bend by 0.7 of Timoshenko's way, which quadratic ones do.
    inertia, area, half, shear = 0.02**4 / 12.0, 0.02**2, 0.06, 1.0 / 2.6
    bends = 2.0 * (half**3 / (3.0 * inertia) + half / (13.0 / 15.3 * shear * area))
    lacking = -np.array(forces) @ excess @ forces
    assert 0.2 * bends < lacking < 0.5 * bends
    assert (np.diag(near) > 0.0).all()


def test_the_same_pressed_on_again_is_the_same():
    soft = soft_ball(0.04, 3)
    rng, mesh = np.random.default_rng(1), MeshCompliance(soft, POISSON_RATIO)
    outer = np.unique(soft.faces)
    presses = []
    for _ in range(6):
        nodes = rng.choice(outer, 3, replace=False)
        presses.append(Press(nodes, rng.dirichlet(np.ones(3)),
                             soft.nodes[nodes[0]] / np.linalg.norm(soft.nodes[nodes[0]])))
    whole = mesh.compliances(presses)
    for fresh in (mesh, MeshCompliance(soft, POISSON_RATIO)):
        for some, all_of_it, rtol in zip(fresh.compliances(presses[::-1][:3]), whole,
                                         (1e-9, 1e-6)):
            np.testing.assert_allclose(some, all_of_it[::-1, ::-1][:3, :3], rtol=rtol,
                                       atol=1e-3 * rtol * abs(all_of_it).max())
