"""Edges of a body between its smooth sides, and where its own compliance tells them."""

import numpy as np

from ..arrays import Array, BoolArray, IntArray
from ..batches import PATCH_GUESSED, PATCH_OVER_EDGE, PATCH_REACHES_OBJECT_EDGE
from ..bodies import TriangleMesh
from ..bodies.mesh import SMOOTH_ANGLE, unit_rows
from ..contact.geometry.closest_point import closest_points
from ..contact.geometry.contact_mesh import ContactMesh
from .boundary_elements.body_compliance import BodyCompliance
from .boundary_elements.node_correction import NodeCorrection
from .contact.contact_forces import ContactForces, PatchNodes
from .contact.patch_resultants import PatchResultants, press_alone

#: Least radius of the ball that touches both sides of an edge, one of them at a contact's centre
#: of pressure, over the distance of the compliance's nodes, for the edge to be told [-].
EDGE_BALL = 0.4
#: Largest way from an edge to the nearest of its nodes, over their distance [-].
NODE_SPACINGS = 1.0
#: Turn of an edge below which sides may be curved over wide triangles beside it [rad]; largest way
#: by which the surface is a guess over a contact's indentation: forces go with the power 1.5 of
#: depths, and are a tenth off [-].
BLUNT_TURN, MOST_GUESSED = np.deg2rad(59.0), 1.0 / 15.0
#: Least way to such an edge, and to one that no nodes are at, over the distance of nodes and over
#: the contact's radius [-].
EDGE_SPACINGS, EDGE_RADII = 1.1, 0.9
#: Largest way of the surface along itself under a contact at an edge, over its radius: an edge
#: that cuts it in the middle goes over 2 / pi of that of its area, at 1.5 of the mean pressure at
#: most, so that a tenth of the force is met or missed [-].
MAX_SIDEWAYS = 0.1
#: Largest way of the surface along itself under a contact at an edge, over its indentation [-].
MAX_FOLLOWED = 0.8
#: Largest turn of an edge that a link may press over; blunt ones it may not, nor grooves [rad].
OVER_TURN = np.deg2rad(95.0)
#: Of a link that may: largest way of its centre of pressure from an edge, over its radius; least
#: force, over the largest there is, as what others do to the body adds up in small ones [-].
OVER_RADII, OVER_SHARE = 0.8, 0.6
#: Share of a contact's force that may be pushed askew of its main face, or bear beyond it, for an
#: edge to be beside it, or be borne along other sides than both of the edge that it is over; least
#: cosine to the main face's normal of what is on it [-].
MOST_ASIDE, ON_FACE = 0.1, np.cos(np.deg2rad(30.0))

#: Least number that is divided by.
TINY = np.finfo(float).tiny
#: Sum of the forces that stand for a contact's, over their sizes, below which it is so small that
#: they do not tell where it is [-].
FAINT = 0.5


class BodyEdges:
    """
    Edges of a body.

    Parameters
    ----------
    mesh : TriangleMesh
        Closed.

    Attributes
    ----------
    surface : ContactMesh
        The body's own.
    """

    def __init__(self, mesh: TriangleMesh) -> None:
        self.surface, faces = ContactMesh(mesh), mesh.edge_faces
        sides, self._guesses = np.empty(len(mesh.faces), np.int64), np.empty(len(mesh.faces))
        sides[self.surface.tree.faces] = self.surface.surface.sides
        sharp = sides[faces[:, 0]] != sides[faces[:, 1]]
        self._guesses[self.surface.tree.faces] = self.surface.surface.limits
        self._guesses *= _largest_folds(mesh, ~sharp) ** 2
        ends = mesh.vertices[mesh.edges[sharp]]
        self._first, self._along = ends[:, 0], ends[:, 1] - ends[:, 0]
        dihedrals = mesh.dihedral_angles[sharp]
        self._untold = (dihedrals < 0.0) | (dihedrals > OVER_TURN)
        turns = np.abs(dihedrals)                       # grooves as ridges
        self._beside = np.where(turns < BLUNT_TURN, self._guesses[faces[sharp]].max(axis=1), 0.0)
        # Of half the angle between the sides, which is (pi - turn) / 2.
        self._tangents = np.minimum(1.0, 1.0 / np.tan(0.5 * turns))

    def _ways(self, points: Array) -> tuple[Array, Array]:
        """Return distances (p, m) of points to all edges [m], and nearest places (p, m, 3)."""
        offsets = points[:, None] - self._first
        squares = np.maximum((self._along ** 2).sum(axis=1), TINY)
        shares = np.clip(np.einsum('pmk,mk->pm', offsets, self._along) / squares, 0.0, 1.0)
        feet = self._first + shares[..., None] * self._along
        return np.sqrt(((points[:, None] - feet) ** 2).sum(axis=2)), feet

    def ways(self, points: Array) -> Array:
        """Return the distances of points (p, 3) -> (p,) to the nearest edge, else inf [m]."""
        return np.asarray(self._ways(points)[0].min(axis=1, initial=np.inf))

    def _are_blunt(self, indentations: Array) -> BoolArray:
        """Return which edges (p, m) are blunt between sides too curved for indentations (p,)."""
        return np.asarray(self._beside > MOST_GUESSED * indentations[:, None])

    def triangles_at(self, points: Array) -> IntArray:
        """Return the positions (k,) in the tree of the triangles that points (k, 3) lie on."""
        return closest_points(self.surface.tree, np.ascontiguousarray(points), np.inf)[2]

    def are_guessed(self, triangles: IntArray, loads: Array, indentations: Array) -> BoolArray:
        """
        Return for each contact if the surface under it is too much of a guess.

        Parameters
        ----------
        triangles : (k,) int
            Under the nodes: ``triangles_at``.
        loads : (p, k) float
            Forces of each contact on them [N].
        indentations : (p,) float
            Of the contacts [m].

        Returns
        -------
        (p,) bool

        Notes
        -----
        Own estimate: a smooth surface leaves wide triangles by the square of how far they turn,
        and its cubic is off by the fourth power. At ``SMOOTH_ANGLE`` triangles are faces of their
        own, so that the whole way is a guess: below it the square of the angle over it.
        """
        sums = loads @ self._guesses[self.surface.tree.faces[triangles]]
        return np.asarray(sums > MOST_GUESSED * indentations * loads.sum(axis=1))

    def shares_at_corners(self, triangles: IntArray, loads: Array, pushes: Array) -> Array:
        """
        Return the share of each contact's force that sides beyond two bear along themselves.

        Parameters
        ----------
        triangles : (k,) int
            Under the nodes: ``triangles_at``.
        loads, pushes : (p, k) float, (p, 3) float
            Forces of each contact on them [N], and the unit way in which it pushes.

        Returns
        -------
        (p,) float
            Of the sides but the two that bear most: their forces by the squared sine of what
            they lean from the push.
        """
        corners = self.surface.tree.corners[triangles]
        faces = unit_rows(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))
        _, sides = np.unique(self.surface.surface.sides[triangles], return_inverse=True)
        of_side = np.eye(sides.max(initial=0) + 1)[sides]
        along = loads * (1.0 - (pushes @ faces.T) ** 2) @ of_side
        order = np.argsort(loads @ of_side, axis=1)[:, :-2]
        return np.asarray(np.take_along_axis(along, order, axis=1).sum(axis=1)
                          / np.maximum(loads.sum(axis=1), TINY))

    def are_told_over(self, points: Array, radii: Array, indentations: Array, forces: Array
                      ) -> BoolArray:
        """
        Return for each contact that presses on both sides of an edge if it is told.

        Parameters
        ----------
        points, radii, indentations, forces : (p, 3), (p,), (p,), (p, 3) float
            Centres of pressure, radii, indentations [m] and forces [N].

        Returns
        -------
        (p,) bool

        Notes
        -----
        Own rule, measured against finite elements: docs/model/compliance.md, "Over an edge".
        """
        ways, sizes = self._ways(points)[0], np.linalg.norm(forces, axis=1)
        over = (ways <= OVER_RADII * radii[:, None]).any(axis=1)
        untold = self._untold | self._are_blunt(indentations)
        over &= ~((ways <= radii[:, None]) & untold).any(axis=1)
        return np.asarray(over & (sizes >= OVER_SHARE * sizes.max(initial=0.0)))

    def are_told(self, points: Array, radii: Array, indentations: Array,
                 compliance: BodyCompliance) -> BoolArray:
        """
        Return for each contact if the body's own compliance tells all edges there.

        Parameters
        ----------
        points : (p, 3) float
            Centres of pressure [m].
        radii, indentations : (p,) float
            Of the contacts [m].
        compliance : BodyCompliance

        Returns
        -------
        (p,) bool

        Notes
        -----
        Own rule, measured against finite elements: docs/model/compliance.md, "Edges".
        """
        spacing, (ways, feet) = compliance.surface.spacing, self._ways(points)
        far = ways >= np.maximum(EDGE_SPACINGS * spacing, EDGE_RADII * radii)[:, None]
        roomy = ways * self._tangents >= EDGE_BALL * spacing
        kept, nodes = np.zeros_like(far), compliance.edge_nodes
        near = np.nonzero(roomy & ~far & ~self._are_blunt(indentations))
        if len(nodes):
            gaps = ((feet[near][:, None] - nodes) ** 2).sum(axis=2).min(axis=1)
            kept[near] = gaps <= (NODE_SPACINGS * spacing) ** 2
        return np.asarray((roomy & (far | kept)).all(axis=1))


def _largest_folds(mesh: TriangleMesh, smooth: BoolArray) -> Array:
    """Return how far each triangle turns to a smooth neighbour at most, over what is smooth."""
    folds = np.zeros(len(mesh.faces))
    for column in range(2):
        np.maximum.at(folds, mesh.edge_faces[smooth, column],
                      np.abs(mesh.dihedral_angles[smooth]) / SMOOTH_ANGLE)
    return np.minimum(folds, 1.0)


def sideways(compliance: BodyCompliance, correction: NodeCorrection, forces: Array,
             members: BoolArray, normals: Array) -> Array:
    """
    Return how the surface under each contact goes along itself, without rigid motion.

    Parameters
    ----------
    compliance : BodyCompliance
    correction : NodeCorrection
        Of ``k`` nodes of patches.
    forces : (k,) float
        On them, along their normals [N].
    members : (p, k) bool
        Which of them are each contact's.
    normals : (p, 3) float
        Unit, of the contacts.

    Returns
    -------
    (p, 3) float
        Mean over the contact, weighted by its forces; 0 without [m]. Of a contact so small that
        the forces that stand for its all but cancel, by their sizes.
    """
    used = correction.used
    loads = np.array([correction.node_forces(np.where(mine, forces, 0.0)) for mine in members])
    moves = np.einsum('jia,j->ia', compliance.displacements[np.ix_(used, used)],
                      loads.sum(axis=0) / correction.modulus, dtype=float)
    sizes = abs(loads)
    faint = loads.sum(axis=1) < FAINT * sizes.sum(axis=1)
    weights = np.where(faint[:, None], sizes, loads)
    means = weights @ moves / np.maximum(weights.sum(axis=1), TINY)[:, None]
    return np.asarray(means - (means * normals).sum(axis=1)[:, None] * normals)


def edge_flags(edges: BodyEdges, compliance: BodyCompliance, results: PatchResultants,
               links: IntArray, flags: IntArray, solution: ContactForces, nodes: PatchNodes,
               followed: Array | None = None) -> IntArray:
    """
    Return flags without those of edges that the body's own compliance tells.

    And with those of folds below what counts as an edge, where the surface is a guess.

    Parameters
    ----------
    edges : BodyEdges
    compliance : BodyCompliance
    results : PatchResultants
    links, flags : (p,) int
        Link and flags of each.
    solution : ContactForces
        By this compliance.
    nodes : PatchNodes
        Which it is of.
    followed : (p, 3) float, optional
        Ways of the surface along itself that the contacts were found by; none without [m].

    Returns
    -------
    (p,) int

    Notes
    -----
    A contact that goes over an edge with a small share alone is one of its main face, which the
    edge is beside: docs/model/compliance.md, "Over an edge".
    """
    points = nodes.points[solution.rows]
    own = nodes.patches[solution.rows] == results.rows[:, None]
    loads, triangles = np.where(own, solution.forces, 0.0), edges.triangles_at(points)
    guessed = edges.are_guessed(triangles, loads, results.indentations)
    flags = np.where(guessed, flags | PATCH_GUESSED, flags)
    over = flags & PATCH_OVER_EDGE > 0
    if not (over.any() or (flags & PATCH_REACHES_OBJECT_EDGE).any()):
        return flags
    known = edges.are_told(results.points, results.radii, results.indentations, compliance)
    if (moved := solution.correction) is not None:
        known &= are_followed(
            sideways(compliance, moved, solution.forces, own, results.normals), followed, results)
    if over.any():
        beside = known & (shares_aside(compliance, results, points, loads) <= MOST_ASIDE)
        across = edges.are_told_over(results.points, results.radii, results.indentations,
                                     results.forces)
        across &= edges.shares_at_corners(triangles, loads, results.normals) <= MOST_ASIDE
        known = np.where(over, beside | across, known)
    return np.where(press_alone(links) & known & ~guessed,
                    flags & ~(PATCH_REACHES_OBJECT_EDGE | PATCH_OVER_EDGE), flags)


def are_followed(slides: Array, followed: Array | None, results: PatchResultants) -> BoolArray:
    """
    Return which contacts are where the surface has gone.

    Parameters
    ----------
    slides, followed : (p, 3) float
        Ways of the surface along itself, and those that contacts were found by [m].
    results : PatchResultants

    Returns
    -------
    (p,) bool
        What is left is short for the contact, and the way is for its indentation.
    """
    left = slides if followed is None else slides - followed
    return np.asarray((np.linalg.norm(left, axis=1) <= MAX_SIDEWAYS * results.radii)
                      & (np.linalg.norm(slides, axis=1) <= MAX_FOLLOWED * results.indentations))


def shares_aside(compliance: BodyCompliance, results: PatchResultants, points: Array,
                 loads: Array) -> Array:
    """
    Return the share of each contact's force that its main face does not bear as pushed.

    Parameters
    ----------
    compliance : BodyCompliance
    results : PatchResultants
    points, loads : (k, 3) float, (p, k) float
        Nodes [m], and forces of each contact on them [N].

    Returns
    -------
    (p,) float
        What bears where the surface leans from its normal at the centre of pressure by more than
        30 degrees, and 1 less the cosine between that normal and the push.
    """
    faces, own = (compliance.normals_about(*compliance.interpolation(places))
                  for places in (results.points, points))
    on_face = faces @ own.T >= ON_FACE
    beyond = (loads * ~on_face).sum(axis=1) / np.maximum(loads.sum(axis=1), TINY)
    return np.asarray(beyond + 1.0 - (faces * results.normals).sum(axis=1))
