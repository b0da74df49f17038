"""Penetrating vertices where it is hard: edges, slivers, parallel motion, moved meshes."""

from contact_oracles import first_hits, winding_numbers
from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.contact.boxes import separation
from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.bodies.shapes.sweeps import revolve
from gripsim_ros.core.contact import ContactMesh, vertex_contacts
from gripsim_ros.core.contact.geometry.culling import boxes_apart
from gripsim_ros.core.bodies.oriented_box import OrientedBox
from gripsim_ros.core.contact.vertices.penetrating_vertices import ON_SURFACE
from gripsim_ros.core.errors import MeshError
from gripsim_ros.core.transforms import apply, inverse, transform

ATOL_ROUNDOFF = 1e-12
#: Coordinates of 100 m are rounded to 1.4e-14 m, a product of poses to a few of these.
ATOL_FAR = 2e-13

seeds = st.integers(0, 2 ** 31)

SPHERE = ContactMesh(shapes.sphere(0.035, 0.006))
APPLE = ContactMesh(shapes.apple(0.08, 0.007))
MUG = ContactMesh(shapes.mug(edge_length=0.01))
BOX = ContactMesh(shapes.box([0.05, 0.06, 0.04], 0.01))
FINGER = ContactMesh(shapes.capsule(0.012, 0.04, 0.005))


def rotation(rng):
    return Rotation.random(random_state=int(rng.integers(2 ** 31))).as_matrix()


def unit(vector):
    return vector / np.linalg.norm(vector)


def points_as_mesh(points):
    """Return a mesh with these vertices; its triangles do not matter to what it is inside."""
    count = len(points) - len(points) % 3
    faces = np.arange(count).reshape(-1, 3) if count else np.zeros((1, 3), int)
    return ContactMesh.from_arrays(points, faces)


def truth(target, points, direction):
    """Return which points are inside a mesh and their ways out, over all triangles."""
    corners = target.mesh.vertices[target.mesh.faces]
    depths, exits = first_hits(corners, points, direction)
    return np.flatnonzero(exits), depths[exits]


def check(found, target, points, direction, atol=ATOL_ROUNDOFF):
    vertices, depths = truth(target, points, direction)
    np.testing.assert_array_equal(found.vertices, vertices)
    np.testing.assert_allclose(found.depths, depths, rtol=0.0, atol=atol)


@settings(max_examples=20)
@given(st.sampled_from([SPHERE, APPLE, FINGER]), seeds)
def test_points_behind_edges_and_vertices_of_far_facets_are_found(target, seed):
    """Rays meet edges and corners that two facets facing the motion share, to the last bit."""
    rng = np.random.default_rng(seed)
    d, mesh = unit(rng.normal(size=3)), target.mesh
    facing = mesh.face_normals @ d > 0.2
    ends = mesh.edges[(mesh.edge_faces >= 0).all(axis=1) & facing[mesh.edge_faces].all(axis=1)]
    backs = np.ones(len(mesh.vertices), bool)
    backs[mesh.faces[~facing]] = False
    share = rng.uniform(size=(len(ends), 1))
    aims = np.concatenate([mesh.vertices[backs], mesh.vertices[ends].mean(axis=1),
                           share * mesh.vertices[ends[:, 0]]
                           + (1.0 - share) * mesh.vertices[ends[:, 1]]])
    points = aims - rng.uniform(1e-4, 2e-3, (len(aims), 1)) * d
    corners = mesh.vertices[mesh.faces]
    inside = np.flatnonzero(winding_numbers(corners, points) > 0.5)
    found = vertex_contacts(points_as_mesh(points), target, np.eye(4), d).a_in_b
    np.testing.assert_array_equal(found.vertices, inside)
    exits = points[found.vertices] + found.depths[:, None] * d
    np.testing.assert_allclose(exits, aims[found.vertices], rtol=0.0, atol=1e-10)


@pytest.mark.parametrize('axis', range(3))
@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_motion_parallel_to_four_of_six_sides_leaves_through_the_fifth(axis, sign):
    rng = np.random.default_rng(axis)
    half = BOX.mesh.extents / 2.0
    points = rng.uniform(-1.2, 1.2, (90, 3)) * half
    points[:12] = 0.99 * half * rng.choice([-1.0, 1.0], (12, 3))   # beside edges and corners
    d = np.zeros(3)
    d[axis] = sign
    found = vertex_contacts(points_as_mesh(points), BOX, np.eye(4), 7.0 * d).a_in_b
    inside = np.flatnonzero((np.abs(points) < half).all(axis=1))
    np.testing.assert_array_equal(found.vertices, inside)
    np.testing.assert_allclose(found.depths, half[axis] - sign * points[inside, axis], rtol=0.0,
                               atol=ATOL_ROUNDOFF)


def test_a_lattice_over_a_lattice_leaks_nowhere():
    """Vertices straight below the lattice of another box: every ray meets an edge or a corner."""
    box = ContactMesh(shapes.box([0.0625, 0.0625, 0.03125], 0.0078125))
    low = box.mesh.vertices[:, 2].min()
    inner = box.mesh.vertices[(np.abs(box.mesh.vertices[:, :2]) < 0.03).all(axis=1)
                              & (box.mesh.vertices[:, 2] > low)]
    points = inner - [0.0, 0.0, 0.00390625]
    found = vertex_contacts(points_as_mesh(points), box, np.eye(4), (0.0, 0.0, 1.0)).a_in_b
    np.testing.assert_array_equal(found.vertices, np.arange(len(points)))
    np.testing.assert_array_equal(found.depths, np.full(len(points), 0.00390625))


def slivered(width):
    """Return a cylinder with a rim of facets as narrow as ``width`` [m], and a pole as wide."""
    profile = np.array([[0.0, -0.02], [0.02, -0.02], [0.02, 0.02 - width], [0.02 - width, 0.02],
                        [width, 0.02], [0.0, 0.02]])
    return ContactMesh(revolve(profile, 64))


@settings(max_examples=15)
@given(st.sampled_from([3e-6, 3e-7]), seeds)
def test_facets_three_micrometres_wide_are_not_skipped(width, seed):
    rng, target = np.random.default_rng(seed), slivered(width)
    d = unit(rng.normal(size=3))
    corners = target.mesh.vertices[target.mesh.faces]
    edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)
    narrow = edges.min(axis=1) < 2.0 * width
    assert narrow.sum() >= 192 and np.sort(target.mesh.face_areas)[63] < width ** 2
    weights = rng.dirichlet((1.0, 1.0, 1.0), int(narrow.sum()))
    aims = np.einsum('fc,fci->fi', weights, corners[narrow])
    points = np.concatenate([aims - 1e-3 * d, rng.uniform(-0.022, 0.022, (60, 3))])
    found = vertex_contacts(points_as_mesh(points), target, np.eye(4), d).a_in_b
    inside = np.flatnonzero(winding_numbers(corners, points) > 0.5)
    np.testing.assert_array_equal(found.vertices, inside)
    check(found, target, points, d)


@settings(max_examples=15)
@given(seeds)
def test_many_points_under_few_large_facets_are_all_found(seed):
    rng, half = np.random.default_rng(seed), np.array([0.03, 0.02, 0.05])
    target = ContactMesh(shapes.box(2.0 * half))
    points = rng.uniform(-1.1, 1.1, (600, 3)) * half
    T, d = transform(rotation(rng), rng.normal(size=3)), unit(rng.normal(size=3))
    found = vertex_contacts(points_as_mesh(points), target.with_vertices(target.mesh.vertices),
                            np.eye(4), d).a_in_b
    turned = vertex_contacts(points_as_mesh(points), ContactMesh(
        target.mesh.with_transform(T)), inverse(T), d).a_in_b
    inside = np.flatnonzero((np.abs(points) < half).all(axis=1))
    ways = np.where(d > 0.0, half - points[inside], half + points[inside]) / np.abs(d)
    for answer in (found, turned):
        np.testing.assert_array_equal(answer.vertices, inside)
        np.testing.assert_allclose(answer.depths, ways.min(axis=1), rtol=0.0,
                                   atol=ATOL_ROUNDOFF)


@settings(max_examples=20)
@given(seeds)
def test_deep_in_a_mug_the_first_of_several_exits_counts(seed):
    """Points in the wall leave it into the cup or out of it, not through the far wall."""
    rng = np.random.default_rng(seed)
    d = unit(rng.normal(size=3))
    low, high = MUG.mesh.bounds
    points = rng.uniform(low, high, (150, 3))
    found = vertex_contacts(points_as_mesh(points), MUG, np.eye(4), d).a_in_b
    check(found, MUG, points, d)
    assert len(found.vertices) > 0


def test_what_has_passed_through_a_wall_is_no_contact():
    """A finger pushed through a wall of 4 mm: only the vertices in the wall are contacts."""
    T = transform(np.eye(3), np.array([-0.037, 0.0, 0.05]))
    found = vertex_contacts(MUG, FINGER, T, (1.0, 0.0, 0.0)).b_in_a
    points = apply(T, FINGER.mesh.vertices)
    radii = np.hypot(points[:, 0], points[:, 1])
    assert (radii < 0.035).any() and (radii > 0.041).any()
    assert (radii[found.vertices] > 0.0355).all() and (radii[found.vertices] < 0.0401).all()
    check(found, MUG, points, np.array([-1.0, 0.0, 0.0]))


@pytest.mark.parametrize('gap, inside', [(-4.0, False), (-0.5, False), (0.0, False),
                                         (0.5, False), (4.0, True)])
def test_resting_contact_within_the_tolerance_is_none(gap, inside):
    """The tolerance along the motion is ``ON_SURFACE`` times the diameter of the target's ball."""
    tolerance = ON_SURFACE * BOX.tree.size
    height = BOX.mesh.vertices[:, 2].max()
    points = np.array([[0.003, 0.001, height - gap * tolerance], [0.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    for sign in (1.0, -1.0):
        found = vertex_contacts(points_as_mesh(points), BOX, np.eye(4), (0.0, 0.0, sign)).a_in_b
        assert (0 in found.vertices) == inside


@settings(max_examples=20)
@given(st.sampled_from([SPHERE, APPLE, MUG]), seeds)
def test_poses_a_hundred_metres_away_change_nothing(body, seed):
    rng = np.random.default_rng(seed)
    near = transform(rotation(rng), rng.uniform(-0.03, 0.03, 3))
    d = unit(rng.normal(size=3))
    T_world_a = transform(rotation(rng), 100.0 * unit(rng.normal(size=3)))
    far = inverse(T_world_a) @ (T_world_a @ near)
    here = vertex_contacts(FINGER, body, near, d)
    there = vertex_contacts(FINGER, body, far, d)
    normals = body.mesh.face_normals @ near[:3, :3].T, FINGER.mesh.face_normals
    sides = (here.a_in_b, there.a_in_b), (here.b_in_a, there.b_in_a)
    for (side, other), facing in zip(sides, normals):
        np.testing.assert_array_equal(side.vertices, other.vertices)
        slopes = np.abs(facing[side.triangles] @ d)
        assert (np.abs(side.depths - other.depths) * slopes <= ATOL_FAR).all()
    check(there.b_in_a, FINGER, apply(near, body.mesh.vertices), -d, atol=1e-10)


def test_vertices_that_no_triangle_uses_are_asked_about_too():
    vertices = np.vstack([FINGER.mesh.vertices + [0.2, 0.0, 0.0], [[0.0, 0.0, 0.0]]])
    query = ContactMesh.from_arrays(vertices, FINGER.mesh.faces)
    for T in (np.eye(4), transform(np.eye(3), np.array([0.17, 0.0, 0.0]))):
        found = vertex_contacts(query, SPHERE, T, (1.0, 0.2, 0.1)).a_in_b
        check(found, SPHERE, apply(inverse(T), vertices), unit(np.array([1.0, 0.2, 0.1])))
        assert len(found.vertices) > 0


@settings(max_examples=25)
@given(st.sampled_from([SPHERE, APPLE, BOX]), seeds)
def test_a_deformed_mesh_answers_as_one_made_anew(body, seed):
    rng = np.random.default_rng(seed)
    bent = body.mesh.vertices @ (np.eye(3) + 0.3 * rng.normal(size=(3, 3)))
    bent = bent + 0.004 * np.sin(bent @ rng.normal(size=(3, 3)) * 90.0)
    fitted, anew = body.with_vertices(bent), ContactMesh.from_arrays(bent, body.mesh.faces)
    T, d = transform(rotation(rng), rng.uniform(-0.02, 0.02, 3)), rng.normal(size=3)
    one, other = vertex_contacts(FINGER, fitted, T, d), vertex_contacts(FINGER, anew, T, d)
    for side, twin in ((one.a_in_b, other.a_in_b), (one.b_in_a, other.b_in_a)):
        np.testing.assert_array_equal(side.vertices, twin.vertices)
        np.testing.assert_allclose(side.depths, twin.depths, rtol=0.0, atol=ATOL_ROUNDOFF)
    low = fitted.box.half_lengths - np.abs((bent - fitted.box.centre) @ fitted.box.axes.T)
    assert low.min() >= -ATOL_ROUNDOFF


def test_other_vertices_must_be_as_many():
    with pytest.raises(MeshError, match='faces must index vertices'):
        SPHERE.with_vertices(SPHERE.mesh.vertices[:-1])


@settings(max_examples=60)
@given(seeds)
def test_boxes_are_apart_in_the_kernel_where_they_are_by_fifteen_axes(seed):
    rng = np.random.default_rng(seed)
    a, b = (OrientedBox(rotation(rng), rng.uniform(-0.05, 0.05, 3), rng.uniform(0.0, 0.05, 3))
            for _ in range(2))
    T = transform(rotation(rng), rng.uniform(-0.08, 0.08, 3))
    gap = separation(a, b.with_transform(T))
    flat = [np.vstack([box.axes, box.centre, box.half_lengths]) for box in (a, b)]
    if abs(gap) > 1e-8:
        assert boxes_apart(*flat, T[:3, :3].copy(), T[:3, 3].copy()) == (gap > 0.0)


@pytest.mark.parametrize('along, apart', [(2.85, True), (2.80, False)])
def test_crossed_edges_of_boxes_are_apart_by_a_cross_axis_in_the_kernel(along, apart):
    """Two cubes of side 2 on their edges: apart beyond 2 sqrt 2, which six axes do not see."""
    turned = np.array([[1.0, 1.0, np.sqrt(2.0)], [1.0, 1.0, -np.sqrt(2.0)],
                       [np.sqrt(2.0), -np.sqrt(2.0), 0.0]]) / 2.0
    cubes = [np.vstack([axes, np.zeros(3), np.ones(3)]) for axes in (np.eye(3), turned)]
    origin = along * np.array([1.0, 1.0, 0.0]) / np.sqrt(2.0)
    assert boxes_apart(*cubes, np.eye(3), origin) == apart
