"""Contact manifolds of convex parts: where two faces press on each other, by clipping."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ....arrays import Array, IntArray
from ....errors import ShapeError
from .decomposition import ConvexPart
from .epa import PairContact, pair_contact


#: Last simplices of pairs of parts, kept by the caller between queries for two bodies: they save
#: steps, and change depths and distances by rounding at most.
WarmStart = dict[tuple[int, int], IntArray]

#: Least cosine between a face's normal and the depth's for the face to be clipped.
PARALLEL_COSINE = np.cos(1e-4)
#: Distance over the size below which points are the same [-].
DUPLICATE_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Manifold:
    """
    Points of contact of two bodies made of convex parts, frame a.

    Attributes
    ----------
    overlap : bool
        Whether any two parts share more than their surfaces.
    distance, depth : float
        Least distance of two parts, 0 where any overlap; largest depth of two parts [m].
    normal : (3,) float
        Unit direction from a to b of the nearest or the deepest two parts.
    points, depths, normals : (k, 3) float, (k,) float, (k, 3) float
        Points on the reference faces [m], depths of the other body under them [m], and
        for each the unit direction that leads b out of a; nothing where no parts overlap.
    pairs : (k, 2) int
        Part of a and part of b that each point belongs to.
    """

    overlap: bool
    distance: float
    depth: float
    normal: Array
    points: Array
    depths: Array
    normals: Array
    pairs: IntArray


def contact_manifold(parts_a: Sequence[ConvexPart], parts_b: Sequence[ConvexPart], T_a_b: Array,
                     warm: WarmStart | None = None) -> Manifold:
    """
    Return the points of contact of two bodies.

    Parameters
    ----------
    parts_a, parts_b : sequence of ConvexPart
        Each in its body's frame; at least one.
    T_a_b : (4, 4) float
        Pose of b in a.
    warm : WarmStart, optional
        Of the same two bodies in poses nearby; updated.

    Returns
    -------
    Manifold

    Raises
    ------
    ShapeError
        A body has no parts.

    Notes
    -----
    Source: pruning, GJK, EPA and clipping of the polygon intersection paper. Departures:
    parts are pruned by their balls; see ``clip_manifold`` for the clipping. Each pair of
    parts has points of its own, also where a cut between parts is no surface of the body.
    """
    if not (parts_a and parts_b):
        raise ShapeError('a body needs at least one convex part, got none')
    moved = [part.with_transform(T_a_b) for part in parts_b]
    nearest: PairContact | None = None
    found = []
    for i, a in enumerate(parts_a):
        for j, b in enumerate(moved):
            apart = float(np.linalg.norm(a.centre - b.centre)) - a.radius - b.radius
            if nearest is not None and apart > nearest.distance:
                continue
            start = None if warm is None else warm.get((i, j))
            pair = pair_contact(a, b, start)
            if warm is not None:
                warm[i, j] = pair.simplex
            if pair.overlap:
                points, depths = clip_manifold(a, b, pair)
                found.append((points, depths, np.repeat(pair.normal[None], len(points), axis=0),
                              np.repeat([[i, j]], len(points), axis=0)))
            if nearest is None or pair.distance - pair.depth < nearest.distance - nearest.depth:
                nearest = pair
    assert nearest is not None     # both bodies have parts
    points, depths, normals, pairs = (
        np.concatenate(rows) for rows in zip(*found)) if found else (
        np.zeros((0, 3)), np.zeros(0), np.zeros((0, 3)), np.zeros((0, 2), np.int64))
    return Manifold(nearest.overlap, nearest.distance, nearest.depth, nearest.normal, points,
                    depths, normals, pairs)


def clip_manifold(a: ConvexPart, b: ConvexPart, pair: PairContact) -> tuple[Array, Array]:
    """
    Return the points of contact of two overlapping parts and their depths.

    Parameters
    ----------
    a, b : ConvexPart
        In one frame.
    pair : PairContact
        Of them.

    Returns
    -------
    (k, 3) float, (k,) float
        Points on the reference face, k >= 1, and how far the other part lies under them
        along its normal [m].

    Notes
    -----
    Source: clipping algorithm of the polygon intersection paper. Departures: its roles of
    reference and incident faces are swapped, as is usual: the reference face is the one
    most nearly normal to the depth; of the other body's faces at its deepest corners the one
    that faces it most is clipped by its sides (Sutherland and Hodgman 1974), and points under
    it are moved onto it. Where
    no face is normal to the depth, two edges cross: the one point is the deepest of a.
    """
    of_a, of_b = a.normals @ pair.normal, -(b.normals @ pair.normal)
    on_a = of_a.max() >= of_b.max() - (1.0 - PARALLEL_COSINE)
    if max(of_a.max(), of_b.max()) < PARALLEL_COSINE:
        return pair.point_a[None], np.array([pair.depth])
    reference, other = (a, b) if on_a else (b, a)
    face = int(np.argmax(of_a if on_a else of_b))
    normal = reference.normals[face]
    size = a.radius + b.radius
    polygon = other.vertices[_incident_face(other, normal, DUPLICATE_TOLERANCE * size)]
    corners = reference.vertices[reference.polygons[face]]
    for corner, following in zip(corners, np.roll(corners, -1, axis=0)):
        outward = np.cross(following - corner, normal)
        polygon = _clip_polygon(polygon, outward, float(outward @ corner))
    depths = reference.offsets[face] - polygon @ normal
    kept = depths > 0.0
    points = polygon[kept] + depths[kept, None] * normal
    chosen = _without_duplicates(points, DUPLICATE_TOLERANCE * size)
    if not len(chosen):
        return pair.point_a[None], np.array([pair.depth])
    return points[chosen], depths[kept][chosen]


def _incident_face(part: ConvexPart, normal: Array, tolerance: float) -> IntArray:
    """Return, of the faces with most of a part's lowest corners, the one that faces down."""
    heights = part.vertices @ normal
    lowest = heights <= heights.min() + tolerance
    shared = np.array([np.count_nonzero(lowest[polygon]) for polygon in part.polygons])
    leaning = np.where(shared == shared.max(), part.normals @ normal, np.inf)
    return part.polygons[int(np.argmin(leaning))]


def _clip_polygon(polygon: Array, outward: Array, offset: float) -> Array:
    """Return the part of a convex polygon behind a plane."""
    if not len(polygon):
        return polygon
    heights = polygon @ outward - offset
    following, after = np.roll(polygon, -1, axis=0), np.roll(heights, -1)
    rows = []
    for point, height, end, beyond in zip(polygon, heights, following, after):
        if height <= 0.0:
            rows.append(point)
        if (height < 0.0 < beyond) or (beyond < 0.0 < height):
            rows.append(point + (end - point) * (height / (height - beyond)))
    return np.array(rows).reshape(-1, 3)


def _without_duplicates(points: Array, tolerance: float) -> list[int]:
    """Return the places of points that differ from all before them."""
    chosen: list[int] = []
    for i, point in enumerate(points):
        if all(np.abs(points[j] - point).max() > tolerance for j in chosen):
            chosen.append(i)
    return chosen
