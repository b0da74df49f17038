"""Bodies for tests of convex contact."""

import numpy as np
from gripsim_ros.core.bodies import TriangleMesh


def step_mesh():
    """Return a prism over the profile of one step, 0.1 m long and high, 0.04 m wide."""
    profile = np.array([[0, 0], [0.1, 0], [0.1, 0.05], [0.05, 0.05], [0.05, 0.1], [0, 0.1]])
    caps = np.array([[0, 1, 3], [1, 2, 3], [0, 3, 5], [3, 4, 5]])
    vertices = np.concatenate([np.insert(profile, 1, y, axis=1) for y in (0.0, 0.04)])
    sides = [[[i, i + 6, j], [j, i + 6, j + 6]] for i, j in zip(range(6), [1, 2, 3, 4, 5, 0])]
    mesh = TriangleMesh(vertices, np.concatenate([caps, caps[:, ::-1] + 6,
                                                  np.reshape(sides, (-1, 3))]))
    assert mesh.is_closed
    return mesh if mesh.volume > 0.0 else mesh.with_flipped_faces()
