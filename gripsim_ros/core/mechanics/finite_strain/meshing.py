"""
The quadratic tetrahedra of a body that is to be squeezed, finer where it is touched.

The longest edges are halved, and points moved onto the curved surface, so that its facets are
not felt.
"""

from collections.abc import Callable

import numpy as np
from scipy.spatial import cKDTree

from ...arrays import Array, BoolArray, IntArray
from ...bodies import TriangleMesh
from ...bodies.decimate import decimate_mesh
from ...bodies.tetrahedra import fill_with_tetrahedra, tetrahedron_volumes
from ...contact import ContactMesh
from ...contact.geometry.closest_point import closest_points
from ...contact.geometry.curved_surface import CurvedSurface, lift_onto_surface
from ...numerics.kernels import njit
from ...numerics.vec3 import cross, dot, load_mat3_at, load_vec3, store_vec3, subtract
from ..quadratic_elements import EDGES, shape_slopes
from .solid import POINTS, QuadraticSolid


#: Faces that the mesher is given at most: its time grows with them.
MESHER_FACES = 2000
#: How far the mesher's surface may be from the body's, over the diagonal of its box [-].
ENVELOPES = (1e-3, 4e-3, 1e-2)
MOST_COARSE = 1500
#: Growth of the wanted edges with the distance from the contact [-].
GRADING = 1.5
#: Tetrahedra up to which edges are halved, about.
MAX_TETRAHEDRA = 3500
#: Smallest share of its volume that a tetrahedron keeps when its nodes go to the surface [-].
LEAST_SHARE = 0.3


def mesh_body(mesh: TriangleMesh, edge_length: float, contact: Array,
              contact_edge: float | Array) -> QuadraticSolid:
    """
    Return quadratic tetrahedra of a body, with curved sides on its surface.

    Parameters
    ----------
    mesh : TriangleMesh
        Closed, outward.
    edge_length : float
        Of the tetrahedra far from contact [m].
    contact : (k, 3) float
        Points near which the body will be touched [m].
    contact_edge : float or (k,) float
        Longest edges there [m].

    Raises
    ------
    MeshError
        The mesher is missing, failed, or took too long.
    """
    coarse = decimate_mesh(mesh, MESHER_FACES)
    for envelope in ENVELOPES:
        points, corners = fill_with_tetrahedra(coarse, edge_length, envelope)
        if len(corners) <= MOST_COARSE:
            break
    points, corners = refine(points, corners, _sizes(contact, contact_edge), MAX_TETRAHEDRA)
    surface = ContactMesh(mesh)
    outer = np.unique(QuadraticSolid.of_tetrahedra(points, corners).faces[:, :3])
    points = _fitted(surface, points, corners, outer)
    return _curved(surface, QuadraticSolid.of_tetrahedra(points, corners))


def _sizes(contact: Array, contact_edge: float | Array) -> Callable[[Array], Array]:
    tree, edges = cKDTree(contact), np.broadcast_to(contact_edge, len(contact))

    def wanted(middles: Array) -> Array:
        distances, nearest = tree.query(middles)
        return edges[nearest] + GRADING * np.maximum(0.0, distances - edges[nearest])
    return wanted


def _fitted(surface: ContactMesh, points: Array, corners: IntArray, outer: IntArray) -> Array:
    """Move points ``outer`` of the surface onto it, but where a tetrahedron would be crushed."""
    moved = points.copy()
    moved[outer], _ = closest_on_surface(surface, points[outer])
    before = tetrahedron_volumes(points, corners)
    while True:
        crushed = tetrahedron_volumes(moved, corners) < LEAST_SHARE * before
        back = np.unique(corners[crushed])
        back = back[(moved[back] != points[back]).any(axis=1)]
        if not len(back):
            return moved
        moved[back] = points[back]


def _curved(surface: ContactMesh, solid: QuadraticSolid) -> QuadraticSolid:
    """Move nodes amid edges of one smooth side onto it, but where an element would fold."""
    faces, nodes = solid.faces, solid.nodes.copy()
    places = nodes[faces].mean(axis=1)
    sides = closest_on_surface(surface, places)[1]
    first = np.full(len(nodes), np.iinfo(np.int64).max)
    last = np.full(len(nodes), -1)
    np.minimum.at(first, faces[:, 3:].ravel(), np.repeat(sides, 3))
    np.maximum.at(last, faces[:, 3:].ravel(), np.repeat(sides, 3))
    middle = np.flatnonzero(first == last)
    nodes[middle], _ = closest_on_surface(surface, nodes[middle])
    while True:
        folded = _least_jacobians(nodes[solid.elements]) < LEAST_SHARE
        back = np.unique(solid.elements[folded][:, 4:])
        back = back[(nodes[back] != solid.nodes[back]).any(axis=1)]
        if not len(back):
            return QuadraticSolid(nodes, solid.elements, faces)
        nodes[back] = solid.nodes[back]


def _least_jacobians(rows: Array) -> Array:
    """Return the smallest of an element's Jacobians over that of its straight form (T,) [-]."""
    places = np.vstack([POINTS, np.eye(4), 0.5 * np.eye(4)[EDGES].sum(axis=1)])
    jacobians = np.linalg.det(np.einsum('qas,tax->tqsx', shape_slopes(places, EDGES), rows))
    straight = np.linalg.det(rows[:, 1:4] - rows[:, :1])
    return jacobians.min(axis=1) / straight


#: Rounds of halving at most: each halves the longest edges that are too long.
MAX_ROUNDS = 24
#: Share of the tetrahedra there is still room for that a round chooses, the worst first [-]: each
#: asks some of its neighbours with it.
HALVED_SHARE = 0.3


def refine(points: Array, corners: IntArray, wanted: Callable[[Array], Array],
           most: int) -> tuple[Array, IntArray]:
    """
    Halve the longest edges of tetrahedra until none is longer than wanted there.

    Parameters
    ----------
    points : (N, 3) float
        [m]
    corners : (T, 4) int
    wanted : callable
        From middles of tetrahedra (T, 3) to the longest edges allowed (T,) [m].
    most : int
        Tetrahedra, about: where they do not suffice, the edges longest for their place are halved.

    Returns
    -------
    (M, 3) float, (S, 4) int
        The points given come first; volumes keep their signs, and neighbours fit.

    Notes
    -----
    Rivara, Int. J. Numer. Methods Eng. 20, 1984, 745: with a tetrahedron, its neighbours are
    halved at edges that are longest in them, so that no point hangs in another's side.
    """
    for _ in range(MAX_ROUNDS):
        edges = np.sort(corners[:, EDGES], axis=-1)
        lengths = np.linalg.norm(points[edges[..., 0]] - points[edges[..., 1]], axis=-1)
        excess = lengths.max(axis=1) / wanted(points[corners].mean(axis=1))
        room = int(HALVED_SHARE * (most - len(corners)))
        if not (excess > 1.0).any() or room < 1:
            break
        worst = np.argsort(excess, kind='stable')[-room:]
        points, corners = _halved(points, corners, worst[excess[worst] > 1.0])
    return points, corners


def _halved(points: Array, corners: IntArray, chosen: BoolArray) -> tuple[Array, IntArray]:
    """Halve the longest edges of chosen tetrahedra, and what that asks of the others."""
    pairs = np.sort(corners[:, EDGES], axis=-1).reshape(-1, 2)
    edges, index = np.unique(pairs, axis=0, return_inverse=True)
    index = index.reshape(-1, 6)
    lengths = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)
    rank = np.empty(len(edges), np.int64)       # one order for all, also among equal lengths
    rank[np.lexsort((np.arange(len(edges)), lengths))] = np.arange(len(edges))
    longest = index[np.arange(len(index)), rank[index].argmax(axis=1)]
    marked = np.zeros(len(edges), bool)
    marked[longest[chosen]] = True
    while True:
        asked = longest[marked[index].any(axis=1)]
        if marked[asked].all():
            break
        marked[asked] = True
    cut = edges[marked]
    middles = {(a, b): len(points) + k for k, (a, b) in enumerate(cut.tolist())}
    ranks = dict(zip(middles, rank[marked].tolist()))
    touched = marked[index].any(axis=1)
    pieces = [piece for row in corners[touched].tolist() for piece in _pieces(row, middles, ranks)]
    return (np.vstack([points, points[cut].mean(axis=1)]),
            np.vstack([corners[~touched], np.array(pieces, np.int64).reshape(-1, 4)]))


def _pieces(row: list[int], middles: dict[tuple[int, int], int],
            ranks: dict[tuple[int, int], int]) -> list[list[int]]:
    """Split a tetrahedron at its marked edges, the longest first."""
    best, where = -1, (0, 0)
    for i, j in EDGES.tolist():
        rank = ranks.get((min(row[i], row[j]), max(row[i], row[j])), -1)
        if rank > best:
            best, where = rank, (i, j)
    if best < 0:
        return [row]
    i, j = where
    middle = middles[min(row[i], row[j]), max(row[i], row[j])]
    first, second = list(row), list(row)
    first[i], second[j] = middle, middle
    return _pieces(first, middles, ranks) + _pieces(second, middles, ranks)


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
        store_vec3(lifted, k, moved)
    return lifted
