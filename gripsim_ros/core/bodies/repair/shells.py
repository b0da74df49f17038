"""
Closed shells of a surface: which is outside, which a cavity, which inside out.

Winding numbers tell how often a closed surface surrounds a point.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from ...arrays import Array, BoolArray, IntArray
from ...errors import MeshError
from ...numerics.kernels import njit
from ...numerics.vec3 import Vec3, cross as cross_of, dot, load_mat3_at, subtract
from ...transforms import cross
from ..mesh import TriangleMesh, lengths
from ..topology import EdgeTable, groups_of_pairs
from .cleaning import Draft, plural


#: Number of points of a shell that are tested for lying inside another.
SHELL_SAMPLES = 16
#: Number of faces of the finished surface whose outer side is tested.
SURFACE_SAMPLES = 256
#: Share of the surface that may be inside out (folds of scans) before it is refused.
MAX_INVERTED = 0.01
#: Volume over area and diagonal below which a body is flat.
MIN_FLATNESS = 1e-6
#: Pieces whose boxes are farther apart than this share of the whole diagonal are several bodies:
#: slits between parts of one thing are narrower.
APART = 0.02
#: Largest number of pieces of a mesh: each is compared with all others.
MAX_PIECES = 10_000
#: Share of the largest volume below which a piece is a speck of a scan, wherever it lies.
SPECK = 0.01


def orient_shells(draft: Draft) -> Draft:
    """
    Return the draft with outer shells facing outward and cavities inward.

    Parameters
    ----------
    draft : Draft
        Closed shells, each of one winding.

    Returns
    -------
    Draft
        A shell inside another that faces the other way bounds a cavity, or a body within
        a cavity; one that faces the same way is material within material, and dropped.
        Pieces that are near each other or overlap stay, and are mentioned.

    Raises
    ------
    MeshError
        No shell encloses a volume: the mesh is flat; or its pieces lie apart: several bodies; or
        there are more than ``MAX_PIECES``.
    """
    count = int(draft.table.labels.max()) + 1
    if count > MAX_PIECES:
        raise MeshError(f'the mesh falls into {count} pieces, allowed are {MAX_PIECES}')
    draft, shells = _drop_flat_shells(draft)
    labels = draft.table.labels
    inside = _containment(shells)
    parents = [_parent(shells, row) for row in inside]
    depth = inside.sum(axis=1)
    _check_one_body(draft, [shell for shell, level in zip(shells, depth) if level == 0])
    facing = np.sign([shell.volume for shell in shells])
    keep = np.array([p < 0 or facing[i] != facing[p] for i, p in enumerate(parents)])
    while True:
        dropped = np.array([p >= 0 and not keep[p] for p in parents]) & keep
        if not dropped.any():
            break
        keep &= ~dropped
    outward = np.where(depth % 2 == 0, 1.0, -1.0)
    turn = facing != outward
    sentences = _shell_sentences(keep, turn & keep, depth)
    if not sentences:
        return draft
    faces = np.where(turn[labels][:, None], draft.faces[:, ::-1], draft.faces)
    return replace(draft, faces=faces[keep[labels]], repairs=draft.repairs + sentences)


def _drop_flat_shells(draft: Draft) -> tuple[Draft, list[TriangleMesh]]:
    """Return the draft without closed sheets of no volume, and its shells by label."""
    shells = _shells(draft)
    flat = np.array([abs(shell.volume) <= MIN_FLATNESS * shell.area * shell.diagonal
                     for shell in shells])
    if flat.all():
        volume = draft.unit ** 3 * sum(s.volume for s in shells)
        raise MeshError(f'the mesh is flat: it encloses {volume:.2g} m^3; '
                        'allowed are bodies with a volume')
    if not flat.any():
        return draft, shells
    keep = ~flat[draft.table.labels]
    kept = draft.with_faces(draft.faces[keep], f'dropped {plural(int(flat.sum()), "flat part")} '
                            f'of {plural(int((~keep).sum()), "face")}')
    return kept, _shells(kept)


def _shells(draft: Draft) -> list[TriangleMesh]:
    """Return the shells by label, each with corners of its own if there are several."""
    labels = draft.table.labels
    if not labels.any():        # labels count from 0: one shell, with the draft's own arrays
        return [TriangleMesh(draft.vertices, draft.faces)]
    corners = draft.vertices[draft.faces[np.argsort(labels, kind='stable')]]
    return [TriangleMesh(mine.reshape(-1, 3), np.arange(3 * len(mine)).reshape(-1, 3))
            for mine in np.split(corners, np.cumsum(np.bincount(labels))[:-1])]


def _check_one_body(draft: Draft, pieces: list[TriangleMesh]) -> None:
    """Raise MeshError where pieces lie so far apart that they are several bodies."""
    volumes = np.abs([piece.volume for piece in pieces])
    bounds = np.array([piece.bounds for piece in pieces])[volumes > SPECK * volumes.max()]
    lower, upper = bounds[:, 0], bounds[:, 1]
    gaps, joined = np.full(len(bounds), np.inf), np.zeros(len(bounds), bool)
    gaps[0] = 0.0
    for _ in bounds:        # the piece nearest to those that are joined joins them
        nearest = int(np.argmin(np.where(joined, np.inf, gaps)))
        if gaps[nearest] > APART * draft.diagonal:
            raise MeshError('the mesh holds several bodies that lie '
                            f'{1e3 * draft.unit * gaps[nearest]:.3g} mm apart or more; an object '
                            'is one body: put each into a file of its own, or the others among '
                            'the obstacles')
        way = np.maximum(lower - upper[nearest], lower[nearest] - upper).clip(0.0)
        gaps = np.minimum(gaps, np.linalg.norm(way, axis=1))
        joined[nearest] = True


def _containment(shells: list[TriangleMesh]) -> BoolArray:
    """Return whether shell i lies wholly inside shell j, (S, S)."""
    inside = np.zeros((len(shells), len(shells)), dtype=bool)
    bounds = np.array([shell.bounds for shell in shells])
    lower, upper = bounds[:, 0], bounds[:, 1]
    for i, inner in enumerate(shells):
        around = (lower <= lower[i]).all(axis=1) & (upper[i] <= upper).all(axis=1)
        for j in np.flatnonzero(around).tolist():
            inside[i, j] = i != j and _holds(shells[j], _samples(inner))
    return inside


def _holds(outer: TriangleMesh, samples: Array) -> bool:
    """Return whether all points lie inside; most specks of a scan are told by their first."""
    return all(np.all(np.abs(winding_numbers(some, outer.triangles)) > 0.5)
               for some in (samples[:1], samples[1:]))


def _samples(shell: TriangleMesh) -> Array:
    """Return points ``(n, 3)`` of a shell [m]."""
    last = len(shell.faces) - 1
    return shell.face_centroids[np.linspace(0, last, min(SHELL_SAMPLES, last + 1)).astype(int)]


def _parent(shells: list[TriangleMesh], row: BoolArray) -> int:
    """Return the smallest shell that contains this one, or -1."""
    candidates = np.flatnonzero(row)
    if not candidates.size:
        return -1
    return int(candidates[np.argmin([abs(shells[j].volume) for j in candidates])])


def _shell_sentences(keep: BoolArray, turn: BoolArray, depth: IntArray) -> tuple[str, ...]:
    sentences = []
    if turn.all():
        sentences.append('turned the mesh inside out: its normals pointed inward')
    elif turn.any():
        sentences.append(f'turned {plural(int(turn.sum()), "shell")} of {len(turn)} inside out')
    if not keep.all():
        sentences.append(f'dropped {plural(int((~keep).sum()), "shell")} inside the body')
    cavities = int(np.count_nonzero(keep & (depth % 2 == 1)))
    if cavities:
        sentences.append(f'kept {plural(cavities, "inner shell")} as '
                         f'{"a cavity" if cavities == 1 else "cavities"}')
    pieces = int(np.count_nonzero(keep & (depth % 2 == 0)))
    if pieces > 1:
        sentences.append(f'took {pieces} separate pieces as one body')
    return tuple(sentences)


def check_outside(draft: Draft) -> Draft:
    """
    Return the draft, with a sentence where pieces overlap.

    Raises
    ------
    MeshError
        More than ``MAX_INVERTED`` of the surface has the body on its outer side: the
        mesh crosses itself and is partly inside out.

    Notes
    -----
    At samples spread evenly over the area the winding number on the outer side is found
    from all other faces: below 0 the surface there is inside out, above it lies within
    the body.
    """
    triangles = draft.vertices[draft.faces]
    areas = lengths(cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]))
    steps = (np.arange(SURFACE_SAMPLES) + 0.5) / SURFACE_SAMPLES * areas.sum()
    chosen = np.searchsorted(np.cumsum(areas), steps).clip(max=len(areas) - 1)
    chosen, weight = np.unique(chosen, return_counts=True)
    outer = surface_winding_numbers(triangles, draft.table, chosen) - 0.5
    inverted = float(weight[outer < -0.75].sum() / weight.sum())
    if inverted > MAX_INVERTED:
        raise MeshError(f'the mesh crosses itself and is inside out over {100 * inverted:.0f} % '
                        'of its surface; allowed are surfaces with one inside')
    within = float(weight[outer > 0.75].sum() / weight.sum())
    if within <= MAX_INVERTED:
        return draft
    return draft.with_faces(draft.faces, (
        f'{100 * within:.0f} % of the surface lies inside the body: parts overlap, and what '
        'they share counts twice in volume and mass'))


#: Tangent below which four terms of the series give an angle to its last digit.
SMALL_TANGENT = 0.01
#: Number of cells along the longest side of a surface that is cut into patches.
CELLS = 16
#: Threads that share the points.
THREADS = 2
#: Margin of patches' boxes over the surface's size: more than rounding errors of middles.
BOX_MARGIN = 1e-6


@njit(cache=True)
def _angle(sine: float, cosine: float) -> float:
    """Return the angle of a direction of any length; most triangles are seen under small ones."""
    if abs(sine) < SMALL_TANGENT * cosine:
        tangent = sine / cosine
        square = tangent * tangent
        return tangent * (1.0 - square * (1.0 / 3.0 - square * (0.2 - square / 7.0)))
    return np.arctan2(sine, cosine)


@njit(cache=True)
def _solid_angle(point: Vec3, triangles: Array, f: int) -> float:
    """Return half the solid angle under which a triangle is seen."""
    corners = load_mat3_at(triangles, f)
    a, b, c = subtract(corners[0], point), subtract(corners[1], point), subtract(corners[2], point)
    to_a, to_b, to_c = np.sqrt(dot(a, a)), np.sqrt(dot(b, b)), np.sqrt(dot(c, c))
    denominator = (to_a * to_b * to_c + dot(a, b) * to_c + dot(b, c) * to_a + dot(c, a) * to_b)
    return _angle(dot(a, cross_of(b, c)), denominator)


@njit(cache=True, nogil=True)
def _winding_numbers(points: Array, triangles: Array, skipped: IntArray,
                     firsts: IntArray, fans: Array, fan_firsts: IntArray,
                     boxes: Array) -> Array:
    """Sum over the fan of each patch (``firsts``) that a point is off, else over its triangles."""
    numbers = np.zeros(len(points))
    for i in range(len(points)):
        px, py, pz = points[i]
        total = 0.0
        for p in range(len(boxes)):
            if (boxes[p, 0, 0] <= px <= boxes[p, 1, 0] and boxes[p, 0, 1] <= py <= boxes[p, 1, 1]
                    and boxes[p, 0, 2] <= pz <= boxes[p, 1, 2]):
                for f in range(firsts[p], firsts[p + 1]):
                    if f != skipped[i]:
                        total += _solid_angle((px, py, pz), triangles, f)
            else:
                for f in range(fan_firsts[p], fan_firsts[p + 1]):
                    total += _solid_angle((px, py, pz), fans, f)
        numbers[i] = total / (2.0 * np.pi)
    return numbers


def winding_numbers(points: Array, triangles: Array, skipped: IntArray | None = None) -> Array:
    """
    Return the winding number of triangles about each point.

    Parameters
    ----------
    points : (n, 3) float
        [m].
    triangles : (F, 3, 3) float
        Corners, counter-clockwise from outside [m].
    skipped : (n,) int, optional
        For each point on the surface, its own triangle, which is left out: the number is
        then the mean of those on its two sides.

    Returns
    -------
    (n,) float
        1 inside a body, 0 outside, -1 inside one turned inside out.

    Notes
    -----
    Solid angles by van Oosterom and Strackee, IEEE Trans. Biomed. Eng. 30(2), 1983.
    """
    if skipped is None:
        skipped = np.full(len(points), -1, dtype=np.int64)
    everywhere = np.array([[[-np.inf] * 3, [np.inf] * 3]])
    none = np.zeros((0, 3, 3))
    return _winding_numbers(
        np.ascontiguousarray(points), np.ascontiguousarray(triangles), skipped,
        np.array([0, len(triangles)]), none, np.zeros(2, dtype=np.int64), everywhere)


def surface_winding_numbers(triangles: Array, table: EdgeTable, chosen: IntArray) -> Array:
    """
    Return the winding number of a surface at the middles of some of its triangles.

    Parameters
    ----------
    triangles : (F, 3, 3) float
        Corners, counter-clockwise from outside [m].
    table : EdgeTable
        Of the faces.
    chosen : (n,) int
        Faces; each is left out at its own middle.

    Returns
    -------
    (n,) float
        As ``winding_numbers``; the mean of those on the two sides.

    Notes
    -----
    The surface is cut into patches by a grid of ``CELLS``. From outside of a patch's box any
    surface with the same outline is seen under the same angle: the fan from the outline to
    the middle is taken. Source: Jacobson, Kavan and Sorkine-Hornung, Robust inside-outside
    segmentation using generalized winding numbers, 2013, section 4, on one level.
    """
    middles = (triangles[:, 0] + triangles[:, 1] + triangles[:, 2]) / 3.0
    low, size = middles.min(axis=0), np.ptp(middles, axis=0).max()
    cells = ((middles - low) * (CELLS / size)).astype(np.int64)
    keys = cells @ np.array([(CELLS + 1) ** 2, CELLS + 1, 1])
    order, patch, starts = groups_of_pairs(keys, np.zeros(len(keys), np.int64))
    firsts = np.append(starts, len(keys))
    sorted_triangles = triangles[order]
    boxes = _boxes(sorted_triangles, firsts, BOX_MARGIN * size)
    fans, fan_patch = _fans(triangles, table, patch, boxes.mean(axis=1))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    fan_firsts = np.searchsorted(fan_patch, np.arange(len(boxes) + 1))

    def at(some: IntArray) -> Array:
        return _winding_numbers(middles[some], sorted_triangles, place[some], firsts, fans,
                                fan_firsts, boxes)
    with ThreadPoolExecutor(THREADS) as threads:
        return np.concatenate(list(threads.map(at, np.array_split(chosen, THREADS))))


@njit(cache=True, nogil=True)
def _boxes(triangles: Array, firsts: IntArray, margin: float) -> Array:
    """Return the boxes (p, 2, 3) round triangles between two places, and a margin about."""
    boxes = np.empty((len(firsts) - 1, 2, 3))
    for p in range(len(boxes)):
        for k in range(3):
            low, high = np.inf, -np.inf
            for f in range(firsts[p], firsts[p + 1]):
                for corner in range(3):
                    low = min(low, triangles[f, corner, k])
                    high = max(high, triangles[f, corner, k])
            boxes[p, 0, k], boxes[p, 1, k] = low - margin, high + margin
    return boxes


def _fans(triangles: Array, table: EdgeTable, patch: IntArray,
          centres: Array) -> tuple[Array, IntArray]:
    """Return triangles (m, 3, 3) from the outline of each patch to its centre, and its number."""
    pairs, agree = table.pairs
    inner = agree & (patch[pairs[:, 0] // 3] == patch[pairs[:, 1] // 3])
    outline = np.ones(3 * len(triangles), dtype=bool)
    outline[pairs[inner]] = False
    sides = np.flatnonzero(outline)
    sides = sides[np.argsort(patch[sides // 3], kind='stable')]
    faces, corner = np.divmod(sides, 3)
    fans = np.stack([triangles[faces, corner], triangles[faces, (corner + 1) % 3],
                     centres[patch[faces]]], axis=1)
    return fans, patch[faces]
