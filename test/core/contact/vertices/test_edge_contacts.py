"""Edges that cross inside each other where no vertex does."""

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.contact import ContactMesh, vertex_contacts
from gripsim_ros.core.contact.vertices.edge_contacts import edge_contacts
from gripsim_ros.core.errors import ShapeError
from gripsim_ros.core.transforms import apply, transform

ATOL_ROUNDOFF = 1e-12
ATOL_PROGRAMME = 1e-8

BAR = ContactMesh(shapes.box([0.05, 0.01, 0.01]))
CUBE = ContactMesh(shapes.box([0.04, 0.03, 0.05]))


def on_edge(axis_turn):
    """Return a pose that puts a bar on its long edge, then turns it about z."""
    return Rotation.from_euler('xz', [45.0, axis_turn], degrees=True).as_matrix()


def test_crossed_bars_touch_at_one_crossing():
    lower = ContactMesh(BAR.mesh.with_transform(transform(on_edge(0.0), np.zeros(3))))
    height = np.sqrt(2.0) * 0.01 - 3e-4
    T = transform(on_edge(90.0), np.array([0.002, -0.003, height]))
    down = np.array([0.0, 0.0, -1.0])
    vertices = vertex_contacts(lower, BAR, T, down)
    assert len(vertices.a_in_b.vertices) == len(vertices.b_in_a.vertices) == 0
    found = edge_contacts(lower, BAR, T, 2.0 * down)
    np.testing.assert_allclose(found.depths, [3e-4], rtol=0.0, atol=ATOL_ROUNDOFF)
    np.testing.assert_allclose(found.points, [[0.002, 0.0, np.sqrt(0.5) * 0.01 - 3e-4]],
                               rtol=0.0, atol=ATOL_ROUNDOFF)
    ends = lower.mesh.vertices[found.edges_a[0]]
    np.testing.assert_allclose(ends[:, 2], np.sqrt(0.5) * 0.01, rtol=0.0, atol=ATOL_ROUNDOFF)


def touch(a, b, d):
    """
    Return how far b, moved along d, is from touching a, and whether d passes the touch.

    A linear programme over the hulls. Where the planes at the touch do not all face d, an
    edge is a silhouette: what lies before it along d is outside the body.
    """
    planes_a, planes_b = ConvexHull(a).equations, ConvexHull(b).equations
    # Least t for which x lies in a and x - t d in b; millimetres, for tolerances are absolute.
    rows = np.block([[planes_a[:, :3], np.zeros((len(planes_a), 1))],
                     [planes_b[:, :3], -(planes_b[:, :3] @ d)[:, None]]])
    right = -1e3 * np.concatenate([planes_a[:, 3], planes_b[:, 3]])
    answer = linprog([0.0, 0.0, 0.0, 1.0], rows, right, bounds=[(None, None)] * 4)
    if not answer.success:
        return None, False
    tight = np.abs(rows @ answer.x - right) < 1e-6
    along = rows[:, :3] @ d * np.repeat([-1.0, 1.0], [len(planes_a), len(planes_b)])
    return 1e-3 * answer.x[3], bool((along[tight] > 0.05).all())


@settings(max_examples=60)
@given(st.integers(0, 2 ** 31))
def test_the_deepest_vertex_or_edge_is_as_deep_as_the_bodies_overlap(seed):
    rng = np.random.default_rng(seed)
    d = rng.normal(size=3)
    d /= np.linalg.norm(d)
    rotation = Rotation.random(random_state=seed % 2 ** 31).as_matrix()
    start = transform(rotation, -0.1 * d + rng.normal(size=3) * 0.015)
    way, faced = touch(CUBE.mesh.vertices, apply(start, BAR.mesh.vertices), d)
    if way is None:
        return
    depth = 1e-5
    T = transform(rotation, start[:3, 3] + (way + depth) * d)
    vertices = vertex_contacts(CUBE, BAR, T, d)
    deepest = max(vertices.a_in_b.depths.max(initial=0.0),
                  vertices.b_in_a.depths.max(initial=0.0),
                  edge_contacts(CUBE, BAR, T, d).depths.max(initial=0.0))
    assert deepest <= depth + ATOL_PROGRAMME
    if faced:
        np.testing.assert_allclose(deepest, depth, rtol=0.0, atol=ATOL_PROGRAMME)


def test_edges_are_named_as_in_an_unmerged_file():
    mesh = BAR.mesh.with_transform(transform(on_edge(0.0), np.zeros(3)))
    soup = ContactMesh.from_arrays(mesh.triangles.reshape(-1, 3),
                                   np.arange(3 * len(mesh.faces)).reshape(-1, 3))
    T = transform(on_edge(90.0), np.array([0.0, 0.0, np.sqrt(2.0) * 0.01 - 3e-4]))
    found = edge_contacts(soup, BAR, T, np.array([0.0, 0.0, -1.0]))
    merged = edge_contacts(ContactMesh(mesh), BAR, T, np.array([0.0, 0.0, -1.0]))
    np.testing.assert_allclose(np.sort(soup.mesh.vertices[found.edges_a], axis=1),
                               np.sort(mesh.vertices[merged.edges_a], axis=1), rtol=0.0,
                               atol=ATOL_ROUNDOFF)


def test_bodies_apart_have_no_edge_contact():
    found = edge_contacts(CUBE, BAR, transform(np.eye(3), np.array([0.0, 0.0, 0.2])),
                          np.array([0.0, 0.0, -1.0]))
    assert len(found.depths) == 0 and found.points.shape == (0, 3)


def test_a_direction_without_length_is_bad_input():
    with pytest.raises(ShapeError, match='three finite numbers'):
        edge_contacts(CUBE, BAR, np.eye(4), np.zeros(3))
