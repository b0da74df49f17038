"""Bounds of clearance on few triangles and small hulls, each against all of them."""

from gripsim_ros.core.batches import OBSTACLE_BOX, OBSTACLE_CYLINDER, OBSTACLE_SPHERE
from gripsim_ros.core.contact.distance.clearance import (
    ABSOLUTE, RELATIVE, _hull_clearances, _obstacle_clearance, _pair_clearances, _plane_gap,
    _put_plane, _slab_gap, _triangle_gap, _triangle_to_link, obstacle_clearance, obstacle_shapes,
    pair_clearances)
from gripsim_ros.core.contact.distance.gjk import AXIS, BALL, DISC, distance_bound, shape_of_points
from gripsim_ros.core.contact.distance.link_hulls import (
    Hulls, _spread_normals, adjacency_graph, hull_shape)
from gripsim_ros.core.contact.geometry.vp_tree import build_vp_tree
from gripsim_ros.core.transforms import apply, transform
from hypothesis import given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

pytestmark = pytest.mark.nightly     # by day test_clearance asks for whole clearances

ATOL_ROUNDOFF = 1e-12

seeds = st.integers(0, 2 ** 31)


def pose(rng, reach):
    direction = rng.normal(size=3)
    return transform(Rotation.random(random_state=int(rng.integers(2 ** 31))).as_matrix(),
                     reach * direction / np.linalg.norm(direction))


def random_hulls(rng, which):
    """Return hulls of two clouds of about 1 m, not about their frames' origins."""
    parts = []
    for count in (7, 10):
        cloud = 0.6 * rng.normal(size=(count, 3)) + 0.3
        hull = ConvexHull(cloud)
        number = np.full(count, -1)
        number[hull.vertices] = np.arange(len(hull.vertices))
        vertices = cloud[hull.vertices]
        normals, centre = _spread_normals(hull.equations[:, :3]), vertices.mean(axis=0)
        parts.append((vertices, adjacency_graph(number[hull.simplices], len(vertices)), normals,
                      (vertices @ normals.T).max(axis=0), centre,
                      np.linalg.norm(vertices - centre, axis=1).max()))
    vertices, graphs, *rest = zip(*parts)
    return Hulls(np.array(which), np.concatenate(vertices),
                 np.cumsum([0, *map(len, vertices)]), np.concatenate(graphs),
                 np.cumsum([0, *map(len, graphs)]), *map(np.array, rest))


def corners_of(hulls, link, T, sweep):
    """Return the corners of a link's hull at a pose and where its sweep began."""
    h = hulls.which[link]
    here = apply(T, hulls.vertices[hulls.vertex_offsets[h]:hulls.vertex_offsets[h + 1]])
    return np.concatenate([here, here - sweep])


def distance(a, b):
    """Return the distance of two shapes in one frame."""
    return distance_bound(a, b, np.eye(3), np.zeros(3), np.ones(3), np.array([0, 1e-12, np.inf]),
                          np.zeros(2, np.int64))


def soup(rng, count):
    """Return the tree of small triangles in a ball, about parallel to each other by turns."""
    middles = 1.5 * rng.normal(size=(count, 1, 3))
    corners = middles + 0.4 * rng.normal(size=(count, 3, 3)) * [1.0, 1.0, 0.1]
    return build_vp_tree(corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3))


@settings(max_examples=15)
@given(seeds, st.booleans(), st.floats(2.0, 8.0))
def test_the_clearance_of_a_hull_is_that_of_the_nearest_triangle(seed, swept, reach):
    rng = np.random.default_rng(seed)
    tree, hulls = soup(rng, 30), random_hulls(rng, [1, 0])
    poses, sweep = np.stack([pose(rng, reach), pose(rng, 6.0)]), rng.normal(size=3) * swept
    bulges = rng.choice([0.0, 0.05, 0.5], 30)
    found = _hull_clearances(hulls, tree, bulges, bulges.max(), poses, sweep)
    for link in range(2):
        cloud = shape_of_points(corners_of(hulls, link, poses[link], sweep))
        exact = max(min(distance(cloud, shape_of_points(corners)) - bulge
                        for corners, bulge in zip(tree.corners, bulges)), 0.0)
        assert found[link] <= exact + 1e-9
        assert found[link] >= exact - max(RELATIVE * exact, ABSOLUTE) - 1e-9


@settings(max_examples=20)
@given(seeds)
def test_the_gap_of_a_node_is_below_that_of_its_triangles_and_above_its_balls(seed):
    rng = np.random.default_rng(seed)
    tree, T = soup(rng, 20), pose(rng, 0.5)
    turn, origin = T[:3, :3], T[:3, 3].copy()
    normals = rng.normal(size=(5, 3))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    reach = rng.uniform(0.2, 1.0, 5)
    for node, (start, end) in enumerate(tree.ranges):
        own = ((tree.corners[start:end].reshape(-1, 3) - origin) @ turn.T) @ normals.T
        centre = turn @ (tree.centres[node] - origin)
        arguments = (normals, reach, tree.centres, tree.radii, tree.slabs, node, turn, origin)
        found = _plane_gap(*arguments, np.inf)
        ball = normals @ centre - reach - tree.radii[node]
        assert ball.max() - ATOL_ROUNDOFF <= found
        assert found <= (own - reach).min(axis=0).max() + ATOL_ROUNDOFF
        # The last plane is asked first, with its slab; where it says enough it is left at that.
        last = _plane_gap(normals[4:], reach[4:], *arguments[2:], np.inf)
        slab = _slab_gap(normals, 4, normals[4] @ centre - reach[4], tree.slabs, node,
                         tree.radii[node], turn)
        assert_allclose(last, max(slab, ball[4]), rtol=0.0, atol=ATOL_ROUNDOFF)
        assert found >= last
        assert _plane_gap(*arguments, last - 1e-9) == last


@settings(max_examples=20)
@given(seeds)
def test_a_slabs_gap_is_that_of_its_nearest_point(seed):
    rng = np.random.default_rng(seed)
    normals, axis = rng.normal(size=(2, 3)), rng.normal(size=3)
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    axis /= np.linalg.norm(axis)
    turn, radius = pose(rng, 1.0)[:3, :3], rng.uniform(0.1, 1.0)
    low, high = np.sort(rng.normal(size=2))
    slabs = np.array([[9.0, 9, 9, 9, 9], [*axis, low, high]])
    turned = turn @ axis
    across = normals[1] - (normals[1] @ turned) * turned
    points = [t * turned - radius * across / np.linalg.norm(across) for t in (low, high)]
    found = _slab_gap(normals, 1, 0.7, slabs, 1, radius, turn)
    assert_allclose(found, 0.7 + min(points @ normals[1]), rtol=0.0, atol=ATOL_ROUNDOFF)
    along = _slab_gap(np.stack([turned] * 2), 1, 0.7, slabs, 1, radius, turn)
    assert_allclose(along, 0.7 + low, rtol=0.0, atol=1e-7)


@settings(max_examples=20)
@given(seeds)
def test_a_triangles_gap_is_that_of_the_plane_farthest_from_it(seed):
    rng = np.random.default_rng(seed)
    corners, T = rng.normal(size=(4, 3, 3)), pose(rng, 0.5)
    triangle = np.empty((3, 3))
    _triangle_to_link(corners, 2, T[:3, :3], T[:3, 3].copy(), triangle)
    assert_allclose(triangle, (corners[2] - T[:3, 3]) @ T[:3, :3].T, rtol=0.0,
                    atol=ATOL_ROUNDOFF)
    normals, reach = rng.normal(size=(4, 3)), rng.uniform(0.2, 1.0, 4)
    gaps = (triangle @ normals.T).min(axis=0) - reach
    assert_allclose(_triangle_gap(normals, reach, triangle, np.inf), gaps.max(), rtol=0.0,
                    atol=ATOL_ROUNDOFF)
    for enough in gaps - 1e-9:   # the planes are asked from the last one
        expected = next(gap for gap in np.maximum.accumulate(gaps[::-1]) if gap >= enough)
        assert_allclose(_triangle_gap(normals, reach, triangle, enough), expected, rtol=0.0,
                        atol=ATOL_ROUNDOFF)


@settings(max_examples=20)
@given(seeds, st.integers(0, 3))
def test_a_plane_that_parts_supports_the_swept_hull(seed, place):
    rng = np.random.default_rng(seed)
    hulls, sweep, direction = random_hulls(rng, [0]), rng.normal(size=3), rng.normal(size=3)
    shape, hints = hull_shape(hulls, 0, sweep), np.array([2, 7])
    normals, reach = np.full((4, 3), 9.0), np.full(4, 9.0)
    _put_plane(shape, direction, hints, normals, reach, place)
    unit = -direction / np.linalg.norm(direction)
    assert_allclose(normals[place], unit, rtol=0.0, atol=ATOL_ROUNDOFF)
    corners = np.concatenate([shape.vertices, shape.vertices + sweep])
    assert_allclose(reach[place], (corners @ unit).max(), rtol=0.0, atol=ATOL_ROUNDOFF)
    others = np.arange(4) != place
    assert (normals[others] == 9.0).all() and (reach[others] == 9.0).all()
    assert hints[0] == (shape.vertices @ unit).argmax() and hints[1] == 7


def obstacle_row(kind, sizes, T):
    return [kind, *sizes, *T[:3].ravel()]


@pytest.mark.parametrize('seed', [1, 2])
def test_obstacles_are_the_shapes_of_their_rows(seed):
    rng = np.random.default_rng(seed)
    sizes, T = rng.uniform(0.5, 1.0, (3, 3)), [pose(rng, 1.0) for _ in range(3)]
    kinds = OBSTACLE_BOX, OBSTACLE_SPHERE, OBSTACLE_CYLINDER
    box, sphere, cylinder = obstacle_shapes(np.array(list(map(obstacle_row, kinds, sizes, T))))
    local = (box.vertices - T[0][:3, 3]) @ T[0][:3, :3] / sizes[0]
    assert_allclose(np.abs(local), 0.5, rtol=0.0, atol=ATOL_ROUNDOFF)
    assert len(np.unique(local > 0.0, axis=0)) == 8
    assert_allclose(sphere.vertices, T[1][:3, 3][None], rtol=0.0, atol=ATOL_ROUNDOFF)
    ends = apply(T[2], np.array([[0.0, 0, -0.5], [0, 0, 0.5]]) * sizes[2, 0])
    assert_allclose(cylinder.vertices, ends, rtol=0.0, atol=ATOL_ROUNDOFF)
    assert_allclose(cylinder.extras[AXIS:AXIS + 3], T[2][:3, 2], rtol=0.0, atol=ATOL_ROUNDOFF)
    thick = [(shape.extras[DISC], shape.extras[BALL]) for shape in (box, sphere, cylinder)]
    assert_array_equal(thick, [(0.0, 0.0), (0.0, sizes[1, 0]), (sizes[2, 1], 0.0)])
    assert not any(shape.extras[:3].any() or len(shape.graph)
                   for shape in (box, sphere, cylinder))


@settings(max_examples=15)
@given(seeds, st.floats(0.0, 6.0))
def test_obstacles_are_as_far_as_the_nearest_link(seed, reach):
    rng = np.random.default_rng(seed)
    hulls = random_hulls(rng, [0, 1])
    poses, sweep = np.stack([pose(rng, reach), pose(rng, 3.0)]), rng.normal(size=3)
    obstacles = obstacle_shapes(np.array([
        obstacle_row(kind, rng.uniform(0.3, 0.8, 3), pose(rng, 3.0))
        for kind in (OBSTACLE_BOX, OBSTACLE_SPHERE, OBSTACLE_CYLINDER)]))
    exact = min(distance(obstacle, shape_of_points(corners_of(hulls, link, poses[link], sweep)))
                for obstacle in obstacles for link in range(2))
    for order, layout in ((obstacles, np.asfortranarray), (obstacles[::-1], np.array)):
        found = obstacle_clearance(hulls, layout(poses), sweep, order)
        assert_allclose(found, exact, rtol=RELATIVE, atol=1e-8)
    assert obstacle_clearance(hulls, poses, sweep, []) == np.inf
    assert len(_obstacle_clearance.signatures) == 1


@settings(max_examples=15)
@given(seeds, st.floats(0.5, 5.0))
def test_pairs_of_links_have_bounds_and_the_nearest_pair_its_distance(seed, reach):
    rng = np.random.default_rng(seed)
    hulls = random_hulls(rng, [0, 1, 1, 0])
    poses = np.stack([pose(rng, reach) for _ in range(4)])
    pairs = rng.permutation(np.argwhere(np.triu(np.ones((4, 4), bool), 1)))[:4]
    clouds = [shape_of_points(corners_of(hulls, link, poses[link], np.zeros(3)))
              for link in range(4)]
    exact = np.array([distance(clouds[i], clouds[j]) for i, j in pairs])
    bounds = pair_clearances(hulls, pairs, poses)
    for layout in (np.asfortranarray, lambda poses: np.repeat(poses, 2, axis=0)[::2]):
        assert_array_equal(pair_clearances(hulls, layout(pairs), layout(poses)), bounds)
    assert len(_pair_clearances.signatures) == 1        # a driver must never wait for another
    assert (bounds <= exact + 1e-9).all()
    assert (bounds >= bounds.min()).all()
    assert_allclose(bounds.min(), exact.min(), rtol=RELATIVE, atol=1e-8)
    # Of pairs whose balls are farther apart than that, the balls' distance is all that is known.
    centres = np.stack([apply(T, hulls.centres[h][None])[0]
                        for T, h in zip(poses, hulls.which)])
    balls = (np.linalg.norm(centres[pairs[:, 0]] - centres[pairs[:, 1]], axis=1)
             - hulls.radii[hulls.which[pairs]].sum(axis=1))
    far = balls > exact.min() + 1e-6
    assert_allclose(bounds[far], balls[far], rtol=0.0, atol=ATOL_ROUNDOFF)
