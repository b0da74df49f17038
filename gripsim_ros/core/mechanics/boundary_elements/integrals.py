"""
Boundary integrals of elasticity over a triangulated surface, and displacements by unit loads.

Kelvin's solution and its tractions (Rizzo 1967; Becker, The Boundary Element Method in
Engineering, 1992, chapter 6), quadratic displacements and linear hats of traction, collocation
at the nodes. Derivations and limits: docs/model/compliance.md.
"""

import numpy as np
from scipy.linalg import lu_factor, lu_solve
from threadpoolctl import threadpool_limits

from ...arrays import Array, IntArray
from ...numerics.kernels import njit
from ..quadratic_elements import PARTS, TRIANGLE_NODES
from .quadrature import (
    FAR_COUNT, FAR_HATS, FAR_SHAPES, SEVEN_POINTS, SEVEN_WEIGHTS, THREE_POINTS, THREE_WEIGHTS,
    VERTEX_POINTS, VERTEX_WEIGHTS, far_points, nodal_areas, part_sizes, rigid_motions,
    surface_element)
from .remesh import QuadraticSurface


#: Distance over a triangle's size beyond which the fewest points do [-].
FAR_RATIO = 4.0
#: Distance over the size within which it is divided into four, ``MAX_DIVISIONS`` times at most.
NEAR_RATIO = 1.5
MAX_DIVISIONS = 5


#: Kernels of a point: nine of tractions, six of displacements, 1/r; and where in the six.
VALUES = 16
SYMMETRIC = np.array([[0, 1, 2], [1, 3, 4], [2, 4, 5]])
#: Nodes whose integrals of loads are kept at a time.
BLOCK = 32


def solve_unit_loads(surface: QuadraticSurface, normals: Array, poisson_ratio: float,
                     loaded: IntArray | None = None, sources: IntArray | None = None,
                     tractions: Array | None = None) -> tuple[Array, Array, Array]:
    """
    Return displacements by unit forces along normals, spread over each node's neighbourhood.

    Parameters
    ----------
    surface : QuadraticSurface
    normals : (k, 3) float
        Unit, into the body.
    poisson_ratio : float
    loaded, sources : (m, 6) int, (k,) int, optional
        Loads at the elements' nodes, and nodes of the loads, of ``cut_at_edges``; else one each.
    tractions : (k, 3, t, 3) float, optional
        Further loads: tractions at the nodes, linear between them [Pa].

    Returns
    -------
    moves : (k, 3, k) float
        At load i by load j, at E = 1 Pa and 1 N [m].
    by_tractions : (k, t, 3, 3) float
        At load i by each of the tractions, at E = 1 Pa; its last axis is the displacement's [m].
    inverse : (k, k) float
        Mean of 1/r from load i over load j [1/m].

    Notes
    -----
    The equations leave rigid motions open. Adding a multiple of the mean rigid motion to them
    fixes it, and changes nothing where the loads balance. One thread, so that the answer
    does not depend on how many there are.
    """
    points = surface.points
    count, sources = len(points), np.arange(len(points)) if sources is None else sources
    further = np.zeros((len(normals), 3, 0, 3)) if tractions is None else tractions
    areas = nodal_areas(points, surface.elements)
    motions = rigid_motions(points, areas)
    flat, weights = motions.reshape(3 * count, 6), np.repeat(areas, 3)
    gram = flat.T @ (weights[:, None] * flat)
    along = further.reshape(*normals.shape, -1)
    with threadpool_limits(limits=1, user_api='blas'):
        matrix, loads, inverse, sizes = assemble(
            points, surface.elements, normals, poisson_ratio,
            np.concatenate([along, motions[sources]], axis=2), loaded)
        loads, balance = loads[:, :-6], loads[:, -6:]
        resultants = np.hstack([
            np.einsum('nak,na->kn', motions[sources], normals),
            np.einsum('n,nak,nam->km', sizes, motions[sources], along)])
        loads -= balance @ np.linalg.solve(gram, resultants)
        scale = float(np.abs(matrix.diagonal()).mean())
        matrix += scale * flat @ np.linalg.solve(gram, (weights[:, None] * flat).T)
        # By columns, as they lie in memory, so that nothing is copied.
        factors = lu_factor(matrix.T, overwrite_a=True, check_finite=False)
        moves = lu_solve(factors, loads, trans=1, overwrite_b=True, check_finite=False)
        moves -= flat @ np.linalg.solve(gram, flat.T @ (weights[:, None] * moves))
    found = moves.reshape(count, 3, -1)[sources]
    by_tractions = found[:, :, len(normals):].reshape(*further.shape).transpose(0, 2, 3, 1)
    return found[:, :, :len(normals)], by_tractions, inverse[sources]


def assemble(points: Array, elements: IntArray, normals: Array, poisson_ratio: float,
             tractions: Array, loaded: IntArray | None = None
             ) -> tuple[Array, Array, Array, Array]:
    """
    Return the boundary integrals of a closed surface at E = 1 Pa.

    Parameters
    ----------
    points : (n, 3) float
        Nodes [m].
    elements : (m, 6) int
        Quadratic triangles: corners counter-clockwise seen from outside, then the middles
        of the sides 01, 12, 20.
    normals : (l, 3) float
        Unit normals into the body along which the loads act.
    poisson_ratio : float
    tractions : (l, 3, k) float
        At the nodes of the loads, linear on the elements' parts.
    loaded : (m, 6) int, optional
        Loads at the elements' nodes, of which an edge has one on each side; else the nodes.

    Returns
    -------
    traction : (3 n, 3 n) float
        Acts on the displacements of the nodes, free terms included.
    loads : (3 n, l + k) float
        Right sides of hats of traction on the parts, along ``normals``, of force 1 N [m]; then
        those of the ``tractions``. By columns in memory.
    inverse : (n, l) float
        Mean of 1/r from a node over each hat [1/m].
    areas : (n,) float
        Integral of each node's hat [m^2].
    """
    loaded = elements if loaded is None else loaded
    areas = nodal_areas(points, elements, loaded, len(normals))
    far = (*far_points(points, elements), *part_sizes(points, elements))
    count, traction = len(points), np.zeros((3 * len(points), 3 * len(points)))
    inverse = np.zeros((count, len(areas)))
    loads = np.zeros((3 * count, len(areas) + tractions.shape[2]), order='F')
    per_area = normals / np.where(areas > 0.0, areas, 1.0)[:, None]
    for first in range(0, count, BLOCK):
        rows = slice(3 * first, 3 * min(first + BLOCK, count))
        single = np.zeros((rows.stop - rows.start, len(areas), 3))
        _add_rows(first, points, (elements, loaded), poisson_ratio, far, areas,
                  (traction[rows], inverse[first:first + BLOCK], single))
        loads[rows, :len(areas)] = np.einsum('rnb,nb->rn', single, per_area)
        loads[rows, len(areas):] = (single.reshape(len(single), -1)
                                    @ tractions.reshape(3 * len(areas), -1))
    return traction, loads, inverse, areas


@njit(cache=True, nogil=True)
def _add_rows(first: int, points: Array, places: tuple[IntArray, IntArray], poisson_ratio: float,
              far: tuple[Array, Array, Array, Array], areas: Array,
              answers: tuple[Array, Array, Array]) -> None:
    """Add the rows of some nodes, from the first one on; of loads those of every direction."""
    traction, inverse, single = answers
    (points_far, outward, middles, sides), (elements, loaded) = far, places
    values, sums = np.empty((VALUES, FAR_COUNT)), np.empty((VALUES, 6))
    for row in range(len(inverse)):
        i, rows, whole = first + row, traction[3 * row:3 * row + 3], single[3 * row:3 * row + 3]
        for e in range(len(elements)):
            if _is_far(points[i], middles[e], sides[e]):
                _far_values(points[i], points_far[e], outward[e], poisson_ratio, values)
                _far_sums(values, sums)
            else:
                _near_sums(i, points, elements[e], poisson_ratio, sums)
            for k in range(6):
                j, n = elements[e, k], loaded[e, k]
                inverse[row, n] += sums[15, k] / areas[n]
                for a in range(3):
                    for b in range(3):
                        whole[a, n, b] += sums[9 + SYMMETRIC[a, b], k]
                        if j != i:
                            rows[a, 3 * j + b] += sums[3 * a + b, k]
        for j in range(len(points)):
            if j != i:
                rows[:, 3 * i:3 * i + 3] -= rows[:, 3 * j:3 * j + 3]


@njit(cache=True)
def _is_far(x: Array, middles: Array, sides: Array) -> bool:
    """Return True if the fewest points do on each part of an element, seen from x."""
    for q in range(4):
        square = ((middles[q, 0] - x[0]) ** 2 + (middles[q, 1] - x[1]) ** 2
                  + (middles[q, 2] - x[2]) ** 2)
        if square < (FAR_RATIO * sides[q]) ** 2:
            return False
    return True


@njit(cache=True)
def _far_values(x: Array, places: Array, outward: Array, nu: float, values: Array) -> None:
    """
    Set the weighted kernels ``(16, 12)`` at the points of an element, seen from x.

    Nine of tractions, six of displacements (upper triangle), and 1/r.
    """
    u_scale = (1.0 + nu) / (8.0 * np.pi * (1.0 - nu))
    t_scale = -1.0 / (8.0 * np.pi * (1.0 - nu))
    less, more = 1.0 - 2.0 * nu, 3.0 - 4.0 * nu
    for p in range(FAR_COUNT):
        rx, ry, rz = places[0, p] - x[0], places[1, p] - x[1], places[2, p] - x[2]
        nx, ny, nz = outward[0, p], outward[1, p], outward[2, p]
        per_length = 1.0 / np.sqrt(rx * rx + ry * ry + rz * rz)
        rx, ry, rz = rx * per_length, ry * per_length, rz * per_length
        t = t_scale * per_length * per_length
        along = rx * nx + ry * ny + rz * nz
        even, thrice, turn = t * less * along, 3.0 * t * along, t * less
        values[0, p] = thrice * rx * rx + even
        values[4, p] = thrice * ry * ry + even
        values[8, p] = thrice * rz * rz + even
        xy, xz, yz = thrice * rx * ry, thrice * rx * rz, thrice * ry * rz
        odd_xy, odd_xz = turn * (rx * ny - ry * nx), turn * (rx * nz - rz * nx)
        odd_yz = turn * (ry * nz - rz * ny)
        values[1, p], values[3, p] = xy - odd_xy, xy + odd_xy
        values[2, p], values[6, p] = xz - odd_xz, xz + odd_xz
        values[5, p], values[7, p] = yz - odd_yz, yz + odd_yz
        weight = np.sqrt(nx * nx + ny * ny + nz * nz) * per_length
        u = u_scale * weight
        values[9, p], values[10, p] = u * (rx * rx + more), u * rx * ry
        values[11, p], values[12, p] = u * rx * rz, u * (ry * ry + more)
        values[13, p], values[14, p] = u * ry * rz, u * (rz * rz + more)
        values[15, p] = weight


@njit(cache=True)
def _far_sums(values: Array, sums: Array) -> None:
    """Set the integrals ``(16, 6)`` of the kernels times shape functions (tractions) or hats."""
    for c in range(VALUES):
        table = FAR_SHAPES if c < 9 else FAR_HATS
        for k in range(6):
            sums[c, k] = 0.0
        for p in range(FAR_COUNT):
            value = values[c, p]
            for k in range(6):
                sums[c, k] += value * table[p, k]


@njit(cache=True)
def _near_sums(i: int, points: Array, element: IntArray, nu: float, sums: Array) -> None:
    """Set the integrals as ``_far_sums`` by finer quadrature, seen from node i."""
    t_part, u_part, r_part = np.zeros((6, 3, 3)), np.empty((3, 3, 3)), np.empty(3)
    nodes = np.empty((6, 3))
    for k in range(6):
        nodes[k] = points[element[k]]
    sums[:] = 0.0
    for q in range(4):
        own = -1
        for k in range(3):
            if element[PARTS[q, k]] == i:
                own = k
        u_part[:], r_part[:] = 0.0, 0.0
        _integrate(points[i], nodes, q, own, nu, t_part, u_part, r_part)
        for k in range(3):
            j = PARTS[q, k]
            sums[15, j] += r_part[k]
            for a in range(3):
                for b in range(a, 3):
                    sums[9 + SYMMETRIC[a, b], j] += u_part[k, a, b]
    for k in range(6):
        for a in range(3):
            for b in range(3):
                sums[3 * a + b, k] = t_part[k, a, b]


@njit(cache=True)
def _integrate(x: Array, nodes: Array, q: int, own: int, nu: float, t_part: Array, u_part: Array,
               r_part: Array) -> None:
    """Add the integrals over one part of an element, seen from x; ``own`` is x's corner."""
    frame = np.empty((3, 3))
    if own >= 0:
        for k in range(3):
            frame[k] = 0.0
            frame[k, (own + k) % 3] = 1.0
        _quadrature(x, nodes, q, frame, 1.0, VERTEX_POINTS, VERTEX_WEIGHTS, nu, t_part, u_part,
                    r_part)
        return
    frames = np.empty((3 * MAX_DIVISIONS + 4, 3, 3))
    levels = np.zeros(3 * MAX_DIVISIONS + 4, np.int64)
    frames[0] = np.eye(3)
    waiting = 1
    corners, middles = np.empty((3, 3)), np.empty((3, 3))
    for k in range(3):
        corners[k] = nodes[PARTS[q, k]]
    while waiting:
        waiting -= 1
        frame[:] = frames[waiting]
        level = levels[waiting]
        ratio = _distance_ratio(x, corners, frame)
        if ratio < NEAR_RATIO and level < MAX_DIVISIONS:
            for k in range(3):
                middles[k] = 0.5 * (frame[k] + frame[(k + 1) % 3])
            for k in range(3):
                frames[waiting + k, 0], frames[waiting + k, 1] = frame[k], middles[k]
                frames[waiting + k, 2] = middles[(k + 2) % 3]
            frames[waiting + 3] = middles
            levels[waiting:waiting + 4] = level + 1
            waiting += 4
            continue
        places, weights = ((SEVEN_POINTS, SEVEN_WEIGHTS) if ratio < FAR_RATIO else
                           (THREE_POINTS, THREE_WEIGHTS))
        _quadrature(x, nodes, q, frame, 0.25 ** level, places, weights, nu, t_part, u_part, r_part)


@njit(cache=True)
def _distance_ratio(x: Array, corners: Array, frame: Array) -> float:
    """Return the distance of a part's middle from x over the length of its longest side."""
    near, longest = 0.0, 0.0
    for k in range(3):
        side = 0.0
        for b in range(3):
            step = 0.0
            for c in range(3):
                step += (frame[k, c] - frame[(k + 1) % 3, c]) * corners[c, b]
            side += step * step
        longest = max(longest, side)
    for b in range(3):
        place = 0.0
        for c in range(3):
            place += (frame[0, c] + frame[1, c] + frame[2, c]) / 3.0 * corners[c, b]
        near += (place - x[b]) ** 2
    return np.sqrt(near / longest)


@njit(cache=True)
def _quadrature(x: Array, nodes: Array, q: int, frame: Array, share: float, places: Array,
                weights: Array, nu: float, t_part: Array, u_part: Array, r_part: Array) -> None:
    """Add the quadrature over a share of a part, its corners the rows of ``frame``."""
    u_scale = (1.0 + nu) / (8.0 * np.pi * (1.0 - nu))
    t_scale = -1.0 / (8.0 * np.pi * (1.0 - nu))
    hats, r, place = np.empty(3), np.empty(3), np.empty(3)
    shapes, n = np.empty(6), np.empty(3)
    for p in range(len(weights)):
        for k in range(3):
            hats[k] = (places[p, 0] * frame[0, k] + places[p, 1] * frame[1, k]
                       + places[p, 2] * frame[2, k])
        for b in range(3):
            place[b] = 0.0
            for k in range(3):
                place[b] += hats[k] * TRIANGLE_NODES[PARTS[q, k], b]
        # A part has a quarter of the reference triangle's area, which is a half.
        weight = 0.125 * weights[p] * share * surface_element(nodes, place, shapes, n)
        square = 0.0
        for b in range(3):
            r[b] = -x[b]
            for k in range(6):
                r[b] += shapes[k] * nodes[k, b]
            square += r[b] * r[b]
        length = np.sqrt(square)
        for b in range(3):
            r[b] /= length
        along = r[0] * n[0] + r[1] * n[1] + r[2] * n[2]
        u_weight, t_weight = u_scale * weight / length, t_scale * weight / square
        for a in range(3):
            for b in range(3):
                u_value, t_value = r[a] * r[b], 3.0 * r[a] * r[b] * along
                if a == b:
                    u_value += 3.0 - 4.0 * nu
                    t_value += (1.0 - 2.0 * nu) * along
                t_value -= (1.0 - 2.0 * nu) * (r[a] * n[b] - r[b] * n[a])
                for k in range(3):
                    u_part[k, a, b] += u_weight * hats[k] * u_value
                for k in range(6):
                    t_part[k, a, b] += t_weight * shapes[k] * t_value
        for k in range(3):
            r_part[k] += weight * hats[k] / length
