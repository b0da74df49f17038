"""
Winding numbers of vertices about a closed surface that may cross itself.

The exact narrow phase uses the nearest hit, which decides only where the surface does
not cross itself: in one of two overlapping pieces the nearest hit may be the other's entry.
Here all hits ahead are summed, exits less entries: the winding number of the point.
"""

from typing import NamedTuple

import numpy as np

from ...arrays import Array, IntArray
from ...numerics.kernels import njit
from ...numerics.vec3 import load_mat3_at
from ...transforms import apply
from ..geometry.closest_point import closest_points, points_in_box
from ..geometry.contact_mesh import ContactMesh
from ..geometry.ray_casting import (
    GENERIC, direction_frame, doubled, edge_functions, height_above, rotate_points)
from .penetrating_vertices import ON_SURFACE, PenetratingVertices, barycentric_weights


class WindingNumbers(NamedTuple):
    """
    Query points inside a surface, and how often it surrounds those near it.

    Attributes
    ----------
    inside : PenetratingVertices
        Those with a winding number above 0; the way out leads to where it falls to 0.
    near : (k,) int
        Query points in the surface's box.
    numbers : (k,) int
        Their winding numbers; 0 for points on the surface.
    """

    inside: PenetratingVertices
    near: IntArray
    numbers: IntArray


def find_winding_numbers(vertices: Array, target: ContactMesh, T_target_query: Array,
                         direction: Array | None) -> WindingNumbers:
    """
    Find the points inside a closed surface that may cross itself.

    Parameters
    ----------
    vertices : (n, 3) float
        Frame query [m].
    target : ContactMesh
        Closed.
    T_target_query : (4, 4) float
    direction : (3,) float or None
        Unit direction of leaving, frame target. None: the way out is that to the closest
        point of any facet, also of one inside another piece.

    Returns
    -------
    WindingNumbers
        Exits in the target's frame.

    Notes
    -----
    Own derivation: over the plane normal to the direction a closed surface is a sum of
    signed triangles, so the hits ahead sum to the winding number. A point over an edge
    counts for one of the two triangles, as if moved by (e, e^2) for a vanishing e.
    """
    tree, near = target.tree, points_in_box(vertices, T_target_query, target.box)
    points = np.ascontiguousarray(apply(T_target_query, vertices[near]))
    along = GENERIC if direction is None else np.ascontiguousarray(direction, float)
    numbers, depths, positions = _wind(tree.corners, points, along, ON_SURFACE * tree.size)
    inside = (numbers > 0) & (positions >= 0)
    if direction is None:
        depths, exits, positions = closest_points(tree, points[inside], np.inf)
    else:
        depths, positions = depths[inside], positions[inside]
        exits = points[inside] + depths[:, None] * along
    faces = tree.faces[positions]
    corners = tree.corners[positions]
    return WindingNumbers(PenetratingVertices(near[inside], depths, exits, faces,
                                              barycentric_weights(corners, exits)), near, numbers)


def _wind(corners: Array, points: Array, direction: Array,
          tolerance: float) -> tuple[IntArray, Array, IntArray]:
    """
    Return winding numbers, distances to where they fall to 0, and the triangles there.

    Points on the surface count as outside; where the number does not fall, the triangle is -1.
    """
    frame, count = direction_frame(direction), len(points)
    hits = _all_hits(rotate_points(corners.reshape(-1, 3), frame)[0].reshape(-1, 3, 3),
                     rotate_points(points, frame)[0])
    order = np.lexsort((hits[1], hits[0]))
    owners, distances, sides, positions = (values[order] for values in hits)
    ahead = distances > 0.0
    numbers = np.bincount(owners, sides * ahead, count).astype(np.int64)
    left = np.cumsum(numbers)[owners] - np.cumsum(sides * ahead)
    # Pieces that share a facet are left and entered at one place.
    apart = (np.diff(distances, append=np.inf) > tolerance) | (np.diff(owners, append=count) > 0)
    exits = np.flatnonzero(ahead & (left <= 0) & apart)
    places, first = np.unique(owners[exits], return_index=True)
    depths, found = np.full(count, np.inf), np.full(count, -1)
    depths[places], found[places] = distances[exits[first]], positions[exits[first]]
    numbers[owners[np.abs(distances) <= tolerance]] = 0
    return numbers, depths, found


@njit(cache=True)
def _all_hits(projected: Array, points: Array) -> tuple[IntArray, Array, IntArray, IntArray]:
    """Return owner, signed distance, side (1: exit) and triangle of every hit of every point."""
    order = np.argsort(points[:, 0])
    columns = points[order, 0]
    room, count = 1024, 0
    owners, positions = np.empty(room, np.int64), np.empty(room, np.int64)
    distances, sides = np.empty(room), np.empty(room, np.int64)
    for f in range(len(projected)):
        low = min(projected[f, 0, 1], projected[f, 1, 1], projected[f, 2, 1])
        high = max(projected[f, 0, 1], projected[f, 1, 1], projected[f, 2, 1])
        least = min(projected[f, 0, 0], projected[f, 1, 0], projected[f, 2, 0])
        most = max(projected[f, 0, 0], projected[f, 1, 0], projected[f, 2, 0])
        for place in range(np.searchsorted(columns, least),
                           np.searchsorted(columns, most, side='right')):
            i = order[place]
            if not low <= points[i, 1] <= high:
                continue
            side, distance = _hit(projected, f, points, i)
            if side == 0:
                continue
            if count == room:
                owners, positions = doubled(owners), doubled(positions)
                distances, sides, room = doubled(distances), doubled(sides), 2 * room
            owners[count], positions[count], distances[count], sides[count] = i, f, distance, side
            count += 1
    return owners[:count], distances[:count], sides[:count], positions[:count]


@njit(cache=True, forceinline=True)
def _hit(projected: Array, f: int, points: Array, i: int) -> tuple[int, float]:
    """Return the side of a triangle that a line meets, 0 where it passes, and the distance."""
    u, v, w = points[i, 0], points[i, 1], points[i, 2]
    ax, ay = projected[f, 0, 0] - u, projected[f, 0, 1] - v
    bx, by = projected[f, 1, 0] - u, projected[f, 1, 1] - v
    cx, cy = projected[f, 2, 0] - u, projected[f, 2, 1] - v
    e0, e1, e2 = edge_functions(ax, ay, bx, by, cx, cy)
    side = _sign(e0, bx, by, cx, cy)
    if side != _sign(e1, cx, cy, ax, ay) or side != _sign(e2, ax, ay, bx, by):
        side = 0
    total = e0 + e1 + e2
    if total == 0.0:
        return 0, 0.0
    return side, height_above(load_mat3_at(projected, f), e0, e1, e2, total, w)


@njit(cache=True, forceinline=True)
def _sign(area: float, x: float, y: float, to_x: float, to_y: float) -> int:
    """Return the side of an edge on which the origin lies, never 0 for an edge of a length."""
    sign = 0
    if area != 0.0:
        sign = 1 if area > 0.0 else -1
    elif to_y != y:
        sign = -1 if to_y > y else 1
    elif to_x != x:
        sign = 1 if to_x > x else -1
    return sign
