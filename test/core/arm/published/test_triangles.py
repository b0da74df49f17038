"""Triangles that bound a six-joint arm, as Zhang and Shen print them."""

import numpy as np
import pytest

from gripsim_ros.core.arm.published.triangles import (
    arm_triangles, triangle_gaps, triangles_may_meet)
from gripsim_ros.core.errors import ShapeError


def test_arms_whose_tips_do_not_pass_each_other_need_no_triangle_tests():
    along = np.array([1.0, 0.0, 0.0])
    a = np.outer([0.0, 1.0, 2.0, 3.0, 4.0], along) + [0.0, 0.1, 0.0]
    b = np.outer([10.0, 9.0, 8.0, 7.0, 6.0], along)
    bases = np.zeros(3), 10.0 * along
    assert not triangles_may_meet(arm_triangles(a), arm_triangles(b), *bases).any()
    b[4] = 3.5 * along
    may_meet = triangles_may_meet(arm_triangles(a), arm_triangles(b), *bases)
    np.testing.assert_array_equal(may_meet, [[False, False], [False, True]])
    gaps = triangle_gaps(arm_triangles(a), arm_triangles(b), may_meet)
    assert np.isinf(gaps[[0, 0, 1], [0, 1, 0]]).all() and 0.0 < gaps[1, 1] <= 0.1
    assert triangles_may_meet(arm_triangles(a), arm_triangles(b), *bases, clearance=2.0)[0, 1]


def test_an_arm_of_other_joints_and_a_common_base_are_refused():
    with pytest.raises(ShapeError, match='joints m0 to m4 must have shape'):
        arm_triangles(np.zeros((4, 3)))
    with pytest.raises(ShapeError, match='bases'):
        triangles_may_meet(np.zeros((2, 3, 3)), np.zeros((2, 3, 3)), np.ones(3), np.ones(3))
