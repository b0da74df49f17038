"""Nodes, batches and hands for tests of mechanics."""

import numpy as np
from gripsim_ros.core.mechanics.contact.contact_forces import (
    PatchNodes)

MODULUS = 1e5


def random_nodes(seed, count=40):
    """Return nodes on a ball with depths of a rough pad."""
    rng = np.random.default_rng(seed)
    normals = rng.normal(size=(count, 3))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    patches = (normals[:, 0] > 0.0).astype(np.int64)
    return PatchNodes(-0.03 * normals, normals, rng.uniform(2e-7, 2e-6, count),
                      rng.uniform(-5e-4, 1e-3, count), patches, np.array([3, 5]))
