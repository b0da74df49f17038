"""The common plane: the paper's table, hand-computed boxes, and its bound on the distance."""

from contact_oracles import hull_distance
from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.contact.backends import common_plane as common_planes
from gripsim_ros.core.contact.backends.common_plane import common_plane, separating_plane
from gripsim_ros.core.contact.backends.convex.decomposition import convex_part
from gripsim_ros.core.contact.backends.convex.epa import pair_contact
from gripsim_ros.core.errors import ShapeError

ATOL_ROUNDOFF = 1e-12
#: The oracle is an iterative programme; the table has four digits.
ATOL_PROGRAMME, ATOL_TABLE = 1e-6, 1e-3

seeds = st.integers(0, 2 ** 31)

# Table 1 of Zhang and Shen 2004; the unit is not given. Of the second triangle the heights
# were restored from its congruence: their common sign is unknown.
H = 85.4618
TABLE_A = {'apart': [[170.1521, 48.3081, 100.0], [170.1521, 48.3081, -50.0],
                     [80.3917, 92.3885, -50.0]],
           'meeting': [[209.6881, 58.4519, 100.0], [209.6881, 58.4519, -50.0],
                       [119.9278, 102.5323, -50.0]]}


def table_b(case, sign):
    p, r = [191.1489, 77.5045, -sign * H], [223.1945, 152.6198, sign * H]
    third = [274.0921, 162.9021, 0.0] if case == 'apart' else [140.2514, 67.2222, 0.0]
    return np.array([p, third, r])


@pytest.mark.parametrize('sign, distance', [(1.0, 47.606), (-1.0, 35.962)])
def test_the_triangles_apart_of_the_table_are_parted_by_the_first_plane(sign, distance):
    a, b = np.array(TABLE_A['apart']), table_b('apart', sign)
    plane = common_plane(a, b)
    assert plane.iterations == 1
    # Printed 34.39, cut off; by hand 34.3965. It is a bound, not the distance.
    np.testing.assert_allclose(plane.gap, 34.3965, rtol=0.0, atol=ATOL_TABLE)
    np.testing.assert_allclose(plane.normal, [0.7954, 0.6061, 0.0], rtol=0.0, atol=ATOL_TABLE)
    np.testing.assert_allclose(hull_distance(a, b), distance, rtol=0.0, atol=ATOL_TABLE)
    widest = common_plane(a, b, early_exit=False).gap
    assert 34.3965 < widest <= distance + ATOL_TABLE


@pytest.mark.parametrize('sign, deepest', [(1.0, -21.340), (-1.0, -13.227)])
def test_the_meeting_triangles_of_the_table_are_not_parted(sign, deepest):
    a, b = np.array(TABLE_A['meeting']), table_b('meeting', sign)
    np.testing.assert_allclose(hull_distance(a, b), 0.0, rtol=0.0, atol=ATOL_TABLE)
    # Printed -22.70 after 9 loops: where the search stalls depends on the axes of its turns.
    plane = common_plane(a, b)
    assert -23.5 <= plane.gap <= deepest and plane.iterations > 1


def test_the_first_plane_of_the_meeting_triangles_has_the_gap_computed_by_hand():
    a, b = np.array(TABLE_A['meeting']), table_b('meeting', 1.0)
    normal = b.mean(axis=0) - a.mean(axis=0)
    normal /= np.linalg.norm(normal)
    np.testing.assert_allclose((b @ normal).min() - (a @ normal).max(), -30.735, rtol=0.0,
                               atol=ATOL_TABLE)
    assert common_plane(a, b).gap > -30.735


def test_two_turned_cubes_are_parted_at_once():
    cube = shapes.box([2.0, 2.0, 2.0]).vertices
    diagonal, z = np.array([1.0, 1.0, 0.0]) / np.sqrt(2.0), np.array([0.0, 0.0, 1.0])
    axes = np.array([diagonal + z, diagonal - z, [1.0, -1.0, 0.0]])
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    plane = common_plane(cube, cube @ axes + 3.3 * diagonal)
    np.testing.assert_allclose(plane.gap, 3.3 - 2.0 * np.sqrt(2.0), rtol=0.0,
                               atol=ATOL_ROUNDOFF)
    np.testing.assert_allclose(plane.normal, diagonal, rtol=0.0, atol=ATOL_ROUNDOFF)
    np.testing.assert_allclose(plane.point @ diagonal, (np.sqrt(2.0) + 3.3 - np.sqrt(2.0)) / 2,
                               rtol=0.0, atol=ATOL_ROUNDOFF)


@settings(max_examples=25)
@given(st.integers(1, 12), st.integers(1, 12), st.floats(0.0, 3.0), st.booleans(), seeds)
def test_the_gap_is_a_lower_bound_and_its_plane_a_witness(count_a, count_b, way, early, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(count_a, 3)), rng.normal(size=(count_b, 3)) + [way, 0.0, 0.0]
    plane = common_plane(a, b, early_exit=early)
    np.testing.assert_allclose(np.linalg.norm(plane.normal), 1.0, rtol=0.0, atol=ATOL_ROUNDOFF)
    half = plane.gap / 2.0 - ATOL_ROUNDOFF
    assert ((a - plane.point) @ plane.normal <= -half).all()
    assert ((b - plane.point) @ plane.normal >= half).all()
    assert plane.gap <= hull_distance(a, b) + ATOL_PROGRAMME


@settings(max_examples=40)
@given(st.integers(5, 12), st.integers(5, 12), st.floats(0.0, 4.0), seeds)
def test_the_parting_plane_and_gjk_agree(count_a, count_b, way, seed):
    rng = np.random.default_rng(seed)
    a = convex_part(rng.normal(size=(count_a, 3)))
    b = convex_part(rng.normal(size=(count_b, 3)) + [way, 0.0, 0.0])
    plane, apart = separating_plane(a, b)
    pair = pair_contact(a, b)
    assert apart == (pair.distance > 0.0) == (plane.gap > 0.0)
    assert plane.gap <= pair.distance - pair.depth + ATOL_ROUNDOFF


def test_a_plane_that_the_search_misses_comes_from_gjk():
    # A needle over a plate: no turn of the way from centre to centre widens its gap.
    plate = convex_part(shapes.box([2.0, 2.0, 0.02]).vertices)
    needle = convex_part(shapes.box([2.0, 0.02, 0.02]).vertices + [1.5, 0.3, 0.03])
    assert common_plane(plate.vertices, needle.vertices).gap < -0.4
    plane, apart = separating_plane(plate, needle)
    assert apart
    np.testing.assert_allclose(plane.gap, 0.01, rtol=0.0, atol=ATOL_ROUNDOFF)
    np.testing.assert_allclose(plane.point[2], 0.015, rtol=0.0, atol=ATOL_ROUNDOFF)


@settings(max_examples=30)
@given(seeds)
def test_the_last_plane_warms_the_next_search(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(8, 3)), rng.normal(size=(8, 3)) + [4.0, 0.0, 0.0]
    last = common_plane(a, b)
    moved = b @ Rotation.from_rotvec(rng.normal(size=3) * 1e-4).as_matrix()
    if last.gap > 0.01:
        assert common_plane(a, moved, last.normal).iterations == 1


@pytest.mark.parametrize('a, b, said', [
    (np.zeros((0, 3)), np.zeros((1, 3)), 'must have points, got 0 and 1'),
    (np.zeros((1, 3)), np.zeros(3), 'b must have shape'),
    (np.full((1, 3), np.nan), np.zeros((1, 3)), 'finite')])
def test_bad_points_are_refused(a, b, said):
    with pytest.raises(ShapeError, match=said):
        common_plane(a, b)


def test_coinciding_centres_start_along_x(monkeypatch):
    square = np.array([[1.0, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]])
    monkeypatch.setattr(common_planes, 'MIN_TURN', 0.174)
    far = common_plane(square, square)
    assert far.gap <= 0.0
    np.testing.assert_allclose(far.point, (square[np.argmax(square @ far.normal)]
                                           + square[np.argmin(square @ far.normal)]) / 2.0,
                               rtol=0.0, atol=ATOL_ROUNDOFF)


def test_a_search_cut_short_still_bounds_the_distance(monkeypatch):
    a, b = (np.array(TABLE_A['apart']), table_b('apart', 1.0))
    found = common_plane(a, b, early_exit=False)
    monkeypatch.setattr(common_planes, 'MAX_ITERATIONS', 1)
    cut = common_plane(a, b, early_exit=False)
    assert cut.iterations <= 2 and cut.gap <= found.gap + ATOL_ROUNDOFF
    np.testing.assert_allclose(cut.gap, (b @ cut.normal).min() - (a @ cut.normal).max(),
                               atol=ATOL_TABLE)
