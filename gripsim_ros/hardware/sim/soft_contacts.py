"""What a soft object yields under links beside its tetrahedra, which are larger than contacts."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...core.bodies import GraspObject, TriangleMesh
from ...core.contact.geometry.contact_mesh import ContactMesh
from ...core.contact.geometry.ray_casting import AHEAD, cast_rays, direction_frame
from ...core.hand import HandModel
from .hand_model import hand_as_simulated
from .options import SimulationOptions
from .world_model import node_name, SoftMesh, true_modulus

Array = NDArray[np.float64]

#: What a surface node of tetrahedra yields to its own force, times plane-strain modulus and edge:
#: 0.85 to 1.15 on fTetWild's tetrahedra of 9 to 10 mm of a ball and an apple, nu 0.3.
NODE_COMPLIANCE = 1.05
#: Least and largest radius of the disc whose curvatures count [m], as large as the contact.
DISC_RADII = (1.5e-3, 5e-3)
#: From where rays look for the surfaces, above and below the disc [m].
REACH = 0.01
#: Least slope of a surface's normal to the disc's that counts [-].
LEAST_SLOPE = 0.3
#: Least and largest radius of curvature of the gap [m].
RADII = (1e-3, 0.5)
#: A contact that moved or grew by more than this share of the disc has other curvatures.
CHANGED = 0.2
#: How much sooner than at the tetrahedra a link may be pressed on [m].
MARGIN = 1.5e-3
#: Share of the way to what is missing that is gone in a step.
PACE = 0.5
#: Least share of a contact's force that counts as a node's.
LEAST_SHARE = 1e-4


@dataclass
class _Touch:
    """Of a link: its contacts now, and their force [N], compliances [m/N] and depth [m]."""

    rows: list[int] = field(default_factory=list)
    force: float = 0.0
    #: Of the nodes, and of MuJoCo's contacts.
    compliance: float = 0.0
    softness: float = 0.0
    depth: float = 0.0
    #: Force over depth^1.5 [N/m^1.5] within a disc [m], in the link and in the object [m].
    stiffness: float = 0.0
    disc: float = 0.0
    places: tuple[Array, Array] | None = None
    #: Of the first touch: point in the object [m], rows along its plane and up, bend of the link
    #: there [1/m]; and what surfaces are apart, untouched, where forces act now [m].
    first: Array = field(default_factory=lambda: np.zeros(3))
    axes: Array = field(default_factory=lambda: np.eye(3))
    link_bend: Array = field(default_factory=lambda: np.zeros((2, 2)))
    gap: float = 0.0


class SoftContacts:
    """
    Contacts of links with a soft object that yield as Hertz's do.

    A fingertip presses on some millimetres, tetrahedra have edges of ten and more: three nodes
    bear what one small spot would, and the object is felt several times as stiff as it is. What
    nodes yield near a contact is known (``NODE_COMPLIANCE`` for a node's own force, Boussinesq's
    1 / (pi E* r) for those of others), and what the contact would by the surfaces' curvatures
    (Hertz). A link may go as much deeper as is missing before it is pressed on. Where a contact
    is as large as the tetrahedra and a single node bears it, they are too soft: it is pressed on
    sooner.

    Parameters
    ----------
    model : mujoco.MjModel
    soft : SoftMesh
    surface : TriangleMesh
        Of the object, in the frame of ``soft``.
    modulus, poisson_ratio : float
        [Pa], [-].
    links : dict of str to TriangleMesh
        In their own frames.
    """

    def __init__(self, model, soft: SoftMesh, surface: TriangleMesh, modulus: float,
                 poisson_ratio: float, links: dict[str, TriangleMesh]) -> None:
        import mujoco
        model.flex_margin[:] = MARGIN
        model.opt.jacobian = mujoco.mjtJacobian.mjJAC_SPARSE    # rows are read as such
        self._soft, self._plane_modulus = soft, modulus / (1.0 - poisson_ratio**2)
        self._surface, self._links = ContactMesh(surface), {
            name: ContactMesh(mesh) for name, mesh in links.items()}
        self._bodies = {name: model.body(name).id for name in links}
        self._node_of = np.full(model.nv, -1)
        for i in range(len(soft.nodes)):
            first = int(model.body(node_name(i)).dofadr[0])
            self._node_of[first:first + 3] = i
        self._edges = surface_edges(soft)
        self._outer = np.isin(np.arange(len(soft.nodes)), soft.faces)
        self._touches: dict[str, _Touch] = {}

    def give_way(self, data, contacts: Iterable[tuple[str, int, float, int]],
                 T_world_object: Array) -> None:
        """
        Let links go deeper by what is missing: between MuJoCo's two halves of a step.

        Parameters
        ----------
        data : mujoco.MjData
        contacts : iterable of (str, int, float, int)
            Link, its geom, sign that turns the contact's normal to the link, the contact's number.
        T_world_object : (4, 4) float
        """
        rows = data.contact.efc_address
        counted = rows >= 0
        data.efc_pos[rows[counted]] += data.contact.includemargin[counted]
        found: dict[str, list[tuple[float, int]]] = {}
        for link, _, sign, i in contacts:
            found.setdefault(link, []).append((sign, i))
        self._touches = {link: self._touches.get(link, _Touch()) for link in found}
        for link, touch in self._touches.items():
            sign, deepest = min(found[link], key=lambda one: data.contact[one[1]].dist)
            contact = data.contact[deepest]
            touch.rows = [int(data.contact[i].efc_address) for _, i in found[link]]
            nodes, shares = self._shares(data, int(contact.efc_address), 1.0)
            if touch.compliance == 0.0:
                touch.compliance = self._node_compliance(nodes, shares)
            self._shape(touch, link, data, contact, sign, self._surface_point(nodes, shares),
                        T_world_object[:3, :3])
            way = max(0.0, touch.compliance * touch.force + touch.gap - contact.dist)
            wanted = touch.stiffness * way**1.5
            missing = max(-MARGIN, way - touch.gap
                          - (touch.compliance + touch.softness) * wanted)
            touch.depth += PACE * (missing - touch.depth)
            data.efc_pos[touch.rows] += touch.depth

    def remember(self, data) -> None:
        """Take the forces of a step that is done."""
        for touch in self._touches.values():
            forces = data.efc_force[touch.rows]
            touch.force = float(forces.sum())
            if touch.force > 0.0:
                overlaps = data.efc_margin[touch.rows] - data.efc_pos[touch.rows]
                overlap = float(overlaps @ forces) / touch.force
                touch.softness = min(max(0.0, overlap / touch.force), touch.compliance)
                parts = [self._shares(data, row, force)
                         for row, force in zip(touch.rows, forces) if force > 0.0]
                nodes, place = np.unique(np.concatenate([part[0] for part in parts]),
                                         return_inverse=True)
                shares = np.bincount(place, np.concatenate([part[1] for part in parts]))
                touch.compliance = self._node_compliance(nodes, shares / shares.sum())
                touch.gap = self._gap(touch, parts)

    def depth(self, link: str) -> float:
        """Return how much deeper than nodes yield a link is now, 0 where it is not [m]."""
        return max(0.0, self._touches[link].depth) if link in self._touches else 0.0

    def _shares(self, data, row: int, force: float) -> tuple[NDArray[np.intp], Array]:
        """Return the nodes on which a contact's normal force acts, and the parts of it there."""
        first, count = int(data.efc_J_rowadr[row]), int(data.efc_J_rownnz[row])
        nodes = self._node_of[data.efc_J_colind[first:first + count]]
        moves = data.efc_J[first:first + count]
        sums = np.bincount(nodes[nodes >= 0], moves[nodes >= 0]**2)
        found = np.flatnonzero(sums > LEAST_SHARE**2)
        shares = np.sqrt(sums[found])
        return found, force * shares / shares.sum()

    def _surface_point(self, nodes: NDArray[np.intp], shares: Array) -> Array:
        """Return the point of the surface (3,) on which shares press; inner nodes are beneath."""
        outer = self._outer[nodes] if self._outer[nodes].any() else slice(None)
        return shares[outer] @ self._soft.nodes[nodes[outer]] / shares[outer].sum()

    def _node_compliance(self, nodes: NDArray[np.intp], shares: Array) -> float:
        """Return what nodes yield near a contact that presses on them with shares of 1 N [m]."""
        points = self._soft.nodes[nodes]
        away = np.linalg.norm(points[:, None] - points[None], axis=2)
        np.fill_diagonal(away, np.inf)
        own = NODE_COMPLIANCE * (shares**2 / self._edges[nodes]).sum()
        return float(own + shares @ (1.0 / (np.pi * away)) @ shares) / self._plane_modulus

    def _gap(self, touch: _Touch, parts: list[tuple[NDArray[np.intp], Array]]) -> float:
        """
        Return how far link and object are apart where forces act, untouched [m].

        Nodes far from the first touch are reached late: that way is not what nodes yield.
        """
        forces = np.array([shares.sum() for _, shares in parts])
        points = np.array([self._surface_point(*part) for part in parts])
        away = (points - touch.first) @ touch.axes.T
        heights = 0.5 * np.einsum('ki,ij,kj->k', away[:, :2], touch.link_bend, away[:, :2])
        return float(forces @ (heights - away[:, 2])) / touch.force

    def _shape(self, touch: _Touch, link: str, data, contact, sign: float, point: Array,
               rotation: Array) -> None:
        """Bring force over depth^1.5 up to date, if the contact has moved."""
        turn = data.xmat[self._bodies[link]].reshape(3, 3)
        on_link = turn.T @ (contact.pos - data.xpos[self._bodies[link]])
        disc = self._disc(touch)
        changes = [abs(disc - touch.disc)] + ([disc] if touch.places is None else [
            float(np.linalg.norm(new - old)) for new, old in zip((on_link, point), touch.places)])
        if max(changes) < CHANGED * touch.disc:
            return
        touch.places, touch.disc = (on_link, point), disc
        frame = direction_frame(sign * contact.frame[:3])
        gap = surface_bend(self._links[link], on_link, frame @ turn, -1.0, disc) - surface_bend(
            self._surface, point, frame @ rotation, 1.0, disc)
        touch.stiffness = hertz_stiffness(self._plane_modulus, gap)
        if touch.force == 0.0:
            touch.first, touch.axes, touch.gap = point, frame @ rotation, 0.0
            touch.link_bend = surface_bend(self._links[link], on_link, frame @ turn, -1.0,
                                           DISC_RADII[1])

    def _disc(self, touch: _Touch) -> float:
        """Return the radius of the contact, within ``DISC_RADII`` [m]."""
        if touch.stiffness == 0.0:
            return DISC_RADII[0]
        root = 0.75 * touch.stiffness / self._plane_modulus      # of the gap's radius
        depth = (touch.force / touch.stiffness) ** (2.0 / 3.0)
        return float(np.clip(root * np.sqrt(depth), *DISC_RADII))


def soft_contacts_of(model, soft: SoftMesh, grasp_object: GraspObject, hand: HandModel,
                     options: SimulationOptions) -> SoftContacts:
    """Return the contacts of a hand's links with a soft object in a ``mujoco.MjModel``."""
    return SoftContacts(
        model, soft, grasp_object.mesh, true_modulus(grasp_object, options),
        grasp_object.material.poisson_ratio,
        {link.name: link.mesh for link in hand_as_simulated(hand).links})


def surface_edges(soft: SoftMesh) -> Array:
    """
    Return the edge of equal triangles as large as those at each node (N,) [m].

    Inner nodes, on which contacts hardly press, have the mean.
    """
    corners = soft.nodes[soft.faces]
    areas = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0],
                                          corners[:, 2] - corners[:, 0]), axis=1)
    counts = np.bincount(soft.faces.ravel(), minlength=len(soft.nodes))
    sums = np.bincount(soft.faces.ravel(), np.repeat(areas, 3), len(soft.nodes))
    means = np.where(counts > 0, sums / np.maximum(counts, 1), areas.mean())
    return np.sqrt(4.0 / np.sqrt(3.0) * means)


def surface_bend(mesh: ContactMesh, point: Array, frame: Array, side: float,
                 disc: float) -> Array:
    """
    Return second derivatives (2, 2) [1/m] of a surface's height over a plane, round a point.

    Its smoothed normals are taken, so that facets do not count: their best even change over a
    disc, which is 1 / R of a ball.

    Parameters
    ----------
    mesh : ContactMesh
    point : (3,) float
        In the mesh's frame [m].
    frame : (3, 3) float
        Rows along the plane, twice, and up.
    side : float
        1: the surface is seen from above, -1: from below.
    disc : float
        Radius of the disc [m].
    """
    angles = np.linspace(0.0, 2.0 * np.pi, 8, endpoint=False)
    rings = disc * np.array([0.35, 0.7, 1.0])
    flat = np.concatenate([[[0.0, 0.0]], np.stack(
        [np.outer(rings, np.cos(angles)).ravel(), np.outer(rings, np.sin(angles)).ravel()], 1)])
    start = point + flat @ frame[:2] + side * REACH * frame[2]
    hits = cast_rays(mesh.tree, start, -side * frame[2], 0.0)
    rows = np.flatnonzero(hits.distances[:, AHEAD] < 2.0 * REACH)
    weights = hits.edges[rows, AHEAD, :3] / hits.edges[rows, AHEAD, 3:]
    normals = np.einsum('ki,kij->kj', weights,
                        mesh.surface.normals[hits.positions[rows, AHEAD]]) @ frame.T
    steep = abs(normals[:, 2]) < LEAST_SLOPE * np.linalg.norm(normals, axis=1)
    rows, normals = rows[~steep], normals[~steep]
    if len(rows) < 5:       # a tip or an edge
        return -side / disc * np.eye(2)
    slopes, (x, y) = -np.sign(normals[:, 2:]) * normals[:, :2], flat[rows].T
    one, none = np.ones(len(rows)), np.zeros(len(rows))
    sides = np.concatenate([np.stack([one, none, x, y, none], axis=1),
                            np.stack([none, one, none, x, y], axis=1)])
    _, _, xx, xy, yy = np.linalg.lstsq(sides, slopes.T.ravel(), rcond=None)[0]
    return np.array([[xx, xy], [xy, yy]])


def hertz_stiffness(plane_modulus: float, gap_bend: Array) -> float:
    """
    Return the force over depth^1.5 [N/m^1.5] of two surfaces.

    Johnson, Contact Mechanics, 1985, eq. 4.26c and 4.32 for what is not round.

    Parameters
    ----------
    plane_modulus : float
        E / (1 - nu^2) [Pa].
    gap_bend : (2, 2) float
        Second derivatives of the gap [1/m].
    """
    low, high = np.clip(np.linalg.eigvalsh(gap_bend), 1.0 / RADII[1], 1.0 / RADII[0])
    radius, ratio = 1.0 / np.sqrt(low * high), high / low
    shape = 1.0 - (ratio**0.0684 - 1.0)**1.531
    return float(4.0 / 3.0 * plane_modulus * np.sqrt(radius) / shape**1.5)
