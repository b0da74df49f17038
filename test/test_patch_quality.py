"""The nodes of a patch at which its depths are checked."""

from gripsim_ros.core.contact.patch_quality import _probes, PROBES
import numpy as np
from numpy.testing import assert_array_equal
import pytest


@pytest.mark.parametrize('count', [1, 2, PROBES - 1, PROBES, PROBES + 1, 70, 299])
def test_probes_lie_evenly_from_the_deepest_node_on(count):
    rng = np.random.default_rng(count)
    depths = rng.integers(1, 40, count + 20) / 8.0     # some nodes are as deep as others
    own = rng.permutation(count + 20)[:count]
    order = own[np.argsort(-depths[own], kind='stable')]
    expected = order[np.linspace(0, count - 1, min(PROBES, count)).astype(int)]
    assert_array_equal(_probes(own, depths), expected)
