"""
What a body's own compliance adds between nodes of patches, also over an edge.

Derivations, accuracy and limits: docs/model/compliance.md.
"""

from dataclasses import dataclass

import numpy as np

from ...arrays import Array, IntArray
from ...numerics.kernels import njit


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
