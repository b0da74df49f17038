"""
Vertices of each of two meshes that lie inside the other, and their way out.

Both directions are worked in the target's frame, on the meshes as they are given: no
merging, no repair, indices are the files' own.
"""

from dataclasses import dataclass, replace
import math

import numpy as np

from ...arrays import Array, IntArray
from ...errors import ShapeError
from ...transforms import apply, cross, inverse
from ..geometry.closest_point import closest_points, points_in_box
from ..geometry.contact_mesh import ContactMesh
from ..geometry.ray_casting import contains
from .kernels import mutual_penetration


#: Distance from the surface, over the target's size, within which points lie on it [-].
ON_SURFACE = 1e-12
_NO_LIMIT = np.inf


@dataclass(frozen=True, eq=False)
class PenetratingVertices:
    """
    Vertices of one mesh inside another.

    Attributes
    ----------
    vertices : (k,) int
        Indices in the mesh, ascending.
    depths : (k,) float
        Way to the first exit [m].
    points : (k, 3) float
        The exits [m].
    triangles : (k,) int
        Faces of the target on which the exits lie.
    weights : (k, 3) float
        Barycentric coordinates of the exits in them.
    """

    vertices: IntArray
    depths: Array
    points: Array
    triangles: IntArray
    weights: Array

    @classmethod
    def none(cls) -> 'PenetratingVertices':
        """Return that no vertex is inside."""
        return cls(np.zeros(0, np.int64), np.zeros(0), np.zeros((0, 3)), np.zeros(0, np.int64),
                   np.zeros((0, 3)))

    def with_transform(self, T_a_b: Array) -> 'PenetratingVertices':
        """Return these with the points of frame b in frame a."""
        return replace(self, points=apply(T_a_b, self.points))


@dataclass(frozen=True, eq=False)
class VertexContacts:
    """Penetrating vertices of a in b and of b in a; points in the frame of a."""

    a_in_b: PenetratingVertices
    b_in_a: PenetratingVertices


def vertex_contacts(a: ContactMesh, b: ContactMesh, T_a_b: Array,
                    direction: Array | None = None) -> VertexContacts:
    """
    Find the vertices of each of two closed meshes inside the other.

    Parameters
    ----------
    a, b : ContactMesh
    T_a_b : (4, 4) float
        Pose of b in a.
    direction : (3,) float, optional
        Motion of b relative to a, frame a, any length above 0. Vertices of a leave along
        it, those of b against it. Without one, the way out is the shortest.

    Returns
    -------
    VertexContacts

    Raises
    ------
    ShapeError
        The direction has no length or is not finite.

    Notes
    -----
    Source: narrow phase of the intersection paper. Departures: *all* triangles over a
    vertex are tried, and it is inside if its nearest hit is an exit. A vertex on the
    surface is not inside. Why this is exact: ``docs/model/contact.md``.
    """
    if direction is None:
        return _mutual_shortest(a, b, np.asarray(T_a_b, float))
    a_in_b, b_in_a = mutual_penetration(a.flat_tree, b.flat_tree, np.array(T_a_b, float),
                                        unit_direction(direction), ON_SURFACE)
    return VertexContacts(PenetratingVertices(*a_in_b), PenetratingVertices(*b_in_a))


def unit_direction(direction: Array) -> Array:
    """Return a direction ``(3,)`` of length 1; raises ShapeError where it has none."""
    d = np.array(direction, float)
    norm = math.hypot(*d) if d.shape == (3,) else math.nan
    if not (math.isfinite(norm) and norm > 0.0):
        raise ShapeError('a direction must be three finite numbers, not all zero, '
                         f'got {np.asarray(direction).tolist()}')
    return d / norm


def _mutual_shortest(a: ContactMesh, b: ContactMesh, T_a_b: Array) -> VertexContacts:
    a_in_b = _shortest_ways(a.mesh.vertices, b, inverse(T_a_b))
    return VertexContacts(a_in_b.with_transform(T_a_b), _shortest_ways(b.mesh.vertices, a, T_a_b))


def _shortest_ways(vertices: Array, target: ContactMesh,
                   T_target_query: Array) -> PenetratingVertices:
    """Find the vertices inside a target and their closest points, in its frame."""
    tree, near = target.tree, points_in_box(vertices, T_target_query, target.box)
    points = apply(T_target_query, vertices[near])
    inside = contains(tree, points)
    near, points = near[inside], points[inside]
    depths, exits, positions = closest_points(tree, points, _NO_LIMIT)
    deep = depths > ON_SURFACE * tree.size
    near, depths, exits, positions = near[deep], depths[deep], exits[deep], positions[deep]
    return PenetratingVertices(near, depths, exits, tree.faces[positions],
                               barycentric_weights(tree.corners[positions], exits))


def barycentric_weights(corners: Array, points: Array) -> Array:
    """Return weights ``(k, 3)`` of points of triangles; a sliver's are those of an edge."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    normals = cross(b - a, c - a)
    squared = np.einsum('ki,ki->k', normals, normals)
    safe = np.where(squared > 0.0, squared, 1.0)
    v = np.einsum('ki,ki->k', cross(points - a, c - a), normals) / safe
    w = np.einsum('ki,ki->k', cross(b - a, points - a), normals) / safe
    return np.stack([1.0 - v - w, v, w], axis=1)
