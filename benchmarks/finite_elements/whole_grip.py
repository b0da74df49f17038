"""
A free elastic body between rigid or padded links: quadratic finite elements of the whole grip.

Neither the product's contact nor its mechanics is in it, but for its search of nearest points.
Contact is between hats of pressure on the faces of the tetrahedra and the links' own triangles,
along the way out of the link, found anew as the surface moves. Two bounds of friction: none, the
body held over all its surface as boundary elements hold it; and pads that stick where they are
touched, the body at rest between them by itself.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix, diags, triu
from scipy.spatial import cKDTree
import trimesh

from benchmarks.finite_elements.quadratic_tetrahedra import QuadraticTetrahedra
from benchmarks.finite_elements.rims import covered, exits, facing
from benchmarks.hardware.grip_referee import COARSE, refined_mesh
from gripsim_ros.core.bodies import Material, TriangleMesh

#: Share of the box's diagonal by which the tetrahedra's surface may leave the mesh, and longest
#: edge over the distance from a contact [-].
ENVELOPE, GRADING = 2e-3, 0.8
#: Share of a link's largest overlap beyond which it may bear load: half, by Hertz, and some [-].
LOADED = 0.3
#: Points drawn on a surface, and way to the next, over their mean distance, at most [-].
SAMPLES_DRAWN, NEIGHBOURS = 20000, 3.0
#: Surface that comes within this of a link may be pressed [m]: what sticks may be drawn in.
MARGIN = 1e-3
#: Times that gaps are found anew at the surface as it moved, the share of its way that it goes in
#: four times as many where that does not end, and the change over the largest way where it ends:
#: of ways, in these of the forces of links, as a single hat may go to and fro.
TURNS, DAMPED, SETTLED = 12, 0.3, 1e-3
#: Steps by which a link's surface is found along its motion, and least slope to it [-].
NEWTON, LEAST_COSINE = 4, 0.3
#: Exchanges of loaded and free nodes, and right-hand sides solved at a time.
EXCHANGES, CHUNK = 100, 200
#: Places in a triangle and their weights, exact to the fourth power (Dunavant 1985).
PLACES = np.concatenate([np.full((3, 3), near) + (1.0 - 3.0 * near) * np.eye(3)
                         for near in (0.445948490915965, 0.091576213509771)])
WEIGHTS = np.repeat([0.223381589678011, 0.109951743655322], 3)
#: The same in each quarter of it, as rims go through.
QUARTERS = 0.5 * np.array([np.eye(3) + np.eye(3)[k] for k in range(3)] + [1.0 - np.eye(3)])
SAMPLES, SAMPLE_WEIGHTS = (PLACES @ QUARTERS).reshape(-1, 3), np.tile(0.25 * WEIGHTS, 4)
#: Least part of a hat that links cover for it to bear load [-].
LEAST_COVERED = 0.02
#: Forces and gaps of wrong sign below this, over the largest, are none [-].
NOUGHT = 1e-5
#: Mean of 1/r over a disc of radius 1 loaded evenly, over which it is averaged.
SELF_INVERSE = 16.0 / (3.0 * np.pi)


@dataclass(frozen=True, eq=False)
class Link:
    """
    What presses: ``reach`` tells of points ``(n, 3)`` how deep they are and the way out of it.

    ``reach(points)`` returns depths ``(n,)`` [m], negative outside, and unit vectors ``(n, 3)``
    by which the body is pushed. ``pad`` returns the compliance of an elastic pad between
    distances [m] of evenly loaded places [m/N]; None: rigid. What ``ends`` has rims, which hats of
    pressure may lie across.
    """

    name: str
    reach: Callable
    pad: Callable | None = None
    ends: bool = False


@dataclass(frozen=True, eq=False)
class Pressed:
    """
    What the links do to the body.

    ``forces (m, 3)`` by link [N], ``sinks (m,)`` the largest way of a loaded hat along the push
    without rigid motion [m], ``areas (m,)`` of Hertz's pressures that spread alike [m^2],
    ``moves (N, 3)`` of all nodes without rigid motion [m].
    """

    forces: np.ndarray
    sinks: np.ndarray
    areas: np.ndarray
    moves: np.ndarray

    @property
    def largest(self):
        """Return the largest way of any node [m]."""
        return float(np.linalg.norm(self.moves, axis=1).max())

    @property
    def sizes(self):
        """Return the size of each link's force [N]."""
        return np.linalg.norm(self.forces, axis=1)


class WholeGrip:
    """
    The body of a mesh and material between links; ``edge`` [m] is of tetrahedra at contacts.

    ``envelope`` is how far their surface may leave the mesh, over its box's diagonal, ``coarse``
    [m] their edges elsewhere, that grow by ``grading`` of the distance. ``links`` may be exchanged
    for others that press no more of the surface, and ``material`` for one of the same Poisson's
    ratio. ``filled`` is what is filled instead of a mesh of many triangles, on which links are
    found to press; ``fill(edge)`` may give the corners and tetrahedra of a wall. Depths are those
    of the mesh. A wall goes before the links, which press it where they are deepest alone: by
    more than the share ``pressed`` of their largest overlap.
    """

    def __init__(self, mesh: TriangleMesh, material: Material, links: list[Link], edge: float,
                 envelope: float = ENVELOPE, coarse: float = COARSE, *,
                 filled: TriangleMesh | None = None, fill: Callable | None = None,
                 pressed: float = 0.0, grading: float = GRADING):
        """Mesh, find what may be pressed, and solve for unit forces there."""
        self.material = self._solved = material
        self.links = links
        surface = trimesh.Trimesh(mesh.vertices, mesh.faces, process=False)
        samples, _ = trimesh.sample.sample_surface_even(surface, SAMPLES_DRAWN, seed=1)
        deep = np.array([link.reach(samples)[0] for link in links])
        near = (deep > LOADED * np.maximum(deep.max(axis=1, keepdims=True), 0.0)).any(axis=0)
        corners, tetrahedra = fill(edge) if fill else refined_mesh(
            filled or mesh, samples[near], edge, envelope, grading, coarse)
        self._elements = QuadraticTetrahedra(corners, tetrahedra)
        self.places, self._faces = self._elements.places, self._elements.faces
        self.volumes = self._elements.volumes
        self._hats(self._reached(surface, samples[(deep > 0.0).any(axis=0)], edge, pressed),
                   surface)
        self._within = pressed > 0.0
        self._hold()
        self._solve()

    def _reached(self, surface, overlapped, edge, pressed):
        """Return the corners of outer faces that may be pressed."""
        corners = np.unique(self._faces[:, :3])
        ways, _ = cKDTree(overlapped).query(self.places[corners])
        if not pressed:
            return corners[ways < 0.5 * edge]
        corners = corners[ways < NEIGHBOURS * np.sqrt(surface.area / SAMPLES_DRAWN)]
        on = trimesh.proximity.closest_point(surface, self.places[corners])[0]
        deep = np.array([link.reach(on)[0] for link in self.links])
        return corners[(deep > pressed * deep.max(axis=1, keepdims=True)).any(axis=0)]

    def _hats(self, rows, surface):
        """Set points, areas and loads (nodes, hats) of hats about corners of outer faces."""
        corners = self.places[self._faces[:, :3]]
        self._areas = 0.5 * np.linalg.norm(np.cross(
            corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
        hats = np.full(len(self.places), -1)
        hats[rows] = np.arange(len(rows))
        which = hats[self._faces[:, :3]]
        beside = which[(which < 0).any(axis=1)]
        faces = np.flatnonzero((which >= 0).any(axis=1))
        whole = np.bincount(which[faces].ravel() + 1, np.repeat(self._areas[faces] / 3.0, 3),
                            minlength=len(rows) + 1)[1:]
        weights = (np.outer(self._areas[faces], SAMPLE_WEIGHTS).ravel()
                   * self._sample(faces, corners, surface))
        between = self._values(which[faces], len(rows), SAMPLES)
        areas = between.T @ weights
        kept = np.flatnonzero(areas > LEAST_COVERED * whole)
        self._border = np.flatnonzero(np.isin(kept, beside[beside >= 0]))
        self.areas, self._between = areas[kept], between[:, kept].tocsr()
        self._means = (diags(1.0 / self.areas) @ self._between.T @ diags(weights)).tocsr()
        quadratic = self._values(self._faces[faces], len(self.places), _quadratic(SAMPLES))
        self.shares = (quadratic.T @ self._means.T).tocsc()
        self.points = self.shares.T @ self.places

    def _sample(self, faces, corners, surface):
        """Set samples on the mesh given and normals into it; return which links cover (n,)."""
        places = np.einsum('qk,fka->fqa', SAMPLES, corners[faces]).reshape(-1, 3)
        self._samples, _, on = trimesh.proximity.closest_point(surface, places)
        self._inward = -surface.face_normals[on]
        met = np.zeros(len(places), bool)
        for link in self.links:
            met |= (covered(link.reach, self._samples, self._inward, MARGIN) if link.ends
                    else True)
        return met

    def _values(self, columns, count, values):
        """Return what functions (q, k) of faces (f, k) are at their samples, (f q, count)."""
        rows = np.arange(len(columns) * len(values)).reshape(-1, len(values), 1)
        rows, columns, values = np.broadcast_arrays(rows, columns[:, None], values[None])
        inside = columns >= 0
        return coo_matrix((values[inside], (rows[inside], columns[inside])),
                          shape=(rows[:, :, 0].size, count)).tocsr()

    def _hold(self):
        """Set rigid motions ``(nodes, 3, 6)`` about the centre of the surface and weights."""
        self.weights = np.zeros(len(self.places))
        np.add.at(self.weights, self._faces[:, 3:], self._areas[:, None] / 3.0)
        self.centre = self.weights @ self.places / self.weights.sum()
        self._motions = rigid_motions(self.places - self.centre)
        self._weighted = self.weights[:, None, None] * self._motions
        self._gram = np.einsum('nai,naj->ij', self._motions, self._weighted)

    def _pins(self):
        """Return six displacements that hold the body without stressing it."""
        first, second = np.argmax(self.places[:, 0]), np.argmin(self.places[:, 0])
        along = self.places[second] - self.places[first]
        across = np.cross(along, self.places - self.places[first])
        third = np.argmax(np.linalg.norm(across, axis=1))
        least = np.argsort(np.abs(along))
        return [*(3 * first + np.arange(3)), *(3 * second + least[:2]),
                3 * third + int(np.argmax(np.abs(across[third])))]

    def _solve(self):
        from pypardiso import PyPardisoSolver
        stiffness = self._elements.stiffness(self._solved)
        self._free = np.setdiff1d(np.arange(3 * len(self.places)), self._pins())
        self._matrix = triu(stiffness[self._free][:, self._free], format='csr')
        self._matrix.sort_indices()
        self._solver = PyPardisoSolver(mtype=2)
        self._solver.factorize(self._matrix)
        count = len(self.points)
        answer = np.empty((count, 3, count, 3))
        for axis in range(3):
            for begin in range(0, count, CHUNK):
                part = slice(begin, min(begin + CHUNK, count))
                loads = np.zeros((len(self.places), 3, part.stop - begin))
                loads[:, axis] = self.shares[:, part].toarray()
                moves = self.moves(loads)
                for other in range(3):
                    answer[:, other, part, axis] = self.shares.T @ moves[:, other]
        matrix = answer.reshape(3 * count, 3 * count)
        self.compliance = 0.5 * (matrix + matrix.T)

    def moves(self, loads):
        """Return displacements (nodes, 3, k) without rigid motion under loads, as solved [m]."""
        wrench = np.einsum('nai,nak->ik', self._motions, loads)
        loads = loads - np.einsum('nai,ik->nak', self._weighted,
                                  np.linalg.solve(self._gram, wrench))
        found = np.zeros((3 * len(self.places), loads.shape[2]))
        found[self._free] = self._solver.solve(self._matrix, np.asfortranarray(
            loads.reshape(len(found), -1)[self._free])).reshape(len(self._free), -1)
        moved = found.reshape(loads.shape)
        mean = np.linalg.solve(self._gram, np.einsum('nai,nak->ik', self._weighted, moved))
        return moved - np.einsum('nai,ik->nak', self._motions, mean)

    def press(self, sticking: bool) -> Pressed:
        """Return what the links do without friction, or sticking to the free body."""
        if sticking:
            deep, out, owner = self._depths(self._along_motions)
            forces = self._contact(deep, out, owner, np.flatnonzero(deep > -MARGIN), True)
            return self._summary(forces, self._sinking(forces), out, owner)
        moved, loads = np.zeros((len(self.points), 3)), np.full((len(self.links), 3), np.inf)
        for step in [1.0] * TURNS + [DAMPED] * 4 * TURNS:
            deep, out, owner = self._depths(self._by_nearest, self._between @ moved)
            forces = self._contact(deep, out, owner, np.flatnonzero(deep > -MARGIN), False)
            change = self._sinking(forces) - moved
            moved = moved + step * change
            before, loads = loads, self._by_link(forces, owner)
            moves = change if step == 1.0 else loads - before
            if np.abs(moves).max() < SETTLED * np.abs(moved if step == 1.0 else loads).max():
                break
        else:
            raise ArithmeticError('the surface under the links does not come to rest')
        return self._summary(forces, moved, out, owner)

    @property
    def softness(self):
        """Return the modulus that was solved for over the body's [-]."""
        return self._solved.youngs_modulus / self.material.youngs_modulus

    def _sinking(self, forces):
        return self.softness * (self.compliance @ forces.ravel()).reshape(-1, 3)

    def _in_link(self, link, places):
        """Return how deep the samples, at places (n, 3), are in a link, and the ways out."""
        return facing(link.reach, places, self._inward) if link.ends else link.reach(places)

    def _by_nearest(self, link, ways=0.0):
        """Return how far samples must be pushed by a link, and whither, from ways moved."""
        deep, out = self._in_link(link, self._samples + ways)
        return deep + np.einsum('na,na->n', out, np.broadcast_to(ways, out.shape)), out

    def _along_motions(self, link):
        """Return the same for what sticks where it is touched: all along the link's motion."""
        deep, out = self._in_link(link, self._samples)
        along = np.maximum(deep, 0.0) @ out
        along /= max(np.linalg.norm(along), 1e-12)
        ways = np.zeros(len(deep))
        if link.ends:
            inside, deep = deep > 0.0, np.where(deep > 0.0, 0.0, deep)
            ways[inside] = exits(link.reach, self._samples[inside],
                                 np.tile(along, (int(inside.sum()), 1)))
        for _ in range(NEWTON):
            ways += deep / np.maximum(out @ along, LEAST_COSINE)
            deep, out = link.reach(self._samples + ways[:, None] * along)
        return ways, np.broadcast_to(along, out.shape)

    def _depths(self, pushed, *moved):
        """Return what hats (n,) must move along pushes (n, 3), and whose they are (n,)."""
        found = []
        for link in self.links:
            deep, out = pushed(link, *moved)
            found.append((self._means @ deep, self._means @ out))
        owner = np.argmax([deep for deep, _ in found], axis=0)
        rows = np.arange(len(owner))
        out = np.array([out for _, out in found])[owner, rows]
        return (np.array([deep for deep, _ in found])[owner, rows],
                out / np.linalg.norm(out, axis=1, keepdims=True), owner)

    def _contact(self, deep, out, owner, rows, sticking):
        """Return forces (n, 3) on hats by active sets."""
        matrix = self.softness * self.compliance.reshape(
            len(deep), 3, len(deep), 3)[rows][:, :, rows]
        out, deep, owner, points = out[rows], deep[rows], owner[rows], self.points[rows]
        pads = self._pads(points, self.areas[rows], owner)
        bases = _bases(out)                                     # (n, 3 axes, 3), the push first
        axes = 3 if sticking else 1
        local = np.einsum('nia,namb,mjb->nimj', bases[:, :axes], matrix, bases[:, :axes])
        local[:, 0, :, 0] += pads
        motions = np.einsum('nia,nak->nik', bases[:, :axes],
                            rigid_motions(points - self.centre))
        active, forces = deep > 0.0, np.zeros((len(rows), axes))
        for turn in range(EXCHANGES):
            on = np.flatnonzero(active)
            wanted = np.zeros((len(on), axes))
            wanted[:, 0] = deep[on]
            system = local[on][:, :, on].reshape(axes * len(on), -1)
            forces[:] = 0.0
            rigid = np.zeros(6)
            if sticking:
                side = motions[on].reshape(-1, 6)
                size = np.abs(system).max()
                full = np.block([[system / size, side], [side.T, np.zeros((6, 6))]])
                found = np.linalg.solve(full, np.concatenate([wanted.ravel(), np.zeros(6)]))
                forces[on], rigid = found[:-6].reshape(-1, axes) / size, found[-6:]
            else:
                forces[on] = np.linalg.solve(system, wanted.ravel()).reshape(-1, axes)
            gaps = (np.einsum('nmj,mj->n', local[:, 0], forces) + motions[:, 0] @ rigid - deep)
            amiss = np.where(active, -forces[:, 0] / np.abs(forces[:, 0]).max(),
                             -gaps / np.abs(deep).max())
            wrong = amiss > NOUGHT
            if turn > EXCHANGES // 3:
                # What goes in and out at the border stays out.
                wrong &= active
            if not wrong.any():
                whole = np.zeros((len(self.points), 3))
                whole[rows] = np.einsum('ni,nia->na', forces, bases[:, :axes])
                return whole
            active ^= wrong
        raise ArithmeticError('the contact of the finite elements does not settle')

    def _pads(self, points, areas, owner):
        """Return what pads yield along the push by unit forces on hats (n, n) [m/N]."""
        answer = np.zeros((len(points), len(points)))
        for k, link in enumerate(self.links):
            rows = np.flatnonzero(owner == k)
            if link.pad is not None and len(rows):
                ways = np.linalg.norm(points[rows, None] - points[rows], axis=2)
                np.fill_diagonal(ways, np.sqrt(areas[rows] / np.pi) / SELF_INVERSE)
                answer[np.ix_(rows, rows)] = link.pad(ways)
        return answer

    def _summary(self, forces, moved, out, owner):
        moves = self.softness * self.moves((self.shares @ forces)[:, :, None])[:, :, 0]
        loaded = np.abs(forces).max(axis=1) > 0.0
        if self._within and loaded[self._border].any():
            raise ArithmeticError('links press more of the wall than was meshed for them')
        ways = np.einsum('na,na->n', moved, out)
        kinds = range(len(self.links))
        return Pressed(
            self._by_link(forces, owner),
            np.array([ways[(owner == k) & loaded].max(initial=0.0) for k in kinds]),
            np.array([self._spread(np.where((owner == k)[:, None], forces, 0.0)) for k in kinds]),
            moves)

    def _by_link(self, forces, owner):
        """Return the forces of the links (m, 3), of hats (n, 3) and whose they are (n,)."""
        return np.array([forces[owner == k].sum(axis=0) for k in range(len(self.links))])

    def _spread(self, forces):
        """Return the area of Hertz's pressure that spreads like forces on hats [m^2]."""
        loads = self.shares @ forces
        return hertzian_area(self.places, loads @ loads.sum(axis=0))


def hertzian_area(points, pressing) -> float:
    """
    Return the area of Hertz's pressure with the second moments of loads at points [m^2].

    Of an ellipse with half axes a and b they are a^2 / 5 and b^2 / 5. It is exact for the loads
    of quadratic elements, and tells parts of an element, which a count of loaded nodes does not.
    """
    shares = pressing / pressing.sum()
    arms = points - shares @ points
    spreads = np.linalg.eigvalsh((shares[:, None] * arms).T @ arms)
    return float(5.0 * np.pi * np.sqrt(max(spreads[1] * spreads[2], 0.0)))


def _quadratic(shares):
    """Return the six quadratic functions of a triangle at barycentric places (q, 3) -> (q, 6)."""
    middles = [4.0 * shares[:, a] * shares[:, b] for a, b in ((0, 1), (1, 2), (2, 0))]
    return np.column_stack([shares * (2.0 * shares - 1.0), *middles])


def rigid_motions(arms):
    """Return three translations and three rotations ``(n, 3, 6)`` of places about a point."""
    still = np.broadcast_to(np.eye(3), (len(arms), 3, 3))
    turns = np.cross(np.eye(3)[None], arms[:, None]).transpose(0, 2, 1)
    return np.concatenate([still, turns], axis=2)


def _bases(out):
    """Return for unit vectors (n, 3) themselves and two across (n, 3, 3)."""
    helper = np.eye(3)[np.argmin(np.abs(out), axis=1)]
    first = np.cross(out, helper)
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    return np.stack([out, first, np.cross(out, first)], axis=1)
