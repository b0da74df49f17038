"""Numbers on the command line: several to an option, any sign, any exponent, any order."""

import numpy as np
import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from gripsim_ros.apps.cli.arguments import (
    ELASTICITIES, count, elasticity_name, finite_numbers, join_numbers, positive, unit_vector)
from gripsim_ros.apps.cli.inputs import InputError
from gripsim_ros.core.mechanics import MechanicsOptions

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
RTOL_ROUNDOFF, ATOL_ROUNDOFF = 1e-12, 1e-15


@given(st.lists(FLOATS, min_size=3, max_size=3), st.sampled_from(['%r', '%.17e', '%+.17E']))
def test_any_three_numbers_arrive_unchanged(numbers, form):
    words = [form % number for number in numbers]
    joined = join_numbers(['A', '--direction', *words, 'B', '--json'])
    assert joined[0] == 'A' and joined[3:] == ['B', '--json']
    assert finite_numbers('--direction', joined[2]).tolist() == numbers


@pytest.mark.parametrize('words', [
    ['--direction', '-0.1', '0', '-9.9e-05', 'A', 'B'],
    ['A', '--direction', '-0.1', '0', '-9.9e-05', 'B'],
    ['A', 'B', '--direction', '-0.1', '0', '-9.9e-05'],
    ['A', 'B', '--direction=-0.1', '0', '-9.9e-05'],
    ['A', 'B', '--direction', '-0.1 0 -9.9e-05'],
    ['A', 'B', '--direction', '-0.1,0,-9.9e-05'],
])
def test_numbers_may_stand_anywhere(words):
    joined = join_numbers(words)
    at = joined.index('--direction')
    assert_allclose(finite_numbers('', joined.pop(at + 1)), [-0.1, 0.0, -9.9e-05])
    assert [word for word in joined if word != '--direction'] == ['A', 'B']


def test_a_fourth_number_is_left_for_others():
    assert join_numbers(['--at', '1', '2', '3', '4'])[2:] == ['4']


def test_joints_take_all_numbers_that_follow():
    assert join_numbers(['--joints', '0', '-1e-3', '2', '--json'])[1:] == ['0 -1e-3 2', '--json']


@pytest.mark.parametrize('words, said', [
    (['--at', '1', '2', '--json'], "takes 3 numbers, got 1 2, then '--json'"),
    (['--at'], 'got none'),
    (['--at', '1', '2'], 'got 1 2'),
    (['--at', '1', 'x', '2'], "then 'x'"),
    (['--joints', '--json'], 'got none'),
])
def test_too_few_numbers_are_refused(words, said):
    with pytest.raises(InputError, match=said):
        join_numbers(words)


@given(st.lists(FLOATS, min_size=3, max_size=3).filter(any))
def test_a_direction_of_any_length_becomes_a_unit_vector(numbers):
    unit = unit_vector('d', ' '.join(map(repr, numbers)))
    assert_allclose(np.linalg.norm(unit), 1.0, rtol=RTOL_ROUNDOFF)
    largest = int(np.argmax(np.abs(numbers)))
    assert_allclose(unit * abs(numbers[largest]), np.array(numbers) * abs(unit[largest]),
                    rtol=RTOL_ROUNDOFF, atol=ATOL_ROUNDOFF * abs(numbers[largest]))


@pytest.mark.parametrize('text', ['0 0 0', 'nan 0 1', 'inf 0 0', '-0 0 0'])
def test_a_direction_that_is_none_is_refused(text):
    with pytest.raises(InputError):
        unit_vector('d', text)


def test_an_elasticity_is_one_of_those_of_the_model():
    assert [elasticity_name(name) for name in ELASTICITIES] == list(ELASTICITIES)
    for name in ELASTICITIES:
        MechanicsOptions(elasticity=name)
    with pytest.raises(typer.BadParameter, match='one of half_space, body, auto, got .steel.'):
        elasticity_name('steel')


@pytest.mark.parametrize('value', [0.0, -1.0, np.nan, np.inf])
def test_a_length_must_be_positive(value):
    with pytest.raises(InputError, match='above 0'):
        positive('x', value)


@pytest.mark.parametrize('value', [0, -1, 2**32])
def test_a_count_must_fit(value):
    with pytest.raises(InputError, match='from 1 to'):
        count('x', value)
