"""Vertices of each mesh inside the other, held against brute force over all triangles."""

from contact_oracles import first_hits, point_triangle_distances, winding_numbers
from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
import trimesh

from gripsim_ros.core.contact import ContactMesh, vertex_contacts
from gripsim_ros.core.errors import ShapeError
from gripsim_ros.core.transforms import apply, inverse, transform

ATOL_ROUNDOFF = 1e-12
ATOL_EXACT = 1e-15


def contact_mesh(mesh):
    return ContactMesh.from_arrays(np.array(mesh.vertices), np.array(mesh.faces))


def dented_sphere():
    """Return an apple-like sphere with a dimple at both poles."""
    mesh = trimesh.creation.icosphere(subdivisions=3, radius=0.04)
    z = mesh.vertices[:, 2] / 0.04
    mesh.vertices *= (1.0 - 0.35 * np.exp(-(1.0 - np.abs(z)) / 0.05))[:, None]
    return mesh


SHAPES = {
    'apple': dented_sphere(),
    'sphere': trimesh.creation.icosphere(subdivisions=3, radius=0.035),
    'torus': trimesh.creation.torus(0.03, 0.011),
    'box': trimesh.creation.box((0.05, 0.06, 0.04)),
    'finger': trimesh.creation.capsule(0.045, 0.012, count=(16, 16)),
}
MESHES = {name: contact_mesh(mesh) for name, mesh in SHAPES.items()}

names = st.sampled_from(sorted(SHAPES))
seeds = st.integers(0, 2 ** 31)


def random_pose(rng, reach):
    return transform(Rotation.random(random_state=int(rng.integers(2 ** 31))).as_matrix(),
                     rng.uniform(-reach, reach, 3))


def unit(vector):
    return vector / np.linalg.norm(vector)


def expected(mesh, target, T_target_mesh, direction):
    """Return indices and depths of the vertices inside, by brute force."""
    points = apply(T_target_mesh, mesh.vertices)
    corners = target.vertices[target.faces]
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    near = np.flatnonzero(((points >= low) & (points <= high)).all(axis=1))
    depths, exits = first_hits(corners, points[near], direction)
    return near[exits], depths[exits], points[near][exits]


@settings(max_examples=60)
@given(names, names, seeds)
def test_no_vertex_is_missed_or_false_in_random_poses(name_a, name_b, seed):
    rng = np.random.default_rng(seed)
    T_a_b, direction = random_pose(rng, 0.04), rng.normal(size=3)
    d = unit(direction)
    found = vertex_contacts(MESHES[name_a], MESHES[name_b], T_a_b, direction)
    a, b = SHAPES[name_a], SHAPES[name_b]
    T_b_a = inverse(T_a_b)
    vertices, depths, points = expected(a, b, T_b_a, T_b_a[:3, :3] @ d)
    np.testing.assert_array_equal(found.a_in_b.vertices, vertices)
    np.testing.assert_allclose(found.a_in_b.depths, depths, rtol=0.0, atol=ATOL_ROUNDOFF)
    np.testing.assert_allclose(found.a_in_b.points, a.vertices[vertices] + depths[:, None] * d,
                               rtol=0.0, atol=ATOL_ROUNDOFF)
    vertices, depths, points = expected(b, a, T_a_b, -d)
    np.testing.assert_array_equal(found.b_in_a.vertices, vertices)
    np.testing.assert_allclose(found.b_in_a.depths, depths, rtol=0.0, atol=ATOL_ROUNDOFF)
    np.testing.assert_allclose(found.b_in_a.points, points - depths[:, None] * d,
                               rtol=0.0, atol=ATOL_ROUNDOFF)


@pytest.mark.nightly     # by day below, with depths
@settings(max_examples=25)
@given(names, names, seeds)
def test_the_winding_number_agrees_on_what_is_inside(name_a, name_b, seed):
    rng = np.random.default_rng(seed)
    T_a_b = random_pose(rng, 0.03)
    found = vertex_contacts(MESHES[name_a], MESHES[name_b], T_a_b, rng.normal(size=3))
    b = SHAPES[name_b]
    points = apply(inverse(T_a_b), np.array(SHAPES[name_a].vertices))
    inside = np.flatnonzero(winding_numbers(b.vertices[b.faces], points) > 0.5)
    np.testing.assert_array_equal(found.a_in_b.vertices, inside)


@settings(max_examples=25)
@given(names, names, seeds)
def test_without_direction_depths_are_those_of_the_closest_point(name_a, name_b, seed):
    rng = np.random.default_rng(seed)
    T_a_b = random_pose(rng, 0.03)
    found = vertex_contacts(MESHES[name_a], MESHES[name_b], T_a_b).a_in_b
    b = SHAPES[name_b]
    corners = b.vertices[b.faces]
    points = apply(inverse(T_a_b), np.array(SHAPES[name_a].vertices))
    inside = np.flatnonzero(winding_numbers(corners, points) > 0.5)
    np.testing.assert_array_equal(found.vertices, inside)
    np.testing.assert_allclose(found.depths, point_triangle_distances(corners, points[inside]),
                               rtol=0.0, atol=ATOL_ROUNDOFF)
    np.testing.assert_allclose(
        np.linalg.norm(found.points - SHAPES[name_a].vertices[found.vertices], axis=1),
        found.depths, rtol=0.0, atol=ATOL_ROUNDOFF)


@settings(max_examples=25)
@given(names, names, seeds)
def test_the_exit_lies_where_the_weights_say(name_a, name_b, seed):
    rng = np.random.default_rng(seed)
    T_a_b = random_pose(rng, 0.03)
    direction = rng.normal(size=3) if seed % 2 else None
    found = vertex_contacts(MESHES[name_a], MESHES[name_b], T_a_b, direction).b_in_a
    corners = SHAPES[name_a].vertices[SHAPES[name_a].faces[found.triangles]]
    np.testing.assert_allclose(np.einsum('kc,kci->ki', found.weights, corners), found.points,
                               rtol=0.0, atol=ATOL_ROUNDOFF)
    assert (found.weights >= -ATOL_ROUNDOFF).all()


@settings(max_examples=25)
@given(names, names, seeds)
def test_swapping_the_bodies_swaps_the_answers(name_a, name_b, seed):
    rng = np.random.default_rng(seed)
    T_a_b, d = random_pose(rng, 0.03), unit(rng.normal(size=3))
    T_b_a = inverse(T_a_b)
    forth = vertex_contacts(MESHES[name_a], MESHES[name_b], T_a_b, d)
    back = vertex_contacts(MESHES[name_b], MESHES[name_a], T_b_a, -T_b_a[:3, :3] @ d)
    np.testing.assert_array_equal(forth.a_in_b.vertices, back.b_in_a.vertices)
    np.testing.assert_allclose(forth.a_in_b.depths, back.b_in_a.depths, rtol=0.0,
                               atol=ATOL_ROUNDOFF)


CUBE = contact_mesh(trimesh.creation.box((2.0, 2.0, 2.0)))


def probe(point):
    """Return a tiny tetrahedron whose first vertex is the point given."""
    offsets = np.array([[0, 0, 0], [1e-3, 0, 4.0], [0, 1e-3, 4.0], [-1e-3, -1e-3, 4.0]])
    return ContactMesh.from_arrays(np.asarray(point) + offsets,
                                   [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


@pytest.mark.parametrize('direction, depth, exit_point', [
    ((0.0, 0.0, 1.0), 0.1, (0.0, 0.0, 1.0)),
    ((0.0, 1.0, 1.0), np.sqrt(0.02), (0.0, 0.1, 1.0))])
def test_a_link_vertex_under_the_face_of_a_cube_leaves_along_the_motion(
        direction, depth, exit_point):
    link = probe((0.0, 0.0, 0.9))
    found = vertex_contacts(link, CUBE, np.eye(4), direction).a_in_b
    np.testing.assert_array_equal(found.vertices, [0])
    np.testing.assert_allclose(found.depths, [depth], rtol=0.0, atol=ATOL_EXACT)
    np.testing.assert_allclose(found.points, [exit_point], rtol=0.0, atol=ATOL_EXACT)


def test_a_vertex_in_front_of_two_faces_is_no_contact():
    link = probe((0.0, 0.0, -1.5))
    found = vertex_contacts(link, CUBE, np.eye(4), (0.0, 0.0, 1.0))
    assert len(found.a_in_b.vertices) == 0


def test_a_vertex_resting_on_a_face_is_no_contact():
    for z, direction in ((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)):
        link = probe((0.1, 0.2, z)) if z > 0 else contact_mesh(
            trimesh.creation.box((0.1, 0.1, 0.1)).apply_translation((0.0, 0.0, -1.05)))
        found = vertex_contacts(link, CUBE, np.eye(4), (0.0, 0.0, direction))
        assert len(found.a_in_b.vertices) == 0


def test_rays_through_shared_edges_and_vertices_do_not_leak():
    body = MESHES['apple']
    corners = body.mesh.vertices[body.mesh.faces]
    middles = 0.5 * (corners[:, 0] + corners[:, 1])
    targets = np.concatenate([body.mesh.vertices, middles])
    direction = unit(np.array([0.3, 0.2, 0.9]))
    targets = targets[(body.mesh.vertex_normals @ direction > 0.5)[
        np.concatenate([np.arange(len(body.mesh.vertices)), body.mesh.faces[:, 0]])]]
    inside = targets - 2e-3 * direction
    query = ContactMesh.from_arrays(inside, [[0, 1, 2]])
    expected_inside = np.flatnonzero(winding_numbers(corners, inside) > 0.5)
    found = vertex_contacts(query, body, np.eye(4), direction).a_in_b
    np.testing.assert_array_equal(np.intersect1d(found.vertices, expected_inside),
                                  expected_inside)


def test_indices_are_those_of_an_unmerged_file():
    box = SHAPES['box']
    soup = ContactMesh.from_arrays(box.vertices[box.faces].reshape(-1, 3),
                                   np.arange(3 * len(box.faces)).reshape(-1, 3))
    T_a_b = transform(np.eye(3), np.array([0.02, 0.021, 0.017]))
    merged = vertex_contacts(MESHES['box'], MESHES['sphere'], T_a_b, (1.0, 0.3, 0.2)).a_in_b
    found = vertex_contacts(soup, MESHES['sphere'], T_a_b, (1.0, 0.3, 0.2)).a_in_b
    np.testing.assert_array_equal(np.unique(box.faces.ravel()[found.vertices]), merged.vertices)


@pytest.mark.parametrize('direction', [(0.0, 0.0, 0.0), (np.nan, 0.0, 1.0), (1.0, 0.0)])
def test_a_direction_without_length_is_bad_input(direction):
    with pytest.raises(ShapeError, match='direction must be three finite numbers'):
        vertex_contacts(CUBE, CUBE, np.eye(4), direction)
