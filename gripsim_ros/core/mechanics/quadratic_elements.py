"""Quadratic triangles and tetrahedra: shape functions and their slopes at barycentric places."""

import numpy as np

from ..arrays import Array, IntArray

#: Corners of a triangle that its nodes 3 to 5 lie between.
TRIANGLE_SIDES = np.array([[0, 1], [1, 2], [2, 0]])
#: Corners and middles of a quadratic triangle's four parts.
PARTS = np.array([[0, 3, 5], [3, 1, 4], [5, 4, 2], [3, 4, 5]])
#: Barycentric coordinates of a triangle's six nodes.
TRIANGLE_NODES = np.vstack([np.eye(3), 0.5 * np.eye(3)[TRIANGLE_SIDES].sum(axis=1)])
#: Second derivatives (6, 2, 2) of their shape functions by the barycentrics 1 and 2.
TRIANGLE_CURVATURES = np.array([[[4, 4], [4, 4]], [[4, 0], [0, 0]], [[0, 0], [0, 4]],
                                [[-8, -4], [-4, 0]], [[0, 4], [4, 0]], [[0, -4], [-4, -8]]], float)
#: Corners of a tetrahedron that its nodes 4 to 9 lie between.
EDGES = np.array([[0, 1], [1, 2], [0, 2], [0, 3], [1, 3], [2, 3]])


def shape_functions(places: Array, sides: IntArray) -> Array:
    """
    Return the shape functions at places: those of the corners, then of the middles of sides.

    Parameters
    ----------
    places : (p, k) float
        Barycentric: k = 3 in a triangle, 4 in a tetrahedron.
    sides : (s, 2) int
        ``TRIANGLE_SIDES`` or ``EDGES``.

    Returns
    -------
    (p, k + s) float
    """
    return np.hstack([places * (2.0 * places - 1.0),
                      4.0 * places[:, sides[:, 0]] * places[:, sides[:, 1]]])


def shape_slopes(places: Array, sides: IntArray) -> Array:
    """Return their derivatives (p, k + s, k - 1) by the barycentrics 1 to k - 1."""
    along = np.eye(places.shape[1])[:, 1:]
    along[0] = -1.0
    i, j = sides.T
    middles = places[:, i, None] * along[j] + places[:, j, None] * along[i]
    return np.concatenate([(4.0 * places - 1.0)[:, :, None] * along, 4.0 * middles], axis=1)
