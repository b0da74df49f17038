"""Where phalanges press: flat bars on flat, round and leaning contours."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from hypothesis import given, strategies as st

from gripsim_ros.core.planning.planar_closing.contact_centres import SPACING, pressed_contact


HALF_WIDTH, ROUNDING, DEPTH = 0.006, 0.0025, 5e-4
#: A bar along x whose rounded surface is the line y = 0.
BAR = np.array([[[-0.02, ROUNDING], [0.02, ROUNDING]]])
OFFSETS = np.array([-1.0, 0.0, 1.0])


def section(height, normal, x):
    """Return pieces of the surface y = -height(x, z) in three planes, with its normals."""
    pieces, shifts, normals = [], [], []
    for offset in OFFSETS:
        ends = np.stack([x, -height(x, offset * HALF_WIDTH)], axis=1)
        pieces.append(np.stack([ends[:-1], ends[1:]], axis=1))
        middles = 0.5 * (x[:-1] + x[1:])
        normals.append(normal(middles, np.full(len(middles), offset * HALF_WIDTH)))
        shifts.append(np.full(len(middles), offset))
    return np.concatenate(pieces), np.concatenate(shifts), np.concatenate(normals)


def ball(radius, x0, z0):
    """Return the section of a ball that touches the bar at (x0, z0); its normals (x, y, z)."""
    def height(x, z):
        return radius - np.sqrt(radius ** 2 - (x - x0) ** 2 - (z - z0) ** 2)

    def normal(x, z):
        return np.stack([x - x0, radius - height(x, z), z - z0], axis=1) / radius
    return section(height, normal, np.linspace(x0 - 0.6 * radius, x0 + 0.6 * radius, 90))


@given(x0=st.floats(-0.01, 0.01), z0=st.floats(-0.005, 0.005), radius=st.floats(0.02, 0.08))
def test_a_flat_pad_presses_where_it_touches_a_ball_along_its_normal(x0, z0, radius):
    found = pressed_contact(BAR, ROUNDING, ball(radius, x0, z0), HALF_WIDTH, DEPTH)
    assert_allclose([found.point[0], found.shift], [x0, z0], rtol=0.0, atol=1e-3)
    assert found.normal[1] / np.linalg.norm(found.normal) > np.cos(0.06)
    # A bed of springs is pressed over 2 pi R d where all of it lies under the pad.
    whole = 2.0 * np.pi * radius * DEPTH
    assert found.area <= 1.15 * whole
    if abs(z0) + np.sqrt(whole / np.pi) < 4.0 / 3.0 * HALF_WIDTH:
        assert found.area >= 0.85 * whole


@given(begin=st.floats(-0.015, 0.0), length=st.floats(0.005, 0.015))
def test_a_pad_on_a_flat_side_presses_in_the_middle_of_what_it_covers(begin, length):
    flat = section(lambda x, z: np.zeros(len(x)),
                   lambda x, z: np.tile([0.0, 1.0, 0.0], (len(x), 1)),
                   np.linspace(begin, begin + length, 4))
    found = pressed_contact(BAR, ROUNDING, flat, HALF_WIDTH, DEPTH)
    assert_allclose(found.point, [begin + 0.5 * length, 0.0], rtol=0.0, atol=1e-12)
    assert_allclose(found.area, 8.0 / 3.0 * HALF_WIDTH * length, rtol=1e-9)
    assert found.shift == pytest.approx(0.0, abs=1e-12)


def test_a_pad_over_the_end_of_an_object_presses_on_the_planes_that_meet_it():
    pieces, shifts, normals = ball(0.03, 0.0, 0.0)
    kept = shifts > -0.5
    found = pressed_contact(BAR, ROUNDING, (pieces[kept], shifts[kept], normals[kept]),
                            HALF_WIDTH, DEPTH)
    assert 0.0 <= found.shift <= HALF_WIDTH and abs(found.point[0]) < SPACING
    assert pressed_contact(BAR, ROUNDING, (pieces[:0], shifts[:0], normals[:0]), HALF_WIDTH,
                           DEPTH) is None
