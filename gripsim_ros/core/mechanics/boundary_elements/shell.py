"""
A thin wall's displacements by unit loads: a shell between the triangles of both its faces.

Derivation, accuracy and limits: docs/model/compliance.md, "Walls".
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_matrix, csc_matrix, diags, identity, kron
from scipy.sparse.linalg import splu
from scipy.spatial import cKDTree

from ...arrays import Array, BoolArray, IntArray
from ...bodies.topology import edge_table, vertex_graph
from ...contact.geometry.ray_casting import AHEAD, cast_rays
from ...contact.geometry.vp_tree import VpTree, build_vp_tree
from ...contact.vertices.penetrating_vertices import barycentric_weights
from ...numerics.kernels import njit
from ..quadratic_elements import (
    PARTS, TRIANGLE_CURVATURES, TRIANGLE_NODES, TRIANGLE_SIDES, shape_functions, shape_slopes)
from .quadrature import nodal_areas, rigid_motions, SEVEN_POINTS, SEVEN_WEIGHTS
from .remesh import QuadraticSurface

#: Start of a ray below its face, over the thickness expected [-]: the elements are curved, the
#: triangles that rays meet are not.
RAY_START = 0.2
#: Largest cosine of the outward normals of both faces, and least growth of lengths along a face
#: across the wall [-]: what is round, as a rod, is no wall.
OPPOSED, LEAST_GROWTH = -0.5, 0.3
#: Largest thickness over the one expected [-]: rays from a rim run along the wall, and handles are
#: no walls.
THICKEST = 1.6
#: Share of a body's volume that its walls must hold, and may [-]: all sides of a box have another
#: opposite.
SHARES = 0.9, 1.1
#: Points across the wall, and shear's share that bends as much as a parabola of it (Reissner).
ACROSS, SHEAR_SHARE = 0.5 + np.array([-0.5, 0.5]) / np.sqrt(3.0), 5.0 / 6.0
#: Stiffness of a node over the median below which it has none [-].
NO_STIFFNESS = 1e-9
#: Distance of such a node from those that have, over the thickness, at most [-].
REACH = 1.5
#: Right-hand sides that are solved at a time.
BLOCK = 256


class _Places(NamedTuple):
    """
    Points of quadrature on one face and what is opposite, ``k`` of them.

    ``nodes (k, 12)`` of the element and of the opposite one; ``shapes, across (k, 6)`` and their
    ``slopes, slopes_across (k, 6, 2)`` along the face's two parameters; ``tangents,
    tangents_across (k, 2, 3)`` along them and ``ways (k, 3)`` to the opposite face [m];
    ``weights (k,)``.
    """

    nodes: IntArray
    shapes: Array
    across: Array
    slopes: Array
    slopes_across: Array
    tangents: Array
    tangents_across: Array
    ways: Array
    weights: Array


def solve_shell(surface: QuadraticSurface, normals: Array, poisson_ratio: float, volume: float,
                thickness: float) -> tuple[Array, Array] | None:
    """
    Return displacements by unit forces along normals of a body that is a thin wall all over.

    Parameters
    ----------
    surface : QuadraticSurface
        Of ``n`` nodes, on both faces of the wall.
    normals : (n, 3) float
        Unit, into the body.
    poisson_ratio : float
    volume, thickness : float
        Of the body [m^3], of its wall about [m].

    Returns
    -------
    moves : (n, 3, n) float
        Of the wall's middle at node i by a force at node j, at E = 1 Pa and 1 N, without rigid
        motion [m]. What is dented of one face alone is the half-space's.
    inverse : (n, n) float
        1/r between nodes, 0 from one to itself [1/m].

    None where the body is no wall all over.

    Raises
    ------
    numpy.linalg.LinAlgError
        A part of it is held by nothing.

    Notes
    -----
    Source: a degenerate shell (Ahmad, Irons & Zienkiewicz 1970) whose thickness runs from face to
    face; departure: each face keeps its own triangles, and the field between a point and the one
    opposite is linear. Both faces carry half.
    """
    stiffness, walls = _stiffness(len(surface.points), _places_of(surface, thickness),
                                  poisson_ratio)
    if not SHARES[0] * volume <= walls <= SHARES[1] * volume:
        return None
    sizes = stiffness.diagonal().reshape(-1, 3).max(axis=1)
    held = sizes > NO_STIFFNESS * np.median(sizes)
    ways = cKDTree(surface.points[held]).query(surface.points[~held])[0]
    if ways.max(initial=0.0) > REACH * thickness:
        return None
    squares = ((surface.points[:, None] - surface.points) ** 2).sum(axis=2)
    np.fill_diagonal(squares, np.inf)
    return (_solve(surface, normals, stiffness, held, _middle(surface, normals, thickness)),
            1.0 / np.sqrt(squares))


def _places_of(surface: QuadraticSurface, thickness: float) -> _Places:
    """Return the points of quadrature that have a wall behind them."""
    shapes = shape_functions(SEVEN_POINTS, TRIANGLE_SIDES)
    slopes = shape_slopes(SEVEN_POINTS, TRIANGLE_SIDES)
    corners = surface.points[surface.elements]
    tangents = np.einsum('qks,mkx->mqsx', slopes, corners).reshape(-1, 2, 3)
    normals, _, turns = _normals(tangents, np.repeat(np.einsum(
        'kst,mkx->mstx', TRIANGLE_CURVATURES, corners), len(SEVEN_POINTS), axis=0))
    points = np.einsum('qk,mkx->mqx', shapes, corners).reshape(-1, 3)
    found, opposite, there = _across(surface, points, normals, thickness)
    across, behind = shape_functions(there, TRIANGLE_SIDES), shape_slopes(there, TRIANGLE_SIDES)
    others = surface.points[surface.elements[opposite]]
    ways = np.einsum('ik,ikx->ix', across, others) - points[found]
    along = np.einsum('iks,ikx->isx', behind, others)
    opposite_normals, _, _ = _normals(along)
    # The opposite point moves with the foot of the normal, in the plane of its own face.
    moved = tangents[found] - np.linalg.norm(ways, axis=1)[:, None, None] * turns[found]
    opposed = (normals[found] * opposite_normals).sum(axis=1)
    rises = ((moved * opposite_normals[:, None]).sum(axis=2)
             / np.where(opposed < OPPOSED, opposed, -1.0)[:, None])
    moved -= rises[:, :, None] * normals[found][:, None]
    growth = ((moved * tangents[found]).sum(axis=2)
              / (tangents[found] ** 2).sum(axis=2)).min(axis=1)
    good = (opposed < OPPOSED) & (growth > LEAST_GROWTH)
    steps = np.linalg.solve(np.einsum('isx,itx->ist', along, along)[good],
                            np.einsum('isx,iax->isa', along, moved)[good])
    element, point = np.divmod(found[good], len(SEVEN_POINTS))
    return _Places(
        np.hstack([surface.elements[element], surface.elements[opposite[good]]]), shapes[point],
        across[good], slopes[point], np.einsum('iks,isa->ika', behind[good], steps),
        tangents[found][good], moved[good], ways[good], 0.5 * SEVEN_WEIGHTS[point])


def _normals(tangents: Array, curvatures: Array | None = None) -> tuple[Array, Array, Array]:
    """
    Return unit normals (k, 3), areas (k,), and the normals' changes along both (k, 2, 3).

    ``tangents (k, 2, 3)`` along two parameters, ``curvatures (k, 2, 2, 3)`` their changes.
    """
    products = np.cross(tangents[:, 0], tangents[:, 1])
    areas = np.linalg.norm(products, axis=1)
    normals = products / areas[:, None]
    if curvatures is None:
        return normals, areas, np.zeros_like(tangents)
    changes = (np.cross(curvatures[:, 0], tangents[:, None, 1])
               + np.cross(tangents[:, None, 0], curvatures[:, 1]))
    changes -= (changes * normals[:, None]).sum(axis=2)[:, :, None] * normals[:, None]
    return normals, areas, changes / areas[:, None, None]


def _across(surface: QuadraticSurface, points: Array, normals: Array, thickness: float
            ) -> tuple[IntArray, IntArray, Array]:
    """
    Return which points have a wall behind them, and what is opposite.

    Numbers of the points (f,), of the elements opposite (f,), and barycentric places there (f, 3).
    """
    tree = build_vp_tree(surface.points, surface.parts)
    start = RAY_START * thickness
    distances, positions = _look_across(tree, points - start * normals, -normals)
    found = np.flatnonzero(distances + start < THICKEST * thickness)
    hits = points[found] - (start + distances[found])[:, None] * normals[found]
    part, opposite = np.divmod(tree.faces[positions[found]], len(surface.elements))
    shares = barycentric_weights(tree.corners[positions[found]], hits)
    return found, opposite, np.einsum('ic,ick->ik', shares, TRIANGLE_NODES[PARTS[part]])


@njit(cache=True)
def _look_across(tree: VpTree, points: Array, directions: Array) -> tuple[Array, IntArray]:
    """Return how far the mesh is from points along directions of their own, and where in it."""
    distances, positions = np.empty(len(points)), np.empty(len(points), np.int64)
    for k in range(len(points)):
        hits = cast_rays(tree, points[k:k + 1], directions[k], 0.0)
        distances[k], positions[k] = hits.distances[0, AHEAD], hits.positions[0, AHEAD]
    return distances, positions


def _stiffness(count: int, places: _Places, poisson_ratio: float) -> tuple[csc_matrix, float]:
    """Return the stiffness (3 n, 3 n) at E = 1 Pa and the volume of the walls [m^3]."""
    law = _law(poisson_ratio)
    k = len(places.nodes)
    parts, held = np.zeros((k, 36, 36)), 0.0
    for share in ACROSS:
        base = np.concatenate([(1.0 - share) * places.tangents + share * places.tangents_across,
                               places.ways[:, None]], axis=1)
        sizes = 0.25 * places.weights * np.abs(np.linalg.det(base))
        held += sizes.sum()
        strains = _strains(places, share, base)
        parts += np.einsum('k,kra,rs,ksb->kab', sizes, strains, law, strains, optimize=True)
    rows = (3 * places.nodes[:, :, None] + np.arange(3)).reshape(k, 36)
    shape = 3 * count, 3 * count
    matrix = coo_matrix((parts.ravel(), (np.repeat(rows, 36, axis=1).ravel(),
                                         np.tile(rows, (1, 36)).ravel())), shape=shape)
    return matrix.tocsc(), float(held)


def _law(poisson_ratio: float) -> Array:
    """Return stress over strain (6, 6) of a shell: 11, 22, 33 (thickness), 12, 13, 23."""
    shear = 0.5 / (1.0 + poisson_ratio)
    law = np.diag([1.0, 1.0, 1.0, shear, SHEAR_SHARE * shear, SHEAR_SHARE * shear])
    # Bending leaves no stress across the wall, and a linear field could not yield there.
    law[:2, :2] = np.array([[1.0, poisson_ratio], [poisson_ratio, 1.0]]) / (
        1.0 - poisson_ratio ** 2)
    return law


def _strains(places: _Places, share: float, base: Array) -> Array:
    """Return the strains (k, 6, 36) of the twelve nodes' displacements at a share of the wall."""
    k = len(base)
    slopes = np.zeros((k, 12, 3))
    slopes[:, :6, :2], slopes[:, :6, 2] = (1.0 - share) * places.slopes, -places.shapes
    slopes[:, 6:, :2], slopes[:, 6:, 2] = share * places.slopes_across, places.across
    third = base[:, 2] / np.linalg.norm(base[:, 2], axis=1)[:, None]
    first = base[:, 0] - (base[:, 0] * third).sum(axis=1)[:, None] * third
    first /= np.linalg.norm(first, axis=1)[:, None]
    axes = np.stack([first, np.cross(third, first), third], axis=1)
    along = np.einsum('kix,kxp,kap->kia', axes, np.linalg.inv(base), slopes, optimize=True)
    strains = np.empty((k, 6, 12, 3))
    for row, (i, j) in enumerate(((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))):
        strains[:, row] = along[:, i, :, None] * axes[:, None, j]
        if i != j:
            strains[:, row] += along[:, j, :, None] * axes[:, None, i]
    return strains.reshape(k, 6, 36)


def _ties(surface: QuadraticSurface, held: BoolArray) -> csc_matrix:
    """Return displacements of all nodes (n, h) by those held: others, as on rims, lie between."""
    count = len(held)
    all_nodes = identity(count, format='csc')
    if held.all():
        return all_nodes
    graph = vertex_graph(edge_table(surface.parts).ends, count)
    balance = csc_matrix(diags(graph.sum(axis=1).A1) - graph)[~held]
    between = np.linalg.solve(balance[:, ~held].toarray(), -balance[:, held].toarray())
    return csc_matrix(all_nodes[:, held] + all_nodes[:, ~held] @ csc_matrix(between))


def _middle(surface: QuadraticSurface, normals: Array, thickness: float) -> csc_matrix:
    """Return how much of each node's displacement (n, n) the middle of the wall there has."""
    count = len(surface.points)
    found, opposite, there = _across(surface, surface.points, -normals, thickness)
    facing = (normals[found] * normals[surface.elements[opposite, 0]]).sum(axis=1) < OPPOSED
    found, opposite, there = found[facing], opposite[facing], there[facing]
    own = np.ones(count)
    own[found] = 0.5
    values = 0.5 * shape_functions(there, TRIANGLE_SIDES)
    places = np.repeat(found, 6), surface.elements[opposite].ravel()
    others = coo_matrix((values.ravel(), places), shape=(count, count))
    return csc_matrix(diags(own) + others)


def _solve(surface: QuadraticSurface, normals: Array, stiffness: csc_matrix, held: BoolArray,
           middle: csc_matrix) -> Array:
    """
    Return displacements (n, 3, n) of the wall's middle by unit forces on it.

    Three held nodes bear rigid motions.
    """
    points, middle = surface.points, csc_matrix(kron(middle, identity(3)))
    tied = csc_matrix(kron(_ties(surface, held), identity(3)))[:, _not_pinned(points[held])]
    try:
        factor = splu(csc_matrix(tied.T @ stiffness @ tied), permc_spec='MMD_AT_PLUS_A',
                      diag_pivot_thresh=0.0, options={'SymmetricMode': True})
    except RuntimeError as error:       # SuperLU's word for a part that nothing holds
        raise np.linalg.LinAlgError(str(error)) from error
    areas = nodal_areas(points, surface.elements)
    motions = rigid_motions(points, areas).reshape(-1, 6)
    weighted = np.repeat(areas, 3)[:, None] * motions
    gram = motions.T @ weighted
    moves = np.empty((points.size, len(points)))
    for begin in range(0, len(points), BLOCK):
        nodes = np.arange(begin, min(begin + BLOCK, len(points)))
        forces = np.zeros((len(points), 3, len(nodes)))
        forces[nodes, :, nodes - begin] = normals[nodes]
        forces = middle.T @ forces.reshape(points.size, -1)
        forces -= weighted @ np.linalg.solve(gram, motions.T @ forces)
        found = tied @ factor.solve(tied.T @ forces)
        moves[:, nodes] = middle @ (found - motions @ np.linalg.solve(gram, weighted.T @ found))
    return moves.reshape(len(points), 3, -1)


def _not_pinned(points: Array) -> IntArray:
    """Return all displacements of points (h, 3) but six that hold them without a stress."""
    first = points[:, 0].argmax()
    second = ((points - points[first]) ** 2).sum(axis=1).argmax()
    along = points[second] - points[first]
    across = np.cross(along, points - points[first])
    third = (across ** 2).sum(axis=1).argmax()
    pinned = [*(3 * first + np.arange(3)), *(3 * second + np.argsort(np.abs(along))[:2]),
              3 * third + np.abs(across[third]).argmax()]
    return np.setdiff1d(np.arange(points.size), pinned)
