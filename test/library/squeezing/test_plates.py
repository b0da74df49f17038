"""The front door of squeezing: arguments that are refused, files that can be read again."""

import numpy as np
from numpy.testing import assert_allclose
import pytest

import gripsim_ros
from gripsim_ros.core.bodies import GraspObject, load_material, Material, shapes
from gripsim_ros.core.errors import TaskError
from gripsim_ros.core.mechanics.finite_strain.calibration import MeasuredCurve
from gripsim_ros.library.squeezing.plates import (
    calibrate_material, squeeze_object, write_material)

BOX = shapes.box([0.02, 0.02, 0.02])


def test_the_root_offers_both():
    assert gripsim_ros.squeeze_object is squeeze_object
    assert gripsim_ros.calibrate_material is calibrate_material


def test_a_written_material_is_read_again(tmp_path):
    path = tmp_path / 'material.yaml'
    for material in (
            Material(5e4, 0.499, 1e3, 0.6, law='yeoh', law_parameters=(0.1, 0.02),
                     max_strain=0.5, modulus_spread=0.03, source='three curves'),
            Material(5e4, 0.3, 1e3, 0.6, 2e4)):
        write_material(material, path)
        assert load_material(path) == material


def test_bad_asks_are_refused():
    thing = GraspObject(BOX, Material(1e5, 0.3, 1e3, 0.5))
    with pytest.raises(TaskError, match='ends must be sliding or bonded'):
        squeeze_object(thing, 0.001, ends='glued')
    curve = MeasuredCurve(np.linspace(0, 1e-3, 9), np.linspace(0, 1.0, 9))
    with pytest.raises(TaskError, match='max_strain must be above 0'):
        calibrate_material([curve], BOX, max_strain=0.0)
    with pytest.raises(TaskError, match='at least one curve'):
        calibrate_material([], BOX)


@pytest.mark.nightly     # by day the command line measures one
def test_a_block_is_measured_as_it_was_made():
    pytest.importorskip('pytetwild', reason='the mesher is of the extra `sim`')
    made = squeeze_object(GraspObject(BOX, Material(2e5, 0.45, 1e3, 0.5)), 0.001, steps=8,
                          axis=(1.0, 0.0, 0.0))
    curve = MeasuredCurve(np.array([point.way for point in made.curve]),
                          np.array([point.force for point in made.curve]))
    found = calibrate_material([curve], BOX, axis=(1.0, 0.0, 0.0), poisson_ratio=0.45)
    assert abs(found.material.youngs_modulus / 2e5 - 1.0) < 0.01


@pytest.mark.nightly
@pytest.mark.parametrize('nu, reference', [(0.3, 9.84), (0.45, 11.3)])
def test_a_balls_force_between_plates_is_right_from_the_first_point_on(nu, reference):
    """
    A ball of 40 mm radius and 1 MPa, each plate 1 mm in: an axisymmetric referee's numbers.

    At small ways it is Hertz's, of which elements larger than the contact told 1.4 times.
    """
    pytest.importorskip('pytetwild', reason='the mesher is of the extra `sim`')
    thing = GraspObject(shapes.sphere(0.04, 0.005), Material(1e6, nu, 1e3, 0.5))
    curve = squeeze_object(thing, 0.002, steps=5).curve
    assert_allclose(curve[-1].force, reference, rtol=0.02)
    ways = np.array([point.way for point in curve])
    hertz = 4.0 / 3.0 * 1e6 / (1.0 - nu ** 2) * np.sqrt(0.04) * (0.5 * ways) ** 1.5
    assert_allclose([point.force for point in curve][:2], 1.03 * hertz[:2], rtol=0.06)
    # Faces of elements ripple about the plate.
    assert_allclose([point.area for point in curve], 0.5 * np.pi * 0.04 * ways, rtol=0.35)
