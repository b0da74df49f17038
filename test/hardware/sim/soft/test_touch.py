"""What contacts were allowed and bore stays theirs where places of a link come and go."""

from dataclasses import replace

import numpy as np
import pytest

from gripsim_ros.hardware.sim.soft.mesh_compliance import Press
from gripsim_ros.hardware.sim.soft.place import Place
from gripsim_ros.hardware.sim.soft.touch import handed_over, SAME, Touch

LEFT, RIGHT = (np.array([x * 0.01, 0.0, 0.0]) for x in (-1.0, 1.0))
DEPTH, TILT = 3e-4, np.array([0.02, -0.01, 0.0])


def touch(positions, forces, depth=DEPTH, tilt=TILT, low=LEFT):
    """Return a touch with contacts at positions (k, 3) [m] that bear forces (k,) [N]."""
    positions, forces = np.array(positions), np.array(forces)
    total = float(forces.sum())
    shares = forces / total if total else np.eye(len(forces))[0]
    middle = shares @ positions
    return Touch(
        lows=np.array([low]), force=total, compliance=1e-4, softness=1e-5, lack=2e-5, depth=depth,
        tilt=tilt, points=positions, positions=positions, distances=-depth * np.ones(len(forces)),
        shares=shares, presses=[Press(np.array([k]), np.ones(1), np.array([0.0, 0.0, 1.0]))
                                for k in range(len(forces))],
        place=Place(middle, middle, np.eye(3), np.eye(3)))


def forces_of(one):
    """Return what its contacts bear (k,) [N]."""
    return one.force * one.shares


@pytest.fixture
def four(rng):
    """Return a touch with four contacts, two on either side."""
    return touch(rng.normal(0.0, 1e-3, (4, 3)) + [LEFT, LEFT, RIGHT, RIGHT], [0.1, 0.4, 0.2, 0.0])


def test_a_touch_that_keeps_its_contacts_is_the_same(four):
    before = replace(four)
    assert handed_over([touch([RIGHT], [1.0]), four], [np.zeros(1, bool), np.ones(4, bool)],
                       four.lows) is four
    assert four.depth == before.depth and not four.is_elsewhere


def test_two_places_that_were_one_bear_and_allow_what_it_did(four):
    lows, side = np.array([LEFT, RIGHT]), np.array([True, True, False, False])
    parts = [handed_over([four], [here], some) for here, some in (
        (side, lows), (~side, lows[::-1]))]
    np.testing.assert_allclose(np.concatenate([forces_of(one) for one in parts]), forces_of(four))
    for one in parts:
        np.testing.assert_allclose(one.depth_at(four.positions), four.depth_at(four.positions))
        assert (one.compliance, one.softness, one.lack) == pytest.approx(
            (four.compliance, four.softness, four.lack))
        np.testing.assert_allclose(one.place.on_link, one.shares @ one.positions)
        assert len(one.presses) == len(one.points) == len(one.distances) == 2
    assert [one.is_elsewhere for one in parts] == [False, True]
    # What was one place is left as it is.
    assert four.force == pytest.approx(0.7) and len(four.presses) == 4


def test_one_place_that_was_two_has_their_mean_by_forces():
    left, right = touch([LEFT], [0.3]), touch([RIGHT], [0.1], depth=-DEPTH, tilt=0.0 * TILT)
    one = handed_over([left, right], [np.ones(1, bool)] * 2, np.array([LEFT]))
    assert one.force == pytest.approx(0.4)
    assert one.depth == pytest.approx(0.75 * DEPTH - 0.25 * DEPTH)
    np.testing.assert_allclose(one.tilt, 0.75 * TILT)
    np.testing.assert_allclose(one.place.on_link, 0.75 * LEFT + 0.25 * RIGHT)


def test_what_bears_nothing_changes_nothing_that_bears():
    """A contact that comes from a place where the link is pressed on 2 mm sooner."""
    bears, idle = touch([LEFT], [0.3]), touch([RIGHT], [0.0], depth=-2e-3)
    one = handed_over([idle, bears], [np.ones(1, bool)] * 2, np.array([LEFT]))
    assert one.depth == pytest.approx(DEPTH) and one.force == pytest.approx(0.3)
    np.testing.assert_allclose(one.tilt, TILT)


def test_where_there_was_nothing_a_touch_begins():
    one = handed_over([touch([LEFT], [1.0])], [np.zeros(1, bool)], np.array([RIGHT]))
    assert one.force == 0.0 and one.place is None
    np.testing.assert_array_equal(one.lows, [RIGHT])


@pytest.mark.parametrize('slide, elsewhere', [(0.5 * SAME, False), (2.0 * SAME, True)])
def test_surfaces_are_looked_at_anew_where_a_place_moved(four, slide, elsewhere):
    moved = handed_over([four], [np.ones(4, bool)], four.lows + [0.0, slide, 0.0])
    assert moved.is_elsewhere == elsewhere
