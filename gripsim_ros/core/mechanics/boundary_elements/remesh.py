"""
Coarse quadratic triangles on a body's surface, for its boundary integrals.

A fine mesh is decimated first, then made even, and all nodes are put back onto the surface.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...arrays import Array, BoolArray, IntArray
from ...bodies import TriangleMesh
from ...bodies.decimate import convex_hull, decimate_hull, decimate_mesh
from ...bodies.mesh import SMOOTH_ANGLE, sum_by_label, unit_rows
from ...bodies.topology import connected_labels, edge_table
from ...contact.geometry.closest_point import closest_points
from ...contact.geometry.curved_surface import joined_sides
from ...contact.geometry.vp_tree import build_vp_tree
from ...errors import MeshError
from ..quadratic_elements import PARTS
from .edge_collapse import coarse_triangles, unit_normals
from .quadrature import enclosed_volume


#: Largest number of tries until the nodes are few enough.
MAX_TRIES = 12
#: Passes that straighten sides of folded elements; least cosine of a part that is not folded.
UNFOLD_PASSES, FOLD_COSINE = 3, 0.0
#: Largest share of the body's volume that a coarse surface may lose [-].
MAX_VOLUME_LOSS = 0.03
#: Growth of the wanted length from try to try, beyond that by the nodes counted [-].
COARSENING = 1.1
#: Faces over those of the coarse surface from which on a mesh is decimated to these first [-].
MIN_DECIMATION = 2.0
#: Largest volume of the convex hull that stands for a body, over the body's [-].
MAX_HULL_RATIO = 1.15
#: Sum of the parts' normals about a node over the largest of them at which they cancel [-].
CANCELLED = 1e-9


@dataclass(frozen=True, eq=False)
class QuadraticSurface:
    """
    Quadratic triangles: ``points (n, 3)`` [m] and ``elements (m, 6)``.

    Corners are counter-clockwise seen from outside, followed by the middles of their sides.
    """

    points: Array
    elements: IntArray

    @property
    def parts(self) -> IntArray:
        """Return the linear triangles ``(4 m, 3)`` into which the elements are divided."""
        return np.concatenate([self.elements[:, part] for part in PARTS])

    @cached_property
    def spacing(self) -> float:
        """Return the mean distance of neighbouring nodes [m]."""
        parts = self.parts
        sides = self.points[parts] - self.points[np.roll(parts, 1, axis=1)]
        return float(np.sqrt((sides ** 2).sum(axis=2)).mean())


def quadratic_surfaces(mesh: TriangleMesh, node_count: int) -> Iterator[QuadraticSurface]:
    """
    Yield surfaces of quadratic triangles of even size on a body, the most faithful first.

    They begin with a decimated mesh where that is far coarser, and at last with the convex hull
    where the body nearly is one: what is thinner than the nodes are apart, as the rim of a can,
    may spoil the others.

    Parameters
    ----------
    mesh : TriangleMesh
        Closed.
    node_count : int
        Nodes at most, corners and middles.

    Raises
    ------
    MeshError
        The surface has too many edges, or too fine a shape, for so few nodes: there is no
        surface at all.
    """
    refusal, found = None, False
    for body, base in _bases(mesh, node_count):
        try:
            surface = _checked(body, _coarse_surface(body, base, node_count))
        except MeshError as error:
            refusal = refusal or error
            continue
        found = True
        yield surface
    if refusal and not found:
        raise refusal


def carrying_surface(mesh: TriangleMesh, node_count: int) -> QuadraticSurface:
    """
    Return a surface that carries loads on a body, whatever of its shape so few nodes lose.

    Parameters and errors as of ``quadratic_surfaces``.
    """
    return _coarse_surface(*next(_bases(mesh, node_count)), node_count)


def divided(surface: QuadraticSurface, mesh: TriangleMesh) -> QuadraticSurface:
    """Return each element in four, with their nodes on the mesh; those there were come first."""
    return _on_mesh(mesh, surface.points, surface.parts)


def cut_at_edges(surface: QuadraticSurface, mesh: TriangleMesh
                 ) -> tuple[QuadraticSurface, IntArray]:
    """
    Return a surface whose nodes at edges of the body are there once for each side.

    Parameters
    ----------
    surface : QuadraticSurface
        Closed, of n nodes.
    mesh : TriangleMesh
        The body.

    Returns
    -------
    QuadraticSurface
        The same elements, of k nodes.
    (k,) int
        Of which of the n nodes each is a copy, rising.
    """
    elements, rows = surface.elements, np.arange(6 * len(surface.elements)).reshape(-1, 6)
    tree = build_vp_tree(mesh.vertices, mesh.faces)
    middles = surface.points[elements[:, 3:]].mean(axis=1)
    facets = tree.faces[closest_points(tree, middles, np.inf)[2]]
    sides, normals = joined_sides(mesh)[facets], unit_normals(surface.points[elements[:, :3]])
    (first, k), (second, m) = (np.divmod(pair, 3)
                               for pair in edge_table(elements[:, :3]).pairs[0].T)
    smooth = ((sides[first] == sides[second])
              | ((normals[first] * normals[second]).sum(axis=1) > np.cos(SMOOTH_ANGLE)))
    pairs = [np.stack([rows[first, a], rows[second, b]], axis=1)[smooth]
             for a, b in ((k, (m + 1) % 3), ((k + 1) % 3, m), (3 + k, 3 + m))]
    labels = connected_labels(np.concatenate(pairs), rows.size)
    order, copies = np.unique(elements.ravel() * rows.size + labels, return_inverse=True)
    sources = order // rows.size
    return QuadraticSurface(surface.points[sources], copies.reshape(-1, 6)), sources


def node_normals(surface: QuadraticSurface) -> Array:
    """
    Return unit normals ``(n, 3)`` into the body, means of the parts about each node.

    Where these cancel, as at a blade no thicker than a node, that of the largest part.
    """
    corners = surface.points[surface.parts]
    outward = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    sums = np.zeros_like(surface.points)
    for k in range(3):
        np.add.at(sums, surface.parts[:, k], -outward)
    sizes = np.sqrt((outward ** 2).sum(axis=1))
    largest = np.zeros(len(sums))
    np.maximum.at(largest, surface.parts.ravel(), np.repeat(sizes, 3))
    for node in np.flatnonzero(np.sqrt((sums ** 2).sum(axis=1)) <= CANCELLED * largest):
        about = np.flatnonzero((surface.parts == node).any(axis=1))
        sums[node] = -outward[about[sizes[about].argmax()]]
    return sums / np.sqrt((sums ** 2).sum(axis=1))[:, None]


def _bases(mesh: TriangleMesh, node_count: int) -> Iterator[tuple[TriangleMesh, TriangleMesh]]:
    """Yield bodies, the mesh or its hull, each with a closed mesh of it to begin with."""
    # A closed surface has a quadratic triangle for two nodes.
    count = max(node_count // 2, 4)
    coarse = decimate_mesh(mesh, count) if len(mesh.faces) > MIN_DECIMATION * count else mesh
    yield mesh, coarse if coarse.is_closed else mesh
    hull = convex_hull(mesh)
    if hull.volume <= MAX_HULL_RATIO * mesh.volume:
        yield hull, decimate_hull(hull, count)


def _coarse_surface(mesh: TriangleMesh, base: TriangleMesh, node_count: int) -> QuadraticSurface:
    """Return quadratic triangles on a mesh, begun from a base; errors as above."""
    # Four nodes for each corner; an even triangulation gives each the area sqrt(3)/2 L^2.
    length = np.sqrt(mesh.area / (node_count / 4.0) * 2.0 / np.sqrt(3.0))
    for _ in range(MAX_TRIES):
        vertices, faces = coarse_triangles(base, length)
        # A closed surface has half as many sides again as triangles.
        nodes = len(vertices) + len(faces) * 3 // 2
        if nodes <= node_count:
            return _on_mesh(mesh, vertices, faces)
        length *= COARSENING * np.sqrt(nodes / node_count)
    raise MeshError(f'the surface has too many edges for {node_count} nodes: '
                    f'{len(vertices)} vertices are left of {len(mesh.vertices)}')


def _checked(mesh: TriangleMesh, surface: QuadraticSurface) -> QuadraticSurface:
    """Return the surface, unless it has lost the body's shape."""
    volume = enclosed_volume(surface.points, surface.elements)
    if not abs(volume - mesh.volume) <= MAX_VOLUME_LOSS * abs(mesh.volume):
        raise MeshError(f'{len(surface.points)} nodes are too few for the surface: they enclose '
                        f'{volume:.4g} m^3 of its {mesh.volume:.4g} m^3')
    return surface


def _on_mesh(mesh: TriangleMesh, vertices: Array, faces: IntArray) -> QuadraticSurface:
    """Return quadratic triangles, their corners and the middles of their sides on a mesh."""
    table = edge_table(faces)
    tree = build_vp_tree(mesh.vertices, mesh.faces)
    corners = closest_points(tree, vertices, np.inf)[1]
    straight = corners[table.ends].mean(axis=1)
    _, middles, facets = closest_points(tree, straight, np.inf)
    outward = np.repeat(unit_normals(corners[faces]), 3, axis=0)
    side_normals = sum_by_label(outward, table.edge_of_side.ravel(), len(straight))
    lost = (mesh.face_normals[tree.faces[facets]] * side_normals).sum(axis=1) < 0.0
    if lost.any():
        middles[lost] = closest_points(
            tree, _bent_middles(corners, faces, outward, table.ends[lost]), np.inf)[1]
    elements = np.concatenate([faces, len(vertices) + table.edge_of_side], axis=1)
    for _ in range(UNFOLD_PASSES):
        folded = _folded(np.concatenate([corners, middles]), elements)
        if not folded.any():
            break
        sides = table.edge_of_side[folded]
        middles[sides] = straight[sides]
    return QuadraticSurface(np.concatenate([corners, middles]), elements)


def _bent_middles(corners: Array, faces: IntArray, outward: Array, ends: IntArray) -> Array:
    """
    Return where a smooth surface through corners is between two of them (s, 2) -> (s, 3).

    ``outward (3 m, 3)`` are the normals of the faces, of each three times.
    """
    normals = unit_rows(sum_by_label(outward, faces.ravel(), len(corners)))[ends]
    first, second = corners[ends[:, 0]], corners[ends[:, 1]]
    rises = ((second - first)[:, None] * normals * [[1.0], [-1.0]]).sum(axis=2)
    # The middle of a curved triangle's side (Vlachos, Curved PN triangles, 2001).
    return 0.5 * (first + second) - 0.125 * (rises[:, :, None] * normals).sum(axis=1)


def _folded(points: Array, elements: IntArray) -> BoolArray:
    """Return for each element if a part of it faces away from the triangle of its corners."""
    normals = unit_normals(points[elements[:, :3]])
    return np.any([(unit_normals(points[elements[:, part]]) * normals).sum(axis=1) < FOLD_COSINE
                   for part in PARTS], axis=0)
