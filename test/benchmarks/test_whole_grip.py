"""The referee of whole grips: its elements, its links, and a ball between two balls."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
import trimesh

from gripsim_ros.core.bodies import Material, shapes

pytest.importorskip('skfem', reason='finite elements need scikit-fem: run `make bench-setup`')

from benchmarks.finite_elements.quadratic_tetrahedra import QuadraticTetrahedra  # noqa: E402
from benchmarks.finite_elements.rims import ball_reach, mesh_reach  # noqa: E402
from benchmarks.finite_elements.whole_grip import (  # noqa: E402
    hertzian_area, Link, rigid_motions, WholeGrip)
from benchmarks.finite_elements.soft_bodies import outside, way_outside  # noqa: E402

MODULUS, RATIO = 2e5, 0.3
RTOL_ROUNDOFF, ATOL_ROUNDOFF = 1e-10, 1e-12
#: Of the force, tetrahedra of two thirds of the contact's radius against fine quadratic triangles.
RTOL_COARSE = 0.06
#: Sums over a grid of 400 points across.
RTOL_GRID = 1e-3


def _one_element():
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.2, 0.9, 0.1], [0.1, 0.3, 0.8]])
    volume = abs(np.linalg.det(corners[1:] - corners[0])) / 6.0
    elements = QuadraticTetrahedra(corners, np.arange(4)[None])
    return (elements.places, volume,
            elements.stiffness(Material(MODULUS, RATIO, 1e3, 0.5)).toarray())


def test_rigid_motions_cost_nothing():
    places, _, stiffness = _one_element()
    motions = rigid_motions(places).reshape(30, 6)
    assert_allclose(stiffness @ motions, 0.0, atol=ATOL_ROUNDOFF * MODULUS)


@pytest.mark.parametrize('field', [
    [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
    [[0.3, 0.5, -0.2], [0.1, -0.4, 0.6], [0.7, 0.2, 0.9]]])
def test_energy_of_an_even_strain(field):
    places, volume, stiffness = _one_element()
    strain = 0.5 * (np.array(field) + np.transpose(field))
    shear = MODULUS / (2.0 * (1.0 + RATIO))
    first = 2.0 * shear * RATIO / (1.0 - 2.0 * RATIO)
    density = 0.5 * first * np.trace(strain) ** 2 + shear * (strain ** 2).sum()
    moves = (places @ np.transpose(field)).ravel()
    assert_allclose(0.5 * moves @ stiffness @ moves, density * volume, rtol=RTOL_ROUNDOFF)


def test_energy_of_a_growing_strain():
    places, volume, stiffness = _one_element()
    moves = np.zeros((10, 3))
    moves[:, 0] = places[:, 0] ** 2
    shear = MODULUS / (2.0 * (1.0 + RATIO))
    stretch = 2.0 * shear * (1.0 + RATIO / (1.0 - 2.0 * RATIO))
    x = places[:4, 0]
    mean_square = (x.sum() ** 2 + (x ** 2).sum()) / 20.0
    assert_allclose(0.5 * moves.ravel() @ stiffness @ moves.ravel(),
                    0.5 * stretch * 4.0 * mean_square * volume, rtol=RTOL_ROUNDOFF)


def test_the_way_out_of_a_mesh():
    reach = mesh_reach(trimesh.creation.box((0.2, 0.2, 0.02)))
    deep, out = reach(np.array([[0.01, 0.02, 0.008], [0.03, 0.0, -0.012]]))
    assert_allclose(deep, [0.002, -0.002], atol=ATOL_ROUNDOFF)
    assert_allclose(out, [[0, 0, 1], [0, 0, -1]], atol=1e3 * ATOL_ROUNDOFF)


def test_the_integrals_of_the_shapes_make_the_volume():
    places, volume, _ = _one_element()
    elements = QuadraticTetrahedra(places[:4], np.arange(4)[None])
    assert_allclose(elements.volumes.sum(), volume, rtol=RTOL_ROUNDOFF)
    # The middle is found by linear functions, and the mean square of x by quadratic ones.
    assert_allclose(elements.volumes @ places, volume * places[:4].mean(axis=0),
                    rtol=RTOL_ROUNDOFF)
    x = places[:4, 0]
    assert_allclose(elements.volumes @ places[:, 0] ** 2,
                    volume * (x.sum() ** 2 + (x ** 2).sum()) / 20.0, rtol=RTOL_ROUNDOFF)


@pytest.mark.parametrize('half_axes', [(3e-3, 3e-3), (5e-3, 2e-3)])
def test_the_area_of_a_pressure_by_hertz(half_axes):
    """Whatever its size and place, of an ellipse in a plane that leans."""
    grid = np.linspace(-1.0, 1.0, 401)
    disc = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    inside = 1.0 - (disc ** 2).sum(axis=1)
    disc, inside = disc[inside > 0.0], inside[inside > 0.0]
    turn = np.linalg.qr(np.arange(9.0).reshape(3, 3) + np.eye(3))[0]
    points = np.column_stack([disc * half_axes, np.zeros(len(disc))]) @ turn + [0.1, -0.2, 0.3]
    assert_allclose(hertzian_area(points, 7.0 * np.sqrt(inside)), np.pi * np.prod(half_axes),
                    rtol=RTOL_GRID)


@pytest.mark.parametrize('value, off', [(1.5, 0.0), (2.2, 0.1), (0.9, -0.1)])
def test_what_lies_between_two_bounds_is_not_off(value, off):
    assert_allclose(outside(np.array([value]), [[1.0], [2.0]]), off, atol=ATOL_ROUNDOFF)


def test_the_worst_of_some_is_told():
    assert outside(np.array([1.1, 0.5]), [[1.0, 1.0], [1.0, 1.0]]) == -0.5


@pytest.mark.parametrize('point, way', [
    ([0.5, 2.0, 0.0], 2.0), ([-3.0, 0.0, 4.0], 5.0), ([4.0, 4.0, 0.0], 5.0)])
def test_the_way_to_a_segment(point, way):
    assert_allclose(way_outside(np.array(point), np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])),
                    way)


@pytest.mark.nightly
def test_a_ball_between_two_balls():
    """The force is that of quadratic triangles round the axis, docs/validation, 22.04 N."""
    pytest.importorskip('pypardiso')
    pytest.importorskip('pytetwild')
    links = [Link(str(way), ball_reach([0.0, 0.0, 0.047 * way], 0.01)) for way in (-1, 1)]
    grip = WholeGrip(shapes.sphere(0.04, 3e-3), Material(1e6, 0.3, 500.0, 0.5), links, 3e-3)
    for sticking in (False, True):
        assert_allclose(grip.press(sticking).sizes, 22.04, rtol=RTOL_COARSE)
