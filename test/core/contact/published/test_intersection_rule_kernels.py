"""The paper's tree and rule on few points and triangles, each step against a plain answer."""

from contact_oracles import first_hits
from gripsim_ros.core.bodies import TriangleMesh
from gripsim_ros.core.contact.geometry.ray_casting import direction_frame
from gripsim_ros.core.contact.published.intersection_rule import (
    AREA_SLACK, CANDIDATES, LEAF_SIZE, RuleMesh, _build_tree, _choose_vantage, _divide,
    _line_meets, _nearest, _nearest_fans, rule_contacts)
from gripsim_ros.core.transforms import apply, inverse, transform
from hypothesis import given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from scipy.spatial.transform import Rotation
import trimesh

pytestmark = pytest.mark.nightly     # by day test_intersection_rule applies the whole rule

ATOL_ROUNDOFF = 1e-12
ATOL_WEIGHTS = 1e-9

seeds = st.integers(0, 2 ** 31)


def plane_points(seed, count, whole):
    """Return points of the plane; on a coarse grid many coincide."""
    rng = np.random.default_rng(seed)
    return (rng.integers(0, 4, (count, 2)).astype(float) if whole
            else rng.normal(size=(count, 2))), rng


@settings(max_examples=30)
@given(seeds, st.integers(1, 90), st.booleans())
def test_a_node_is_divided_by_the_mean_distance_from_its_vantage_point(seed, count, whole):
    points, _ = plane_points(seed, count, whole)
    order, vantages, radii, children, ranges = _build_tree(points)
    assert_array_equal(np.sort(order), np.arange(count))
    assert_array_equal(ranges[0], [0, count])
    seen = [0]
    for node, (start, end) in enumerate(ranges):
        own = points[order[start:end]]
        if children[node, 0] < 0:
            # Of a leaf with many points none is nearer to some point than the mean.
            assert children[node, 1] < 0 and vantages[node] == -1
            if end - start > LEAF_SIZE:
                assert len(np.unique(own, axis=0)) < len(own)
            continue
        assert end - start > LEAF_SIZE and vantages[node] == order[start]
        distances = np.linalg.norm(own[1:] - own[0], axis=1)
        assert_allclose(radii[node], distances.mean(), rtol=0.0, atol=ATOL_ROUNDOFF)
        inner, outer = children[node]
        (first, middle), (again, last) = ranges[inner], ranges[outer]
        assert (first, middle, last) == (start + 1, again, end) and first < middle < last
        near = distances < radii[node]
        assert near[:middle - first].all() and not near[middle - first:].any()
        seen += [inner, outer]
    assert_array_equal(np.sort(seen), np.arange(len(ranges)))


def test_points_in_one_place_are_not_divided():
    order, vantages, _, children, ranges = _build_tree(np.ones((3 * LEAF_SIZE, 2)))
    assert_array_equal(ranges, [[0, 3 * LEAF_SIZE]])
    assert_array_equal(children, [[-1, -1]])


@settings(max_examples=30)
@given(seeds, st.integers(1, 40), st.booleans())
def test_dividing_keeps_the_order_on_both_sides(seed, count, whole):
    points, rng = plane_points(seed, count + 8, whole)
    order = rng.permutation(count + 8)
    start, end = 3, count + 5
    before, work = order.copy(), np.empty(count + 8, np.int64)
    radius, middle = _divide(points, order, start, end, work)
    distances = np.linalg.norm(points[before] - points[before[start]], axis=1)
    assert_allclose(radius, distances[start + 1:end].mean(), rtol=0.0, atol=ATOL_ROUNDOFF)
    rest = np.arange(start + 1, end)
    near = distances[rest] < radius
    assert_array_equal(order[:start + 1], before[:start + 1])
    assert_array_equal(order[end:], before[end:])
    assert_array_equal(order[start + 1:end], before[[*rest[near], *rest[~near]]])
    assert middle == start + 1 + near.sum()


@settings(max_examples=30)
@given(seeds, st.integers(1, 33))
def test_the_vantage_point_is_the_candidate_with_the_widest_distances(seed, count):
    points, rng = plane_points(seed, count + 4, False)
    order = rng.permutation(count + 4)
    start, end = 2, count + 2
    step = max(count // CANDIDATES, 1)
    sample = points[order[start + step // 2:end:step]]
    spreads = {place: np.linalg.norm(sample - points[order[place]], axis=1).var()
               for place in range(start, end, step)}
    chosen = _choose_vantage(points, order, start, end)
    assert chosen in spreads
    assert_allclose(spreads[chosen], max(spreads.values()), rtol=0.0, atol=ATOL_ROUNDOFF)


def down_one_branch(tree, points, query):
    """Return the nearest of the points met on the way down the branches on the query's side."""
    order, vantages, radii, children, ranges = tree
    node, met = 0, []
    while children[node, 0] >= 0:
        met.append(vantages[node])
        distance = np.linalg.norm(points[vantages[node]] - query)
        node = children[node, 0 if distance < radii[node] else 1]
    met += list(order[ranges[node, 0]:ranges[node, 1]])
    return np.linalg.norm(points[met] - query, axis=1).min()


@settings(max_examples=30)
@given(seeds, st.integers(1, 90), st.booleans())
def test_the_nearest_point_is_that_of_all_or_of_one_branch(seed, count, whole):
    points, rng = plane_points(seed, count, whole)
    tree = _build_tree(points)
    stack = np.empty(len(tree[2]) + 1, np.int64)
    for query in rng.uniform(-1.0, 4.0, (8, 2)):
        for one_sided in (False, True):
            found = points[_nearest(points, *tree, *query, one_sided, stack)]
            expected = (down_one_branch(tree, points, query) if one_sided
                        else np.linalg.norm(points - query, axis=1).min())
            assert_allclose(np.linalg.norm(found - query), expected, rtol=0.0,
                            atol=ATOL_ROUNDOFF)


@settings(max_examples=40)
@given(seeds)
def test_a_line_meets_a_triangle_where_its_weights_say(seed):
    rng = np.random.default_rng(seed)
    places, faces = rng.normal(size=(5, 3)), np.array([[0, 1, 2], [4, 1, 3]])
    direction = rng.normal(size=3)
    direction /= np.linalg.norm(direction)
    corners = places[faces[1]]
    shares = rng.dirichlet(np.ones(3))
    for outside in (0.0, 0.3):
        shares = shares + outside * np.array([1.0, -2.0, 1.0]) * (1.0 + shares[1])
        point = shares @ corners - 0.7 * direction
        weights = np.empty(3)
        way = _line_meets(tuple(point), tuple(direction), places, faces, 1, weights)
        if shares.min() < 0.0:
            assert way == np.inf
            continue
        assert_allclose(way, 0.7, rtol=0.0, atol=ATOL_WEIGHTS)
        assert_allclose(weights, shares, rtol=0.0, atol=ATOL_WEIGHTS)


def test_a_line_in_the_plane_of_a_triangle_does_not_meet_it():
    places = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    assert _line_meets((0.2, 0.2, 0.0), (1.0, 0.0, 0.0), places, np.array([[0, 1, 2]]), 0,
                       np.empty(3)) == np.inf


@pytest.mark.parametrize('share, met', [(0.9, True), (1.1, False)])
def test_a_triangle_is_met_a_little_beyond_its_edge(share, met):
    places = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    # Beyond an edge the areas exceed the triangle's by twice the weight that is below 0.
    point = (0.3, -0.5 * share * AREA_SLACK, -1.0)
    way = _line_meets(point, (0.0, 0.0, 1.0), places, np.array([[0, 1, 2]]), 0, np.empty(3))
    assert way == (1.0 if met else np.inf)


@settings(max_examples=15)
@given(seeds)
def test_the_rule_tries_the_triangles_round_the_nearest_vertex(seed):
    rng = np.random.default_rng(seed)
    mesh = trimesh.creation.icosphere(1, 1.0)
    target = RuleMesh(TriangleMesh(mesh.vertices + 0.05 * rng.normal(size=(42, 3)), mesh.faces))
    places, faces, starts, incident = target.fans
    candidates = np.sort(rng.permutation(42)[:30])
    points, direction = rng.uniform(-1.2, 1.2, (12, 3)), rng.normal(size=3)
    direction /= np.linalg.norm(direction)
    depths, triangles, weights, partners = _nearest_fans(
        points, *target.fans, candidates, direction, False)
    frame = direction_frame(direction)
    for i, point in enumerate(points):
        ways = (places[candidates] - point) @ frame.T
        near = np.linalg.norm(ways[:, :2], axis=1).argmin()
        assert partners[i] == candidates[near]
        round_it = np.flatnonzero((faces == candidates[near]).any(axis=1))
        depth = first_hits(places[faces[round_it]], point[None], direction)[0][0]
        if ways[near, 2] < 0.0 or depth == np.inf:
            assert triangles[i] == -1
            continue
        assert triangles[i] in round_it
        assert_allclose(depths[i], depth, rtol=0.0, atol=ATOL_WEIGHTS)
        assert_allclose(weights[i] @ places[faces[triangles[i]]], point + depth * direction,
                        rtol=0.0, atol=ATOL_WEIGHTS)


def rough_ball(rng):
    """Return a ball of 1 m, no two of its edges alike."""
    mesh = trimesh.creation.icosphere(2, 1.0)
    noise = 0.02 * rng.normal(size=mesh.vertices.shape)
    return RuleMesh(TriangleMesh(mesh.vertices + noise, mesh.faces))


@settings(max_examples=10)
@given(seeds)
def test_bodies_that_change_places_change_their_answers(seed):
    rng = np.random.default_rng(seed)
    a, b, d = rough_ball(rng), rough_ball(rng), rng.normal(size=3)
    d /= np.linalg.norm(d)
    T = transform(Rotation.random(random_state=seed).as_matrix(), -1.7 * d)
    forth, back = rule_contacts(a, b, T, d), rule_contacts(b, a, inverse(T), -T[:3, :3].T @ d)
    assert len(forth.a_in_b.vertices) and len(forth.b_in_a.vertices)
    for found, other in ((forth.a_in_b, back.b_in_a), (forth.b_in_a, back.a_in_b)):
        assert_array_equal(found.vertices, other.vertices)
        assert_array_equal(found.triangles, other.triangles)
        assert_allclose(found.depths, other.depths, rtol=0.0, atol=ATOL_WEIGHTS)
        assert_allclose(found.points, apply(T, other.points), rtol=0.0, atol=ATOL_WEIGHTS)
    # A vertex leaves by its depth: of b against the motion, of a along it.
    for found, places, way in ((forth.a_in_b, a.mesh.vertices, d),
                               (forth.b_in_a, apply(T, b.mesh.vertices), -d)):
        assert_allclose(places[found.vertices] + found.depths[:, None] * way, found.points,
                        rtol=0.0, atol=ATOL_WEIGHTS)


def test_every_triangle_may_be_the_one_that_is_left_by(rng):
    a, b = rough_ball(rng), rough_ball(rng)
    T, d = transform(np.eye(3), np.array([0.0, 0.0, -1.7])), np.array([0.0, 0.0, 1.0])
    found = rule_contacts(a, b, T, d).b_in_a
    first = found.triangles[len(found.triangles) // 2]
    faces = np.roll(a.mesh.faces, -first, axis=0)
    other = rule_contacts(RuleMesh(TriangleMesh(a.mesh.vertices, faces)), b, T, d).b_in_a
    assert 0 in other.triangles
    assert_array_equal(found.vertices, other.vertices)
    assert_array_equal(found.depths, other.depths)
    assert_array_equal(a.mesh.faces[found.triangles], faces[other.triangles])


@pytest.mark.parametrize('distance', [1.9, 9.0])
def test_bodies_apart_have_no_contacts(distance):
    box = trimesh.creation.icosphere(1, 0.9)
    ball, T = RuleMesh(TriangleMesh(box.vertices, box.faces)), transform(np.eye(3), np.ones(3))
    T[:3, 3] *= distance
    found = rule_contacts(ball, ball, T, np.array([1.0, 0.0, 0.0]))
    for side in (found.a_in_b, found.b_in_a):
        assert side.vertices.shape == side.depths.shape == side.triangles.shape == (0,)
        assert side.points.shape == side.weights.shape == (0, 3)


def test_a_triangle_that_the_line_all_but_runs_along_is_not_met_at_the_end_of_the_world():
    # So far away that its corners look like one point: the three areas vanish by round-off.
    way = (-0.07099823658380491, -0.5402279233281335, -0.8385183607164262)
    places = np.array([[0.0, 0.0, 0.0], 0.01 * np.array(way), [0.0, -0.0001, 0.0024]])
    assert _line_meets((0.2, 0.1, 0.3), way, places, np.array([[0, 1, 2]]), 0,
                       np.empty(3)) == np.inf
