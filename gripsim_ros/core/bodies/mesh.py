"""Triangle meshes: frozen arrays with the derived quantities every stage needs."""

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array, BoolArray, IntArray
from ..errors import MeshError, ShapeError
from ..fields import checked_array
from ..transforms import apply, cross
from .topology import EdgeTable, connected_labels, edge_table
from .triangles import corner_bounds, face_middles, face_vectors, turns_at_edges


ArrayT = TypeVar('ArrayT', bound=NDArray[Any])

#: Largest angle of normals at an edge of the tessellation; beyond, it is the body's [rad].
SMOOTH_ANGLE = np.deg2rad(30.0)


def frozen_array(array: ArrayT) -> ArrayT:
    """Return ``array`` itself, made read-only."""
    array.setflags(write=False)
    return array


def lengths(vectors: Array) -> Array:
    """Return the lengths ``(...,)`` of ``vectors (..., 3)``: numpy's bits, in half its time."""
    x, y, z = vectors[..., 0], vectors[..., 1], vectors[..., 2]
    return np.asarray(np.sqrt(x * x + y * y + z * z))


def unit_rows(vectors: Array) -> Array:
    """Return ``vectors (..., 3)`` at length 1; a zero vector stays zero."""
    norms = lengths(vectors)[..., None]
    return vectors / np.where(norms > 0.0, norms, 1.0)


def row_dot(a: Array, b: Array) -> Array:
    """Return the scalar products ``(...,)`` of rows ``a, b (..., 3)``."""
    return np.einsum('...i,...i->...', a, b)


def _checked_vertices(vertices: ArrayLike) -> Array:
    array = checked_array(vertices, 'vertices', 'V', 3, finite=False)
    bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if bad.size:
        raise ShapeError(
            f'vertices must be finite, got {bad.size} that are not (the first is {bad[0]})')
    return array + 0.0


def _checked_faces(faces: ArrayLike, vertex_count: int) -> IntArray:
    try:
        array = np.asarray(faces)
    except ValueError:
        raise ShapeError('faces must be integers of shape (F, 3)') from None
    if array.ndim != 2 or array.shape[1] != 3:
        raise ShapeError(f'faces must have shape (F, 3), got {array.shape}')
    if array.dtype.kind not in 'iu':
        raise ShapeError(f'faces must be integers, got {array.dtype}')
    if not len(array):
        raise MeshError('a mesh needs at least one face, got none')
    low, high = int(array.min()), int(array.max())
    if low < 0 or high >= vertex_count:
        raise MeshError(f'faces must index vertices 0 to {vertex_count - 1}, got {low} to {high}')
    return np.array(array, dtype=np.int64, order='C')


#: What follows from the faces alone, whatever the places of the vertices.
OF_FACES = ('_edge_table', '_edge_sides', 'is_closed')


@dataclass(frozen=True, eq=False)
class TriangleMesh:
    """
    A triangulated surface; faces are counter-clockwise seen from outside.

    The arrays are copied and read-only; what follows from them is computed at first
    use and kept. A mesh need not be closed or clean: that is the business of
    ``repair_mesh``.

    Attributes
    ----------
    vertices : (V, 3) float
        [m].
    faces : (F, 3) int
        Vertex indices. Side k of a face leads from its corner k to corner k + 1.

    Raises
    ------
    ShapeError
        An array has another shape or type, or a coordinate is not finite.
    MeshError
        There is no face, or a face names a vertex that does not exist.
    """

    vertices: Array
    faces: IntArray

    def __post_init__(self) -> None:
        """Copy, check and freeze the arrays."""
        vertices = _checked_vertices(self.vertices)
        faces = _checked_faces(self.faces, len(vertices))
        object.__setattr__(self, 'vertices', frozen_array(vertices))
        object.__setattr__(self, 'faces', frozen_array(faces))

    def with_vertices(self, vertices: ArrayLike) -> 'TriangleMesh':
        """Return the same faces on other ``vertices (V, 3)`` [m]; known edges stay known."""
        mesh = TriangleMesh(np.asarray(vertices), self.faces)
        vars(mesh).update((name, vars(self)[name]) for name in OF_FACES if name in vars(self))
        return mesh

    def with_faces(self, faces: ArrayLike) -> 'TriangleMesh':
        """Return other ``faces (F, 3)`` on the same vertices."""
        return TriangleMesh(self.vertices, np.asarray(faces))

    def with_transform(self, T_a_mesh: Array) -> 'TriangleMesh':
        """Return the mesh in frame a, where ``T_a_mesh (4, 4)`` is its pose."""
        return self.with_vertices(apply(T_a_mesh, self.vertices))

    def with_scale(self, scale: float) -> 'TriangleMesh':
        """Return the mesh enlarged by ``scale`` > 0 about its origin."""
        return self.with_vertices(scale * self.vertices)

    def with_flipped_faces(self) -> 'TriangleMesh':
        """Return the mesh turned inside out."""
        return self.with_faces(self.faces[:, ::-1])

    def take_edges(self, table: EdgeTable) -> None:
        """Keep the edges of the faces, where they are known."""
        vars(self)['_edge_table'] = replace(table)      # without what else it has come to know

    def clear_derived(self) -> None:
        """
        Drop the arrays that follow from vertices and faces; they are computed again at use.

        They take some seven times the room of the mesh itself.
        """
        for name, value in list(vars(self).items()):
            if name not in ('vertices', 'faces') and not isinstance(value, (str, float)):
                vars(self).pop(name, None)

    @cached_property
    def content_hash(self) -> str:
        """Return 64 hexadecimal digits of SHA-256 over vertices and faces."""
        digest = hashlib.sha256()
        digest.update(np.array([len(self.vertices), len(self.faces)], '<i8').tobytes())
        digest.update(self.vertices.astype('<f8', copy=False).tobytes())
        digest.update(self.faces.astype('<i8', copy=False).tobytes())
        return digest.hexdigest()

    @cached_property
    def triangles(self) -> Array:
        """Return the corners ``(F, 3, 3)`` of the faces [m]."""
        return frozen_array(self.vertices[self.faces])

    @cached_property
    def face_centroids(self) -> Array:
        """Return the centroids ``(F, 3)`` of the faces [m]."""
        return frozen_array(face_middles(self.vertices, self.faces))

    @cached_property
    def _face_vectors(self) -> Array:
        return frozen_array(face_vectors(self.vertices, self.faces))

    @cached_property
    def face_areas(self) -> Array:
        """Return the areas ``(F,)`` of the faces [m^2]."""
        return frozen_array(lengths(self._face_vectors))

    @cached_property
    def face_normals(self) -> Array:
        """Return the outward unit normals ``(F, 3)``, zero where a face has no area."""
        return frozen_array(unit_rows(self._face_vectors))

    @cached_property
    def corner_angles(self) -> Array:
        """Return the interior angles ``(F, 3)`` of the faces at their corners [rad]."""
        to_next = unit_rows(np.roll(self.triangles, -1, axis=1) - self.triangles)
        to_previous = -np.roll(to_next, 1, axis=1)
        sine = lengths(cross(to_next, to_previous))
        return frozen_array(np.arctan2(sine, row_dot(to_next, to_previous)))

    @cached_property
    def vertex_normals(self) -> Array:
        """
        Return unit vertex normals ``(V, 3)``, faces weighted by their angle.

        Source: Thuermer and Wuethrich, Computing vertex normals from polygonal
        facets, 1998. Unlike a mean by area it does not depend on the triangulation.
        """
        weighted = self.corner_angles[..., None] * self.face_normals[:, None]
        return frozen_array(unit_rows(self._sum_at_vertices(weighted)))

    @cached_property
    def vertex_areas(self) -> Array:
        """Return the areas ``(V,)``: a third of every face at the vertex [m^2]."""
        thirds = np.repeat(self.face_areas[:, None] / 3.0, 3, axis=1)
        return frozen_array(self._sum_at_vertices(thirds[..., None])[:, 0])

    def _sum_at_vertices(self, corner_values: Array) -> Array:
        """Return sums ``(V, k)`` over the corners at each vertex of values ``(F, 3, k)``."""
        return sum_by_label(
            corner_values.reshape(-1, corner_values.shape[-1]), self.faces.ravel(),
            len(self.vertices))

    @cached_property
    def _bounds(self) -> tuple[Array, Array]:
        return corner_bounds(self.vertices, self.faces)

    @property
    def bounds(self) -> Array:
        """Return the corners ``(2, 3)`` of the box along the axes, of used vertices [m]."""
        return frozen_array(self._bounds[0])

    @cached_property
    def middle(self) -> Array:
        """Return the mean ``(3,)`` of the corners of all faces [m]."""
        return frozen_array(self._bounds[1] / (3 * len(self.faces)))

    @cached_property
    def extents(self) -> Array:
        """Return the sides ``(3,)`` of the box along the axes [m]."""
        return frozen_array(self.bounds[1] - self.bounds[0])

    @cached_property
    def diagonal(self) -> float:
        """Return the diagonal of the box along the axes [m]."""
        return float(np.linalg.norm(self.extents))

    @cached_property
    def area(self) -> float:
        """Return the surface area [m^2]."""
        return float(self.face_areas.sum())

    @cached_property
    def volume(self) -> float:
        """Return the signed enclosed volume [m^3]; it has a meaning for closed meshes."""
        centre = self.bounds.mean(axis=0)
        return float(row_dot(self.face_centroids - centre, self._face_vectors).sum() / 3.0)

    @cached_property
    def _edge_table(self) -> EdgeTable:
        return edge_table(self.faces)

    @cached_property
    def _edge_sides(self) -> IntArray:
        """Return the sides (E, 2) of ``edge_faces``, numbered through the faces."""
        table = self._edge_table
        pairs = table.pairs[0][table.pairs[1]]
        backward = ~table.forward.ravel()[pairs[:, 0]]
        sides = np.full((len(table.keys), 2), -1, dtype=np.int64)
        sides[table.edge_of_side.ravel()[pairs[:, 0]]] = np.where(
            backward[:, None], pairs[:, ::-1], pairs)
        return frozen_array(sides)

    @cached_property
    def edges(self) -> IntArray:
        """Return the edges ``(E, 2)``: vertex indices, the lower one first."""
        return frozen_array(self._edge_table.ends)

    @cached_property
    def face_edges(self) -> IntArray:
        """Return the edge ``(F, 3)`` on which side k of each face lies."""
        return frozen_array(self._edge_table.edge_of_side)

    @cached_property
    def edge_faces(self) -> IntArray:
        """
        Return the two faces ``(E, 2)`` that each edge joins.

        The first runs along the edge as in ``edges``, the second against it. Both are
        -1 where the edge does not join exactly two faces of one winding.
        """
        sides = self._edge_sides
        return frozen_array(np.where(sides < 0, -1, sides // 3))

    @cached_property
    def face_neighbours(self) -> IntArray:
        """Return the face ``(F, 3)`` across side k, -1 where there is none or no single one."""
        pair = self.edge_faces[self.face_edges]
        own = np.arange(len(self.faces))[:, None]
        return frozen_array(np.where(pair[..., 0] == own, pair[..., 1], pair[..., 0]))

    @cached_property
    def dihedral_angles(self) -> Array:
        """
        Return the angles ``(E,)`` between the normals of the two faces at an edge [rad].

        0 is flat, positive is a ridge, negative a groove; pi where ``edge_faces`` is -1.
        """
        angles = np.arctan2(*turns_at_edges(
            self.vertices, self.edges, self.face_normals, self.edge_faces))
        angles[self.edge_faces[:, 0] < 0] = np.pi
        return frozen_array(angles)

    @cached_property
    def is_closed(self) -> bool:
        """Return whether every edge is run along as often as against: no boundary."""
        return not self._edge_table.net.any()

    def smooth_sides(self, angle: float = SMOOTH_ANGLE) -> IntArray:
        """
        Return the smooth side of the body on which each face lies.

        Parameters
        ----------
        angle : float
            Edges whose normals differ by more divide sides [rad].

        Returns
        -------
        (F,) int
            Labels from 0, in the order of the first face of each side.
        """
        return connected_labels(self.edge_faces[self._smooth_edges(angle)], len(self.faces))

    def _smooth_edges(self, angle: float) -> BoolArray:
        return (self.edge_faces[:, 0] >= 0) & (np.abs(self.dihedral_angles) <= angle)

    def corner_normals(self, angle: float = SMOOTH_ANGLE) -> Array:
        """
        Return a normal at each corner of each face, for curved interpolation.

        It is the mean normal, weighted by angle, of the faces reached round the vertex
        without crossing an edge sharper than ``angle``; so two faces at a smooth edge
        have equal normals along it, and a flat side stays flat up to its sharp edge.

        Parameters
        ----------
        angle : float
            [rad].

        Returns
        -------
        (F, 3, 3) float
            Unit normals of corner k of each face; zero where every face is degenerate.

        Notes
        -----
        Corners are nodes of a graph; a smooth edge joins the corners at its two ends.
        Source: the normals of Vlachos et al., Curved PN triangles, 2001, section 3, with
        the creases of own derivation.
        """
        sides = self._edge_sides[self._smooth_edges(angle)]
        first, second = sides.T
        after_first = first - first % 3 + (first + 1) % 3
        after_second = second - second % 3 + (second + 1) % 3
        joints = np.concatenate([
            np.stack([first, after_second], axis=1), np.stack([after_first, second], axis=1)])
        labels = connected_labels(joints, self.faces.size)
        weighted = self.corner_angles[..., None] * self.face_normals[:, None]
        sums = sum_by_label(weighted.reshape(-1, 3), labels, int(labels.max()) + 1)
        return unit_rows(sums)[labels].reshape(-1, 3, 3)


def sum_by_label(values: Array, labels: IntArray, count: int) -> Array:
    """Return sums ``(count, k)`` of rows ``values (n, k)`` that share a label ``(n,)``."""
    return np.stack([np.bincount(labels, column, minlength=count) for column in values.T], axis=1)


def mean_by_row(values: Array, rows: IntArray) -> tuple[Array, IntArray]:
    """Return the means ``(m, k)`` of values ``(n, k)`` whose rows are equal, and whose each is."""
    _, labels, counts = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    labels = labels.reshape(-1)
    return sum_by_label(values, labels, len(counts)) / counts[:, None], labels
