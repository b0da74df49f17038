"""
What a body's own compliance adds between nodes of patches, also over an edge.

Derivations, accuracy and limits: docs/model/compliance.md.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.spatial import cKDTree

from ...arrays import Array, IntArray
from ...bodies.topology import edge_table, vertex_graph
from ...numerics.kernels import njit
from .remesh import QuadraticSurface

#: How far neighbours are that put a load's resultant right, over the distance of nodes; least
#: cosine of their normals to its own, as what presses a far side is no neighbour [-].
RIGHTING_REACH, RIGHTING_COSINE = 3.0, 0.0
#: Length over the distance of nodes by which torques count as forces: a body's end is far off.
RIGHTING_ARM = 10.0
#: Share of a neighbourhood's mean effect below which it is not asked for one of its kind [-].
RIGHTING_FLOOR = 1e-5
#: Largest share that is not alike both ways of what forces in balance do to each other [-].
MOST_LOPSIDED = 0.15
#: Steps of the power method for the largest mode.
POWER_STEPS = 30


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


def wrenches_of(places: Array, ways: Array) -> Array:
    """Return forces ``(n, 3)`` of 1 N along ways and their torques ``(n, 3)``, as ``(n, 6)``."""
    return np.hstack([ways, np.cross(places, ways)])


def righting(points: Array, spacing: float, normals: Array, acting: Array, missing: Array
             ) -> csr_matrix:
    """
    Return shares (n, n) of neighbours' loads that give loads the resultants they lack.

    Parameters
    ----------
    points, normals : (n, 3) float
        Nodes [m], and unit normals into the body.
    spacing : float
        Distance of neighbouring nodes [m].
    acting, missing : (n, 6) float
        Forces [N] and torques [N m] about the origin that loads about nodes act with, and
        what each lacks of those that it stands for.

    Returns
    -------
    (n, n) sparse
        Least in the sum of squares.

    Notes
    -----
    Loads that are spread about a node act somewhere beside it. The way between is nothing to a
    compact body, but turns one with a slender part: its end moves by what such torques bend.
    Own arrangement.
    """
    near = cKDTree(points).query_ball_point(points, RIGHTING_REACH * spacing)
    rows, columns, shares = [], [], []
    for j, around in enumerate(near):
        some = np.array(around)
        some = some[normals[some] @ normals[j] > RIGHTING_COSINE]
        effects, lacking = (_about(points[j], RIGHTING_ARM * spacing, of)
                            for of in (acting[some], missing[j]))
        square = effects.T @ effects
        floor = RIGHTING_FLOOR * np.trace(square) / 6.0 * np.eye(6)
        rows.append(np.full(len(some), j))
        columns.append(some)
        shares.append(effects @ np.linalg.solve(square + floor, lacking))
    return csr_matrix((np.concatenate(shares), (np.concatenate(rows), np.concatenate(columns))),
                      shape=(len(points), len(points)))


def _about(place: Array, length: float, wrenches: Array) -> Array:
    """Return wrenches (..., 6) about a place, their torques over a length [N]."""
    forces, torques = wrenches[..., :3], wrenches[..., 3:]
    return np.concatenate([forces, (torques - np.cross(place, forces)) / length], axis=-1)


def is_lopsided(beyond: NDArray[np.float32], points: Array, normals: Array) -> bool:
    """
    Return whether forces in balance do to each other what is not alike both ways.

    Of ``beyond (n, n, 3)`` by forces along normals, by the mode that has most of what is alike,
    and of what is not. By Betti's reciprocity the latter is nought. Boundary elements know it by
    their integrals alone, whose errors are as torques that nothing bears: a part far thinner
    than the others bends under them.
    """
    along = np.einsum('jia,ia->ij', beyond, normals).astype(float)
    middle = points.mean(axis=0)
    wrenches = wrenches_of((points - middle) / np.ptp(points, axis=0).max(), normals)
    base = np.linalg.qr(wrenches)[0]
    along -= base @ (base.T @ along)
    along -= (along @ base) @ base.T
    start, found = np.random.default_rng(0).normal(size=len(points)), []
    for part in (along - along.T, along + along.T):
        way, size = start / np.linalg.norm(start), 0.0
        for _ in range(POWER_STEPS):
            way = part @ way
            size = float(np.linalg.norm(way))
            way /= size
        found.append(size)
    return found[0] > MOST_LOPSIDED * found[1]


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
