"""Bodies on which patches are tried."""

import numpy as np
from scipy.spatial import ConvexHull
from gripsim_ros.core.bodies import TriangleMesh

RADIUS = 0.04


def jittered_sphere(edge, seed):
    """Return an uneven triangulation of the sphere, with vertices on it."""
    rng = np.random.default_rng(seed)
    i = np.arange(int(4.0 * np.pi * RADIUS ** 2 / (0.866 * edge ** 2))) + 0.5
    polar, turn = np.arccos(1.0 - 2.0 * i / len(i)), np.pi * (1.0 + 5.0 ** 0.5) * i
    points = np.stack([np.cos(turn) * np.sin(polar), np.sin(turn) * np.sin(polar),
                       np.cos(polar)], axis=1)
    points += 0.12 * edge / RADIUS * rng.normal(size=points.shape)
    points *= RADIUS / np.linalg.norm(points, axis=1, keepdims=True)
    faces = ConvexHull(points).simplices
    a, b, c = (points[faces[:, k]] for k in range(3))
    inward = np.einsum('fi,fi->f', np.cross(b - a, c - a), a) < 0.0
    faces[inward] = faces[inward][:, ::-1]
    return TriangleMesh(points, faces)
