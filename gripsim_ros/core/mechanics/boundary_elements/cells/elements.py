"""
Serendipity elements of twenty nodes in the cubes of a grid, and their stiffness in a part of each.

Derivation: docs/model/compliance.md, "Cells".
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix
from scipy.spatial import cKDTree

from ....arrays import Array, IntArray
from .moments import cell_weights, POINTS, WEIGHTS

#: Nodes of a cube in half sides: corners and the middles of its edges.
NODES = np.array([place for place in np.ndindex(3, 3, 3) if place.count(1) <= 1])
#: Stiffness of what the body leaves of a cube over the body's: nothing is free, however little of
#: a cube the body has [-].
FILLED = 1e-6
#: Least share of a cube that counts as the body [-].
LEAST_SHARE = 1e-9
#: Free room about the body's box, over a cube's side: none of its sides is one of the grid [-].
MARGIN = 0.31


@dataclass(frozen=True, eq=False)
class Cells:
    """
    The cubes of a grid that a body has a share of, ``m`` of them, and their ``k`` nodes.

    ``origin (3,)`` of the grid and ``size`` of a cube [m]; ``corners (m, 3)`` in cubes;
    ``weights (m, 125)`` of ``moments.cell_weights``; ``elements (m, 20)``; ``nodes (k, 3)`` [m].
    """

    origin: Array
    size: float
    corners: IntArray
    weights: Array
    elements: IntArray
    nodes: Array

    @property
    def middles(self) -> Array:
        """Return the middles of the cubes (m, 3) [m]."""
        return self.origin + self.size * (self.corners + 0.5)

    def stiffness(self, poisson_ratio: float) -> csr_matrix:
        """Return the stiffness (3 k, 3 k) at E = 1 Pa [N/m]."""
        table = _stiffness_table(poisson_ratio)
        full = np.einsum('i,j,k->ijk', WEIGHTS, WEIGHTS, WEIGHTS).ravel()
        values = self.size * ((self.weights + FILLED * full) @ table.reshape(len(full), -1))
        rows = (3 * self.elements[:, :, None] + np.arange(3)).reshape(len(values), -1)
        width, count = rows.shape[1], 3 * len(self.nodes)
        matrix = coo_matrix((values.ravel(), (
            np.repeat(rows, width, axis=1).ravel(), np.tile(rows, (1, width)).ravel())),
            shape=(count, count))
        return matrix.tocsr()

    def shapes_at(self, points: Array) -> tuple[IntArray, Array]:
        """
        Return which cube each point (p, 3) [m] is in, else the nearest, and what its nodes count.

        Numbers of cubes (p,) and shares of their nodes (p, 20).
        """
        places = (points - self.origin) / self.size
        numbers = {corner: k for k, corner in enumerate(map(tuple, self.corners.tolist()))}
        hosts = np.array([numbers.get(corner, -1) for corner in map(
            tuple, np.floor(places).astype(int).tolist())])
        lost = hosts < 0
        if lost.any():
            hosts[lost] = cKDTree(self.corners + 0.5).query(places[lost])[1]
        return hosts, _shapes(places - self.corners[hosts])


def grid_about(triangles: Array, size: float) -> tuple[Array, IntArray]:
    """Return the origin (3,) [m] and the cubes (3,) along each axis of a grid about a surface."""
    least, most = triangles.min(axis=(0, 1)), triangles.max(axis=(0, 1))
    origin = least - MARGIN * size
    return origin, np.ceil((most - origin) / size + MARGIN).astype(int)


def cells_of(triangles: Array, size: float) -> Cells:
    """Return the cubes of a side [m] that a closed surface (m, 3, 3) [m] encloses a share of."""
    origin, shape = grid_about(triangles, size)
    weights = cell_weights((triangles - origin) / size, (shape[0], shape[1], shape[2]))
    corners = np.argwhere(weights.sum(axis=(3, 4, 5)) > LEAST_SHARE)
    places = (2 * corners[:, None] + NODES).reshape(-1, 3)
    used, elements = np.unique(np.ravel_multi_index(tuple(places.T), tuple(2 * shape + 1)),
                               return_inverse=True)
    nodes = np.stack(np.unravel_index(used, tuple(2 * shape + 1)), axis=1)
    return Cells(origin, size, corners, weights[tuple(corners.T)].reshape(len(corners), -1),
                 elements.reshape(-1, len(NODES)), origin + 0.5 * size * nodes)


def _shapes(places: Array) -> Array:
    """Return the shape functions (p, 20) at places (p, 3) in a cube of side 1."""
    return np.stack([_shape(node, places)[0] for node in NODES - 1], axis=1)


def _shape(node: IntArray, places: Array) -> tuple[Array, Array]:
    """Return one shape function (p,) and its slopes (p, 3) at places in a cube of side 1."""
    x = 2.0 * places - 1.0
    bubble = node == 0
    lines = np.where(bubble, 1.0 - x ** 2, 1.0 + x * node)
    ways = np.where(bubble, -2.0 * x, node * np.ones_like(x))
    if bubble.any():
        tail, tails, scale = np.ones(len(x)), np.zeros_like(x), 0.25
    else:
        tail, tails, scale = x @ node - 2.0, np.broadcast_to(node, x.shape), 0.125
    product = lines.prod(axis=1)
    slopes = np.stack([ways[:, a] * np.delete(lines, a, axis=1).prod(axis=1) for a in range(3)],
                      axis=1)
    return (scale * product * tail,
            2.0 * scale * (slopes * tail[:, None] + product[:, None] * tails))


def _stiffness_table(poisson_ratio: float) -> Array:
    """Return the stiffness (125, 60, 60) that each point of a cube of side 1 counts, E = 1."""
    places = np.stack(np.meshgrid(POINTS, POINTS, POINTS, indexing='ij'), axis=-1).reshape(-1, 3)
    slopes = np.stack([_shape(node, places)[1] for node in NODES - 1], axis=1)
    shear = 0.5 / (1.0 + poisson_ratio)
    bulk = poisson_ratio / ((1.0 + poisson_ratio) * (1.0 - 2.0 * poisson_ratio))
    same = np.einsum('qai,qbi->qab', slopes, slopes)
    table = (bulk * np.einsum('qai,qbj->qaibj', slopes, slopes)
             + shear * np.einsum('qaj,qbi->qaibj', slopes, slopes)
             + shear * np.einsum('qab,ij->qaibj', same, np.eye(3)))
    return table.reshape(len(places), 3 * len(NODES), 3 * len(NODES))
