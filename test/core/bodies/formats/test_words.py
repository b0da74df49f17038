"""Numbers that stand in a file as words: all of them, or an error."""

from numpy.testing import assert_array_equal
import pytest

from gripsim_ros.core.bodies.formats.words import indices_of, numbers_of


def test_numbers_are_read_as_they_stand():
    assert_array_equal(numbers_of(b'1 -2.5e-3\n .5', 3, 'vertices'), [1.0, -2.5e-3, 0.5])
    assert_array_equal(indices_of(b' 3\t-1 \n 0 ', 3, 'faces'), [3, -1, 0])
    assert len(numbers_of(b'', 0, 'vertices')) == 0


@pytest.mark.filterwarnings('ignore::DeprecationWarning')
@pytest.mark.parametrize('text', [b'1 2', b'1 2 3 4', b'1 two 3', b''])
def test_what_holds_another_count_or_a_word_is_refused(text):
    for reader in (numbers_of, indices_of):
        with pytest.raises(ValueError, match='faces are not all of numbers'):
            reader(text, 3, 'faces')


@pytest.mark.filterwarnings('ignore::DeprecationWarning')
def test_a_number_with_a_point_is_no_index():
    with pytest.raises(ValueError, match='corners'):
        indices_of(b'1 2.5 3', 3, 'corners')
