"""
Quadrature over quadratic triangles: points and weights, surface elements, areas and volume.

Limits: docs/model/compliance.md.
"""

import numpy as np

from ...arrays import Array, IntArray
from ...numerics.kernels import njit


_THIRD = 1.0 / 3.0
#: Barycentric points and weights: three points (degree 2), seven points (degree 5, Radon).
_A, _B = (6.0 - np.sqrt(15.0)) / 21.0, (6.0 + np.sqrt(15.0)) / 21.0
THREE_POINTS = np.array([[2.0, 0.5, 0.5], [0.5, 2.0, 0.5], [0.5, 0.5, 2.0]]) * _THIRD
THREE_WEIGHTS = np.full(3, _THIRD)
SEVEN_POINTS = np.array(
    [[_THIRD] * 3, [1.0 - 2.0 * _A, _A, _A], [_A, 1.0 - 2.0 * _A, _A], [_A, _A, 1.0 - 2.0 * _A],
     [1.0 - 2.0 * _B, _B, _B], [_B, 1.0 - 2.0 * _B, _B], [_B, _B, 1.0 - 2.0 * _B]])
SEVEN_WEIGHTS = np.array([0.225, *([(155.0 - np.sqrt(15.0)) / 1200.0] * 3),
                          *([(155.0 + np.sqrt(15.0)) / 1200.0] * 3)])


def vertex_points(count: int = 6) -> tuple[Array, Array]:
    """Return barycentric points and weights for 1/r at the first corner (Duffy 1982)."""
    x, w = np.polynomial.legendre.leggauss(count)
    x, w = 0.5 * (x + 1.0), 0.5 * w
    points, weights = [], []
    for s, ws in zip(x, w):
        for t, wt in zip(x, w):
            points.append([1.0 - s, s * (1.0 - t), s * t])
            weights.append(2.0 * s * ws * wt)
    return np.array(points), np.array(weights)


VERTEX_POINTS, VERTEX_WEIGHTS = vertex_points()

#: Corners and middles of a quadratic triangle's four parts; middles 3, 4, 5 lie on the sides
#: 01, 12 and 20.
PARTS = np.array([[0, 3, 5], [3, 1, 4], [5, 4, 2], [3, 4, 5]])
#: Barycentric coordinates of the six nodes.
NODES = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0],
                  [0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5]])

#: Where an element is far: all points of its parts, their shape functions and linear hats.
FAR_COUNT = 4 * len(THREE_WEIGHTS)
FAR_PLACES = np.concatenate([THREE_POINTS @ NODES[part] for part in PARTS])
FAR_SHAPES = np.concatenate([FAR_PLACES * (2.0 * FAR_PLACES - 1.0),
                             4.0 * FAR_PLACES * np.roll(FAR_PLACES, -1, axis=1)], axis=1)
FAR_HATS = np.concatenate([THREE_POINTS @ np.eye(6)[part] for part in PARTS])


@njit(cache=True)
def surface_element(nodes: Array, place: Array, shapes: Array, outward: Array) -> float:
    """Set shape functions and unit normal at a barycentric place; return twice the area."""
    a, b, c = place[0], place[1], place[2]
    shapes[0], shapes[1], shapes[2] = a * (2 * a - 1), b * (2 * b - 1), c * (2 * c - 1)
    shapes[3], shapes[4], shapes[5] = 4 * a * b, 4 * b * c, 4 * c * a
    ux = uy = uz = vx = vy = vz = 0.0
    # Derivatives along b and c, where a = 1 - b - c.
    along_b = (1 - 4 * a, 4 * b - 1, 0.0, 4 * (a - b), 4 * c, -4 * c)
    along_c = (1 - 4 * a, 0.0, 4 * c - 1, -4 * b, 4 * b, 4 * (a - c))
    for k in range(6):
        du, dv = along_b[k], along_c[k]
        ux += du * nodes[k, 0]
        uy += du * nodes[k, 1]
        uz += du * nodes[k, 2]
        vx += dv * nodes[k, 0]
        vy += dv * nodes[k, 1]
        vz += dv * nodes[k, 2]
    outward[0], outward[1] = uy * vz - uz * vy, uz * vx - ux * vz
    outward[2] = ux * vy - uy * vx
    density: float = np.sqrt(outward[0] ** 2 + outward[1] ** 2 + outward[2] ** 2)
    outward /= density
    return density


@njit(cache=True)
def nodal_areas(points: Array, elements: IntArray) -> Array:
    """Return the integral ``(n,)`` of each node's linear hat on the elements' parts [m^2]."""
    areas = np.zeros(len(points))
    nodes, shapes, place, outward = np.empty((6, 3)), np.empty(6), np.empty(3), np.empty(3)
    for e in range(len(elements)):
        for k in range(6):
            nodes[k] = points[elements[e, k]]
        for q in range(4):
            for p in range(len(THREE_WEIGHTS)):
                for b in range(3):
                    place[b] = 0.0
                    for k in range(3):
                        place[b] += THREE_POINTS[p, k] * NODES[PARTS[q, k], b]
                density = surface_element(nodes, place, shapes, outward)
                for k in range(3):
                    areas[elements[e, PARTS[q, k]]] += (
                        0.125 * THREE_WEIGHTS[p] * density * THREE_POINTS[p, k])
    return areas


@njit(cache=True)
def far_points(points: Array, elements: IntArray) -> tuple[Array, Array]:
    """
    Return the places of the fewest points on each element, and normals there.

    Both are ``(m, 3, 12)``; a normal is as long as its point's weight [m^2].
    """
    places, outward = np.empty((2, len(elements), 3, FAR_COUNT))
    nodes, shapes, place, normal = np.empty((6, 3)), np.empty(6), np.empty(3), np.empty(3)
    for e in range(len(elements)):
        for k in range(6):
            nodes[k] = points[elements[e, k]]
        for p in range(FAR_COUNT):
            place[:] = FAR_PLACES[p]
            density = surface_element(nodes, place, shapes, normal)
            for b in range(3):
                places[e, b, p] = 0.0
                for k in range(6):
                    places[e, b, p] += shapes[k] * nodes[k, b]
                outward[e, b, p] = 0.125 * THREE_WEIGHTS[p % 3] * density * normal[b]
    return places, outward


@njit(cache=True)
def part_sizes(points: Array, elements: IntArray) -> tuple[Array, Array]:
    """Return middle ``(m, 4, 3)`` and longest side ``(m, 4)`` of the elements' parts [m]."""
    middles, sides = np.zeros((len(elements), 4, 3)), np.zeros((len(elements), 4))
    for e in range(len(elements)):
        for q in range(4):
            for k in range(3):
                here = points[elements[e, PARTS[q, k]]]
                step = points[elements[e, PARTS[q, (k + 1) % 3]]] - here
                middles[e, q] += here / 3.0
                sides[e, q] = max(sides[e, q], np.sqrt((step ** 2).sum()))
    return middles, sides


@njit(cache=True)
def enclosed_volume(points: Array, elements: IntArray) -> float:
    """Return the volume within closed quadratic triangles [m^3]."""
    places, outward = far_points(points, elements)
    # Divergence theorem with the field x / 3.
    return (places * outward).sum() / 3.0
