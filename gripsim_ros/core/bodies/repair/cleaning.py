"""Steps that make a raw triangle surface clean: each returns a draft and says what it did."""

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_matrix
from scipy.spatial import cKDTree

from ...arrays import Array, BoolArray, IntArray
from ...errors import MeshError
from ..topology import (
    EdgeTable, connected_labels, consistent_flips, edge_table, equal_rows, first_places,
    groups_of_pairs)
from ..triangles import corner_bounds, face_heights
from .holes import MAX_TRIANGULATED_LOOP, boundary_loops, triangulate_loop

#: Largest hole that is filled, as a share of the bounding box's diagonal.
MAX_HOLE = 0.10
#: Width over the diagonal below which a gap is a crack, filled whatever its length.
MAX_CRACK = 1e-4
#: Height over the diagonal below which a face has no direction worth the name.
DEGENERATE_HEIGHT = 1e-9
#: The same where a face closes a crack, so that it is taken out by turning an edge.
CRACK_HEIGHT = 1e-7
#: Largest number of rounds of edge flips; each shortens a chain of degenerate faces by one.
MAX_ROUNDS = 20


@dataclass(frozen=True, eq=False)
class Draft:
    """
    A surface under repair: vertices (V, 3) [m], faces (F, 3), and what was done.

    ``unit`` is what sentences take a length of 1 for [m], where that is no metre.
    """

    vertices: Array
    faces: IntArray
    repairs: tuple[str, ...] = ()
    unit: float = 1.0

    def with_faces(self, faces: IntArray, repair: str = '') -> 'Draft':
        """Return the draft with other faces and one more sentence."""
        said = (*self.repairs, repair) if repair else self.repairs
        return replace(self, faces=faces, repairs=said)

    @cached_property
    def diagonal(self) -> float:
        """Return the diagonal of the bounding box of the used vertices [m]."""
        lower, upper = corner_bounds(self.vertices, self.faces)[0]
        return float(np.linalg.norm(upper - lower))

    @cached_property
    def places(self) -> IntArray:
        """Return labels (V,), equal for vertices at one position, by first appearance."""
        return equal_rows(self.vertices)

    @cached_property
    def table(self) -> EdgeTable:
        """Return the edges of the faces."""
        return edge_table(self.faces)

    @cached_property
    def alike(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return faces of equal corners, as ``groups_of_pairs``."""
        a, b, c = self.table.edge_of_side.T
        low, high = np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)
        return groups_of_pairs(low, a + b + c - low - high)

    @cached_property
    def heights(self) -> Array:
        """Return the smallest height (F,) of each face [m]."""
        return face_heights(self.vertices, self.faces)

    def open_side_count(self) -> int:
        """Return the number of sides of faces that their shell leaves open."""
        return int(np.count_nonzero(self.table.own_open_sides()))

    def is_closed(self) -> bool:
        """Return whether each shell is closed in itself."""
        return self.open_side_count() == 0


def plural(count: int, noun: str) -> str:
    """Return ``count`` with its noun, plural with -s, -es or -ices where needed."""
    if count == 1:
        return f'1 {noun}'
    if noun.endswith('vertex'):
        return f'{count} {noun[:-2]}ices'
    return f'{count} {noun}s'


def near_vertices(draft: Draft, tolerance: float) -> IntArray:
    """Return labels (V,), equal for vertices at one position, or within ``tolerance`` [m]."""
    labels = draft.places
    if tolerance > 0.0:
        first = first_places(labels)
        pairs = cKDTree(draft.vertices[first]).query_pairs(tolerance, output_type='ndarray')
        if len(pairs):
            return connected_labels(pairs, len(first))[labels]
    return labels


def merge_vertices(draft: Draft, labels: IntArray, tolerance: float) -> Draft:
    """
    Return the draft with vertices of equal ``near_vertices`` made one.

    The first of them stays; the order of vertices is kept. Of a file that lists three
    own corners for each triangle this is not worth a sentence.
    """
    first, vertices = first_places(labels), draft.vertices
    if len(first) == len(vertices):
        return draft
    merged = replace(draft, vertices=vertices[first], faces=labels[draft.faces])
    if tolerance == 0.0 and len(vertices) == draft.faces.size:
        return merged
    within = f' within {1e6 * draft.unit * tolerance:.2g} um' if tolerance > 0.0 else ''
    sentence = f'merged {plural(len(vertices) - len(first), "vertex")} at equal positions{within}'
    return merged.with_faces(merged.faces, sentence)


def drop_repeated_corners(draft: Draft) -> Draft:
    """Return the draft without faces that name a vertex twice."""
    a, b, c = draft.faces.T
    return _dropped(draft, (a == b) | (b == c) | (c == a), 'degenerate face')


def has_duplicate_faces(draft: Draft) -> bool:
    """Return whether two faces have the same corners."""
    return len(draft.alike[2]) < len(draft.faces)


def drop_duplicate_faces(draft: Draft, walls: bool) -> Draft:
    """Return the draft with one, or with ``walls`` none, of the faces on equal corners."""
    order, group, starts = draft.alike
    if len(starts) == len(group):
        return draft
    if walls:
        return _dropped(draft, np.bincount(group)[group] > 1, 'inner wall face')
    bad = np.ones(len(draft.faces), dtype=bool)
    bad[order[starts]] = False
    return _dropped(draft, bad, 'duplicate face')


def drop_loose_degenerate_faces(draft: Draft) -> Draft:
    """Return the draft without faces of no height that the surface does not need."""
    low = draft.heights <= DEGENERATE_HEIGHT * draft.diagonal
    if not low.any():
        return draft
    needed = (draft.table.counts[draft.table.edge_of_side] == 2).all(axis=1)
    return _dropped(draft, low & ~needed, 'degenerate face')


def _dropped(draft: Draft, bad: BoolArray, noun: str) -> Draft:
    if not bad.any():
        return draft
    if bad.all():
        raise MeshError(f'the mesh has no face with an area, got {plural(len(bad), noun)}')
    return draft.with_faces(draft.faces[~bad], f'dropped {plural(int(bad.sum()), noun)}')


def fix_winding(draft: Draft) -> Draft:
    """
    Return the draft with neighbouring faces in one winding.

    Raises
    ------
    MeshError
        The surface is one-sided.
    """
    flip, one_sided = consistent_flips(draft.table)
    if one_sided.any():
        raise MeshError(
            f'the mesh is one-sided: {plural(int(one_sided.sum()), "face")} cannot be given '
            'one winding; allowed are surfaces with an inside')
    if not flip.any():
        return draft
    faces = np.where(flip[:, None], draft.faces[:, ::-1], draft.faces)
    return draft.with_faces(faces, f'turned {plural(int(flip.sum()), "face")} of '
                                   f'{len(flip)} to one winding')


def fill_holes(draft: Draft) -> Draft:
    """
    Return the draft with small holes and cracks filled.

    A hole is small if it measures across at most ``MAX_HOLE`` of the diagonal of the
    body's bounding box. Longer gaps are filled if narrower than ``MAX_CRACK``.
    """
    diagonal, vertices = draft.diagonal, [draft.vertices]
    count, new, sizes, cracks = len(draft.vertices), [], [], 0
    faces: IntArray
    for loop in boundary_loops(draft.faces, draft.table):
        size = loop_size(draft.vertices, loop)
        faces, area = np.zeros((0, 3), dtype=np.int64), np.inf
        if len(loop) <= MAX_TRIANGULATED_LOOP:
            faces, area = triangulate_loop(draft.vertices, loop, draft.table)
        is_crack = len(faces) > 0 and area < MAX_CRACK * diagonal * size
        if size > MAX_HOLE * diagonal and not is_crack:
            continue
        if not len(faces):
            faces = np.stack([loop, np.roll(loop, -1), np.full(len(loop), count)], axis=1)
            vertices.append(draft.vertices[loop].mean(axis=0, keepdims=True))
            count += 1
        new.append(faces)
        cracks += is_crack
        sizes += [] if is_crack else [size]
    if not new:
        return draft
    filled = replace(draft, vertices=np.concatenate(vertices),
                     faces=np.concatenate([draft.faces, *new]))
    return filled.with_faces(filled.faces, _filled_sentence(sizes, cracks, draft.unit))


def _filled_sentence(sizes: list[float], cracks: int, unit: float) -> str:
    parts = []
    if sizes:
        across = f'{1e3 * unit * max(sizes):.3g} mm across'
        parts.append(plural(len(sizes), 'hole') + (
            f' of up to {across}' if len(sizes) > 1 else f' {across}'))
    if cracks:
        parts.append(plural(cracks, 'crack'))
    return f'filled {" and ".join(parts)}'


def loop_size(vertices: Array, loop: IntArray) -> float:
    """Return the largest distance between two vertices of a loop [m]."""
    return float(max(np.linalg.norm(vertices[loop] - point, axis=1).max()
                     for point in vertices[loop]))


def turn_out_degenerate_faces(draft: Draft) -> Draft:
    """
    Return the draft without faces of no height, the surface staying closed.

    The corner of such a face that lies on its longest side splits the face across that
    side: the two faces swap their common edge.
    """
    limit = CRACK_HEIGHT * draft.diagonal
    faces, turned = draft.faces.copy(), 0
    low = draft.heights <= limit
    for _ in range(MAX_ROUNDS):
        if not low.any():
            break
        swapped = _swap_longest_sides(draft.vertices, faces, np.flatnonzero(low))
        if not len(swapped):
            break
        turned += len(swapped)
        low[swapped] = face_heights(draft.vertices, faces[swapped]) <= limit
        kept = (faces >= 0).all(axis=1)
        faces, low = faces[kept], low[kept]
    if not turned or not len(faces):
        return draft
    return draft.with_faces(faces, f'took out {plural(turned, "degenerate face")}')


def _swap_longest_sides(vertices: Array, faces: IntArray, low: IntArray) -> IntArray:
    """
    Swap the longest side of faces ``low`` in place; cancelled faces become -1.

    A swap takes the faces about it; others that need one of these wait for the next round.
    Returns the pairs of faces (n, 2) that were swapped.
    """
    region = _touching(faces, _touching(faces, low))
    local = faces[region]
    table = edge_table(local)
    mine, other, corners = _quads(vertices, local, table, np.searchsorted(region, low))
    around = csr_matrix((np.ones(local.size), table.edge_of_side.ravel(),
                         np.arange(0, local.size + 1, 3)))
    about = (around[mine] + around[other]) @ around.T
    met = table.counts_between(corners[:, 2], corners[:, 3])
    taken, changes = np.zeros(len(local), dtype=bool), Counter[frozenset[int]]()
    swapped: list[int] = []
    for i, (a, b, c, d) in enumerate(corners.tolist()):
        needed = about.indices[about.indptr[i]:about.indptr[i + 1]]
        if taken[needed].any() or (c != d and met[i] + changes[frozenset((c, d))] > 0):
            continue
        local[mine[i]], local[other[i]] = ((a, d, c), (d, b, c)) if c != d else (-1, -1)
        gone = ((a, b),) if c != d else ((a, b), (b, c), (c, a))
        changes.subtract({frozenset(edge): 2 for edge in gone})
        if c != d:
            changes[frozenset((c, d))] += 2
        taken[needed] = True
        swapped.append(i)
    faces[region] = local
    return region[np.stack([mine, other], axis=1)[swapped]]


def _touching(faces: IntArray, chosen: IntArray) -> IntArray:
    """Return the faces that share a vertex with those chosen, in their order."""
    met = np.zeros(int(faces.max()) + 1, dtype=bool)
    met[faces[chosen]] = True
    return np.flatnonzero(met[faces].any(axis=1))


def _quads(vertices: Array, faces: IntArray, table: EdgeTable,
           low: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """
    Return the faces ``low`` with one face across their longest side, these, and the corners.

    Corners (n, 4): the ends of that side, the one opposite to it, that of the face across.
    """
    corners = vertices[faces[low]]
    side = np.argmax(np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2), axis=1)
    edge = table.edge_of_side[low, side]
    paired = table.counts[edge] == 2
    low, side, edge = low[paired], side[paired], edge[paired]
    both = np.bincount(table.edge_of_side.ravel(), np.repeat(np.arange(len(faces)), 3))
    across = both[edge].astype(np.int64) - low
    own = faces[low[:, None], (side[:, None] + np.arange(3)) % 3]
    last = faces[across].sum(axis=1) - own[:, 0] - own[:, 1]
    return low, across, np.column_stack([own, last])
