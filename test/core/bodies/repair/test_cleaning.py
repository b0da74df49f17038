"""Steps of the repair of meshes, each on the least mesh that needs it."""

from degenerate_faces import degenerate_draft, mesh_of_chains, slow_turn_out_degenerate_faces
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
import trimesh

from gripsim_ros.core.bodies import repair_mesh, shapes, topology
from gripsim_ros.core.bodies.repair import cleaning
from gripsim_ros.core.bodies.repair.cleaning import (
    Draft, drop_duplicate_faces, drop_loose_degenerate_faces, merge_vertices, near_vertices,
    turn_out_degenerate_faces)
from gripsim_ros.core.bodies.repair.holes import MAX_TRIANGULATED_LOOP
from gripsim_ros.core.errors import MeshError

#: A tetrahedron, a point on its first edge, and one beside it.
CORNERS = np.array([[0.0, 0, 0], [1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0], [0.5, 0, 0], [2.0, 0, 0]])
TETRAHEDRON = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]


def draft(faces, vertices=CORNERS):
    """Return a mesh before its repair."""
    return Draft(np.array(vertices, float), np.array(faces, np.int64), ())


@pytest.mark.parametrize('tolerance', [0.0, 1e-4, 2e-3])
def test_vertices_are_merged_as_by_looking_at_all_pairs(tolerance):
    rng = np.random.default_rng(4)
    few = rng.uniform(size=(60, 3)).round(3) * 0.05
    vertices = np.concatenate([few, few[::2], few[::3] + 5e-5, few[::5] + 1e-3])
    vertices = vertices[rng.permutation(len(vertices))]
    near = np.linalg.norm(vertices[:, None] - vertices, axis=2) <= tolerance
    for _ in vertices:      # chains of near ones are one place
        near = near @ near
    kept, labels = np.unique(near.argmax(axis=1), return_inverse=True)
    faces = rng.permutation(len(vertices))[:99].reshape(-1, 3)
    given = draft(faces, vertices)
    merged = merge_vertices(given, near_vertices(given, tolerance), tolerance)
    assert_array_equal(merged.vertices, vertices[kept])
    assert_array_equal(merged.faces, labels[faces])
    assert len(kept) < len(vertices) and len(merged.repairs) == 1


def test_a_body_of_walls_alone_has_no_face():
    with pytest.raises(MeshError, match='no face with an area, got 2 inner wall faces'):
        drop_duplicate_faces(draft([[0, 1, 2], [0, 2, 1]]), walls=True)


def test_of_equal_faces_one_is_kept_where_they_are_no_walls():
    cleaned = drop_duplicate_faces(draft([*TETRAHEDRON, [1, 0, 2]]), walls=False)
    assert_array_equal(cleaned.faces, TETRAHEDRON)
    assert cleaned.repairs == ('dropped 1 duplicate face',)


def test_a_face_without_height_goes_where_the_surface_is_whole_without_it():
    cleaned = drop_loose_degenerate_faces(draft([*TETRAHEDRON, [0, 4, 5]]))
    assert_array_equal(cleaned.faces, TETRAHEDRON)
    assert cleaned.repairs == ('dropped 1 degenerate face',)


#: The face at the front meets the edge at its middle; a face without height closes the gap.
SPLIT = [[0, 2, 1], [0, 4, 3], [4, 1, 3], [1, 2, 3], [2, 0, 3], [0, 1, 4]]


def test_a_face_without_height_stays_where_it_closes_the_surface():
    given = draft(SPLIT)
    assert drop_loose_degenerate_faces(given) is given


def test_the_face_across_its_longest_side_is_split_instead():
    cleaned = turn_out_degenerate_faces(draft(SPLIT))
    assert cleaned.repairs == ('took out 1 degenerate face',)
    mesh = trimesh.Trimesh(CORNERS, cleaned.faces, process=False)
    assert mesh.is_watertight and len(cleaned.faces) == 6
    assert_allclose(mesh.volume, 1.0 / 6.0)
    assert (mesh.area_faces > 0.1).all()


def test_two_faces_without_height_on_the_same_corners_take_each_other_out():
    cleaned = turn_out_degenerate_faces(draft([[1, 2, 3], [0, 5, 4], [5, 0, 4]]))
    assert_array_equal(cleaned.faces, [[1, 2, 3]])


@pytest.mark.parametrize('faces', [
    [*TETRAHEDRON, [0, 5, 4]],          # nothing lies across its longest side
    [[0, 2, 1], [0, 1, 4], [4, 2, 3]],  # the new edge is there already
    [[0, 5, 4], [5, 0, 4]]])            # nothing else would be left
def test_what_cannot_be_split_stays(faces):
    given = draft(faces)
    assert turn_out_degenerate_faces(given) is given


# Each ten take two seconds, nearly all of them in what they are compared with.
@pytest.mark.parametrize('first', [0, *(
    pytest.param(first, marks=pytest.mark.nightly) for first in range(10, 120, 10))])
def test_degenerate_faces_go_as_if_one_looked_at_every_face_each_time(first):
    turned = 0
    for seed in range(first, first + 10):
        given = degenerate_draft(seed)
        cleaned, expected = turn_out_degenerate_faces(given), slow_turn_out_degenerate_faces(given)
        assert_array_equal(cleaned.faces, expected.faces)
        assert cleaned.repairs == expected.repairs
        turned += bool(expected.repairs)
    assert turned > 6


def test_edges_are_looked_up_about_degenerate_faces_alone(monkeypatch):
    sizes = []

    def counted(faces):
        sizes.append(len(faces))
        return topology.edge_table(faces)
    monkeypatch.setattr(cleaning, 'edge_table', counted)
    ball = shapes.sphere(0.04, 0.004)
    given = mesh_of_chains(ball, 10, np.random.default_rng(1))
    assert turn_out_degenerate_faces(given).is_closed()
    looked_up = sizes[:-1]          # the last are the edges of all, for being closed
    assert 1 < len(looked_up) <= cleaning.MAX_ROUNDS
    assert max(looked_up) < 0.2 * len(given.faces)


def test_a_hole_with_many_corners_is_closed_by_a_fan():
    count = 2 * MAX_TRIANGULATED_LOOP
    rod = trimesh.creation.cylinder(0.004, 0.1, sections=count)
    axis = np.flatnonzero(np.linalg.norm(rod.vertices[:, :2], axis=1) < 1e-9)
    top = axis[np.argmax(rod.vertices[axis, 2])]
    loaded = repair_mesh(rod.vertices, rod.faces[~(rod.faces == top).any(axis=1)])
    assert any('filled hole' in line or 'filled 1 hole' in line for line in loaded.repairs)
    assert loaded.mesh.is_closed
    assert_allclose(loaded.mesh.volume, rod.volume, rtol=1e-9)
