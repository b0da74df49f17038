"""Triangle meshes: checks of input, and laws of the derived quantities."""

import time
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from gripsim_ros.core import transforms
from gripsim_ros.core.bodies import TriangleMesh, shapes
from gripsim_ros.core.bodies.mesh import lengths
from gripsim_ros.core.errors import MeshError, ShapeError

ATOL_ROUNDOFF = 1e-13
vectors = st.tuples(*[st.floats(-1.0, 1.0)] * 3).map(np.array)

TETRAHEDRON = ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
               [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


@pytest.mark.parametrize(('vertices', 'message'), [
    (np.zeros((4, 2)), r'shape \(V, 3\), got \(4, 2\)'),
    ([[0, 0, 0], [1, 0, np.nan], [0, 1, 0], [0, 0, np.inf]], r'got 2 .*the first is 1'),
    ([['a', 'b', 'c']], 'must be numbers'),
    ([[0, 0, 0], [1, 0]], 'must be numbers'),
])
def test_bad_vertices_are_refused(vertices, message):
    with pytest.raises(ShapeError, match=message):
        TriangleMesh(vertices, TETRAHEDRON[1])


@pytest.mark.parametrize(('faces', 'error', 'message'), [
    (np.zeros((4, 4), int), ShapeError, r'shape \(F, 3\), got \(4, 4\)'),
    (np.zeros((4, 3)), ShapeError, 'integers, got float64'),
    ([[0, 1, 2], [1, 2]], ShapeError, 'faces must'),
    (np.zeros((0, 3), int), MeshError, 'at least one face'),
    ([[0, 1, 4]], MeshError, 'index vertices 0 to 3, got 0 to 4'),
    ([[0, 1, -1]], MeshError, 'got -1 to 1'),
])
def test_bad_faces_are_refused(faces, error, message):
    with pytest.raises(error, match=message):
        TriangleMesh(TETRAHEDRON[0], faces)


def test_a_mesh_keeps_its_own_read_only_copy():
    vertices = np.array(TETRAHEDRON[0], float)
    mesh = TriangleMesh(vertices, TETRAHEDRON[1])
    vertices[0] = 9.0
    assert_array_equal(mesh.vertices[0], 0.0)
    with pytest.raises(ValueError, match='read-only'):
        mesh.vertices[0] = 1.0


def test_derived_arrays_are_let_go_of_and_computed_again():
    mesh = shapes.box([0.1, 0.1, 0.1], 0.05)
    names = ('triangles', 'face_normals', 'vertex_normals', 'edges')
    before = {name: getattr(mesh, name) for name in names}
    kept = {name: before[name].copy() for name in names}
    said, array, area = mesh.content_hash, weakref.ref(before['triangles']), mesh.area
    before.clear()
    mesh.clear_derived()
    assert array() is None and mesh.content_hash is said and mesh.area == area
    for name, values in kept.items():
        assert_array_equal(getattr(mesh, name), values)


def test_derived_arrays_are_read_only():
    mesh = TriangleMesh(*TETRAHEDRON)
    with pytest.raises(ValueError, match='read-only'):
        mesh.face_normals[0] = 1.0


def test_copies_leave_the_original_as_it_was():
    mesh = TriangleMesh(*TETRAHEDRON)
    bigger = mesh.with_scale(2.0).with_flipped_faces()
    assert_allclose(bigger.volume, -8.0 * mesh.volume, rtol=ATOL_ROUNDOFF)
    assert_allclose(mesh.volume, 1.0 / 6.0, rtol=ATOL_ROUNDOFF)


@settings(max_examples=25, deadline=None)
@given(rotation=vectors, translation=vectors)
def test_derived_quantities_turn_with_the_mesh(rotation, translation):
    mesh = shapes.apple(edge_length=0.02)
    T_a_mesh = transforms.from_rotation_vector(np.concatenate([translation, 3.0 * rotation]))
    moved = mesh.with_transform(T_a_mesh)
    turn = T_a_mesh[:3, :3]
    assert_allclose(moved.face_normals, mesh.face_normals @ turn.T, atol=1e-11)
    assert_allclose(moved.vertex_normals, mesh.vertex_normals @ turn.T, atol=1e-11)
    assert_allclose(moved.vertex_areas, mesh.vertex_areas, rtol=1e-11)
    assert_allclose(moved.dihedral_angles, mesh.dihedral_angles, atol=1e-10)
    assert_allclose(moved.volume, mesh.volume, rtol=1e-11)


@pytest.mark.parametrize('asked', ['closed', 'angles', 'neither'])
def test_edges_known_before_a_motion_are_those_found_after_it(asked):
    mesh = shapes.apple(edge_length=0.02)
    mesh = mesh.with_faces(mesh.faces[3:])      # open
    _ = {'closed': lambda: mesh.is_closed, 'angles': lambda: mesh.dihedral_angles,
         'neither': lambda: None}[asked]()
    moved = mesh.with_scale(2.0)
    anew = TriangleMesh(moved.vertices, moved.faces)
    assert moved.is_closed == anew.is_closed
    assert_array_equal(moved.edges, anew.edges)
    assert_array_equal(moved.edge_faces, anew.edge_faces)
    assert_array_equal(moved.dihedral_angles, anew.dihedral_angles)


def test_vertex_areas_add_up_to_the_area():
    mesh = shapes.apple(edge_length=0.01)
    assert_allclose(mesh.vertex_areas.sum(), mesh.area, rtol=ATOL_ROUNDOFF)


def test_closed_surfaces_have_a_zero_sum_of_area_vectors():
    mesh = shapes.apple(edge_length=0.01)
    assert_allclose(mesh.face_areas @ mesh.face_normals, 0.0, atol=ATOL_ROUNDOFF)


def test_vertex_normals_of_a_box_do_not_depend_on_its_diagonals():
    normals = shapes.box([1.0, 1.0, 1.0]).vertex_normals
    corners = shapes.box([1.0, 1.0, 1.0]).vertices
    assert_allclose(normals, corners / np.linalg.norm(corners[0]), atol=ATOL_ROUNDOFF)


def test_vertex_normals_of_a_sphere_are_nearly_radial():
    mesh = shapes.sphere(0.04, 0.004)
    assert_allclose(mesh.vertex_normals, mesh.vertices / 0.04, atol=2e-3)


def test_euler_number_of_a_sphere_is_two():
    mesh = shapes.sphere(0.04, 0.004)
    assert len(mesh.vertices) - len(mesh.edges) + len(mesh.faces) == 2


def test_neighbours_are_mutual_and_share_the_edge():
    mesh = shapes.apple(edge_length=0.02)
    for face, neighbours in enumerate(mesh.face_neighbours):
        for side, other in enumerate(neighbours):
            back = list(mesh.face_neighbours[other]).index(face)
            assert mesh.face_edges[other, back] == mesh.face_edges[face, side]


def test_edge_faces_run_along_and_against_the_edge():
    mesh = shapes.box([1.0, 2.0, 3.0], 0.7)
    for (low, high), faces in zip(mesh.edges, mesh.edge_faces):
        for face, (tail, head) in zip(faces, ((low, high), (high, low))):
            corners = list(mesh.faces[face])
            assert corners[(corners.index(tail) + 1) % 3] == head


def test_dihedral_angles_of_a_box_are_flat_or_right():
    angles = shapes.box([1.0, 2.0, 3.0]).dihedral_angles
    assert_allclose(np.sort(angles), np.repeat([0.0, np.pi / 2.0], [6, 12]),
                    atol=ATOL_ROUNDOFF)


def test_dihedral_angle_of_a_groove_is_negative():
    angles = shapes.box([1.0, 2.0, 3.0]).with_flipped_faces().dihedral_angles
    assert_allclose(angles.min(), -np.pi / 2.0, atol=ATOL_ROUNDOFF)


def test_an_open_edge_joins_no_faces_and_opens_the_mesh():
    mesh = TriangleMesh(TETRAHEDRON[0], TETRAHEDRON[1][:3])
    assert not mesh.is_closed
    assert np.count_nonzero(mesh.edge_faces[:, 0] < 0) == 3
    assert_array_equal(mesh.dihedral_angles[mesh.edge_faces[:, 0] < 0], np.pi)


def test_an_edge_between_faces_of_opposite_winding_joins_none():
    faces = np.array(TETRAHEDRON[1])
    faces[0] = faces[0][::-1]
    mesh = TriangleMesh(TETRAHEDRON[0], faces)
    assert np.count_nonzero(mesh.edge_faces[:, 0] < 0) == 3


def test_a_box_has_six_smooth_sides_and_a_sphere_one():
    box = shapes.box([1.0, 2.0, 3.0], 0.5)
    assert box.smooth_sides().max() == 5
    for label in range(6):
        normals = box.face_normals[box.smooth_sides() == label]
        assert_allclose(normals, np.broadcast_to(normals[0], normals.shape), atol=1e-12)
    assert shapes.sphere(0.04, 0.005).smooth_sides().max() == 0


def test_corner_normals_of_a_box_are_its_face_normals():
    box = shapes.box([1.0, 2.0, 3.0], 0.5)
    expected = np.broadcast_to(box.face_normals[:, None], (len(box.faces), 3, 3))
    assert_allclose(box.corner_normals(), expected, atol=ATOL_ROUNDOFF)


def test_corner_normals_of_a_smooth_body_are_its_vertex_normals():
    mesh = shapes.apple()
    assert_allclose(mesh.corner_normals(), mesh.vertex_normals[mesh.faces],
                    atol=ATOL_ROUNDOFF)


def corner_normals_by_walking(mesh, angle):
    """Walk from face to face round each vertex: slow, and independent of any graph code."""
    normals = np.zeros((len(mesh.faces), 3, 3))
    for face, corner in np.ndindex(len(mesh.faces), 3):
        vertex, seen, stack = mesh.faces[face, corner], set(), [face]
        while stack:
            here = stack.pop()
            if here in seen:
                continue
            seen.add(here)
            k = list(mesh.faces[here]).index(vertex)
            normals[face, corner] += mesh.corner_angles[here, k] * mesh.face_normals[here]
            for side in (k, (k + 2) % 3):
                if abs(mesh.dihedral_angles[mesh.face_edges[here, side]]) <= angle:
                    stack.append(mesh.face_neighbours[here, side])
    return normals / np.linalg.norm(normals, axis=-1, keepdims=True)


def test_corner_normals_equal_those_of_a_walk_round_each_vertex():
    generator = np.random.default_rng(5)
    mesh = shapes.sphere(1.0, 0.4)
    mesh = mesh.with_vertices(mesh.vertices + generator.normal(scale=0.06, size=(
        len(mesh.vertices), 3)))
    angle = float(np.median(np.abs(mesh.dihedral_angles)))
    assert_allclose(mesh.corner_normals(angle), corner_normals_by_walking(mesh, angle),
                    atol=1e-12)


def test_corner_normals_agree_along_smooth_edges_of_a_half_sharp_ridge():
    mesh = shapes.box([1.0, 1.0, 1.0], 0.25)
    wide = mesh.corner_normals(np.deg2rad(100.0))
    assert_allclose(wide, mesh.vertex_normals[mesh.faces], atol=ATOL_ROUNDOFF)


def test_a_face_without_area_has_no_normal_and_spoils_no_other():
    vertices = [[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0]]
    mesh = TriangleMesh(vertices, [[0, 1, 2], [0, 2, 3]])
    assert_array_equal(mesh.face_normals, [[0, 0, 0], [0, 0, 1]])
    assert np.isfinite(mesh.corner_normals()).all()
    assert_allclose(mesh.vertex_normals[0], [0, 0, 1], atol=ATOL_ROUNDOFF)


def test_the_content_hash_names_vertices_and_faces():
    mesh = TriangleMesh(*TETRAHEDRON)
    assert mesh.content_hash == TriangleMesh(*TETRAHEDRON).content_hash
    assert mesh.content_hash != mesh.with_scale(1.0 + 1e-15).content_hash
    assert mesh.content_hash != mesh.with_flipped_faces().content_hash


def test_negative_zero_is_zero_to_the_content_hash():
    mesh = TriangleMesh(*TETRAHEDRON)
    assert mesh.with_vertices(-mesh.vertices * -1.0).content_hash == mesh.content_hash
    assert mesh.with_vertices(np.where(mesh.vertices == 0.0, -0.0, mesh.vertices)
                              ).content_hash == mesh.content_hash


def test_twenty_thousand_faces_get_corner_normals_in_a_fifth_of_a_second():
    mesh = shapes.sphere(0.04, 0.0015)
    assert len(mesh.faces) >= 20_000
    start = time.process_time()     # of this process, whatever else runs
    mesh.corner_normals()
    assert time.process_time() - start < 0.2


@pytest.mark.parametrize('shape', [(3,), (7, 3), (5, 3, 3)])
def test_lengths_have_the_bits_of_numpy(shape):
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=shape) * 10.0 ** rng.uniform(-9.0, 9.0, (*shape[:-1], 1))
    assert_array_equal(lengths(vectors), np.linalg.norm(vectors, axis=-1))
