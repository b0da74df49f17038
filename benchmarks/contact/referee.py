"""Who is right: every triangle against every vertex, and winding numbers; no tree, no grid."""

from typing import NamedTuple

import numpy as np
from numba import njit

from benchmarks.contact.bodies import Pose
from gripsim_ros.core.bodies import TriangleMesh
from gripsim_ros.core.transforms import apply, inverse

#: Slack of the barycentric coordinates of a hit, and of n . v, below which it is ambiguous.
EDGE_SLACK, GRAZING = 1e-12, 1e-6
#: Hits of opposite facets this near to each other, as a part of the size, are one silhouette;
#: vertices this near to the surface lie on it.
SILHOUETTE, ON_SURFACE = 1e-9, 1e-9
#: Most pairs of vertices and triangles for which winding numbers are summed exactly.
EXACT_PAIRS = 2e7


class Truth(NamedTuple):
    """
    Vertices of a mesh inside another.

    ``inside (n,)``, ``depths (n,)`` [m] to the first facet left through, its ``slopes (n,)``
    |n . v|, and ``ambiguous (n,)``: no right answer.
    """

    inside: np.ndarray
    depths: np.ndarray
    slopes: np.ndarray
    ambiguous: np.ndarray


def truths(link: TriangleMesh, body: TriangleMesh, pose: Pose) -> tuple[Truth, Truth]:
    """Return the truth of the link's vertices in the body, and of the body's in the link."""
    T_object_link = inverse(pose.T_link_object)
    return (_truth(apply(T_object_link, link.vertices), body,
                   T_object_link[:3, :3] @ pose.direction),
            _truth(apply(pose.T_link_object, body.vertices), link, -pose.direction))


def _truth(points: np.ndarray, target: TriangleMesh, direction: np.ndarray) -> Truth:
    low, high = target.bounds
    near = np.flatnonzero(((points >= low) & (points <= high)).all(axis=1))
    corners = np.ascontiguousarray(target.vertices[target.faces])
    exits, entries, slopes, nearest = _brute_force(corners, points[near], direction)
    size = float(np.linalg.norm(high - low))
    both = np.isfinite(exits) & np.isfinite(entries)
    gaps = np.abs(np.where(both, exits, 0.0) - np.where(both, entries, np.inf))
    ambiguous = ((gaps < SILHOUETTE * size) | (slopes < GRAZING)
                 | (nearest < ON_SURFACE * size))
    count = len(points)
    truth = Truth(np.zeros(count, bool), np.full(count, np.inf), np.ones(count),
                  np.zeros(count, bool))
    truth.inside[near] = _winding_numbers(target, points[near]) > 0.5
    truth.depths[near] = np.minimum(exits, entries)
    truth.slopes[near], truth.ambiguous[near] = slopes, ambiguous
    return truth


def _winding_numbers(target: TriangleMesh, points: np.ndarray) -> np.ndarray:
    import igl
    if not len(points):
        return np.zeros(0)
    exact = len(points) * len(target.faces) <= EXACT_PAIRS
    method = igl.winding_number if exact else igl.fast_winding_number
    return np.asarray(method(np.array(target.vertices), np.array(target.faces),
                             np.ascontiguousarray(points)))


@njit(cache=True)
def _brute_force(corners, points, direction):
    """
    Return ways to the nearest exit and entry ahead, |n . v| of the nearer, least |way|.

    Source: Moeller and Trumbore, Fast, minimum storage ray/triangle intersection, 1997.
    """
    count = len(points)
    exits, entries = np.full(count, np.inf), np.full(count, np.inf)
    slopes, nearest = np.ones(count), np.full(count, np.inf)
    for f in range(len(corners)):
        e1, e2 = corners[f, 1] - corners[f, 0], corners[f, 2] - corners[f, 0]
        p, normal = np.cross(direction, e2), np.cross(e1, e2)
        determinant = e1[0] * p[0] + e1[1] * p[1] + e1[2] * p[2]
        if determinant == 0.0:
            continue
        slope = abs(determinant) / np.sqrt(np.sum(normal ** 2))
        for i in range(count):
            sx, sy, sz = (points[i, 0] - corners[f, 0, 0], points[i, 1] - corners[f, 0, 1],
                          points[i, 2] - corners[f, 0, 2])
            u = (sx * p[0] + sy * p[1] + sz * p[2]) / determinant
            if u < -EDGE_SLACK or u > 1.0 + EDGE_SLACK:
                continue
            qx, qy, qz = sy * e1[2] - sz * e1[1], sz * e1[0] - sx * e1[2], sx * e1[1] - sy * e1[0]
            v = (qx * direction[0] + qy * direction[1] + qz * direction[2]) / determinant
            if v < -EDGE_SLACK or u + v > 1.0 + EDGE_SLACK:
                continue
            way = (qx * e2[0] + qy * e2[1] + qz * e2[2]) / determinant
            nearest[i] = min(nearest[i], abs(way))
            if way <= 0.0:
                continue
            if way < min(exits[i], entries[i]):
                slopes[i] = slope
            if determinant < 0.0:
                exits[i] = min(exits[i], way)
            else:
                entries[i] = min(entries[i], way)
    return exits, entries, slopes, nearest
