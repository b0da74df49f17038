"""Patches on the curved surface, against analytic bodies."""

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
import trimesh

from gripsim_ros.core.batches import (PATCH_COARSE, PATCH_OVER_EDGE, PATCH_REACHES_LINK_EDGE,
                                      PATCH_REACHES_OBJECT_EDGE, PATCH_SPREAD, PATCH_THROUGH)
from gripsim_ros.core.bodies import TriangleMesh, shapes
from gripsim_ros.core.contact import (
    ContactMesh, MeshIndenter, PatchOptions, PunchIndenter, sample_patch, SphereIndenter)
from gripsim_ros.core.contact.patches import patch as sampling
from gripsim_ros.core.transforms import transform
from patch_cases import RADIUS, jittered_sphere


#: Sagging facets would be off by 0.03 to 0.2 mm; the curved surface stays within this part.
RTOL_CURVED = 0.005
RTOL_LATTICE = 0.1
#: The node nearest to the deepest point is up to 0.7 spacings away.
RTOL_TOP = 0.017
ATOL_NORMAL = 2e-3
ATOL_COVARIANT = 1e-9
ATOL_ROUNDOFF = 1e-12


SPHERES = {edge: ContactMesh(jittered_sphere(edge, 7)) for edge in (0.003, 0.0045, 0.006)}
PLATE = ContactMesh(shapes.box([0.04, 0.04, 0.02]))
BOX = ContactMesh(shapes.box([0.06, 0.05, 0.04]))
FINGER = ContactMesh(shapes.sphere(0.012, edge_length=0.002))


def random_rotation(seed):
    return Rotation.random(random_state=seed).as_matrix()


def pressed_plate(rotation, depth, half_thickness=0.01):
    """Return the pose of a plate whose +z face presses the sphere by a depth."""
    return transform(rotation, -rotation[:, 2] * (RADIUS - depth + half_thickness))


def loaded(patch):
    return patch.depths > 0.0


@pytest.mark.parametrize('edge', sorted(SPHERES))
@pytest.mark.parametrize('depth', [5e-5, 2e-4, 1e-3])
@pytest.mark.parametrize('seed', [1, 2])
def test_depths_on_a_meshed_sphere_are_those_of_the_sphere(edge, depth, seed):
    rotation = random_rotation(seed)
    patch, = sample_patch(SPHERES[edge], MeshIndenter(PLATE.mesh), pressed_plate(rotation, depth))
    into = rotation[:, 2]
    radial = patch.points / np.linalg.norm(patch.points, axis=1, keepdims=True)
    along = -(RADIUS - depth) - (RADIUS * radial) @ into  # from the node to the plate
    expected = -along * (radial @ into)
    np.testing.assert_allclose(patch.depths, expected, rtol=0.0, atol=RTOL_CURVED * depth)
    np.testing.assert_allclose(patch.depths.max(), depth, rtol=RTOL_TOP, atol=0.0)
    np.testing.assert_allclose(patch.normals, -radial, rtol=0.0, atol=ATOL_NORMAL)
    area = patch.areas[loaded(patch)].sum()
    np.testing.assert_allclose(area, 2.0 * np.pi * RADIUS * depth, rtol=RTOL_LATTICE, atol=0.0)
    assert patch.flags == 0
    np.testing.assert_allclose(patch.thickness, 2.0 * RADIUS, rtol=RTOL_CURVED, atol=0.0)


@pytest.mark.parametrize('depth', [1e-7, 1e-6, 1e-5])
def test_a_contact_far_smaller_than_the_first_lattice_is_found(depth):
    body = ContactMesh(shapes.box([0.06, 0.06, 0.03]))
    ball = SphereIndenter(0.01)
    T = transform(np.eye(3), np.array([0.0037, -0.0052, 0.015 + 0.01 - depth]))
    patch, = sample_patch(body, ball, T)
    np.testing.assert_allclose(patch.depths.max(), depth, rtol=0.05, atol=0.0)
    np.testing.assert_allclose(patch.areas[loaded(patch)].sum(), 2.0 * np.pi * 0.01 * depth,
                               rtol=RTOL_LATTICE, atol=0.0)


@settings(max_examples=20)
@given(st.integers(0, 2 ** 31), st.floats(2e-5, 2e-3))
def test_a_patch_has_about_the_nodes_asked_for_and_a_narrow_rim(seed, depth):
    patch, = sample_patch(SPHERES[0.0045], MeshIndenter(PLATE.mesh),
                          pressed_plate(random_rotation(seed), depth))
    assert 60 <= loaded(patch).sum() <= 170
    assert patch.depths.min() > -0.1 * patch.depths.max()
    np.testing.assert_allclose(np.linalg.norm(patch.normals, axis=1), 1.0, rtol=0.0,
                               atol=ATOL_ROUNDOFF)


@settings(max_examples=15)
@given(st.integers(0, 2 ** 31))
def test_turning_object_and_indenter_together_turns_the_patch(seed):
    rng = np.random.default_rng(seed)
    turn = random_rotation(seed)
    T = pressed_plate(random_rotation(seed // 2), rng.uniform(1e-4, 1e-3))
    body = SPHERES[0.0045]
    turned = ContactMesh(body.mesh.with_transform(transform(turn, np.zeros(3))))
    still, = sample_patch(body, MeshIndenter(PLATE.mesh), T)
    moved, = sample_patch(turned, MeshIndenter(PLATE.mesh), transform(turn, np.zeros(3)) @ T)
    np.testing.assert_allclose(moved.points, still.points @ turn.T, rtol=0.0, atol=ATOL_COVARIANT)
    np.testing.assert_allclose(moved.depths, still.depths, rtol=0.0, atol=ATOL_COVARIANT)


def test_a_flat_punch_loads_a_disc_evenly_on_a_box_of_twelve_triangles():
    depth, radius = 2e-4, 0.004
    T = transform(np.diag([1.0, -1.0, -1.0]), np.array([0.003, 0.002, 0.02 - depth]))
    patch, = sample_patch(BOX, PunchIndenter(radius, 0.02), T)
    np.testing.assert_allclose(patch.depths[loaded(patch)], depth, rtol=0.0, atol=ATOL_ROUNDOFF)
    np.testing.assert_allclose(patch.areas[loaded(patch)].sum(), np.pi * radius ** 2,
                               rtol=RTOL_LATTICE, atol=0.0)
    np.testing.assert_allclose(patch.normals, np.tile([0.0, 0.0, -1.0], (len(patch.points), 1)),
                               rtol=0.0, atol=ATOL_ROUNDOFF)
    assert patch.flags == PATCH_REACHES_LINK_EDGE


def test_a_finger_in_the_middle_of_a_coarse_face_needs_no_vertex_of_it():
    T = transform(np.eye(3), np.array([0.005, 0.003, 0.02 + 0.012 - 1e-4]))
    patch, = sample_patch(BOX, MeshIndenter(FINGER.mesh), T)
    np.testing.assert_allclose(patch.depths.max(), 1e-4, rtol=0.05, atol=0.0)
    assert patch.flags == 0


def test_crossed_edges_without_any_vertex_inside_are_a_contact():
    turned = Rotation.from_euler('xz', [45.0, 90.0], degrees=True).as_matrix()
    other = ContactMesh(shapes.box([0.05, 0.01, 0.01]))
    edge_up = Rotation.from_euler('x', 45.0, degrees=True).as_matrix()
    body = ContactMesh(shapes.box([0.05, 0.01, 0.01]).with_transform(
        transform(edge_up, np.zeros(3))))
    reach = np.sqrt(2.0) * 0.01
    patches = sample_patch(body, MeshIndenter(other.mesh),
                           transform(turned, np.array([0.0, 0.0, reach - 2e-4])))
    assert patches
    assert 1e-5 < max(patch.depths.max() for patch in patches) <= np.sqrt(2.0) * 2e-4
    assert all(patch.flags & PATCH_REACHES_OBJECT_EDGE for patch in patches)


def test_bodies_apart_by_a_micrometre_have_no_patch():
    assert not sample_patch(BOX, MeshIndenter(PLATE.mesh), transform(
        np.eye(3), np.array([0.0, 0.0, 0.03 + 1e-6])))
    assert not sample_patch(SPHERES[0.003], SphereIndenter(0.01), transform(
        np.eye(3), np.array([0.0, 0.0, RADIUS + 0.01 + 1e-6])))


def test_the_wall_beside_a_pressed_face_is_no_patch():
    pad = transform(np.eye(3), np.array([0.025, 0.0, 0.02 + 0.01 - 1e-4]))
    patches = sample_patch(BOX, MeshIndenter(PLATE.mesh), pad)
    assert len(patches) == 1
    np.testing.assert_allclose(patches[0].direction, [0.0, 0.0, -1.0], rtol=0.0,
                               atol=ATOL_ROUNDOFF)
    assert patches[0].flags & PATCH_REACHES_OBJECT_EDGE


def test_a_straddled_edge_gives_one_patch_per_side():
    turned = Rotation.from_euler('y', 45.0, degrees=True).as_matrix()
    corner = np.array([0.03, 0.0, 0.02])
    out = np.array([1.0, 0.0, 1.0]) / np.sqrt(2.0)
    pad = transform(turned @ np.diag([1.0, -1.0, -1.0]), corner + (0.01 - 5e-4) * out)
    patches = sample_patch(BOX, MeshIndenter(PLATE.mesh), pad)
    assert sorted(tuple(np.round(patch.direction, 6)) for patch in patches) == [
        (-1.0, 0.0, 0.0), (0.0, 0.0, -1.0)]
    np.testing.assert_allclose(patches[0].depths.max(), patches[1].depths.max(), rtol=0.05,
                               atol=0.0)


def test_a_straddled_edge_is_one_patch_pushed_the_links_way_where_asked():
    turned = Rotation.from_euler('y', 45.0, degrees=True).as_matrix()
    corner = np.array([0.03, 0.0, 0.02])
    depth, out = 2e-3, np.array([1.0, 0.0, 1.0]) / np.sqrt(2.0)
    pad = transform(turned @ np.diag([1.0, -1.0, -1.0]), corner + (0.01 - depth) * out)
    patch, = sample_patch(BOX, MeshIndenter(PLATE.mesh), pad, None, PatchOptions(400),
                          over_edges=True)
    beside = np.abs(patch.points[:, [0, 2]] - corner[[0, 2]]) < ATOL_ROUNDOFF
    assert (beside.sum(axis=1) == 1).all() and beside[loaded(patch)].any(axis=0).all()
    np.testing.assert_allclose(patch.depths, depth - (corner - patch.points) @ out, rtol=0.0,
                               atol=ATOL_COVARIANT)
    np.testing.assert_allclose(patch.normals, np.tile(-out, (len(patch.points), 1)), rtol=0.0,
                               atol=ATOL_COVARIANT)
    # Both strips are as long as the plate is wide, and the depth over the sine of 45 degrees wide.
    np.testing.assert_allclose(patch.areas[loaded(patch)].sum(), 2.0 * 0.04 * depth * 2 ** 0.5,
                               rtol=RTOL_LATTICE, atol=0.0)
    assert patch.flags & PATCH_OVER_EDGE and patch.flags & PATCH_REACHES_OBJECT_EDGE


def test_the_corner_of_a_box_is_one_patch_of_three_sides_where_asked():
    corner, out = np.array([0.03, 0.025, 0.02]), np.ones(3) / np.sqrt(3.0)
    ball = transform(np.eye(3), corner + (0.02 - 1e-3) * out)
    assert len(sample_patch(BOX, SphereIndenter(0.02), ball)) == 3
    patch, = sample_patch(BOX, SphereIndenter(0.02), ball, over_edges=True)
    on = np.abs(patch.points[loaded(patch)] - corner) < ATOL_ROUNDOFF
    assert on.any(axis=0).all()
    np.testing.assert_allclose(patch.direction, -out, rtol=0.0, atol=ATOL_NORMAL)


def fan(turn):
    """Return a bar along y, 60 mm wide, under facets that turn by an angle, an edge at its end."""
    ways = np.array([0.0, 1.0, 2.0, 3.0, 3.0 + 60.0 / turn]) * np.deg2rad(turn)
    steps = np.array([0.02, 0.003, 0.003, 0.003, 0.03])
    section = np.concatenate([[[0.0, 0.0]], np.cumsum(
        steps[:, None] * np.column_stack([np.cos(ways), -np.sin(ways)]), axis=0)])
    section = np.concatenate([section, [[0.0, section[-1, 1]]]])
    hull = trimesh.Trimesh(np.concatenate([np.insert(section, 1, y, axis=1) for y in (
        -0.03, 0.03)]), process=False).convex_hull
    return ContactMesh.from_arrays(hull.vertices, hull.faces), section


@pytest.mark.parametrize('flat', [True, False])
def test_facets_that_turn_are_no_spread_where_they_are_the_bodys_own(flat):
    """A ball over a fan of facets at an edge; a polyhedron has its folds as blunt edges."""
    mesh, section = fan(20.0)
    assert mesh.has_flat_faces
    vars(mesh)['has_flat_faces'] = flat
    middle = np.array([section[4, 0], 0.0, section[4, 1]])
    out = np.array([np.sin(np.deg2rad(70.0)), 0.0, np.cos(np.deg2rad(70.0))])
    patch, = sample_patch(mesh, SphereIndenter(0.02), transform(
        np.eye(3), middle + (0.02 - 6e-3) * out), over_edges=True)
    assert patch.flags & PATCH_OVER_EDGE
    assert bool(patch.flags & PATCH_SPREAD) == (not flat)


@pytest.mark.parametrize('x', [0.0, 0.017])
def test_what_presses_one_side_of_an_edge_alone_is_the_same_where_that_is_asked(x):
    ball = transform(np.eye(3), np.array([x, 0.0, 0.02 + 0.02 - 1e-3]))
    one, = sample_patch(BOX, SphereIndenter(0.02), ball)
    asked, = sample_patch(BOX, SphereIndenter(0.02), ball, over_edges=True)
    assert asked.flags == one.flags
    np.testing.assert_array_equal(asked.depths, one.depths)


@pytest.mark.parametrize('indenter', [
    SphereIndenter(0.02), PunchIndenter(0.01, 0.02), MeshIndenter(PLATE.mesh)])
def test_the_ways_out_of_an_indenter_end_on_its_surface(indenter):
    points = np.array([[1e-3, 2e-3, -3e-3], [-4e-3, 1e-3, -2e-3]])
    ways = indenter.ways_out(points)
    np.testing.assert_allclose(indenter.surface_distances(points + ways), 0.0, rtol=0.0,
                               atol=ATOL_ROUNDOFF)
    np.testing.assert_allclose(np.linalg.norm(ways, axis=1), indenter.surface_distances(points),
                               rtol=0.0, atol=ATOL_ROUNDOFF)


def test_a_link_beyond_the_middle_of_a_thin_plate_presses_through():
    thin = ContactMesh(shapes.box([0.08, 0.08, 0.002]))
    T = transform(np.eye(3), np.array([0.0, 0.0, 0.001 + 0.01 - 0.0015]))
    patches = sample_patch(thin, MeshIndenter(PLATE.mesh), T)
    pressed, = [p for p in patches if p.direction[2] < -0.9]
    assert pressed.flags & PATCH_THROUGH
    np.testing.assert_allclose(pressed.thickness, 0.002, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(pressed.depths.max(), 0.0015, rtol=0.0, atol=1e-9)


def test_two_separate_bumps_are_two_patches():
    comb = TriangleMesh(
        np.concatenate([shapes.box([0.01, 0.02, 0.02]).vertices + [-0.02, 0, 0],
                        shapes.box([0.01, 0.02, 0.02]).vertices + [0.02, 0, 0]]),
        np.concatenate([shapes.box([0.01, 0.02, 0.02]).faces,
                        shapes.box([0.01, 0.02, 0.02]).faces + 8]))
    wide = ContactMesh(shapes.box([0.1, 0.1, 0.02]))
    T = transform(np.eye(3), np.array([0.0, 0.0, 0.02 - 1e-4]))
    patches = sample_patch(wide, MeshIndenter(comb), T)
    middles = sorted(float(p.points[loaded(p), 0].mean()) for p in patches)
    np.testing.assert_allclose(middles, [-0.02, 0.02], rtol=0.0, atol=1e-3)


def test_one_sample_tells_the_same_twice():
    T = pressed_plate(random_rotation(5), 3e-4)
    first, = sample_patch(SPHERES[0.003], MeshIndenter(PLATE.mesh), T)
    sample_patch(BOX, SphereIndenter(0.02), transform(np.eye(3), np.array([0.0, 0.0, 0.039])))
    again, = sample_patch(SPHERES[0.003], MeshIndenter(PLATE.mesh), T)
    np.testing.assert_array_equal(first.points, again.points)
    np.testing.assert_array_equal(first.depths, again.depths)


def test_a_cylinder_of_sixty_four_sides_is_round_and_its_ends_are_flat():
    body = ContactMesh(shapes.cylinder(0.03, 0.08, edge_length=0.003))
    T = transform(np.eye(3), np.array([0.03 + 0.01 - 2e-4, 0.0011, 0.0]))
    patch, = sample_patch(body, SphereIndenter(0.01), T)
    radii = np.hypot(patch.points[:, 0], patch.points[:, 1])
    np.testing.assert_allclose(radii, 0.03, rtol=0.0, atol=2e-6)


def test_few_nodes_are_called_coarse():
    T = pressed_plate(random_rotation(3), 2e-4)
    patch, = sample_patch(SPHERES[0.0045], MeshIndenter(PLATE.mesh), T, None, PatchOptions(3))
    assert patch.flags & PATCH_COARSE


def lattices_of(monkeypatch, depth, options):
    """Return the patches of a ball on a box, and how often lattices were zoomed and fitted."""
    zooms, fits = [], []

    def zoom(*arguments):
        zooms.append(real_zoom(*arguments))
        return zooms[-1]

    def fit(*arguments):
        fits.append(real_fit(*arguments))
        return fits[-1]

    real_zoom, real_fit = sampling.refined_grid, sampling.fitted_grid
    monkeypatch.setattr(sampling, 'refined_grid', zoom)
    monkeypatch.setattr(sampling, 'fitted_grid', fit)
    edge_down = Rotation.from_euler('x', 45.0, degrees=True).as_matrix()   # of the ball's box
    T = transform(edge_down, np.array([0.0037, -0.0052, 0.02 + 0.01 - depth]))
    return sample_patch(BOX, SphereIndenter(0.01), T, None, options), zooms, fits


@pytest.mark.parametrize('levels', [0, 1, 3, 4])
def test_so_many_finer_lattices_are_tried_before_a_spot_is_no_contact(levels, monkeypatch):
    found, zooms, fits = lattices_of(monkeypatch, -1e-12, PatchOptions(levels=levels))
    assert not found and not fits
    assert len({f'{window.spacing:.6g}' for window in zooms}) == levels


def test_a_contact_with_enough_points_is_fitted_at_once(monkeypatch):
    found, zooms, fits = lattices_of(monkeypatch, 3e-3, PatchOptions())
    assert len(found) == len(fits) == 1 and not zooms


class Wrapped:
    """A mesh indenter behind its protocol alone, so that the compiled way round is not taken."""

    def __init__(self, body):
        self._inner = MeshIndenter(body.mesh)

    def __getattr__(self, name):
        return getattr(self._inner, name)


@pytest.mark.parametrize('seed', range(6))
def test_meshes_are_sampled_alike_in_one_kernel_and_through_the_protocol(seed):
    rotation = random_rotation(seed)
    pose = transform(rotation, (RADIUS + 0.011) * rotation[:, 0])
    one, other = (sample_patch(SPHERES[0.003], indenter, pose)
                  for indenter in (MeshIndenter(FINGER.mesh), Wrapped(FINGER)))
    assert len(one) == len(other) == 1
    for name in ('points', 'normals', 'areas', 'depths', 'direction'):
        np.testing.assert_allclose(getattr(one[0], name), getattr(other[0], name), rtol=0.0,
                                   atol=ATOL_ROUNDOFF)
    assert one[0].flags == other[0].flags


@pytest.mark.parametrize('direction, depth', [
    ((0.0, 0.0, 1.0), 0.01), ((0.0, 0.6, 0.8), 0.0125), ((0.0, 0.0, -1.0), -np.inf),
    ((1.0, 0.0, 0.0), -np.inf)])
def test_a_punch_is_met_at_its_flat_end_from_behind_and_from_nowhere_else(direction, depth):
    punch = PunchIndenter(0.02, 0.1)
    depths, met = punch.ray_depths(np.array([[0.0, 0.0, -0.01]]), np.array(direction), 0.05)
    np.testing.assert_allclose(depths, [depth])
    assert met.tolist() == [0 if np.isfinite(depth) else -1]
