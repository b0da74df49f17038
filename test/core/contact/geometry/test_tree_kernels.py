"""The ball tree, its queries and its culling on few triangles, where every bound is checked."""

from contact_oracles import point_triangle_distances
from hypothesis import given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from scipy.spatial.transform import Rotation
import trimesh

from benchmarks.contact.boxes import separation
from gripsim_ros.core.contact import ContactMesh
from gripsim_ros.core.contact.geometry.closest_point import (
    bounds_in_box, closest_on_triangle, closest_points, points_in_box, triangle_meets_box,
    triangles_in_box)
from gripsim_ros.core.contact.geometry.culling import (
    BOX_MARGIN, boxes_apart, coordinate_along, frame_row, transformed_frame, vertices_in_box)
from gripsim_ros.core.bodies.oriented_box import OrientedBox
from gripsim_ros.core.contact.geometry.vp_tree import (
    _fit_to_children, build_vp_tree, DIRECT_SIZE, INFLATION, LEAF_SIZE, refit_vp_tree)
from box_cases import meets_box

pytestmark = pytest.mark.nightly     # by day test_vp_tree and test_clearance search trees of them

RTOL_ROUNDOFF = 1e-9
ATOL_ROUNDOFF = 1e-12
#: Radii of balls against those of the least balls.
RTOL_LEAST_BALL = 0.1
#: Steps after which the least ball's radius is known to 1 %.
BALL_STEPS = 200

seeds = st.integers(0, 2 ** 31)


def rotation(rng):
    return Rotation.random(random_state=int(rng.integers(2 ** 31))).as_matrix()


def small_mesh(seed):
    """Return vertices and faces of a rough ball, ring or box, no two lengths alike."""
    rng = np.random.default_rng(seed)
    mesh = (trimesh.creation.icosphere(1, 0.04), trimesh.creation.box((0.05, 0.02, 0.03)),
            trimesh.creation.torus(0.03, 0.011, 6, 5))[seed % 3]
    shift = rng.normal(size=3) * 0.02
    return mesh.vertices + rng.normal(size=mesh.vertices.shape) * 2e-3 + shift, mesh.faces


def parts_of(tree):
    """Yield each node with the corners of its triangles."""
    for node, (start, end) in enumerate(tree.ranges):
        yield node, tree.corners[start:end]


def area_vectors(corners):
    return np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])


def least_radius(points):
    """Return the radius of the least ball (Badoiu & Clarkson 2003), a bit above it."""
    centre, radius = points.mean(axis=0), np.inf
    for step in range(1, BALL_STEPS):
        distances = np.linalg.norm(points - centre, axis=1)
        radius = min(radius, distances.max())
        centre = centre + (points[distances.argmax()] - centre) / (step + 1.0)
    return radius


def check_normal(tree, node, corners):
    """Check the mean normal; a closed surface, as at the root, has none but of round-off."""
    vectors = area_vectors(corners)
    normal, size = vectors.sum(axis=0), np.linalg.norm(vectors, axis=1).sum()
    assert_allclose(np.linalg.norm(tree.slabs[node, :3]), 1.0, rtol=RTOL_ROUNDOFF)
    if np.linalg.norm(normal) > 1e-3 * size:
        assert_allclose(tree.slabs[node, :3], normal / np.linalg.norm(normal),
                        rtol=0.0, atol=RTOL_ROUNDOFF)


def check_slab(tree, node, corners):
    """Check the mean normal, and that ball and slab are as thick as their triangles."""
    check_normal(tree, node, corners)
    offsets = corners.reshape(-1, 3) - tree.centres[node]
    heights, distances = offsets @ tree.slabs[node, :3], np.linalg.norm(offsets, axis=1)
    assert_allclose([*tree.slabs[node, 3:], tree.radii[node]],
                    [heights.min(), heights.max(), distances.max()], rtol=RTOL_ROUNDOFF,
                    atol=ATOL_ROUNDOFF)
    return heights, distances


@settings(max_examples=12)
@given(seeds)
def test_balls_and_slabs_of_a_new_tree_fit_their_triangles(seed):
    tree = build_vp_tree(*small_mesh(seed))
    ratios, shares = [], []
    for node, corners in parts_of(tree):
        heights, distances = check_slab(tree, node, corners)
        # Grown by rounding's share, not more.
        assert distances.max() + 0.5 * INFLATION * tree.size < tree.radii[node]
        assert tree.slabs[node, 3] < heights.min() - 0.5 * INFLATION * tree.size
        assert tree.slabs[node, 4] > heights.max() + 0.5 * INFLATION * tree.size
        points = corners.reshape(-1, 3)
        middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
        shares.append(tree.radii[node] / np.linalg.norm(points - middle, axis=1).max())
        ratios.append(tree.radii[node] / least_radius(points))
    assert np.mean(ratios) < 1.0 + RTOL_LEAST_BALL
    # Never above the ball about the middle, and on the mean below.
    assert max(shares) <= 1.0 + RTOL_ROUNDOFF and np.mean(shares) < 0.999
    assert_allclose(tree.size, 2.0 * tree.radii[0], rtol=RTOL_ROUNDOFF)


@settings(max_examples=12)
@given(seeds)
def test_nodes_are_halved_by_their_vantage_point_and_numbered_depth_first(seed):
    vertices, faces = small_mesh(seed)
    tree = build_vp_tree(vertices, faces)
    assert_array_equal(tree.corners, vertices[faces][tree.faces])
    assert_array_equal(np.sort(tree.faces), np.arange(len(faces)))
    assert_array_equal(tree.ranges[0], [0, len(faces)])
    below = np.zeros(len(tree.radii), int)
    for node in range(len(tree.radii) - 1, -1, -1):
        (start, end), (inner, outer) = tree.ranges[node], tree.children[node]
        assert (inner < 0) == (outer < 0) == (end - start <= LEAF_SIZE)
        if inner < 0:
            continue
        half = start + (end - start) // 2
        assert node < inner and outer == inner + 1
        assert_array_equal(tree.ranges[[inner, outer]], [[start, half], [half, end]])
        below[node] = 2 + below[inner] + below[outer]
        for child, first in ((inner, outer + 1), (outer, outer + 1 + below[inner])):
            assert tree.children[child, 0] in (-1, first)
        middles = tree.corners[start:end].mean(axis=1)
        vantage = middles[np.linalg.norm(middles - middles.mean(axis=0), axis=1).argmax()]
        distances = np.linalg.norm(middles - vantage, axis=1)
        assert distances[:half - start].max() <= distances[half - start:].min()


@settings(max_examples=12)
@given(seeds)
def test_a_refitted_tree_fits_few_triangles_and_holds_many(seed):
    vertices, faces = small_mesh(seed)
    rng = np.random.default_rng(seed)
    moved = vertices @ (np.eye(3) + 0.4 * rng.normal(size=(3, 3))) + rng.normal(size=3)
    tree = refit_vp_tree(build_vp_tree(vertices, faces), moved, faces)
    assert_array_equal(tree.corners, moved[faces][tree.faces])
    for node, corners in parts_of(tree):
        points = corners.reshape(-1, 3)
        check_normal(tree, node, corners)
        heights = (points - tree.centres[node]) @ tree.slabs[node, :3]
        assert tree.slabs[node, 3] < heights.min() and heights.max() < tree.slabs[node, 4]
        if node == 0 or len(corners) <= DIRECT_SIZE:
            check_slab(tree, node, corners)
            assert_allclose(tree.centres[node], 0.5 * (points.min(axis=0) + points.max(axis=0)),
                            rtol=0.0, atol=ATOL_ROUNDOFF)
        else:
            first, second = (np.append(tree.centres[c], tree.radii[c])
                             for c in tree.children[node])
            assert_allclose(tree.radii[node], least_ball_of_two(first, second)[3],
                            rtol=RTOL_ROUNDOFF)
    assert_allclose(tree.size, 2.0 * tree.radii[0], rtol=RTOL_ROUNDOFF)


def least_ball_of_two(first, second):
    """Return centre and radius of the least ball round two balls."""
    apart = np.linalg.norm(second[:3] - first[:3])
    for one, other in ((first, second), (second, first)):
        if apart + other[3] <= one[3]:
            return one
    ends = [first[:3] + (first[:3] - second[:3]) / apart * first[3],
            second[:3] + (second[:3] - first[:3]) / apart * second[3]]
    return np.append(0.5 * (ends[0] + ends[1]), 0.5 * np.linalg.norm(ends[1] - ends[0]))


@settings(max_examples=60)
@given(seeds)
def test_a_node_holds_the_balls_and_slabs_of_its_children_and_little_more(seed):
    rng = np.random.default_rng(seed)
    centres, radii = rng.normal(size=(3, 3)), rng.uniform(0.05, 3.0, 3)
    areas, slabs = rng.normal(size=(3, 3)), np.zeros((3, 5))
    slabs[:, :3] = areas / np.linalg.norm(areas, axis=1)[:, None]
    slabs[:, 3:] = np.sort(rng.uniform(-1.0, 1.0, (3, 2)) * radii[:, None], axis=1)
    balls = np.column_stack([centres, radii])
    _fit_to_children(1, 2, centres, radii, slabs, areas, 0)
    assert_allclose([*centres[0], radii[0]], least_ball_of_two(balls[1], balls[2]),
                    rtol=0.0, atol=RTOL_ROUNDOFF)
    assert_allclose(areas[0], areas[1] + areas[2], rtol=RTOL_ROUNDOFF)
    normal = areas[0] / np.linalg.norm(areas[0])
    assert_allclose(slabs[0, :3], normal, rtol=RTOL_ROUNDOFF)
    least, most = np.zeros((2, 3)), np.zeros((2, 3))
    for row, child in enumerate((1, 2)):
        offset = normal @ (centres[child] - centres[0])
        cosine = normal @ slabs[child, :3]
        sine = np.sqrt(1.0 - cosine ** 2)
        heights = np.linspace(*slabs[child, 3:], 400)
        sideways = sine * np.sqrt(radii[child] ** 2 - heights ** 2)
        # What the slab holds within its ball, within a cylinder round it, and the ball.
        least[row] = offset + np.array([(cosine * heights - sideways).min(), (
            cosine * heights - sine * radii[child]).min(), -radii[child]])
        most[row] = offset + np.array([(cosine * heights + sideways).max(), (
            cosine * heights + sine * radii[child]).max(), radii[child]])
    assert slabs[0, 3] <= least[:, 0].min() + RTOL_ROUNDOFF
    assert slabs[0, 4] >= most[:, 0].max() - RTOL_ROUNDOFF
    assert_allclose(slabs[0, 3:], [least[:, 1:].max(axis=1).min(), most[:, 1:].min(axis=1).max()],
                    rtol=0.0, atol=RTOL_ROUNDOFF)


@settings(max_examples=150)
@given(st.lists(st.integers(-1, 2), min_size=12, max_size=12))
def test_the_closest_point_of_a_triangle_is_exact_in_every_region(numbers):
    """Whole numbers meet the borders of regions, and triangles that are lines."""
    *corners, p = np.array(numbers, float).reshape(4, 3)
    corners = np.array([corners])
    squared, closest = closest_on_triangle(tuple(p), corners, 0)
    assert_allclose(squared, point_triangle_distances(corners, p[None])[0] ** 2,
                    rtol=0.0, atol=ATOL_ROUNDOFF)
    assert_allclose(np.sum((p - closest) ** 2), squared, rtol=0.0, atol=ATOL_ROUNDOFF)
    assert point_triangle_distances(corners, np.array([closest]))[0] < RTOL_ROUNDOFF


@settings(max_examples=15)
@given(seeds)
def test_closest_points_are_found_within_the_limit_and_only_there(seed):
    tree, rng = build_vp_tree(*small_mesh(seed)), np.random.default_rng(seed)
    points = tree.centres[0] + rng.normal(size=(6, 3)) * 0.05
    exact = point_triangle_distances(tree.corners, points)
    for limit in (np.inf, np.median(exact), 0.5 * exact.min()):
        distances, closest, positions = closest_points(tree, points, limit)
        near = exact < limit
        assert_array_equal(positions >= 0, near)
        assert_allclose(distances, np.where(near, exact, np.inf), rtol=0.0, atol=ATOL_ROUNDOFF)
        assert_allclose(np.linalg.norm(points - closest, axis=1)[near], exact[near], rtol=0.0,
                        atol=ATOL_ROUNDOFF)
        for i in np.flatnonzero(near):
            assert point_triangle_distances(tree.corners[positions[i]][None],
                                            closest[i][None])[0] < ATOL_ROUNDOFF


@settings(max_examples=150)
@given(st.lists(st.integers(-3, 3), min_size=9, max_size=9),
       st.lists(st.integers(0, 2), min_size=3, max_size=3))
def test_a_triangle_meets_a_box_where_cutting_leaves_a_part(numbers, half):
    triangle, half = np.array(numbers, float).reshape(3, 3), np.array(half, float)
    assert triangle_meets_box(triangle, half) == meets_box(triangle, half)


@settings(max_examples=100)
@given(seeds)
def test_triangles_of_any_place_meet_a_box_where_cutting_leaves_a_part(seed):
    """Of triangles wider than the box, so that all thirteen axes part some."""
    rng = np.random.default_rng(seed)
    triangle, half = rng.uniform(-3.0, 3.0, (3, 3)), rng.uniform(0.2, 1.5, 3)
    assert triangle_meets_box(triangle, half) == meets_box(triangle, half)


@settings(max_examples=15)
@given(seeds)
def test_triangles_and_bounds_in_a_box_are_those_of_every_triangle(seed):
    tree, rng = build_vp_tree(*small_mesh(seed)), np.random.default_rng(seed)
    axes, half = rotation(rng), rng.uniform(0.0, 0.03, 3)
    centre = tree.centres[0] + rng.normal(size=3) * 0.02
    for size in (1.0, 30.0):
        local = (tree.corners - centre) @ axes.T
        expected = [i for i in range(len(local)) if meets_box(local[i], size * half)]
        found = triangles_in_box(tree, axes, centre, size * half)
        assert_array_equal(np.sort(found), expected)
        lower, upper = bounds_in_box(tree, axes, centre, size * half)
        if not expected:
            assert_array_equal([lower, upper], [[np.inf] * 3, [-np.inf] * 3])
            continue
        local = local[expected]
        assert_allclose([lower, upper], [np.maximum(local.min(axis=(0, 1)), -size * half),
                                         np.minimum(local.max(axis=(0, 1)), size * half)],
                        rtol=0.0, atol=ATOL_ROUNDOFF)


@settings(max_examples=15)
@given(seeds)
def test_points_in_a_box_are_those_within_its_margin(seed):
    rng = np.random.default_rng(seed)
    T, axes, centre = np.eye(4), rotation(rng), rng.normal(size=3)
    T[:3, :3], T[:3, 3] = rotation(rng), rng.normal(size=3)
    half = rng.uniform(0.5, 1.5, 3)
    local = rng.uniform(-1.3, 1.3, (30, 3)) * half
    sides = np.arange(12) % 3
    local[np.arange(12), sides] = (half[sides] + np.repeat([0.5, 2.0], 6) * 1e-9 * half.sum()) * (
        np.where(np.arange(12) % 6 < 3, 1.0, -1.0))
    points = ((local @ axes + centre) - T[:3, 3]) @ T[:3, :3]
    inside = (np.abs(local) <= half + 1e-9 * half.sum()).all(axis=1)
    found = points_in_box(points, T, OrientedBox(axes, centre, half))
    assert_array_equal(found, np.flatnonzero(inside))


@settings(max_examples=15)
@given(seeds, st.sampled_from([0.3, 1.0, 3.0]))
def test_vertices_in_a_box_are_those_within_its_margin_used_or_not(seed, size):
    vertices, faces = small_mesh(seed)
    rng = np.random.default_rng(seed)
    frame, half = rotation(rng), size * rng.uniform(0.01, 0.04, 3)
    centre = vertices.mean(axis=0) + rng.normal(size=3) * 0.01
    margin = BOX_MARGIN * half.sum()
    # On the box's sides, one margin in two inside: of triangles, and of none.
    edge = np.concatenate([half * np.eye(3) * sign + share * margin * np.eye(3) * sign
                           for sign in (1.0, -1.0) for share in (0.5, 2.0)])
    edge = edge @ frame + centre
    corners = np.concatenate([vertices, edge])
    extra = len(vertices) + np.arange(len(edge)).reshape(-1, 3)
    loose = np.concatenate([edge, rng.normal(size=(6, 3)) * 0.03])
    mesh = ContactMesh.from_arrays(np.concatenate([corners, loose]),
                                   np.concatenate([faces, extra]))
    arrays = mesh.flat_tree
    to_box = np.column_stack([frame, -frame @ centre])
    found = vertices_in_box(arrays.balls, arrays.nodes, arrays.vertices, int(arrays.sizes[0]),
                            to_box, half)
    local = (mesh.mesh.vertices - centre) @ frame.T
    inside = (np.abs(local) <= half + margin).all(axis=1)
    assert_array_equal(np.sort(arrays.vertex_ids[found]), np.flatnonzero(inside))


@settings(max_examples=80)
@given(seeds)
def test_boxes_are_apart_where_one_of_fifteen_axes_says_so(seed):
    rng = np.random.default_rng(seed)
    a, b = (OrientedBox(rotation(rng), rng.uniform(-1.0, 1.0, 3), rng.uniform(0.0, 1.0, 3))
            for _ in range(2))
    T = np.eye(4)
    T[:3, :3], gap = rotation(rng), 0.0
    T[:3, 3] = rng.uniform(-1.0, 1.0, 3)
    for _ in range(6):  # to where they touch
        gap = separation(a, b.with_transform(T))
        way = a.centre - b.with_transform(T).centre
        T[:3, 3] += way / np.linalg.norm(way) * gap
    flat = [np.vstack([box.axes, box.centre, box.half_lengths]) for box in (a, b)]
    for shift in (1e-3, -1e-3):
        moved = T.copy()
        moved[:3, 3] -= way / np.linalg.norm(way) * shift
        gap = separation(a, b.with_transform(moved))
        assert boxes_apart(*flat, moved[:3, :3].copy(), moved[:3, 3].copy()) == (gap > 0.0)


@pytest.mark.parametrize('share, apart', [(0.5, False), (1.5, True)])
@pytest.mark.parametrize('own', [True, False])
def test_boxes_that_rounding_could_join_are_not_apart(share, apart, own):
    """The margin is a part of both boxes' half lengths together."""
    turned = Rotation.from_euler('xyz', (45.0, np.degrees(np.arctan(np.sqrt(0.5))), 0.0),
                                 degrees=True).as_matrix()
    cube = np.vstack([np.eye(3), np.zeros(3), np.ones(3)])
    # One cube stands on a corner, so that the other's faces alone can part them.
    corner = np.vstack([turned, np.zeros(3), np.ones(3)])
    up = np.argmax(np.abs(turned).sum(axis=0))
    reach = 1.0 + np.abs(turned[:, up]).sum() + share * BOX_MARGIN * 6.0
    boxes = (cube, corner) if own else (corner, cube)
    assert boxes_apart(*boxes, np.eye(3), reach * np.eye(3)[up]) == apart


@settings(max_examples=20)
@given(seeds)
def test_rows_of_a_turned_frame_map_as_the_frame_after_the_motion(seed):
    rng = np.random.default_rng(seed)
    frame, turn, origin, p = rotation(rng), rotation(rng), rng.normal(size=3), rng.normal(size=3)
    motion = transformed_frame(frame, turn, origin)
    for k in range(3):
        assert_allclose(coordinate_along(frame_row(motion, k), tuple(p)),
                        (frame @ (turn @ p + origin))[k], rtol=0.0, atol=ATOL_ROUNDOFF)
        assert_allclose(coordinate_along(frame_row(frame, k), tuple(p)), (frame @ p)[k], rtol=0.0,
                        atol=ATOL_ROUNDOFF)
