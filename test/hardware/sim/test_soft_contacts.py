"""Soft objects of the simulated hand yield where a link touches them as Hertz says."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ellipe, ellipk

from benchmarks.hardware.flex_indentation import FlexPress, soft_ball, structured, way_of_balls
from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.contact.geometry.contact_mesh import ContactMesh
from gripsim_ros.core.contact.geometry.ray_casting import direction_frame
from gripsim_ros.hardware.sim.soft_contacts import hertz_stiffness, surface_bend, surface_edges
from gripsim_ros.hardware.sim.solids import node_masses, outer_faces, tetrahedron_volumes
from gripsim_ros.hardware.sim.world_model import SoftMesh

RADIUS, DISC = 0.04, 0.005
#: Facets of 4 mm and discs that are not small beside the radius.
RTOL_BEND = 0.03
#: Johnson says of his eq. 4.32 that it is as good as 3 % up to ratios of 25.
RTOL_JOHNSON = 0.03
#: Of ways between two forces: nodes' compliance is known to 15 %, and finite strains.
RTOL_WAY = 0.1
MODULUS = 2e5
#: Ways of each pad [m].
DEPTHS = (4e-4, 8e-4, 1.6e-3)


@pytest.mark.parametrize('side', [1.0, -1.0], ids=['above', 'below'])
def test_a_ball_bends_by_one_over_its_radius(side, rng):
    mesh = ContactMesh(shapes.sphere(RADIUS, 0.004, 0.2))
    frame = direction_frame(rng.normal(size=3))
    bend = surface_bend(mesh, side * RADIUS * frame[2], frame, side, DISC)
    np.testing.assert_allclose(bend, -side / RADIUS * np.eye(2), atol=RTOL_BEND / RADIUS)


def test_a_cylinder_bends_one_way_and_a_plane_not():
    mesh = ContactMesh(shapes.cylinder(RADIUS, 0.2, 64))
    frame = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
    bend = surface_bend(mesh, np.array([-RADIUS, 0.0, 0.01]), frame, 1.0, DISC)
    np.testing.assert_allclose(bend, np.diag([0.0, -1.0 / RADIUS]), atol=RTOL_BEND / RADIUS)
    flat = surface_bend(mesh, np.array([0.0, 0.0, 0.1]), np.eye(3), 1.0, DISC)
    np.testing.assert_allclose(flat, 0.0, atol=RTOL_BEND / RADIUS)


def test_where_there_is_hardly_a_surface_a_small_tip_is_assumed():
    mesh = ContactMesh(shapes.cylinder(0.001, 0.2, 12))
    bend = surface_bend(mesh, np.array([0.0, 0.0, 0.1]), np.eye(3), 1.0, DISC)
    assert bend[0, 0] < -1.0 / RADIUS and bend[1, 1] < -1.0 / RADIUS


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


@pytest.mark.parametrize('ratio', [1.001, 3.0, 10.0, 25.0])
def test_force_over_depth_is_that_of_hertz(ratio):
    plane_modulus, low, force = 1e6, 20.0, 2.0
    stiffness = hertz_stiffness(plane_modulus, np.diag([ratio * low, low]))
    depth = depth_of_ellipse(force, plane_modulus, ratio * low, low)
    np.testing.assert_allclose((force / stiffness) ** (2.0 / 3.0), depth, rtol=RTOL_JOHNSON)


def test_edges_are_those_of_the_surface():
    soft = soft_ball(RADIUS, 3)
    outer = np.unique(soft.faces)
    edges = surface_edges(soft)
    corners = soft.nodes[soft.faces]
    sides = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)
    assert (edges[outer] > 0.7 * sides.min()).all() and (edges[outer] < sides.max()).all()


@pytest.mark.slow
@pytest.mark.parametrize('pad_radius', [0.01, 0.14], ids=['small', 'as flat as a fingertip'])
def test_a_ball_of_large_tetrahedra_yields_between_balls_as_one_that_has_none(pad_radius):
    pytest.importorskip('mujoco')
    mesh, soft = shapes.sphere(RADIUS, 0.005), soft_ball(RADIUS, 3)
    shares = {}
    for yielding in (False, True):
        press = FlexPress(mesh, soft, MODULUS, 'ball', yielding=yielding, pad_radius=pad_radius)
        ways = way_of_balls([one.force for one in press.press(DEPTHS)], RADIUS, MODULUS,
                            pad_radius)
        shares[yielding] = np.diff(ways) / np.diff(DEPTHS)
    np.testing.assert_allclose(shares[True], 1.0, rtol=RTOL_WAY)
    assert (abs(shares[False] - 1.0) > 1.5 * RTOL_WAY).any()      # tetrahedra alone do not


@pytest.mark.filterwarnings('error')
def test_an_object_of_few_nodes_yields_too():
    """MuJoCo keeps the rows of so small a model in another form, if it is not told."""
    pytest.importorskip('mujoco')
    nodes, corners = structured([np.array([-RADIUS, RADIUS])] * 3)
    turned = tetrahedron_volumes(nodes, corners) < 0.0
    corners[turned, :2] = corners[turned, 1::-1]
    soft = SoftMesh(nodes, corners, outer_faces(corners), node_masses(nodes, corners, 1.0))
    press = FlexPress(shapes.box((2 * RADIUS,) * 3), soft, MODULUS, 'ball', yielding=True)
    first, second = press.press([5e-4, 1e-3])
    assert 0.0 < first.force < second.force
