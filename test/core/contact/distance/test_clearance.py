"""Lower bounds of distance: certified, close, and never 0 where the surfaces are apart."""

from contact_oracles import hull_distance, point_triangle_distances
from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation
import trimesh

from gripsim_ros.core.batches import OBSTACLE_BOX, OBSTACLE_CYLINDER, OBSTACLE_SPHERE
from gripsim_ros.core.bodies import TriangleMesh, shapes
from gripsim_ros.core.contact import ContactMesh
from gripsim_ros.core.contact.distance.clearance import (
    ABSOLUTE, RELATIVE, hull_clearances, obstacle_clearance, obstacle_shapes, pair_clearances)
from gripsim_ros.core.contact.distance.gjk import distance_bound, shape_of_points
from gripsim_ros.core.contact.distance.link_hulls import build_hulls
from gripsim_ros.core.contact.distance.mesh_distance import mesh_distance, overlaps
from gripsim_ros.core.errors import ShapeError
from gripsim_ros.core.transforms import apply, inverse, transform

ATOL_ROUNDOFF = 1e-12
#: SLSQP ends this far above the optimum at most.
ATOL_PROGRAMME = 1e-6
#: What a finely meshed ball or cylinder lies inside the round one.
ATOL_MESHED = 5e-5

seeds = st.integers(0, 2 ** 31)


def rotation(rng):
    return Rotation.random(random_state=int(rng.integers(2 ** 31))).as_matrix()


def gjk(a, b, T_a_b, absolute=1e-9):
    limits = np.array([0.0, absolute, np.inf])
    return distance_bound(shape_of_points(np.ascontiguousarray(a)),
                          shape_of_points(np.ascontiguousarray(b)),
                          np.ascontiguousarray(T_a_b[:3, :3]), T_a_b[:3, 3].copy(), np.ones(3),
                          limits, np.zeros(2, np.int64))


@settings(max_examples=40)
@given(seeds, st.integers(1, 7), st.integers(1, 7))
def test_distances_of_hulls_equal_a_quadratic_programme(seed, count_a, count_b):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(count_a, 3)), rng.normal(size=(count_b, 3))
    T = transform(rotation(rng), rng.uniform(-3.0, 3.0, 3))
    bound, exact = gjk(a, b, T), hull_distance(a, apply(T, b))
    assert bound <= exact + ATOL_PROGRAMME
    if exact > 1e-3:
        np.testing.assert_allclose(bound, exact, rtol=0.0, atol=1e-5)


@pytest.mark.parametrize('a, b, distance', [
    (np.zeros((1, 3)), np.array([[0.0, 0.0, 2.0]]), 2.0),
    (np.array([[0.0, 0, 0], [1, 0, 0], [0.5, 0, 0]]), np.array([[0.5, 1.0, 0], [0.5, 2, 0]]),
     1.0),
    (np.tile([[0.0, 0.0, 1.0]], (5, 1)), np.array([[1.0, 0, 0], [-1, 0, 0], [0, 1, 0]]), 1.0),
    (np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]), np.array([[0.2, 0.2, -1], [0.2, 0.2, 1.0]]),
     0.0),
    (np.zeros((1, 3)), np.zeros((1, 3)), 0.0)])
def test_degenerate_hulls_have_distances_too(a, b, distance):
    np.testing.assert_allclose(gjk(a, b, np.eye(4)), distance, rtol=0.0, atol=1e-9)


CUBE = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)], float)


@pytest.mark.parametrize('offset, distance', [
    ((3.0, 0.0, 0.0), 1.0), ((3.0, 3.0, 3.0), np.sqrt(3.0)), ((1.5, 0.2, 0.1), 0.0)])
def test_cubes_have_the_distances_of_cubes(offset, distance):
    T = transform(np.eye(3), np.array(offset))
    np.testing.assert_allclose(gjk(CUBE, CUBE, T), distance, rtol=0.0, atol=1e-9)


LINK = ContactMesh(shapes.box([0.02, 0.03, 0.08]))
ROUND = ContactMesh(shapes.capsule(0.012, 0.03, edge_length=0.004))
HULLS = build_hulls([LINK, ROUND], np.array([0, 1]))
OBJECTS = [ContactMesh(shapes.box([0.05, 0.06, 0.04])),
           ContactMesh(shapes.apple(0.08, 0.005)), ContactMesh(shapes.torus(0.03, 0.011))]


def pose(rng, reach):
    direction = rng.normal(size=3)
    return transform(rotation(rng), reach * direction / np.linalg.norm(direction))


def hull_to_surface(vertices, body):
    """Return the distance of a hull from a surface, triangle by triangle."""
    near = np.argsort([np.linalg.norm(t.mean(axis=0) - vertices.mean(axis=0))
                       for t in body.tree.corners])
    best = np.inf
    for f in near:
        corners = body.tree.corners[f]
        best = min(best, gjk(vertices, corners, np.eye(4)))
    return best


@settings(max_examples=25, deadline=None)
@given(seeds, st.sampled_from(range(len(OBJECTS))), st.booleans())
def test_the_clearance_of_a_hull_is_close_below_its_distance(seed, which, swept):
    rng = np.random.default_rng(seed)
    body, T = OBJECTS[which], pose(rng, rng.uniform(0.05, 0.2))
    sweep = rng.normal(size=3) * 0.04 * swept
    found = hull_clearances(HULLS, body, np.stack([T, T]), sweep)[0]
    corners = apply(T, LINK.mesh.vertices)
    exact = hull_to_surface(np.concatenate([corners, corners - sweep]), body)
    assert found <= exact + ATOL_ROUNDOFF
    slack = max(RELATIVE * exact, ABSOLUTE) + body.bulge + ATOL_ROUNDOFF
    assert found >= exact - slack
    assert found > 0.0 or exact <= slack


def test_a_hull_holds_the_curved_surface_and_no_more():
    h = HULLS.which[1]
    vertices = HULLS.vertices[HULLS.vertex_offsets[h]:HULLS.vertex_offsets[h + 1]]
    planes = ConvexHull(vertices).equations
    assert (ROUND.mesh.vertices @ planes[:, :3].T + planes[:, 3]).max() <= ATOL_ROUNDOFF
    assert (ROUND.mesh.vertices @ HULLS.normals[h].T - HULLS.offsets[h]).max() <= ATOL_ROUNDOFF
    np.testing.assert_allclose(np.abs(vertices).max(axis=0), [0.012, 0.012, 0.027], rtol=0.02,
                               atol=0.0)


def open_bowl():
    """Return a thick-walled cup whose hull is full of air."""
    cup = trimesh.creation.annulus(0.03, 0.036, 0.05)
    return ContactMesh(TriangleMesh(np.array(cup.vertices), np.array(cup.faces)))


def test_a_ball_inside_a_ring_is_not_at_distance_zero():
    ring, ball = open_bowl(), ContactMesh(shapes.sphere(0.01, edge_length=0.003))
    hulls = build_hulls([ring], np.array([0]))
    assert hull_clearances(hulls, ball, np.eye(4)[None], np.zeros(3))[0] == 0.0
    found = mesh_distance(ball, ring, np.eye(4))
    assert 0.0193 < found <= 0.02
    assert not overlaps(ball, ring, np.eye(4))


@settings(max_examples=12, deadline=None)
@given(seeds, st.sampled_from(range(len(OBJECTS))))
def test_the_distance_of_surfaces_is_close_below_that_of_samples(seed, which):
    rng = np.random.default_rng(seed)
    body, T = OBJECTS[which], pose(rng, rng.uniform(0.03, 0.09))
    found = mesh_distance(body, ROUND, T)
    if overlaps(body, ROUND, T):
        assert found == 0.0
        return
    upper = min(point_triangle_distances(body.tree.corners, apply(T, ROUND.mesh.vertices)).min(),
                point_triangle_distances(ROUND.tree.corners,
                                         apply(inverse(T), body.mesh.vertices)).min())
    assert found <= upper + ATOL_ROUNDOFF
    spacing = 0.007
    assert found >= upper - spacing


def obstacle(kind, sizes, T):
    return np.concatenate([[kind], sizes, T[:3].ravel()])[None]


@settings(max_examples=25, deadline=None)
@given(seeds, st.sampled_from([OBSTACLE_BOX, OBSTACLE_SPHERE, OBSTACLE_CYLINDER]))
def test_obstacles_are_as_far_as_finely_meshed_ones(seed, kind):
    rng = np.random.default_rng(seed)
    sizes, T = rng.uniform(0.01, 0.05, 3), pose(rng, rng.uniform(0.08, 0.2))
    mesh = {OBSTACLE_BOX: lambda: trimesh.creation.box(sizes),
            OBSTACLE_SPHERE: lambda: trimesh.creation.icosphere(5, sizes[0]),
            OBSTACLE_CYLINDER: lambda: trimesh.creation.cylinder(sizes[1], sizes[0],
                                                                 sections=720)}[kind]()
    sweep = rng.normal(size=3) * 0.03
    link = pose(rng, 0.02)
    corners = apply(link, LINK.mesh.vertices)
    exact = gjk(np.concatenate([corners, corners - sweep]), apply(T, mesh.vertices), np.eye(4))
    found = obstacle_clearance(build_hulls([LINK], np.array([0])), link[None], sweep,
                               obstacle_shapes(obstacle(kind, sizes, T)))
    assert found <= exact + ATOL_ROUNDOFF
    assert found >= exact - ATOL_MESHED


def test_nothing_to_hit_is_infinitely_far():
    assert obstacle_clearance(HULLS, np.stack([np.eye(4)] * 2), np.zeros(3), []) == np.inf


def test_an_unknown_obstacle_is_bad_input():
    with pytest.raises(ShapeError, match='box .1., a sphere .2. or a cylinder .3., got 7'):
        obstacle_shapes(obstacle(7, np.ones(3), np.eye(4)))


@settings(max_examples=25, deadline=None)
@given(seeds)
def test_the_nearest_pair_of_links_has_its_distance(seed):
    rng = np.random.default_rng(seed)
    poses = np.stack([pose(rng, 0.1) for _ in range(4)])
    hulls = build_hulls([LINK], np.zeros(4, np.int64))
    pairs = np.argwhere(np.triu(np.ones((4, 4), bool), 1))
    exact = np.array([gjk(apply(poses[i], LINK.mesh.vertices),
                          apply(poses[j], LINK.mesh.vertices), np.eye(4)) for i, j in pairs])
    bounds = pair_clearances(hulls, pairs, poses)
    assert (bounds <= exact + ATOL_ROUNDOFF).all()
    assert bounds.min() >= exact.min() - max(RELATIVE * exact.min(), ABSOLUTE)
