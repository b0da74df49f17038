"""Where a link may touch an object: one place between convex surfaces, others each apart."""

import numpy as np
import pytest

from gripsim_ros.hardware.sim.soft.place import Place
from gripsim_ros.hardware.sim.soft.terrain import parted_lows, separate_lows, Terrain

SIDE, HALF = 61, 0.03
LINE = np.linspace(-HALF, HALF, SIDE)
X, Y = np.meshgrid(LINE, LINE)
BARRIER = 5e-5


def at(gaps):
    """Return where lows are (n, 2) [m]."""
    return np.column_stack([X.ravel(), Y.ravel()])[separate_lows(gaps, BARRIER)]


def two(apart, rise, deeper=0.0):
    """Return the gap over two valleys ``apart`` [m] with a rise [m] between, one deeper [m]."""
    share = 2.0 * X / apart
    return rise * (share**2 - 1.0)**2 + Y**2 / 0.04 + 0.5 * deeper * share


def test_between_convex_surfaces_there_is_one(rng):
    for turn in rng.uniform(0.0, np.pi, 5):
        along, across = np.cos(turn) * X + np.sin(turn) * Y, np.cos(turn) * Y - np.sin(turn) * X
        gaps = (along - 0.004)**2 / 0.1 + across**2 / 0.01
        np.testing.assert_allclose(at(gaps), [[0.004 * np.cos(turn), 0.004 * np.sin(turn)]],
                                   atol=2e-3)


def test_two_valleys_are_two_places_the_deeper_first():
    np.testing.assert_allclose(at(two(0.022, 3e-4, 4e-5)), [[-0.011, 0.0], [0.011, 0.0]],
                               atol=1.1e-3)


@pytest.mark.parametrize('rise, count', [(0.5 * BARRIER, 1), (2.0 * BARRIER, 2)])
def test_a_ripple_is_no_other_place(rise, count):
    assert len(at(two(0.022, rise))) == count


def test_what_is_no_surface_parts_places():
    gaps = two(0.022, 0.0)
    gaps[:, SIDE // 2] = np.inf
    assert len(at(gaps)) == 2
    assert separate_lows(np.full((SIDE, SIDE), np.inf), BARRIER).tolist() == [SIDE**2 // 2]


@pytest.mark.parametrize('rise, count', [(0.5 * BARRIER, 1), (2.0 * BARRIER, 2)])
def test_what_is_low_twice_is_two_places_where_another_surface_rises_between(rise, count):
    lows = np.array([[-0.0115, 0.001], [0.0115, -0.001]])
    found = parted_lows(lows, lambda flat: rise * np.cos(0.5 * np.pi * flat[:, 0] / 0.0115)
                        + 5.0 * flat[:, 1]**2, BARRIER)
    np.testing.assert_array_equal(found, lows[:count])


def test_nothing_convex_parts_places_however_it_lies(rng):
    lows = rng.uniform(-0.03, 0.03, (20, 2))
    found = parted_lows(lows, lambda flat: abs(flat @ [0.1, 0.3]) + abs(flat @ [0.2, -0.1]),
                        BARRIER)
    np.testing.assert_array_equal(found, lows[:1])


def place(on_link=(0.0, 0.0, 0.0), frame=np.eye(3)):
    """Return a place at a point of the link."""
    return Place(np.array(on_link), np.zeros(3), frame, np.eye(3))


def test_points_are_of_the_nearest_place_however_far_above_it():
    lows = np.array([[-0.011, 0.0, 0.0], [0.011, 0.0, 0.0], [0.0, 0.02, 0.0]])
    terrain = Terrain(place(), lows)
    points = np.array([[0.008, 0.001, 0.03], [-0.02, 0.0, 0.0], [0.002, 0.012, 0.0]])
    assert terrain.nearest(points).tolist() == [1, 0, 2]
    np.testing.assert_array_equal(terrain.from_low(1), lows[[1, 0, 2]])


@pytest.mark.parametrize('turn, slide, holds', [
    (0.0, 0.0, True), (0.01, 5e-4, True), (0.03, 0.0, False), (0.0, 2e-3, False)])
def test_a_terrain_holds_until_link_and_object_move(turn, slide, holds):
    frame = np.array([[np.cos(turn), 0.0, np.sin(turn)], [0.0, 1.0, 0.0],
                      [-np.sin(turn), 0.0, np.cos(turn)]])
    assert Terrain(place(), np.zeros((1, 3))).holds_at(place((slide, 0.0, 0.0), frame)) == holds
