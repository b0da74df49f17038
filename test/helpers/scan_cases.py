"""Scans of one side of bodies."""

import numpy as np

RADIUS = 0.03


def half_sphere(count=2500, view=(0.0, 0.0, -1.0), seed=3):
    """Return points on the half of a sphere that faces against a direction."""
    normals = np.random.default_rng(seed).normal(size=(2 * count, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return RADIUS * normals[normals @ np.asarray(view, float) < 0.0]


def eye(view=(0.0, 0.0, -1.0)):
    """Return a viewpoint from which a sensor looks along a direction."""
    return -10.0 * np.asarray(view, float)
