"""The referee of whole grips: its elements, its links, and a ball between two balls."""

from benchmarks.finite_elements.whole_grip import (
    ball_reach, Link, mesh_reach, QuadraticElements, rigid_motions, WholeGrip)
import numpy as np
from numpy.testing import assert_allclose
import pytest
import trimesh

from gripsim_ros.core.bodies import Material, shapes

MODULUS, RATIO = 2e5, 0.3
RTOL_ROUNDOFF, ATOL_ROUNDOFF = 1e-10, 1e-12
#: Of the force, tetrahedra of two thirds of the contact's radius against fine quadratic triangles.
RTOL_COARSE = 0.06


def _one_element():
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.2, 0.9, 0.1], [0.1, 0.3, 0.8]])
    volume = abs(np.linalg.det(corners[1:] - corners[0])) / 6.0
    elements = QuadraticElements(corners, np.arange(4)[None])
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


@pytest.mark.nightly
def test_a_ball_between_two_balls():
    """The force is that of quadratic triangles round the axis, docs/validation, 22.04 N."""
    pytest.importorskip('pypardiso')
    pytest.importorskip('skfem')
    pytest.importorskip('pytetwild')
    links = [Link(str(way), ball_reach([0.0, 0.0, 0.047 * way], 0.01)) for way in (-1, 1)]
    grip = WholeGrip(shapes.sphere(0.04, 3e-3), Material(1e6, 0.3, 500.0, 0.5), links, 3e-3)
    for sticking in (False, True):
        assert_allclose(grip.press(sticking).sizes, 22.04, rtol=RTOL_COARSE)
