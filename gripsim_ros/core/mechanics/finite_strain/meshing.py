"""The quadratic tetrahedra of a body that is to be squeezed, finer where it is touched."""

from collections.abc import Callable

import numpy as np
from scipy.spatial import cKDTree

from ...arrays import Array, BoolArray, IntArray
from ...bodies import TriangleMesh
from ...bodies.decimate import decimate_mesh
from ...bodies.tetrahedra import fill_with_tetrahedra, tetrahedron_volumes
from ...contact import ContactMesh
from ..quadratic_elements import EDGES, shape_slopes
from .curved_sides import closest_on_surface
from .bisection import refine
from .solid import POINTS, QuadraticSolid

#: Faces that the mesher is given at most: its time grows with them.
MESHER_FACES = 2000
#: How far the mesher's surface may be from the body's, over the diagonal of its box [-].
ENVELOPES = (1e-3, 4e-3, 1e-2)
MOST_COARSE = 1500
#: Growth of the wanted edges with the distance from the contact [-].
GRADING = 1.0
#: Tetrahedra above which nothing is refined further.
MAX_TETRAHEDRA = 2000
#: Smallest share of its volume that a tetrahedron keeps when its nodes go to the surface [-].
LEAST_SHARE = 0.3


def mesh_body(mesh: TriangleMesh, edge_length: float, contact: Array,
              contact_edge: float) -> QuadraticSolid:
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
    contact_edge : float
        Longest edge there [m].

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
    outer = _surface_points(points, corners)
    points = _fitted(surface, points, corners, outer)
    return _curved(surface, QuadraticSolid.of_tetrahedra(points, corners))


def _sizes(contact: Array, contact_edge: float) -> Callable[[Array], Array]:
    tree = cKDTree(contact)

    def wanted(middles: Array) -> Array:
        distances, _ = tree.query(middles)
        return contact_edge + GRADING * np.maximum(0.0, distances - contact_edge)
    return wanted


def _surface_points(points: Array, corners: IntArray) -> BoolArray:
    sides = np.sort(corners[:, [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]], axis=-1)
    faces, count = np.unique(sides.reshape(-1, 3), axis=0, return_counts=True)
    outer = np.zeros(len(points), bool)
    outer[faces[count == 1]] = True
    return outer


def _fitted(surface: ContactMesh, points: Array, corners: IntArray, outer: BoolArray) -> Array:
    """Move the points of the surface onto it, but where a tetrahedron would be crushed."""
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
