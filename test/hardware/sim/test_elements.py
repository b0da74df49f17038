"""Elements of a free elastic body stretch and bend as theory says, linear ones too little."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.hardware.flex_indentation import structured
from gripsim_ros.hardware.sim.elements import (
    _balanced_loads, ElasticElements, PLACES, stiffening)
from gripsim_ros.hardware.sim.solids import outer_faces

#: Corners of the six tetrahedra of a cube (Kuhn), by their ways from 0 to 7.
CUBE = np.array([[0, 4, 6, 7], [0, 4, 5, 7], [0, 2, 6, 7], [0, 2, 3, 7], [0, 1, 5, 7],
                 [0, 1, 3, 7]])
POISSON_RATIO = 0.3
#: Of a bar along x [m].
LENGTH, SIDE = 0.12, 0.02


def bar(along=12, across=4):
    """Return nodes and tetrahedra of a bar about the origin."""
    half = 0.5 * SIDE
    return structured([np.linspace(-0.5 * LENGTH, 0.5 * LENGTH, along + 1),
                       np.linspace(-half, half, across + 1), np.linspace(-half, half, across + 1)])


def elements_of(quadratic, **counts):
    return ElasticElements(*bar(**counts), POISSON_RATIO, quadratic)


def pressed(elements, places, forces):
    """Return loads (3n, 1) of forces along z [N] on all nodes of sections at places along x."""
    loads = np.zeros((len(elements.points), 3))
    for x, force in zip(places, forces):
        section = np.isclose(elements.points[:, 0], x)
        loads[section, 2] = force / section.sum()
    return loads.reshape(-1, 1)


@pytest.mark.parametrize('quadratic', [False, True])
def test_a_bar_stretches_as_theory_says(quadratic):
    """Even traction on both ends: strain is the same everywhere, and either element has it."""
    nodes, corners = bar(along=4, across=2)
    elements = ElasticElements(nodes, corners, POISSON_RATIO, quadratic)
    faces = outer_faces(corners)
    loads = np.zeros((len(elements.points), 3))
    for sign in (-1.0, 1.0):
        end = faces[np.isclose(nodes[faces][:, :, 0], sign * 0.5 * LENGTH).all(axis=1)]
        sides = end[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
        bears = elements.middles(sides) if quadratic else end.ravel()
        np.add.at(loads[:, 0], bears, sign / len(bears))
    moved = elements.displacements(loads.reshape(-1, 1)).reshape(-1, 3)
    strain = 1.0 / SIDE**2
    np.testing.assert_allclose(
        moved, strain * elements.points * [1.0, -POISSON_RATIO, -POISSON_RATIO],
        atol=1e-5 * strain * LENGTH)


def test_a_bar_on_three_points_bends_as_timoshenko_says_if_elements_are_quadratic():
    places, forces = (-0.5 * LENGTH, 0.0, 0.5 * LENGTH), np.array([1.0, -2.0, 1.0])
    half, inertia, area = 0.5 * LENGTH, SIDE**4 / 12.0, SIDE**2
    shear = 1.0 / (2.0 * (1.0 + POISSON_RATIO))
    # Two cantilevers with 1 N at their ends; Cowper's shear factor of a rectangle.
    factor = 10.0 * (1.0 + POISSON_RATIO) / (12.0 + 11.0 * POISSON_RATIO)
    work = 2.0 * (half**3 / (3.0 * inertia) + half / (factor * shear * area))
    found = {}
    for quadratic in (False, True):
        elements = elements_of(quadratic)
        loads = pressed(elements, places, forces)
        found[quadratic] = float((loads * elements.displacements(loads)).sum())
    np.testing.assert_allclose(found[True], work, rtol=0.02)
    assert found[False] < 0.85 * work


@pytest.mark.parametrize('quadratic', [False, True])
def test_nothing_moves_as_a_whole_whatever_pushes(quadratic):
    elements = elements_of(quadratic, along=4, across=2)
    loads = np.random.default_rng(0).normal(size=(3 * len(elements.points), 2))
    moved = elements.displacements(loads).reshape(-1, 3, 2)
    size = abs(moved).max()
    assert abs(moved.mean(axis=0)).max() < 1e-9 * size
    assert abs(np.cross(elements.points[..., None], moved, axis=1).mean(axis=0)).max() \
        < 1e-9 * size * LENGTH


def test_middles_of_sides_are_found_by_their_ends():
    elements = elements_of(True, along=2, across=1)
    corners = elements.members[:, :4]
    sides = corners[:, [3, 1]]
    np.testing.assert_allclose(elements.points[elements.middles(sides)],
                               elements.points[sides].mean(axis=1), atol=1e-15)


def cubes(counts, size=0.01):
    """Return nodes and tetrahedra of a bar of ``counts`` cubes along x, y and z."""
    x, y, z = (np.arange(n + 1) for n in counts)
    nodes = size * np.stack(np.meshgrid(x, y, z, indexing='ij'), axis=-1).reshape(-1, 3)
    number = np.arange(len(nodes)).reshape(len(x), len(y), len(z))
    corners = np.stack([number[a:a + counts[0], b:b + counts[1], c:c + counts[2]].ravel()
                        for a in (0, 1) for b in (0, 1) for c in (0, 1)], axis=1)
    return nodes.astype(float), corners[:, CUBE].reshape(-1, 4)


def test_finer_tetrahedra_are_less_too_stiff():
    found = [stiffening(*cubes((8 * n, n, n), 0.02 / n), 0.3) for n in (1, 2, 4)]
    assert 3.0 > found[0] > found[1] > found[2] > 1.0
    # The error of linear elements falls with the square of their size.
    np.testing.assert_allclose((found[1] - 1.0) / (found[2] - 1.0), 4.0, rtol=0.25)


def test_slender_bars_are_worse_than_cubes():
    slender, cube = (stiffening(*cubes((n, 2, 2)), 0.3) - 1.0 for n in (12, 2))
    assert slender > 1.25 * cube


@pytest.mark.parametrize('poisson_ratio', [0.0, 0.3, 0.45])
def test_size_and_place_do_not_matter(poisson_ratio):
    nodes, corners = cubes((4, 2, 2))
    turned = 3.0 * nodes @ Rotation.from_euler('z', 90, degrees=True).as_matrix().T + [1, 2, 3]
    np.testing.assert_allclose(stiffening(turned, corners, poisson_ratio),
                               stiffening(nodes, corners, poisson_ratio), rtol=1e-6)


def test_loads_balance():
    nodes, corners = cubes((4, 2, 1))
    points = PLACES @ nodes[corners]
    volume = np.ptp(nodes, axis=0).prod() / len(corners) / 4.0
    loads = _balanced_loads(points, np.full(points.shape[:2], volume))
    assert abs(loads).max() > 0.0
    for pushes in (loads, np.cross(points, loads)):
        assert abs(pushes.sum(axis=(1, 2))).max() < 1e-12 * abs(loads).sum()
