"""A mesh with everything that contact queries need, built once and on demand."""

from dataclasses import dataclass
from functools import cached_property
from typing import cast

from numpy.typing import ArrayLike

from ...arrays import Array, IntArray
from ...bodies import TriangleMesh
from ...bodies.oriented_box import OrientedBox, fit_oriented_box, refit_oriented_box
from ...bodies.topology import used_vertices
from .curved_surface import CurvedSurface, build_curved_surface, is_polyhedron
from .flat_tree import FlatTree, flatten_tree, refit_flat_tree
from .vp_tree import VpTree, build_vp_tree, refit_vp_tree


@dataclass(frozen=True, eq=False)
class ContactMesh:
    """
    A triangle mesh prepared for contact; its indices are those of the mesh given.

    Attributes
    ----------
    mesh : TriangleMesh
        In its own frame [m]. It may be a soup of unconnected triangles for vertex
        contacts; the curved surface needs merged vertices.
    """

    mesh: TriangleMesh

    @classmethod
    def from_arrays(cls, vertices: ArrayLike, faces: ArrayLike) -> 'ContactMesh':
        """Return the contact mesh of ``vertices (n, 3)`` [m] and ``faces (m, 3)``."""
        return cls(TriangleMesh(cast(Array, vertices), cast(IntArray, faces)))

    def with_vertices(self, vertices: ArrayLike) -> 'ContactMesh':
        """
        Return the contact mesh of the same faces with other vertices ``(n, 3)`` [m].

        Tree, box and arrays are fitted to them in time proportional to the faces; answers
        are as exact as those of a new mesh. Raises MeshError for another number of
        vertices or numbers that are not finite.
        """
        moved = ContactMesh(self.mesh.with_vertices(vertices))
        places, faces = moved.mesh.vertices, moved.mesh.faces
        arrays = self.flat_tree
        tree = refit_vp_tree(self.tree, places, faces)
        ordered = places[arrays.vertex_ids]
        box = refit_oriented_box(self.box, ordered[:int(arrays.sizes[0])])
        vars(moved).update(tree=tree, box=box,
                           flat_tree=refit_flat_tree(arrays, ordered, tree, box))
        return moved

    @cached_property
    def tree(self) -> VpTree:
        """Return the tree over the triangles."""
        return build_vp_tree(self.mesh.vertices, self.mesh.faces)

    @cached_property
    def box(self) -> OrientedBox:
        """Return the oriented box round the used vertices, its axes those of the surface."""
        used, faces = used_vertices(self.mesh.faces, len(self.mesh.vertices))
        return fit_oriented_box(self.mesh.vertices[used], faces)

    @cached_property
    def flat_tree(self) -> FlatTree:
        """Return the flat arrays that penetration queries read."""
        return flatten_tree(self.mesh.vertices, self.mesh.faces, self.tree, self.box)

    @cached_property
    def surface(self) -> CurvedSurface:
        """Return the curved surface over the triangles, in the tree's order."""
        return build_curved_surface(self.mesh, self.tree)

    @cached_property
    def has_flat_faces(self) -> bool:
        """Return whether the mesh is a polyhedron, whose surface its triangles are."""
        return is_polyhedron(self.mesh)

    @cached_property
    def bulge(self) -> float:
        """Return how far the curved surface lies from the facets at most [m]."""
        return float(self.surface.limits.max())
