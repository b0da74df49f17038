"""The paper's own rule: right where triangles are even, wrong where it is known to be."""

from contact_oracles import first_hits
from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from gripsim_ros.core.bodies import shapes, TriangleMesh
from gripsim_ros.core.contact import ContactMesh, vertex_contacts
from gripsim_ros.core.contact.published.intersection_rule import (
    RuleMesh, _build_tree, _nearest, rule_contacts, rule_pairs)
from gripsim_ros.core.errors import ShapeError
from gripsim_ros.core.transforms import apply, transform

ATOL_ROUNDOFF = 1e-12
#: At 1 mm the rule loses 0.8 % at the rims of the regions, one branch 2.2 %.
LOST_WHERE_EVEN = 0.01

seeds = st.integers(0, 2 ** 31)

BALL, APPLE = shapes.sphere(0.03, 0.004), shapes.apple(0.08, 0.004)


def random_pose(rng, reach):
    return transform(Rotation.random(random_state=int(rng.integers(2 ** 31))).as_matrix(),
                     rng.uniform(-reach, reach, 3))


@settings(max_examples=40)
@given(st.integers(1, 300), st.integers(1, 40), seeds)
def test_the_tree_finds_the_nearest_point_and_one_branch_does_not_always(count, grid, seed):
    rng = np.random.default_rng(seed)
    # Points of a coarse grid: duplicates and equal distances.
    points = rng.integers(0, grid, (count, 2)).astype(float)
    queries = rng.uniform(-1.0, grid + 1.0, (20, 2))
    tree = _build_tree(points)
    stack = np.empty(len(tree[2]) + 1, np.int64)
    nearest = cKDTree(points).query(queries)[0]
    for query, expected in zip(queries, nearest):
        for one_sided in (False, True):
            found = points[_nearest(points, *tree, *query, one_sided, stack)]
            distance = np.linalg.norm(found - query)
            assert distance >= expected - ATOL_ROUNDOFF
            assert one_sided or distance <= expected + ATOL_ROUNDOFF


def test_one_branch_misses_the_nearest_point():
    # On a line: vantage 0, radius the mean 2.4; 2.35 goes inwards, 2.6 is nearer outside.
    points = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.6, 0.0], [4.0, 0.0]])
    order = np.arange(5)
    tree = (order, np.array([0, -1, -1]), np.array([2.4, 0.0, 0.0]),
            np.array([[1, 2], [-1, -1], [-1, -1]]), np.array([[0, 5], [1, 3], [3, 5]]))
    stack = np.empty(4, np.int64)
    assert points[_nearest(points, *tree, 2.35, 0.0, True, stack), 0] == 2.0
    assert points[_nearest(points, *tree, 2.35, 0.0, False, stack), 0] == 2.6


@settings(max_examples=10)
@given(seeds)
def test_pairs_are_nearest_along_the_motion_and_projections_are_the_contacts(seed):
    rng = np.random.default_rng(seed)
    d = rng.normal(size=3)
    d /= np.linalg.norm(d)
    T = transform(random_pose(rng, 0.0)[:3, :3], -0.06 * d)
    meshes = RuleMesh(APPLE), RuleMesh(BALL)
    found, contacts = rule_pairs(*meshes, T, d), rule_contacts(*meshes, T, d)
    vertices = APPLE.vertices, apply(T, BALL.vertices)
    across = np.linalg.svd(d[None])[2][1:]
    for side, own, other, known in zip(found, vertices, vertices[::-1],
                                       (contacts.a_in_b, contacts.b_in_a)):
        np.testing.assert_array_equal(side.projections, known.points)
        assert len(side.points) == len(side.partners) > len(side.projections)
        assert cKDTree(own).query(side.points)[0].max() < ATOL_ROUNDOFF
        assert cKDTree(other).query(side.partners)[0].max() < ATOL_ROUNDOFF
        away = np.linalg.norm((side.points - side.partners) @ across.T, axis=1)
        # None of all vertices that are partners of others is nearer.
        nearest = cKDTree(side.partners @ across.T).query(side.points @ across.T)[0]
        np.testing.assert_allclose(away, nearest, atol=ATOL_ROUNDOFF)


@pytest.mark.nightly     # by day it misses the nearest
def test_on_fine_even_meshes_the_rule_loses_little_and_one_branch_more(rng):
    apple, ball = shapes.apple(0.08, 0.001), shapes.sphere(0.03, 0.001)
    seeds_, exacts = (RuleMesh(apple), RuleMesh(ball)), (ContactMesh(apple), ContactMesh(ball))
    true, found = 0, {False: 0, True: 0}
    for _ in range(10):
        d = rng.normal(size=3)
        d /= np.linalg.norm(d)
        T = transform(random_pose(rng, 0.0)[:3, :3], -0.065 * d)
        right = vertex_contacts(*exacts, T, d).b_in_a
        true += len(right.vertices)
        for one_sided in (False, True):
            mine = rule_contacts(*seeds_, T, d, one_sided).b_in_a
            _, here, there = np.intersect1d(mine.vertices, right.vertices, return_indices=True)
            np.testing.assert_allclose(mine.depths[here], right.depths[there], rtol=0.0,
                                       atol=ATOL_ROUNDOFF)
            np.testing.assert_allclose(mine.points[here], right.points[there], rtol=0.0,
                                       atol=ATOL_ROUNDOFF)
            found[one_sided] += len(here)
    assert true > 5000
    assert 0 < true - found[False] <= LOST_WHERE_EVEN * true < true - found[True]


@settings(max_examples=25)
@given(seeds)
def test_a_depth_leads_to_the_triangle_named(seed):
    rng = np.random.default_rng(seed)
    box = shapes.box([0.05, 0.06, 0.04], 0.02)
    T_a_b, d = random_pose(rng, 0.03), rng.normal(size=3)
    d /= np.linalg.norm(d)
    found = rule_contacts(RuleMesh(APPLE), RuleMesh(box), T_a_b, d).b_in_a
    corners = APPLE.vertices[APPLE.faces[found.triangles]]
    np.testing.assert_allclose(np.einsum('kc,kci->ki', found.weights, corners), found.points,
                               rtol=0.0, atol=1e-9 * APPLE.diagonal)
    np.testing.assert_allclose(apply(T_a_b, box.vertices[found.vertices])
                               - found.depths[:, None] * d, found.points, rtol=0.0,
                               atol=ATOL_ROUNDOFF)


def roof(apex):
    """Return a wedge over a large triangle, beside which a second one stands near."""
    vertices = np.array([[0, 0, 0], [10, 0, 0], [0, 10, 0], [apex, apex, 0], [3, 3, -5]], float)
    faces = [[0, 1, 2], [1, 3, 2], [1, 0, 4], [0, 2, 4], [3, 1, 4], [2, 3, 4]]
    return vertices, np.array(faces)


def test_the_nearest_vertex_is_not_always_a_corner_of_the_triangle_hit():
    vertices, faces = roof(5.5)
    query = np.array([4.9, 4.9, -0.1])
    offsets = np.array([[0, 0, 0], [-1, 0, 20.0], [0, -1, 20.0], [1, 1, 20.0]])
    probe = query + offsets, np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    up = np.array([0.0, 0.0, 1.0])
    depths, exits = first_hits(vertices[faces], query[None], up)
    assert exits[0]
    np.testing.assert_allclose(depths, 0.1, rtol=0.0, atol=ATOL_ROUNDOFF)
    exact = vertex_contacts(ContactMesh.from_arrays(*probe),
                            ContactMesh.from_arrays(vertices, faces), np.eye(4), up)
    assert list(exact.a_in_b.vertices) == [0]
    rule = rule_contacts(RuleMesh(TriangleMesh(*probe)), RuleMesh(TriangleMesh(vertices, faces)),
                         np.eye(4), up)
    assert len(rule.a_in_b.vertices) == 0


def test_a_vertex_before_two_layers_is_taken_for_a_contact():
    # In the hollow of a banana, before its inner side and its back.
    banana = shapes.banana()
    probe = (np.array([-0.025, 0, 0]) + [[0, 0, 0], [0.1, 0, 0.03], [0.1, 0.03, -0.03],
                                         [0.1, -0.03, -0.03]],
             np.array([[0, 2, 1], [0, 3, 2], [0, 1, 3], [1, 2, 3]]))
    along = np.array([1.0, 0.0, 0.0])
    exact = vertex_contacts(ContactMesh.from_arrays(*probe), ContactMesh(banana), np.eye(4), along)
    assert len(exact.a_in_b.vertices) == 0
    rule = rule_contacts(RuleMesh(TriangleMesh(*probe)), RuleMesh(banana), np.eye(4), along)
    assert 0 in rule.a_in_b.vertices


def test_a_rod_on_a_coarse_face_is_missed():
    cube, rod = shapes.box([2.0, 2.0, 2.0]), shapes.box([0.4, 0.4, 4.0])
    T = transform(np.eye(3), np.array([0.0, 0.0, 2.9]))
    down = np.array([0.0, 0.0, -1.0])
    assert len(vertex_contacts(ContactMesh(cube), ContactMesh(rod), T, down).b_in_a.vertices) == 4
    assert len(rule_contacts(RuleMesh(cube), RuleMesh(rod), T, down).b_in_a.vertices) == 0


def test_a_soup_is_answered_with_its_own_indices():
    soup = RuleMesh(TriangleMesh(BALL.triangles.reshape(-1, 3),
                                 np.arange(3 * len(BALL.faces)).reshape(-1, 3)))
    d = np.array([0.3, 0.2, 0.9])
    T = transform(np.eye(3), np.array([0.0, 0.01, -0.06]))
    merged = rule_contacts(RuleMesh(APPLE), RuleMesh(BALL), T, d).b_in_a
    found = rule_contacts(RuleMesh(APPLE), soup, T, d).b_in_a
    assert len(merged.vertices) > 10
    np.testing.assert_array_equal(np.unique(BALL.faces.ravel()[found.vertices]), merged.vertices)


def test_bodies_apart_are_rejected_by_their_boxes():
    T = transform(np.eye(3), np.array([1.0, 0.0, 0.0]))
    answer = rule_contacts(RuleMesh(APPLE), RuleMesh(BALL), T, np.array([1.0, 0.0, 0.0]))
    assert len(answer.a_in_b.vertices) == len(answer.b_in_a.vertices) == 0


def test_the_rule_needs_a_direction():
    with pytest.raises(ShapeError, match='three finite numbers'):
        rule_contacts(RuleMesh(APPLE), RuleMesh(BALL), np.eye(4), np.zeros(3))
