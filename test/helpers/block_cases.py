"""Blocks of tetrahedra made by rule, for tests that need no mesher."""

import itertools

import numpy as np

from gripsim_ros.core.mechanics.finite_strain.solid import QuadraticSolid
from gripsim_ros.core.mechanics.finite_strain.squeezing import SqueezedBody


def block_tetrahedra(sides, cells):
    """Return nodes and corners of a box, six tetrahedra to a cell."""
    shape = np.array(cells) + 1
    grid = np.stack(np.meshgrid(*[np.linspace(0.0, side, n) for side, n in zip(sides, shape)],
                                indexing='ij'), axis=-1).reshape(-1, 3)
    corners = []
    for cell in itertools.product(*map(range, cells)):
        for order in itertools.permutations(range(3)):
            place, row = np.array(cell), []
            row.append(np.ravel_multi_index(place, shape))
            for axis in order:
                place = place + np.eye(3, dtype=int)[axis]
                row.append(np.ravel_multi_index(place, shape))
            corners.append(row)
    corners = np.array(corners)
    a, b, c, d = (grid[corners[:, k]] for k in range(4))
    turned = np.einsum('ij,ij->i', np.cross(b - a, c - a), d - a) < 0.0
    corners[turned, :2] = corners[turned, 1::-1]
    return grid, corners


def block_solid(sides=(0.02, 0.02, 0.02), cells=(1, 1, 1)):
    """Return a box of quadratic tetrahedra."""
    return QuadraticSolid.of_tetrahedra(*block_tetrahedra(sides, cells))


def squeezed_block(sides=(0.02, 0.02, 0.02), cells=(1, 1, 1)):
    """Return a box ready to be squeezed along z."""
    solid = block_solid(sides, cells)
    return SqueezedBody(solid, np.array([0.0, 0.0, 1.0]), 0.0, sides[2], float(np.cbrt(
        np.prod(sides))))
