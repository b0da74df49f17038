"""Contacts between edges: where the depth is greatest though no vertex is inside."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...arrays import Array, BoolArray, IntArray
from ...bodies import TriangleMesh
from ...numerics.kernels import njit
from ...transforms import apply, inverse
from ..geometry.contact_mesh import ContactMesh
from ..geometry.ray_casting import AHEAD, cast_rays, direction_frame, doubled
from .penetrating_vertices import unit_direction


#: Least bend of an edge of the body, not of its tessellation [rad].
MIN_BEND = 1e-6
#: Offset of test rays from a crossing over the size, and how many of these offsets their
#: depths may differ: rays through the very edges may slip by.
RAY_OFFSET, AGREEMENT = 1e-9, 1e3


@dataclass(frozen=True, eq=False)
class EdgeContacts:
    """
    Crossings of edges of two meshes at which the depth has a local maximum.

    Attributes
    ----------
    edges_a, edges_b : (k, 2) int
        End vertices of the edges, as the meshes number them.
    depths : (k,) float
        Way along the motion from the edge of a to that of b [m].
    points : (k, 3) float
        On the edge of b, where the edge of a leaves it; frame of a [m].
    """

    edges_a: IntArray
    edges_b: IntArray
    depths: Array
    points: Array

    @classmethod
    def none(cls) -> 'EdgeContacts':
        """Return that no edges cross."""
        return cls(np.zeros((0, 2), np.int64), np.zeros((0, 2), np.int64), np.zeros(0),
                   np.zeros((0, 3)))


class _Ridges(NamedTuple):
    """Bent edges: end vertices, ends seen along the motion, slopes of both facets beside."""

    vertices: IntArray
    ends: Array
    gradients: Array


def edge_contacts(a: ContactMesh, b: ContactMesh, T_a_b: Array, direction: Array) -> EdgeContacts:
    """
    Find where edges of two meshes cross deepest.

    Parameters
    ----------
    a, b : ContactMesh
        Closed.
    T_a_b : (4, 4) float
        Pose of b in a.
    direction : (3,) float
        Motion of b relative to a, frame a, any length above 0.

    Returns
    -------
    EdgeContacts

    Raises
    ------
    ShapeError
        The direction has no length or is not finite.

    Notes
    -----
    Own derivation (``docs/model/contact.md``): over the plane normal to the motion the
    depth is linear between crossings, so a maximum that is no vertex is a crossing from
    which it falls along both edges, both ways. Before a silhouette lies no body, so there
    nothing is inside to be reported.
    """
    d = unit_direction(direction)
    frame = direction_frame(d)
    of_a = _ridges(a.mesh, a.mesh.vertices @ frame.T, -1.0)
    of_b = _ridges(b.mesh, apply(T_a_b, b.mesh.vertices) @ frame.T, 1.0)
    pairs, places = _crossings(of_a.ends, of_a.gradients, of_b.ends, of_b.gradients)
    starts, depths = places[:, :3] @ frame, places[:, 3]
    kept = np.flatnonzero(_first_exits(b, inverse(T_a_b), frame, starts, depths))
    return EdgeContacts(of_a.vertices[pairs[kept, 0]], of_b.vertices[pairs[kept, 1]],
                        depths[kept], starts[kept] + depths[kept, None] * d)


def _first_exits(b: ContactMesh, T_b_a: Array, frame: Array, starts: Array,
                 depths: Array) -> BoolArray:
    """Return which starts, in the frame of a, leave b first after about their depths."""
    nudge = RAY_OFFSET * b.tree.size
    around = nudge * np.array([[u, v, 0.0] for u in (-1, 1) for v in (-1, 1)]) @ frame
    points = apply(T_b_a, (starts[:, None] + around).reshape(-1, 3))
    hits = cast_rays(b.tree, points, np.ascontiguousarray(T_b_a[:3, :3] @ frame[2]), 0.0)
    distances = np.where(hits.edges[:, AHEAD, 3] > 0.0, hits.distances[:, AHEAD], np.inf)
    agree = np.abs(distances.reshape(-1, 4) - depths[:, None]) <= AGREEMENT * nudge
    return np.any(agree, axis=1)


def _ridges(mesh: TriangleMesh, turned: Array, facing: float) -> _Ridges:
    """Return the bent edges with a facet that faces along ``facing`` times the motion."""
    _, first, merged = np.unique(mesh.vertices, axis=0, return_index=True, return_inverse=True)
    faces = merged.reshape(-1)[mesh.faces]
    whole = faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)]
    welded = TriangleMesh(turned[first], whole)
    bent = (welded.edge_faces[:, 0] >= 0) & (welded.dihedral_angles > MIN_BEND)
    normals = facing * welded.face_normals[welded.edge_faces[bent]]
    seen = normals[..., 2] > 0.0
    steep = np.where(seen, normals[..., 2], 1.0)
    gradients = np.where(seen[..., None], -normals[..., :2] / steep[..., None], np.nan)
    useful = seen.any(axis=1)
    edges = welded.edges[bent][useful]
    return _Ridges(first[edges], np.ascontiguousarray(welded.vertices[edges]),
                   np.ascontiguousarray(gradients[useful]))


@njit(cache=True)
def _crossings(ends_a: Array, gradients_a: Array, ends_b: Array,
               gradients_b: Array) -> tuple[IntArray, Array]:
    """Return pairs of edges that cross at a local maximum of depth, and where, and how deep."""
    pairs, places = np.empty((16, 2), np.int64), np.empty((16, 4))
    found, widest = 0, 0.0
    lows = np.minimum(ends_b[:, 0, 0], ends_b[:, 1, 0])
    for j in range(len(ends_b)):
        widest = max(widest, abs(ends_b[j, 1, 0] - ends_b[j, 0, 0]))
    order = np.argsort(lows, kind='mergesort')
    lows = lows[order]
    for i in range(len(ends_a)):
        # Along the first axis only edges that begin within reach can meet.
        low, high = min(ends_a[i, 0, 0], ends_a[i, 1, 0]), max(ends_a[i, 0, 0], ends_a[i, 1, 0])
        begin = np.searchsorted(lows, low - widest * (1.0 + MIN_BEND))
        for place in range(begin, np.searchsorted(lows, high, side='right')):
            j = order[place]
            if not _extents_meet(ends_a, i, ends_b, j):
                continue
            sx, sy = ends_a[i, 1, 0] - ends_a[i, 0, 0], ends_a[i, 1, 1] - ends_a[i, 0, 1]
            rx, ry = ends_b[j, 1, 0] - ends_b[j, 0, 0], ends_b[j, 1, 1] - ends_b[j, 0, 1]
            turn = sx * ry - sy * rx
            if turn == 0.0:
                continue
            x, y = ends_b[j, 0, 0] - ends_a[i, 0, 0], ends_b[j, 0, 1] - ends_a[i, 0, 1]
            s, r = (x * ry - y * rx) / turn, (x * sy - y * sx) / turn
            if not (0.0 < s < 1.0 and 0.0 < r < 1.0):
                continue
            slope_a = ends_a[i, 1, 2] - ends_a[i, 0, 2]
            slope_b = ends_b[j, 1, 2] - ends_b[j, 0, 2]
            z = ends_a[i, 0, 2] + s * slope_a
            depth = ends_b[j, 0, 2] + r * slope_b - z
            if depth <= 0.0 or not (_falls(gradients_b, j, sx, sy, slope_a, 1.0)
                                    and _falls(gradients_a, i, rx, ry, slope_b, -1.0)):
                continue
            if found == len(pairs):
                pairs, places = doubled(pairs), doubled(places)
            pairs[found, 0], pairs[found, 1] = i, j
            places[found, 0] = ends_a[i, 0, 0] + s * sx
            places[found, 1] = ends_a[i, 0, 1] + s * sy
            places[found, 2], places[found, 3] = z, depth
            found += 1
    return pairs[:found], places[:found]


@njit(cache=True, forceinline=True)
def _extents_meet(ends_a: Array, i: int, ends_b: Array, j: int) -> bool:
    meet = True
    for k in range(2):
        p, q, u, v = ends_a[i, 0, k], ends_a[i, 1, k], ends_b[j, 0, k], ends_b[j, 1, k]
        meet = meet and min(p, q) <= max(u, v) and min(u, v) <= max(p, q)
    return meet


@njit(cache=True)
def _falls(gradients: Array, edge: int, x: float, y: float, slope: float, sign: float) -> bool:
    """
    Return True if the depth falls both ways along the other body's edge (x, y).

    ``sign`` is 1 where the facets are b's, whose height counts positive, and -1 where they
    are a's. Beyond a facet that does not face the motion there is no depth.
    """
    falls = True
    for way in (1.0, -1.0):
        # A convex edge: the nearer facet is the one with the lower height for b, higher for a.
        change, seen = np.inf, True
        for k in range(2):
            if np.isnan(gradients[edge, k, 0]):
                seen = False
            else:
                rise = way * (gradients[edge, k, 0] * x + gradients[edge, k, 1] * y)
                change = min(change, sign * (rise - way * slope))
        falls = falls and (change < 0.0 or not seen)
    return falls
