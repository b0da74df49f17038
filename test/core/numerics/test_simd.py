"""Eight numbers at once, compiled and as arrays, against each of them alone."""

from gripsim_ros.core.numerics.simd import (
    EIGHT, fill, larger, put, put_along, put_six, root, SIX, smaller, take, take_along, take_six,
    where)
from numba import config, njit
import numpy as np
from numpy.testing import assert_array_equal
import pytest

SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-310, 1.0, -3.0)


def _calculate(a, b, results):
    v, w = take(a, 1), take(b, 1, 2)
    put(v + w, results, 0)
    put(v - w, results, 1)
    put(v * w, results, 2)
    put(v / w, results, 3)
    put(-v, results, 4)
    put(abs(v), results, 5)
    put(root(w), results, 6)
    put(larger(v, w), results, 7)
    put(smaller(v, w), results, 8)
    put(where(v < w, v, w), results, 9)
    put(where(v <= w, v, 2), results, 10)
    put(where(v > w, 1.0, w), results, 11)
    put(where(v >= w, v, w), results, 12)
    put(2 * v - 0.1, results, 13)
    put(1.0 / larger(w, 0.0), results, 14)
    put(smaller(3.0, v) + fill(7), results, 15)


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
    for block in np.array(pairs).reshape(-1, EIGHT, 2):
        a, b, results = np.ones((2, EIGHT)), np.ones((2, 3, EIGHT)), np.empty((16, EIGHT))
        a[1], b[1, 2] = block.T
        calculate(a, b, results)
        wanted = np.array([expected_of(x, y) for x, y in block]).T
        assert_array_equal(results, wanted)
        assert_array_equal(np.signbit(results)[~np.isnan(wanted)],
                           np.signbit(wanted)[~np.isnan(wanted)])


def test_what_is_taken_is_no_part_of_the_array_any_more():
    a = np.ones((2, EIGHT))
    value = take(a, 1)
    put(fill(2.0), a, 1)
    assert (value == 1.0).all() and (a[1] == 2.0).all() and (a[0] == 1.0).all()


@pytest.mark.skipif(config.DISABLE_JIT, reason='plain Python takes them as they are')
def test_arrays_whose_numbers_do_not_lie_side_by_side_are_refused():
    @njit
    def first(a):
        put(take(a, 0), np.empty(EIGHT))

    with pytest.raises(Exception, match='take'):
        first(np.ones((EIGHT, 2)).T)


def _move_sixes(a, b, results, few):
    put(take_six(a, 1), results, 0)
    put(take_six(b, 2, 1) + fill(1.0), results, 1)
    put_six(take(results, 0), few, 1)
    put_six(take_six(a, 0) * fill(2.0), few, 2)


@pytest.mark.parametrize('move', [_move_sixes, njit(_move_sixes)], ids=['arrays', 'compiled'])
def test_six_numbers_are_taken_with_two_zeros_and_put_without(move):
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, SIX)), rng.normal(size=(3, 2, SIX))
    results, few = np.full((2, EIGHT), np.nan), np.full((4, SIX), np.nan)
    move(a, b, results, few)
    assert_array_equal(results[0], [*a[1], 0.0, 0.0])
    assert_array_equal(results[1], [*(b[2, 1] + 1.0), 1.0, 1.0])
    assert_array_equal(few[1:3], [a[1], 2.0 * a[0]])
    assert np.isnan(few[[0, 3]]).all()


def _move_along(a, first, results):
    put_along(take_along(a, 1, first) + fill(1.0), results, 2, first + 1)


@pytest.mark.parametrize('move', [_move_along, njit(_move_along)], ids=['arrays', 'compiled'])
@pytest.mark.parametrize('first', [0, 3])
def test_eight_numbers_of_a_row_are_taken_and_put_from_any_column_on(move, first):
    a, results = np.random.default_rng(2).normal(size=(2, 11)), np.zeros((3, 12))
    move(a, first, results)
    wanted = np.zeros((3, 12))
    wanted[2, first + 1:first + 9] = a[1, first:first + 8] + 1.0
    assert_array_equal(results, wanted)
