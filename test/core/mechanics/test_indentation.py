"""Single indenters: Hertz and a punch on meshes, a link's pad, refusals."""

from dataclasses import replace

from hypothesis import assume, given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.spatial.transform import Rotation
import trimesh

from gripsim_ros.core.bodies import GraspObject, Material, TriangleMesh, shapes
from gripsim_ros.core.errors import TaskError
from gripsim_ros.core.mechanics import (CylinderIndenter, ElasticBody, indent_body,
                                        LinkIndenter, SphereIndenter)
from gripsim_ros.core.mechanics.deformation.metrics import hertz_stress_ratio
from gripsim_ros.library.resources import load_default_hand
from lattice_cases import hertz_force

RADIUS = 0.04
seeds = st.integers(0, 2 ** 32 - 1)
FOAM = Material(5e5, 0.3, 100.0, 0.5)
SHORT = np.array([0.0, 0.0, -1.0])

#: Force on a facet ball whose edges are 0.07 or 0.14 of its radius.
RTOL_HERTZ = 0.015
#: Of 500 random balls the worst is 2.0 % off.
RTOL_RADIUS = 0.03
RTOL_PUNCH = 0.015
RTOL_FRAME = 1e-6
#: Of a force that a flat box bears, whose top is not much wider than the contact.
RTOL_FLAT = 0.03


def body_of(mesh, material=FOAM):
    """Return a body of a mesh."""
    return ElasticBody(GraspObject(mesh, material))


@pytest.fixture(scope='module')
def ball():
    """Return a ball of 80 mm."""
    mesh = trimesh.creation.icosphere(5, RADIUS)
    return body_of(TriangleMesh(mesh.vertices, mesh.faces))


@pytest.fixture(scope='module')
def coarse_ball():
    """Return a ball of 80 mm of 1,280 triangles."""
    mesh = trimesh.creation.icosphere(3, RADIUS)
    return body_of(TriangleMesh(mesh.vertices, mesh.faces))


@pytest.fixture(scope='module')
def box():
    """Return a box of twelve triangles."""
    return body_of(shapes.box((0.06, 0.05, 0.04)))


@pytest.fixture(scope='module')
def hand():
    """Return the default hand."""
    return load_default_hand()


@given(radius=st.floats(0.01, 0.1), ratio=st.floats(0.1, 3.0), share=st.floats(3e-4, 0.06),
       exponent=st.floats(4.0, 9.0), poisson_ratio=st.floats(0.0, 0.49), seed=seeds)
@settings(max_examples=10)
def test_contact_radius_and_force_of_two_balls_are_those_of_hertz(
        radius, ratio, share, exponent, poisson_ratio, seed):
    material = Material(10.0 ** exponent, poisson_ratio, 500.0, 0.5)
    mesh = trimesh.creation.icosphere(4, radius)
    body = body_of(TriangleMesh(mesh.vertices, mesh.faces), material)
    outward = Rotation.random(random_state=seed).as_matrix()[:, 0]
    relative = 1.0 / (1.0 / radius + 1.0 / (ratio * radius))
    depth = share * relative
    result = indent_body(body, SphereIndenter(ratio * radius), 3.0 * radius * outward, -outward,
                         depth)
    assert_allclose(result.contact_radius, np.sqrt(relative * depth), rtol=RTOL_RADIUS)
    assert_allclose(result.normal_force,
                    hertz_force(material.plane_strain_modulus, relative, depth), rtol=RTOL_HERTZ)


def test_a_ball_pressed_into_a_facet_ball_meets_hertz(ball):
    radius, depth, vertex = 0.01, 1e-3, ball.mesh.vertices[17]
    result = indent_body(ball, SphereIndenter(radius), 3.0 * vertex, -vertex, depth)
    relative = 1.0 / (1.0 / radius + 1.0 / RADIUS)
    force = hertz_force(FOAM.plane_strain_modulus, relative, depth)
    area = np.pi * relative * depth
    assert_allclose(result.normal_force, force, rtol=RTOL_HERTZ)
    assert_allclose(result.contact_radius, np.sqrt(relative * depth), rtol=RTOL_RADIUS)
    assert_allclose(result.peak_pressure, 1.5 * force / area, rtol=2.0 * RTOL_HERTZ)
    assert_allclose(result.strain_energy, 0.4 * force * depth, rtol=2.0 * RTOL_HERTZ)
    assert_allclose(result.max_displacement, depth, rtol=RTOL_HERTZ)
    assert_allclose(result.peak_von_mises, hertz_stress_ratio(0.3) * 1.5 * force / area,
                    rtol=2.0 * RTOL_HERTZ)
    assert 0.0 < result.mean_deformation < result.max_deformation < 1.1 * depth
    assert result.quantitative and result.warnings == ()


def test_the_force_is_along_the_push_and_the_centre_gives_way(ball):
    result = indent_body(ball, SphereIndenter(0.01), [0.0, 0.0, 0.1], 3.0 * SHORT, 2e-3)
    assert_allclose(result.force[:2], 0.0, atol=1e-3 * result.normal_force)
    assert_allclose(result.force[2], -result.normal_force)
    assert result.centre_of_mass[2] < 0.0 and result.volume_change < 0.0
    assert_allclose(result.volume - result.volume_change, ball.mesh.volume, rtol=1e-9)


@pytest.mark.parametrize('offset', [(0.0, 0.0), (3.7e-3, 2.1e-3)])
def test_a_punch_on_a_box_of_twelve_triangles_meets_its_closed_form(box, offset):
    result = indent_body(box, CylinderIndenter(4e-3), [*offset, 0.1], SHORT, 5e-4)
    exact = 2.0 * FOAM.plane_strain_modulus * 4e-3 * 5e-4
    assert_allclose(result.normal_force, exact, rtol=RTOL_PUNCH)
    assert result.quantitative
    assert any('edge of the indenter' in warning for warning in result.warnings)


@given(seed=seeds)
@settings(max_examples=6)
def test_the_answer_turns_with_the_frame(seed):
    rotation = Rotation.random(random_state=seed).as_matrix()
    translation = np.array([0.3, -0.2, 0.5])
    mesh = shapes.box((0.06, 0.05, 0.04))
    at, direction = np.array([3.7e-3, 2.1e-3, 0.1]), np.array([0.05, 0.02, -1.0])
    first = indent_body(body_of(mesh), SphereIndenter(6e-3), at, direction, 5e-4)
    moved = mesh.with_vertices(mesh.vertices @ rotation.T + translation)
    second = indent_body(body_of(moved), SphereIndenter(6e-3), rotation @ at + translation,
                         rotation @ direction, 5e-4)
    assert_allclose(second.normal_force, first.normal_force, rtol=RTOL_FRAME)
    assert_allclose(second.centre_of_mass, rotation @ first.centre_of_mass + translation,
                    atol=1e-9)


def test_force_grows_in_proportion_to_the_modulus(ball):
    soft = indent_body(ball, SphereIndenter(0.01), [0.0, 0.0, 0.1], SHORT, 1e-3)
    stiff = indent_body(body_of(ball.mesh, replace(FOAM, youngs_modulus=7.0 * 5e5)),
                        SphereIndenter(0.01), [0.0, 0.0, 0.1], SHORT, 1e-3)
    assert_allclose(stiff.force, 7.0 * soft.force, atol=1e-9 * stiff.normal_force)


def test_force_grows_with_depth(ball):
    forces = [indent_body(ball, SphereIndenter(0.01), [0.0, 0.0, 0.1], SHORT, depth)
              .normal_force for depth in (5e-4, 6e-4, 1e-3, 2e-3)]
    assert (np.diff(forces) > 0.0).all()


def test_a_ray_from_the_surface_itself_touches_at_once(box):
    far = indent_body(box, SphereIndenter(0.01), [0.0, 0.0, 0.1], SHORT, 5e-4)
    near = indent_body(box, SphereIndenter(0.01), [0.0, 0.0, 0.02], SHORT, 5e-4)
    assert_allclose(near.normal_force, far.normal_force, rtol=1e-6)


def test_the_pad_of_a_link_yields_beside_the_object(ball, hand):
    link = hand.links[hand.link_index('sdh_finger_13_link')]
    padded = indent_body(ball, LinkIndenter(link), [0.0, 0.0, 0.1], SHORT, 1e-3)
    rigid = indent_body(ball, LinkIndenter(replace(link, pad=None)), [0.0, 0.0, 0.1], SHORT,
                        1e-3)
    assert 0.0 < padded.normal_force < rigid.normal_force
    assert padded.max_displacement < rigid.max_displacement
    assert padded.warnings == ()


def test_on_steel_the_pad_governs_and_a_warning_says_so(ball, hand):
    steel = Material(2.1e11, 0.29, 7850.0, 0.6)
    link = hand.links[hand.link_index('sdh_finger_13_link')]
    result = indent_body(body_of(ball.mesh, steel), LinkIndenter(link), [0.0, 0.0, 0.1], SHORT,
                         3e-4)
    stiffer = indent_body(body_of(ball.mesh, replace(steel, youngs_modulus=4.2e11)),
                          LinkIndenter(link), [0.0, 0.0, 0.1], SHORT, 3e-4)
    assert any('pads govern' in warning for warning in result.warnings)
    assert_allclose(stiffer.normal_force, result.normal_force, rtol=1e-3)
    assert result.max_displacement < 1e-7


def test_a_deep_press_is_not_quantitative(ball):
    result = indent_body(ball, SphereIndenter(3e-3), [0.0, 0.0, 0.1], SHORT, 4e-3)
    assert not result.quantitative and result.warnings


@pytest.mark.parametrize('at, along, depth, said', [
    ([1.0, 1.0, 1.0], SHORT, 1e-3, 'misses'),
    ([0.0, 0.0, 0.0], SHORT, 1e-3, 'starts inside'),
    ([0.0, 0.0, 0.1], [0.0, 0.0, 0.0], 1e-3, 'along must not be zero'),
    ([0.0, 0.0, 0.1], SHORT, 0.0, 'depth must be above 0'),
    ([0.0, 0.0, 0.1], SHORT, 0.1, 'below the thickness of the object there, 0.08'),
    ([0.0, np.nan, 0.1], SHORT, 1e-3, 'at must be finite')])
def test_a_push_that_makes_no_sense_is_refused(ball, at, along, depth, said):
    with pytest.raises(TaskError, match=said):
        indent_body(ball, SphereIndenter(0.01), at, along, depth)


@pytest.mark.parametrize('depth', [0.0195, 0.03, 0.078])
def test_a_buried_sphere_is_refused_and_told_so(ball, depth):
    with pytest.raises(TaskError, match='buried.* 0.02 m .half of it will do., got'):
        indent_body(ball, SphereIndenter(0.01), [0.0, 0.0, 0.1], SHORT, depth)


def test_half_of_a_links_thickness_is_answered_and_a_buried_link_refused(ball, hand):
    link = hand.links[hand.link_index('sdh_thumb_3_link')]
    extent = float(np.ptp(link.mesh.vertices @ link.pad_normal))
    with pytest.raises(TaskError, match='buried') as refused:
        indent_body(ball, LinkIndenter(link), [0.0, 0.0, 0.1], SHORT, 0.06)
    told = float(str(refused.value).split('push, ')[1].split(' m')[0])
    assert 0.5 * extent < told < 1.001 * extent
    assert indent_body(ball, LinkIndenter(link), [0.0, 0.0, 0.1], SHORT,
                       0.5 * told).normal_force > 0.0


@given(seed=seeds, radius=st.floats(2e-3, 0.05),
       ratio=st.floats(0.02, 1.0) | st.floats(1.0, 4.0), flat=st.booleans())
@settings(max_examples=15)
def test_a_sphere_is_resisted_to_half_its_depth_and_then_resisted_or_refused(
        coarse_ball, box, seed, radius, ratio, flat):
    body, rng = (box if flat else coarse_ball), np.random.default_rng(seed)
    direction = rng.standard_normal(3)
    direction /= np.linalg.norm(direction)
    at = rng.uniform(-0.01, 0.01, 3) - 0.2 * direction
    try:
        result = indent_body(body, SphereIndenter(radius), at, direction, ratio * radius)
    except TaskError as refused:
        assume('thickness of the object' not in str(refused))
        assert ratio > 1.0 and 'buried' in str(refused)
    else:
        assert result.normal_force > 0.0


def test_a_wall_beside_a_sphere_does_not_press_on_it(box):
    result = indent_body(box, SphereIndenter(0.03), [3.7e-3, 2.1e-3, 0.1], SHORT, 5e-3)
    assert_allclose(result.force[:2], 0.0, atol=1e-6 * result.normal_force)
    assert_allclose(result.normal_force, hertz_force(FOAM.plane_strain_modulus, 0.03, 5e-3),
                    rtol=RTOL_FLAT)


@pytest.mark.parametrize('indenter', [SphereIndenter(0.0), CylinderIndenter(-1.0)])
def test_an_indenter_without_a_radius_is_refused(ball, indenter):
    with pytest.raises(TaskError, match='radius'):
        indent_body(ball, indenter, [0.0, 0.0, 0.1], SHORT, 1e-3)


@pytest.mark.parametrize('indenter', [SphereIndenter(0.01), CylinderIndenter(0.005)])
def test_a_push_too_shallow_to_be_resisted_is_refused(coarse_ball, indenter):
    with pytest.raises(TaskError, match='nothing resists the indenter at a depth of 1e-19 m'):
        indent_body(coarse_ball, indenter, [0.0, 0.0, 0.1], SHORT, 1e-19)


def test_a_link_whose_pad_faces_its_own_body_has_no_thickness_to_tell(coarse_ball, hand):
    link = hand.links[hand.link_index('sdh_thumb_3_link')]
    turned = LinkIndenter(replace(link, pad_normal=-link.pad_normal))
    with pytest.raises(TaskError, match='nothing resists the indenter'):
        indent_body(coarse_ball, turned, [0.0, 0.0, 0.1], SHORT, 1e-19)
