"""Eight numbers at once, compiled and as arrays, against each of them alone."""

from gripsim_ros.core.numerics.simd import (
    broadcast, LANES, larger, load, select, smaller, sqrt, store)
from numba import config, njit
import numpy as np
from numpy.testing import assert_array_equal
import pytest

SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-310, 1.0, -3.0)


def _calculate(a, b, results):
    v, w = load(a, 1), load(b, 1, 2)
    store(v + w, results, 0)
    store(v - w, results, 1)
    store(v * w, results, 2)
    store(v / w, results, 3)
    store(-v, results, 4)
    store(abs(v), results, 5)
    store(sqrt(w), results, 6)
    store(larger(v, w), results, 7)
    store(smaller(v, w), results, 8)
    store(select(v < w, v, w), results, 9)
    store(select(v <= w, v, 2), results, 10)
    store(select(v > w, 1.0, w), results, 11)
    store(select(v >= w, v, w), results, 12)
    store(2 * v - 0.1, results, 13)
    store(1.0 / larger(w, 0.0), results, 14)
    store(smaller(3.0, v) + broadcast(7), results, 15)


def expected_of(x, y):
    """Return what the calculation gives for one pair, in plain numbers."""
    x, y = np.float64(x), np.float64(y)
    return [x + y, x - y, x * y, x / y, -x, abs(x), np.sqrt(y), max(x, y), min(x, y),
            x if x < y else y, x if x <= y else 2.0, 1.0 if x > y else y, x if x >= y else y,
            2.0 * x - 0.1, np.float64(1.0) / max(y, 0.0), min(3.0, x) + 7.0]


@pytest.mark.filterwarnings('ignore::RuntimeWarning')
@pytest.mark.parametrize('calculate', [_calculate, njit(error_model='numpy')(_calculate)],
                         ids=['arrays', 'compiled'])
def test_each_of_eight_numbers_is_what_it_would_be_alone(calculate):
    rng = np.random.default_rng(0)
    pairs = [(x, y) for x in SPECIAL for y in SPECIAL] + rng.normal(size=(64, 2)).tolist()
    for block in np.array(pairs).reshape(-1, LANES, 2):
        a, b, results = np.ones((2, LANES)), np.ones((2, 3, LANES)), np.empty((16, LANES))
        a[1], b[1, 2] = block.T
        calculate(a, b, results)
        wanted = np.array([expected_of(x, y) for x, y in block]).T
        assert_array_equal(results, wanted)
        assert_array_equal(np.signbit(results)[~np.isnan(wanted)],
                           np.signbit(wanted)[~np.isnan(wanted)])


def test_what_is_taken_is_no_part_of_the_array_any_more():
    a = np.ones((2, LANES))
    value = load(a, 1)
    store(broadcast(2.0), a, 1)
    assert (value == 1.0).all() and (a[1] == 2.0).all() and (a[0] == 1.0).all()


@pytest.mark.skipif(config.DISABLE_JIT, reason='plain Python takes them as they are')
def test_arrays_whose_numbers_do_not_lie_side_by_side_are_refused():
    @njit
    def first(a):
        store(load(a, 0), np.empty(LANES))

    with pytest.raises(Exception, match='load'):
        first(np.ones((LANES, 2)).T)


def _move_along(a, first, results):
    store(load(a, 1, first) + broadcast(1.0), results, 2, first + 1)
    store(load(a[0], first), results[0], first)


@pytest.mark.parametrize('move', [_move_along, njit(_move_along)], ids=['arrays', 'compiled'])
@pytest.mark.parametrize('first', [0, 3])
def test_eight_numbers_of_a_row_are_taken_and_put_from_any_column_on(move, first):
    a, results = np.random.default_rng(2).normal(size=(2, 11)), np.zeros((3, 12))
    move(a, first, results)
    wanted = np.zeros((3, 12))
    wanted[2, first + 1:first + 9] = a[1, first:first + 8] + 1.0
    wanted[0, first:first + 8] = a[0, first:first + 8]
    assert_array_equal(results, wanted)
