"""Slow, plain answers to contact questions: every triangle, no tree, no tolerance tricks."""

import numpy as np
from scipy.optimize import minimize

#: Hits within this of a triangle's edge count, relative to its size.
EDGE_SLACK = 1e-12


def first_hits(corners, points, direction):
    """
    Return nearest distances ahead ``(k,)`` and whether they are exits, over all triangles.

    Source: Moeller and Trumbore, Fast, minimum storage ray/triangle intersection, 1997.
    """
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    e1, e2 = b - a, c - a
    p = np.cross(direction, e2)
    determinant = np.einsum('fi,fi->f', e1, p)
    usable = determinant != 0.0
    inverse = np.where(usable, 1.0 / np.where(usable, determinant, 1.0), 0.0)
    distances, exits = np.full(len(points), np.inf), np.zeros(len(points), bool)
    for i, point in enumerate(points):
        s = point - a
        q = np.cross(s, e1)
        u = np.einsum('fi,fi->f', s, p) * inverse
        v = (q @ direction) * inverse
        t = np.einsum('fi,fi->f', e2, q) * inverse
        hit = usable & (u >= -EDGE_SLACK) & (v >= -EDGE_SLACK) & (u + v <= 1.0 + EDGE_SLACK)
        t = np.where(hit & (t > 0.0), t, np.inf)
        nearest = int(np.argmin(t))
        distances[i] = t[nearest]
        exits[i] = np.isfinite(t[nearest]) and determinant[nearest] < 0.0
    return distances, exits


def winding_numbers(corners, points):
    """
    Return the generalised winding number ``(k,)`` of a closed surface about each point.

    Source: solid angles after van Oosterom and Strackee, 1983.
    """
    numbers = np.zeros(len(points))     # of what is outside its box, too
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    vertices, faces = np.unique(corners.reshape(-1, 3), axis=0, return_inverse=True)
    faces = faces.reshape(-1, 3)
    for i in np.flatnonzero(((points >= low) & (points <= high)).all(axis=1)):
        ways = vertices - points[i]
        lengths = np.sqrt(_dots(ways, ways))
        (a, b, c), (la, lb, lc) = ways[faces.T], lengths[faces.T]
        triple = _dots(a, _crossed(b, c))
        scale = la * lb * lc + _dots(a, b) * lc + _dots(b, c) * la + _dots(c, a) * lb
        numbers[i] = np.arctan2(triple, scale).sum() / (2.0 * np.pi)
    return numbers


def _dots(a, b):
    """Return the scalar products of rows."""
    return np.einsum('fi,fi->f', a, b)


def _crossed(a, b):
    """Return the vector products of rows; numpy's own takes four times as long."""
    (ax, ay, az), (bx, by, bz) = a.T, b.T
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=1)


def hull_distance(a, b):
    """Return the distance of the convex hulls of two point clouds, by a programme in weights."""
    def gap(weights):
        delta = weights[:len(a)] @ a - weights[len(a):] @ b
        gradient = np.concatenate([a @ delta, -(b @ delta)])
        return 0.5 * delta @ delta, gradient
    start = np.concatenate([np.full(len(a), 1.0 / len(a)), np.full(len(b), 1.0 / len(b))])
    rows = [{'type': 'eq', 'fun': lambda w: w[:len(a)].sum() - 1.0},
            {'type': 'eq', 'fun': lambda w: w[len(a):].sum() - 1.0}]
    answer = minimize(gap, start, jac=True, bounds=[(0.0, 1.0)] * len(start),
                      constraints=rows, method='SLSQP',
                      options={'ftol': 1e-16, 'maxiter': 500})
    return float(np.sqrt(2.0 * answer.fun))


def point_triangle_distances(corners, points):
    """Return the least distance ``(k,)`` of each point to any triangle, region by region."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    normal = np.cross(b - a, c - a)
    squared = _dots(normal, normal)
    sides = []
    for start, end in ((a, b), (b, c), (c, a)):
        edge = end - start
        length = _dots(edge, edge)
        # Edge times way is positive along the normal where the way times this is.
        sides.append((start, edge, np.where(length > 0.0, length, 1.0), np.cross(normal, edge)))
    return np.array([_least_distance(point, a, normal, squared, sides) for point in points])


def _least_distance(point, a, normal, squared, sides):
    height, inside = _dots(point - a, normal), squared > 0.0
    nearest = np.full(len(a), np.inf)
    for start, edge, length, inward in sides:
        way = point - start
        inside &= _dots(way, inward) >= 0.0
        left = way - np.clip(_dots(way, edge) / length, 0.0, 1.0)[:, None] * edge
        nearest = np.minimum(nearest, _dots(left, left))
    plane = np.abs(height) / np.sqrt(np.where(squared > 0.0, squared, 1.0))
    return np.where(inside, np.minimum(plane, np.sqrt(nearest)), np.sqrt(nearest)).min()
