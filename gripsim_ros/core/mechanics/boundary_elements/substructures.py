"""
Displacements of a sparse structure where it is read, by loads there: part by part.

Derivation and cost: docs/model/compliance.md, "Walls".
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.sparse import csc_matrix, csr_matrix

from ...arrays import Array, IntArray
from .quadrature import rigid_motions

#: Elements of a part that is not divided, at most.
FEW_ELEMENTS = 40
#: Loads of which displacements are added at a time.
BLOCK = 512
#: Forces that are balanced at a time.
BALANCED = 64
#: Displacements and turns of a node of a shell.
FREEDOMS = 6
#: Least stiffness of an unknown once those before it yield, over its own: less is rounding [-].
LEAST_HELD = 1e-11


class Structure(NamedTuple):
    """
    A structure of ``m`` elements and ``k`` nodes of ``f`` freedoms, and ``n`` places that read it.

    ``stiffness (f k, f k)`` [N/m]; ``elements (m, e)`` and their ``middles (m, 3)`` [m];
    ``reading (3 n, f k)``: displacements of places by those of nodes; ``hosts (n,)``: an element
    that each reads, the only one or one in their midst. The first node is held where
    ``is_held``; else the stiffness holds it all.
    """

    stiffness: csr_matrix
    elements: IntArray
    middles: Array
    reading: csr_matrix
    hosts: IntArray
    freedoms: int = FREEDOMS
    is_held: bool = True


class _Part(NamedTuple):
    """
    A part of it: what was eliminated leaves to the ``r`` nodes that are left, and to ``p`` places.

    ``nodes (r,)``; ``stiffness (f r, f r)``; numbers of the ``places (p,)``, rising, and their
    ``reading (3 p, f r)``.
    """

    nodes: IntArray
    stiffness: Array
    places: IntArray
    reading: Array


@dataclass(frozen=True, eq=False)
class _Row:
    """
    A structure whose elements are in a row, any part's together, its places and loads likewise.

    ``columns`` is its reading, by nodes; ``spans (k, 2)`` are the first and the last element of
    each node. What is found is added to ``moves (3 n, n)`` and ``others (3 n, l)``.
    """

    structure: Structure
    columns: csc_matrix
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


def balanced_responses(structure: Structure, points: Array, areas: Array, normals: Array) -> Array:
    """
    Return displacements (n, 3, n) of places by unit forces, without resultant and rigid motion.

    ``points (n, 3)`` are where the places are [m], ``areas (n,)`` what they stand for of the
    surface [m^2], ``normals (n, 3)`` the unit forces; errors as ``responses``.
    """
    motions = rigid_motions(points, areas)
    flat = motions.reshape(-1, 6)
    weighted = np.repeat(areas, 3)[:, None] * flat
    gram = flat.T @ weighted
    moves, by_inertia = responses(structure, normals, weighted)
    balance = np.linalg.solve(gram, np.einsum('nak,na->kn', motions, normals))
    for begin in range(0, len(points), BALANCED):
        some = slice(begin, begin + BALANCED)
        found = moves[:, some] - by_inertia @ balance[:, some]
        moves[:, some] = found - flat @ np.linalg.solve(gram, weighted.T @ found)
    return moves.reshape(len(points), 3, -1)


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
    spans = np.full((structure.stiffness.shape[0] // structure.freedoms, 2), [len(order), -1])
    numbers = np.repeat(np.arange(len(order)), elements.shape[1])
    np.minimum.at(spans[:, 0], elements.ravel(), numbers)
    np.maximum.at(spans[:, 1], elements.ravel(), numbers)
    if structure.is_held:
        spans[elements[0, 0], 1] = len(order)
    rows = _freedoms(places, 3)
    return _Row(
        structure._replace(elements=elements), structure.reading[rows].tocsc(), spans,
        normals[places], loads[rows],
        np.zeros((3 * count, count)), np.zeros((3 * count, loads.shape[1])))


def _eliminated(row: _Row, begin: int, end: int) -> _Part:
    """Return the elements from one to another less the nodes that none beside them has."""
    if end - begin <= FEW_ELEMENTS:
        whole = _undivided(row, begin, end)
    else:
        half = (begin + end) // 2
        whole = _joined(row, _eliminated(row, begin, half), _eliminated(row, half, end))
    return _without_inner(row, whole, begin, end)


def _undivided(row: _Row, begin: int, end: int) -> _Part:
    """Return elements with all their nodes, of which nothing is eliminated yet."""
    nodes = np.unique(row.structure.elements[begin:end])
    size = row.structure.freedoms * len(nodes)
    return _Part(nodes, np.zeros((size, size)), np.zeros(0, int), np.zeros((0, size)))


def _joined(row: _Row, *parts: _Part) -> _Part:
    """Return two parts as one, with the nodes and places of both."""
    freedoms = row.structure.freedoms
    nodes = np.unique(np.concatenate([part.nodes for part in parts]))
    places = np.unique(np.concatenate([part.places for part in parts]))
    size = freedoms * len(nodes)
    stiffness, reading = np.zeros((size, size)), np.zeros((3 * len(places), size))
    for part in parts:
        own = _freedoms(np.searchsorted(nodes, part.nodes), freedoms)
        stiffness[np.ix_(own, own)] += part.stiffness
        reading[np.ix_(_freedoms(np.searchsorted(places, part.places), 3), own)] += part.reading
    return _Part(nodes, stiffness, places, reading)


def _without_inner(row: _Row, whole: _Part, begin: int, end: int) -> _Part:
    """
    Return a part less its inner nodes, and add what these leave to the answer.

    With K = L L^T between inner nodes: those read what the others do to them through L^-1.
    """
    freedoms = row.structure.freedoms
    spans = row.spans[whole.nodes]
    inside = (spans[:, 0] >= begin) & (spans[:, 1] < end)
    inner, rim = (_freedoms(np.flatnonzero(chosen), freedoms) for chosen in (inside, ~inside))
    if not inside.any():
        return whole
    unknowns = _freedoms(whole.nodes, freedoms)
    own = row.structure.stiffness[unknowns[inner]][:, unknowns].toarray() + whole.stiffness[inner]
    places, reading = _with_own(whole, row.columns[:, unknowns[inner]], inner)
    solved = solve_triangular(
        _root(own[:, inner]), np.concatenate([own[:, rim], reading[:, inner].T], axis=1),
        lower=True, overwrite_b=True, check_finite=False)
    to_rim, read = solved[:, :len(rim)], solved[:, len(rim):]
    _add(row, read, places)
    return _Part(whole.nodes[~inside], whole.stiffness[np.ix_(rim, rim)] - to_rim.T @ to_rim,
                 places, reading[:, rim] - read.T @ to_rim)


def _with_own(whole: _Part, columns: csc_matrix, inner: IntArray) -> tuple[IntArray, Array]:
    """Return a part's places and reading, with what ``columns`` have of its inner freedoms."""
    more = columns.tocoo()
    own, axes = np.divmod(more.row, 3)
    places = np.union1d(whole.places, own)
    reading = np.zeros((3 * len(places), whole.reading.shape[1]))
    reading[_freedoms(np.searchsorted(places, whole.places), 3)] = whole.reading
    # No place has a freedom twice.
    reading[3 * np.searchsorted(places, own) + axes, inner[more.col]] += more.data
    return places, reading


def _root(stiffness: Array) -> Array:
    """Return the lower root; numpy.linalg.LinAlgError where something is held by nothing."""
    root = cholesky(stiffness, lower=True, check_finite=False)
    if not (root.diagonal() ** 2 > LEAST_HELD * stiffness.diagonal()).all():
        raise np.linalg.LinAlgError('a part is held by nothing')
    return root


def _add(row: _Row, read: Array, places: IntArray) -> None:
    """Add displacements of places by loads on them, as some nodes pass them on (i, 3 p)."""
    rows, normals = _freedoms(places, 3), row.normals[places]
    along = np.einsum('ipx,px->ip', read.reshape(len(read), *normals.shape), normals)
    for begin in range(0, along.shape[1], BLOCK):
        some = slice(begin, begin + BLOCK)
        row.moves[np.ix_(rows, places[some])] += read.T @ along[:, some]
    row.others[rows] += read.T @ (read @ row.loads[rows])


def _freedoms(nodes: IntArray, count: int) -> IntArray:
    """Return the numbers of nodes' unknowns, so many each."""
    return (count * nodes[:, None] + np.arange(count)).ravel()
