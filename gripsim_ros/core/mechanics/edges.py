"""Edges of a body between its smooth sides, and where its own compliance tells them."""

import numpy as np

from ..arrays import Array, BoolArray
from ..bodies import TriangleMesh
from ..contact.geometry.curved_surface import joined_sides
from .boundary_elements.body_compliance import BodyCompliance
from .boundary_elements.node_correction import NodeCorrection

#: Least radius of the ball that touches both sides of an edge, one of them at a contact's centre
#: of pressure, over the distance of the compliance's nodes, for the edge to be told [-].
EDGE_BALL = 0.4
#: Largest way from an edge to the nearest of its nodes, over their distance [-].
NODE_SPACINGS = 1.0
#: Turn of an edge below which sides may be curved beside it [rad]; least way to one, and to one
#: that no nodes are at, over the distance of nodes and over the contact's radius [-].
BLUNT_TURN, EDGE_SPACINGS, EDGE_RADII = np.deg2rad(59.0), 1.1, 0.9
#: Largest indentation over the contact radius near an edge: deeper its other side is touched [-].
MAX_DEPTH = 0.22
#: Largest way of the surface along itself under a contact at an edge, over the depth: beyond it
#: what is at the edge is not what the link meets [-].
MAX_SIDEWAYS = 0.7
#: Largest turn of an edge that a link may press over; blunt ones it may not, nor grooves [rad].
OVER_TURN = np.deg2rad(95.0)
#: Of a link that may: largest way of its centre of pressure from an edge, over its radius; least
#: force, over the largest there is, as what others do to the body adds up in small ones [-].
OVER_RADII, OVER_SHARE = 0.8, 0.6


class BodyEdges:
    """
    Edges of a body.

    Parameters
    ----------
    mesh : TriangleMesh
        Closed.
    """

    def __init__(self, mesh: TriangleMesh) -> None:
        beside = joined_sides(mesh)[mesh.edge_faces]
        sharp = beside[:, 0] != beside[:, 1]
        ends = mesh.vertices[mesh.edges[sharp]]
        self._first, self._along = ends[:, 0], ends[:, 1] - ends[:, 0]
        dihedrals = mesh.dihedral_angles[sharp]
        self._untold = (dihedrals < BLUNT_TURN) | (dihedrals > OVER_TURN)
        turns = np.abs(dihedrals)                       # grooves as ridges
        self._blunt = turns < BLUNT_TURN
        # Of half the angle between the sides, which is (pi - turn) / 2.
        self._tangents = np.minimum(1.0, 1.0 / np.tan(0.5 * turns))

    def _ways(self, points: Array) -> tuple[Array, Array]:
        """Return distances (p, m) of points to all edges [m], and nearest places (p, m, 3)."""
        offsets = points[:, None] - self._first
        squares = np.maximum((self._along ** 2).sum(axis=1), np.finfo(float).tiny)
        shares = np.clip(np.einsum('pmk,mk->pm', offsets, self._along) / squares, 0.0, 1.0)
        feet = self._first + shares[..., None] * self._along
        return np.sqrt(((points[:, None] - feet) ** 2).sum(axis=2)), feet

    def ways(self, points: Array) -> Array:
        """Return the distances of points (p, 3) -> (p,) to the nearest edge, else inf [m]."""
        return np.asarray(self._ways(points)[0].min(axis=1, initial=np.inf))

    def are_told_over(self, points: Array, radii: Array, forces: Array) -> BoolArray:
        """
        Return for each contact that presses on both sides of an edge if it is told.

        Parameters
        ----------
        points, radii, forces : (p, 3) float, (p,) float, (p, 3) float
            Centres of pressure, radii [m] and forces [N].

        Returns
        -------
        (p,) bool

        Notes
        -----
        Own rule, measured against finite elements: docs/model/compliance.md, "Over an edge".
        """
        ways, sizes = self._ways(points)[0], np.linalg.norm(forces, axis=1)
        over = (ways <= OVER_RADII * radii[:, None]).any(axis=1)
        over &= ~((ways <= radii[:, None]) & self._untold).any(axis=1)
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
        shallow = indentations <= MAX_DEPTH * radii
        near = np.nonzero(roomy & ~far & ~self._blunt & shallow[:, None])
        if len(nodes):
            gaps = ((feet[near][:, None] - nodes) ** 2).sum(axis=2).min(axis=1)
            kept[near] = gaps <= (NODE_SPACINGS * spacing) ** 2
        return np.asarray((roomy & (far | kept)).all(axis=1))


def sideways(compliance: BodyCompliance, correction: NodeCorrection, forces: Array,
             members: BoolArray, normals: Array) -> Array:
    """
    Return how far the surface under each contact goes along itself, without rigid motion.

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
    (p,) float
        Mean over the contact, weighted by its forces; 0 without [m].
    """
    used = correction.used
    loads = np.array([correction.node_forces(np.where(mine, forces, 0.0)) for mine in members])
    moves = np.einsum('jia,j->ia', compliance.displacements[np.ix_(used, used)],
                      loads.sum(axis=0) / correction.modulus, dtype=float)
    means = loads @ moves / np.maximum(loads.sum(axis=1), np.finfo(float).tiny)[:, None]
    along = means - (means * normals).sum(axis=1)[:, None] * normals
    return np.asarray(np.linalg.norm(along, axis=1))
