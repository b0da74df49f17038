"""Exact signed distances to a surface on a grid, near it: where an object is felt."""

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ...arrays import Array, IntArray
from ...bodies import TriangleMesh
from ...numerics.kernels import njit
from ...numerics.vec3 import Vec3, cross, dot, load_vec3, subtract

#: Grid points along the longest side of a body, and limits of their spacing [-, m].
POINTS, FINEST, COARSEST = 60, 0.0008, 0.0025
#: Largest number of grid points, 1 GB with all that is kept on the way, and the factor by which
#: their spacing grows where there are more: of bodies of half a metre and above.
MOST_POINTS, COARSER = 2.0 ** 24, 1.1
#: Width of the band on either side, in spacings: its corners stand for their whole cell.
WIDTH = 3.0
#: Difference of distances to triangles that share an edge [m]: the one that faces more tells the
#: side.
TIE = 1e-9


class DistanceBand(NamedTuple):
    """
    Signed distance to a closed surface on a regular grid, negative inside, cut off far from it.

    Attributes
    ----------
    lower : (3,) float
        First grid point, frame of the mesh [m].
    spacing : float
        [m].
    values : (a, b, c) float
        Exact within ``width`` of the surface, else ``width`` with the sign of the side [m].
    width : float
        [m].
    """

    lower: Array
    spacing: float
    values: Array
    width: float


_BANDS: WeakKeyDictionary[TriangleMesh, DistanceBand] = WeakKeyDictionary()


def distance_band(mesh: TriangleMesh) -> DistanceBand:
    """
    Return the distance band of a closed mesh, kept for as long as somebody holds the mesh.

    Notes
    -----
    Own choice of method: each triangle tells the grid points of its box the distance of its
    closest point (Ericson 2005, section 5.1.5). Where two triangles that share an edge are
    equally near, the one whose plane is farther tells the side, which is that of the
    angle-weighted normal (Baerentzen & Aanaes 2005).
    """
    found = _BANDS.get(mesh)
    if found is None:
        found = _BANDS[mesh] = _build(mesh)
    return found


def _build(mesh: TriangleMesh) -> DistanceBand:
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    spacing = float(np.clip((high - low).max() / POINTS, FINEST, COARSEST))
    while np.prod((high - low) / spacing + 2.0 * WIDTH + 4.0) > MOST_POINTS:
        spacing *= COARSER
    width = WIDTH * spacing
    lower = low - width - spacing
    shape = np.ceil((high + width + spacing - lower) / spacing).astype(np.int64) + 1
    squares = np.full(shape, np.inf)
    heights = np.zeros(shape)
    _fill(mesh.vertices, mesh.faces.astype(np.int64), mesh.face_normals,
          (lower, spacing, width), squares, heights)
    return DistanceBand(lower, spacing, _signed(squares, heights, width), width)


@njit(cache=True)
def _fill(vertices: Array, faces: IntArray, normals: Array, grid: tuple[Array, float, float],
          squares: Array, heights: Array) -> None:
    """Write the square of the distance to the nearest triangle, and the height over its plane."""
    lower, spacing, width = grid
    first, last = np.empty(3, np.int64), np.empty(3, np.int64)
    told = np.full(squares.shape, width)     # beyond this no triangle is nearer
    for f in range(len(faces)):
        a, b, c = (load_vec3(vertices, faces[f, 0]), load_vec3(vertices, faces[f, 1]),
                   load_vec3(vertices, faces[f, 2]))
        n = load_vec3(normals, f)
        middle = ((a[0] + b[0] + c[0]) / 3.0, (a[1] + b[1] + c[1]) / 3.0,
                  (a[2] + b[2] + c[2]) / 3.0)
        radius = 0.0
        for corner in (a, b, c):
            offset = subtract(corner, middle)
            radius = max(radius, np.sqrt(dot(offset, offset)))
        for k in range(3):
            first[k] = max(0, int(np.ceil((min(a[k], b[k], c[k]) - width - lower[k]) / spacing)))
            last[k] = min(squares.shape[k] - 1, int(np.floor(
                (max(a[k], b[k], c[k]) + width - lower[k]) / spacing)))
        for i in range(first[0], last[0] + 1):
            for j in range(first[1], last[1] + 1):
                for k in range(first[2], last[2] + 1):
                    p = (lower[0] + i * spacing, lower[1] + j * spacing, lower[2] + k * spacing)
                    height, most = dot(subtract(p, a), n), told[i, j, k]
                    if abs(height) > most:
                        continue
                    away = subtract(p, middle)
                    if dot(away, away) > (most + radius) ** 2:
                        continue
                    gap = subtract(p, closest_on_triangle(p, a, b, c))
                    square = dot(gap, gap)
                    if square > width * width:
                        continue
                    tie = 2.0 * TIE * np.sqrt(square) + TIE * TIE
                    if square < squares[i, j, k] - tie or (
                            square < squares[i, j, k] + tie
                            and abs(height) > abs(heights[i, j, k])):
                        squares[i, j, k], heights[i, j, k] = square, height
                        told[i, j, k] = min(width, np.sqrt(square) + 2.0 * TIE)


@njit(cache=True)
def closest_on_triangle(p: Vec3, a: Vec3, b: Vec3, c: Vec3) -> Vec3:
    """Return the point of a triangle closest to p (Ericson 2005, section 5.1.5)."""
    ab, ac, ap = subtract(b, a), subtract(c, a), subtract(p, a)
    d1, d2 = dot(ab, ap), dot(ac, ap)
    if d1 <= 0.0 and d2 <= 0.0:
        return a
    bp = subtract(p, b)
    d3, d4 = dot(ab, bp), dot(ac, bp)
    if d3 >= 0.0 and d4 <= d3:
        return b
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        return _along(a, ab, d1 / (d1 - d3))
    cp = subtract(p, c)
    d5, d6 = dot(ab, cp), dot(ac, cp)
    if d6 >= 0.0 and d5 <= d6:
        return c
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        return _along(a, ac, d2 / (d2 - d6))
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        return _along(b, subtract(c, b), (d4 - d3) / ((d4 - d3) + (d5 - d6)))
    normal = cross(ab, ac)
    share = dot(ap, normal) / dot(normal, normal)
    return p[0] - share * normal[0], p[1] - share * normal[1], p[2] - share * normal[2]


@njit(cache=True, forceinline=True)
def _along(a: Vec3, way: Vec3, share: float) -> Vec3:
    return a[0] + share * way[0], a[1] + share * way[1], a[2] + share * way[2]


def _signed(squares: Array, heights: Array, width: float) -> Array:
    """Return signed distances; a line of grid points changes its side only within the band."""
    near = squares < np.inf
    last = np.maximum.accumulate(np.where(near, np.arange(squares.shape[2]), -1), axis=2)
    told = np.take_along_axis(heights, np.maximum(last, 0), axis=2)
    sides = np.where((last >= 0) & (told < 0.0), -1.0, 1.0)
    return sides * np.where(near, np.sqrt(squares), width)


@njit(cache=True, forceinline=True)
def distance_at(band: DistanceBand, x: float, y: float, z: float
                ) -> tuple[float, float, float, float]:
    """
    Return the distance at a point by trilinear interpolation [m], and its gradient (3) [-].

    Outside the grid: the width, and no gradient.
    """
    lower, spacing, values, width = band
    u, v, w = (x - lower[0]) / spacing, (y - lower[1]) / spacing, (z - lower[2]) / spacing
    i, j, k = int(np.floor(u)), int(np.floor(v)), int(np.floor(w))
    if (i < 0 or j < 0 or k < 0 or i >= values.shape[0] - 1 or j >= values.shape[1] - 1
            or k >= values.shape[2] - 1):
        return width, 0.0, 0.0, 0.0
    u, v, w = u - i, v - j, w - k
    low0 = values[i, j, k] + w * (values[i, j, k + 1] - values[i, j, k])
    low1 = values[i, j + 1, k] + w * (values[i, j + 1, k + 1] - values[i, j + 1, k])
    high0 = values[i + 1, j, k] + w * (values[i + 1, j, k + 1] - values[i + 1, j, k])
    high1 = values[i + 1, j + 1, k] + w * (values[i + 1, j + 1, k + 1] - values[i + 1, j + 1, k])
    low, high = low0 + v * (low1 - low0), high0 + v * (high1 - high0)
    near = ((1.0 - u) * ((1.0 - v) * values[i, j, k] + v * values[i, j + 1, k])
            + u * ((1.0 - v) * values[i + 1, j, k] + v * values[i + 1, j + 1, k]))
    far = ((1.0 - u) * ((1.0 - v) * values[i, j, k + 1] + v * values[i, j + 1, k + 1])
           + u * ((1.0 - v) * values[i + 1, j, k + 1] + v * values[i + 1, j + 1, k + 1]))
    across = (1.0 - u) * (low1 - low0) + u * (high1 - high0)
    return (low + u * (high - low), (high - low) / spacing, across / spacing,
            (far - near) / spacing)
