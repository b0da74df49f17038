"""Moduli and laws found again from curves that were computed with them."""

from block_cases import squeezed_block
import numpy as np
from numpy.testing import assert_allclose
import pytest

from gripsim_ros.core.bodies import Material
from gripsim_ros.core.errors import TaskError
from gripsim_ros.core.mechanics.finite_strain.calibration import (
    calibrate_from_curves, MeasuredCurve)
from gripsim_ros.core.mechanics.finite_strain.squeezing import squeeze_body

BODY = squeezed_block()


def curve_of(modulus, way, law='neo_hookean', values=(), nu=0.45, noise=0.0):
    """Return a computed curve as if it were measured."""
    material = Material(modulus, nu, 1e3, 0.5, law=law, law_parameters=values)
    points = squeeze_body(BODY, material, way, 8, False).curve
    rng = np.random.default_rng(0)
    forces = np.array([point.force for point in points])
    return MeasuredCurve(np.array([point.way for point in points]),
                         forces * (1.0 + noise * rng.normal(size=8)), 'made')


def plain(law='neo_hookean', values=(), nu=0.45):
    """Return what is known before a calibration."""
    return Material(1.0, nu, 1e3, 0.5, law=law, law_parameters=values)


def test_moduli_are_found_again_with_their_scatter():
    curves = [curve_of(modulus, 0.001) for modulus in (9e4, 1e5, 1.1e5)]
    found = calibrate_from_curves(BODY, curves, plain(), 0.05, False)
    assert_allclose(found.moduli, [9e4, 1e5, 1.1e5], rtol=2e-3)
    assert_allclose(found.material.youngs_modulus, 1e5, rtol=2e-3)
    assert_allclose(found.standard_error, 1e4 / np.sqrt(3), rtol=0.02)
    assert_allclose(found.material.modulus_spread, 0.1, rtol=0.02)
    assert found.material.max_strain == 0.05 and found.points == 24


def test_one_curve_tells_its_error_by_the_misfit_and_no_spread():
    found = calibrate_from_curves(BODY, [curve_of(1e5, 0.001, noise=0.05)], plain(), 0.05, False)
    assert 0.01 < found.misfit < 0.1
    assert_allclose(found.standard_error, found.misfit * found.material.youngs_modulus)
    assert found.material.modulus_spread == 0.0


def test_the_exponent_of_ogdens_law_is_found_again():
    made = curve_of(1e5, 0.008, 'ogden', (-4.0,))
    found = calibrate_from_curves(BODY, [made], plain('ogden', (2.0,)), 0.4, False)
    assert_allclose(found.material.law_parameters, [-4.0], atol=0.3)
    assert_allclose(found.material.youngs_modulus, 1e5, rtol=0.03)
    assert found.misfit < 0.01


@pytest.mark.parametrize('scale, said', [
    (30.0, 'more than the object is thick'), (0.1, 'far below'), (0.0, 'has 0 points')])
def test_ways_in_a_wrong_unit_are_told(scale, said):
    ways = np.linspace(0.0, 0.001, 20)
    with pytest.raises(TaskError, match=said):
        calibrate_from_curves(BODY, [MeasuredCurve(scale * ways, 1e3 * ways, 'x.csv')], plain(),
                              0.05, False)


def test_a_falling_curve_gives_no_modulus():
    ways = np.linspace(0.0, 0.001, 20)
    with pytest.raises(TaskError, match='no modulus above 0'):
        calibrate_from_curves(BODY, [MeasuredCurve(ways, -ways)], plain(), 0.05, False)


def test_a_calibration_can_be_stopped():
    with pytest.raises(TaskError, match='stopped'):
        calibrate_from_curves(BODY, [curve_of(1e5, 0.001)], plain(), 0.05, False,
                              lambda trial: False)
