"""Finer tetrahedra where they are wanted: the longest edges are halved."""

from collections.abc import Callable

import numpy as np

from ...arrays import Array, BoolArray, IntArray
from ..quadratic_elements import EDGES

#: Rounds of halving at most: each halves the longest edges that are too long.
MAX_ROUNDS = 12


def refine(points: Array, corners: IntArray, wanted: Callable[[Array], Array],
           most: int) -> tuple[Array, IntArray]:
    """
    Halve the longest edges of tetrahedra until none is longer than wanted there.

    Parameters
    ----------
    points : (N, 3) float
        [m]
    corners : (T, 4) int
    wanted : callable
        From middles of tetrahedra (T, 3) to the longest edges allowed (T,) [m].
    most : int
        No round begins with more tetrahedra.

    Returns
    -------
    (M, 3) float, (S, 4) int
        The points given come first; volumes keep their signs, and neighbours fit.

    Notes
    -----
    Rivara, Int. J. Numer. Methods Eng. 20, 1984, 745: with a tetrahedron, its neighbours are
    halved at edges that are longest in them, so that no point hangs in another's side.
    """
    for _ in range(MAX_ROUNDS):
        edges = np.sort(corners[:, EDGES], axis=-1)
        lengths = np.linalg.norm(points[edges[..., 0]] - points[edges[..., 1]], axis=-1)
        too_long = lengths.max(axis=1) > wanted(points[corners].mean(axis=1))
        if not too_long.any() or len(corners) > most:
            break
        points, corners = _halved(points, corners, too_long)
    return points, corners


def _halved(points: Array, corners: IntArray, chosen: BoolArray) -> tuple[Array, IntArray]:
    """Halve the longest edges of chosen tetrahedra, and what that asks of the others."""
    pairs = np.sort(corners[:, EDGES], axis=-1).reshape(-1, 2)
    edges, index = np.unique(pairs, axis=0, return_inverse=True)
    index = index.reshape(-1, 6)
    lengths = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)
    rank = np.empty(len(edges), np.int64)       # one order for all, also among equal lengths
    rank[np.lexsort((np.arange(len(edges)), lengths))] = np.arange(len(edges))
    longest = index[np.arange(len(index)), rank[index].argmax(axis=1)]
    marked = np.zeros(len(edges), bool)
    marked[longest[chosen]] = True
    while True:
        asked = longest[marked[index].any(axis=1)]
        if marked[asked].all():
            break
        marked[asked] = True
    cut = edges[marked]
    middles = {(a, b): len(points) + k for k, (a, b) in enumerate(cut.tolist())}
    ranks = dict(zip(middles, rank[marked].tolist()))
    touched = marked[index].any(axis=1)
    pieces = [piece for row in corners[touched].tolist() for piece in _pieces(row, middles, ranks)]
    return (np.vstack([points, points[cut].mean(axis=1)]),
            np.vstack([corners[~touched], np.array(pieces, np.int64).reshape(-1, 4)]))


def _pieces(row: list[int], middles: dict[tuple[int, int], int],
            ranks: dict[tuple[int, int], int]) -> list[list[int]]:
    """Split a tetrahedron at its marked edges, the longest first."""
    best, where = -1, (0, 0)
    for i, j in EDGES.tolist():
        rank = ranks.get((min(row[i], row[j]), max(row[i], row[j])), -1)
        if rank > best:
            best, where = rank, (i, j)
    if best < 0:
        return [row]
    i, j = where
    middle = middles[min(row[i], row[j]), max(row[i], row[j])]
    first, second = list(row), list(row)
    first[i], second[j] = middle, middle
    return _pieces(first, middles, ranks) + _pieces(second, middles, ranks)
