"""Points moved onto the curved surface of a body, so that its facets are not felt."""

import numpy as np
from numba import njit

from ...arrays import Array, IntArray
from ...contact import ContactMesh
from ...contact.geometry.closest_point import closest_points
from ...contact.geometry.curved_surface import CurvedSurface, lift_onto_surface
from ...numerics.vec3 import cross, dot, load_mat3_at, load_vec3, subtract


def closest_on_surface(surface: ContactMesh, points: Array) -> tuple[Array, IntArray]:
    """
    Return where points come to lie on a mesh's curved surface, and its smooth sides there.

    Positions (k, 3) [m] and labels of sides (k,), from points (k, 3). Each goes to the nearest
    point of the facets, and from there along the facet's normal.
    """
    _, closest, positions = closest_points(surface.tree, points, np.inf)
    lifted = _lifted(surface.tree.corners, surface.surface, closest, positions)
    return lifted, surface.surface.sides[positions]


@njit(cache=True, error_model='numpy')
def _lifted(corners: Array, surface: CurvedSurface, points: Array, positions: IntArray) -> Array:
    lifted = points.copy()
    for k in range(len(points)):
        a, b, c = load_mat3_at(corners, positions[k])
        p = load_vec3(points, k)
        normal = cross(subtract(b, a), subtract(c, a))
        squared = dot(normal, normal)
        if not squared > 0.0:
            continue
        u = dot(cross(subtract(b, p), subtract(c, p)), normal) / squared
        v = dot(cross(subtract(c, p), subtract(a, p)), normal) / squared
        length = np.sqrt(squared)
        way = (normal[0] / length, normal[1] / length, normal[2] / length)
        _, moved, _ = lift_onto_surface(corners, surface.normals, surface.limits, positions[k],
                                        (u, v, 1.0 - u - v), way)
        for i in range(3):
            lifted[k, i] = moved[i]
    return lifted
