"""Random bodies of the hold suite are what planning asks of bodies, and the same again."""

from benchmarks.hold.random_bodies import FRICTION, KINDS, MASSES, random_body
from gripsim_ros.core.bodies import GraspObject, mass_properties
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest

#: A sheared prism is the longest: its height and how far it leans.
LONGEST = 0.2
ATOL_CENTRE = 1e-9


@pytest.mark.parametrize('number', range(2 * len(KINDS)))
def test_a_random_body_is_closed_centred_and_as_heavy_as_said(number):
    name, mesh, mass, material = random_body(7, number)
    found = mass_properties(mesh, material.density)
    assert name.split()[-1] in tuple(KINDS)[number % len(KINDS)]
    assert_allclose(found.mass, mass, rtol=1e-9)
    assert MASSES[0] <= mass <= MASSES[1] and FRICTION[0] <= material.friction <= FRICTION[1]
    assert_allclose(found.centre_of_mass, 0.0, atol=ATOL_CENTRE)
    assert np.ptp(mesh.vertices, axis=0).max() < LONGEST
    assert len(GraspObject(mesh, material).mesh.faces)
    again = random_body(7, number)
    assert_array_equal(again[1].vertices, mesh.vertices)
    assert not np.array_equal(random_body(8, number)[1].vertices, mesh.vertices)
