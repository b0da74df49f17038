"""Winding numbers: how often a closed surface surrounds a point."""

import numba
import numpy as np

from ...arrays import Array, IntArray
from ..topology import EdgeTable

#: Tangent below which four terms of the series give an angle to its last digit.
SMALL_TANGENT = 0.01
#: Number of cells along the longest side of a surface that is cut into patches.
CELLS = 16
#: Margin of patches' boxes over the surface's size: more than rounding errors of middles.
BOX_MARGIN = 1e-6


@numba.njit(cache=True)
def _angle(sine: float, cosine: float) -> float:
    """Return the angle of a direction of any length; most triangles are seen under small ones."""
    if abs(sine) < SMALL_TANGENT * cosine:
        tangent = sine / cosine
        square = tangent * tangent
        return tangent * (1.0 - square * (1.0 / 3.0 - square * (0.2 - square / 7.0)))
    return np.arctan2(sine, cosine)


@numba.njit(cache=True)
def _solid_angle(px: float, py: float, pz: float, triangle: Array) -> float:
    """Return half the solid angle under which a triangle is seen."""
    ax, ay, az = triangle[0, 0] - px, triangle[0, 1] - py, triangle[0, 2] - pz
    bx, by, bz = triangle[1, 0] - px, triangle[1, 1] - py, triangle[1, 2] - pz
    cx, cy, cz = triangle[2, 0] - px, triangle[2, 1] - py, triangle[2, 2] - pz
    a = np.sqrt(ax * ax + ay * ay + az * az)
    b = np.sqrt(bx * bx + by * by + bz * bz)
    c = np.sqrt(cx * cx + cy * cy + cz * cz)
    numerator = (ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx))
    denominator = (a * b * c + (ax * bx + ay * by + az * bz) * c
                   + (bx * cx + by * cy + bz * cz) * a
                   + (cx * ax + cy * ay + cz * az) * b)
    return _angle(numerator, denominator)


@numba.njit(cache=True, nogil=True)
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
                        total += _solid_angle(px, py, pz, triangles[f])
            else:
                for f in range(fan_firsts[p], fan_firsts[p + 1]):
                    total += _solid_angle(px, py, pz, fans[f])
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
    middles = triangles.mean(axis=1)
    low, size = middles.min(axis=0), np.ptp(middles, axis=0).max()
    cells = ((middles - low) * (CELLS / size)).astype(np.int64)
    keys = cells @ np.array([(CELLS + 1) ** 2, CELLS + 1, 1])
    order = np.argsort(keys, kind='stable')
    patch, counts = np.unique(keys, return_inverse=True, return_counts=True)[1:]
    firsts = np.append(0, np.cumsum(counts))
    sorted_triangles = triangles[order]
    lows = np.minimum.reduceat(sorted_triangles.min(axis=1), firsts[:-1])
    highs = np.maximum.reduceat(sorted_triangles.max(axis=1), firsts[:-1])
    boxes = np.stack([lows - BOX_MARGIN * size, highs + BOX_MARGIN * size], axis=1)
    fans, fan_patch = _fans(triangles, table, patch.reshape(-1), boxes.mean(axis=1))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return _winding_numbers(
        middles[chosen], sorted_triangles, place[chosen], firsts, fans,
        np.searchsorted(fan_patch, np.arange(len(boxes) + 1)), boxes)


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
