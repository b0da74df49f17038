"""
Certified lower bounds of the distance between convex shapes, by GJK.

Every direction v bounds the distance from below by the gap between the two supporting
planes normal to it. The largest such gap met on the way is returned, so the answer is
never above the true distance, however the iteration ends.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]

MOST_ITERATIONS = 64


class Shape(NamedTuple):
    """
    The convex hull of points, swept, thickened by a disc and by a ball.

    Attributes
    ----------
    vertices : (n, 3) float
        [m].
    first, neighbours : (n + 1,) int, (e,) int
        Hull neighbours of vertex i are ``neighbours[first[i]:first[i + 1]]``; without
        neighbours every vertex is looked at.
    sweep : (3,) float
        The shape is swept from itself along this translation [m].
    disc_axis : (3,) float
        Unit normal of a disc added at every point; any where ``disc_radius`` is 0.
    disc_radius, radius : float
        Of the disc and of the ball added [m].
    """

    vertices: Array
    first: NDArray[np.int64]
    neighbours: NDArray[np.int64]
    sweep: Array
    disc_axis: Array
    disc_radius: float
    radius: float


@njit(cache=True)
def few_points(vertices):
    """Return the hull of ``vertices (n, 3)`` [m], all of which are looked at."""
    nothing = np.zeros(0, np.int64)
    return Shape(vertices, nothing, nothing, np.zeros(3), np.array([0.0, 0.0, 1.0]), 0.0, 0.0)


@njit(cache=True)
def _farthest(shape, x, y, z, begin):
    """Return the vertex farthest along (x, y, z), by walking uphill where that is possible."""
    vertices = shape.vertices
    if len(shape.neighbours) == 0:
        best, at = -np.inf, 0
        for i in range(len(vertices)):
            along = vertices[i, 0] * x + vertices[i, 1] * y + vertices[i, 2] * z
            if along > best:
                best, at = along, i
        return at
    at = begin
    best = vertices[at, 0] * x + vertices[at, 1] * y + vertices[at, 2] * z
    while True:
        before = at
        for e in range(shape.first[before], shape.first[before + 1]):
            i = shape.neighbours[e]
            along = vertices[i, 0] * x + vertices[i, 1] * y + vertices[i, 2] * z
            if along > best:
                best, at = along, i
        if at == before:
            return at


@njit(cache=True)
def support(shape, x, y, z, begin, out):
    """Write the point of a shape farthest along (x, y, z), without its ball."""
    at = _farthest(shape, x, y, z, begin)
    swept = shape.sweep[0] * x + shape.sweep[1] * y + shape.sweep[2] * z > 0.0
    for k in range(3):
        out[k] = shape.vertices[at, k] + (shape.sweep[k] if swept else 0.0)
    if shape.disc_radius > 0.0:
        _add_disc(shape, x, y, z, out)
    return at


@njit(cache=True)
def _add_disc(shape, x, y, z, out):
    """Add the disc's point farthest along (x, y, z); its middle where that is the axis."""
    a = shape.disc_axis
    size = np.sqrt(x * x + y * y + z * z)
    # Twice: what is left of a direction along the axis is noise, not in the disc's plane.
    for _ in range(2):
        along = a[0] * x + a[1] * y + a[2] * z
        x, y, z = x - along * a[0], y - along * a[1], z - along * a[2]
    norm = np.sqrt(x * x + y * y + z * z)
    if norm > 1e-12 * size:
        out[0] += shape.disc_radius * x / norm
        out[1] += shape.disc_radius * y / norm
        out[2] += shape.disc_radius * z / norm


@njit(cache=True)
def moved_support(shape, rotation, origin, v, begin, out):
    """As ``support`` along v, for a shape at a pose."""
    x = rotation[0, 0] * v[0] + rotation[1, 0] * v[1] + rotation[2, 0] * v[2]
    y = rotation[0, 1] * v[0] + rotation[1, 1] * v[1] + rotation[2, 1] * v[2]
    z = rotation[0, 2] * v[0] + rotation[1, 2] * v[1] + rotation[2, 2] * v[2]
    at = support(shape, x, y, z, begin, out)
    px, py, pz = out[0], out[1], out[2]
    for k in range(3):
        out[k] = rotation[k, 0] * px + rotation[k, 1] * py + rotation[k, 2] * pz + origin[k]
    return at


@njit(cache=True)
def distance_bound(a, b, rotation, origin, start, limits, hints):
    """
    Return a certified lower bound of the distance of two shapes.

    Parameters
    ----------
    a, b : Shape
        Each in its own frame.
    rotation, origin : (3, 3) float, (3,) float
        Pose of b's frame in a's.
    start : (3,) float
        First direction tried, about from b to a, frame a; changed to the best one.
    limits : (3,) float
        The bound lies within the first, relative, or the second [m] of the distance; the
        search ends once it is above the third [m].
    hints : (2,) int
        Vertices of a and b to begin with; changed to the last ones.

    Returns
    -------
    float
        0 where the shapes overlap or touch [m].

    Notes
    -----
    Source: Gilbert, Johnson, Keerthi 1988; the bound as in van den Bergen 1999.
    """
    radii = a.radius + b.radius
    simplex = np.empty((4, 3))
    size = 0
    v, w, on_a, on_b = start.copy(), np.empty(3), np.empty(3), np.empty(3)
    if v[0] == 0.0 and v[1] == 0.0 and v[2] == 0.0:
        v[0] = 1.0
    bound, squared = -np.inf, np.inf
    for _ in range(MOST_ITERATIONS):
        hints[0] = support(a, -v[0], -v[1], -v[2], hints[0], on_a)
        hints[1] = moved_support(b, rotation, origin, v, hints[1], on_b)
        norm = np.sqrt(v[0] ** 2 + v[1] ** 2 + v[2] ** 2)
        gap = 0.0
        for k in range(3):
            w[k] = on_a[k] - on_b[k]
            gap += v[k] * w[k] / norm
        if gap > bound:
            bound = gap
            start[:] = v
        if bound - radii > limits[2]:
            break
        if size > 0 and norm - bound <= max(limits[0] * (norm - radii), limits[1]):
            break
        simplex[size] = w
        size = reduce_simplex(simplex, size + 1, v)
        if size == 4:
            return 0.0
        new = v[0] ** 2 + v[1] ** 2 + v[2] ** 2
        if new == 0.0 or new >= squared:
            break
        squared = new
    return max(bound - radii, 0.0)


@njit(cache=True)
def reduce_simplex(simplex, size, closest):
    """
    Write the simplex's point nearest to the origin; keep only the corners that carry it.

    Returns the number of corners kept; 4 means that the origin is inside.

    Source: Ericson, Real-Time Collision Detection, 2005, sections 5.1.2 to 5.1.6.
    """
    if size == 1:
        closest[:] = simplex[0]
        return 1
    if size == 2:
        return _reduce_segment(simplex, closest)
    if size == 3:
        return _reduce_triangle(simplex, closest)
    return _reduce_tetrahedron(simplex, closest)


@njit(cache=True)
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit(cache=True)
def _reduce_segment(simplex, closest):
    a, b = simplex[0], simplex[1]
    ab = b - a
    along, length = -_dot(a, ab), _dot(ab, ab)
    if along <= 0.0 or length == 0.0:
        closest[:] = a
        return 1
    if along >= length:
        simplex[0] = b
        closest[:] = simplex[0]
        return 1
    closest[:] = a + ab * (along / length)
    return 2


@njit(cache=True)
def _triangle_weights(a, b, c):
    """Return barycentric weights of the triangle's point nearest to the origin."""
    ab, ac = b - a, c - a
    d1, d2 = -_dot(ab, a), -_dot(ac, a)
    d3, d4 = -_dot(ab, b), -_dot(ac, b)
    d5, d6 = -_dot(ab, c), -_dot(ac, c)
    if d1 <= 0.0 and d2 <= 0.0:
        return 1.0, 0.0, 0.0
    if d3 >= 0.0 and d4 <= d3:
        return 0.0, 1.0, 0.0
    if d6 >= 0.0 and d5 <= d6:
        return 0.0, 0.0, 1.0
    vc, vb, va = d1 * d4 - d3 * d2, d5 * d2 - d1 * d6, d3 * d6 - d5 * d4
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0 and d1 > d3:
        t = d1 / (d1 - d3)
        return 1.0 - t, t, 0.0
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0 and d2 > d6:
        t = d2 / (d2 - d6)
        return 1.0 - t, 0.0, t
    if va <= 0.0 and d4 >= d3 and d5 >= d6 and (d4 - d3) + (d5 - d6) > 0.0:
        t = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        return 0.0, 1.0 - t, t
    total = va + vb + vc
    if total == 0.0:
        return 1.0, 0.0, 0.0
    return va / total, vb / total, vc / total


@njit(cache=True)
def _reduce_triangle(simplex, closest):
    weights = _triangle_weights(simplex[0], simplex[1], simplex[2])
    size = 0
    x, y, z = 0.0, 0.0, 0.0
    for i in range(3):
        weight = weights[i]
        if weight > 0.0:
            x += weight * simplex[i, 0]
            y += weight * simplex[i, 1]
            z += weight * simplex[i, 2]
            simplex[size] = simplex[i]
            size += 1
    closest[0], closest[1], closest[2] = x, y, z
    return size


@njit(cache=True)
def _reduce_tetrahedron(simplex, closest):
    best = np.inf
    kept = simplex[:3].copy()
    size, outside = 3, False
    trial, point = np.empty((3, 3)), np.empty(3)
    for opposite in range(4):
        k = 0
        for i in range(4):
            if i != opposite:
                trial[k] = simplex[i]
                k += 1
        if not _sees_origin(trial, simplex[opposite]):
            continue
        outside = True
        count = _reduce_triangle(trial, point)
        squared = _dot(point, point)
        if squared < best:
            best, size = squared, count
            kept[:] = trial
            closest[:] = point
    if not outside:
        return 4
    simplex[:3] = kept
    return size


@njit(cache=True)
def _sees_origin(face, opposite):
    """Tell whether the origin lies on the far side of a face from the opposite corner."""
    ab, ac = face[1] - face[0], face[2] - face[0]
    nx = ab[1] * ac[2] - ab[2] * ac[1]
    ny = ab[2] * ac[0] - ab[0] * ac[2]
    nz = ab[0] * ac[1] - ab[1] * ac[0]
    origin = -(nx * face[0, 0] + ny * face[0, 1] + nz * face[0, 2])
    corner = (nx * (opposite[0] - face[0, 0]) + ny * (opposite[1] - face[0, 1])
              + nz * (opposite[2] - face[0, 2]))
    if corner == 0.0:
        return True
    return origin * corner < 0.0
