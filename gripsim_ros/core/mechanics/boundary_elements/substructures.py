"""
Displacements of a sparse structure where it is read, by loads there: part by part.

Derivation and cost: docs/model/compliance.md, "Walls".
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.sparse import csr_matrix

from ...arrays import Array, IntArray

#: Elements of a part that is not divided, at most.
FEW_ELEMENTS = 40
#: Loads of which displacements are added at a time.
BLOCK = 512
#: Displacements and turns of a node.
FREEDOMS = 6
#: Least stiffness of an unknown once those before it yield, over its own: less is rounding [-].
LEAST_HELD = 1e-11


class Structure(NamedTuple):
    """
    A structure of ``m`` elements and ``k`` nodes, and ``n`` places that each read one element.

    ``stiffness (6 k, 6 k)`` [N/m]; ``elements (m, 6)`` and their ``middles (m, 3)`` [m];
    ``reading (3 n, 6 k)``: displacements of places by those of nodes; ``hosts (n,)``: the
    elements that they read.
    """

    stiffness: csr_matrix
    elements: IntArray
    middles: Array
    reading: csr_matrix
    hosts: IntArray


class _Part(NamedTuple):
    """
    A part of it: what its places read, and what holds it, by the ``r`` nodes that are left.

    ``nodes (r,)``; ``stiffness (6 r, 6 r)``; ``reading (3 p, 6 r)`` of the ``p`` places in it.
    """

    nodes: IntArray
    stiffness: Array
    reading: Array


@dataclass(frozen=True, eq=False)
class _Row:
    """
    A structure whose elements are in a row, any part's together, its places and loads likewise.

    ``hosts`` increase; ``spans (k, 2)`` are the first and the last element of each node. What is
    found is added to ``moves (3 n, n)`` and ``others (3 n, l)``.
    """

    structure: Structure
    spans: IntArray
    normals: Array
    loads: Array
    moves: Array
    others: Array


def responses(structure: Structure, normals: Array, loads: Array) -> tuple[Array, Array]:
    """
    Return displacements of all places by unit forces along normals, and by other loads.

    Parameters
    ----------
    structure : Structure
        A node of it is held.
    normals : (n, 3) float
        Unit.
    loads : (3 n, l) float
        Forces on all places [N].

    Returns
    -------
    (3 n, n) float, (3 n, l) float
        [m].

    Raises
    ------
    numpy.linalg.LinAlgError
        A part of it is held by nothing.

    Notes
    -----
    Source: substructures (Przemieniecki 1963) that are halved again and again, as in nested
    dissection (George 1973). Departure: what places read is condensed along with the stiffness,
    and the answer is summed on the way, so that nothing is substituted back.
    """
    order = _order(structure.middles)
    ranks = np.argsort(order)
    places = np.argsort(ranks[structure.hosts], kind='stable')
    row = _in_a_row(structure, order, places, normals, loads)
    _eliminated(row, 0, len(order))
    back = np.argsort(places)
    moves = row.moves[_freedoms(back, 3)]
    for line in moves:
        line[:] = line[back]
    return moves, row.others[_freedoms(back, 3)]


def _order(middles: Array) -> IntArray:
    """Return elements in an order whose halves, their halves, and so on lie apart."""
    if len(middles) <= FEW_ELEMENTS:
        return np.arange(len(middles))
    line = np.argsort(middles[:, np.ptp(middles, axis=0).argmax()], kind='stable')
    half = len(line) // 2
    return np.concatenate([part[_order(middles[part])] for part in (line[:half], line[half:])])


def _in_a_row(structure: Structure, order: IntArray, places: IntArray, normals: Array,
              loads: Array) -> _Row:
    """Return a structure of elements and places in an order; a node is in no part of it."""
    elements, count = structure.elements[order], len(places)
    spans = np.full((structure.stiffness.shape[0] // FREEDOMS, 2), [len(order), -1])
    numbers = np.repeat(np.arange(len(order)), elements.shape[1])
    np.minimum.at(spans[:, 0], elements.ravel(), numbers)
    np.maximum.at(spans[:, 1], elements.ravel(), numbers)
    spans[elements[0, 0], 1] = len(order)
    rows = _freedoms(places, 3)
    return _Row(
        Structure(structure.stiffness, elements, structure.middles[order],
                  structure.reading[rows], np.argsort(order)[structure.hosts[places]]),
        spans, normals[places], loads[rows],
        np.zeros((3 * count, count)), np.zeros((3 * count, loads.shape[1])))


def _eliminated(row: _Row, begin: int, end: int) -> _Part:
    """Return the elements from one to another less the nodes that none beside them has."""
    if end - begin <= FEW_ELEMENTS:
        whole = _undivided(row, begin, end)
    else:
        half = (begin + end) // 2
        whole = _joined(_eliminated(row, begin, half), _eliminated(row, half, end))
    return _without_inner(row, whole, begin, end)


def _places(row: _Row, begin: int, end: int) -> slice:
    """Return which places read the elements from one to another."""
    return slice(*np.searchsorted(row.structure.hosts, [begin, end]))


def _undivided(row: _Row, begin: int, end: int) -> _Part:
    """Return elements with all their nodes, whose stiffness is yet to come."""
    nodes = np.unique(row.structure.elements[begin:end])
    places = _places(row, begin, end)
    unknowns = _freedoms(nodes)
    reading = row.structure.reading[3 * places.start:3 * places.stop][:, unknowns]
    return _Part(nodes, np.zeros((len(unknowns), len(unknowns))), reading.toarray())


def _joined(*parts: _Part) -> _Part:
    """Return two parts as one, with the nodes of both."""
    nodes = np.unique(np.concatenate([part.nodes for part in parts]))
    size = FREEDOMS * len(nodes)
    stiffness = np.zeros((size, size))
    reading = np.zeros((sum(len(part.reading) for part in parts), size))
    first = 0
    for part in parts:
        own = _freedoms(np.searchsorted(nodes, part.nodes))
        stiffness[np.ix_(own, own)] += part.stiffness
        reading[first:first + len(part.reading), own] = part.reading
        first += len(part.reading)
    return _Part(nodes, stiffness, reading)


def _without_inner(row: _Row, whole: _Part, begin: int, end: int) -> _Part:
    """
    Return a part less its inner nodes, and add what these leave to the answer.

    With K = L L^T between inner nodes: those read what the others do to them through L^-1.
    """
    spans = row.spans[whole.nodes]
    inside = (spans[:, 0] >= begin) & (spans[:, 1] < end)
    inner, rim = (_freedoms(np.flatnonzero(chosen)) for chosen in (inside, ~inside))
    if not inside.any():
        return whole
    unknowns = _freedoms(whole.nodes)
    own = row.structure.stiffness[unknowns[inner]][:, unknowns].toarray() + whole.stiffness[inner]
    solved = solve_triangular(
        _root(own[:, inner]), np.concatenate([own[:, rim], whole.reading[:, inner].T], axis=1),
        lower=True, overwrite_b=True, check_finite=False)
    to_rim, read = solved[:, :len(rim)], solved[:, len(rim):]
    _add(row, read, _places(row, begin, end))
    return _Part(whole.nodes[~inside], whole.stiffness[np.ix_(rim, rim)] - to_rim.T @ to_rim,
                 whole.reading[:, rim] - read.T @ to_rim)


def _root(stiffness: Array) -> Array:
    """Return the lower root; numpy.linalg.LinAlgError where something is held by nothing."""
    root = cholesky(stiffness, lower=True, check_finite=False)
    if not (root.diagonal() ** 2 > LEAST_HELD * stiffness.diagonal()).all():
        raise np.linalg.LinAlgError('a part is held by nothing')
    return root


def _add(row: _Row, read: Array, places: slice) -> None:
    """Add displacements of places by loads on them, as some nodes pass them on (i, 3 p)."""
    rows = slice(3 * places.start, 3 * places.stop)
    normals = row.normals[places]
    along = np.einsum('ipx,px->ip', read.reshape(len(read), *normals.shape), normals)
    for begin in range(0, along.shape[1], BLOCK):
        some = slice(begin, begin + BLOCK)
        row.moves[rows, places][:, some] += read.T @ along[:, some]
    row.others[rows] += read.T @ (read @ row.loads[rows])


def _freedoms(nodes: IntArray, count: int = FREEDOMS) -> IntArray:
    """Return the numbers of nodes' unknowns, so many each."""
    return (count * nodes[:, None] + np.arange(count)).ravel()
