"""What a soft object yields under links beside its tetrahedra, which are larger than contacts."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from ....core.bodies import TriangleMesh
from ....core.contact.geometry.ray_casting import direction_frame
from ....core.numerics.complementarity import solve_complementarity
from ..world_model import node_name, SKIN, SoftMesh
from .allowances import Allowances
from .mesh_compliance import MeshCompliance, Press
from .place import Place
from .terrain import Terrain
from .touch import handed_over, MARGIN, Touch
from .touch_shape import REACHES, TouchShape, TouchSurfaces

Array = NDArray[np.float64]

#: Share of the way to what is missing that is gone in a step.
PACE = 0.5
#: Share of the way to what MuJoCo's contact yields that is gone in a step.
SOFTNESS_PACE = 0.1
#: Most that MuJoCo's contact yields over what nodes do; at rest it is a twentieth. What swings
#: overlaps for a moment, by which it would be pressed on the more.
SOFTEST = 0.25
#: Nodes nearer to a line than this tell little of how a contact is tilted across it [m].
LEAST_SPREAD = 1e-3
#: Where the middle of nodes' forces is so far from the true contact's, that costs as much work as
#: what they yield [m]; a hundredth of what they yield keeps nodes at one place from being one, and
#: so little of their sum is missing [-].
MIDDLE, FIRM = 3e-4, 0.01
#: Steepest growth of depths along the surface [-].
STEEPEST = 0.3
#: Least share of a contact's force that counts as a node's.
LEAST_SHARE = 1e-4


class SoftContacts:
    """
    Contacts of links with a soft object that yield as those of the true surfaces do.

    A fingertip presses on some millimetres, tetrahedra have edges of ten and more: three nodes
    bear what one small spot would, and the object is felt several times as stiff as it is. What
    nodes yield beside what the body would under pressure as wide, and what a half-space would
    under that, are known (``MeshCompliance``), and what it would under the contact by the gap of
    the surfaces (``ContactLaw``). A link may go as much deeper as is missing before it is pressed
    on, and on one side deeper where the force would act aside of the true contact. Where a
    contact is as large as the tetrahedra and a single node bears it, they are too soft: it is
    pressed on sooner.

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
        self._soft, self._modulus = soft, modulus
        self._surfaces = TouchSurfaces(links, surface, soft, modulus / (1.0 - poisson_ratio**2))
        self._mesh = MeshCompliance(soft, poisson_ratio)
        self._bodies = {name: model.body(name).id for name in links}
        self._node_of = np.full(model.nv, -1)
        for i in range(len(soft.nodes)):
            first = int(model.body(node_name(i)).dofadr[0])
            self._node_of[first:first + 3] = i
        self._outer = np.isin(np.arange(len(soft.nodes)), soft.faces)
        self._touches: dict[str, list[Touch]] = {}
        self._terrains: dict[str, Terrain] = {}
        self._allowances: dict[str, Allowances] = {}
        self._rotation = np.eye(3)      # of the object

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
        self._rotation = T_world_object[:3, :3]
        found: dict[str, list[tuple[float, int]]] = {}
        for link, _, sign, i in contacts:
            found.setdefault(link, []).append((sign, i))
        self._touches = {link: self._apart(link, data, some) for link, some in found.items()}
        self._yield_as_mesh()
        self._allowances = {link: self._allow(link, touches, data)
                            for link, touches in self._touches.items()}

    def _allow(self, link: str, touches: list[Touch], data) -> Allowances:
        """Let a link go deeper by what is missing, and return by how much it may."""
        before = self._allowances.get(link, Allowances())
        found = [self._give_way(touch, link, data, before) for touch in touches]
        return Allowances(*(np.concatenate(some) for some in zip(*found)))

    def _apart(self, link: str, data, contacts: list[tuple[float, int]]) -> list[Touch]:
        """Return contacts of a link by the places where it touches, each as it was before."""
        nearest = min(contacts, key=lambda one: data.contact[one[1]].dist)
        terrain = self._terrain(link, self._place_at(link, data, nearest))
        numbers = terrain.nearest(self._on_link(link, data, contacts))
        before, touches = self._touches.get(link, []), []
        sides = [terrain.nearest(touch.positions) for touch in before]
        for number in np.unique(numbers):
            touch = handed_over(before, [side == number for side in sides],
                                terrain.from_low(number))
            touch.contacts = [one for one, low in zip(contacts, numbers) if low == number]
            touch.rows = [int(data.contact[i].efc_address) for _, i in touch.contacts]
            if not touch.force > 0.0:
                first = int(np.argmin([data.contact[i].dist for _, i in touch.contacts]))
                self._take(touch, link, data, np.eye(len(touch.rows))[first])
            touches.append(touch)
        return touches

    def _terrain(self, link: str, place: Place) -> Terrain:
        """Return where a link may touch the object; it is looked at anew where it moved."""
        terrain = self._terrains.get(link)
        if terrain is None or not terrain.holds_at(place):
            terrain = self._terrains[link] = self._surfaces.terrain(link, place)
        return terrain

    def _place_at(self, link: str, data, contact: tuple[float, int]) -> Place:
        """Return the place of a contact."""
        sign, i = contact
        point = self._surface_point(*self._shares(data, int(data.contact[i].efc_address)))
        return self._place(link, data, self._on_link(link, data, [contact])[0], point,
                           sign * data.contact[i].frame[:3])

    def _place(self, link: str, data, on_link: Array, on_object: Array, normal: Array) -> Place:
        """Return a place on link and object, whose normal is given in the world."""
        frame, turn = direction_frame(normal), data.xmat[self._bodies[link]].reshape(3, 3)
        return Place(on_link, on_object, frame @ turn, frame @ self._rotation)

    def _give_way(self, touch: Touch, link: str, data, before: Allowances
                  ) -> tuple[Array, Array]:
        """Let a link go deeper by what is missing; return where, and by how much it may."""
        shape = self._shape(touch, link)
        gaps = self._surfaces.gaps(link, shape, touch.points)
        touch.tilt += PACE * (shape.place.link_frame[:2].T @ _missing_tilt(touch, shape, gaps)
                              - touch.tilt)
        positions = self._on_link(link, data, touch.contacts)
        distances = np.array([data.contact[i].dist for _, i in touch.contacts])
        allowed = before.limit(positions, touch.depth_at(positions), distances)
        nearest = float((distances + allowed).min()) - touch.depth
        gap = max(0.0, float(gaps @ touch.shares))
        sooner = shape.early - SKIN     # MuJoCo's distances are from the tetrahedra's skin
        way = max(0.0, touch.compliance * touch.force + gap + sooner - nearest)
        force = shape.law.force(way)
        yielded = (touch.compliance + touch.softness) * force
        missing = max(-MARGIN, way - gap - yielded + touch.lack - sooner)
        touch.depth += PACE * (missing - touch.depth)
        allowed = before.limit(positions, touch.depth_at(positions), distances)
        data.efc_pos[touch.rows] += allowed
        return positions, allowed

    def _on_link(self, link: str, data, contacts: list[tuple[float, int]]) -> Array:
        """Return where contacts of a link are in its frame (k, 3) [m]."""
        body = self._bodies[link]
        positions = np.array([data.contact[i].pos for _, i in contacts])
        return np.asarray((positions - data.xpos[body]) @ data.xmat[body].reshape(3, 3))

    def remember(self, data) -> None:
        """Take the forces of a step that is done."""
        for link, touch in ((link, one) for link, some in self._touches.items() for one in some):
            forces = data.efc_force[touch.rows]
            touch.force = float(forces.sum())
            if touch.force > 0.0:
                overlaps = data.efc_margin[touch.rows] - data.efc_pos[touch.rows]
                overlap = float(overlaps @ forces) / touch.force
                self._take(touch, link, data, forces)
                softness = np.clip(overlap / touch.force, 0.0, SOFTEST * touch.compliance)
                touch.softness += SOFTNESS_PACE * (float(softness) - touch.softness)

    def _take(self, touch: Touch, link: str, data, forces: Array) -> None:
        """Take where a link's contacts press on it and on the nodes, by their forces (k,) [N]."""
        parts = [self._shares(data, row) for row in touch.rows]
        touch.points = np.array([self._surface_point(*part) for part in parts])
        touch.shares = np.maximum(forces, 0.0) / np.maximum(forces, 0.0).sum()
        contacts = [data.contact[i] for _, i in touch.contacts]
        normal = sum(share * sign * contact.frame[:3] for share, (sign, _), contact
                     in zip(touch.shares, touch.contacts, contacts))
        touch.positions = self._on_link(link, data, touch.contacts)
        touch.distances = np.array([contact.dist for contact in contacts])
        before = touch.place
        touch.place = self._place(link, data, touch.shares @ touch.positions,
                                  touch.shares @ touch.points, normal)
        if before is not None:      # depths all over the surface stay as they are
            touch.depth += float((touch.place.on_link - before.on_link) @ touch.tilt)
        touch.presses = [Press(nodes, shares, touch.place.object_frame[2])
                         for nodes, shares in parts]

    def _yield_as_mesh(self) -> None:
        """Take what tetrahedra yield to the forces of all links, and what the body would."""
        touches = [touch for some in self._touches.values() for touch in some]
        if not touches:
            return
        matrices = self._mesh.compliances([one for touch in touches for one in touch.presses])
        shares = block_diag(*(touch.shares for touch in touches))
        near, excess = (shares @ matrix @ shares.T for matrix in matrices)
        own = np.maximum(0.0, np.diag(excess))
        lacks = (np.diag(own) - excess) @ [touch.force for touch in touches] / self._modulus
        compliances = (np.diag(near) + own) / self._modulus
        for touch, compliance, lack in zip(touches, compliances, lacks):
            touch.follow_mesh(float(compliance), float(lack))
        begin = 0
        for touch in touches:
            rows = slice(begin, begin + len(touch.presses))
            touch.yielding = (matrices[0] + matrices[1])[rows, rows] / self._modulus
            begin = rows.stop

    def _shape(self, touch: Touch, link: str) -> TouchShape:
        """Return the surfaces where a link touches; they are looked at anew where it slides."""
        reach = REACHES[0] if touch.shape is None else float(
            np.clip(touch.shape.law.reach(touch.force), *REACHES))
        if (touch.shape is None or touch.is_elsewhere
                or not touch.shape.has_law_of(touch.place, reach)):
            touch.shape = self._surfaces.shape(link, touch.place, reach, touch.lows)
            touch.is_elsewhere = False
        elif not touch.shape.is_at(touch.place):
            touch.shape = self._surfaces.moved(link, touch.shape, touch.place, touch.lows)
        return touch.shape

    def depth(self, link: str) -> float:
        """Return how much deeper than nodes yield a link is now, 0 where it is not [m]."""
        return max((0.0, *(touch.depth for touch in self._touches.get(link, []))))

    def _shares(self, data, row: int) -> tuple[NDArray[np.intp], Array]:
        """Return the nodes on which a contact's normal force acts, and their shares of it."""
        first, count = int(data.efc_J_rowadr[row]), int(data.efc_J_rownnz[row])
        nodes = self._node_of[data.efc_J_colind[first:first + count]]
        moves = data.efc_J[first:first + count]
        sums = np.bincount(nodes[nodes >= 0], moves[nodes >= 0]**2)
        found = np.flatnonzero(sums > LEAST_SHARE**2)
        shares = np.sqrt(sums[found])
        return found, shares / shares.sum()

    def _surface_point(self, nodes: NDArray[np.intp], shares: Array) -> Array:
        """Return the point of the surface (3,) on which shares press; inner nodes are beneath."""
        outer = self._outer[nodes] if self._outer[nodes].any() else slice(None)
        return shares[outer] @ self._soft.nodes[nodes[outer]] / shares[outer].sum()


def _missing_tilt(touch: Touch, shape: TouchShape, gaps: Array) -> Array:
    """
    Return how depths must grow along a contact's axes for its force to act where it does (2,).

    Nodes that stand far apart hold a surface that turns under a link, and bear the force aside;
    a true contact rolls along.
    """
    flat, force = shape.place.flat(touch.positions), touch.force
    if not force > 0.0:
        return np.zeros(2)
    arms = flat - touch.shares @ flat
    spread = np.linalg.inv(arms.T @ (touch.shares[:, None] * arms) + LEAST_SPREAD**2 * np.eye(2))
    yielded = touch.yielding @ touch.shares * force
    tilt = spread @ (touch.shares[:, None] * arms).T @ (gaps + yielded - touch.distances)
    beside = shape.aside(touch.positions, force, tilt)
    return _centring_tilt(beside, touch.distances - yielded, touch.yielding, touch.shares, force)


def _centring_tilt(beside: Array, distances: Array, yielding: Array, shares: Array, force: float
                   ) -> Array:
    """
    Return how depths must grow along a surface (2,) for nodes' forces to act round a point.

    The nodes, those too that do not touch yet, bear the force with the least work, so that none
    bears it alone where another stands beyond that point: what holds their middle there is the
    slope.

    Parameters
    ----------
    beside : (k, 2) float
        Of each node from the point [m].
    distances : (k,) float
        Of the link from nodes that bear nothing [m].
    yielding : (k, k) float
        [m/N].
    shares : (k,) float
        Of the force, that nodes bear now [-].
    force : float
        [N].
    """
    yielding, distances = 0.5 * (yielding + yielding.T), distances - shares @ distances
    typical = float(np.diag(yielding).mean())
    softer = FIRM * typical - min(0.0, float(np.linalg.eigvalsh(yielding)[0]))
    turning, pushing = typical / MIDDLE**2, typical / FIRM
    matrix = yielding + softer * np.eye(len(shares)) + turning * beside @ beside.T + pushing
    borne, *_ = solve_complementarity(matrix, pushing * force - distances, shares > 0.0,
                                      np.argsort(distances, kind='stable'))
    slope = turning * beside.T @ borne
    return np.asarray(slope * min(1.0, STEEPEST / max(float(np.linalg.norm(slope)), 1e-12)))
