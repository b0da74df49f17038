"""
Contact of two meshes as their files give them, by the back end that is asked for.

The exact back end answers with vertices; GJK with EPA answers with a manifold of convex
parts, the common plane with a plane between them, the paper's own rule with vertices that
are approximate.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array, IntArray
from ...bodies import TriangleMesh, repair_mesh
from ...bodies.oriented_box import OrientedBox, interaction_region
from ...errors import MeshError, ShapeError, told_outside
from ...transforms import inverse
from ..geometry.contact_mesh import ContactMesh
from ..geometry.triangle_intersection import intersect_edges_with_faces
from ..published.intersection_rule import RuleMesh, RulePairs, rule_contacts, rule_pairs
from ..vertices.edge_contacts import EdgeContacts, edge_contacts
from ..vertices.penetrating_vertices import (
    PenetratingVertices, VertexContacts, unit_direction, vertex_contacts)
from ..vertices.winding_number import find_winding_numbers
from .common_plane import CommonPlane, separating_plane
from .convex.decomposition import ConvexPart, convex_part, convex_parts, is_convex
from .convex.manifold import Manifold, contact_manifold


#: ``auto`` is the exact one.
BACKENDS = ('auto', 'vp_tree', 'gjk_epa', 'common_plane', 'seed')
#: Range of the largest extent of a mesh in the unit of its file, and largest distance from
#: the origin over that extent: beyond, numbers no longer resolve it.
EXTENT_RANGE, MAX_OFFSET_RATIO = (1e-6, 1e6), 1e6
#: Depth below a face, over the body's size, of the points asked for in both bodies: above
#: rounding, below the thickness of what is not flat [-].
PROBE_DEPTH = 1e-7


@dataclass(frozen=True, eq=False)
class ContactBody:
    """
    A mesh with the indices of its file, and its surface made fit to have an inside.

    Attributes
    ----------
    given : ContactMesh
        As the file has it; indices in answers are its own.
    closed : ContactMesh
        The same surface closed and wound outwards: what "inside" is asked of.
    repairs : tuple of str
        What was done to close it.
    """

    given: ContactMesh
    closed: ContactMesh
    repairs: tuple[str, ...] = ()

    @classmethod
    def from_arrays(cls, vertices: ArrayLike, faces: ArrayLike) -> 'ContactBody':
        """
        Return the body of ``vertices (n, 3)`` and ``faces (m, 3)``, in any one unit.

        Raises
        ------
        ShapeError
            An array has another shape or type, or a coordinate is not finite.
        MeshError
            The surface is open, flat, one-sided or partly inside out beyond repair, a face
            names no vertex, or the extents are out of ``EXTENT_RANGE``.

        Notes
        -----
        Closed as by ``repair_mesh``, in a unit in which the mesh is about 1 long: a power
        of two, which rounds nothing. What is told of lengths takes the unit for metres.
        """
        given = TriangleMesh(cast(Array, vertices), cast(IntArray, faces))
        unit = _unit_of(given)
        loaded = repair_mesh(given.vertices / unit, given.faces, unit=unit)
        closed = loaded.mesh.with_scale(unit)
        return cls(ContactMesh(given), ContactMesh(closed), loaded.repairs)

    @cached_property
    def hull(self) -> ConvexPart:
        """Return the convex hull."""
        return convex_part(self.closed.mesh.vertices)

    @cached_property
    def parts(self) -> tuple[ConvexPart, ...]:
        """Return convex parts that make up the body; one if it is convex."""
        return convex_parts(self.closed.mesh)

    @cached_property
    def is_convex(self) -> bool:
        """Return whether the body is its hull."""
        return is_convex(self.closed.mesh)

    @cached_property
    def rule_mesh(self) -> RuleMesh:
        """Return the body prepared for the paper's own rule."""
        return RuleMesh(self.given.mesh)


def _unit_of(mesh: TriangleMesh) -> float:
    """Return the power of two nearest below the largest extent, after checking it."""
    with np.errstate(over='ignore'):
        largest = float(mesh.extents.max())
        farthest = float(np.abs(mesh.bounds).max())
    if not EXTENT_RANGE[0] <= largest <= EXTENT_RANGE[1]:
        raise MeshError(f'the largest extent is {told_outside(largest, *EXTENT_RANGE)}, allowed '
                        f'are {EXTENT_RANGE[0]:g} to {EXTENT_RANGE[1]:g} in the unit of the file')
    if not farthest <= MAX_OFFSET_RATIO * largest:
        raise MeshError(f'the mesh lies {farthest:.4g} from the origin, allowed are '
                        f'{MAX_OFFSET_RATIO:g} times its largest extent of {largest:.4g}')
    return float(2.0 ** np.floor(np.log2(largest)))


@dataclass(frozen=True, eq=False)
class Contacts:
    """
    Contacts of two bodies by one back end, frame a.

    Attributes
    ----------
    backend : str
        The one that answered.
    a_in_b, b_in_a : PenetratingVertices
        Empty for ``gjk_epa`` and ``common_plane``. Faces are those of the closed surface.
    edges : EdgeContacts
        Crossing edges; only ``vp_tree`` with a direction looks for them.
    manifold : Manifold or None
        Of ``gjk_epa``.
    plane : CommonPlane or None
        Of ``common_plane``.
    apart : bool or None
        Whether that plane parts the bodies.
    approximate : bool
        Whether contacts may be missing or false.
    crossing : tuple of str
        Which bodies, ``'a'`` or ``'b'``, were found to cross themselves.
    intersecting : bool or None
        Whether the bodies have anything in common: a vertex inside, an edge that goes
        through a face, or what lies just below a face. ``vp_tree`` and ``gjk_epa`` say so.
    pairs : (RulePairs, RulePairs) or None
        Of ``seed``: what it compared, of the vertices of a and of b.
    """

    backend: str
    a_in_b: PenetratingVertices = field(default_factory=PenetratingVertices.none)
    b_in_a: PenetratingVertices = field(default_factory=PenetratingVertices.none)
    edges: EdgeContacts = field(default_factory=EdgeContacts.none)
    manifold: Manifold | None = None
    plane: CommonPlane | None = None
    apart: bool | None = None
    approximate: bool = False
    crossing: tuple[str, ...] = ()
    intersecting: bool | None = None
    pairs: tuple[RulePairs, RulePairs] | None = None


def find_contacts(a: ContactBody, b: ContactBody, T_a_b: Array, direction: Array | None = None,
                  backend: str = 'auto') -> Contacts:
    """
    Find the contact of two bodies.

    Parameters
    ----------
    a, b : ContactBody
    T_a_b : (4, 4) float
        Pose of b in a.
    direction : (3,) float, optional
        Motion of b relative to a, frame a, any length above 0. ``seed`` needs it; without
        it ``vp_tree`` gives the ways to the closest points. The others make no use of it.
    backend : str
        One of ``BACKENDS``.

    Returns
    -------
    Contacts

    Raises
    ------
    ShapeError
        The back end is not known, the direction has no length or is not finite, or
        ``seed`` is given none.
    MeshError
        A body is not convex and coacd, which cuts it into convex parts, is not installed.
    """
    if backend not in BACKENDS:
        raise ShapeError(f'backend must be one of {", ".join(BACKENDS)}, got {backend!r}')
    d = None if direction is None else unit_direction(direction)
    if backend == 'gjk_epa':
        manifold = contact_manifold(a.parts, b.parts, T_a_b)
        return Contacts(backend, manifold=manifold, intersecting=manifold.overlap)
    if backend == 'common_plane':
        plane, apart = _plane_between(a, b, T_a_b)
        return Contacts(backend, plane=plane, apart=apart)
    if backend == 'seed':
        if d is None:
            raise ShapeError('back end seed needs a direction: its rule is about the motion')
        rule = rule_contacts(a.rule_mesh, b.rule_mesh, T_a_b, d)
        return Contacts(backend, rule.a_in_b, rule.b_in_a, approximate=True,
                        pairs=rule_pairs(a.rule_mesh, b.rule_mesh, T_a_b, d))
    vertices, crossing = _exact_vertices(a, b, T_a_b, d)
    edges = EdgeContacts.none() if d is None else edge_contacts(a.given, b.given, T_a_b, d)
    meet = bool(len(vertices.a_in_b.vertices) or len(vertices.b_in_a.vertices)
                or any(len(found.faces)
                       for found in intersect_edges_with_faces(a.closed, b.closed, T_a_b))
                or _has_face_below(a.closed, b.closed, inverse(T_a_b))
                or _has_face_below(b.closed, a.closed, T_a_b))
    return Contacts('vp_tree', vertices.a_in_b, vertices.b_in_a, edges, crossing=crossing,
                    intersecting=meet)


def interaction_boxes(a: ContactBody, b: ContactBody, T_a_b: Array
                      ) -> dict[str, tuple[OrientedBox, OrientedBox | None]]:
    """
    Return the oriented box of each body, and what of it the other one's box can reach.

    Parameters
    ----------
    a, b : ContactBody
    T_a_b : (4, 4) float
        Pose of b in a.

    Returns
    -------
    dict of str to (OrientedBox, OrientedBox or None)
        By ``'a'`` and ``'b'``, frame a; None where nothing is in reach.

    Notes
    -----
    Source: Leskov and Seliverstova 2016, oriented boxes and regions of potential interaction.
    """
    boxes = a.given.box, b.given.box.with_transform(T_a_b)
    return {name: (box, interaction_region(box, other))
            for name, box, other in zip('ab', boxes, boxes[::-1])}


def _has_face_below(mesh: ContactMesh, other: ContactMesh, T_other_mesh: Array) -> bool:
    """
    Return whether a point just below the middle of a face lies inside both bodies.

    Bodies whose surfaces coincide have that in common where no vertex is inside and no edge
    goes through a face; those that touch from outside have not.
    """
    body = mesh.mesh
    points = body.face_centroids - PROBE_DEPTH * mesh.tree.size * body.face_normals
    shared = find_winding_numbers(points, other, T_other_mesh, None).inside.vertices
    own = find_winding_numbers(points[shared], mesh, np.eye(4), None).inside.vertices
    return bool(len(own))


def _plane_between(a: ContactBody, b: ContactBody, T_a_b: Array) -> tuple[CommonPlane, bool]:
    """Return the plane of the hulls, or where they meet the worst one of the parts."""
    plane, apart = separating_plane(a.hull, b.hull.with_transform(T_a_b))
    if apart or (a.is_convex and b.is_convex):
        return plane, apart
    moved = [part.with_transform(T_a_b) for part in b.parts]
    return min((separating_plane(first, second) for first in a.parts for second in moved),
               key=lambda found: found[0].gap)


def _exact_vertices(a: ContactBody, b: ContactBody, T_a_b: Array,
                    d: Array | None) -> tuple[VertexContacts, tuple[str, ...]]:
    """Return vertices inside the other's closed surface, and which surface crosses itself."""
    T_b_a = inverse(T_a_b)
    a_in_b, b_crosses = _checked_vertices(
        vertex_contacts(a.given, b.closed, T_a_b, d).a_in_b, a.given.mesh.vertices, b.closed,
        T_b_a, None if d is None else T_b_a[:3, :3] @ d, T_a_b)
    b_in_a, a_crosses = _checked_vertices(
        vertex_contacts(a.closed, b.given, T_a_b, d).b_in_a, b.given.mesh.vertices, a.closed,
        T_a_b, None if d is None else -d, np.eye(4))
    crossing = tuple(name for name, crosses in (('a', a_crosses), ('b', b_crosses)) if crosses)
    return VertexContacts(a_in_b, b_in_a), crossing


def _checked_vertices(found: PenetratingVertices, vertices: Array, target: ContactMesh,
                      T_target_query: Array, direction: Array | None,
                      T_a_target: Array) -> tuple[PenetratingVertices, bool]:
    """Return the vertices found, or those by winding numbers where these disagree."""
    all_hits = find_winding_numbers(vertices, target, T_target_query, direction)
    inside = all_hits.inside
    agree = np.array_equal(np.sort(found.vertices), inside.vertices)
    if agree and np.isin(all_hits.numbers, (0, 1)).all():
        return found, False
    return inside.with_transform(T_a_target), True
