"""Mass properties against closed forms and the laws of rigid motion."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.spatial.transform import Rotation

from gripsim_ros.core import transforms
from gripsim_ros.core.bodies import TriangleMesh, mass_properties, shapes
from gripsim_ros.core.bodies.mass import third_moment
from gripsim_ros.core.bodies.shapes.sweeps import arc, revolve
from gripsim_ros.core.errors import MaterialError, MeshError

RTOL_ROUNDOFF = 1e-12
#: Coordinates ten metres away carry absolute errors of 1e-15 m on bodies of 0.04 m.
RTOL_FAR_AWAY = 1e-10
RTOL_TESSELLATION = 2e-4

vectors = st.tuples(*[st.floats(-1.0, 1.0)] * 3).map(np.array)


def test_box_has_the_textbook_inertia():
    a, b, c = extents = np.array([0.03, 0.05, 0.09])
    properties = mass_properties(shapes.box(extents), 800.0)
    mass = 800.0 * a * b * c
    inertia = mass / 12.0 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b])
    assert_allclose(properties.mass, mass, rtol=RTOL_ROUNDOFF)
    assert_allclose(properties.centre_of_mass, 0.0, atol=1e-17)
    assert_allclose(properties.inertia, inertia, rtol=RTOL_ROUNDOFF, atol=1e-18)


@pytest.mark.parametrize('segments', [3, 4, 7, 64])
def test_centre_of_mass_of_a_pyramid_lies_at_a_quarter_of_its_height(segments):
    height = 0.12
    cone = revolve([[0.0, 0.0], [0.05, 0.0], [0.0, height]], segments)
    centre = mass_properties(cone, 1.0).centre_of_mass
    assert_allclose(centre[2], height / 4.0, rtol=RTOL_ROUNDOFF)


def test_cut_sphere_has_the_centre_of_mass_and_volume_of_the_cap_formula():
    radius, cut = 0.040, 0.006
    rim = np.arccos((radius - cut) / radius)
    angles = np.linspace(-np.pi / 2.0, np.pi / 2.0 - rim, 1500)
    profile = np.concatenate([arc([0.0, 0.0], radius, angles), [[0.0, radius - cut]]])
    profile[0, 0] = 0.0
    cut_sphere = mass_properties(revolve(profile, 400), 1.0)
    whole = 4.0 / 3.0 * np.pi * radius ** 3
    assert_allclose(cut_sphere.centre_of_mass[2], -0.586957e-3, rtol=RTOL_TESSELLATION)
    assert_allclose(1.0 - cut_sphere.volume / whole, 0.016031, atol=RTOL_TESSELLATION)


@settings(max_examples=30, deadline=None)
@given(rotation=vectors, translation=vectors)
def test_mass_properties_turn_and_travel_with_the_body(rotation, translation):
    body = shapes.apple(edge_length=0.02)
    T_a_body = transforms.from_rotation_vector(np.concatenate([translation, 3.0 * rotation]))
    here, there = mass_properties(body, 900.0), mass_properties(
        body.with_transform(T_a_body), 900.0)
    turn = T_a_body[:3, :3]
    assert_allclose(there.mass, here.mass, rtol=RTOL_FAR_AWAY)
    assert_allclose(there.centre_of_mass, turn @ here.centre_of_mass + T_a_body[:3, 3],
                    atol=1e-13)
    assert_allclose(there.inertia, turn @ here.inertia @ turn.T,
                    atol=RTOL_FAR_AWAY * np.trace(here.inertia))


def test_ten_metres_of_offset_cost_no_digits():
    body = shapes.apple(edge_length=0.01)
    offset = np.array([10.0, -10.0, 10.0])
    moved = body.with_vertices(body.vertices + offset)
    here, there = mass_properties(body, 1.0), mass_properties(moved, 1.0)
    assert_allclose(there.volume, here.volume, rtol=RTOL_FAR_AWAY)
    assert_allclose(there.inertia, here.inertia, atol=RTOL_FAR_AWAY * np.trace(here.inertia))


def test_two_bodies_together_have_the_sum_of_mass_and_moment():
    first, second = shapes.box([0.1, 0.1, 0.1]), shapes.sphere(0.03, 0.01)
    second = second.with_vertices(second.vertices + [0.2, 0.0, 0.0])
    both = TriangleMesh(np.concatenate([first.vertices, second.vertices]),
                        np.concatenate([first.faces, second.faces + 8]))
    a, b, ab = (mass_properties(mesh, 1.0) for mesh in (first, second, both))
    assert_allclose(ab.mass, a.mass + b.mass, rtol=RTOL_ROUNDOFF)
    assert_allclose(ab.mass * ab.centre_of_mass,
                    a.mass * a.centre_of_mass + b.mass * b.centre_of_mass, atol=1e-18)


def test_third_moment_of_a_cone_equals_the_integral_over_its_slices():
    height, radius = 0.3, 0.1
    cone = revolve([[0.0, 0.0], [radius, 0.0], [0.0, height]], 5)
    base = mass_properties(cone, 1.0).volume * 3.0 / height
    integral = quad(lambda z: z ** 3 * base * (1.0 - z / height) ** 2, 0.0, height)[0]
    turn = Rotation.from_rotvec([0.3, -0.2, 0.9]).as_matrix()
    turned = cone.triangles @ turn.T
    assert_allclose(third_moment(turned, turn[:, 2]), integral, rtol=1e-9)


def test_an_open_mesh_has_no_mass_properties():
    body = shapes.box([1.0, 1.0, 1.0])
    with pytest.raises(MeshError, match='closed'):
        mass_properties(body.with_faces(body.faces[1:]), 1.0)


def test_a_mesh_turned_inside_out_has_no_mass_properties():
    with pytest.raises(MeshError, match='positive enclosed volume'):
        mass_properties(shapes.box([1.0, 1.0, 1.0]).with_flipped_faces(), 1.0)


@pytest.mark.parametrize('density', [0.0, -1.0, np.nan, np.inf, 'x', None, [1.0, 2.0]])
def test_a_density_that_is_not_positive_is_refused(density):
    with pytest.raises(MaterialError, match='density'):
        mass_properties(shapes.box([1.0, 1.0, 1.0]), density)
