"""Squeezed blocks against theory: uniaxial compression to half, ends that stick, what is told."""

from dataclasses import replace

from block_cases import block_solid, squeezed_block
import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.optimize import brentq

from gripsim_ros.core.bodies import Material, shapes
from gripsim_ros.core.errors import TaskError
from gripsim_ros.core.mechanics.finite_strain import squeezing as sq


def material(nu=0.499, **more):
    """Return a soft material of 100 kPa."""
    return Material(1e5, nu, 1e3, 0.5, **more)


def uniaxial_force(shortened, nu, area):
    """
    Return the force of a compressible neo-Hookean bar of 100 kPa by its principal stresses.

    P = mu (l - 1 / l) + lambda / 2 (J^2 - 1) / l along each axis, zero across.
    """
    mu, lame, length = 1e5 / (2 * (1 + nu)), 1e5 * nu / ((1 + nu) * (1 - 2 * nu)), 1 - shortened

    def stress(stretch, J):
        return mu * (stretch - 1 / stretch) + lame / 2 * (J ** 2 - 1) / stretch
    wide = brentq(lambda t: stress(t, t * t * length), 0.9, 2.0)
    return -area * stress(length, wide ** 2 * length)


@pytest.mark.parametrize('nu', [0.0, 0.3, 0.45, 0.499])
def test_uniaxial_compression_to_half_follows_theory(nu):
    result = sq.squeeze_body(squeezed_block(), material(nu, max_strain=0.6), 0.01, 5, False)
    forces = [point.force for point in result.curve]
    theory = [uniaxial_force(point.way / 0.02, nu, 4e-4) for point in result.curve]
    assert_allclose(forces, theory, rtol=0.02)
    assert result.quantitative and not result.warnings
    if nu > 0.49:   # the closed form of a body that keeps its volume
        stretch = 1 - np.array([point.way for point in result.curve]) / 0.02
        assert_allclose(forces, 1e5 * 4e-4 * (stretch ** -2 - stretch) / 3, rtol=0.03)
    assert_allclose(result.curve[-1].way, 0.01)
    assert_allclose(result.strain, 0.5, atol=0.02)
    widened = np.ptp(result.vertices[:, :2], axis=0).prod()
    assert_allclose(result.curve[-1].area, widened, rtol=0.05)


def test_a_prism_keeps_even_where_a_surface_of_rubber_could_crease():
    """From 44 % on its elements would fold, and bear a third less."""
    body = replace(squeezed_block(cells=(2, 2, 2)), is_prism=True)
    result = sq.squeeze_body(body, material(max_strain=0.7), 0.0116, 4, False)
    stretch = 1 - np.array([point.way for point in result.curve]) / 0.02
    assert_allclose([point.force for point in result.curve],
                    1e5 * 4e-4 * (stretch ** -2 - stretch) / 3, rtol=0.02)
    assert result.quantitative


@pytest.mark.parametrize('mesh, is_prism', [
    (shapes.box([0.02, 0.02, 0.02]), True), (shapes.sphere(0.01, 0.004), False),
    (shapes.cylinder(0.01, 0.02), True), (shapes.cone(0.01, 0.02), False)])
def test_prisms_are_known_by_their_volume(monkeypatch, mesh, is_prism):
    monkeypatch.setattr(sq, 'mesh_body', lambda *_: block_solid())
    body = sq.SqueezedBody.of_mesh(mesh, np.array([0.0, 0.0, 1.0]), 0.002)
    assert body.is_prism is is_prism


def test_ends_that_stick_are_stiffer():
    body = squeezed_block(cells=(2, 2, 2))
    forces = [sq.squeeze_body(body, material(0.45), 0.001, 1, bonded).curve[0].force
              for bonded in (False, True)]
    assert forces[1] > 1.1 * forces[0]


def test_the_law_ends_where_its_data_end():
    body = squeezed_block()
    told = sq.squeeze_body(body, material(0.3, max_strain=0.02), 0.001, 1, False)
    assert not told.quantitative and 'up to which the law was measured' in told.warnings[0]
    unstated = sq.squeeze_body(body, material(0.3), 0.001, 1, False)
    assert unstated.quantitative


def test_a_squeeze_can_be_stopped():
    seen = []
    result = sq.squeeze_body(squeezed_block(), material(0.3), 0.002, 4, False,
                             lambda point: seen.append(point) or len(seen) < 2)
    assert len(result.curve) == 2 and not result.quantitative
    assert result.curve == tuple(seen)


@pytest.mark.parametrize('axis, way, said', [
    ((0.0, 0.0, 0.0), 0.01, 'axis must be'), ((0.0, 0.0, 1.0), 0.0, 'way must be'),
    ((0.0, 0.0, 1.0), 0.05, 'at most 0.8 of the thickness')])
def test_bad_ways_and_axes_are_refused(axis, way, said):
    with pytest.raises(TaskError, match=said):
        sq.SqueezedBody.of_mesh(shapes.box([0.02, 0.02, 0.02]), np.array(axis), way)


def test_no_steps_are_refused():
    with pytest.raises(TaskError, match='steps must be 1 or more'):
        sq.squeeze_body(squeezed_block(), material(), 0.001, 0, False)
