"""
Distance or penetration of two convex parts: GJK with a warm start, then EPA.

Both work on the Minkowski difference of the bodies, the points a - b: they overlap where
it holds the origin. GJK finds its point nearest to the origin, the expanding polytope
algorithm (EPA) the point of its surface nearest to the origin.
"""

from dataclasses import dataclass

import numpy as np

from ....arrays import Array, IntArray
from ....numerics.kernels import njit
from ....numerics.vec3 import cross, dot, load_vec3, store_vec3, subtract
from .decomposition import ConvexPart
from .gjk_simplex import APART, barycentric_weights, minkowski_support, nearest_simplex


MAX_ITERATIONS = 2000
#: Tolerance of distance and depth over the bodies' size [-].
TOLERANCE = 1e-12


@dataclass(frozen=True, eq=False)
class PairContact:
    """
    Distance or penetration of two convex parts, frame a.

    Attributes
    ----------
    overlap : bool
        Whether they share more than their surfaces.
    distance, depth : float
        Least distance, and least translation that parts them; one of them is 0 [m].
    normal : (3,) float
        Unit direction from a to b: b moved by ``depth`` along it only touches a.
    point_a, point_b : (3,) float
        Points of a and of b that are nearest, or deepest [m].
    simplex : (k, 2) int
        Vertices of a and b of the last simplex of GJK, to start the next query with.
    steps : int
        Supporting points asked for, but for those of the first polytope.
    """

    overlap: bool
    distance: float
    depth: float
    normal: Array
    point_a: Array
    point_b: Array
    simplex: IntArray
    steps: int


def pair_contact(a: ConvexPart, b: ConvexPart, start: IntArray | None = None) -> PairContact:
    """
    Return distance or penetration of two convex parts.

    Parameters
    ----------
    a, b : ConvexPart
        In one frame.
    start : (k, 2) int, optional
        ``simplex`` of an answer for the same parts in poses nearby. It saves steps, and
        changes distance and depth by rounding at most.

    Returns
    -------
    PairContact
        Depth and distance are exact to ``TOLERANCE`` of the size of the two.

    Notes
    -----
    Source: GJK, EPA and the start from the last simplex after the polygon intersection
    paper; van den Bergen 2001. Departures: *all* faces seen from a new corner are removed,
    not the nearest alone, which would leave a polytope that is not convex; it begins with
    any tetrahedron in the difference, not the last simplex of GJK, which may be flat; depths
    are those of supporting planes, so that b moved by them is always free.
    """
    size = a.radius + b.radius
    pairs, count = _initial_simplex(a, b, start)
    state, corners, on_a, on_b, normal, distance, steps = nearest_simplex(
        a.vertices, a.graph, b.vertices, b.graph, pairs, count, TOLERANCE * size)
    simplex = np.ascontiguousarray(pairs[:corners])
    if state == APART:
        return PairContact(False, distance, 0.0, normal, on_a, on_b, simplex, steps)
    depth, normal, on_a, on_b, more = _epa(a.vertices, a.graph, b.vertices, b.graph, size)
    overlap = depth > TOLERANCE * size
    return PairContact(overlap, 0.0, depth if overlap else 0.0, normal, on_a, on_b, simplex,
                       steps + more)


def _initial_simplex(a: ConvexPart, b: ConvexPart, start: IntArray | None) -> tuple[IntArray, int]:
    """Return the simplex to begin with, in an array with room for four corners."""
    pairs = np.zeros((4, 2), np.int64)
    if start is None:
        toward = b.centre - a.centre
        pairs[0] = (int(np.argmax(a.vertices @ toward)), int(np.argmin(b.vertices @ toward)))
        return pairs, 1
    pairs[:len(start)] = start
    return pairs, len(start)


@njit(cache=True)
def _epa(vertices_a: Array, graph_a: IntArray, vertices_b: Array, graph_b: IntArray,
         size: float) -> tuple[float, Array, Array, Array, int]:
    """Return depth, direction, deepest points and steps of two bodies that touch or overlap."""
    tolerance = TOLERANCE * size
    points = np.empty((MAX_ITERATIONS + 4, 3))
    corner_pairs = np.zeros((MAX_ITERATIONS + 4, 2), np.int64)
    room = 4 * MAX_ITERATIONS
    faces, planes = np.empty((room, 3), np.int64), np.empty((room, 4))
    horizon = np.empty((room, 2), np.int64)
    pair = np.zeros(2, np.int64)
    _first_corners(vertices_a, graph_a, vertices_b, graph_b, points, corner_pairs)
    corners, used = 4, _tetrahedron_faces(points, faces, planes)
    best, best_normal = np.inf, np.zeros(3)
    while used > 0:
        face = _nearest_face(planes, used)
        normal = planes[face, :3].copy()
        pair[:] = corner_pairs[faces[face, 0]]
        minkowski_support(vertices_a, graph_a, vertices_b, graph_b, normal, pair, points[corners])
        reach = np.sum(normal * points[corners])
        if reach < best:
            best, best_normal = reach, normal
        known = False
        for k in range(3):
            other = corner_pairs[faces[face, k]]
            known = known or (other[0] == pair[0] and other[1] == pair[1])
        if known or reach - planes[face, 3] <= tolerance or corners == MAX_ITERATIONS:
            break
        corner_pairs[corners] = pair
        used = _expand_polytope(points, corners, faces, planes, used, horizon, tolerance)
        corners += 1
    if used < 0:    # rounding has torn the polytope: the best plane so far still parts them
        used = _add_face(points, faces, planes, 0, corners - 1, corners - 1, corners - 1)
    on_a, on_b = _witness_points(vertices_a, vertices_b, points, corner_pairs, faces[:used],
                                 planes, best * best_normal, tolerance)
    return max(best, 0.0), best_normal, on_a, on_b, corners - 3


@njit(cache=True)
def _first_corners(vertices_a: Array, graph_a: IntArray, vertices_b: Array, graph_b: IntArray,
                   points: Array, corner_pairs: IntArray) -> None:
    """
    Write four points of the difference, and their vertices, that do not lie in one plane.

    Each but the first is the farthest from those before it along one direction: at least half
    of the difference's width, and bodies have a volume. The origin need not lie among them.
    """
    pair, point = np.zeros(2, np.int64), np.empty(3)
    points[0] = vertices_a[0] - vertices_b[0]
    for corner in range(1, 4):
        direction = np.array([1.0, 0.0, 0.0])
        if corner > 1:
            along = points[1] - points[0]
            other = np.zeros(3)
            other[np.argmin(np.abs(along))] = 1.0
            direction = np.cross(along, other if corner == 2 else points[2] - points[0])
        farthest = -1.0
        for way in (direction, -direction):
            minkowski_support(vertices_a, graph_a, vertices_b, graph_b, way, pair, point)
            reach = np.sum(way * (point - points[0]))
            if reach > farthest:
                farthest, points[corner], corner_pairs[corner] = reach, point, pair


@njit(cache=True)
def _tetrahedron_faces(points: Array, faces: IntArray, planes: Array) -> int:
    """Add the faces of the first four points, wound outwards; return their number."""
    normal = np.cross(points[1] - points[0], points[2] - points[0])
    i, j = (1, 0) if np.sum(normal * (points[3] - points[0])) > 0.0 else (0, 1)
    used = 0
    for first, second, third in ((i, j, 2), (j, i, 3), (2, j, 3), (i, 2, 3)):
        used = _add_face(points, faces, planes, used, first, second, third)
    return used


@njit(cache=True)
def _witness_points(vertices_a: Array, vertices_b: Array, points: Array, corner_pairs: IntArray,
                    faces: IntArray, planes: Array, target: Array,
                    tolerance: float) -> tuple[Array, Array]:
    """Return the points of a and b that make a point of the surface, on the face it is in."""
    corners, best, chosen = np.empty((4, 3)), -np.inf, 0
    share = np.array([1.0, 0.0, 0.0, 0.0])
    for face in range(len(faces)):
        if abs(np.sum(planes[face, :3] * target) - planes[face, 3]) > 10.0 * tolerance:
            continue
        for k in range(3):
            corners[k] = points[faces[face, k]]
        weights = barycentric_weights(corners, 3, target)
        least = min(weights[0], weights[1], weights[2])
        if least > best:
            best, chosen, share = least, face, weights
    on_a, on_b = np.zeros(3), np.zeros(3)
    for k in range(3):
        on_a += share[k] * vertices_a[corner_pairs[faces[chosen, k], 0]]
        on_b += share[k] * vertices_b[corner_pairs[faces[chosen, k], 1]]
    return on_a, on_b


@njit(cache=True, forceinline=True)
def _add_face(points: Array, faces: IntArray, planes: Array, used: int, i: int, j: int,
              k: int) -> int:
    """Add a face and its plane, its normal 0 where it has no area; return the next place."""
    faces[used, 0], faces[used, 1], faces[used, 2] = i, j, k
    corner = load_vec3(points, i)
    a, b = subtract(load_vec3(points, j), corner), subtract(load_vec3(points, k), corner)
    normal = cross(a, b)
    norm = np.sqrt(dot(normal, normal))
    scale = 0.0 if norm <= 1e-14 * (dot(a, a) + dot(b, b)) else 1.0 / norm
    store_vec3(planes, used, (scale * normal[0], scale * normal[1], scale * normal[2]))
    planes[used, 3] = scale * dot(normal, corner)
    return used + 1


@njit(cache=True)
def _nearest_face(planes: Array, used: int) -> int:
    """Return the face with area nearest to the origin."""
    best, nearest = np.inf, 0
    for face in range(used):
        if planes[face, 3] < best:
            has_area = planes[face, 0] != 0.0 or planes[face, 1] != 0.0 or planes[face, 2] != 0.0
            if has_area:
                best, nearest = planes[face, 3], face
    return nearest


@njit(cache=True)
def _expand_polytope(points: Array, corner: int, faces: IntArray, planes: Array, used: int,
                     horizon: IntArray, tolerance: float) -> int:
    """
    Replace the faces that a new corner sees, or lies in the plane of; -1: no room.

    Faces in its plane go too: joined to it they would be slivers.
    """
    count, kept, point = 0, 0, load_vec3(points, corner)
    for face in range(used):
        if dot(load_vec3(planes, face), point) - planes[face, 3] < -tolerance:
            faces[kept], planes[kept] = faces[face], planes[face]
            kept += 1
            continue
        for k in range(3):
            i, j = faces[face, k], faces[face, (k + 1) % 3]
            twin = -1
            for e in range(count):
                if horizon[e, 0] == j and horizon[e, 1] == i:
                    twin = e
                    break
            if twin < 0:
                horizon[count, 0], horizon[count, 1] = i, j
                count += 1
            else:
                count -= 1
                horizon[twin, 0], horizon[twin, 1] = horizon[count, 0], horizon[count, 1]
    if kept + count > len(faces):
        return -1
    for e in range(count):
        kept = _add_face(points, faces, planes, kept, horizon[e, 0], horizon[e, 1], corner)
    return kept
