"""Edges, equal rows and pieces, found in linear time, against sorting and searching."""

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.bodies.topology import (
    connected_labels, consistent_flips, edge_table, equal_rows, groups_of_pairs)

seeds = st.integers(0, 2 ** 31)


@settings(max_examples=50)
@given(seeds, st.integers(1, 60), st.sampled_from((0, 5)))
def test_groups_of_pairs_are_those_of_a_stable_sort(seed, count, many):
    """Some by insertion, some, of more than ``FEW`` with the same first number, by counting."""
    first, second = np.random.default_rng(seed).integers(0, 7, size=(2, (1 + many) * count))
    order, group, starts = groups_of_pairs(first, second)
    keys = 7 * first + second
    expected = np.unique(keys, return_index=True, return_inverse=True)
    np.testing.assert_array_equal(order, np.argsort(keys, kind='stable'))
    np.testing.assert_array_equal(group, expected[2].reshape(-1))
    np.testing.assert_array_equal(order[starts], expected[1])


@settings(max_examples=50)
@given(seeds, st.integers(1, 80))
def test_equal_rows_are_numbered_by_first_appearance(seed, count):
    rows = np.random.default_rng(seed).integers(-1, 2, size=(count, 3)) * 0.1
    rows[::2] *= -1.0       # zeros of both signs
    known = {}
    expected = [known.setdefault(tuple((row + 0.0).tolist()), len(known)) for row in rows]
    np.testing.assert_array_equal(equal_rows(rows), expected)


def test_many_rows_on_a_grid_stay_apart():
    grid = np.stack(np.meshgrid(*[np.arange(40) * 2.0 ** -9] * 3), axis=-1).reshape(-1, 3)
    np.testing.assert_array_equal(equal_rows(grid), np.arange(len(grid)))


@settings(max_examples=50)
@given(seeds, st.integers(1, 40), st.integers(0, 60))
def test_pieces_are_those_of_scipy_numbered_by_their_first_node(seed, count, edges):
    pairs = np.random.default_rng(seed).integers(0, count, size=(edges, 2))
    labels = connected_labels(pairs, count)
    graph = coo_matrix((np.ones(edges), pairs.T), shape=(count, count))
    known = {}
    expected = [known.setdefault(label, len(known))
                for label in connected_components(graph, directed=False)[1].tolist()]
    np.testing.assert_array_equal(labels, expected)


@settings(max_examples=30)
@given(seeds)
def test_edges_are_numbered_by_their_vertices(seed):
    faces = np.random.default_rng(seed).integers(0, 9, size=(20, 3))
    table, ends = edge_table(faces), np.sort(np.stack([faces, np.roll(faces, -1, 1)], -1), axis=-1)
    known, place, counts = np.unique(ends.reshape(-1, 2), axis=0, return_inverse=True,
                                     return_counts=True)
    np.testing.assert_array_equal(table.ends, known)
    np.testing.assert_array_equal(table.edge_of_side, place.reshape(-1, 3))
    np.testing.assert_array_equal(table.counts, counts)
    np.testing.assert_array_equal(table.sides, np.argsort(place.reshape(-1), kind='stable'))


def test_a_surface_that_touches_itself_at_an_edge_keeps_its_open_sides():
    box = shapes.box((0.02, 0.02, 0.02))
    table = edge_table(np.concatenate([box.faces, [[0, 1, 9]]]))
    assert (table.own_open_sides() == table.open_sides(table.labels)).all()
    table = edge_table(box.faces[1:])
    assert not table.is_crowded
    assert table.own_open_sides().sum() == table.open_sides(table.labels).sum() == 3


@settings(max_examples=30)
@given(seeds)
def test_turned_faces_are_found_in_each_piece_where_they_are_fewer(seed):
    one = shapes.sphere(0.03, 0.015).faces
    faces = np.concatenate([one, one + one.max() + 1])
    turned = np.random.default_rng(seed).random(len(faces)) < 0.3
    faces[turned] = faces[turned][:, ::-1]
    flip, one_sided = consistent_flips(edge_table(faces))
    np.testing.assert_array_equal(flip, turned)
    assert not one_sided.any()


def test_a_band_of_half_a_turn_is_one_sided_and_a_disc_beside_it_is_not():
    band = np.array([[0, 1, 2], [2, 1, 3], [2, 3, 4], [4, 3, 5], [4, 5, 1], [1, 5, 0]])
    flip, one_sided = consistent_flips(edge_table(np.concatenate([band, [[6, 7, 8], [8, 7, 9]]])))
    np.testing.assert_array_equal(one_sided, np.arange(8) < 6)
    assert not flip[6:].any()
