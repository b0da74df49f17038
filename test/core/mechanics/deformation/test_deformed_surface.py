"""The deformed surface: Boussinesq's displacements, the volume, the guard, the rings."""

from dataclasses import replace

from hypothesis import given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from scipy.spatial.transform import Rotation
import trimesh

from gripsim_ros.core.bodies import Material, TriangleMesh, shapes
from gripsim_ros.core.errors import TaskError
from gripsim_ros.core.mechanics.contact.contact_forces import solve_contact_forces
from gripsim_ros.core.mechanics.contact.half_space import GRID_SOFTENING
from gripsim_ros.core.mechanics.contact.patch_resultants import summarise_patches
from gripsim_ros.core.mechanics.deformation.boussinesq import (
    boussinesq_displacements, place_under_pads, slip_displacements, surface_loads, SurfaceLoads)
from gripsim_ros.core.mechanics.deformation.deformed_surface import (
    SurfaceOptions, _bad_vertices, _guarded_correction, _smoothed, deform_surface,
    elastic_volume_change)
from gripsim_ros.core.mechanics.deformation.volume import restore_volume, volume_and_centre
from lattice_cases import ball_under_pad, join, paraboloid, transformed
from surface_cases import point_loads

RADIUS = 0.04
FOAM = Material(5e5, 0.3, 100.0, 0.5)

RTOL_VOLUME = 1e-10
#: About the square and the cube root of round-off.
RTOL_DOUBLE_ROOT, RTOL_TRIPLE_ROOT = 1e-6, 1e-4
#: u_z outside Hertz' contact, from a lattice of 400 nodes.
RTOL_HERTZ_OUTSIDE = 5e-3
#: What lumping of patches may cost, of the largest displacement, by contact radii.
LUMPING = {4.0: 1.2e-3, 6.0: 3e-4}
#: Vertices under a rigid pad lie on it, within this share of the depth.
ON_PAD = 0.02


def ball(level=4):
    """Return an icosphere."""
    mesh = trimesh.creation.icosphere(level, RADIUS)
    return TriangleMesh(mesh.vertices, mesh.faces)


def loads_of(nodes, material=FOAM):
    """Return the loads of nodes pressed by rigid pads."""
    solution = solve_contact_forces(nodes, material.plane_strain_modulus, {})
    results = summarise_patches(nodes, solution, material.poisson_ratio, {})
    return surface_loads(nodes, solution, results, GRID_SOFTENING)


def pinched(depth=2e-3, pad_radius=0.01, count=100):
    """Return the nodes of a ball between two balls on the x axis."""
    return join(*(ball_under_pad(RADIUS, [sign, 0.0, 0.0], depth, pad_radius, count)
                  for sign in (1.0, -1.0)))


def test_a_point_load_moves_the_surface_as_published():
    # E = 0.5 MPa, nu = 0.45, 1 N, r = 10 mm: 0.0507704 mm.
    material = replace(FOAM, poisson_ratio=0.45)
    loads = point_loads([[0.0, 0.0, 0.0]], [[0.0, 0.0, 1.0]])
    moved = boussinesq_displacements(np.array([[0.01, 0.0, 0.0]]), loads,
                                     material.plane_strain_modulus)
    assert_allclose(1e3 * moved, [[0.0, 0.0, 0.0507704]], rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize('poisson_ratio, share', [(0.3, 0.29), (0.45, 0.09), (0.49, 0.02)])
def test_points_slip_towards_a_load_by_the_published_share_of_their_sinking(poisson_ratio,
                                                                            share):
    material = replace(FOAM, poisson_ratio=poisson_ratio)
    modulus, loads = material.plane_strain_modulus, point_loads(np.zeros((1, 3)), [[0, 0, 1.0]])
    points = np.array([[6e-3, 8e-3, 0.0], [-0.02, 0.0, 0.0]])
    slip = slip_displacements(points, np.tile([0.0, 0.0, -1.0], (2, 1)), loads, modulus,
                              poisson_ratio)
    sunk = boussinesq_displacements(points, loads, modulus)[:, 2]
    towards = -points / np.linalg.norm(points, axis=1)[:, None]
    # u_r = -(1 - 2 nu) P / (4 pi G r), Johnson 1985, equation (3.20).
    shear = material.youngs_modulus / (2.0 * (1.0 + poisson_ratio))
    exact = (1.0 - 2.0 * poisson_ratio) / (4.0 * np.pi * shear
                                           * np.linalg.norm(points, axis=1))
    assert_allclose(slip, exact[:, None] * towards, rtol=1e-9, atol=1e-15)
    assert_allclose(exact / sunk, share, atol=0.005)


def test_slip_moves_points_along_the_surface_alone():
    mesh, loads = ball(), loads_of(pinched())
    slip = slip_displacements(mesh.vertices, mesh.vertex_normals, loads,
                              FOAM.plane_strain_modulus, FOAM.poisson_ratio)
    assert_allclose((slip * mesh.vertex_normals).sum(axis=1), 0.0, atol=1e-12)
    slid, still = (deform_surface(mesh, FOAM, loads, SurfaceOptions(slip=each)).vertices
                   for each in (True, False))
    assert np.abs(slid - still).max() > 1e-5
    radii = [np.linalg.norm(vertices, axis=1) for vertices in (slid, still)]
    assert_allclose(radii[0], radii[1], atol=0.05 * 2e-3)


def test_the_bowl_about_a_hertzian_contact_is_the_exact_one():
    depth, radius = 1e-3, 8e-3
    loads = loads_of(paraboloid(radius, depth, 400, (0.1, 0.2)))
    ratios = np.array([1.5, 2.0, 3.0, 5.0])
    points = np.sqrt(radius * depth) * ratios[:, None] * [[0.8, 0.6, 0.0]]
    moved = boussinesq_displacements(points, loads, FOAM.plane_strain_modulus)
    # Johnson 1985, equation (3.42a): u_z / depth outside the contact.
    assert_allclose(moved[:, 2] / depth, [0.297811, 0.217996, 0.143102, 0.085227],
                    rtol=RTOL_HERTZ_OUTSIDE)


@pytest.mark.parametrize('ratio', sorted(LUMPING))
def test_lumping_far_patches_costs_about_a_thousandth_at_most(ratio):
    # Not symmetric, so that the first moments of the patches count.
    nodes = ball_under_pad(RADIUS, [1.0, 0.0, 0.0], 2e-3, 0.02, 100)
    half = replace(nodes, depths=np.where(nodes.points[:, 1] > 0.0, nodes.depths, -np.inf))
    loads, vertices = loads_of(half), ball().vertices
    exact = boussinesq_displacements(vertices, loads, FOAM.plane_strain_modulus, 1e9)
    lumped = boussinesq_displacements(vertices, loads, FOAM.plane_strain_modulus, ratio)
    assert np.abs(lumped - exact).max() < LUMPING[ratio] * np.abs(exact).max()
    assert np.abs(lumped - exact).max() > 0.0


def test_vertices_under_a_rigid_pad_lie_on_it():
    depth = 3e-3
    nodes = join(*(ball_under_pad(RADIUS, [s, 0.0, 0.0], depth, np.inf, 150)
                   for s in (1.0, -1.0)))
    loads, mesh = loads_of(nodes), ball(5)
    moves = boussinesq_displacements(mesh.vertices, loads, FOAM.plane_strain_modulus)
    moves, touched, pressures = place_under_pads(mesh.vertices, moves, loads)
    # The node's normal is the ball's: it comes to lie on the plate where the slope is small.
    middle = touched & (np.abs(mesh.vertices[:, 0]) > RADIUS * np.cos(0.1))
    assert middle.sum() > 20
    assert_allclose(np.abs((mesh.vertices + moves)[middle, 0]), RADIUS - depth,
                    atol=ON_PAD * depth)
    assert (pressures[middle] > 0.0).all() and not pressures[~touched].any()


@pytest.mark.parametrize('mode', ['smooth', 'seed'])
@pytest.mark.parametrize('volume', ['elastic', 'constant'])
def test_the_volume_is_the_wanted_one_exactly(mode, volume):
    mesh, loads = ball(), loads_of(pinched())
    surface = deform_surface(mesh, FOAM, loads, SurfaceOptions(mode=mode, volume=volume))
    wanted = mesh.volume
    if volume == 'elastic':
        wanted += elastic_volume_change(loads, FOAM, np.zeros(3))
    assert_allclose(surface.volume, wanted, rtol=RTOL_VOLUME)
    assert_allclose(trimesh.Trimesh(surface.vertices, mesh.faces, process=False).volume,
                    wanted, rtol=1e-9)


def test_the_volume_change_is_that_of_reciprocity():
    # 2 x 10 N on a ball of 80 mm, E = 0.5 MPa, nu = 0.3: -640 mm^3.
    loads = point_loads([[RADIUS, 0.0, 0.0], [-RADIUS, 0.0, 0.0]],
                        [[-10.0, 0.0, 0.0], [10.0, 0.0, 0.0]])
    assert_allclose(1e9 * elastic_volume_change(loads, FOAM, np.zeros(3)), -640.0, rtol=1e-12)


@given(seed=st.integers(0, 2 ** 32 - 1), share=st.floats(0.7, 1.3))
@settings(max_examples=30)
def test_any_volume_is_restored_along_normals(seed, share):
    mesh = ball(2)
    rng = np.random.default_rng(seed)
    vertices = mesh.vertices + rng.normal(scale=5e-4, size=mesh.vertices.shape) + 10.0
    moved, _ = restore_volume(vertices, mesh.faces, mesh.vertex_normals, share * mesh.volume)
    assert_allclose(volume_and_centre(moved, mesh.faces)[0], share * mesh.volume,
                    rtol=RTOL_VOLUME)


def test_the_volume_that_a_box_has_moves_it_by_no_bit():
    box = shapes.box((2.0, 2.0, 2.0))
    moved, multiple = restore_volume(box.vertices, box.faces, box.vertices, 8.0)
    assert multiple == 0.0
    assert_array_equal(moved, box.vertices)


def test_where_no_multiple_gives_the_volume_nothing_moves():
    box = shapes.box((2.0, 2.0, 2.0))
    for directions in (np.zeros_like(box.vertices), box.vertices * [1.0, -1.0, 0.0]):
        moved, multiple = restore_volume(box.vertices, box.faces, directions, 16.0)
        assert multiple == 0.0
        assert_array_equal(moved, box.vertices)


def test_a_box_is_drawn_in_from_four_sides_until_nothing_is_left():
    # Its volume is 8 (1 - s)^2: a double root, which Newton's steps near but linearly.
    box = shapes.box((2.0, 2.0, 2.0))
    moved, multiple = restore_volume(box.vertices, box.faces, -box.vertices * [1.0, 1.0, 0.0],
                                     0.0)
    assert_allclose(multiple, 1.0, rtol=RTOL_DOUBLE_ROOT)
    assert_allclose(moved, box.vertices * [0.0, 0.0, 1.0], atol=RTOL_DOUBLE_ROOT)


def test_a_box_is_drawn_in_to_its_middle_until_nothing_is_left():
    # A triple root of 0.06 (1 - s)^3, which Newton's steps near but linearly.
    box = shapes.box((0.3, 0.4, 0.5))
    moved, multiple = restore_volume(box.vertices, box.faces, -box.vertices, 0.0)
    assert_allclose(multiple, 1.0, rtol=RTOL_TRIPLE_ROOT)
    assert_allclose(moved, 0.0, atol=RTOL_TRIPLE_ROOT)


def test_no_change_of_volume_moves_nothing():
    mesh = ball(2)
    volume, _ = volume_and_centre(mesh.vertices, mesh.faces)
    moved, multiple = restore_volume(mesh.vertices, mesh.faces, mesh.vertex_normals, volume)
    assert abs(multiple) < 1e-15
    assert_allclose(moved, mesh.vertices, atol=1e-15)


@given(seed=st.integers(0, 2 ** 32 - 1))
@settings(max_examples=10)
def test_the_surface_turns_with_the_frame(seed):
    rotation = Rotation.random(random_state=seed).as_matrix()
    translation = np.array([0.2, -0.3, 0.1])
    mesh, nodes = ball(3), pinched()
    first = deform_surface(mesh, FOAM, loads_of(nodes))
    moved = mesh.with_vertices(mesh.vertices @ rotation.T + translation)
    second = deform_surface(moved, FOAM, loads_of(transformed(nodes, rotation, translation)))
    assert_allclose(second.vertices, first.vertices @ rotation.T + translation, atol=1e-8)
    assert_allclose(second.centre, rotation @ first.centre + translation, atol=1e-8)


def test_a_pinched_ball_bulges_at_its_equator():
    mesh = ball()
    surface = deform_surface(mesh, FOAM, loads_of(pinched(3e-3)))
    equator = np.abs(mesh.vertices[:, 0]) < 2e-3
    grown = np.linalg.norm(surface.vertices[equator], axis=1) - RADIUS
    assert 0.0 < grown.mean() < 0.1 * 3e-3
    assert_allclose(surface.centre, 0.0, atol=2e-6)


def test_the_centre_moves_away_from_a_single_dent():
    surface = deform_surface(ball(), FOAM, loads_of(
        ball_under_pad(RADIUS, [1.0, 0.0, 0.0], 3e-3, 0.01, 100)))
    assert surface.centre[0] < -1e-6


@pytest.mark.parametrize('level', [1, 2, 5])
def test_no_triangle_turns_over_however_deep_the_press(level):
    mesh = ball(level)
    nodes = join(*(ball_under_pad(RADIUS, d, 0.012, 0.004, 60)
                   for d in ([1, 0, 0], [-1, 0.1, 0], [0, 0, 1])))
    options = SurfaceOptions()
    surface = deform_surface(mesh, FOAM, loads_of(nodes), options)
    after = mesh.with_vertices(surface.vertices)
    cosines = (after.face_normals * mesh.face_normals).sum(axis=1)
    if surface.guarded_faces == 0:
        assert cosines.min() >= options.guard_cosine
    assert (cosines > 0.0).all()
    assert_allclose(surface.volume_change,
                    elastic_volume_change(loads_of(nodes), FOAM,
                                          volume_and_centre(mesh.vertices, mesh.faces)[1]),
                    rtol=1e-6)


def test_rings_end_and_the_rest_moves_evenly():
    mesh = ball()
    surface = deform_surface(mesh, FOAM, loads_of(pinched()),
                             SurfaceOptions(mode='seed', volume='constant'))
    moves = surface.vertices - mesh.vertices
    equator = np.abs(mesh.vertices[:, 0]) < 2e-3
    along = (moves[equator] * mesh.vertex_normals[equator]).sum(axis=1)
    assert along.min() > 0.0
    assert_allclose(along, along[0], rtol=1e-9)


def test_coarser_rings_move_fewer_vertices():
    mesh, loads = ball(), loads_of(pinched())
    moved = []
    for limit in (1e-3, 2e-4):
        surface = deform_surface(mesh, FOAM, loads, SurfaceOptions(
            mode='seed', ring_displacement=limit))
        along = ((surface.vertices - mesh.vertices) * mesh.vertex_normals).sum(axis=1)
        moved.append(int((np.abs(along - np.median(along)) > 1e-9).sum()))
    assert moved[0] < moved[1] < len(mesh.vertices)


def test_rings_end_at_their_reach():
    mesh, reach = ball(), 0.5
    surface = deform_surface(mesh, FOAM, loads_of(pinched()), SurfaceOptions(
        mode='seed', volume='constant', ring_displacement=1e-9, ring_reach=reach))
    away = np.minimum(np.linalg.norm(mesh.vertices - [RADIUS, 0.0, 0.0], axis=1),
                      np.linalg.norm(mesh.vertices + [RADIUS, 0.0, 0.0], axis=1))
    rest = away > (reach + 0.1) * RADIUS
    along = ((surface.vertices - mesh.vertices) * mesh.vertex_normals).sum(axis=1)
    assert_allclose(along[rest], along[rest][0], rtol=1e-9)


@pytest.mark.parametrize('values, said', [
    ({'mode': 'rough'}, 'surface.mode must be one of smooth, seed'),
    ({'volume': 'any'}, 'surface.volume'), ({'ring_reach': 0.0}, 'ring_reach'),
    ({'guard_area': 1.0}, 'guard_area')])
def test_options_out_of_range_are_refused(values, said):
    with pytest.raises(TaskError, match=said):
        SurfaceOptions(**values)


def test_without_any_load_no_vertex_lies_under_a_pad():
    none, rows = np.zeros(0), np.zeros((0, 3))
    loads = SurfaceLoads(rows, rows, none, np.zeros(1, np.int64), rows, rows, none, rows, rows,
                         none, none, none)
    mesh = ball(2)
    moves, touched, pressures = place_under_pads(mesh.vertices, mesh.vertex_normals, loads)
    assert_array_equal(moves, mesh.vertex_normals)
    assert not touched.any() and not pressures.any()


def area_vectors(vertices, faces):
    """Return twice the area vectors (F, 3) of triangles."""
    a, b, c = vertices[faces].transpose(1, 0, 2)
    return np.cross(b - a, c - a)


@pytest.mark.parametrize('limits', [(0.2, 0.1), (0.0, 0.0), (0.9, 0.9)])
def test_triangles_that_turn_or_collapse_are_found_as_by_their_definition(limits):
    mesh = ball()
    shaken = mesh.vertices + np.random.default_rng(1).normal(0.0, 2e-3, mesh.vertices.shape)
    before, after = area_vectors(mesh.vertices, mesh.faces), area_vectors(shaken, mesh.faces)
    areas, areas_now = np.linalg.norm(before, axis=1), np.linalg.norm(after, axis=1)
    bad = ((areas_now <= limits[1] * areas)
           | ((before * after).sum(axis=1) < limits[0] * areas * areas_now))
    marks = np.zeros(len(shaken), bool)
    marks[mesh.faces[bad]] = True
    count, found = _bad_vertices(mesh.vertices, shaken, mesh.faces, limits)
    assert 0 < count == bad.sum() < len(bad)
    assert_array_equal(found, marks)


def test_smoothing_takes_half_of_a_value_from_the_mean_of_its_neighbours():
    mesh = ball()
    values = np.random.default_rng(2).normal(size=mesh.vertices.shape)
    ends, others = np.concatenate([mesh.edges, mesh.edges[:, ::-1]]).T
    sums = np.stack([np.bincount(ends, column[others]) for column in values.T], axis=1)
    expected = 0.5 * (values + sums / np.bincount(ends)[:, None])
    assert_array_equal(_smoothed(mesh.edges, values), expected)


def test_the_volume_is_restored_along_weighted_normals_or_all_of_them():
    mesh = ball()
    normals, weights = mesh.vertex_normals, np.linspace(0.0, 1.0, len(mesh.vertices))
    for shares, wanted in ((weights, weights[:, None] * normals), (0.0 * weights, normals)):
        grown, guarded = _guarded_correction(mesh, np.zeros_like(normals), shares,
                                             1.01 * mesh.volume, SurfaceOptions())
        assert guarded == 0
        step = (grown - mesh.vertices)[-1] @ normals[-1]
        assert_allclose(grown - mesh.vertices, step * wanted, rtol=0.0, atol=1e-15)
