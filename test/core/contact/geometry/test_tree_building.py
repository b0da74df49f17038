"""The building of trees: its order of numbers, and its nodes."""

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from gripsim_ros.core.bodies import shapes
from gripsim_ros.core.contact.geometry.tree_building import build_nodes, sort_stably


def sorted_by(keys):
    order = np.empty(len(keys), np.int64)
    sort_stably(keys, order, np.empty(len(keys), np.int64))
    return order


@settings(max_examples=100)
@given(st.integers(0, 2 ** 31), st.integers(1, 400), st.sampled_from((0.0, 1.0, 8.0, 60.0)))
def test_numbers_are_sorted_as_by_a_stable_sort(seed, count, power):
    keys = np.round(np.random.default_rng(seed).random(count), 2) ** power
    np.testing.assert_array_equal(sorted_by(keys), np.argsort(keys, kind='stable'))


@pytest.mark.parametrize('factor', [0.0, 5e-324, 1e-300, 1e300])
def test_numbers_at_the_ends_of_their_range_are_sorted(factor):
    keys = factor * np.random.default_rng(0).random(100)
    np.testing.assert_array_equal(sorted_by(keys), np.argsort(keys, kind='stable'))


@pytest.mark.parametrize('leaf_size', [1, 2, 6])
def test_nodes_fill_their_arrays_at_any_count(leaf_size):
    ball = shapes.sphere(0.03, 0.012)
    for count in range(1, len(ball.faces), 7):
        order, children, ranges, (_, radii, _) = build_nodes(
            ball.vertices, ball.faces[:count], leaf_size)
        leaves = children[:, 0] < 0
        assert len(children) == 2 * leaves.sum() - 1
        assert (np.diff(ranges, axis=1)[leaves] <= leaf_size).all()
        assert np.sort(children[~leaves].ravel()).tolist() == list(range(1, len(children)))
        assert sorted(order) == list(range(count)) and (radii > 0.0).all()


def test_half_of_a_node_is_nearer_to_its_vantage_point_than_the_other():
    ball = shapes.sphere(0.03, 0.006, jitter=0.3)
    order, children, ranges, _ = build_nodes(ball.vertices, ball.faces, 6)
    middles = ball.vertices[ball.faces].mean(axis=1)
    own = middles[order]
    vantage = middles[np.argmax(np.linalg.norm(middles - middles.mean(axis=0), axis=1))]
    distances = np.linalg.norm(own - vantage, axis=1)
    half = ranges[children[0, 0], 1]
    assert half == len(own) // 2 and distances[:half].max() <= distances[half:].min()
