"""The expanding polytope step by step: faces, hulls and depths of few corners."""

from dataclasses import replace

from gripsim_ros.core.contact.backends.convex.decomposition import convex_part
from gripsim_ros.core.contact.backends.convex.epa import (
    _add_face, _epa, _expand_polytope, _first_corners, _nearest_face, _tetrahedron_faces,
    _witness_points, pair_contact)
from gripsim_ros.core.errors import ShapeError
from hypothesis import assume, given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from scipy.spatial import ConvexHull, QhullError

ATOL_ROUNDOFF = 1e-12
#: Quickhull's planes and volumes carry errors of their own.
ATOL_HULL = 1e-9
#: Tolerance of the polytopes here, of bodies of about 1 m.
NEAR = 1e-12

seeds = st.integers(0, 2 ** 31)
ALL = np.zeros(0, np.int64)   # no graph: every vertex is looked at


def room(faces):
    """Return arrays for so many faces, their planes and a horizon."""
    return (np.full((faces, 3), -1), np.full((faces, 4), np.nan),
            np.full((faces, 2), -1, np.int64))


def tetrahedron(points):
    """Return faces and planes of the first four points, in arrays with room, and a horizon."""
    faces, planes, horizon = room(120)
    i, j, k, n = 0, 1, 2, 3
    if np.linalg.det(points[1:4] - points[0]) > 0.0:
        i, j = 1, 0
    used = 0
    for corners in ((i, j, k), (j, i, n), (k, j, n), (i, k, n)):
        used = _add_face(points, faces, planes, used, *corners)
    return faces, planes, horizon, used


def check_polytope(points, faces, planes):
    """Check that faces close a body, and that each plane is that of its own corners."""
    edges = [(int(face[k]), int(face[(k + 1) % 3])) for face in faces for k in range(3)]
    assert len(set(edges)) == len(edges)
    assert {(j, i) for i, j in edges} == set(edges)
    for face, plane in zip(faces, planes):
        assert_allclose(points[face] @ plane[:3], plane[3], rtol=0.0, atol=ATOL_HULL)


@settings(max_examples=60)
@given(st.lists(st.integers(-3, 3), min_size=9, max_size=9), st.integers(0, 2))
def test_a_face_lies_in_a_plane_whose_unit_normal_follows_its_corners(numbers, place):
    points = np.array(numbers, float).reshape(3, 3)
    faces, planes, _ = room(4)
    assert _add_face(points, faces, planes, place, 2, 0, 1) == place + 1
    assert_array_equal(faces[place], [2, 0, 1])
    normal = np.cross(points[1] - points[0], points[2] - points[0])
    norm = np.linalg.norm(normal)
    expected = normal / norm if norm > 0.0 else np.zeros(3)
    assert_allclose(planes[place], [*expected, expected @ points[0]], rtol=0.0,
                    atol=ATOL_ROUNDOFF)
    assert np.isnan(np.delete(planes, place, axis=0)).all()


@pytest.mark.parametrize('height, flat', [(0.0, True), (1.9e-14, True), (2.1e-14, False)])
def test_a_sliver_has_no_normal_but_a_thin_face_has(height, flat):
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [1, height, 0]])
    for axis in range(3):
        for order in ((0, 1, 2), (0, 2, 1)):
            _, planes, _ = room(1)
            _add_face(np.roll(corners, axis, axis=1), room(1)[0], planes, 0, *order)
            assert (np.linalg.norm(planes[0, :3]) == 0.0) == flat
            assert planes[0, 3] == 0.0


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(-1, 1), st.integers(0, 2)),
                min_size=1, max_size=8), st.integers(0, 3))
def test_the_nearest_face_is_that_of_least_offset_that_has_area(rows, more):
    planes = np.zeros((len(rows) + more, 4))
    planes[:, 3] = -9.0
    planes[len(rows):, 0] = 1.0   # not in use
    for plane, (offset, part, axis) in zip(planes, rows):
        plane[axis], plane[3] = part, offset
    usable = [row[0] for row in rows if row[1] != 0]
    assume(usable)
    found = _nearest_face(planes, len(rows))
    assert found < len(rows) and planes[found, :3].any()
    assert planes[found, 3] == min(usable)


@pytest.mark.nightly     # by day test_convex_contact, whole depths
@settings(max_examples=40)
@given(seeds, st.booleans())
def test_a_polytope_that_takes_in_corners_stays_the_hull_of_all(seed, whole):
    rng = np.random.default_rng(seed)
    points = (rng.permutation(np.stack(np.meshgrid(*[np.arange(-1.0, 2.0)] * 3), -1).reshape(
        -1, 3)) if whole else rng.normal(size=(27, 3)))[:12]
    assume(abs(np.linalg.det(points[1:4] - points[0])) > 1e-3)
    faces, planes, horizon, used = tetrahedron(points)
    for corner in range(4, len(points)):
        before = faces[:used].copy()
        heights = planes[:used, :3] @ points[corner] - planes[:used, 3]
        used = _expand_polytope(points, corner, faces, planes, used, horizon, NEAR)
        if (heights < -NEAR).all():
            assert_array_equal(faces[:used], before)
        # A face stays if the corner is below it, and each new one has the corner.
        stays = before[heights < -NEAR]
        assert_array_equal(faces[:len(stays)], stays)
        assert (faces[len(stays):used, 2] == corner).all()
        if (heights > NEAR).any():
            assert len(stays) < used
    check_polytope(points, faces[:used], planes[:used])
    above = points @ planes[:used, :3].T - planes[:used, 3]
    assert above.max() <= ATOL_HULL
    volume = np.einsum('fi,fi->', points[faces[:used, 0]],
                       np.cross(points[faces[:used, 1]], points[faces[:used, 2]])) / 6.0
    assert_allclose(volume, ConvexHull(points).volume, rtol=0.0, atol=ATOL_HULL)


@pytest.mark.parametrize('space, expected', [(5, -1), (6, 6)])
def test_a_polytope_without_room_is_given_up(space, expected):
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.2, 0.2, -1.0]])
    faces, planes, horizon, used = tetrahedron(points)
    assert _expand_polytope(points, 4, faces[:space], planes[:space], used, horizon,
                            NEAR) == expected


@pytest.mark.parametrize('height, used', [(-2.0, 4), (-0.5, 6), (0.5, 6)])
def test_faces_in_the_plane_of_a_new_corner_go(height, used):
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.2, 0.2, -height * NEAR]])
    faces, planes, horizon, before = tetrahedron(points)
    assert _expand_polytope(points, 4, faces, planes, before, horizon, NEAR) == used


def bodies(seed, whole=False, count=8):
    """Return vertices of two bodies of about 1 m."""
    rng = np.random.default_rng(seed)
    draw = ((lambda: rng.integers(-2, 3, (count, 3)).astype(float)) if whole
            else lambda: rng.normal(size=(count, 3)))
    return draw(), draw(), rng


def difference(a, b):
    """Return all corners of the difference (n, m, 3)."""
    return a[:, None] - b[None]


@pytest.mark.nightly     # by day test_convex_contact, whole depths
@settings(max_examples=40)
@given(seeds, st.booleans())
def test_the_first_corners_are_far_apart_and_of_the_bodies(seed, whole):
    a, b, _ = bodies(seed, whole)
    assume(part_of(a) is not None and part_of(b) is not None)
    points, pairs = np.full((4, 3), np.nan), np.zeros((4, 2), np.int64)
    _first_corners(a, ALL, b, ALL, points, pairs)
    assert_array_equal(points, a[pairs[:, 0]] - b[pairs[:, 1]])
    from_first = difference(a, b) - points[0]
    spread = points[1:] - points[0]
    for k, direction in ((1, np.array([1.0, 0.0, 0.0])),
                         (3, np.cross(spread[0], spread[1]))):
        width = np.abs(from_first @ direction).max()
        assert_allclose(abs(spread[k - 1] @ direction), width, rtol=0.0, atol=ATOL_HULL)
    along = spread[0] / np.linalg.norm(spread[0])
    assert np.linalg.norm(spread[1] - spread[1] @ along * along) > ATOL_HULL


@pytest.mark.parametrize('axis', [0, 1, 2])
def test_the_first_corners_of_a_thin_body_have_a_volume(axis):
    a = np.roll(np.array([[0.0, 0, 0], [1, 1, 1], [1, 1, 1 + 1e-3], [1, 1 + 1e-3, 1]]), axis,
                axis=1)
    points, pairs = np.full((4, 3), np.nan), np.zeros((4, 2), np.int64)
    _first_corners(a, ALL, np.zeros((1, 3)), ALL, points, pairs)
    assert len(np.unique(pairs[:, 0])) == 4


@pytest.mark.nightly     # by day test_convex_contact, whole depths
@settings(max_examples=40)
@given(seeds)
def test_a_first_polytope_is_closed_and_wound_outwards(seed):
    points = np.random.default_rng(seed).normal(size=(4, 3))
    faces, planes, _ = room(5)
    assert _tetrahedron_faces(points, faces, planes) == 4
    check_polytope(points, faces[:4], planes[:4])
    assert (planes[:4, :3] @ points.mean(axis=0) < planes[:4, 3]).all()
    assert (faces[4] == -1).all()


@pytest.mark.nightly     # by day test_convex_contact, whole depths
@settings(max_examples=30)
@given(seeds)
def test_the_deepest_points_are_those_of_the_face_the_target_lies_in(seed):
    a, b, rng = bodies(seed)
    pairs = np.column_stack([rng.permutation(8)[:4], rng.permutation(8)[:4]])
    points = a[pairs[:, 0]] - b[pairs[:, 1]]
    faces, planes, _, used = tetrahedron(points)
    for face in range(used):
        shares = rng.dirichlet(np.ones(3))
        target = shares @ points[faces[face]]
        on_a, on_b = _witness_points(a, b, points, pairs, faces[:used], planes, target, NEAR)
        assert_allclose(on_a - on_b, target, rtol=0.0, atol=ATOL_HULL)
        assert_allclose(on_a, shares @ a[pairs[faces[face], 0]], rtol=0.0, atol=ATOL_HULL)
        # Nearly in the plane of a face is in it; farther is not, and the first corner counts.
        out = target + 20.0 * NEAR * planes[face, :3]
        on_a, on_b = _witness_points(a, b, points, pairs, faces[:used], planes, out, NEAR)
        assert_array_equal(on_a, a[pairs[faces[0, 0], 0]])
        assert_array_equal(on_b, b[pairs[faces[0, 0], 1]])


@settings(max_examples=20)
@given(seeds, st.booleans())
def test_of_faces_in_one_plane_the_one_that_holds_the_target_counts(seed, later):
    rng = np.random.default_rng(seed)
    points = np.array([[0.0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]])
    a, pairs = rng.normal(size=(4, 3)), np.column_stack([np.arange(4)] * 2)
    faces, planes, _ = room(2)
    for turn in range(3):
        for place, face in enumerate((np.array([0, 1, 2]), np.array([0, 2, 3]))):
            _add_face(points, faces, planes, place, *np.roll(face, turn))
        shares = rng.dirichlet(np.ones(3))
        own = faces[int(later)]
        on_a, on_b = _witness_points(a, a - points, points, pairs, faces, planes,
                                     shares @ points[own], NEAR)
        assert_allclose(on_a, shares @ a[own], rtol=0.0, atol=ATOL_HULL)
        assert_allclose(on_b, shares @ (a - points)[own], rtol=0.0, atol=ATOL_HULL)


def test_steps_are_the_corners_asked_for():
    # A tetrahedron and a corner beyond the face that a point in it is nearest to.
    a = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.2, 0.2, -0.3]])
    for count, steps in ((4, 1), (5, 2)):
        depth, normal, *points, found = _epa(a[:count], ALL, np.array([[0.2, 0.2, 0.02]]), ALL,
                                             1.0)
        expected = 0.02 if count == 4 else (0.3 * 0.2 + 0.2 * 0.02) / np.hypot(0.3, 0.2)
        assert_allclose(depth, expected, rtol=0.0, atol=ATOL_ROUNDOFF)
        assert found == steps


def part_of(points):
    """Return a convex part, or none of points without a volume."""
    try:
        return convex_part(points)
    except ShapeError:
        return None


def check_pair(a, b, found):
    """Check depth, normal and points against the hull of all differences."""
    corners = difference(a.vertices, b.vertices).reshape(-1, 3)
    try:
        depth = -ConvexHull(corners).equations[:, 3].max()
    except QhullError:
        depth = 0.0
    assert_allclose(found.depth, max(depth, 0.0), rtol=0.0, atol=ATOL_HULL)
    assert found.overlap == (found.depth > 0.0)
    assert_allclose(np.linalg.norm(found.normal), 1.0, rtol=0.0, atol=ATOL_ROUNDOFF)
    if depth > -ATOL_HULL:   # at least touching
        assert_allclose((corners @ found.normal).max(), found.depth, rtol=0.0, atol=ATOL_HULL)
    way = (found.distance - found.depth) * found.normal
    assert_allclose(found.point_b - found.point_a, way, rtol=0.0, atol=ATOL_HULL)
    for part, point in ((a, found.point_a), (b, found.point_b)):
        assert (part.normals @ point <= part.offsets + ATOL_HULL).all()


@settings(max_examples=30)
@given(seeds, st.booleans(), st.floats(0.0, 1.0))
def test_the_depth_is_the_least_height_of_the_difference(seed, whole, share):
    points_a, points_b, rng = bodies(seed, whole, 7)
    offset = share * rng.normal(size=3)
    a = part_of(points_a)
    b = part_of(points_b + (np.round(offset) if whole else offset))
    assume(a is not None and b is not None)
    found = pair_contact(a, b)
    check_pair(a, b, found)
    again = pair_contact(a, b, found.simplex)
    check_pair(a, b, again)


@settings(max_examples=20)
@given(seeds, st.booleans(), st.sampled_from([-20, -10, 10]))
def test_answers_grow_with_the_bodies_to_the_bit(seed, whole, power):
    points_a, points_b, rng = bodies(seed, whole)
    a, b = part_of(points_a), part_of(points_b + np.round(rng.normal(size=3)))
    assume(a is not None and b is not None)
    size = 2.0 ** power
    large = [replace(part, vertices=size * part.vertices, offsets=size * part.offsets)
             for part in (a, b)]
    found, other = pair_contact(a, b), pair_contact(*large)
    assert found.overlap == other.overlap and found.steps == other.steps
    assert (size * found.depth, size * found.distance) == (other.depth, other.distance)
    assert_array_equal(found.normal, other.normal)
    assert_array_equal(size * found.point_a, other.point_a)
    assert_array_equal(size * found.point_b, other.point_b)


CUBE = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])


@pytest.mark.parametrize('offset', [(2.0, 0.0, 0.0), (0.0, -2.0, 0.3), (2.0, 2.0, 0.3),
                                    (2.0, 2.0, 2.0), (0.0, 0.0, 0.0), (0.0, 0.5, -1.0),
                                    (1.0, 1.0, 1.0), (2.0 - 1e-14, 0.2, 0.1)])
def test_cubes_that_touch_or_overlap_part_along_an_axis(offset):
    a, b = convex_part(CUBE), convex_part(CUBE + offset)
    found = pair_contact(a, b)
    check_pair(a, b, found)
    assert found.overlap == (np.abs(offset).max() < 1.9) and found.distance == 0.0
