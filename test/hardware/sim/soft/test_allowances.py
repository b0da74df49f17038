"""Contacts of a link go deeper by small steps, whichever place they are counted to."""

import numpy as np
import pytest

from gripsim_ros.hardware.sim.soft.allowances import Allowances, LATER, SAME_CONTACT, SOONER

PLACES = np.array([[0.0, 0.0, 0.0], [0.02, 0.0, 0.0]])
DEPTHS = np.array([3e-4, -2e-3])
TOUCHING = -DEPTHS


@pytest.mark.parametrize('wanted', [DEPTHS, DEPTHS - 0.5 * SOONER, DEPTHS + 0.5 * LATER])
def test_what_changes_slowly_is_as_wanted(wanted):
    found = Allowances(PLACES, DEPTHS).limit(PLACES, wanted, TOUCHING)
    np.testing.assert_array_equal(found, wanted)


def test_a_contact_that_is_counted_to_another_place_goes_there_by_and_by():
    before, wanted = Allowances(PLACES, DEPTHS), DEPTHS[::-1]
    found = before.limit(PLACES, wanted, TOUCHING)
    np.testing.assert_allclose(found, DEPTHS + [-SOONER, LATER])
    steps = int(np.ceil(abs(np.diff(DEPTHS)[0]) / SOONER)) + 1
    for _ in range(steps):
        found = Allowances(PLACES, found).limit(PLACES, wanted, TOUCHING)
    np.testing.assert_allclose(found, wanted)


def test_contacts_are_known_by_where_they_are_in_whatever_order():
    moved = PLACES[::-1] + [0.0, 0.5 * SAME_CONTACT, 0.0]
    found = Allowances(PLACES, DEPTHS).limit(moved, np.zeros(2), np.zeros(2))
    np.testing.assert_allclose(found, DEPTHS[::-1] + [LATER, -SOONER])


@pytest.mark.parametrize('before', [Allowances(), Allowances(PLACES, DEPTHS)])
def test_a_new_contact_bears_nothing_at_first(before):
    new = np.array([[0.0, 0.05, 0.0], [0.0, -0.05, 0.0]])
    wanted, distances = np.array([-2e-3, 1e-3]), np.array([5e-4, 2e-3])
    overlaps = -(distances + before.limit(new, wanted, distances))
    assert overlaps[0] <= SOONER * 1.000001
    assert before.limit(new, wanted, distances)[1] == wanted[1]
