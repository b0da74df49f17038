"""Forces that are spread over neighbourhoods of nodes, and means over them."""

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix, diags
from scipy.spatial.distance import cdist

from ....arrays import Array, IntArray
from ....numerics.kernels import njit
from ...quadratic_elements import (
    PARTS, shape_functions, shape_slopes, TRIANGLE_NODES, TRIANGLE_SIDES)
from ..quadrature import THREE_POINTS
from ..remesh import QuadraticSurface

#: Distance from a triangle over its size within which 1/r is integrated exactly [-].
NEAR = 2.0
#: Cosine of normals at which neighbours are on another side of the body [-].
TURNED = 0.9
#: Points at a time of which all distances are taken.
BLOCK = 512


class Points(NamedTuple):
    """
    Points of quadrature on all parts of an element, ``q`` of them, those of a part together.

    Barycentric ``places (q, 3)``, ``weights (q,)`` of parts of area 1, and linear ``hats (q, 6)``.
    """

    places: Array
    weights: Array
    hats: Array


def _points_of(inner: Array) -> Points:
    """Return points of parts from barycentric ones (p, 3) of each, which count alike."""
    return Points(np.concatenate([inner @ TRIANGLE_NODES[part] for part in PARTS]),
                  np.full(len(PARTS) * len(inner), 1.0 / len(inner)),
                  np.concatenate([inner @ np.eye(6)[part] for part in PARTS]))


#: Points by which means are taken, and more of them, by which forces are spread: between few a
#: fine grid would yield to each by itself.
FEW = _points_of(THREE_POINTS)
MANY = _points_of(np.concatenate([THREE_POINTS @ TRIANGLE_NODES[part] for part in PARTS]))


class Hats(NamedTuple):
    """
    Points of quadrature of hats about ``n`` nodes on the parts of elements.

    ``places (p, 3)`` [m]; ``shares (n, p)``: of each hat's integral, so that a row adds up to 1;
    ``sizes (n,)`` of the hats [m^2].
    """

    places: Array
    shares: csr_matrix
    sizes: Array

    @property
    def middles(self) -> Array:
        """Return where forces that are spread over the hats act in sum (n, 3) [m]."""
        return np.asarray(self.shares @ self.places)


def hats_on(surface: QuadraticSurface, points: Points) -> Hats:
    """Return the hats about the nodes of a surface, by points on each element."""
    nodes, count = surface.points[surface.elements], len(points.weights)
    along = np.einsum('pks,mkx->spmx', shape_slopes(points.places, TRIANGLE_SIDES), nodes)
    # A part has a quarter of the element's area.
    areas = 0.125 * points.weights * np.linalg.norm(np.cross(along[0], along[1]), axis=2).T
    places = np.einsum('pk,mkx->mpx', shape_functions(points.places, TRIANGLE_SIDES), nodes)
    values = (areas[:, :, None] * points.hats).reshape(-1, 6)
    rows = np.repeat(surface.elements, count, axis=0)
    point, node = np.nonzero(values)
    matrix = coo_matrix((values[point, node], (rows[point, node], point)),
                        shape=(len(surface.points), len(values))).tocsr()
    sizes = np.asarray(matrix.sum(axis=1)).ravel()
    return Hats(places.reshape(-1, 3), (diags(1.0 / sizes) @ matrix).tocsr(), sizes)


def sharpening(surface: QuadraticSurface, hats: Hats, normals: Array) -> csr_matrix:
    """
    Return what (n, n) makes values at nodes of means over their hats, of ``FEW`` points.

    Of a field that is linear on the parts the means are H times the values, and 2 - H is the
    inverse of H to the second order in what they differ by. Source: van Cittert's iteration
    (1931), its first step. Departure: neighbours of other normals (n, 3) count less and, beyond
    ``TURNED``, nothing, since the loads there are of another direction.
    """
    elements, count, few = surface.elements, len(surface.points), len(FEW.weights)
    points = np.arange(len(elements) * few)
    hat = coo_matrix((np.tile(FEW.hats, (len(elements), 1)).ravel(), (
        np.repeat(points, elements.shape[1]), np.repeat(elements, few, axis=0).ravel())),
        shape=(len(points), count)).tocsr()
    shares = (hats.shares @ hat).tocoo()
    cosines = (normals[shares.row] * normals[shares.col]).sum(axis=1)
    alike = np.clip((cosines - TURNED) / (1.0 - TURNED), 0.0, 1.0)
    kept = coo_matrix((shares.data * alike, (shares.row, shares.col)), shape=shares.shape)
    sums = np.asarray(kept.sum(axis=1)).ravel()
    return (diags(1.0 + sums) - kept).astype(np.float32).tocsr()


def mean_inverses(surface: QuadraticSurface, hats: Hats) -> Array:
    """Return the means (n, n) of 1/r over pairs of hats [1/m], of ``FEW`` points."""
    parts = surface.elements[:, PARTS].reshape(-1, 3)
    corners = surface.points[parts]
    reach = NEAR * np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2).max(axis=1)
    middles, few = corners.mean(axis=1), len(FEW.weights) // len(PARTS)
    answer = np.zeros((hats.shares.shape[0],) * 2)
    for begin in range(0, len(hats.places), BLOCK):
        some = slice(begin, min(begin + BLOCK, len(hats.places)))
        outer = hats.places[some]
        near = cdist(outer, middles) < reach
        distances = cdist(outer, hats.places)
        distances[np.repeat(near, few, axis=1)] = np.inf
        means = (hats.shares @ (1.0 / distances).T).T
        point, part = np.nonzero(near)
        _add_near(outer, point, part, corners, parts, hats.sizes, means)
        answer += hats.shares[:, some] @ means
    return 0.5 * (answer + answer.T)


@njit(cache=True)
def _add_near(places: Array, point: IntArray, part: IntArray, corners: Array, labels: IntArray,
              sizes: Array, means: Array) -> None:
    """Add to the means of 1/r (q, n) over hats, seen from places, those of near parts."""
    sums = np.empty(3)
    for k in range(len(point)):
        _triangle_inverses(places[point[k]], corners[part[k]], sums)
        for c in range(3):
            label = labels[part[k], c]
            means[point[k], label] += sums[c] / sizes[label]


@njit(cache=True)
def _triangle_inverses(x: Array, corners: Array, sums: Array) -> None:
    """
    Set the integrals (3,) of a flat triangle's hats over the distance from a place.

    Source: Wilton et al., IEEE Trans. Antennas Propag. 32, 1984, 276, equations (5) and (6).
    """
    a, b, c = corners[0], corners[1], corners[2]
    normal = np.cross(b - a, c - a)
    doubled = np.sqrt((normal ** 2).sum())
    sums[:] = 0.0
    if doubled == 0.0:
        return
    normal /= doubled
    height = ((x - a) * normal).sum()
    foot, away = x - height * normal, abs(height)
    whole, way = 0.0, np.zeros(3)
    for k in range(3):
        first, last = corners[k], corners[(k + 1) % 3]
        along = last - first
        length = np.sqrt((along ** 2).sum())
        along /= length
        outward = np.cross(along, normal)
        begin, side = ((first - foot) * along).sum(), ((first - foot) * outward).sum()
        end, least = begin + length, side ** 2 + height ** 2
        near, far = np.sqrt(begin ** 2 + least), np.sqrt(end ** 2 + least)
        # Where the place is on the line of this side, the logarithm counts nothing.
        if least > 1e-24 * length ** 2:
            # Of the two forms the one that nothing cancels in.
            log = (np.log((far + end) / (near + begin)) if begin + end > 0.0 else
                   np.log((near - begin) / (far - end)))
            whole += side * log
            way += 0.5 * outward * (least * log)
            if away > 0.0:
                whole -= away * (np.arctan(side * end / (least + away * far))
                                 - np.arctan(side * begin / (least + away * near)))
        way += 0.5 * outward * (end * far - begin * near)
    for k in range(3):
        here, there = corners[(k + 1) % 3], corners[(k + 2) % 3]
        slope = np.cross(normal, there - here) / doubled
        sums[k] = ((foot - here) * slope).sum() * whole + (slope * way).sum()
