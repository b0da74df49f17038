"""Fingers that share joints: the shift of the palm after which both touch alike."""

from hypothesis import given, strategies as st
import numpy as np
import pytest

from gripsim_ros.core.planning.closing.coupling import _balanced, pressing_shift
from gripsim_ros.core.planning.closing.force_control import _shared_steps
from gripsim_ros.core.planning.closing.knowledge import ClosingKnowledge
from gripsim_ros.core.planning.closing.force_level import ForceLevel

angles = st.floats(0.0, 1.2)


@given(st.floats(1e-4, 0.05), angles)
def test_after_the_shift_both_fingers_have_the_same_gap(gap, angle):
    # Two walls: the gap along a finger's direction shrinks by the shift's part along it.
    first, second = np.array([1.0, 0.0, 0.0]), -np.array([np.cos(angle), np.sin(angle), 0.0])
    shift = _balanced(np.array([first, second]), np.array([0.0, gap]), np.array([True, False]))
    assert 0.0 - shift @ first == pytest.approx(gap - shift @ second, rel=1e-9)


def test_no_shift_where_opposed_fingers_touch_or_none_opposes():
    directions = np.array([[1.0, 0, 0], [-1.0, 0, 0], [1.0, 0, 0]])
    gaps = np.array([0.0, 0.01, 0.02])
    assert _balanced(directions, gaps, np.array([True, True, False])) is None
    assert _balanced(directions[::2], gaps[::2], np.array([True, False])) is None


@given(st.floats(-1e-3, 1e-3), st.floats(-1e-3, 1e-3), st.floats(0.01, 0.1))
def test_opposed_fingers_of_one_motor_reach_their_depths_by_step_and_shift(a, b, speed):
    normal = np.array([0.0, 1.0, 0.0])
    rows = [(np.array([speed]), normal, a), (np.array([speed]), -normal, b)]
    step, shift = _shared_steps(rows, [0])
    assert speed * step[0] + normal @ shift == pytest.approx(a, abs=1e-12)
    assert speed * step[0] - normal @ shift == pytest.approx(b, abs=1e-12)
    assert abs(shift[0]) < 1e-12 and abs(shift[2]) < 1e-12


def test_pressing_shifts_the_palm_by_half_a_millimetre_at_most():
    known = ClosingKnowledge(np.zeros(1), np.zeros(2, bool), np.full(2, np.nan),
                             ForceLevel((1.2, 1.4), 0.05))
    for _ in range(20):
        known.shift = pressing_shift(known, np.array([1e-4, 0.0, 0.0]))
    assert np.linalg.norm(known.shift - known.checked_shift) == pytest.approx(5e-4)
