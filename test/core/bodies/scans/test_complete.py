"""Scans of one side: what they are closed to, what is refused, the doubt grasps carry."""

from dataclasses import replace
from functools import lru_cache

from hypothesis import given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose
from plan_cases import made_up_grasp, plan_by_half_spaces
import pytest
import trimesh

from gripsim_ros.core.bodies import GraspObject, Material
from gripsim_ros.core.bodies.scans.complete import METHODS, complete_scan, estimate_view
from gripsim_ros.core.bodies.scans.reading import has_faces, read_points
from gripsim_ros.core.bodies.shapes.solids import sphere
from gripsim_ros.core.errors import MeshError, ShapeError
from gripsim_ros.core.planning.ranking.assemble import with_scan_uncertainty
from gripsim_ros.library.in_process import find_material, planner_options
from scan_cases import RADIUS, eye, half_sphere


# Smoothing over one of 45 cells: edges are rounded, outlines off by less than a cell of 2 mm.
RTOL_VOLUME = 0.1
ATOL_CELL = 1.0e-3
ATOL_ROUNDOFF = 1e-9
# Seen points lie so many of these cells off the surface: at most, and 19 of 20.
FARTHEST, FAR = 0.5, 0.1
CELL = 0.0019
# Normals of the seen side, which closing feels as roughness; at the seam the shape is assumed.
SEEN_NORMALS, SEAM_NORMALS = np.deg2rad(3.0), np.deg2rad(30.0)


def camera_rays(spacing=0.00125):
    """Return what parallel rays on a grid see of a sphere along -z."""
    steps = np.arange(-RADIUS, RADIUS, spacing) + 0.3 * spacing
    u, v = (grid.ravel() for grid in np.meshgrid(steps, steps))
    hit = u ** 2 + v ** 2 < RADIUS ** 2
    u, v = u[hit], v[hit]
    return np.column_stack([u, v, np.sqrt(RADIUS ** 2 - u ** 2 - v ** 2)])


@lru_cache(maxsize=1)
def mirrored():
    """Return the half of a sphere that an eye sees, mirrored."""
    return complete_scan(half_sphere(), 'mirror', viewpoint=eye())


directions = st.tuples(*[st.floats(-1.0, 1.0)] * 3).filter(
    lambda d: np.linalg.norm(d) > 0.3).map(lambda d: np.array(d) / np.linalg.norm(d))


@settings(max_examples=2)
@given(directions)
def test_half_a_sphere_is_mirrored_to_a_whole_one(view):
    done = complete_scan(half_sphere(view=view), 'mirror', viewpoint=eye(view))
    assert done.mesh.is_closed
    assert done.mesh.volume == pytest.approx(4.0 / 3.0 * np.pi * RADIUS ** 3, rel=RTOL_VOLUME)
    # Nothing lies outside; walls are where the outline was cut.
    assert np.linalg.norm(done.mesh.vertices, axis=1).max() < RADIUS + ATOL_CELL


def test_the_surface_is_smooth_and_passes_through_the_seen_points():
    points = camera_rays()
    mesh = complete_scan(points, 'mirror', viewpoint=eye()).mesh
    radial = mesh.face_centroids / np.linalg.norm(mesh.face_centroids, axis=1, keepdims=True)
    angles = np.arccos(np.clip(np.einsum('ij,ij->i', mesh.face_normals, radial), -1.0, 1.0))
    upper = np.abs(radial[:, 2]) > 0.4
    assert np.sqrt((angles[upper] ** 2).mean()) < SEEN_NORMALS
    assert angles.max() < SEAM_NORMALS
    off = np.abs(trimesh.proximity.closest_point_naive(
        trimesh.Trimesh(mesh.vertices, mesh.faces, process=False), points[::17])[1])
    assert off.max() < FARTHEST * CELL
    assert np.quantile(off, 0.95) < FAR * CELL


@settings(max_examples=3)
@given(st.integers(0, 99))
def test_no_triangle_is_a_sliver(seed):
    mesh = complete_scan(half_sphere(1200, seed=seed), 'mirror', viewpoint=eye()).mesh
    sides = np.linalg.norm(mesh.triangles - np.roll(mesh.triangles, 1, axis=1), axis=2)
    # 1 for an equilateral triangle, 0 for one without area.
    shape = 4.0 * np.sqrt(3.0) * mesh.face_areas / (sides ** 2).sum(axis=1)
    assert shape.min() > 0.2
    assert np.median(shape) > 0.7


@settings(max_examples=4)
@given(directions, st.sampled_from(METHODS))
def test_completion_turns_with_the_scan(view, method):
    points = half_sphere(800)
    z = -view
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x /= np.linalg.norm(x)
    rotation = np.stack([x, np.cross(z, x), z], axis=1)
    here = complete_scan(points, method, viewpoint=eye())
    there = complete_scan(points @ rotation.T, method, viewpoint=eye(view))
    # The picture's axes do not turn with the scan, so cells cut it elsewhere.
    assert there.mesh.volume == pytest.approx(here.mesh.volume, rel=0.06)


def test_a_scan_of_a_cubes_top_and_sides_is_extruded_to_a_block():
    steps = np.linspace(-0.02, 0.02, 41)
    u, v = (grid.ravel() for grid in np.meshgrid(steps, steps))
    top = np.column_stack([u, v, np.full(len(u), 0.02)])
    front = np.column_stack([u, np.full(len(u), -0.02), v])
    view = np.array([0.0, 0.05, -1.0])
    done = complete_scan(np.concatenate([top, front]), 'extrude', viewpoint=-view)
    assert done.mesh.volume == pytest.approx(0.04 ** 3, rel=RTOL_VOLUME)


def test_the_hull_of_a_scan_holds_every_point():
    points = half_sphere(500)
    done = complete_scan(points, 'convex')
    planes = done.mesh.face_normals
    heights = planes @ points.T - np.einsum('ij,ij->i', planes, done.mesh.face_centroids)[:, None]
    assert heights.max() < ATOL_ROUNDOFF
    assert done.mesh.volume == pytest.approx(2.0 / 3.0 * np.pi * RADIUS ** 3, rel=0.05)


@settings(max_examples=6)
@given(directions)
def test_the_view_onto_a_sphere_is_found_from_its_points(view):
    assert estimate_view(half_sphere(view=view), 4e-4) @ view > 0.99


def test_doubt_is_none_where_it_was_seen_and_grows_behind():
    seen = mirrored().seen
    heights = RADIUS * np.array([1.0, -0.3, -0.6, -1.0])
    points = np.column_stack([np.sqrt(np.maximum(RADIUS ** 2 - heights ** 2, 0.0)),
                              np.zeros(4), heights])
    doubt = seen.uncertainty(points)
    assert doubt[0] == 0.0
    assert (np.diff(doubt) > 0.0).all()
    assert doubt[-1] < 2.0 * RADIUS


def test_points_that_are_not_finite_are_dropped_and_told():
    points = np.concatenate([half_sphere(300), np.full((7, 3), np.nan)])
    done = complete_scan(points, 'mirror', viewpoint=eye())
    assert done.notes[0] == 'dropped 7 points that are not finite'
    assert np.isfinite(done.mesh.vertices).all()
    assert 'by mirror' in done.notes[-1]


@pytest.mark.parametrize('points, message', [
    (half_sphere()[:29], 'at least 30 different finite points, got 29'),
    (np.full((90, 3), np.nan), 'finite points, got 0'),
    (np.repeat(half_sphere()[:10], 9, axis=0), 'finite points, got 10'),
    (np.zeros((40, 2)), r'shape \(n, 3\), got \(40, 2\)'),
    (np.zeros((2_000_001, 3)), 'at most 2000000 points'), ('scan', 'must be numbers')])
def test_scans_that_are_none_are_refused(points, message):
    with pytest.raises(ShapeError, match=message):
        complete_scan(points, 'mirror')


@pytest.mark.parametrize('points, message', [
    (1e3 * half_sphere(), '--scale 0.001'), (1e-3 * half_sphere(), '--scale 1000'),
    (np.outer(np.arange(50.0), (0.001, 0.002, 0.0)), 'lie on one line'),
    (half_sphere() * [1.0, 1.0, 0.0], 'lie in one plane'),
    (np.concatenate([half_sphere(), -half_sphere()]), 'points lie all around')])
def test_scans_without_a_body_are_refused(points, message):
    with pytest.raises(MeshError, match=message):
        complete_scan(points, 'mirror')


@pytest.mark.parametrize('arguments, message', [
    ({'method': 'guess'}, "one of mirror, extrude, convex, got 'guess'"),
    ({'viewpoint': (0.0, np.nan, 0.0)}, 'viewpoint must be finite'),
    ({'viewpoint': (0.0, 0.0, 0.0)}, 'outside the scan')])
def test_bad_ways_to_close_are_refused(arguments, message):
    with pytest.raises(ShapeError, match=message):
        complete_scan(half_sphere(), **arguments)


@pytest.mark.parametrize('name, text', [
    ('a.csv', 'x,y,z\n1,2,3\n4,5,6\n'), ('a.xyz', '# scan\n1 2 3 9 9\n4 5 6 9 9\n'),
    ('a.txt', '1;2;3\n4;5;6'),
    ('a.ply', 'ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\n'
     'property float z\nend_header\n1 2 3\n4 5 6\n')])
def test_points_are_read_from_files(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    assert_allclose(read_points(tmp_path / name), [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert not has_faces(tmp_path / name)


@pytest.mark.parametrize('name, content, message', [
    ('a.csv', b'', '0 bytes'), ('a.csv', b'1,2\nb,c', 'cannot be read as CSV'),
    ('a.csv', b'1\n2\n', 'need 2 or 3 columns'), ('a.npy', b'nonsense', 'cannot be read as NPY'),
    ('a.ply', b'ply\nnonsense', 'cannot be read as PLY'), ('a.pdf', b'x', "got 'pdf'")])
def test_files_without_points_are_refused(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ShapeError, match=message):
        read_points(tmp_path / name)


def test_arrays_of_objects_are_not_unpickled(tmp_path):
    np.save(tmp_path / 'a.npy', np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(ShapeError, match='cannot be read as NPY'):
        read_points(tmp_path / 'a.npy')


def doubtful(depth):
    """Return a grasp on a half seen sphere, one contact ``depth`` below its middle."""
    grasp = made_up_grasp(1)
    points = RADIUS * np.array([[0.0, 0.0, 1.0], [0.8, 0.0, 0.6],
                                [np.sqrt(1.0 - depth ** 2), 0.0, -depth]])
    grasp = replace(grasp, contacts=tuple(
        replace(contact, point=point) for contact, point in zip(grasp.contacts, points)))
    seen = mirrored().seen
    return grasp, with_scan_uncertainty(grasp, seen, planner_options())


def test_a_grasp_on_unseen_surface_is_warned_of_and_loses_score():
    plain, warned = doubtful(0.9)
    assert warned.contacts[0].surface_uncertainty == 0.0
    assert warned.contacts[2].surface_uncertainty > 0.005
    assert len(warned.warnings) == len(plain.warnings) + 1
    assert warned.contacts[2].link in warned.warnings[-1]
    assert warned.score < plain.score
    assert warned.score == pytest.approx(sum(term.contribution for term in warned.terms))
    term = warned.terms[-1]
    assert term.contribution == pytest.approx(term.weight * term.normalised)


def test_the_farther_behind_the_lower_the_score():
    scores = [doubtful(depth)[1].score for depth in (0.2, 0.5, 0.9)]
    assert scores[0] > scores[1] > scores[2]


def test_a_grasp_on_a_given_body_is_left_alone():
    grasp = made_up_grasp(1)
    assert with_scan_uncertainty(grasp, None, planner_options()) is grasp


@pytest.mark.slow
def test_a_ball_seen_from_one_side_is_grasped_and_its_back_warned_of():
    stuff = find_material('foam')       # the softest: roughness is felt most
    done = complete_scan(camera_rays(), 'mirror', viewpoint=eye())
    from_scan, from_mesh = (
        plan_by_half_spaces(thing, hypotheses=6, budget=300.0, robustness=0).grasps
        for thing in (GraspObject(done.mesh, stuff, '', done.seen),
                      GraspObject(sphere(RADIUS), stuff)))
    assert len(from_scan) > len(from_mesh) / 2.0
    unsure = [grasp for grasp in from_scan
              if max(contact.surface_uncertainty for contact in grasp.contacts) > 0.0]
    assert unsure
    assert all('was not seen' in ' '.join(grasp.warnings) for grasp in unsure)


def test_where_it_was_seen_is_no_part_of_an_objects_identity():
    done, stuff = mirrored(), Material(1e6, 0.45, 1000.0, 0.5)
    assert GraspObject(done.mesh, stuff).id == GraspObject(done.mesh, stuff, 'x', done.seen).id


@pytest.mark.parametrize('scale', [0.0, -1.0, np.nan, np.inf])
def test_a_scale_that_is_no_factor_is_refused(scale):
    with pytest.raises(MeshError, match='scale must be a finite number above 0, got'):
        complete_scan(half_sphere(50), scale=scale)
