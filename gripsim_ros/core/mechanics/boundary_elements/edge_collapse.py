"""
Coarse triangles on a closed surface: long edges are split, short ones collapsed.

Source: Botsch & Kobbelt, A remeshing approach to multiresolution modeling, 2004, without its
smoothing. Edges of the body are kept where they are long and straight: what is folded over a
shorter way is noise, or too small to count.
"""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from ...arrays import Array, BoolArray, IntArray
from ...bodies import TriangleMesh
from ...bodies.mesh import SMOOTH_ANGLE
from ...bodies.topology import connected_labels, edge_table


#: Length over the wanted one above which edges are split, and below which collapsed [-].
MAX_EDGE_RATIO, MIN_EDGE_RATIO = 1.35, 0.75
#: Largest length over the wanted one that the collapse of an edge may make [-].
MAX_COLLAPSED_RATIO = 1.6
#: Least cosine between a triangle's normals before and after an edge collapses.
MIN_NORMAL_COSINE = 0.7
#: Least height of a new triangle over its longest side; share of it to keep where it was
#: less before; and that of a needle, which has no way to face [-].
MIN_SHAPE, KEPT_SHAPE, NEEDLE_SHAPE = 0.2, 0.7, 1e-3
#: Factor by which a flip must improve the worse of two triangles [-].
FLIP_GAIN = 1.05
#: Number of collapses below which a pass is the last; number of passes of flips at the end.
MIN_COLLAPSES, FLIP_PASSES = 2, 4
#: Largest number of passes of splits.
SPLIT_PASSES = 30
#: Least length of an edge of the body that is kept over the wanted length, and least cosine
#: between its neighbouring pieces [-].
MIN_FEATURE_RATIO, MIN_STRAIGHTNESS = 1.5, 0.8


def coarse_triangles(mesh: TriangleMesh, length: float) -> tuple[Array, IntArray]:
    """
    Return a closed triangulation with edges of about a length.

    Parameters
    ----------
    mesh : TriangleMesh
        Closed.
    length : float
        [m], above 0.

    Returns
    -------
    (n, 3) float, (m, 3) int
        Vertices on the facets of the mesh [m], and triangles.
    """
    vertices, faces = _split_long_edges(mesh.vertices.copy(), mesh.faces.copy(),
                                        length * MAX_EDGE_RATIO)
    collapse = _EdgeCollapse(vertices, faces, length)
    collapse.run()
    faces = collapse.faces_left()
    used, faces = np.unique(faces, return_inverse=True)
    return vertices[used], faces.reshape(-1, 3)


def _split_long_edges(vertices: Array, faces: IntArray, longest: float) -> tuple[Array, IntArray]:
    """Halve edges until none is longer; the mesh stays conforming."""
    for _ in range(SPLIT_PASSES):
        table = edge_table(faces)
        ends, place = table.ends, table.edge_of_side
        lengths = np.linalg.norm(vertices[ends[:, 0]] - vertices[ends[:, 1]], axis=1)
        # Only the longest side of some triangle, so that needles become rounder.
        split = np.zeros(len(ends), bool)
        split[np.take_along_axis(place, lengths[place].argmax(axis=1)[:, None], 1)[:, 0]] = True
        split &= lengths > longest
        if not split.any():
            break
        middle = np.full(len(ends), -1)
        middle[split] = len(vertices) + np.arange(split.sum())
        vertices = np.concatenate([vertices, vertices[ends[split]].mean(axis=1)])
        faces = _split_faces(faces, middle[place], lengths[place])
    return vertices, faces


def _split_faces(faces: IntArray, middles: IntArray, lengths: Array) -> IntArray:
    """Return the faces cut at the middles of their sides (-1 for none)."""
    done = [faces[(middles < 0).all(axis=1)]]
    cut = (middles >= 0).any(axis=1)
    for face, middle, length in zip(faces[cut].tolist(), middles[cut].tolist(),
                                    lengths[cut].tolist()):
        done.append(np.array(_split_face(face, middle, length), dtype=np.int64))
    return np.concatenate(done)


def _split_face(face: list[int], middle: list[int], length: list[float]) -> list[list[int]]:
    """Split a triangle at its longest divided side, then its two parts at theirs."""
    marked = [k for k in range(3) if middle[k] >= 0]
    if not marked:
        return [face]
    k = max(marked, key=lambda side: length[side])
    a, b, c = face[k], face[(k + 1) % 3], face[(k + 2) % 3]
    m, bc, ca = middle[k], middle[(k + 1) % 3], middle[(k + 2) % 3]
    first = [[a, m, c]] if ca < 0 else [[a, m, ca], [m, c, ca]]
    second = [[m, b, c]] if bc < 0 else [[m, b, bc], [m, bc, c]]
    return first + second


class _EdgeCollapse:
    """Collapses short edges, shortest first, without changing the topology."""

    def __init__(self, vertices: Array, faces: IntArray, length: float) -> None:
        self.points = vertices
        self.rows = vertices.tolist()   # of three numbers numpy's sums take ten times as long
        self.length = length
        self.known: dict[tuple[int, ...], _Triangle] = {}
        self.faces = [tuple(face) for face in faces.tolist()]
        self.around: list[set[int]] = [set() for _ in range(len(vertices))]
        for number, face in enumerate(self.faces):
            for vertex in face:
                self.around[vertex].add(number)
        self.sharp = self._sharp_edges(faces)

    def _sharp_edges(self, faces: IntArray) -> list[set[int]]:
        """Return for each vertex the neighbours that edges of the body lead to."""
        normals = unit_normals(self.points[faces])
        table = edge_table(faces)
        first, second = table.pairs[0].T
        folded = ((normals[first // 3] * normals[second // 3]).sum(axis=1)
                  < np.cos(SMOOTH_ANGLE))
        # Where more than two faces meet, parts of the surface touch: that is kept, too.
        bent = table.counts > 2
        bent[table.edge_of_side.ravel()[first[folded]]] = True
        sharp: list[set[int]] = [set() for _ in range(len(self.points))]
        edges = table.ends[bent]
        if not len(edges):
            return sharp
        for u, v in edges[_long_and_straight(self.points, edges, self.length)].tolist():
            sharp[u].add(v)
            sharp[v].add(u)
        return sharp

    def run(self) -> None:
        """Collapse edges until none that may be is short, flipping edges in between."""
        for share in np.linspace(0.2, MIN_EDGE_RATIO, 6):
            while self._pass(share * self.length) > MIN_COLLAPSES:
                pass
            self._flip_edges()
        for _ in range(FLIP_PASSES):
            self._flip_edges()

    def faces_left(self) -> IntArray:
        """Return the faces that are left."""
        return np.array([face for face in self.faces if face], dtype=np.int64)

    def _pass(self, shortest: float) -> int:
        """Collapse each edge that is short at the start, if it may be; return how many."""
        edges = edge_table(self.faces_left()).ends
        lengths = np.linalg.norm(self.points[edges[:, 0]] - self.points[edges[:, 1]], axis=1)
        order = np.argsort(lengths, kind='stable')
        collapsed, touched = 0, set()
        for u, v in edges[order[:int((lengths < shortest).sum())]].tolist():
            if u in touched or v in touched:
                continue
            for gone, kept in ((u, v), (v, u)):
                if self._may_collapse(gone, kept):
                    touched |= self._neighbours(gone)
                    self._collapse(gone, kept)
                    collapsed += 1
                    break
        return collapsed

    def _flip_edges(self) -> int:
        """Flip edges whose other diagonal is better; return how many."""
        alive = np.array([k for k, face in enumerate(self.faces) if face])
        faces = np.array([self.faces[k] for k in alive])
        tails, heads = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
        tips, owners = np.roll(faces, 1, axis=1).ravel(), np.repeat(alive, 3)
        along = np.argsort(tails * len(self.points) + heads)
        against = np.argsort(heads * len(self.points) + tails)
        partner = np.empty(len(tails), np.int64)
        partner[against] = along
        u, v, a, b = tails, heads, tips, tips[partner]
        before = np.minimum(self._shapes(u, v, a), self._shapes(v, u, b))
        after = np.minimum(self._shapes(a, b, v), self._shapes(b, a, u))
        flipped, touched = 0, set()
        for k in np.flatnonzero((u < v) & (after > FLIP_GAIN * before)).tolist():
            first, second = int(owners[k]), int(owners[partner[k]])
            if first in touched or second in touched or int(v[k]) in self.sharp[u[k]]:
                continue
            if self._flip_edge(int(u[k]), int(v[k]), int(a[k]), int(b[k]), first, second):
                touched |= {first, second}
                flipped += 1
        return flipped

    def _shapes(self, i: IntArray, j: IntArray, k: IntArray) -> Array:
        """Return height over length of triangles."""
        p, q, r = self.points[i], self.points[j], self.points[k]
        longest = np.maximum(((p - q) ** 2).sum(axis=1), np.maximum(
            ((q - r) ** 2).sum(axis=1), ((r - p) ** 2).sum(axis=1)))
        return np.sqrt((np.cross(q - p, r - p) ** 2).sum(axis=1)) / longest

    def _flip_edge(self, u: int, v: int, a: int, b: int, first: int, second: int) -> bool:
        """Join a and b instead of u and v, unless that folds the surface."""
        if a == b or b in self._neighbours(a):
            return False
        corners = [(u, v, a), (v, u, b), (a, b, v), (b, a, u)]
        normals = [_doubled_normal([self.points[w] for w in face]) for face in corners]
        mean = normals[0] + normals[1]
        for normal in normals[2:]:
            lengths = float(np.sqrt((mean @ mean) * (normal @ normal)))
            if float(normal @ mean) < MIN_NORMAL_COSINE * lengths:
                return False
        self.faces[first], self.faces[second] = corners[2], corners[3]
        self.around[u].discard(first)
        self.around[v].discard(second)
        self.around[b].add(first)
        self.around[a].add(second)
        return True

    def _neighbours(self, vertex: int) -> set[int]:
        return {other for number in self.around[vertex] for other in self.faces[number]}

    def _may_collapse(self, gone: int, kept: int) -> bool:
        sharp = self.sharp[gone]
        if sharp and (len(sharp) != 2 or kept not in sharp):
            return False
        common = (self._neighbours(gone) & self._neighbours(kept)) - {gone, kept}
        if len(common) != 2 or len(self.around[gone]) + len(self.around[kept]) < 8:
            return False
        if sharp and len(self.sharp[gone] & self.sharp[kept]):
            return False
        return all(self._keeps_shape(self.faces[number], gone, kept)
                   for number in self.around[gone] if kept not in self.faces[number])

    def _keeps_shape(self, face: tuple[int, ...], gone: int, kept: int) -> bool:
        """Return True if a triangle keeps facing its way, and its shape is sound."""
        before = self._triangle(face)
        after = self._triangle(tuple(kept if v == gone else v for v in face))
        # Twice the area over the square of the longest side is height over length.
        if after.area < after.longest * min(MIN_SHAPE,
                                            KEPT_SHAPE * before.area / before.longest):
            return False
        needle = before.area < NEEDLE_SHAPE * before.longest
        return (after.longest <= (MAX_COLLAPSED_RATIO * self.length) ** 2
                and (needle or _dot(before.normal, after.normal)
                     > MIN_NORMAL_COSINE * before.area * after.area))

    def _triangle(self, face: tuple[int, ...]) -> '_Triangle':
        """Return the measures of a triangle, kept: edges nearby ask for it again."""
        found = self.known.get(face)
        if found is None:
            found = self.known[face] = _measure(*(self.rows[v] for v in face))
        return found

    def _collapse(self, gone: int, kept: int) -> None:
        for number in list(self.around[gone]):
            face = self.faces[number]
            if kept in face:
                for vertex in face:
                    self.around[vertex].discard(number)
                self.faces[number] = ()
            else:
                self.faces[number] = tuple(kept if v == gone else v for v in face)
                self.around[kept].add(number)
        self.around[gone] = set()
        for other in self.sharp[gone]:
            self.sharp[other].discard(gone)
            if other != kept:
                self.sharp[other].add(kept)
                self.sharp[kept].add(other)
        self.sharp[gone] = set()


def _long_and_straight(points: Array, edges: IntArray, length: float) -> BoolArray:
    """Return for each edge ``(m, 2)`` if it is a piece of a straight way that is long enough."""
    ends = edges.ravel()
    steps = points[edges[:, 1]] - points[edges[:, 0]]
    steps = np.stack([steps, -steps], axis=1).reshape(-1, 3)     # away from each end
    lengths = np.sqrt((steps ** 2).sum(axis=1))
    steps /= np.maximum(lengths, 1e-300)[:, None]
    order = np.argsort(ends, kind='stable')
    meeting = [(int(i), int(j)) for group in np.split(order, np.flatnonzero(
        np.diff(ends[order])) + 1) for k, i in enumerate(group) for j in group[:k]]
    pairs = np.array(meeting, np.int64).reshape(-1, 2)
    straight = (steps[pairs[:, 0]] * steps[pairs[:, 1]]).sum(axis=1) < -MIN_STRAIGHTNESS
    labels = connected_labels(pairs[straight] // 2, len(edges))
    ways = np.bincount(labels, weights=lengths[::2], minlength=len(edges))
    return np.asarray(ways[labels] >= MIN_FEATURE_RATIO * length)


class _Triangle(NamedTuple):
    """A normal as long as twice the area, that, and the square of the longest side."""

    normal: Sequence[float]
    area: float
    longest: float


def _measure(a: Sequence[float], b: Sequence[float], c: Sequence[float]) -> _Triangle:
    ax, ay, az = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    bx, by, bz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    cx, cy, cz = c[0] - b[0], c[1] - b[1], c[2] - b[2]
    x, y, z = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    return _Triangle((x, y, z), sqrt(x * x + y * y + z * z), max(
        ax * ax + ay * ay + az * az, bx * bx + by * by + bz * bz, cx * cx + cy * cy + cz * cz))


def _dot(a: Sequence[float], b: Sequence[float]) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _doubled_normal(corners: list[Array]) -> Array:
    (ax, ay, az), (bx, by, bz) = corners[1] - corners[0], corners[2] - corners[0]
    return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])


def unit_normals(corners: Array) -> Array:
    """Return unit normals of triangles ``(m, 3, 3)``; zero without area."""
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return normals / np.maximum(np.sqrt((normals ** 2).sum(axis=1)), 1e-300)[:, None]
