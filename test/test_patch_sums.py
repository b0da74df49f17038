"""Sums over the nodes of patches: numpy's own order, and patches near each other."""

import numpy as np
from numpy.testing import assert_array_equal
import pytest

from gripsim_ros.core.mechanics.patch_sums import near_others, pairwise_sum


@pytest.mark.parametrize('count', [0, 1, 7, 8, 9, 127, 128, 129, 135, 136, 255, 257, 1000, 4099])
def test_sums_have_the_bits_of_numpys(count):
    rng = np.random.default_rng(count)
    values = rng.normal(size=count) * 10.0 ** rng.integers(-6, 6, count)
    assert pairwise_sum(values) == values.sum()


@pytest.mark.parametrize('ratio', [0.1, 3.0, 30.0])
def test_near_others_lie_patches_of_a_small_gap_on_one_side(ratio):
    rng = np.random.default_rng(3)
    points, normals = rng.uniform(-0.1, 0.1, (12, 3)), rng.normal(size=(12, 3))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    radii = rng.uniform(1e-3, 1e-2, 12)
    gaps = np.linalg.norm(points[:, None] - points, axis=2) - radii[:, None] - radii
    near = (normals @ normals.T > 0.0) & (gaps < ratio * np.maximum(radii[:, None], radii))
    near &= ~np.eye(12, dtype=bool)
    assert_array_equal(near_others(points, normals, radii, ratio), near.any(axis=1))
