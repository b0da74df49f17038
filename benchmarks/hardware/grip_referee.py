"""
Finite elements for a body gripped by the hand: the referee between plan and simulation.

Linear elasticity on tetrahedra that are refined where links press, frictionless contact of the
body's own surface with the convex hulls of the links, held at the pose and joints at which the
simulation came to rest. Neither the product's contact and mechanics nor MuJoCo is in it.
"""

from dataclasses import dataclass
from unittest import mock

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import splu
from scipy.spatial import ConvexHull, cKDTree

from benchmarks.hardware.flex_indentation import _active_forces, stiffness
from gripsim_ros.core.hand import forward_kinematics
from gripsim_ros.core.bodies import tetrahedra
from gripsim_ros.hardware.sim import solids
from gripsim_ros.hardware.sim.world_model import SoftMesh

Array = NDArray[np.float64]

#: Edge of the tetrahedra before they are refined [m], share of the box's diagonal by which their
#: surface may leave the body's, and longest edge over the distance from a contact.
COARSE, ENVELOPE, GRADING = 0.012, 1e-3, 0.5
#: Longest that meshing may take: scans have many small faces [s].
MESHING_TIME = 1800.0
#: Tetrahedra of the last body before they are refined, which takes longer than the rest.
_FILLED: dict[tuple, tuple[Array, NDArray[np.int64]]] = {}
#: Surface within this of a link may come into contact; deeper than the second it lies beside an
#: edge of the body which the link has passed, and another face is pressed there [m].
MARGIN, DEEPEST = 1e-3, 6e-3
#: Nodes farther than this from every contact hold the body [m].
CORE_DISTANCE = 0.02
#: Right-hand sides solved at a time.
CHUNK = 50


@dataclass(frozen=True, eq=False)
class Surface:
    """Nodes on the surface: numbers, points on the body's own surface, inward normals."""

    rows: NDArray[np.int64]
    points: Array
    inward: Array


def hulls(hand, joints, T_object_palm) -> dict[str, ConvexHull]:
    """Return the convex hulls of the fingers' links in the object's frame."""
    poses = T_object_palm @ forward_kinematics(hand, np.asarray(joints)[None])[0]
    fingers = {k for finger in hand.fingers for k in finger.links}
    return {hand.links[k].name: ConvexHull(
        hand.links[k].mesh.vertices @ poses[k, :3, :3].T + poses[k, :3, 3]) for k in fingers}


def overlaps_with(hull: ConvexHull, points: Array, inward: Array) -> Array:
    """Return how far points must go along the normals to leave the hull; -1 where it is not."""
    normals, offsets = hull.equations[:, :3], hull.equations[:, 3]
    levels, slopes = -(points @ normals.T + offsets), inward @ normals.T
    with np.errstate(divide='ignore', invalid='ignore'):
        ways = levels / slopes
    leave = np.where(slopes > 0.0, ways, np.inf).min(axis=1)
    enter = np.where(slopes < 0.0, ways, -np.inf).max(axis=1)
    apart = ((slopes == 0.0) & (levels < 0.0)).any(axis=1)
    pressed = (enter < np.minimum(leave, 0.0)) & ~apart & (leave < DEEPEST)
    return np.where(pressed, leave, -1.0)


def nearest_on(mesh, points: Array) -> tuple[Array, Array]:
    """Return the nearest points of a triangle mesh and the inward normals there."""
    import trimesh
    surface = trimesh.Trimesh(mesh.vertices, mesh.faces, process=False)
    found, _, faces = trimesh.proximity.closest_point(surface, points)
    return found, -surface.face_normals[faces]


def refined_mesh(mesh, touching: Array, edge: float, envelope: float = ENVELOPE,
                 grading: float = GRADING, coarse: float = COARSE
                 ) -> tuple[Array, NDArray[np.int64]]:
    """Return nodes and corners with edges of at most ``edge`` at points ``(n, 3)`` [m]."""
    import logging
    from skfem import MeshTet
    logging.getLogger('skfem').setLevel(logging.ERROR)
    key = mesh.vertices.tobytes(), mesh.faces.tobytes(), coarse, envelope
    if key not in _FILLED:
        with mock.patch.object(solids, 'ENVELOPE', envelope), \
                mock.patch.object(tetrahedra, 'MESHING_TIME', MESHING_TIME):
            _FILLED.clear()
            _FILLED[key] = solids.tetrahedra_of(mesh, coarse)
    nodes, corners = _FILLED[key]
    tets, tree = MeshTet(nodes.T.copy(), corners.T.copy()), cKDTree(touching)
    while True:
        points = tets.p.T[tets.t.T]
        lengths = np.linalg.norm(points[:, [0, 0, 0, 1, 1, 2]] - points[:, [1, 2, 3, 2, 3, 3]],
                                 axis=2).max(axis=1)
        away = tree.query(points.reshape(-1, 3))[0].reshape(-1, 4).min(axis=1)
        marked = np.flatnonzero(lengths > np.maximum(edge, grading * away))
        if not len(marked):
            break
        tets = tets.refined(marked)
    nodes, corners = tets.p.T.copy(), tets.t.T.astype(np.int64).copy()
    turned = solids.tetrahedron_volumes(nodes, corners) < 0.0
    corners[turned, :2] = corners[turned, 1::-1]
    return nodes, corners


def press(mesh, modulus: float, links: dict[str, ConvexHull], edge: float) -> dict:
    """
    Return what links bear: forces by link [N], area [m^2], depth and shift [m], nodes.

    ``edge`` is the longest edge of the tetrahedra where links press [m]. The area is that of the
    nodes under load; the shift is that of the centre of mass against the far parts of the body.
    """
    import trimesh
    surface = trimesh.Trimesh(mesh.vertices, mesh.faces, process=False)
    samples, faces = trimesh.sample.sample_surface_even(surface, 40000, seed=1)
    near = np.max([overlaps_with(hull, samples, -surface.face_normals[faces])
                   for hull in links.values()], axis=0) > 0.0
    nodes, corners = refined_mesh(mesh, samples[near], edge)
    faces = solids.outer_faces(corners)
    rows = np.unique(faces)
    rows = rows[cKDTree(samples[near]).query(nodes[rows])[0] < 4.0 * edge + MARGIN]
    points, inward = nearest_on(mesh, nodes[rows])
    overlaps = np.stack([overlaps_with(hull, points, inward) for hull in links.values()])
    owner, overlap = overlaps.argmax(axis=0), overlaps.max(axis=0)
    keep = overlap > -MARGIN
    where, owner, overlap = Surface(rows[keep], points[keep], inward[keep]), owner[keep], \
        overlap[keep]
    soft = SoftMesh(nodes, corners, faces, solids.node_masses(nodes, corners, 1.0))
    answer = Supported(soft, modulus, where)
    forces = _active_forces(answer.compliance, overlap)
    moved = answer.displacements(forces)
    names = list(links)
    return {'forces': {names[k]: float(forces[owner == k].sum()) for k in np.unique(owner)},
            'area': float(_node_areas(nodes, faces)[where.rows[forces > 0.0]].sum()),
            'depth': float(np.linalg.norm(moved, axis=1).max()),
            'shift': float(np.linalg.norm(np.average(moved, axis=0, weights=soft.masses))),
            'nodes': len(nodes)}


class Supported:
    """
    An elastic body that its far parts hold: they balance every load like inertia, and on average
    neither move nor turn.
    """

    def __init__(self, soft: SoftMesh, modulus: float, where: Surface) -> None:
        """Solve for a unit force along the inward normal at each node."""
        nodes, self._where = soft.nodes, where
        away = cKDTree(where.points).query(nodes)[0] > CORE_DISTANCE
        weights = soft.masses * away
        modes = np.zeros((len(nodes), 3, 6))
        modes[:, range(3), range(3)] = 1.0
        arms = nodes - np.average(nodes, axis=0, weights=weights)
        for k in range(3):
            modes[:, :, 3 + k] = np.cross(np.eye(3)[k], arms)
        self._modes = modes.reshape(-1, 6)
        self._held = np.repeat(weights, 3)[:, None] * self._modes
        self._inverse = np.linalg.inv(self._modes.T @ self._held)
        self._free = np.setdiff1d(np.arange(3 * len(nodes)), self._pinned(nodes))
        self._factors = splu(stiffness(soft, modulus)[self._free][:, self._free].tocsc(),
                             permc_spec='MMD_AT_PLUS_A', diag_pivot_thresh=0.0,
                             options={'SymmetricMode': True})
        self._rows = 3 * where.rows[:, None] + np.arange(3)
        self.compliance = np.zeros((len(where.rows),) * 2)
        for begin in range(0, len(where.rows), CHUNK):
            part = np.arange(begin, min(begin + CHUNK, len(where.rows)))
            loads = np.zeros((3 * len(nodes), len(part)))
            loads[self._rows[part], np.arange(len(part))[:, None]] = where.inward[part]
            self.compliance[:, part] = np.einsum(
                'nak,na->nk', self._solve(loads)[self._rows], where.inward)

    @staticmethod
    def _pinned(nodes: Array) -> list[int]:
        """Return six degrees of freedom that hold the body without stressing it."""
        first = int(np.argmin(nodes.sum(axis=1)))
        second = int(np.argmax(np.linalg.norm(nodes - nodes[first], axis=1)))
        line = nodes[second] - nodes[first]
        third = int(np.argmax(np.linalg.norm(np.cross(nodes - nodes[first], line), axis=1)))
        along = int(np.argmax(np.abs(line)))
        across = [k for k in range(3) if k != along]
        normal = np.cross(line, nodes[third] - nodes[first])
        last = int(np.argmax(np.abs(normal)))
        if last == along:
            last = across[int(np.argmax(np.abs(normal[across])))]
        return [3 * first, 3 * first + 1, 3 * first + 2, 3 * second + across[0],
                3 * second + across[1], 3 * third + last]

    def _solve(self, loads: Array) -> Array:
        """Return displacements (3N, n) under loads that the far parts balance."""
        loads = loads - self._held @ (self._inverse @ (self._modes.T @ loads))
        moved = np.zeros_like(loads)
        moved[self._free] = self._factors.solve(loads[self._free])
        return moved - self._modes @ (self._inverse @ (self._held.T @ moved))

    def displacements(self, forces: Array) -> Array:
        """Return displacements (N, 3) under forces along the inward normals."""
        loads = np.zeros((len(self._modes), 1))
        loads[self._rows, 0] = forces[:, None] * self._where.inward
        return self._solve(loads).reshape(-1, 3)


def _node_areas(nodes: Array, faces) -> Array:
    """Return a third of the area of the faces about each node (N,) [m^2]."""
    corners = nodes[faces]
    areas = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0],
                                          corners[:, 2] - corners[:, 0]), axis=1)
    return np.bincount(faces.ravel(), np.repeat(areas / 3.0, 3), len(nodes))
