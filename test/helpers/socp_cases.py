"""Random cone programmes."""

from gripsim_ros.core.numerics.socp.cone import CONE_SIZE
from gripsim_ros.core.numerics.socp.solver import ConeProgramme
import numpy as np


def random_programme(rng, cones, equalities=6, bounds=4, far=0.5):
    """Return a bounded programme, feasible for sure, with its right-hand sides."""
    size = CONE_SIZE * cones + 1
    heads = np.zeros((cones, size))
    heads[np.arange(cones), CONE_SIZE * np.arange(cones)] = 1.0
    below = heads.copy()
    below[:, -1] = -1.0
    rows = np.vstack([below, rng.normal(size=(bounds, size)) * (np.arange(size) < size - 1)])
    balance = rng.normal(size=(equalities, size)) * (np.arange(size) < size - 1)
    inside = rng.normal(size=(cones, CONE_SIZE))
    inside[:, 0] = np.linalg.norm(inside[:, 1:], axis=1) * (1.0 + rng.uniform(0, 1, cones))
    x = np.append(inside.ravel(), inside[:, 0].max())
    right = balance @ x
    scale = np.linalg.norm(right)
    limits = (rows[cones:] @ x + far * rng.uniform(0, 1, bounds)) / scale
    limits = np.append(np.zeros(cones), limits)
    objective = np.append(1e-3 * heads.sum(axis=0)[:-1], 1.0)
    return ConeProgramme(objective, balance, rows, cones, cones), right / scale, limits
