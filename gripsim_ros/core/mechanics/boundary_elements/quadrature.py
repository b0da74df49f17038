"""
Quadrature over quadratic triangles: points and weights, surface elements, areas and volume,
rigid motions, smooth tractions.

Limits: docs/model/compliance.md.
"""

import numpy as np

from ...arrays import Array, IntArray
from ...bodies.mesh import sum_by_label
from ...numerics.kernels import njit
from ...transforms import skew
from ..quadratic_elements import (
    PARTS, TRIANGLE_NODES, TRIANGLE_SIDES, shape_functions, shape_slopes)


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


#: The same for 1/r at the first corner (Duffy 1982).
_X, _W = np.polynomial.legendre.leggauss(6)
_S, _T = np.repeat(0.5 * (_X + 1.0), len(_X)), np.tile(0.5 * (_X + 1.0), len(_X))
VERTEX_POINTS = np.stack([1.0 - _S, _S * (1.0 - _T), _S * _T], axis=1)
VERTEX_WEIGHTS = 0.5 * _S * np.outer(_W, _W).ravel()
#: Where an element is far: all points of its parts, their weights, shape functions, their slopes
#: and linear hats.
FAR_COUNT = 4 * len(THREE_WEIGHTS)
FAR_PLACES = np.concatenate([THREE_POINTS @ TRIANGLE_NODES[part] for part in PARTS])
FAR_WEIGHTS = np.tile(THREE_WEIGHTS, len(PARTS))
FAR_SHAPES = shape_functions(FAR_PLACES, TRIANGLE_SIDES)
FAR_SLOPES = shape_slopes(FAR_PLACES, TRIANGLE_SIDES)
FAR_HATS = np.concatenate([THREE_POINTS @ np.eye(6)[part] for part in PARTS])

#: Places of smooth tractions along the surface.
SMOOTH_PLACES = 32
#: How far a place with another normal is, over the places' distance by the cosine's [-], and width
#: of a traction over that distance [-].
TURNED_AWAY, SMOOTH_WIDTH = 0.5, 0.7


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


def far_points(points: Array, elements: IntArray) -> tuple[Array, Array]:
    """
    Return the places of the fewest points on each element, and normals there.

    Both are ``(m, 3, 12)``; a normal is as long as its point's weight [m^2].
    """
    nodes = points[elements]
    along = np.einsum('pks,mkx->spmx', FAR_SLOPES, nodes)
    outward = 0.125 * FAR_WEIGHTS[:, None, None] * np.cross(along[0], along[1])
    places = np.einsum('pk,mkx->mxp', FAR_SHAPES, nodes)
    return np.ascontiguousarray(places), np.ascontiguousarray(outward.transpose(1, 2, 0))


def nodal_areas(points: Array, elements: IntArray, loaded: IntArray | None = None,
                count: int | None = None) -> Array:
    """
    Return the integral of each node's linear hat on the elements' parts [m^2].

    Of the nodes ``(n,)``, or of as many loads as there are, ``loaded (m, 6)`` in the elements.
    """
    weights = np.linalg.norm(far_points(points, elements)[1], axis=1)
    labels = elements if loaded is None else loaded
    return sum_by_label((weights @ FAR_HATS).reshape(-1, 1), labels.ravel(),
                        len(points) if count is None else count)[:, 0]


def part_sizes(points: Array, elements: IntArray) -> tuple[Array, Array]:
    """Return middle ``(m, 4, 3)`` and longest side ``(m, 4)`` of the elements' parts [m]."""
    corners = points[elements[:, PARTS]]
    steps = np.roll(corners, -1, axis=2) - corners
    return corners.mean(axis=2), np.linalg.norm(steps, axis=3).max(axis=2)


def enclosed_volume(points: Array, elements: IntArray) -> float:
    """Return the volume within closed quadratic triangles [m^3]."""
    places, outward = far_points(points, elements)
    # Divergence theorem with the field x / 3.
    return float((places * outward).sum() / 3.0)


def rigid_motions(points: Array, areas: Array) -> Array:
    """Return three translations and three rotations ``(n, 3, 6)`` about the mean of a surface."""
    centre = areas @ points / areas.sum()
    still = np.broadcast_to(np.eye(3), (len(points), 3, 3))
    return np.concatenate([still, -skew(points - centre)], axis=2)


def tangential_tractions(points: Array, elements: IntArray, normals: Array) -> Array:
    """
    Return smooth tractions along a surface.

    Parameters
    ----------
    points, normals : (n, 3) float
        Nodes [m], and unit normals there.
    elements : (m, 6) int
        Quadratic triangles.

    Returns
    -------
    (n, 3, t, 3) float
        At node i, about each of t places, along each axis as far as it lies in the surface [-].
        Those along an axis add up to it.

    Notes
    -----
    Places are nodes as far from each other as may be, by their points and normals together:
    both faces of a wall, or of an edge, have their own.
    """
    count = min(SMOOTH_PLACES, len(points))
    distance = np.sqrt(nodal_areas(points, elements).sum() / count)
    where = np.hstack([points / distance, TURNED_AWAY * normals])
    squares = ((where - where.mean(axis=0)) ** 2).sum(axis=1)
    gaps, nearest = np.empty((len(points), count)), np.full(len(points), np.inf)
    place = int(squares.argmax())
    for k in range(count):
        gaps[:, k] = ((where - where[place]) ** 2).sum(axis=1)
        nearest = np.minimum(nearest, gaps[:, k])
        place = int(nearest.argmax())
    shares = np.exp((nearest[:, None] - gaps) / SMOOTH_WIDTH ** 2)
    shares /= shares.sum(axis=1)[:, None]
    along = np.eye(3) - normals[:, :, None] * normals[:, None]
    return np.asarray(shares[:, None, :, None] * along[:, :, None])
