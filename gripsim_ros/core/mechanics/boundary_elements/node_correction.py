"""
What a body's own compliance adds between nodes of patches, also over an edge.

Derivations, accuracy and limits: docs/model/compliance.md.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array, IntArray
from ...bodies.topology import edge_table, vertex_graph
from ...numerics.kernels import njit
from .remesh import QuadraticSurface


@dataclass(frozen=True, eq=False)
class NodeCorrection:
    """
    A body's correction of the half-space's compliance between ``k`` nodes of patches.

    Attributes
    ----------
    used : (u,) int
        Nodes of the body's surface about them.
    columns : (k, 6 s) int
        Positions in ``used`` of those about each, on s sides of an edge.
    weights : (k, 6 s) float
        Their shares.
    responses : (u, k) float
        Displacement of each patch node along the normal by a unit force about each used
        node, less the half-space's [m/N].
    modulus : float
        E / (1 - nu^2) of the object [Pa].
    """

    used: IntArray
    columns: IntArray
    weights: Array
    responses: Array
    modulus: float

    def add_rows(self, rows: IntArray, compliance: Array) -> None:
        """Add rows ``(r,)`` of the correction to those ``(r, k)`` of the half-space, in place."""
        _add_rows(rows, self.columns, self.weights, self.responses, compliance)

    def moves(self, forces: Array) -> Array:
        """Return how far nodes sink beyond the half-space by forces ``(k,)`` on all [m]."""
        return self.node_forces(forces) @ self.responses

    def node_forces(self, forces: Array) -> Array:
        """Return forces ``(u,)`` about the used nodes that stand for those on the nodes [N]."""
        loads = np.zeros(len(self.used))
        np.add.at(loads, self.columns, self.weights * forces[:, None])
        return loads


def beyond_half_space(normals: Array, moves: Array, inverse: Array, poisson_ratio: float
                      ) -> NDArray[np.float32]:
    """Return displacements (n, n, 3) by unit loads less those of the half-space, at E* = 1."""
    answer = np.empty((len(normals), len(normals), 3), np.float32)
    for j, normal in enumerate(normals):
        answer[j] = (moves[:, :, j] / (1.0 - poisson_ratio ** 2)
                     - inverse[:, j, None] * (normal / np.pi))
    return answer


def neighbour_means(beyond: NDArray[np.float32], surface: QuadraticSurface
                    ) -> NDArray[np.float32]:
    """Return the means (n, 3) of what nodes do to their neighbours, of (n, n, 3)."""
    graph = vertex_graph(edge_table(surface.parts).ends, len(beyond))
    return np.array([beyond[j, around].mean(axis=0, dtype=float) for j, around in enumerate(
        np.split(graph.indices, graph.indptr[1:-1]))], np.float32)


@njit(cache=True)
def gather(part: Array, columns: IntArray, weights: Array) -> Array:
    """Return the displacements ``(u, k)`` of nodes from those of the nodes about them."""
    count, width = columns.shape
    answer = np.zeros((len(part), count))
    for a in range(len(part)):
        source, line = part[a], answer[a]
        for j in range(count):
            for k in range(0, width, 6):
                line[j] += ((weights[j, k] * source[columns[j, k]]
                             + weights[j, k + 1] * source[columns[j, k + 1]])
                            + (weights[j, k + 2] * source[columns[j, k + 2]]
                               + weights[j, k + 3] * source[columns[j, k + 3]])
                            + (weights[j, k + 4] * source[columns[j, k + 4]]
                               + weights[j, k + 5] * source[columns[j, k + 5]]))
    return answer


@njit(cache=True)
def _add_rows(rows: IntArray, columns: IntArray, weights: Array, responses: Array,
              compliance: Array) -> None:
    """Add to each row the responses to the loads about its node."""
    for i in range(len(rows)):
        row, line = rows[i], compliance[i]
        for k in range(0, columns.shape[1], 6):
            about, shares = columns[row, k:k + 6], weights[row, k:k + 6]
            a, b, c = responses[about[0]], responses[about[1]], responses[about[2]]
            d, e, f = responses[about[3]], responses[about[4]], responses[about[5]]
            p, q, r = shares[0], shares[1], shares[2]
            u, v, w = shares[3], shares[4], shares[5]
            for j in range(len(line)):
                line[j] += (p * a[j] + q * b[j] + r * c[j]) + (u * d[j] + v * e[j] + w * f[j])
