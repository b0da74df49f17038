"""Edges of raw face arrays: incidence, components, winding; used by the repair."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .mesh import IntArray, connected_labels


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
    keys : (E,) int
        Lower vertex of each edge times ``base``, and the higher one; rising.
    base : int
        Above all vertices.
    """

    edge_of_side: IntArray
    counts: IntArray
    forward: NDArray[np.bool_]
    keys: IntArray
    base: int

    def counts_between(self, first: IntArray, second: IntArray) -> IntArray:
        """Return how many faces there are at the edges between vertices ``first, second (n,)``."""
        keys = np.minimum(first, second) * self.base + np.maximum(first, second)
        place = np.searchsorted(self.keys, keys).clip(max=len(self.keys) - 1)
        counts: IntArray = np.where(self.keys[place] == keys, self.counts[place], 0)
        return counts

    def pairs(self) -> tuple[IntArray, NDArray[np.bool_]]:
        """Return the faces (m, 2) at edges of two, and whether their windings agree (m,)."""
        order = np.argsort(self.edge_of_side.ravel(), kind='stable')
        order = order[self.counts[self.edge_of_side.ravel()[order]] == 2].reshape(-1, 2)
        forward = self.forward.ravel()[order]
        return order // 3, forward[:, 0] != forward[:, 1]

    def labels(self) -> IntArray:
        """
        Return which shell each face belongs to, (F,).

        Faces are connected over edges of two faces, and over any other edge that their
        component leaves open: there shells touch, as the sides of stacked boxes do.
        """
        count = len(self.edge_of_side)
        pairs = self.pairs()[0]
        labels = connected_labels(pairs, count)
        sides = np.flatnonzero(open_sides(self, labels).ravel())
        if not sides.size:
            return labels
        edges = self.edge_of_side.ravel()[sides]
        order = np.argsort(edges, kind='stable')
        same = edges[order][1:] == edges[order][:-1]
        touching = np.stack([sides[order][:-1], sides[order][1:]], axis=1)[same] // 3
        return connected_labels(np.concatenate([pairs, touching]), count)


def edge_table(faces: IntArray) -> EdgeTable:
    """Return the edges of ``faces (F, 3)``."""
    heads = np.roll(faces, -1, axis=1)
    low, high = np.minimum(faces, heads), np.maximum(faces, heads)
    base = int(faces.max()) + 1
    keys, edge_of_side, counts = np.unique(
        (low * base + high).ravel(), return_inverse=True, return_counts=True)
    return EdgeTable(edge_of_side.reshape(-1, 3), counts, faces < heads, keys, base)


def open_sides(table: EdgeTable, labels: IntArray) -> NDArray[np.bool_]:
    """
    Return whether each side ``(F, 3)`` lies on an edge that its component leaves open.

    An edge is open where the faces of one component run along it more often one way than
    the other.
    """
    edges = table.edge_of_side.ravel()
    component = np.repeat(labels, 3)
    _, place = np.unique(component * (len(table.counts) + 1) + edges, return_inverse=True)
    place = place.reshape(-1)
    net = np.bincount(place, np.where(table.forward.ravel(), 1.0, -1.0))
    is_open: NDArray[np.bool_] = net[place] != 0.0
    return is_open.reshape(-1, 3)


def consistent_flips(faces: IntArray) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """
    Return which faces to turn so that neighbours agree in winding.

    Parameters
    ----------
    faces : (F, 3) int

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
    count = len(faces)
    pairs, agree = edge_table(faces).pairs()
    shift = np.where(agree, 0, count)
    first, second = pairs.T
    cover = np.concatenate([
        np.stack([first, second + shift], axis=1),
        np.stack([first + count, second + count - shift], axis=1)])
    labels = connected_labels(cover, 2 * count)
    as_given, turned = labels[:count], labels[count:]
    votes = np.bincount(as_given, minlength=int(labels.max()) + 1)
    flip = (votes[as_given] < votes[turned]) | (
        (votes[as_given] == votes[turned]) & (as_given > turned))
    return flip, as_given == turned
