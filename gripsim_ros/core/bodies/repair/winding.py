"""Winding numbers: how often a closed surface surrounds a point."""

import numba
import numpy as np

from ..mesh import FloatArray, IntArray


#: Tangent below which four terms of the series give an angle to its last digit.
SMALL_TANGENT = 0.01


@numba.njit(cache=True)
def _angle(sine: float, cosine: float) -> float:
    """Return the angle of a direction of any length; most triangles are seen under small ones."""
    if abs(sine) < SMALL_TANGENT * cosine:
        tangent = sine / cosine
        square = tangent * tangent
        return tangent * (1.0 - square * (1.0 / 3.0 - square * (0.2 - square / 7.0)))
    angle: float = np.arctan2(sine, cosine)
    return angle


@numba.njit(cache=True, nogil=True)
def _winding_numbers(points: FloatArray, triangles: FloatArray, skipped: IntArray) -> FloatArray:
    numbers = np.zeros(len(points))
    for i in range(len(points)):
        px, py, pz = points[i]
        total = 0.0
        for f in range(len(triangles)):
            if f == skipped[i]:
                continue
            ax, ay, az = (triangles[f, 0, 0] - px, triangles[f, 0, 1] - py,
                          triangles[f, 0, 2] - pz)
            bx, by, bz = (triangles[f, 1, 0] - px, triangles[f, 1, 1] - py,
                          triangles[f, 1, 2] - pz)
            cx, cy, cz = (triangles[f, 2, 0] - px, triangles[f, 2, 1] - py,
                          triangles[f, 2, 2] - pz)
            a = np.sqrt(ax * ax + ay * ay + az * az)
            b = np.sqrt(bx * bx + by * by + bz * bz)
            c = np.sqrt(cx * cx + cy * cy + cz * cz)
            numerator = (ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz)
                         + az * (bx * cy - by * cx))
            denominator = (a * b * c + (ax * bx + ay * by + az * bz) * c
                           + (bx * cx + by * cy + bz * cz) * a
                           + (cx * ax + cy * ay + cz * az) * b)
            total += _angle(numerator, denominator)
        numbers[i] = total / (2.0 * np.pi)
    return numbers


def winding_numbers(
        points: FloatArray, triangles: FloatArray,
        skipped: IntArray | None = None) -> FloatArray:
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
    numbers: FloatArray = _winding_numbers(
        np.ascontiguousarray(points), np.ascontiguousarray(triangles), skipped)
    return numbers
