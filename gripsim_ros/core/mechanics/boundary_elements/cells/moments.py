"""
Integrals of polynomials over what a body has of each cube of a grid.

Derivation: docs/model/compliance.md, "Cells".
"""

import numpy as np
from scipy.special import roots_jacobi

from ....arrays import Array, IntArray
from ....numerics.kernels import njit
from ..quadrature import SEVEN_POINTS, SEVEN_WEIGHTS

#: Points along each axis of a cube: products of two slopes have the fourth degree at most.
ORDER = 5
_X, _W = np.polynomial.legendre.leggauss(ORDER)
#: Their places and weights on [0, 1].
POINTS, WEIGHTS = 0.5 * (_X + 1.0), 0.5 * _W
#: Coefficients (point, power) of the polynomials that are 1 at one point and 0 at the others, and
#: (point, power + 1) of their integrals from 0.
_BASIS = np.linalg.inv(np.vander(POINTS, ORDER, increasing=True)).T
_INTEGRALS = _BASIS / np.arange(1.0, ORDER + 1.0)
#: Longest side over a cube's of a triangle that seven points do for [-].
SMALL = 0.06
#: Points and weights that are exact to the degree 13 of what is integrated (Stroud, Approximate
#: calculation of multiple integrals, 1971, conical products): else what is left of a cube could
#: come out as less than nothing.
_G, _V = roots_jacobi(7, 1.0, 0.0)
_H, _U = np.polynomial.legendre.leggauss(7)
_G, _H = 0.5 * (_G + 1.0), 0.5 * (_H + 1.0)
MANY_POINTS = np.stack([np.repeat(_G, 7), np.outer(1.0 - _G, _H).ravel()], axis=1)
MANY_WEIGHTS = 0.25 * np.outer(_V, _U).ravel()
FEW_POINTS, FEW_WEIGHTS = np.ascontiguousarray(SEVEN_POINTS[:, 1:]), SEVEN_WEIGHTS
#: Corners at most of a triangle that six planes have cut.
CORNERS = 9


def cell_weights(triangles: Array, shape: tuple[int, int, int]) -> Array:
    """
    Return weights of the points of all cubes of a grid that integrate over a body.

    Parameters
    ----------
    triangles : (m, 3, 3) float
        A closed surface, counter-clockwise seen from outside, in cubes' sides from the grid's
        corner: all within it [-].
    shape : (3,) int
        Of the grid.

    Returns
    -------
    (a, b, c, 5, 5, 5) float
        At points ``POINTS`` along each axis, exact for polynomials of the fourth degree along
        each; they add up to the share of the cube that the body has.

    Notes
    -----
    Source: the divergence theorem on the pieces into which the planes of the grid cut the
    triangles. A triangle stands for all that lies behind it along the first axis: in its own
    cube to its place, in those before it whole. What is enclosed twice counts twice.
    """
    own = np.zeros((*shape, ORDER, ORDER, ORDER))
    whole = np.zeros((*shape, ORDER, ORDER))
    _add_triangles(np.ascontiguousarray(triangles), own, whole)
    behind = whole[::-1].cumsum(axis=0)[::-1] - whole
    return own + WEIGHTS[:, None, None] * behind[:, :, :, None]


@njit(cache=True)
def _add_triangles(triangles: Array, own: Array, whole: Array) -> None:
    """Add what each triangle stands for: in its own cubes, and whole in those before it."""
    last = np.array(own.shape[:3]) - 1
    rooms = np.empty((4, CORNERS, 3))
    for f in range(len(triangles)):
        rooms[0, :3] = triangles[f]
        low, high = _range(rooms[0], 3, 1, last)
        for b in range(low, high + 1):
            first = _slab(rooms[0], 3, 1, b, rooms[3], rooms[1])
            if first < 3:
                continue
            low_c, high_c = _range(rooms[1], first, 2, last)
            for c in range(low_c, high_c + 1):
                second = _slab(rooms[1], first, 2, c, rooms[3], rooms[2])
                if second < 3:
                    continue
                _add_column(rooms[2], second, b, c, last, own, whole)


@njit(cache=True)
def _add_column(polygon: Array, count: int, b: int, c: int, last: IntArray, own: Array,
                whole: Array) -> None:
    """Add what a piece within a column along the first axis stands for."""
    spare, piece = np.empty((CORNERS, 3)), np.empty((CORNERS, 3))
    low, high = _range(polygon, count, 0, last)
    corner = np.array([0.0, float(b), float(c)])
    for a in range(low, high + 1):
        left = _slab(polygon, count, 0, a, spare, piece)
        corner[0] = a
        for k in range(1, left - 1):
            _add_piece(piece[0] - corner, piece[k] - corner, piece[k + 1] - corner,
                       own[a, b, c], whole[a, b, c])


@njit(cache=True)
def _range(polygon: Array, count: int, axis: int, last: IntArray) -> tuple[int, int]:
    """Return the first and the last slab that a polygon is in."""
    least, most = polygon[:count, axis].min(), polygon[:count, axis].max()
    return (min(max(int(np.floor(least)), 0), last[axis]),
            min(max(int(np.floor(most)), 0), last[axis]))


@njit(cache=True)
def _slab(polygon: Array, count: int, axis: int, number: int, spare: Array, answer: Array) -> int:
    """Set what a polygon has of a slab, and return how many corners that has."""
    left = _half(polygon, count, axis, float(number), 1.0, spare)
    return _half(spare, left, axis, number + 1.0, -1.0, answer)


@njit(cache=True)
def _half(polygon: Array, count: int, axis: int, level: float, sign: float, answer: Array) -> int:
    """Set what of a convex polygon is beyond a level, and return how many corners that has."""
    found = 0
    for k in range(count):
        here, there = polygon[k], polygon[(k + 1) % count]
        before, after = sign * (here[axis] - level), sign * (there[axis] - level)
        if before >= 0.0 and found < CORNERS:
            answer[found] = here
            found += 1
        if before * after < 0.0 and found < CORNERS:
            answer[found] = here + before / (before - after) * (there - here)
            answer[found, axis] = level
            found += 1
    return found


@njit(cache=True)
def _add_piece(p: Array, q: Array, r: Array, own: Array, whole: Array) -> None:
    """Add the integrals of a triangle within a cube."""
    along, across = q - p, r - p
    area = 0.5 * (along[1] * across[2] - along[2] * across[1])
    if area == 0.0:
        return
    longest = max(np.abs(along).max(), np.abs(across).max(), np.abs(r - q).max())
    if longest < SMALL:
        _add_points(p, along, across, area, FEW_POINTS, FEW_WEIGHTS, own, whole)
    else:
        _add_points(p, along, across, area, MANY_POINTS, MANY_WEIGHTS, own, whole)


@njit(cache=True)
def _add_points(corner: Array, along: Array, across: Array, area: float, points: Array,
                weights: Array, own: Array, whole: Array) -> None:
    """Add the integrals of a triangle by points; ``area`` is seen along the first axis."""
    x, y, z = np.empty(ORDER), np.empty(ORDER), np.empty(ORDER)
    for p in range(len(weights)):
        place = corner + points[p, 0] * along + points[p, 1] * across
        for i in range(ORDER):
            x[i] = y[i] = z[i] = 0.0
            for n in range(ORDER - 1, -1, -1):
                x[i] = (x[i] + _INTEGRALS[i, n]) * place[0]
                y[i] = y[i] * place[1] + _BASIS[i, n]
                z[i] = z[i] * place[2] + _BASIS[i, n]
        weight = area * weights[p]
        for j in range(ORDER):
            for k in range(ORDER):
                side = weight * y[j] * z[k]
                whole[j, k] += side
                for i in range(ORDER):
                    own[i, j, k] += side * x[i]
