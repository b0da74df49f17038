"""Edges of face arrays: incidence, components, winding."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.csgraph import connected_components

from ..arrays import BoolArray, IntArray


@dataclass(frozen=True, eq=False)
class EdgeTable:
    """
    Edges of a face array.

    Attributes
    ----------
    edge_of_side : (F, 3) int
        Edge on which side k (corner k to k + 1) of each face lies.
    counts : (E,) int
        Faces at each edge.
    forward : (F, 3) bool
        Whether the side leads from the lower to the higher vertex.
    sides : (3 F,) int
        Sides, numbered through the faces, by edge.
    keys : (E,) int
        Lower vertex of each edge times ``base``, and the higher one; rising.
    base : int
        Above all vertices.
    """

    edge_of_side: IntArray
    counts: IntArray
    forward: BoolArray
    sides: IntArray
    keys: IntArray
    base: int

    @property
    def ends(self) -> IntArray:
        """Return the vertices ``(E, 2)`` of the edges, the lower one first."""
        return np.column_stack(divmod(self.keys, self.base))

    def counts_between(self, first: IntArray, second: IntArray) -> IntArray:
        """Return how many faces there are at the edges between vertices ``(...)``."""
        keys = np.minimum(first, second) * self.base + np.maximum(first, second)
        place = np.searchsorted(self.keys, keys).clip(max=len(self.keys) - 1)
        return np.where(self.keys[place] == keys, self.counts[place], 0)

    @cached_property
    def pairs(self) -> tuple[IntArray, BoolArray]:
        """Return the sides (m, 2) at edges of two, and whether their windings agree (m,)."""
        pairs = self.sides[np.repeat(self.counts == 2, self.counts)].reshape(-1, 2)
        forward = self.forward.ravel()[pairs]
        return pairs, forward[:, 0] != forward[:, 1]

    @cached_property
    def net(self) -> IntArray:
        """Return how often more faces run forward along each edge than back, (E,)."""
        ways = np.where(self.forward.ravel(), 1, -1)
        return np.bincount(self.edge_of_side.ravel(), ways).astype(np.int64)

    @cached_property
    def labels(self) -> IntArray:
        """
        Return which shell each face belongs to, (F,).

        Faces are connected over edges of two faces, and over any other edge that their
        component leaves open: there shells touch, as the sides of stacked boxes do.
        """
        pairs, count = self.pairs[0] // 3, len(self.edge_of_side)
        labels = connected_labels(pairs, count)
        sides = self.sides[self.open_sides(labels).ravel()[self.sides]]
        if not sides.size:
            return labels
        edges = self.edge_of_side.ravel()[sides]
        touching = np.stack([sides[:-1], sides[1:]], axis=1)[edges[1:] == edges[:-1]] // 3
        return connected_labels(np.concatenate([pairs, touching]), count)

    def open_sides(self, labels: IntArray) -> BoolArray:
        """
        Return whether each side ``(F, 3)`` lies on an edge that its component leaves open.

        An edge is open where the faces of one component run along it more often one way
        than the other. Faces at an edge of two are of one component.
        """
        is_open: BoolArray = self.net[self.edge_of_side] != 0
        crowded = np.flatnonzero(self.counts[self.edge_of_side.ravel()] > 2)
        if crowded.size:
            keys = labels[crowded // 3] * len(self.counts) + self.edge_of_side.ravel()[crowded]
            place = np.unique(keys, return_inverse=True)[1].reshape(-1)
            net = np.bincount(place, np.where(self.forward.ravel()[crowded], 1.0, -1.0))
            is_open.ravel()[crowded] = net[place] != 0.0
        return is_open


def edge_table(faces: IntArray) -> EdgeTable:
    """Return the edges of ``faces (F, 3)``."""
    heads, base = np.roll(faces, -1, axis=1), int(faces.max()) + 1
    keys = (np.minimum(faces, heads) * base + np.maximum(faces, heads)).ravel()
    sides = np.argsort(keys, kind='stable')
    keys = keys[sides]
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    counts = np.diff(np.append(starts, len(keys)))
    edge_of_side = np.empty_like(sides)
    edge_of_side[sides] = np.repeat(np.arange(len(starts)), counts)
    return EdgeTable(edge_of_side.reshape(-1, 3), counts, faces < heads, sides, keys[starts], base)


def vertex_graph(edges: IntArray, count: int) -> csr_matrix:
    """Return which of ``count`` vertices edges (e, 2) join: a symmetric matrix of ones."""
    rows, columns = np.concatenate([edges, edges[:, ::-1]]).T
    return csr_matrix((np.ones(len(rows)), (rows, columns)), (count, count))


def connected_labels(pairs: IntArray, count: int) -> IntArray:
    """
    Return component labels ``(count,)`` of the graph with edges ``pairs (m, 2)``.

    They are numbered by the first node of each component.
    """
    graph = coo_matrix(
        (np.ones(len(pairs), dtype=bool), (pairs[:, 0], pairs[:, 1])), shape=(count, count))
    labels = connected_components(graph, directed=False)[1]
    return by_first_place(labels)


def first_places(labels: IntArray) -> IntArray:
    """Return where each of labels ``(n,)`` from 0 to the largest, all in use, first appears."""
    first = np.empty(int(labels.max()) + 1, dtype=np.int64)
    first[labels[::-1]] = np.arange(len(labels))[::-1]
    return first


def by_first_place(labels: IntArray) -> IntArray:
    """Return labels ``(n,)`` numbered in the order in which they first appear."""
    first = first_places(labels)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[labels]


def consistent_flips(table: EdgeTable) -> tuple[BoolArray, BoolArray]:
    """
    Return which faces to turn so that neighbours agree in winding.

    Parameters
    ----------
    table : EdgeTable
        Of ``(F, 3)`` faces.

    Returns
    -------
    (F,) bool
        Faces to turn: the smaller number in each component.
    (F,) bool
        Faces of components that cannot agree: one-sided surfaces such as Klein's bottle.

    Notes
    -----
    Components of the graph of faces and of turned faces (the orientation double cover):
    each component of the surface appears twice, once in each winding, and once where it
    is one-sided. Own derivation.
    """
    count = len(table.edge_of_side)
    pairs, agree = table.pairs
    if agree.all():
        return np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
    shift = np.where(agree, 0, count)
    first, second = pairs.T // 3
    cover = np.concatenate([
        np.stack([first, second + shift], axis=1),
        np.stack([first + count, second + count - shift], axis=1)])
    labels = connected_labels(cover, 2 * count)
    as_given, turned = labels[:count], labels[count:]
    votes = np.bincount(as_given, minlength=int(labels.max()) + 1)
    flip = (votes[as_given] < votes[turned]) | (
        (votes[as_given] == votes[turned]) & (as_given > turned))
    return flip, as_given == turned
