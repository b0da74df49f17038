"""Loads on surfaces."""

import numpy as np
from gripsim_ros.core.mechanics.deformation.boussinesq import (
    SurfaceLoads)


def point_loads(points, forces):
    """Return loads at single points."""
    points, forces = np.asarray(points, float), np.asarray(forces, float)
    count = len(points)
    none = np.zeros(0)
    return SurfaceLoads(points, forces, np.zeros(count), np.arange(count + 1), points, forces,
                        np.full(count, 1e-6), np.zeros((0, 3)), np.zeros((0, 3)), none, none,
                        none)
