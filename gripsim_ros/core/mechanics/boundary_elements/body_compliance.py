"""
A body's own elastic compliance, condensed to its surface once per object.

Derivations, accuracy and limits: docs/model/compliance.md.
"""

import contextlib
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from ...arrays import Array, BoolArray, IntArray
from ...bodies import TriangleMesh
from ...bodies.mesh import unit_rows
from ...bodies.topology import connected_labels
from ...contact.geometry.closest_point import closest_points
from ...contact.geometry.vp_tree import VpTree, build_vp_tree
from ...contact.vertices.penetrating_vertices import barycentric_weights
from ...errors import MaterialError, MeshError
from ...numerics.cholesky import combine_rows
from ..quadratic_elements import PARTS, TRIANGLE_NODES, TRIANGLE_SIDES, shape_functions
from .cells.bracket import MOST_ERROR, solve_in_cells
from .integrals import solve_unit_loads
from .node_correction import (
    beyond_half_space, gather, is_lopsided, neighbour_means, NodeCorrection)
from .node_count import thickness
from .quadrature import tangential_tractions
from .remesh import (
    carrying_surface, cut_at_edges, divided, node_normals, quadratic_surfaces, QuadraticSurface)
from .shell import solve_shell
from .shell_nodes import least_wall, surface_of_wall


#: Largest number of nodes of the surface.
NODE_COUNT = 2400
#: Nodes tried before cells where fewer have no answer, over those and at most: some seconds.
MORE, MORE_NODES = 3, 1800
#: Least thickness of a wall over the distance of neighbouring nodes; less is too stiff [-].
MIN_SPACINGS = 1.8
#: Mean thickness over that of most of the surface, of solids and of walls all over at most [-].
SOLID, WALL_ALL_OVER = 0.75, 1.5
#: Nodes farther apart than a wall is thick, which make it a shell, and those of its answer at
#: most, over those of boundary elements: its equations are sparse [-].
SHELL_NODES = 1.5, 1.8
#: Shares of those tried in turn: beside a neck one that finds nothing opposite makes it no wall.
SHELL_TRIES = 1.0, 0.9
#: Cosine to its place's normal below which a push leans over an edge; largest between the sides of
#: an edge, either way: a far side is none; how far it may be, over the distance of nodes [-].
LEANING, TURNED, EDGE_REACH = np.cos(np.deg2rad(15.0)), np.cos(np.deg2rad(20.0)), 1.5


@dataclass(frozen=True, eq=False)
class BodyCompliance:
    """
    Displacements of a finite body beyond Boussinesq's half-space, at E / (1 - nu^2) = 1 Pa.

    Attributes
    ----------
    points : (n, 3) float
        Nodes on the surface [m].
    elements : (m, 6) int
        Quadratic triangles between them: corners, then the middles of the sides 01, 12, 20.
    displacements : (n, n, 3) float
        Of node i, by a unit force into the body about node j at ``[j, i]``, less the kernel's
        ``n_j / (pi r)`` [1/m]. The body is free: rigid motions are taken away.
    least_thickness : float
        Of walls that are told; infinite for solids in cubes: a wide contact is too soft [m].
    errors : (n,) float
        Estimated share that is missing of what a force about each node does to its own place;
        0 where it is not estimated [-].
    tangential : (n, t, 3, 3) float
        Of node i, by each of the ``tangential_tractions`` of 1 Pa along each axis, t = 0 for
        shells and cubes [m/Pa]. Free as above, and nothing is taken away.
    """

    points: Array
    elements: IntArray
    displacements: NDArray[np.float32]
    least_thickness: float
    errors: Array
    tangential: NDArray[np.float32]

    @cached_property
    def surface(self) -> QuadraticSurface:
        """Return nodes and elements."""
        return QuadraticSurface(np.ascontiguousarray(self.points),
                                np.ascontiguousarray(self.elements))

    @cached_property
    def normals(self) -> Array:
        """Return unit normals ``(n, 3)`` into the body."""
        return node_normals(self.surface)

    @cached_property
    def tree(self) -> VpTree:
        """Return the tree over the elements' parts."""
        return build_vp_tree(self.surface.points, self.surface.parts)

    @cached_property
    def edge_nodes(self) -> Array:
        """Return the places ``(e, 3)`` of nodes at edges, which are there once for each side."""
        places, counts = np.unique(self.points, axis=0, return_counts=True)
        return np.asarray(places[counts > 1])

    @cached_property
    def _has_errors(self) -> bool:
        return bool(self.errors.any())

    def resolves(self, thickness: Array) -> BoolArray:
        """Return for each thickness [m] of the body if the nodes are dense enough for it."""
        return np.asarray(thickness) >= self.least_thickness

    def is_told(self, points: Array) -> BoolArray:
        """Return for each point (k, 3) [m] on the surface if errors about it are small enough."""
        if not self._has_errors:
            return np.ones(len(points), bool)
        nodes, _ = self.interpolation(points)
        return np.asarray(self.errors[nodes].mean(axis=1) <= MOST_ERROR)

    def interpolation(self, points: Array) -> tuple[IntArray, Array]:
        """
        Return nodes and weights, quadratic over an element, for points near the surface.

        Parameters
        ----------
        points : (k, 3) float
            [m].

        Returns
        -------
        (k, 6) int, (k, 6) float
            Weights of a point add up to 1.
        """
        tree = self.tree
        _, closest, positions = closest_points(tree, np.ascontiguousarray(points), np.inf)
        part, element = np.divmod(tree.faces[positions], len(self.elements))
        shares = barycentric_weights(tree.corners[positions], closest)
        places = np.einsum('ic,ick->ik', shares, TRIANGLE_NODES[PARTS[part]])
        return self.surface.elements[element], shape_functions(places, TRIANGLE_SIDES)

    @cached_property
    def sides(self) -> list['BodyCompliance']:
        """Return the same nodes with the elements of each smooth side alone."""
        corners = self.elements[:, :1]
        pairs = np.concatenate([np.concatenate([corners, self.elements[:, [k]]], axis=1)
                                for k in range(1, 6)])
        labels = connected_labels(pairs, len(self.points))[corners[:, 0]]
        return [replace(self, elements=self.elements[labels == label])
                for label in np.unique(labels)]

    def correction(self, points: Array, modulus: float, pushes: Array | None = None
                   ) -> NodeCorrection:
        """
        Return what the body adds to the half-space's compliance between nodes of patches.

        Parameters
        ----------
        points : (k, 3) float
            [m].
        modulus : float
            E / (1 - nu^2) of the object [Pa].
        pushes : (k, 3) float, optional
            Unit directions of the forces on them, into the object; else they are normal.
        """
        nodes, weights = self.interpolation(points)
        if pushes is not None:
            nodes, weights = self._on_both_sides(points, pushes, nodes, weights)
        used, columns = np.unique(nodes, return_inverse=True)
        moves = np.asarray(self.displacements[np.ix_(used, used)], np.float64)
        along = (moves * self.normals[used]).sum(axis=2)
        part = 0.5 * (along + along.T) / modulus
        columns = columns.reshape(nodes.shape)
        return NodeCorrection(used, columns, weights, gather(part, columns, weights), modulus)

    def _on_both_sides(self, points: Array, pushes: Array, nodes: IntArray, weights: Array
                       ) -> tuple[IntArray, Array]:
        """
        Return nodes and weights (k, 12) of both sides of an edge where a push leans over it.

        Such a push is a normal force at its place and one at the nearest place of the next side.
        """
        own = self.normals_about(nodes, weights)
        rows = np.flatnonzero((own * pushes).sum(axis=1) < LEANING)
        if not len(rows) or len(self.sides) == 1:
            return nodes, weights
        own, here = own[rows], weights[rows]
        nodes, weights = np.tile(nodes, 2), np.hstack([weights, 0.0 * weights])
        nearest = np.full(len(rows), EDGE_REACH * self.surface.spacing)
        for side in self.sides:
            found, shares = side.interpolation(points[rows])
            normals = self.normals_about(found, shares)
            ways = np.linalg.norm(np.einsum('ik,ika->ia', shares, self.points[found])
                                  - points[rows], axis=1)
            cosines = (own * normals).sum(axis=1)
            near = np.flatnonzero((abs(cosines) < TURNED) & (ways < nearest))
            along, beside = ((side_normals[near] * pushes[rows[near]]).sum(axis=1)
                             for side_normals in (own, normals))
            cosines, nearest[near] = cosines[near], ways[near]
            first, second = (along - cosines * beside), (beside - cosines * along)
            scale = 1.0 / (1.0 - cosines ** 2)
            at = rows[near]
            nodes[at, 6:] = found[near]
            weights[at, :6] = (scale * first)[:, None] * here[near]
            weights[at, 6:] = (scale * second)[:, None] * shares[near]
        return nodes, weights

    def normals_about(self, nodes: IntArray, weights: Array) -> Array:
        """Return unit normals (k, 3) where ``interpolation`` has found these."""
        return unit_rows(np.einsum('ik,ika->ia', weights, self.normals[nodes]))

    def surface_moves(self, vertices: tuple[IntArray, Array], correction: 'NodeCorrection',
                      forces: Array) -> Array:
        """
        Return displacements of surface points beyond those of Boussinesq's half-space.

        Parameters
        ----------
        vertices : (v, 6) int, (v, 6) float
            ``interpolation`` of the points.
        correction : NodeCorrection
            Of the patches' nodes.
        forces : (k,) float
            On them, along their normals [N].

        Returns
        -------
        (v, 3) float
            [m].
        """
        loads = correction.node_forces(forces)
        acting = np.flatnonzero(loads)
        rows = np.asarray(self.displacements[correction.used[acting]])
        moves = combine_rows(rows.reshape(len(acting), -1), loads[acting] / correction.modulus)
        nodes, weights = vertices
        return np.einsum('vk,vka->va', weights, moves.reshape(-1, 3)[nodes])


def prepare_compliance(mesh: TriangleMesh, poisson_ratio: float,
                       node_count: int = NODE_COUNT) -> BodyCompliance:
    """
    Return a body's compliance, condensed to nodes of its surface.

    Parameters
    ----------
    mesh : TriangleMesh
        Closed.
    poisson_ratio : float
        Above -1 and below 0.5 [-].
    node_count : int
        At most, or ``MORE_NODES`` where fewer fail; time grows with its cube, memory its square.

    Returns
    -------
    BodyCompliance

    Raises
    ------
    MaterialError
        ``poisson_ratio`` is out of range.
    MeshError
        The mesh is open, inside out, of several pieces, or needs more nodes.

    Notes
    -----
    Source: direct boundary elements (Rizzo 1967); a body that is a wall all over, thinner than
    nodes are apart, is a shell. The free body: loads are balanced by tractions in proportion to
    rigid motions, and displacements have no mean rigid part. Neighbours' means replace what a
    smooth node does to itself, where displacements and kernel do not cancel. Own arrangement.
    """
    if not -1.0 < poisson_ratio < 0.5:
        raise MaterialError(f'poisson_ratio must be above -1 and below 0.5, got {poisson_ratio}')
    if not mesh.is_closed:
        raise MeshError('the mesh must be closed for a compliance of the whole body')
    pieces = _count_pieces(mesh)
    if pieces == 0:
        raise MeshError('the faces must be wound counter-clockwise seen from outside, '
                        'got a mesh turned inside out')
    if pieces != 1:
        raise MeshError('the mesh must be of one piece for a compliance of the whole body, '
                        f'got {pieces}')
    shell = _of_shell(mesh, poisson_ratio, node_count)
    if shell is not None:
        return shell
    for count in dict.fromkeys((node_count, max(node_count, min(MORE * node_count, MORE_NODES)))):
        # An even triangulation gives a node the area sqrt(3)/2 of its spacing's square.
        spacing = np.sqrt(mesh.area / (np.sqrt(0.75) * count))
        if thickness(mesh) >= MIN_SPACINGS * spacing:
            with contextlib.suppress(MeshError):
                return _of_boundary(mesh, poisson_ratio, count)
    return _of_cells(mesh, poisson_ratio, node_count)


def _of_boundary(mesh: TriangleMesh, poisson_ratio: float, node_count: int) -> BodyCompliance:
    """Return the compliance by boundary elements; MeshError where they have no answer."""
    for surface in quadratic_surfaces(mesh, node_count):
        cut, sources = cut_at_edges(surface, mesh)
        normals = node_normals(cut)
        along = tangential_tractions(cut.points, cut.elements, normals)
        moves, tangential, inverse = solve_unit_loads(
            surface, normals, poisson_ratio, cut.elements, sources, along)
        if _pushes_inwards(normals, moves):
            beyond = beyond_half_space(normals, moves, inverse, poisson_ratio)
            smooth = np.flatnonzero(np.bincount(sources)[sources] == 1)
            beyond[smooth, smooth] = neighbour_means(beyond, cut)[smooth]
            if not is_lopsided(beyond, cut.points, normals):
                scale = 1.0 / (1.0 - poisson_ratio ** 2)
                return BodyCompliance(cut.points, cut.elements, beyond,
                                      MIN_SPACINGS * surface.spacing, np.zeros(len(normals)),
                                      (scale * tangential).astype(np.float32))
    raise MeshError('the surface is not that of a body: a force would pull it outwards')


def _of_cells(mesh: TriangleMesh, poisson_ratio: float, node_count: int) -> BodyCompliance:
    """Return the compliance by cubes of a grid; MeshError where there is no surface for it."""
    surface = carrying_surface(mesh, node_count)
    cut, sources = cut_at_edges(surface, mesh)
    share = 2.0 * mesh.volume / (mesh.area * thickness(mesh))
    smooth, is_wall = np.bincount(sources)[sources] == 1, SOLID < share < WALL_ALL_OVER
    normals = node_normals(cut)
    beyond, errors = solve_in_cells(mesh, cut, smooth, normals, poisson_ratio, is_wall)
    solid = np.inf if share <= SOLID else MIN_SPACINGS * surface.spacing
    return BodyCompliance(cut.points, cut.elements, beyond,
                          least_wall(surface) if is_wall else solid, errors,
                          _no_tangential(normals))


def _no_tangential(normals: Array) -> NDArray[np.float32]:
    return np.zeros((len(normals), 0, 3, 3), np.float32)


def _of_shell(mesh: TriangleMesh, poisson_ratio: float, node_count: int) -> BodyCompliance | None:
    """Return the compliance of a body that is a thin wall all over, else None."""
    counts, wall = [int(share * node_count) for share in SHELL_NODES], thickness(mesh)
    # An even triangulation gives a node the area sqrt(3)/2 of its spacing's square.
    if wall >= np.sqrt(mesh.area / (np.sqrt(0.75) * counts[0])):
        return None
    with contextlib.suppress(MeshError, np.linalg.LinAlgError):
        for share in SHELL_TRIES:
            found = _as_shell(mesh, surface_of_wall(mesh, wall, int(share * counts[1])), wall,
                              poisson_ratio)
            if found is not None:
                return found
    return None


def _as_shell(mesh: TriangleMesh, surface: QuadraticSurface, wall: float, poisson_ratio: float
              ) -> BodyCompliance | None:
    """Return the compliance at a surface's nodes, or None where that is no wall all over."""
    fine, normals = divided(surface, mesh), node_normals(surface)
    with threadpool_limits(limits=1, user_api='blas'):
        found = solve_shell(surface, fine, normals, poisson_ratio, mesh.volume, wall)
    if found is None or not _pushes_inwards(normals, found[0]):
        return None
    return BodyCompliance(
        surface.points, surface.elements, beyond_half_space(normals, *found, poisson_ratio),
        least_wall(surface), np.zeros(len(normals)), _no_tangential(normals))


def _pushes_inwards(normals: Array, moves: Array) -> bool:
    return bool((np.einsum('ja,jaj->j', normals, moves) > 0.0).all())


def _count_pieces(mesh: TriangleMesh) -> int:
    """Return how many bodies the surface encloses; a cavity is none."""
    labels = connected_labels(mesh.edges, len(mesh.vertices))[mesh.faces[:, 0]]
    a, b, c = (mesh.vertices[mesh.faces[:, k]] - mesh.vertices.mean(axis=0) for k in range(3))
    volumes = np.bincount(labels, weights=(np.cross(a, b) * c).sum(axis=1))
    return int((volumes > 0.0).sum())
