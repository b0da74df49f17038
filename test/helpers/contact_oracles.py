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
    for i in np.flatnonzero(((points >= low) & (points <= high)).all(axis=1)):
        a, b, c = (corners[:, k] - points[i] for k in range(3))
        la, lb, lc = (np.linalg.norm(x, axis=1) for x in (a, b, c))
        triple = np.einsum('fi,fi->f', a, np.cross(b, c))
        scale = (la * lb * lc + np.einsum('fi,fi->f', a, b) * lc
                 + np.einsum('fi,fi->f', b, c) * la + np.einsum('fi,fi->f', c, a) * lb)
        numbers[i] = np.arctan2(triple, scale).sum() / (2.0 * np.pi)
    return numbers


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
    return np.array([_distances_to_all(corners, point).min() for point in points])


def _distances_to_all(corners, point):
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    normal = np.cross(b - a, c - a)
    squared = np.einsum('fi,fi->f', normal, normal)
    height = np.einsum('fi,fi->f', point - a, normal)
    inside = np.ones(len(corners), bool)
    nearest = np.full(len(corners), np.inf)
    for start, end in ((a, b), (b, c), (c, a)):
        edge = end - start
        inside &= np.einsum('fi,fi->f', np.cross(edge, point - start), normal) >= 0.0
        length = np.einsum('fi,fi->f', edge, edge)
        along = np.einsum('fi,fi->f', point - start, edge) / np.where(length > 0, length, 1.0)
        foot = start + np.clip(along, 0.0, 1.0)[:, None] * edge
        nearest = np.minimum(nearest, np.linalg.norm(point - foot, axis=1))
    plane = np.abs(height) / np.sqrt(np.where(squared > 0.0, squared, 1.0))
    return np.where(inside & (squared > 0.0), np.minimum(plane, nearest), nearest)
