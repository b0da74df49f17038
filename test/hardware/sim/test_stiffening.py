"""Linear tetrahedra are stiffer than the body, as theory says, the less the finer they are."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gripsim_ros.hardware.sim.stiffening import _balanced_loads, PLACES, stiffening

#: Corners of the six tetrahedra of a cube (Kuhn), by their ways from 0 to 7.
CUBE = np.array([[0, 4, 6, 7], [0, 4, 5, 7], [0, 2, 6, 7], [0, 2, 3, 7], [0, 1, 5, 7],
                 [0, 1, 3, 7]])


def bar(counts, size=0.01):
    """Return nodes and tetrahedra of a bar of ``counts`` cubes along x, y and z."""
    x, y, z = (np.arange(n + 1) for n in counts)
    nodes = size * np.stack(np.meshgrid(x, y, z, indexing='ij'), axis=-1).reshape(-1, 3)
    number = np.arange(len(nodes)).reshape(len(x), len(y), len(z))
    corners = np.stack([number[a:a + counts[0], b:b + counts[1], c:c + counts[2]].ravel()
                        for a in (0, 1) for b in (0, 1) for c in (0, 1)], axis=1)
    return nodes.astype(float), corners[:, CUBE].reshape(-1, 4)


def test_finer_tetrahedra_are_less_too_stiff():
    found = [stiffening(*bar((8 * n, n, n), 0.02 / n), 0.3) for n in (1, 2, 4)]
    assert 3.0 > found[0] > found[1] > found[2] > 1.0
    # The error of linear elements falls with the square of their size.
    np.testing.assert_allclose((found[1] - 1.0) / (found[2] - 1.0), 4.0, rtol=0.25)


def test_slender_bars_are_worse_than_cubes():
    slender, cube = (stiffening(*bar((n, 2, 2)), 0.3) - 1.0 for n in (12, 2))
    assert slender > 1.25 * cube


@pytest.mark.parametrize('poisson_ratio', [0.0, 0.3, 0.45])
def test_size_and_place_do_not_matter(poisson_ratio):
    nodes, corners = bar((4, 2, 2))
    turned = 3.0 * nodes @ Rotation.from_euler('z', 90, degrees=True).as_matrix().T + [1, 2, 3]
    np.testing.assert_allclose(stiffening(turned, corners, poisson_ratio),
                               stiffening(nodes, corners, poisson_ratio), rtol=1e-6)


def test_loads_balance():
    nodes, corners = bar((4, 2, 1))
    points = PLACES @ nodes[corners]
    volume = np.ptp(nodes, axis=0).prod() / len(corners) / 4.0
    loads = _balanced_loads(points, np.full(points.shape[:2], volume))
    assert abs(loads).max() > 0.0
    for pushes in (loads, np.cross(points, loads)):
        assert abs(pushes.sum(axis=(1, 2))).max() < 1e-12 * abs(loads).sum()
