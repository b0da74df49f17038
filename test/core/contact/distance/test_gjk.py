"""Support points, nearest points of simplices and bounds of distance, each by a plain answer."""

from contact_oracles import hull_distance
from gripsim_ros.core.contact.distance.gjk import (
    AXIS, BALL, DISC, EXTRAS, SWEEP, Shape, distance_bound, reduce_simplex, shape_of_points,
    support_point)
from hypothesis import given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.optimize import nnls
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

ATOL_ROUNDOFF = 1e-12
#: Nonnegative least squares with a sum held by a heavy row end this near to the optimum.
ATOL_WEIGHTS = 1e-6
HEAVY = 1e4
#: What the last vertices met may fall short of the farthest ones.
ATOL_HINT = 1e-4

seeds = st.integers(0, 2 ** 31)


def rotation(rng):
    return Rotation.random(random_state=int(rng.integers(2 ** 31))).as_matrix()


def hull_graph(vertices):
    """Return the neighbours of each vertex of a hull, behind where they begin."""
    near = [set() for _ in vertices]
    for face in ConvexHull(vertices).simplices:
        for i in face:
            near[i] |= set(face.tolist()) - {i}
    starts = len(vertices) + 1 + np.cumsum([0, *map(len, near)])
    return np.concatenate([starts, *map(sorted, near)]).astype(np.int64)


def random_shape(rng, walked, swept=True, thick=True):
    """Return a hull of directions, perhaps walked along its edges, swept and thickened."""
    vertices = rng.normal(size=(12, 3))
    vertices /= np.linalg.norm(vertices, axis=1)[:, None]
    extras = np.zeros(EXTRAS)
    if swept:
        extras[SWEEP:SWEEP + 3] = rng.normal(size=3)
    if thick:
        axis = rng.normal(size=3)
        extras[AXIS:AXIS + 3], extras[DISC] = axis / np.linalg.norm(axis), rng.uniform(0.1, 1.0)
        extras[BALL] = rng.uniform(0.1, 0.3)
    return Shape(vertices, hull_graph(vertices) if walked else np.zeros(0, np.int64), extras)


@settings(max_examples=40)
@given(seeds, st.booleans(), st.booleans(), st.booleans())
def test_no_point_of_a_shape_is_farther_than_its_support(seed, walked, swept, thick):
    rng = np.random.default_rng(seed)
    shape, v = random_shape(rng, walked, swept, thick), rng.normal(size=3)
    sweep, axis, radius = shape.extras[:3], shape.extras[AXIS:DISC], shape.extras[DISC]
    at, point = support_point(shape.vertices, shape.graph, shape.extras, tuple(v),
                              int(rng.integers(12)))
    assert at == (shape.vertices @ v).argmax()
    expected = shape.vertices[at] + (sweep if sweep @ v > 0.0 else 0.0)
    if thick:
        flat = v - (v @ axis) * axis
        expected = expected + radius * flat / np.linalg.norm(flat)
    assert_allclose(point, expected, rtol=0.0, atol=ATOL_ROUNDOFF)


@pytest.mark.parametrize('tilt, reach', [(0.0, 0.0), (1e-14, 0.0), (1e-9, 0.5)])
def test_along_its_axis_a_disc_adds_nothing(tilt, reach):
    extras = np.zeros(EXTRAS)
    extras[AXIS + 2], extras[DISC] = 1.0, 0.5
    _, point = support_point(np.zeros((1, 3)), np.zeros(0, np.int64), extras, (tilt, 0.0, 7.0), 0)
    assert_allclose(point, [reach, 0.0, 0.0], rtol=0.0, atol=ATOL_ROUNDOFF)


def nearest_to_origin(corners):
    """Return the point of a hull nearest to the origin, by nonnegative least squares."""
    rows = np.vstack([corners.T, np.full(len(corners), HEAVY)])
    weights, _ = nnls(rows, np.array([0.0, 0.0, 0.0, HEAVY]))
    return weights / weights.sum() @ corners


@settings(max_examples=60)
@given(seeds, st.booleans())
def test_a_simplex_is_reduced_to_what_carries_its_nearest_point(seed, whole):
    rng = np.random.default_rng(seed)
    for size in (1, 2, 3, 3, 3, 4, 4, 4, 4, 4, 4):
        corners = (rng.integers(-3, 4, (size, 3)).astype(float) if whole
                   else rng.normal(size=(size, 3)) + rng.normal(size=3))
        if np.linalg.matrix_rank(corners[1:] - corners[0]) == size - 1:  # others: see below
            check_reduction(corners)


def check_reduction(corners):
    """Check the nearest point of a simplex, and the corners that are kept."""
    simplex, closest = np.full((4, 3), np.nan), np.empty(3)
    simplex[:len(corners)] = corners
    kept, expected = reduce_simplex(simplex, len(corners), closest), nearest_to_origin(corners)
    if kept == 4:
        assert np.linalg.norm(expected) < ATOL_WEIGHTS and len(corners) == 4
        return
    assert_allclose(closest, expected, rtol=0.0, atol=ATOL_WEIGHTS)
    places = [np.flatnonzero((corners == row).all(axis=1))[0] for row in simplex[:kept]]
    assert (np.diff(places) > 0).all()
    weights = np.linalg.lstsq(np.vstack([simplex[:kept].T, np.ones(kept)]),
                              np.append(closest, 1.0), rcond=None)[0]
    assert (weights > -ATOL_ROUNDOFF).all()
    assert_allclose(weights @ simplex[:kept], closest, rtol=0.0, atol=1e-9)


@settings(max_examples=60)
@given(st.lists(st.integers(-1, 1), min_size=12, max_size=12), st.integers(2, 4))
def test_a_flat_simplex_gives_a_point_of_its_own_no_farther_than_its_corners(numbers, size):
    corners = np.array(numbers, float).reshape(4, 3)[:size]
    simplex, closest = np.full((4, 3), np.nan), np.empty(3)
    simplex[:size] = corners
    kept = reduce_simplex(simplex, size, closest)
    assert 0 < kept <= size
    if kept < 4:
        assert np.linalg.norm(closest) <= np.linalg.norm(corners, axis=1).min() + ATOL_ROUNDOFF
        rows = np.vstack([simplex[:kept].T, np.ones(kept)])
        assert nnls(rows, np.append(closest, 1.0))[1] < 1e-9


def cloud(shape, directions):
    """Return points whose hull is a shape without its ball, but for the disc's roundness."""
    points = np.concatenate([shape.vertices, shape.vertices + shape.extras[:3]])
    axis, radius = shape.extras[AXIS:DISC], shape.extras[DISC]
    if radius == 0.0:
        return points
    first = np.cross(axis, np.eye(3)[np.abs(axis).argmin()])
    first /= np.linalg.norm(first)
    angles = np.linspace(0.0, 2.0 * np.pi, directions, endpoint=False)
    ring = np.outer(np.cos(angles), first) + np.outer(np.sin(angles), np.cross(axis, first))
    return (points[:, None] + radius * ring).reshape(-1, 3)


@settings(max_examples=16)
@given(seeds, st.booleans(), st.booleans(), st.booleans())
def test_the_bound_is_the_distance_of_swept_and_thickened_hulls(seed, walked, swept, thick):
    rng = np.random.default_rng(seed)
    a, b = (random_shape(rng, walked, swept, thick) for _ in range(2))
    turn, origin = rotation(rng), rng.normal(size=3)
    origin *= rng.uniform(3.0, 8.0) / np.linalg.norm(origin)
    hints, start = np.array([3, 5]), -origin
    found = distance_bound(a, b, turn, origin, start, np.array([0.0, 1e-9, np.inf]), hints)
    fine = shape_of_points(cloud(a, 90)), shape_of_points(cloud(b, 90) @ turn.T + origin)
    vertices = [np.ascontiguousarray(shape.vertices) for shape in fine]
    # The direction that is left behind proves the bound, by supporting planes of points.
    way = start / np.linalg.norm(start)
    gap = (vertices[0] @ way).min() - (vertices[1] @ way).max()
    radii = a.extras[BALL] + b.extras[BALL]
    roundness = (a.extras[DISC] + b.extras[DISC]) * (1.0 - np.cos(np.pi / 90.0))
    assert gap - radii - roundness - 1e-9 <= found or found == 0.0
    assert found <= max(gap - radii, 0.0) + 1e-9
    exact = hull_distance(*(hull.points[hull.vertices] for hull in map(ConvexHull, vertices))
                          ) - radii if not thick else None
    if exact is not None:
        assert_allclose(found, max(exact, 0.0), rtol=0.0, atol=1e-5)
    if found > 0.0:  # vertices that carry the nearest points, of which there may be several
        for shape, hint, v in ((a, hints[0], -way), (b, hints[1], turn.T @ way)):
            assert_allclose(shape.vertices[hint] @ v, (shape.vertices @ v).max(), rtol=0.0,
                            atol=ATOL_HINT)


@settings(max_examples=30)
@given(seeds, st.sampled_from([0.0, 20.0]))
def test_the_search_ends_within_its_limits_and_above_what_is_asked(seed, radius):
    rng = np.random.default_rng(seed)
    a, b = (random_shape(rng, False, False, False) for _ in range(2))
    a.extras[BALL] = b.extras[BALL] = radius
    for shape in (a, b):  # plates, whose first directions are far from the best one
        shape.vertices[:] *= [30.0, 30.0, 0.5]
    origin = np.array([0.0, 0.0, 2.2 + 2.0 * radius])

    def bound(*limits):
        return distance_bound(a, b, np.eye(3), origin, np.zeros(3), np.array(limits),
                              np.zeros(2, np.int64))

    exact = bound(0.0, 1e-12, np.inf)
    for limits, lost in (((0.3, 0.0, np.inf), 0.3 * exact / 0.7), ((0.0, 0.2, np.inf), 0.2)):
        found = bound(*limits)
        assert exact - lost - ATOL_ROUNDOFF <= found <= exact + ATOL_ROUNDOFF
    assert bound(0.0, 1e-12, 0.1 * exact) > 0.1 * exact
