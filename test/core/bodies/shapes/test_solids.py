"""Parametric bodies: closed, outward, and of the volume of their formulae."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad

from gripsim_ros.core.bodies import repair_mesh, shapes
from gripsim_ros.core.bodies.shapes.solids import apple_profile, bone_profile, plate_profile
from gripsim_ros.core.bodies.shapes.sweeps import revolve
from gripsim_ros.core.errors import MeshError

RTOL_ROUNDOFF = 1e-11
#: Faces of 4 mm cut corners off curved surfaces of 20 mm and more.
RTOL_TESSELLATION = 0.02
#: Of bodies with edges of 1.5 mm.
RTOL_FINE = 4e-3

BODIES = {
    'apple': shapes.apple, 'banana': shapes.banana, 'bone': shapes.bone,
    'box': lambda: shapes.box([0.03, 0.05, 0.02], 0.01), 'capsule': shapes.capsule,
    'cone': lambda: shapes.cone(edge_length=0.006),
    'cylinder': lambda: shapes.cylinder(edge_length=0.006), 'egg': shapes.egg,
    'ellipsoid': lambda: shapes.ellipsoid([0.02, 0.03, 0.05]), 'mug': shapes.mug,
    'plate': lambda: shapes.plate(edge_length=0.01),
    'sphere': lambda: shapes.sphere(jitter=0.4, seed=7), 'torus': shapes.torus}
GENUS = {'mug': 1, 'torus': 1}


def test_every_shape_is_tested():
    assert set(BODIES) == set(shapes.__all__)


@pytest.mark.parametrize('name', sorted(BODIES))
def test_a_shape_is_closed_manifold_outward_and_in_no_need_of_repair(name):
    mesh = BODIES[name]()
    assert (mesh.edge_faces >= 0).all()
    assert mesh.volume > 0.0
    assert repair_mesh(mesh.vertices, mesh.faces).repairs == ()
    assert len(mesh.vertices) - len(mesh.edges) + len(mesh.faces) == 2 - 2 * GENUS.get(name, 0)


@pytest.mark.parametrize('name', sorted(set(BODIES) - {'sphere', 'ellipsoid', 'box'}))
def test_a_shape_is_the_same_each_time(name):
    assert BODIES[name]().content_hash == BODIES[name]().content_hash


def revolution(profile, start, end):
    """Return the volume of a surface of revolution from rho(t), z(t)."""
    def slope(t, step=1e-6):
        return (profile(t + step)[1] - profile(t - step)[1]) / (2.0 * step)
    return abs(quad(lambda t: np.pi * profile(t)[0] ** 2 * slope(t), start, end, limit=200)[0])


def apple_section(t):
    """Return distance and height of the default apple."""
    distance, height = apple_profile(np.array([t]))
    return float(distance[0]), float(height[0])


def bone_section(t):
    """Return distance and height of the default bone."""
    return bone_profile(0.05, 0.12, 0.5, np.array([t]))[0]


def egg_section(t):
    """Return distance and height of the default egg, from its formula alone."""
    angles = np.linspace(0.0, np.pi, 100_001)
    top = np.max(np.sin(angles) * (1.0 + 0.12 * np.cos(angles)))
    return 0.022 / top * np.sin(t) * (1.0 + 0.12 * np.cos(t)), 0.029 * np.cos(t)


@pytest.mark.parametrize(('mesh', 'volume'), [
    (shapes.sphere(0.04, 0.0015), 4.0 / 3.0 * np.pi * 0.04 ** 3),
    (shapes.sphere(0.04, 0.0015, 0.4, 3), 4.0 / 3.0 * np.pi * 0.04 ** 3),
    (shapes.ellipsoid([0.02, 0.03, 0.05], 0.0015), 4.0 / 3.0 * np.pi * 3e-5),
    (shapes.capsule(0.02, 0.08, 0.0015), np.pi * 0.02 ** 2 * (0.08 + 4.0 / 3.0 * 0.02)),
    (shapes.banana(0.018, 0.14, 0.12, 0.0015), np.pi * 0.018 ** 2 * (0.14 + 0.024)),
    (shapes.torus(0.04, 0.012, 0.0015), 2.0 * np.pi ** 2 * 0.04 * 0.012 ** 2),
    (shapes.apple(0.08, 0.0015), revolution(apple_section, 0.0, np.pi)),
    (shapes.bone(edge_length=0.0015), revolution(bone_section, 0.0, np.pi)),
    (shapes.egg(edge_length=0.0015), revolution(egg_section, 0.0, np.pi)),
], ids=['sphere', 'jittered', 'ellipsoid', 'capsule', 'banana', 'torus', 'apple', 'bone', 'egg'])
def test_a_fine_shape_has_the_volume_of_its_formula(mesh, volume):
    assert_allclose(mesh.volume, volume, rtol=RTOL_FINE)


@pytest.mark.parametrize('segments', [3, 8, 64])
def test_a_prism_and_a_pyramid_have_the_volume_of_their_polygon(segments):
    base = 0.5 * segments * 0.04 ** 2 * np.sin(2.0 * np.pi / segments)
    assert_allclose(shapes.cylinder(0.04, 0.1, segments).volume, base * 0.1, rtol=RTOL_ROUNDOFF)
    assert_allclose(shapes.cone(0.04, 0.1, segments).volume, base * 0.1 / 3.0,
                    rtol=RTOL_ROUNDOFF)


def test_finer_caps_and_walls_leave_a_cylinder_of_given_segments_its_volume():
    plain = shapes.cylinder(0.04, 0.1, segments=63)
    fine = shapes.cylinder(0.04, 0.1, edge_length=2.0 * np.pi * 0.04 / 63)
    assert_allclose(fine.volume, plain.volume, rtol=RTOL_ROUNDOFF)


def test_a_box_has_twelve_triangles_or_a_grid():
    assert len(shapes.box([0.1, 0.2, 0.3]).faces) == 12
    fine = shapes.box([0.1, 0.2, 0.3], 0.05)
    assert len(fine.faces) == 4 * (2 * 4 + 4 * 6 + 6 * 2)
    assert_allclose(fine.volume, 0.006, rtol=RTOL_ROUNDOFF)
    assert_allclose(fine.extents, [0.1, 0.2, 0.3], rtol=RTOL_ROUNDOFF)


def test_edges_have_the_wanted_length():
    for edge_length in (0.002, 0.004, 0.009):
        mesh = shapes.sphere(0.04, edge_length)
        ends = mesh.vertices[mesh.edges]
        lengths = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
        assert 0.75 * edge_length < lengths.mean() < 1.02 * edge_length


def test_vertices_of_a_jittered_sphere_stay_on_it():
    mesh = shapes.sphere(0.04, 0.004, 0.3, seed=1)
    assert_allclose(np.linalg.norm(mesh.vertices, axis=1), 0.04, rtol=RTOL_ROUNDOFF)


def test_the_seed_alone_decides_a_jittered_sphere():
    first, again, other = (shapes.sphere(jitter=0.3, seed=seed) for seed in (1, 1, 2))
    assert_array_equal(first.vertices, again.vertices)
    assert np.abs(first.vertices - other.vertices).max() > 1e-3


def test_an_apple_is_as_wide_as_asked_and_hollow_at_both_ends():
    mesh = shapes.apple(0.08, 0.002)
    assert_allclose(mesh.extents[:2], 0.08, rtol=2e-3)
    height = mesh.vertices[:, 2]
    near_axis = np.linalg.norm(mesh.vertices[:, :2], axis=1) < 0.001
    top, bottom = height[near_axis].max(), height[near_axis].min()
    assert height.max() - top > 0.005
    assert bottom - height.min() > 0.002


def test_a_bone_has_the_asked_waist():
    profile = bone_profile(0.05, 0.12, 0.4, np.linspace(0.0, np.pi, 2001))
    assert_allclose(2.0 * profile[:, 0].max(), 0.05, rtol=1e-5)
    assert_allclose(2.0 * profile[1000, 0], 0.4 * 0.05, rtol=1e-5)


def test_a_plate_has_the_volume_of_its_section():
    plate = shapes.plate(0.1, 0.02, 0.004, edge_length=0.002)
    section = plate_profile(0.1, 0.02, 0.004)
    (r0, z0), (r1, z1) = section[:-1].T, section[1:].T
    volume = np.pi / 3.0 * np.sum((z1 - z0) * (r0 * r0 + r0 * r1 + r1 * r1))
    assert_allclose(plate.volume, volume, rtol=RTOL_TESSELLATION)


def test_a_mug_has_the_volume_of_cup_and_handle():
    mesh = shapes.mug(0.04, 0.095, 0.004, 0.003)
    cup = np.pi * (0.04 ** 2 * 0.095 - 0.036 ** 2 * 0.091)
    half = 0.35 * 0.04 / 2.0
    handle = np.pi * half ** 2 * np.pi * 0.25 * 0.095
    assert cup < mesh.volume < cup + 1.4 * handle
    assert mesh.volume > cup + 0.7 * handle
    assert mesh.extents[0] > 0.08 + 0.5 * 0.25 * 0.095


@pytest.mark.parametrize(('make', 'message'), [
    (lambda: shapes.sphere(0.0), 'radius must be a finite number above 0'),
    (lambda: shapes.sphere(0.04, -1.0), 'edge_length must be'),
    (lambda: shapes.sphere(1.0, 1e-5), 'more than 2000000 faces'),
    (lambda: shapes.sphere(jitter=0.5), 'jitter must lie in 0 to 0.4'),
    (lambda: shapes.box([0.1, np.nan, 0.1]), 'extent 1 must be'),
    (lambda: shapes.box([0.1, 0.1, 0.1], 1e-5), 'more than 2000000 faces'),
    (lambda: shapes.ellipsoid([0.1, 0.1, 0.0]), 'semi-axis 2 must be'),
    (lambda: shapes.cylinder(edge_length=1e-5), 'more than 2000000 faces'),
    (lambda: shapes.cylinder(segments=2), 'at least 3 segments'),
    (lambda: shapes.torus(0.01, 0.02), 'tube_radius must be below'),
    (lambda: shapes.banana(bend_radius=0.01), 'bend_radius must be above'),
    (lambda: shapes.bone(waist=0.0), 'waist must lie in'),
    (lambda: shapes.plate(thickness=0.02), 'thickness must be below'),
    (lambda: shapes.mug(wall=0.03), 'a mug needs a wall'),
    (lambda: shapes.mug(radius=-1.0), 'sizes of a mug'),
    (lambda: revolve([[0.1, 0.0], [0.1, 0.1], [0.0, 0.1]], 8), 'start and end on the axis'),
])
def test_impossible_sizes_are_refused(make, message):
    with pytest.raises(MeshError, match=message):
        make()
