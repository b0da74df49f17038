"""Parallel rays and penetrating vertices on few triangles, each step against a plain answer."""

from contact_oracles import first_hits, winding_numbers
from hypothesis import given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from scipy.spatial.transform import Rotation
from box_cases import meets_box
import trimesh

from gripsim_ros.core.contact import ContactMesh, vertex_contacts
from gripsim_ros.core.contact.geometry.ray_casting import (
    AHEAD, BEHIND, cast_rays, contains, coverage, direction_frame, doubled, grid_shape,
    slab_range, triangles_under)
from gripsim_ros.core.contact.vertices.kernels import _ascending, _sorted_into_cells
from gripsim_ros.core.contact.vertices.penetrating_vertices import ON_SURFACE
from gripsim_ros.core.transforms import apply, inverse, transform

ATOL_ROUNDOFF = 1e-12
#: Weights and ends of slanted edges lose this much to cancellation, relative to a triangle.
ATOL_WEIGHTS = 1e-9

seeds = st.integers(0, 2 ** 31)


def rotation(rng):
    return Rotation.random(random_state=int(rng.integers(2 ** 31))).as_matrix()


def small_mesh(seed, count=3):
    """Return a rough ball, ring or box, no two lengths alike."""
    rng = np.random.default_rng(seed)
    mesh = (trimesh.creation.icosphere(1, 0.04), trimesh.creation.box((0.05, 0.06, 0.04)),
            trimesh.creation.torus(0.03, 0.011, 6, 5))[seed % count]
    noise = rng.normal(size=mesh.vertices.shape) * 1e-3
    return ContactMesh.from_arrays(mesh.vertices + noise, mesh.faces)


@settings(max_examples=20)
@given(st.lists(st.integers(-2, 2), min_size=3, max_size=3).filter(any))
def test_a_frame_is_right_handed_with_the_direction_last(numbers):
    direction = np.array(numbers, float)
    frame = direction_frame(direction)
    assert_allclose(frame @ frame.T, np.eye(3), rtol=0.0, atol=ATOL_ROUNDOFF)
    assert_allclose(np.linalg.det(frame), 1.0, rtol=0.0, atol=ATOL_ROUNDOFF)
    assert_allclose(frame[2], direction / np.linalg.norm(direction), rtol=0.0,
                    atol=ATOL_ROUNDOFF)


@settings(max_examples=12)
@given(seeds)
def test_rays_hit_what_they_hit_of_every_triangle_ahead_and_behind(seed):
    tree, rng = small_mesh(seed).tree, np.random.default_rng(seed)
    points = tree.centres[0] + rng.uniform(-1.0, 1.0, (25, 3)) * tree.radii[0]
    direction = rng.normal(size=3)
    unit = direction / np.linalg.norm(direction)
    hits = cast_rays(tree, points, direction, np.inf)
    for column, way in ((AHEAD, unit), (BEHIND, -unit)):
        distances, exits = first_hits(tree.corners, points, way)
        found = np.isfinite(distances)
        sign = 1.0 if column == AHEAD else -1.0
        assert_allclose(hits.distances[:, column], sign * distances, rtol=0.0,
                        atol=ATOL_ROUNDOFF)
        leaving = exits == (column == AHEAD)
        assert_array_equal(np.sign(hits.edges[:, column, 3]),
                           np.where(found, np.where(leaving, 1.0, -1.0), 0.0))
        assert_array_equal(hits.positions[:, column] >= 0, found)
        for i in np.flatnonzero(found):
            weights = hits.edges[i, column, :3] / hits.edges[i, column, 3]
            place = weights @ tree.corners[hits.positions[i, column]]
            assert_allclose(place, points[i] + sign * distances[i] * way * sign, rtol=0.0,
                            atol=ATOL_WEIGHTS)
    ahead = cast_rays(tree, points, 3.0 * direction, 0.0)
    assert_allclose(ahead.distances[:, AHEAD], hits.distances[:, AHEAD], rtol=0.0,
                    atol=ATOL_ROUNDOFF)
    near = cast_rays(tree, points, direction, 0.01)
    close = hits.distances[:, BEHIND] > -0.01
    assert_allclose(near.distances[close, BEHIND], hits.distances[close, BEHIND], rtol=0.0,
                    atol=ATOL_ROUNDOFF)


def grown(mesh, size):
    """Return a mesh so many times as large; powers of 2 round nothing."""
    return ContactMesh.from_arrays(size * mesh.mesh.vertices, mesh.mesh.faces)


@settings(max_examples=8)
@given(seeds, st.sampled_from([2.0 ** -8, 2.0 ** 16]))
def test_hits_grow_with_the_mesh_to_the_bit(seed, size):
    body, rng = small_mesh(seed), np.random.default_rng(seed)
    tree, large = body.tree, grown(body, size).tree
    points = tree.centres[0] + rng.uniform(-1.0, 1.0, (40, 3)) * tree.radii[0]
    direction = rng.normal(size=3)
    hits = cast_rays(tree, points, direction, 0.03)
    others = cast_rays(large, size * points, direction, size * 0.03)
    assert_array_equal(size * hits.distances, others.distances)
    assert_array_equal(hits.positions, others.positions)
    assert_array_equal(size * size * hits.edges, others.edges)


def test_a_point_on_the_surface_has_its_hit_behind():
    tree = small_mesh(1).tree
    corners = np.array([[[-1.0, -1, 0], [2, -1, 0], [-1, 2, 0]]])
    tree = tree._replace(centres=np.zeros((1, 3)), radii=np.array([3.0]), corners=corners,
                         children=np.full((1, 2), -1), ranges=np.array([[0, 1]]))
    hits = cast_rays(tree, np.zeros((1, 3)), np.array([0.0, 0.0, 1.0]), 0.0)
    assert_array_equal(hits.distances, [[np.inf, 0.0]])
    assert_array_equal(np.sign(hits.edges[..., 3]), [[0.0, 1.0]])
    assert_array_equal(hits.positions, [[-1, 0]])
    assert_allclose(hits.edges[0, BEHIND, :3] @ corners[0], np.zeros(3), atol=ATOL_ROUNDOFF)


def test_no_points_have_no_hits():
    hits = cast_rays(small_mesh(0).tree, np.zeros((0, 3)), np.array([0.0, 0.0, 1.0]), 0.0)
    assert hits.distances.shape == hits.positions.shape == (0, 2) and hits.edges.shape == (0, 2, 4)


@settings(max_examples=10)
@given(seeds)
def test_points_are_inside_where_the_winding_number_says_so(seed):
    tree, rng = small_mesh(seed).tree, np.random.default_rng(seed)
    points = tree.centres[0] + rng.uniform(-0.8, 0.8, (30, 3)) * tree.radii[0]
    assert_array_equal(contains(tree, points), winding_numbers(tree.corners, points) > 0.5)


@pytest.mark.nightly     # by day vertices inside, below
@settings(max_examples=15)
@given(seeds)
def test_triangles_under_a_box_are_those_that_meet_it_and_some_whose_extent_does(seed):
    tree, rng = small_mesh(seed).tree, np.random.default_rng(seed)
    frame = rotation(rng)
    centre = frame @ (tree.centres[0] + rng.uniform(-0.5, 0.5, 3) * tree.radii[0])
    half = rng.uniform(0.0, 0.5, 3) * tree.radii[0]
    local = tree.corners @ frame.T
    low, high = local.min(axis=1), local.max(axis=1)
    near = ((high >= centre - half) & (low <= centre + half)).all(axis=1)
    meet = [i for i in np.flatnonzero(near) if meets_box(local[i] - centre, half)]
    found = triangles_under(tree, frame, centre - half, centre + half)
    assert len(np.unique(found)) == len(found)
    assert np.isin(meet, found).all() and np.isin(found, np.flatnonzero(near)).all()


@pytest.mark.nightly     # by day vertices inside, below
def test_more_triangles_than_there_is_room_for_at_first_are_found():
    mesh = trimesh.creation.icosphere(2, 0.04)
    tree = ContactMesh.from_arrays(mesh.vertices, mesh.faces).tree
    found = triangles_under(tree, np.eye(3), np.full(3, -1.0), np.full(3, 1.0))
    assert_array_equal(np.sort(found), np.arange(320))


@pytest.mark.nightly     # by day vertices inside, below
def test_roomier_arrays_keep_what_they_have():
    for old in (np.arange(5), np.arange(5, dtype=np.uint32), np.arange(20.0).reshape(5, 4)):
        grown = doubled(old)
        assert grown.shape == (10, *old.shape[1:]) and grown.dtype == old.dtype
        assert_array_equal(grown[:5], old)


@pytest.mark.nightly     # by day vertices inside, below
@settings(max_examples=60)
@given(st.lists(st.integers(-2, 2), min_size=8, max_size=8))
def test_a_triangle_covers_the_points_of_its_projection_and_its_outline(numbers):
    (ax, ay), (bx, by), (cx, cy), (u, v) = np.array(numbers, float).reshape(4, 2)
    projected = np.array([[ax, ay, 0.0], [bx, by, 0.0], [cx, cy, 0.0]])
    area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    e0, e1, e2, total = coverage(tuple(map(tuple, projected)), u, v)
    weights = np.array([e0, e1, e2])
    assert weights.sum() == area
    assert_array_equal(weights @ projected[:, :2], area * np.array([u, v]))
    inside = (weights >= 0.0).all() or (weights <= 0.0).all()
    assert total == (area if inside else 0.0)


@pytest.mark.nightly     # by day vertices inside, below
@settings(max_examples=60)
@given(seeds)
def test_the_range_of_a_triangle_over_a_slab_is_that_of_the_part_cut_out(seed):
    rng = np.random.default_rng(seed)
    triangle = rng.integers(-3, 4, (3, 2)).astype(float)
    low, high = np.sort(rng.integers(-4, 5, 2)).astype(float)
    polygon = [np.array(corner) for corner in triangle]
    for wall, sign in ((low, 1.0), (high, -1.0)):
        cut = []
        for p, q in zip(polygon, polygon[1:] + polygon[:1]):
            a, b = sign * (p[0] - wall), sign * (q[0] - wall)
            cut += [p] if a >= 0.0 else []
            cut += [p + a / (a - b) * (q - p)] if a * b < 0.0 else []
        polygon = cut
    expected = ([min(p[1] for p in polygon), max(p[1] for p in polygon)] if polygon
                else [np.inf, -np.inf])
    assert_allclose(slab_range(np.column_stack([triangle, np.zeros(3)]), low, high), expected,
                    rtol=0.0, atol=ATOL_WEIGHTS)


@pytest.mark.nightly     # by day vertices inside, below
@pytest.mark.parametrize('count, width, height, shape', [
    (8.0, 1.0, 1.0, (4, 4)), (8.0, 4.0, 1.0, (8, 2)), (8.0, 1.0, 4.0, (2, 8)),
    (8.0, 0.0, 0.0, (1, 1)), (8.0, 1.0, 0.0, (16, 1)), (8.0, 0.0, 1.0, (1, 16)),
    (8.0, 1e9, 1.0, (16, 1)), (8.0, 1.0, 1e9, (1, 16)), (0.5, 1.0, 1.0, (1, 1))])
def test_a_grid_has_about_two_square_cells_to_a_point(count, width, height, shape):
    assert grid_shape(count, width, height) == shape


@pytest.mark.nightly     # by day vertices inside, below
@settings(max_examples=20)
@given(seeds, st.sampled_from([0, 80, 10 ** 6]))
def test_points_in_cells_are_counted_and_kept_in_their_order(seed, triangles):
    rng = np.random.default_rng(seed)
    points, places = rng.normal(size=(20, 3)), rng.permutation(40)[:20].astype(np.int32)
    points *= rng.choice([0.0, 1.0, 20.0], 3)
    lower, upper = points.min(axis=0), points.max(axis=0)
    grid = _sorted_into_cells(points, lower, upper, places, triangles)
    at = [np.flatnonzero(places == place)[0] for place in grid.places]
    assert_array_equal(np.sort(at), np.arange(20))
    assert_array_equal(grid.points, points[at])
    assert_array_equal(grid.limits[:2] + grid.limits[4:],
                       [*lower[:2], lower[2], *(upper - lower)[:2]])
    cells = []
    for k, count in enumerate((grid.nu, grid.nv)):
        extent = upper[k] - lower[k]
        if extent > 0.0:
            assert_allclose(grid.limits[2 + k], count / extent, rtol=ATOL_ROUNDOFF)
        cells.append(np.clip(((grid.points[:, k] - lower[k]) * grid.limits[2 + k]).astype(int),
                             0, count - 1))
    flat = cells[0] * grid.nv + cells[1]
    assert (np.diff(flat) >= 0).all()
    assert_array_equal(grid.starts[:grid.nu * grid.nv + 1],
                       np.searchsorted(flat, np.arange(grid.nu * grid.nv + 1)))
    counts = np.zeros((grid.nu, grid.nv), int)
    np.add.at(counts, tuple(cells), 1)
    assert_array_equal(grid.below[1:, 1:], counts.cumsum(axis=0).cumsum(axis=1))
    assert not grid.below[0].any() and not grid.below[:, 0].any()
    if (upper[:2] > lower[:2]).all():
        assert grid.nu * grid.nv <= 20 + min(7 * 20, triangles // 8)


@pytest.mark.nightly     # by day vertices inside, below
@settings(max_examples=20)
@given(seeds, st.sampled_from([1, 3, 40]))
def test_ascending_order_is_that_of_sorting(seed, number):
    ids = np.random.default_rng(seed).permutation(64)[:number].astype(np.int64)
    assert_array_equal(_ascending(ids, 64), np.argsort(ids))


def check_side(found, query, target, T_target_query, way, origin):
    """Check vertices inside a target against every triangle; ``origin`` maps exits to a."""
    corners = target.mesh.vertices[target.mesh.faces]
    points = apply(T_target_query, query.mesh.vertices)
    depths, exits = first_hits(corners, points, way)
    assert_array_equal(found.vertices, np.flatnonzero(exits))
    assert_allclose(found.depths, depths[exits], rtol=0.0, atol=ATOL_ROUNDOFF)
    places = points[exits] + depths[exits, None] * way
    assert_allclose(found.points, apply(origin, places), rtol=0.0, atol=ATOL_ROUNDOFF)
    on_facets = np.einsum('kc,kci->ki', found.weights, corners[found.triangles])
    assert_allclose(on_facets, places, rtol=0.0, atol=ATOL_WEIGHTS)


def query_mesh(points, rng):
    """Return a mesh of points, a third of them used by no triangle."""
    count = len(points) // 9 * 6
    return ContactMesh.from_arrays(points, rng.permutation(len(points))[:count].reshape(-1, 3))


@settings(max_examples=15)
@given(seeds, st.sampled_from([12, 90]))
def test_vertices_inside_and_their_exits_are_those_of_every_triangle(seed, count):
    rng = np.random.default_rng(seed)
    target = small_mesh(seed)
    query = query_mesh(rng.uniform(-0.05, 0.05, (count, 3)), rng)
    T, d = transform(rotation(rng), rng.uniform(-0.02, 0.02, 3)), rng.normal(size=3)
    if seed % 4 == 0:  # along an axis of the mesh, past its sides
        d = T[:3, :3] @ np.eye(3)[seed // 4 % 3]
    d /= np.linalg.norm(d)
    found = vertex_contacts(query, target, T, 2.0 * d)
    check_side(found.a_in_b, query, target, inverse(T), T[:3, :3].T @ d, T)


@settings(max_examples=10)
@given(seeds, seeds)
def test_vertices_of_both_meshes_are_found_in_the_other(seed, other):
    rng = np.random.default_rng(seed)
    a, b = small_mesh(seed), small_mesh(other)
    T, d = transform(rotation(rng), rng.uniform(-0.04, 0.04, 3)), rng.normal(size=3)
    d /= np.linalg.norm(d)
    found = vertex_contacts(a, b, T, d)
    check_side(found.a_in_b, a, b, inverse(T), T[:3, :3].T @ d, T)
    check_side(found.b_in_a, b, a, T, -d, np.eye(4))


@settings(max_examples=8)
@given(seeds, st.sampled_from([2.0 ** -8, 2.0 ** 16]))
def test_vertices_inside_grow_with_the_meshes_to_the_bit(seed, size):
    rng = np.random.default_rng(seed)
    target, query = small_mesh(seed), query_mesh(rng.uniform(-0.05, 0.05, (90, 3)), rng)
    T, d = transform(rotation(rng), rng.uniform(-0.02, 0.02, 3)), rng.normal(size=3)
    found = vertex_contacts(query, target, T, d).a_in_b
    T[:3, 3] *= size
    other = vertex_contacts(grown(query, size), grown(target, size), T, d).a_in_b
    assert_array_equal(size * found.depths, other.depths)
    assert_array_equal(size * found.points, other.points)
    for name in ('vertices', 'triangles', 'weights'):
        assert_array_equal(getattr(found, name), getattr(other, name))


@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_vertices_between_two_boxes_before_an_edge_of_one_are_in_none(sign):
    box = trimesh.creation.box((1.0, 1.0, 1.0))
    offset = np.array([0.0, 0.0, 1.5])
    boxes = ContactMesh.from_arrays(np.concatenate([box.vertices - offset, box.vertices + offset]),
                                    np.concatenate([box.faces, box.faces + 8]))
    # The middle lies on the diagonals of both sides that look at it.
    points = ContactMesh.from_arrays([[0.0, 0, 0], [0.25, 0.25, 0], [0.25, -0.25, 0]], [[0, 1, 2]])
    found = vertex_contacts(points, boxes, np.eye(4), (0.0, 0.0, sign)).a_in_b
    assert len(found.vertices) == 0


def test_vertices_of_meshes_apart_are_in_none():
    a, T = small_mesh(0), transform(np.eye(3), np.array([0.2, 0.0, 0.0]))
    found = vertex_contacts(a, a, T, (1.0, 0.0, 0.0))
    for side in (found.a_in_b, found.b_in_a):
        assert side.vertices.shape == side.depths.shape == side.triangles.shape == (0,)
        assert side.points.shape == side.weights.shape == (0, 3)


@pytest.mark.parametrize('gap, inside', [(-2.0, False), (-0.5, False), (0.5, False),
                                         (2.0, True)])
@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_vertices_within_the_tolerance_of_the_surface_are_on_it(gap, inside, sign):
    mesh = trimesh.creation.box((0.05, 0.06, 0.04))
    box = ContactMesh.from_arrays(mesh.vertices, mesh.faces)
    height = 0.02 - gap * ON_SURFACE * box.tree.size
    points = ContactMesh.from_arrays([[3e-3, 1e-3, height], [0.0, 0, 1], [0, 1, 1]], [[0, 1, 2]])
    found = vertex_contacts(points, box, np.eye(4), (0.0, 0.0, sign)).a_in_b
    assert (0 in found.vertices) == inside


def test_vertices_below_sides_seen_on_edge_are_found():
    """Points in a row or a point alone make grids without width."""
    mesh = trimesh.creation.box((0.05, 0.06, 0.04))
    box = ContactMesh.from_arrays(mesh.vertices, mesh.faces)
    row = np.column_stack([np.linspace(-0.031, 0.031, 13), np.zeros((13, 2))])
    for points in (row, row[:, [1, 0, 2]], row[[6, 6, 6]]):
        query = ContactMesh.from_arrays(points, [[0, 1, 2]])
        found = vertex_contacts(query, box, np.eye(4), (0.0, 0.0, 1.0)).a_in_b
        inside = (np.abs(points) < [0.025, 0.03, 0.02]).all(axis=1)
        assert_array_equal(found.vertices, np.flatnonzero(inside))
        assert_allclose(found.depths, 0.02, rtol=0.0, atol=ATOL_ROUNDOFF)
