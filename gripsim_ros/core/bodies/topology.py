"""Edges of face arrays: incidence, components, winding."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_matrix

from ..arrays import Array, BoolArray, IntArray
from ..numerics.kernels import njit, read_only


#: Largest number of pairs with the same first number that are sorted by insertion.
FEW = 32


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
    def is_crowded(self) -> bool:
        """Return whether there are more than two faces at an edge."""
        return bool((self.counts > 2).any())

    @cached_property
    def labels(self) -> IntArray:
        """
        Return which shell each face belongs to, (F,).

        Faces are connected over edges of two faces, and over any other edge that their
        component leaves open: there shells touch, as the sides of stacked boxes do.
        """
        pairs, count = self.pairs[0] // 3, len(self.edge_of_side)
        labels = connected_labels(pairs, count)
        if not self.is_crowded:
            return labels
        sides = self.sides[self.open_sides(labels).ravel()[self.sides]]
        if not sides.size:
            return labels
        edges = self.edge_of_side.ravel()[sides]
        touching = np.stack([sides[:-1], sides[1:]], axis=1)[edges[1:] == edges[:-1]] // 3
        return connected_labels(np.concatenate([pairs, touching]), count)

    def own_open_sides(self) -> BoolArray:
        """Return ``open_sides`` of the shells: which face is of which, few surfaces need."""
        return self.open_sides(self.labels) if self.is_crowded else self._uneven_sides()

    def _uneven_sides(self) -> BoolArray:
        return (self.net != 0)[self.edge_of_side]

    def open_sides(self, labels: IntArray) -> BoolArray:
        """
        Return whether each side ``(F, 3)`` lies on an edge that its component leaves open.

        An edge is open where the faces of one component run along it more often one way
        than the other. Faces at an edge of two are of one component.
        """
        is_open = self._uneven_sides()
        if self.is_crowded:
            crowded = np.flatnonzero(self.counts[self.edge_of_side.ravel()] > 2)
            keys = labels[crowded // 3] * len(self.counts) + self.edge_of_side.ravel()[crowded]
            place = np.unique(keys, return_inverse=True)[1].reshape(-1)
            net = np.bincount(place, np.where(self.forward.ravel()[crowded], 1.0, -1.0))
            is_open.ravel()[crowded] = net[place] != 0.0
        return is_open


def edge_table(faces: IntArray) -> EdgeTable:
    """Return the edges of ``faces (F, 3)``."""
    base, ends = int(faces.max()) + 1, read_only(faces, np.int64)
    low, high, forward = _ends_of_sides(ends)
    sides, edge_of_side, starts = groups_of_pairs(low, high)
    first = sides[starts]
    return EdgeTable(edge_of_side.reshape(-1, 3), np.diff(np.append(starts, len(sides))), forward,
                     sides, low[first] * base + high[first], base)


@njit(cache=True, nogil=True)
def _ends_of_sides(faces: IntArray) -> tuple[IntArray, IntArray, BoolArray]:
    """Return the lower and the higher vertex of each side (3 F,), and which lead up (F, 3)."""
    low, high = np.empty(faces.size, np.int64), np.empty(faces.size, np.int64)
    forward = np.empty(faces.shape, np.bool_)
    for f in range(len(faces)):
        for k in range(3):
            tail, head = faces[f, k], faces[f, (k + 1) % 3]
            low[3 * f + k], high[3 * f + k] = min(tail, head), max(tail, head)
            forward[f, k] = tail < head
    return low, high, forward


def groups_of_pairs(first: IntArray, second: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """
    Return equal pairs of numbers, in time that grows as their count.

    Parameters
    ----------
    first, second : (n,) int
        From 0 up; not much larger than there are pairs.

    Returns
    -------
    order : (n,) int
        The pairs by ``first``, then by ``second``; equal ones in their order.
    group : (n,) int
        Number of each pair's group, in that order.
    starts : (m,) int
        Where each group begins in ``order``.
    """
    return _groups_of_pairs(read_only(first, np.int64), read_only(second, np.int64))


@njit(cache=True, nogil=True)
def _groups_of_pairs(first: IntArray, second: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    order, group = np.empty(len(first), np.int64), np.arange(len(first))
    if _sort_by_number(first, group, order) <= FEW:
        _sort_within(first, second, order)
    else:
        _sort_by_number(second, np.arange(len(first)), group)
        _sort_by_number(first, group, order)
    starts, count, one, other = np.empty(len(order), np.int64), 0, -1, -1
    for i in range(len(order)):
        pair = order[i]
        if first[pair] != one or second[pair] != other:
            one, other = first[pair], second[pair]
            starts[count] = i
            count += 1
        group[pair] = count - 1
    return order, group, starts[:count].copy()


@njit(cache=True, nogil=True)
def _sort_by_number(numbers: IntArray, given: IntArray, order: IntArray) -> int:
    """Write indices ``given`` to ``order`` by their numbers; return how often one is met."""
    highest = 0
    for number in numbers:
        highest = max(highest, number)
    places = np.zeros(highest + 2, np.int64)
    for number in numbers:
        places[number + 1] += 1
    most = 0
    for i in range(highest + 1):
        most = max(most, places[i + 1])
    for i in range(highest):
        places[i + 1] += places[i]
    for i in given:
        order[places[numbers[i]]] = i
        places[numbers[i]] += 1
    return most


@njit(cache=True, nogil=True)
def _sort_within(first: IntArray, second: IntArray, order: IntArray) -> None:
    """Sort what has the same first number by the second, in place."""
    one, before = -1, -1
    for i in range(len(order)):
        moved, j = order[i], i
        if first[moved] == one and second[moved] < before:
            while (j > 0 and second[order[j - 1]] > second[moved]
                   and first[order[j - 1]] == one):
                order[j] = order[j - 1]
                j -= 1
            order[j] = moved
        else:
            one, before = first[moved], second[moved]


#: Odd numbers that spread the bits of coordinates.
_SPREAD = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], np.uint64)


def equal_rows(rows: Array) -> IntArray:
    """Return labels (n,), equal for equal ``rows (n, 3)``, numbered by first appearance."""
    rows = rows + 0.0       # a zero has one sign
    mixed = np.zeros(len(rows), np.uint64)
    for column, factor in zip(rows.view(np.uint64).T, _SPREAD):
        mixed = (mixed ^ column) * factor
        mixed ^= mixed >> np.uint64(29)
    bits = max(len(rows), 1).bit_length() + 1
    return _equal_rows(rows, (mixed * _SPREAD[0] >> np.uint64(64 - bits)).astype(np.int64),
                       1 << bits)


@njit(cache=True, nogil=True)
def _equal_rows(rows: Array, places: IntArray, size: int) -> IntArray:
    """Return ``equal_rows``, looked up at places of a table that is half empty at least."""
    table, labels, count = np.full(size, -1, np.int32), np.empty(len(rows), np.int64), 0
    for i in range(len(rows)):
        place = places[i]
        while table[place] >= 0:
            other = table[place]
            if (rows[i, 0] == rows[other, 0] and rows[i, 1] == rows[other, 1]
                    and rows[i, 2] == rows[other, 2]):
                break
            place = (place + 1) % size
        if table[place] < 0:
            table[place], labels[i] = i, count
            count += 1
        else:
            labels[i] = labels[table[place]]
    return labels


def used_vertices(faces: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """Return which of ``count`` vertices the faces (F, 3) name, and these faces among them."""
    named = np.zeros(count, dtype=bool)
    named[faces] = True
    return np.flatnonzero(named), (np.cumsum(named) - 1)[faces]


def vertex_graph(edges: IntArray, count: int) -> csr_matrix:
    """Return which of ``count`` vertices edges (e, 2) join: a symmetric matrix of ones."""
    rows, columns = np.concatenate([edges, edges[:, ::-1]]).T
    return csr_matrix((np.ones(len(rows)), (rows, columns)), (count, count))


def connected_labels(pairs: IntArray, count: int) -> IntArray:
    """
    Return component labels ``(count,)`` of the graph with edges ``pairs (m, 2)``.

    They are numbered by the first node of each component.
    """
    return _connected_labels(read_only(pairs, np.int64), count)


@njit(cache=True, nogil=True)
def _connected_labels(pairs: IntArray, count: int) -> IntArray:
    """Return component labels; the root of a component is its first node."""
    above = np.arange(count)
    for m in range(len(pairs)):
        _join(above, pairs[m, 0], pairs[m, 1])
    return _numbered(above)


@njit(cache=True, nogil=True)
def _cover_labels(pairs: IntArray, agree: BoolArray, count: int) -> IntArray:
    """Return component labels of faces, then of these turned; joined at pairs of sides."""
    above = np.arange(2 * count)
    for m in range(len(pairs)):
        first, second, shift = pairs[m, 0] // 3, pairs[m, 1] // 3, 0 if agree[m] else count
        _join(above, first, second + shift)
        _join(above, first + count, second + count - shift)
    return _numbered(above)


@njit(cache=True, nogil=True)
def _join(above: IntArray, first: int, second: int) -> None:
    low, high = _root(above, first), _root(above, second)
    if low > high:
        low, high = high, low
    above[high] = low


@njit(cache=True, nogil=True)
def _numbered(above: IntArray) -> IntArray:
    """Write the number of each node's component over the node above it."""
    number = 0
    for i in range(len(above)):     # what is above a node comes before it, and has its label
        if above[i] == i:
            above[i] = number
            number += 1
        else:
            above[i] = above[above[i]]
    return above


@njit(cache=True, nogil=True)
def _root(above: IntArray, node: int) -> int:
    """Return the first node of a component, and halve the way there."""
    while above[node] != node:
        above[node] = above[above[node]]
        node = above[node]
    return node


def first_places(labels: IntArray) -> IntArray:
    """Return where each of labels ``(n,)`` from 0 to the largest, all in use, first appears."""
    first = np.empty(int(labels.max()) + 1, dtype=np.int64)
    first[labels[::-1]] = np.arange(len(labels))[::-1]
    return first


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
    labels = _cover_labels(read_only(pairs, np.int64), read_only(agree, np.bool_), count)
    as_given, turned = labels[:count], labels[count:]
    votes = np.bincount(as_given, minlength=int(labels.max()) + 1)
    flip = (votes[as_given] < votes[turned]) | (
        (votes[as_given] == votes[turned]) & (as_given > turned))
    return flip, as_given == turned
