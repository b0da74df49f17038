"""
Boundary integrals of elasticity over a triangulated surface: compiled kernels.

Kelvin's solution and its tractions (Rizzo 1967; Becker, The Boundary Element Method in
Engineering, 1992, chapter 6), quadratic displacements and linear hats of traction, collocation
at the nodes. Derivations and limits: docs/model/compliance.md.
"""

import numpy as np

from ...arrays import Array, IntArray
from ...numerics.kernels import njit


#: Distance over a triangle's size beyond which the fewest points do [-].
FAR_RATIO = 4.0
#: Distance over the size within which it is divided into four, ``MAX_DIVISIONS`` times at most.
NEAR_RATIO = 1.5
MAX_DIVISIONS = 5

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


@njit(cache=True)
def assemble(points: Array, elements: IntArray, normals: Array, poisson_ratio: float,
             rigid: Array) -> tuple[Array, Array, Array, Array, Array]:
    """
    Return the boundary integrals of a closed surface at E = 1 Pa.

    Parameters
    ----------
    points, normals : (n, 3) float
        Nodes [m], and unit normals into the body along which they are loaded.
    elements : (m, 6) int
        Quadratic triangles: corners counter-clockwise seen from outside, then the middles
        of the sides 01, 12, 20.
    poisson_ratio : float
    rigid : (n, 3, k) float
        Tractions at the nodes, linear on the elements' parts.

    Returns
    -------
    traction : (3 n, 3 n) float
        Acts on the displacements of the nodes, free terms included.
    loads : (3 n, n) float
        Right sides of hats of traction on the parts, along ``normals``, of force 1 N [m].
    balance : (3 n, k) float
        Right sides of the tractions ``rigid``.
    inverse : (n, n) float
        Mean of 1/r from a node over each hat [1/m].
    areas : (n,) float
        Integral of each hat [m^2].
    """
    count, modes = len(points), rigid.shape[2]
    traction = np.zeros((3 * count, 3 * count))
    loads, balance = np.zeros((3 * count, count)), np.zeros((3 * count, modes))
    inverse, areas = np.zeros((count, count)), nodal_areas(points, elements)
    t_part, u_part, r_part = np.empty((6, 3, 3)), np.empty((3, 3, 3)), np.empty(3)
    nodes = np.empty((6, 3))
    for i in range(count):
        for e in range(len(elements)):
            for k in range(6):
                nodes[k] = points[elements[e, k]]
            t_part[:] = 0.0
            for q in range(4):
                own = -1
                for k in range(3):
                    if elements[e, PARTS[q, k]] == i:
                        own = k
                u_part[:], r_part[:] = 0.0, 0.0
                _integrate(points[i], nodes, q, own, poisson_ratio, t_part, u_part, r_part)
                for k in range(3):
                    j = elements[e, PARTS[q, k]]
                    inverse[i, j] += r_part[k] / areas[j]
                    for a in range(3):
                        load = 0.0
                        for b in range(3):
                            load += u_part[k, a, b] * normals[j, b]
                            for m in range(modes):
                                balance[3 * i + a, m] += u_part[k, a, b] * rigid[j, b, m]
                        loads[3 * i + a, j] += load / areas[j]
            for k in range(6):
                j = elements[e, k]
                if j != i:
                    traction[3 * i:3 * i + 3, 3 * j:3 * j + 3] += t_part[k]
        for j in range(count):
            if j != i:
                traction[3 * i:3 * i + 3, 3 * i:3 * i + 3] -= traction[
                    3 * i:3 * i + 3, 3 * j:3 * j + 3]
    return traction, loads, balance, inverse, areas


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
                density = _surface(nodes, place, shapes, outward)
                for k in range(3):
                    areas[elements[e, PARTS[q, k]]] += (
                        0.125 * THREE_WEIGHTS[p] * density * THREE_POINTS[p, k])
    return areas


@njit(cache=True)
def _surface(nodes: Array, place: Array, shapes: Array, outward: Array) -> float:
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
        part = 0.25 ** level
        if ratio < FAR_RATIO:
            _quadrature(x, nodes, q, frame, part, SEVEN_POINTS, SEVEN_WEIGHTS, nu, t_part, u_part,
                        r_part)
        else:
            _quadrature(x, nodes, q, frame, part, THREE_POINTS, THREE_WEIGHTS, nu, t_part, u_part,
                        r_part)


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
                place[b] += hats[k] * NODES[PARTS[q, k], b]
        # A part has a quarter of the reference triangle's area, which is a half.
        weight = 0.125 * weights[p] * share * _surface(nodes, place, shapes, n)
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
