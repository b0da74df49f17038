"""
A thin wall's displacements by unit loads: a shell from one of its faces to the other.

Derivation, accuracy and limits: docs/model/compliance.md, "Walls".
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix
from scipy.spatial.distance import cdist

from ...arrays import Array, BoolArray, IntArray
from ...bodies.topology import connected_labels, edge_table
from ...contact.geometry.closest_point import closest_points
from ...contact.geometry.ray_casting import AHEAD, cast_rays
from ...contact.geometry.vp_tree import VpTree, build_vp_tree
from ...contact.vertices.penetrating_vertices import barycentric_weights
from ...numerics.kernels import njit
from ...transforms import skew
from ..quadratic_elements import (
    PARTS, TRIANGLE_CURVATURES, TRIANGLE_NODES, TRIANGLE_SIDES, shape_functions, shape_slopes)
from .edge_collapse import unit_normals
from .quadrature import (
    nodal_areas, SEVEN_POINTS, SEVEN_WEIGHTS, THREE_POINTS, THREE_WEIGHTS)
from .remesh import QuadraticSurface
from .substructures import balanced_responses, Structure

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
#: Least cosine of the outward normals of elements side by side on one face [-].
SMOOTH = 0.5
#: Modulus over E against turns about the normal that the wall does not make [-].
SPIN = 1e-2
#: Share of the stiffness by seven points an element; the rest is by three, which lock less [-].
FULL = 0.02
#: Distance of a node from the elements that have a wall behind them, over the thickness, at
#: most [-].
REACH = 2.2


class _Places(NamedTuple):
    """
    Points of quadrature on one face and what is opposite, ``k`` of them.

    ``elements (k,)`` and their ``nodes (k, 6)``; ``shapes (k, 6)`` and their ``slopes (k, 6, 2)``
    along the face's two parameters; ``tangents, tangents_across (k, 2, 3)`` along them and
    ``ways (k, 3)`` to the opposite face [m]; ``weights (k,)``.
    """

    elements: IntArray
    nodes: IntArray
    shapes: Array
    slopes: Array
    tangents: Array
    tangents_across: Array
    ways: Array
    weights: Array

    def of(self, elements: BoolArray) -> '_Places':
        """Return those of some elements (m,) alone."""
        chosen = elements[self.elements]
        return _Places(self.elements[chosen], self.nodes[chosen], self.shapes[chosen],
                       self.slopes[chosen], self.tangents[chosen], self.tangents_across[chosen],
                       self.ways[chosen], self.weights[chosen])


def solve_shell(surface: QuadraticSurface, fine: QuadraticSurface, normals: Array,
                poisson_ratio: float, volume: float, thickness: float
                ) -> tuple[Array, Array] | None:
    """
    Return displacements by unit forces along normals of a body that is a thin wall all over.

    Parameters
    ----------
    surface : QuadraticSurface
        Of ``n`` nodes, on both faces of the wall.
    fine : QuadraticSurface
        The same body's; one face of it has the shell's elements.
    normals : (n, 3) float
        Unit, into the body.
    poisson_ratio : float
    volume, thickness : float
        Of the body [m^3], of its wall about [m].

    Returns
    -------
    moves : (n, 3, n) float
        Of node i by a force at node j, at E = 1 Pa and 1 N, without rigid motion [m]. What is
        dented of one face alone is the half-space's.
    inverse : (n, n) float
        1/r between nodes, 0 from one to itself [1/m].

    None where the body is no wall all over.

    Raises
    ------
    numpy.linalg.LinAlgError
        A part of it is held by nothing.

    Notes
    -----
    Source: a degenerate shell (Ahmad, Irons & Zienkiewicz 1970), by reduced quadrature
    (Zienkiewicz, Taylor & Too 1971). Departures: it lies between the elements of one face and
    what rays meet opposite; its nodes turn about three axes, about the normal with the wall.
    """
    stiffness, elements, walls, both = _assemble(fine, poisson_ratio, thickness)
    if not (SHARES[0] * volume <= walls and max(walls, 0.5 * both) <= SHARES[1] * volume):
        return None
    reading, hosts, ways = _reading(surface.points, fine, elements)
    if ways.max() > REACH * thickness:
        return None
    nodes = fine.elements[elements]
    structure = Structure(stiffness, nodes, fine.points[nodes].mean(axis=1), reading, hosts)
    areas = nodal_areas(surface.points, surface.elements)
    return (balanced_responses(structure, surface.points, areas, normals),
            _inverse_distances(surface.points))


def _inverse_distances(points: Array) -> Array:
    """Return 1/r between points (n, n), 0 from one to itself [1/m]."""
    distances = cdist(points, points)
    np.fill_diagonal(distances, np.inf)
    return 1.0 / distances


def bending_radius(surface: QuadraticSurface) -> float:
    """Return the radius that half of the elements are bent by, at least [m]."""
    corners = surface.points[surface.elements]
    tangents = np.einsum('ks,mkx->msx', shape_slopes(
        TRIANGLE_NODES[:3].mean(axis=0)[None], TRIANGLE_SIDES)[0], corners)
    _, turns = _normals(tangents, np.einsum('kst,mkx->mstx', TRIANGLE_CURVATURES, corners))
    lengths = tangents @ tangents.swapaxes(1, 2)
    bends = np.linalg.eigvals(np.linalg.solve(lengths, turns @ tangents.swapaxes(1, 2)))
    return float(1.0 / max(np.median(np.abs(bends).max(axis=1)), 1e-300))


def _assemble(fine: QuadraticSurface, poisson_ratio: float, thickness: float
              ) -> tuple[csr_matrix, IntArray, float, float]:
    """
    Return the stiffness (6 m, 6 m) at E = 1 Pa and its elements.

    Then the volumes that walls hold [m^3]: those behind them, and behind both faces together.
    """
    few = _places_of(fine, thickness, THREE_POINTS, THREE_WEIGHTS)
    few = few.of(np.bincount(few.elements, minlength=len(fine.elements)) == len(THREE_POINTS))
    volumes = _volumes(few)
    face = _one_face(fine, few.elements, volumes)
    many = _places_of(fine, thickness, SEVEN_POINTS, SEVEN_WEIGHTS).of(face)
    law, spin = _law(poisson_ratio), np.diag([0.0, 0.0, SPIN, 0.0, 0.0, 0.0])
    locking, walls = _stiffness(len(fine.points), many, FULL * law + spin)
    soft, _ = _stiffness(len(fine.points), few.of(face), (1.0 - FULL) * law)
    return locking + soft, np.flatnonzero(face), walls, float(volumes.sum())


def _places_of(surface: QuadraticSurface, thickness: float, places: Array, weights: Array
               ) -> _Places:
    """Return the points of quadrature (q, 3) on all elements that have a wall behind them."""
    shapes = shape_functions(places, TRIANGLE_SIDES)
    slopes = shape_slopes(places, TRIANGLE_SIDES)
    corners = surface.points[surface.elements]
    tangents = np.einsum('qks,mkx->mqsx', slopes, corners).reshape(-1, 2, 3)
    normals, turns = _normals(tangents, np.repeat(np.einsum(
        'kst,mkx->mstx', TRIANGLE_CURVATURES, corners), len(places), axis=0))
    points = np.einsum('qk,mkx->mqx', shapes, corners).reshape(-1, 3)
    found, opposite, there = _across(surface, points, normals, thickness)
    across, behind = shape_functions(there, TRIANGLE_SIDES), shape_slopes(there, TRIANGLE_SIDES)
    others = surface.points[surface.elements[opposite]]
    ways = np.einsum('ik,ikx->ix', across, others) - points[found]
    along = np.einsum('iks,ikx->isx', behind, others)
    opposite_normals, _ = _normals(along)
    # The opposite point moves with the foot of the normal, in the plane of its own face.
    moved = tangents[found] - np.linalg.norm(ways, axis=1)[:, None, None] * turns[found]
    opposed = (normals[found] * opposite_normals).sum(axis=1)
    rises = ((moved * opposite_normals[:, None]).sum(axis=2)
             / np.where(opposed < OPPOSED, opposed, -1.0)[:, None])
    moved -= rises[:, :, None] * normals[found][:, None]
    growth = ((moved * tangents[found]).sum(axis=2)
              / (tangents[found] ** 2).sum(axis=2)).min(axis=1)
    good = (opposed < OPPOSED) & (growth > LEAST_GROWTH)
    element, point = np.divmod(found[good], len(places))
    return _Places(element, surface.elements[element], shapes[point],
                   slopes[point], tangents[found][good], moved[good], ways[good],
                   weights[point])


def _normals(tangents: Array, curvatures: Array | None = None) -> tuple[Array, Array]:
    """
    Return unit normals (k, 3), and their changes along both parameters (k, 2, 3).

    ``tangents (k, 2, 3)`` along two parameters, ``curvatures (k, 2, 2, 3)`` their changes.
    """
    products = np.cross(tangents[:, 0], tangents[:, 1])
    areas = np.linalg.norm(products, axis=1)
    normals = products / areas[:, None]
    if curvatures is None:
        return normals, np.zeros_like(tangents)
    changes = (np.cross(curvatures[:, 0], tangents[:, None, 1])
               + np.cross(tangents[:, None, 0], curvatures[:, 1]))
    changes -= (changes * normals[:, None]).sum(axis=2)[:, :, None] * normals[:, None]
    return normals, changes / areas[:, None, None]


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


def _volumes(places: _Places) -> Array:
    """Return what each point (k,) stands for of the wall behind it [m^3]."""
    middle = np.cross(*(0.5 * (places.tangents + places.tangents_across)).swapaxes(0, 1))
    return 0.5 * places.weights * np.abs((middle * places.ways).sum(axis=1))


def _one_face(surface: QuadraticSurface, elements: IntArray, volumes: Array) -> BoolArray:
    """Return which elements are the face, in one piece, that most of the wall is behind."""
    count = len(surface.elements)
    walls = np.bincount(elements, volumes, count)
    corners = surface.points[surface.elements[:, :3]]
    outward, middles = unit_normals(corners), corners.mean(axis=1)
    first, second = edge_table(surface.elements[:, :3]).pairs[0].T // 3
    rises = ((middles[second] - middles[first]) * outward[first]).sum(axis=1)
    smooth = (outward[first] * outward[second]).sum(axis=1) > SMOOTH
    beside = (smooth | (rises > 0.0)) & (walls[first] > 0.0) & (walls[second] > 0.0)
    pieces = connected_labels(np.stack([first, second], axis=1)[beside], count)
    return (walls > 0.0) & (pieces == np.bincount(pieces, walls).argmax())


def _reading(points: Array, fine: QuadraticSurface, elements: IntArray
             ) -> tuple[csr_matrix, IntArray, Array]:
    """
    Return displacements of points (3 n, 6 m) by the shell's.

    Then which of its elements each reads, and their ways from these [m].
    """
    count = len(points)
    shell = QuadraticSurface(fine.points, fine.elements[elements])
    tree = build_vp_tree(shell.points, shell.parts)
    ways, closest, positions = closest_points(tree, np.ascontiguousarray(points), np.inf)
    part, element = np.divmod(tree.faces[positions], len(elements))
    shares = barycentric_weights(tree.corners[positions], closest)
    shapes = shape_functions(np.einsum('ic,ick->ik', shares, TRIANGLE_NODES[PARTS[part]]),
                             TRIANGLE_SIDES)
    nodes = shell.elements[element]
    arms = points - np.einsum('ik,ikx->ix', shapes, shell.points[nodes])
    values = shapes[:, :, None, None] * np.concatenate([
        np.broadcast_to(np.eye(3), (count, 3, 3)), -skew(arms)], axis=2)[:, None]
    rows = 3 * np.arange(count)[:, None, None, None] + np.arange(3)[:, None]
    columns = 6 * nodes[:, :, None, None] + np.arange(6)
    rows, columns = np.broadcast_arrays(rows, columns)
    return coo_matrix((values.ravel(), (rows.ravel(), columns.ravel())),
                      shape=(3 * count, 6 * len(fine.points))).tocsr(), element, ways


def _stiffness(count: int, places: _Places, law: Array) -> tuple[csr_matrix, float]:
    """Return the stiffness (6 n, 6 n) at E = 1 Pa and the volume of the walls [m^3]."""
    k = len(places.nodes)
    parts, held = np.zeros((k, 36, 36)), 0.0
    for share in ACROSS:
        base = np.concatenate([(1.0 - share) * places.tangents + share * places.tangents_across,
                               places.ways[:, None]], axis=1)
        sizes = 0.25 * places.weights * np.abs(np.linalg.det(base))
        held += sizes.sum()
        strains = _strains(places, share, base)
        parts += np.einsum('k,kra,rs,ksb->kab', sizes, strains, law, strains, optimize=True)
    _, firsts = np.unique(places.elements, return_index=True)
    parts = np.add.reduceat(parts, firsts)
    rows = (6 * places.nodes[firsts][:, :, None] + np.arange(6)).reshape(-1, 36)
    shape = 6 * count, 6 * count
    matrix = coo_matrix((parts.ravel(), (np.repeat(rows, 36, axis=1).ravel(),
                                         np.tile(rows, (1, 36)).ravel())), shape=shape)
    return matrix.tocsr(), float(held)


def _law(poisson_ratio: float) -> Array:
    """Return stress over strain (6, 6) of a shell: 11, 22, no spin, 12, 13, 23."""
    shear = 0.5 / (1.0 + poisson_ratio)
    law = np.diag([1.0, 1.0, 0.0, shear, SHEAR_SHARE * shear, SHEAR_SHARE * shear])
    # Bending leaves no stress across the wall, and a linear field could not yield there.
    law[:2, :2] = np.array([[1.0, poisson_ratio], [poisson_ratio, 1.0]]) / (
        1.0 - poisson_ratio ** 2)
    return law


def _strains(places: _Places, share: float, base: Array) -> Array:
    """Return the strains (k, 6, 36) by the six nodes' ways and turns at a share of the wall."""
    k = len(base)
    slopes = np.zeros((k, 3, 3, 6, 6))      # by parameter, of component, by node, its way and turn
    turned = -skew(places.ways)
    slopes[:, :2, :, :, :3] = np.einsum('kap,xy->kpxay', places.slopes, np.eye(3))
    slopes[:, :2, :, :, 3:] = share * (
        np.einsum('kap,kxy->kpxay', places.slopes, turned)
        + np.einsum('ka,kpxy->kpxay', places.shapes,
                    -skew(places.tangents_across - places.tangents)))
    slopes[:, 2, :, :, 3:] = np.einsum('ka,kxy->kxay', places.shapes, turned)
    third = base[:, 2] / np.linalg.norm(base[:, 2], axis=1)[:, None]
    first = base[:, 0] - (base[:, 0] * third).sum(axis=1)[:, None] * third
    first /= np.linalg.norm(first, axis=1)[:, None]
    axes = np.stack([first, np.cross(third, first), third], axis=1)
    along = np.einsum('kix,kxp,kpyaq,kjy->kijaq', axes, np.linalg.inv(base), slopes, axes,
                      optimize=True).reshape(k, 3, 3, 36)
    turns = np.zeros((k, 6, 6))
    turns[:, :, 3:] = places.shapes[:, :, None] * third[:, None]
    spun = turns.reshape(k, 36) - 0.5 * (along[:, 0, 1] - along[:, 1, 0])
    return np.stack([along[:, 0, 0], along[:, 1, 1], spun, along[:, 0, 1] + along[:, 1, 0],
                     along[:, 0, 2] + along[:, 2, 0], along[:, 1, 2] + along[:, 2, 1]], axis=1)
