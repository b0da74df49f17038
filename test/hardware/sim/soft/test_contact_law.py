"""Force over depth of a contact of any shape is that of theory where there is one."""

from hypothesis import given, strategies as st
import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ellipe, ellipk

from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.contact.geometry.contact_mesh import ContactMesh
from gripsim_ros.core.contact.geometry.ray_casting import direction_frame
from gripsim_ros.hardware.sim.soft.contact_law import contact_law, lattice, surface_heights

MODULUS, HALF = 1e6, 3.2e-3
#: A dozen loaded nodes across the contact; across the short axis of a narrow one a few.
RTOL, RTOL_NARROW = 0.025, 0.06
RADIUS = 0.04


def depth_of_ellipse(force, plane_modulus, high, low):
    """Hertz, exactly: Johnson 1985, eq. 4.26 with complete elliptic integrals."""
    def misfit(squared):    # of the contact's eccentricity
        k, e = ellipk(squared), ellipe(squared)
        return (e / (1.0 - squared) - k) / (k - e) - high / low
    squared = brentq(misfit, 1e-9, 1.0 - 1e-9)
    k, e = ellipk(squared), ellipe(squared)
    # A + B = (high + low) / 2; with a the long half axis [m], p0 = 3 F / (2 pi a b).
    flat = np.sqrt(1.0 - squared)
    long = (3.0 * force / (2.0 * np.pi * plane_modulus) * 2.0 * (
        (k - e) + (e / (1.0 - squared) - k)) / squared / (high + low)) ** (1.0 / 3.0)
    peak = 1.5 * force / (np.pi * long**2 * flat)
    return peak * long * flat / plane_modulus * k


@pytest.mark.parametrize('ratio', [1.001, 3.0, 10.0])
def test_ellipsoids_bear_what_hertz_says(ratio):
    points, area = lattice(HALF)
    low = 20.0
    law = contact_law(0.5 * (low * points[:, 0]**2 + ratio * low * points[:, 1]**2), points, area,
                      MODULUS)
    inside = law.reaches < 0.9 * HALF
    assert inside.sum() >= 3
    for depth, force in zip(law.depths[inside], law.forces[inside]):
        np.testing.assert_allclose(depth_of_ellipse(force, MODULUS, ratio * low, low) / depth, 1.0,
                                   atol=RTOL if ratio < 10.0 else RTOL_NARROW)


def test_a_cone_bears_what_sneddon_says():
    points, area = lattice(HALF)
    slope = np.tan(np.radians(20.0))
    law = contact_law(slope * np.hypot(*points.T), points, area, MODULUS)
    np.testing.assert_allclose(law.forces, 2.0 * MODULUS * law.depths**2 / np.pi / slope,
                               rtol=RTOL)
    # Sneddon 1965: the contact's radius is 2 d / (pi tan).
    np.testing.assert_allclose(law.reaches, 2.0 * law.depths / np.pi / slope,
                               atol=np.sqrt(area))


def test_a_line_reaches_as_far_however_little_it_bears_a_ball_does_not():
    """A law solved anew on a lattice that shrinks with the force would bear less of a line."""
    points, area = lattice(HALF)
    line = contact_law(20.0 * points[:, 0]**2, points, area, MODULUS)
    ball = contact_law(20.0 * (points**2).sum(axis=1), points, area, MODULUS)
    for law, power in ((line, 0.0), (ball, 1.0 / 3.0)):
        less = law.reach(1e-3 * law.forces[0]) / law.reaches[0]
        assert less == pytest.approx(1e-3**power, rel=0.35)
        for force, reach in zip(law.forces, law.reaches):
            assert law.reach(force) == pytest.approx(reach)


@given(st.floats(0.1, 10.0), st.floats(0.1, 10.0), st.integers(0, 2**32 - 1))
def test_larger_surfaces_bear_more_in_proportion(larger, stiffer, seed):
    points, area = lattice(HALF)
    waves = np.random.default_rng(seed).normal(size=(3, 2)) / HALF
    gaps = 30.0 * (points**2).sum(axis=1) + 1e-5 * np.cos(points @ waves.T).sum(axis=1)
    law = contact_law(gaps, points, area, MODULUS)
    other = contact_law(larger * gaps, larger * points, larger**2 * area, stiffer * MODULUS)
    for depth in np.geomspace(0.3 * law.depths[0], 3.0 * law.depths[-1], 5):
        force = law.force(depth)
        np.testing.assert_allclose(other.force(larger * depth), stiffer * larger**2 * force,
                                   rtol=1e-6)
        np.testing.assert_allclose(other.reach(stiffer * larger**2 * force),
                                   larger * law.reach(force), rtol=1e-6)


def test_a_flat_punch_bears_in_proportion_to_depth():
    """Sneddon 1965: 2 a E* d. The punch is eight nodes wide."""
    points, area = lattice(6.0 * HALF)
    radius = 0.005
    law = contact_law(np.where(np.hypot(*points.T) <= radius, 0.0, np.inf), points, area, MODULUS)
    for depth in (1e-3, 2e-3):
        np.testing.assert_allclose(law.force(depth), 2.0 * radius * MODULUS * depth, rtol=0.12)


@pytest.mark.parametrize('half', [1.2, 2.0, 3.0])
def test_a_punch_bears_as_much_whatever_the_lattice(half):
    """Lattices that end within it, or 16 nodes across: 2 a E* d, of a square 1.153 E* L d."""
    points, area = lattice(half * HALF)
    radius, side = 0.005, np.sqrt(area * len(points))
    law = contact_law(np.where(np.hypot(*points.T) <= radius, 0.0, np.inf), points, area, MODULUS)
    true = 2.0 * radius if half > 1.8 else 1.153 * min(side, radius * np.sqrt(np.pi))
    for depth in (1e-4, 1e-3):
        np.testing.assert_allclose(law.force(depth), true * MODULUS * depth, rtol=0.05)


@pytest.mark.parametrize('half', [0.003, 0.019])
def test_planes_bear_as_a_punch_of_the_lattice(half):
    points, area = lattice(half)
    law = contact_law(np.zeros(len(points)), points, area, MODULUS)
    np.testing.assert_allclose(
        law.force(3e-4), 1.153 * MODULUS * np.sqrt(area * len(points)) * 3e-4, rtol=0.03)


@pytest.mark.parametrize('radius', [0.15, 1.5])
def test_a_fingertip_along_a_plane_bears_what_hertz_says(radius):
    """Curved by 15 mm the short way, hardly the long one: a strip of one to three nodes."""
    points, area = lattice(0.019)
    low, high = 1.0 / radius, 1.0 / 0.015
    law = contact_law(0.5 * (low * points[:, 0]**2 + high * points[:, 1]**2), points, area,
                      MODULUS)
    for force in law.force(2e-5) * np.array([1.0, 2.0, 4.0]):
        depth = brentq(lambda d: law.force(d) - force, 1e-7, 1e-3)
        np.testing.assert_allclose(depth_of_ellipse(force, MODULUS, high, low) / depth, 1.0,
                                   atol=2.0 * RTOL_NARROW)


@pytest.mark.parametrize('step', [0.0, 1e-3], ids=['flat', 'stepped'])
def test_flat_surfaces_have_a_law_too(step):
    points, area = lattice(HALF)
    law = contact_law(np.where(np.hypot(*points.T) < 0.3 * HALF, 0.0, step), points, area, MODULUS)
    assert (np.diff(law.depths) > 0.0).all() and (np.diff(law.forces) > 0.0).all()
    assert law.forces[0] > 0.0 and law.forces[-1] < law.force(5e-3) < np.inf


def test_nothing_is_borne_before_the_surfaces_meet():
    points, area = lattice(HALF)
    law = contact_law((points**2).sum(axis=1), points, area, MODULUS)
    assert law.force(0.0) == law.force(-1e-3) == law.reach(0.0) == 0.0


def test_where_there_is_hardly_a_surface_a_small_tip_is_assumed():
    points, area = lattice(HALF)
    gaps = np.full(len(points), np.inf)
    gaps[:3] = 0.0
    law = contact_law(gaps, points, area, MODULUS)
    depth = law.depths[2]
    np.testing.assert_allclose(law.force(depth), 4.0 / 3.0 * MODULUS * np.sqrt(
        0.5 * HALF * depth**3), rtol=RTOL)


@pytest.mark.parametrize('side', [1.0, -1.0], ids=['above', 'below'])
def test_heights_are_those_of_a_ball_whatever_its_facets(side, rng):
    mesh = ContactMesh(shapes.sphere(RADIUS, 0.004, 0.2))
    frame = direction_frame(rng.normal(size=3))
    flat = rng.uniform(-0.005, 0.005, (200, 2))
    heights = surface_heights(mesh, side * RADIUS * frame[2], frame, flat, side)
    true = side * (np.sqrt(RADIUS**2 - (flat**2).sum(axis=1)) - RADIUS)
    np.testing.assert_allclose(heights, true, atol=2e-6)
    facets = surface_heights(mesh, side * RADIUS * frame[2], frame, flat, side, curved=False)
    assert abs(facets - true).max() > 1e-5


@pytest.mark.parametrize('side', [1.0, -1.0], ids=['above', 'below'])
def test_no_ball_of_few_facets_stands_out_where_it_is_seen_aslant(side, rng):
    """Lines that graze a facet meet what bulges from it far away; its edges sag by 0.4 mm."""
    mesh = ContactMesh(shapes.sphere(RADIUS, 0.012))
    frame = direction_frame(rng.normal(size=3))
    flat = rng.uniform(-RADIUS, RADIUS, (4000, 2))
    flat = flat[np.hypot(*flat.T) < RADIUS]
    heights = side * surface_heights(mesh, np.zeros(3), frame, flat, side)
    assert (heights - np.sqrt(RADIUS**2 - (flat**2).sum(axis=1))).max() < 1e-4


@pytest.mark.parametrize('side', [1.0, -1.0])
def test_beside_a_surface_there_is_none(side):
    mesh = ContactMesh(shapes.box((0.02, 0.02, 0.02)))
    origin = np.array([0.0, 0.0, side * 0.01])
    flat = np.array([[0.0, 0.0], [0.012, 0.0]])
    heights = surface_heights(mesh, origin, np.eye(3), flat, side)
    np.testing.assert_allclose(heights, [0.0, -side * np.inf], atol=1e-12)


@pytest.mark.parametrize('ratio', [1.0, 2.0])
def test_a_ball_rolls_as_it_is_tilted(ratio):
    """A turned ball of radius R touches R times the angle beside; so along both main axes."""
    points, area = lattice(HALF)
    radii, offset = np.array([0.03, 0.03 / ratio]), np.array([2e-4, -3e-4])
    law = contact_law(0.5 * ((points - offset)**2 / radii).sum(axis=1), points, area, MODULUS)
    many = law.reaches > 0.3 * HALF
    assert many.sum() >= 3
    for row in np.flatnonzero(many):
        np.testing.assert_allclose(law.centres[row], offset, atol=0.1 * np.sqrt(area))
        np.testing.assert_allclose(law.rolling[row], np.diag(radii), atol=0.12 * radii[0])
    tilt = np.array([0.01, 0.02])
    for force in law.forces[many]:
        np.testing.assert_allclose(law.moment(force, tilt), force * (offset + radii * tilt),
                                   atol=0.15 * force * radii[0] * tilt[1])


def test_a_flat_punch_resists_a_tilt():
    """Johnson 1985, section 5.9 and Borodachev: a rigid round punch turned, 4/3 E* a^3."""
    points, area = lattice(6.0 * HALF)
    radius, tilt = 0.005, np.array([0.0, 0.01])
    law = contact_law(np.where(np.hypot(*points.T) <= radius, 0.0, np.inf), points, area, MODULUS)
    for force in (law.forces[-1], 2.0 * law.forces[-1]):
        np.testing.assert_allclose(law.moment(force, tilt) / tilt[1],
                                   [0.0, 4.0 / 3.0 * MODULUS * radius**3], rtol=0.25,
                                   atol=1e-3 * MODULUS * radius**3)
