"""Speeds of contacts against the plain formula."""

import numpy as np
from numpy.testing import assert_array_equal
import pytest

from gripsim_ros.core.planning.press import mean_speeds
from gripsim_ros.core.transforms import cross


@pytest.mark.parametrize('count', [1, 2, 3, 9])
def test_mean_speeds_are_those_of_the_points_along_the_normals(count):
    rng = np.random.default_rng(count)
    shares, normals, offsets = rng.random(count), *rng.normal(size=(2, count, 3))
    jacobian = rng.normal(size=(6, 7))
    velocities = jacobian[None, :3] + cross(
        jacobian[3:].T[None], offsets[:, None]).swapaxes(1, 2)
    assert_array_equal(mean_speeds(shares, normals, offsets, jacobian),
                       np.einsum('k,kx,kxj->j', shares, normals, velocities))
