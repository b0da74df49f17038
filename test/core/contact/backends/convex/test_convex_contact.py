"""GJK, EPA, clipping and convex parts, against hulls of differences and cases by hand."""

import sys
from types import SimpleNamespace

from contact_oracles import hull_distance
from hypothesis import assume, given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.contact import ContactMesh, vertex_contacts
from gripsim_ros.core.contact.backends.common_plane import common_plane
from gripsim_ros.core.contact.backends.convex.decomposition import (
    convex_part, convex_parts, is_convex)
from gripsim_ros.core.contact.backends.convex.epa import PairContact, pair_contact
from gripsim_ros.core.contact.backends.convex.manifold import (
    WarmStart, clip_manifold, contact_manifold)
from gripsim_ros.core.errors import MeshError, ShapeError
from gripsim_ros.core.transforms import inverse, transform
from convex_cases import step_mesh

ATOL_ROUNDOFF = 1e-12
#: Quickhull's planes and the programme's optimum carry errors of their own.
ATOL_HULL, ATOL_PROGRAMME = 1e-9, 1e-6
#: Verdicts of different methods may differ this near to touching [m, bodies of about 1 m].
UNDECIDED = 1e-6

seeds = st.integers(0, 2 ** 31)
UP = np.array([0.0, 0.0, 1.0])
CUBE = convex_part(shapes.box([2.0, 2.0, 2.0]).vertices)


def shifted(*offset):
    return transform(np.eye(3), np.array(offset, float))


def random_part(rng, count, centre, on_grid):
    """Return a polyhedron; on a coarse grid many of its edges and faces are parallel."""
    points = rng.normal(size=(count, 3)) * rng.uniform(0.2, 1.0, 3)
    if on_grid:
        points, centre = np.round(2.0 * points) / 2.0, np.round(2.0 * centre) / 2.0
    try:
        return convex_part(points + centre)
    except ShapeError:
        return None


def random_pair(seed, on_grid):
    rng = np.random.default_rng(seed)
    a = random_part(rng, rng.integers(4, 20), np.zeros(3), on_grid)
    b = random_part(rng, rng.integers(4, 20), rng.normal(size=3) * rng.uniform(0.0, 1.5), on_grid)
    assume(a is not None and b is not None)
    return a, b, rng


def test_a_box_has_six_square_faces_counter_clockwise():
    assert len(CUBE.vertices) == 8 and len(CUBE.polygons) == 6
    for polygon, normal, offset in zip(CUBE.polygons, CUBE.normals, CUBE.offsets):
        corners = CUBE.vertices[polygon]
        np.testing.assert_allclose(corners @ normal, offset, rtol=0.0, atol=ATOL_ROUNDOFF)
        edges = np.roll(corners, -1, axis=0) - corners
        np.testing.assert_allclose(np.linalg.norm(edges, axis=1), 2.0, rtol=0.0,
                                   atol=ATOL_ROUNDOFF)
        turns = np.cross(edges, np.roll(edges, -1, axis=0)) @ normal
        np.testing.assert_allclose(turns, 4.0, rtol=0.0, atol=ATOL_ROUNDOFF)


def test_cubes_that_overlap_by_half_have_four_points_on_a_face():
    found = contact_manifold([CUBE], [CUBE], shifted(1.5, 0.2, 0.1))
    np.testing.assert_allclose(found.depth, 0.5, rtol=0.0, atol=ATOL_ROUNDOFF)
    np.testing.assert_allclose(found.normal, [1.0, 0.0, 0.0], rtol=0.0, atol=ATOL_ROUNDOFF)
    order = np.lexsort(found.points.T)
    np.testing.assert_allclose(found.points[order], [
        [1.0, -0.8, -0.9], [1.0, 1.0, -0.9], [1.0, -0.8, 1.0], [1.0, 1.0, 1.0]],
        rtol=0.0, atol=ATOL_ROUNDOFF)
    np.testing.assert_allclose(found.depths, 0.5, rtol=0.0, atol=ATOL_ROUNDOFF)


def test_a_cube_on_its_edge_rests_on_two_points():
    floor = convex_part(shapes.box([10.0, 10.0, 2.0]).vertices - UP)
    T = transform(Rotation.from_euler('y', 45.0, degrees=True).as_matrix(), 1.3 * UP)
    found = contact_manifold([floor], [CUBE], T)
    np.testing.assert_allclose(found.depth, np.sqrt(2.0) - 1.3, rtol=0.0, atol=ATOL_ROUNDOFF)
    order = np.argsort(found.points[:, 1])
    np.testing.assert_allclose(found.points[order], [[0.0, -1.0, 0.0], [0.0, 1.0, 0.0]],
                               rtol=0.0, atol=ATOL_ROUNDOFF)
    np.testing.assert_allclose(found.depths, np.sqrt(2.0) - 1.3, rtol=0.0, atol=ATOL_ROUNDOFF)


def test_crossed_edges_touch_at_one_point():
    bar = shapes.box([0.5, 0.1, 0.1])
    lower = convex_part(Rotation.from_euler('x', 45.0, degrees=True).apply(
        np.array(bar.vertices)))
    turn = Rotation.from_euler('xz', [45.0, 80.0], degrees=True).as_matrix()
    T = transform(turn, np.array([0.02, -0.03, np.sqrt(2.0) * 0.1 - 3e-3]))
    found = contact_manifold([lower], [convex_part(bar.vertices)], T)
    assert len(found.points) == 1
    np.testing.assert_allclose(found.normal, UP, rtol=0.0, atol=ATOL_ROUNDOFF)
    np.testing.assert_allclose(found.depths, [3e-3], rtol=0.0, atol=ATOL_ROUNDOFF)
    np.testing.assert_allclose(found.points[0, 1:], [0.0, np.sqrt(0.5) * 0.1], rtol=0.0,
                               atol=ATOL_ROUNDOFF)


def test_cubes_apart_have_a_distance_and_no_points():
    found = contact_manifold([CUBE], [CUBE], shifted(3.0, 0.0, 0.0))
    assert not found.overlap and found.points.shape == (0, 3)
    np.testing.assert_allclose(found.distance, 1.0, rtol=0.0, atol=ATOL_ROUNDOFF)


@pytest.mark.parametrize('offset', [(2.0, 0.0, 0.0), (2.0, 2.0, 0.3), (2.0, 2.0, 2.0)])
def test_cubes_that_touch_neither_overlap_nor_lie_apart(offset):
    pair = pair_contact(CUBE, CUBE.with_transform(shifted(*offset)))
    assert not pair.overlap and pair.distance == pair.depth == 0.0
    np.testing.assert_allclose(pair.point_a, pair.point_b, rtol=0.0, atol=ATOL_ROUNDOFF)


def test_a_cube_in_itself_leaves_by_its_width():
    pair = pair_contact(CUBE, CUBE)
    np.testing.assert_allclose(pair.depth, 2.0, rtol=0.0, atol=ATOL_ROUNDOFF)


@settings(max_examples=150)
@given(seeds, st.booleans())
def test_the_depth_is_the_least_height_of_the_difference(seed, on_grid):
    a, b, _ = random_pair(seed, on_grid)
    hull = ConvexHull((a.vertices[:, None] - b.vertices[None]).reshape(-1, 3))
    depth = -hull.equations[:, 3].max()
    pair = pair_contact(a, b)
    np.testing.assert_allclose(pair.depth, max(depth, 0.0), rtol=0.0, atol=ATOL_HULL)
    assert pair.overlap or depth <= ATOL_HULL
    way = pair.distance * pair.normal - pair.depth * pair.normal
    np.testing.assert_allclose(pair.point_b - pair.point_a, way, rtol=0.0, atol=ATOL_HULL)
    for part, point in ((a, pair.point_a), (b, pair.point_b)):
        assert (part.normals @ point <= part.offsets + ATOL_HULL).all()


@settings(max_examples=10)
@given(seeds)
def test_the_distance_is_that_of_the_hulls(seed):
    a, b, _ = random_pair(seed, False)
    np.testing.assert_allclose(pair_contact(a, b).distance,
                               hull_distance(a.vertices, b.vertices), rtol=0.0,
                               atol=ATOL_PROGRAMME)


@settings(max_examples=60)
@given(seeds, st.booleans())
def test_no_translation_parts_the_bodies_sooner_than_the_depth(seed, on_grid):
    a, b, rng = random_pair(seed, on_grid)
    pair = pair_contact(a, b)
    directions = rng.normal(size=(200, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    needed = (a.vertices @ directions.T).max(axis=0) - (b.vertices @ directions.T).min(axis=0)
    assert pair.depth <= max(needed.min(), 0.0) + ATOL_ROUNDOFF
    freed = pair_contact(a, b.with_transform(transform(np.eye(3),
                                                       (pair.depth + 1e-9) * pair.normal)))
    assert not freed.overlap


@settings(max_examples=60)
@given(seeds, st.booleans())
def test_back_ends_agree_on_contact(seed, on_grid):
    a, b, _ = random_pair(seed, on_grid)
    pair = pair_contact(a, b)
    plane = common_plane(a.vertices, b.vertices, early_exit=False)
    gap = pair.distance - pair.depth
    assert plane.gap <= gap + ATOL_ROUNDOFF
    if abs(gap) <= UNDECIDED:
        return
    assert pair.overlap == (gap < 0.0)
    mesh_a, mesh_b = (ContactMesh.from_arrays(*hull_mesh(part)) for part in (a, b))
    inside = vertex_contacts(mesh_a, mesh_b, np.eye(4))
    deepest = max(inside.a_in_b.depths.max(initial=0.0), inside.b_in_a.depths.max(initial=0.0))
    # A vertex inside must get out; so the bodies overlap, by its way out at least.
    assert deepest <= pair.depth + ATOL_HULL


@settings(max_examples=40)
@given(seeds)
def test_the_depth_is_no_more_than_any_vertex_needs_along_its_motion(seed):
    a, b, rng = random_pair(seed, False)
    d = rng.normal(size=3)
    d /= np.linalg.norm(d)
    mesh_a, mesh_b = (ContactMesh.from_arrays(*hull_mesh(part)) for part in (a, b))
    found = vertex_contacts(mesh_a, mesh_b, np.eye(4), d)
    along = (a.vertices @ -d).max() - (b.vertices @ -d).min()
    # B came along d; sent back by `along` it is free, so every directed depth is less.
    for side in (found.a_in_b, found.b_in_a):
        assert side.depths.max(initial=0.0) <= max(along, 0.0) + ATOL_HULL
    assert pair_contact(a, b).depth <= max(along, 0.0) + ATOL_ROUNDOFF


def hull_mesh(part):
    """Return vertices and outward triangles of a convex part."""
    faces = [[polygon[0], polygon[k], polygon[k + 1]] for polygon in part.polygons
             for k in range(1, len(polygon) - 1)]
    return part.vertices, np.array(faces)


@settings(max_examples=60)
@given(seeds, st.booleans())
def test_points_of_a_manifold_lie_under_the_reference_face_and_reach_the_depth(seed, on_grid):
    a, b, _ = random_pair(seed, on_grid)
    pair = pair_contact(a, b)
    assume(pair.overlap)
    points, depths = clip_manifold(a, b, pair)
    assert len(points) > 0 and (depths > 0.0).all()
    np.testing.assert_allclose(depths.max(), pair.depth, rtol=0.0, atol=ATOL_HULL)
    over = [(part.normals @ points.T - part.offsets[:, None]).max(axis=0) for part in (a, b)]
    # On the surface of one body, and no farther from the other than the depth there.
    assert (np.abs(over).min(axis=0) <= ATOL_HULL).all()
    assert (np.max(over, axis=0) <= depths + ATOL_HULL).all()


@settings(max_examples=40)
@given(seeds)
def test_swapping_the_bodies_turns_the_answer_round(seed):
    a, b, rng = random_pair(seed, False)
    T = transform(Rotation.random(random_state=seed % 2 ** 31).as_matrix(), rng.normal(size=3))
    forth, back = contact_manifold([a], [b], T), contact_manifold([b], [a], inverse(T))
    np.testing.assert_allclose([forth.distance, forth.depth], [back.distance, back.depth],
                               rtol=0.0, atol=ATOL_HULL)
    if abs(forth.distance - forth.depth) > UNDECIDED:
        np.testing.assert_allclose(forth.normal, -T[:3, :3] @ back.normal, rtol=0.0,
                                   atol=ATOL_PROGRAMME)


@settings(max_examples=30)
@given(seeds)
def test_a_warm_start_changes_steps_and_no_answer(seed):
    a, b, rng = random_pair(seed, False)
    turn = Rotation.from_rotvec(rng.normal(size=3) * 0.01).as_matrix()
    near = b.with_transform(transform(turn, rng.normal(size=3) * 0.01))
    cold, warm = pair_contact(a, near), pair_contact(a, near, pair_contact(a, b).simplex)
    np.testing.assert_allclose([warm.distance, warm.depth], [cold.distance, cold.depth],
                               rtol=0.0, atol=ATOL_ROUNDOFF * 10)


def test_a_warm_start_saves_half_of_the_steps_along_a_path():
    # Balls of 500 corners that roll past each other, a degree at a time.
    ball = convex_part(shapes.sphere(0.03, 0.005).vertices)
    warm, steps = WarmStart(), {True: 0, False: 0}
    for degree in range(60):
        T = transform(Rotation.from_euler('z', degree, degrees=True).as_matrix(),
                      np.array([0.061, 0.0005 * degree, 0.0]))
        moved = ball.with_transform(T)
        steps[False] += pair_contact(ball, moved).steps
        steps[True] += pair_contact(ball, moved, warm.get((0, 0))).steps
        contact_manifold([ball], [ball], T, warm)
    assert steps[True] < 0.5 * steps[False]


def test_a_convex_mesh_is_one_exact_part():
    box = shapes.box([0.04, 0.03, 0.05], 0.01)
    assert is_convex(box) and not is_convex(shapes.banana())
    [part] = convex_parts(box)
    np.testing.assert_array_equal(np.unique(np.abs(part.vertices), axis=0),
                                  [[0.02, 0.015, 0.025]])


def test_a_step_is_cut_into_parts_that_fill_it():
    pytest.importorskip('coacd', reason='cutting meshes into convex parts needs coacd')
    step = step_mesh()
    parts = convex_parts(step)
    assert len(parts) >= 2
    volumes = [ConvexHull(part.vertices).volume for part in parts]
    np.testing.assert_allclose(sum(volumes), step.volume, rtol=1e-3, atol=0.0)
    # A ball in the notch is in the hull of the step, and touches neither part.
    ball = convex_part(shapes.sphere(0.008, 0.004).vertices)
    T = transform(np.eye(3), np.array([0.07, 0.02, 0.07]))
    found = contact_manifold(parts, [ball], T)
    assert not found.overlap
    assert pair_contact(convex_part(step.vertices), ball.with_transform(T)).overlap
    np.testing.assert_allclose(found.distance, 0.012, rtol=0.0, atol=3e-4)


def test_without_coacd_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, 'coacd', None)
    with pytest.raises(MeshError, match='pip install coacd'):
        convex_parts(step_mesh())


@pytest.mark.parametrize('points', [np.zeros((5, 3)), np.eye(3), np.full((9, 3), np.nan),
                                    np.zeros((4, 2))])
def test_points_without_a_volume_are_refused(points):
    with pytest.raises(ShapeError, match='convex part'):
        convex_part(points)


def test_a_body_without_parts_is_refused():
    with pytest.raises(ShapeError, match='at least one'):
        contact_manifold([], [CUBE], np.eye(4))


@pytest.mark.parametrize('offset', [(0.0, 0.0, 9.0), (0.0, 0.0, 2.05), (-0.5, 0.0, 0.0)])
def test_a_part_farther_than_the_nearest_neither_hides_it_nor_changes_its_normal(offset):
    beside, T_a_b = CUBE.with_transform(shifted(*offset)), shifted(1.75, 0.0, 0.0)
    alone = contact_manifold([CUBE], [CUBE], T_a_b)
    for number, parts in enumerate(([CUBE, beside], [beside, CUBE])):
        both = contact_manifold(parts, [CUBE], T_a_b)
        own = both.pairs[:, 0] == number
        assert (both.overlap, both.distance) == (True, 0.0)
        np.testing.assert_allclose(both.depth, 0.25, atol=ATOL_ROUNDOFF)
        np.testing.assert_allclose(both.normal, [1.0, 0.0, 0.0], atol=ATOL_ROUNDOFF)
        np.testing.assert_allclose(both.points[own], alone.points, atol=ATOL_ROUNDOFF)
        np.testing.assert_allclose(both.depths[own], alone.depths, atol=ATOL_ROUNDOFF)
        assert own.all()


def test_corners_cut_twice_by_rounding_count_once():
    # Half of a square that stands on its corner lies on the face; its two corners lie in the
    # face's edge but for rounding.
    square = np.array([[0.5, 0.0], [0.0, 0.5], [-0.5, 0.0], [0.0, -0.5]])
    tip = convex_part(np.array([[x + 1.0 - 1e-12, y, z] for x, y in square for z in (0.9, 2.0)]))
    found = clip_manifold(CUBE, tip, pair_contact(CUBE, tip))
    order = np.lexsort(found[0].T[:2])
    np.testing.assert_allclose(found[0][order], [[1.0, -0.5, 1.0], [0.5, 0.0, 1.0],
                                                 [1.0, 0.5, 1.0]], atol=ATOL_HULL)
    np.testing.assert_allclose(found[1], np.full(3, 0.1), atol=ATOL_HULL)


def test_where_clipping_leaves_nothing_the_deepest_point_stands_for_the_contact():
    pair = PairContact(True, 0.0, 0.1, UP, UP, 0.9 * UP, np.zeros((0, 2), np.int64), 0)
    points, depths = clip_manifold(CUBE, CUBE.with_transform(shifted(5.0, 5.0, 1.9)), pair)
    np.testing.assert_array_equal(points, UP[None])
    np.testing.assert_array_equal(depths, [0.1])


def test_a_cut_into_slivers_alone_is_refused(monkeypatch):
    flat = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])
    monkeypatch.setitem(sys.modules, 'coacd', SimpleNamespace(
        set_log_level=lambda level: None, Mesh=lambda vertices, faces: None,
        run_coacd=lambda mesh, **options: [(flat, None)]))
    with pytest.raises(MeshError, match='could not be cut into convex parts'):
        convex_parts(step_mesh())
