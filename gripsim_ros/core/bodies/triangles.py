"""
What follows from the corners of each of many triangles, face by face without tables between.

Kernels add in the order in which numpy did, so that numbers are the same to the last digit.
"""

import numpy as np

from ..arrays import Array, IntArray
from ..numerics.kernels import njit, read_only
from ..numerics.vec3 import Mat3, Vec3, cross, load_vec3, store_vec3, subtract


@njit(cache=True, forceinline=True)
def pair_dot(a: Vec3, b: Vec3) -> float:
    """Return the inner product as numpy's ``einsum`` sums it."""
    return (a[0] * b[0] + a[2] * b[2]) + a[1] * b[1]


@njit(cache=True, forceinline=True)
def corners_of(vertices: Array, faces: IntArray, f: int) -> Mat3:
    """Return the corners of one of ``faces (F, 3)``."""
    return (load_vec3(vertices, faces[f, 0]), load_vec3(vertices, faces[f, 1]),
            load_vec3(vertices, faces[f, 2]))


def face_vectors(vertices: Array, faces: IntArray) -> Array:
    """Return vectors ``(F, 3)`` along the normals of faces, as long as these are large [m^2]."""
    return _face_vectors(read_only(vertices), read_only(faces, np.int64))


@njit(cache=True, nogil=True)
def _face_vectors(vertices: Array, faces: IntArray) -> Array:
    vectors = np.empty((len(faces), 3))
    for f in range(len(faces)):
        a, b, c = corners_of(vertices, faces, f)
        x, y, z = cross(subtract(b, a), subtract(c, a))
        store_vec3(vectors, f, (0.5 * x, 0.5 * y, 0.5 * z))
    return vectors


def face_middles(vertices: Array, faces: IntArray) -> Array:
    """Return the middles ``(F, 3)`` of faces [m]."""
    return _face_middles(read_only(vertices), read_only(faces, np.int64))


@njit(cache=True, nogil=True)
def _face_middles(vertices: Array, faces: IntArray) -> Array:
    middles = np.empty((len(faces), 3))
    for f in range(len(faces)):
        for k in range(3):
            middles[f, k] = (vertices[faces[f, 0], k] + vertices[faces[f, 1], k]
                             + vertices[faces[f, 2], k]) / 3.0
    return middles


def corner_bounds(vertices: Array, faces: IntArray) -> tuple[Array, Array]:
    """Return the corners ``(2, 3)`` of the box round faces, and the sum ``(3,)`` of theirs [m]."""
    return _corner_bounds(read_only(vertices), read_only(faces, np.int64))


@njit(cache=True, nogil=True)
def _corner_bounds(vertices: Array, faces: IntArray) -> tuple[Array, Array]:
    bounds, total = np.empty((2, 3)), np.zeros(3)
    for k in range(3):
        bounds[0, k], bounds[1, k] = np.inf, -np.inf
    for f in range(len(faces)):
        for corner in range(3):
            for k in range(3):
                value = vertices[faces[f, corner], k]
                bounds[0, k], bounds[1, k] = min(bounds[0, k], value), max(bounds[1, k], value)
                total[k] += value
    return bounds, total


def face_heights(vertices: Array, faces: IntArray) -> Array:
    """Return the smallest height ``(...,)`` of each of the faces ``(..., 3)`` [m]."""
    rows = read_only(faces, np.int64)
    return _face_heights(read_only(vertices), rows.reshape(-1, 3)).reshape(rows.shape[:-1])


@njit(cache=True, nogil=True)
def _face_heights(vertices: Array, faces: IntArray) -> Array:
    heights = np.empty(len(faces))
    for f in range(len(faces)):
        a, b, c = corners_of(vertices, faces, f)
        ab, bc, ca = subtract(b, a), subtract(c, b), subtract(a, c)
        longest = np.sqrt(max(pair_dot(ab, ab), max(pair_dot(bc, bc), pair_dot(ca, ca))))
        x, y, z = cross(ab, bc)
        heights[f] = np.sqrt(x * x + y * y + z * z) / (longest if longest > 0.0 else 1.0)
    return heights


def sphere_sums(vertices: Array, faces: IntArray) -> Array:
    """
    Return sums ``(V, 3)`` along the normals of a sphere through a vertex and its neighbours.

    Source: Max, Weights for computing vertex normals from facet normals, 1999.
    """
    return _sphere_sums(read_only(vertices), read_only(faces, np.int64))


@njit(cache=True, nogil=True)
def _sphere_sums(vertices: Array, faces: IntArray) -> Array:
    sums = np.zeros((len(vertices), 3))
    for f in range(len(faces)):
        corners = corners_of(vertices, faces, f)
        for k in range(3):
            out = subtract(corners[(k + 1) % 3], corners[k])
            back = subtract(corners[(k + 2) % 3], corners[k])
            squares = pair_dot(out, out) * pair_dot(back, back)
            way = cross(out, back)
            for i in range(3):
                sums[faces[f, k], i] += way[i] / (squares if squares > 0.0 else 1.0)
    return sums


def turns_at_edges(vertices: Array, ends: IntArray, normals: Array,
                   pairs: IntArray) -> tuple[Array, Array]:
    """
    Return sine and cosine ``(E,)`` of the angles between the normals at edges.

    Parameters
    ----------
    vertices : (V, 3) float
    ends, pairs : (E, 2) int
        Vertices and faces of each edge; of pairs of -1 the numbers say nothing.
    normals : (F, 3) float
        Of unit length.
    """
    return _turns_at_edges(read_only(vertices), read_only(ends, np.int64), read_only(normals),
                           read_only(pairs, np.int64))


@njit(cache=True, nogil=True)
def _turns_at_edges(vertices: Array, ends: IntArray, normals: Array,
                    pairs: IntArray) -> tuple[Array, Array]:
    sines, cosines = np.empty(len(ends)), np.empty(len(ends))
    for e in range(len(ends)):
        x, y, z = subtract(load_vec3(vertices, ends[e, 1]), load_vec3(vertices, ends[e, 0]))
        norm = np.sqrt(x * x + y * y + z * z)
        norm = norm if norm > 0.0 else 1.0
        one, other = load_vec3(normals, pairs[e, 0]), load_vec3(normals, pairs[e, 1])
        sines[e] = pair_dot(cross(one, other), (x / norm, y / norm, z / norm))
        cosines[e] = pair_dot(one, other)
    return sines, cosines
