"""
A curved surface through the vertices of a mesh, for nodes between them.

Facets of a scan sag by more than a gentle indentation. Each triangle carries the
cubic of a curved PN triangle over it; it is flat across the body's own edges and on
plane faces, however smooth their surroundings. A polyhedron is taken at its word.
"""

from typing import NamedTuple

import numpy as np

from ...arrays import Array, BoolArray, IntArray
from ...bodies import TriangleMesh
from ...bodies.mesh import SMOOTH_ANGLE, lengths, sum_by_label, unit_rows
from ...bodies.topology import connected_labels
from ...bodies.triangles import pair_dot, sphere_sums
from ...numerics.kernels import njit, read_only
from ...numerics.vec3 import Mat3, Vec3, dot, load_mat3_at, subtract
from .vp_tree import VpTree


#: Largest number of faces, and share of the surface, of a speck of noise.
SPECK_FACES, SPECK_SHARE = 12, 2e-3

#: Largest angle between neighbours of one plane [rad].
PLANE_ANGLE = 1e-3
#: Width over that of its neighbours from which a plane face is the body's own, not one of
#: its tessellation [-].
PLANE_WIDTH_RATIO = 3.0
#: Least cosine between the normal and the direction of a move; else there is none.
MIN_SLOPE = 0.1
#: Largest bulge over the rise of an arc on the longest edge that counts as curvature [-].
BULGE_RATIO = 2.0
#: Angle by which the faces round a corner fall short of a plane, from which on a polyhedron has
#: it [rad]; share that such corners have of what a polyhedron's turn [-].
CORNER_ANGLE, CORNER_SHARE = SMOOTH_ANGLE, 2.0 / 3.0


#: Corners that the control points on the edges are near to, and those at the edges' other ends.
_FROM, _TO = [0, 0, 1, 1, 2, 2], [1, 2, 2, 0, 0, 1]


class CurvedSurface(NamedTuple):
    """
    Corner normals and limits of bulging, in the order of a tree's triangles.

    Attributes
    ----------
    normals : (f, 3, 3) float
        Outward unit normal at each corner of each triangle.
    limits : (f,) float
        The curved surface stays this near to its triangle [m].
    sides : (f,) int
        Smooth side of the body on which the triangle lies.
    """

    normals: Array
    limits: Array
    sides: IntArray


def build_curved_surface(mesh: TriangleMesh, tree: VpTree) -> CurvedSurface:
    """
    Prepare the curved surface of a mesh.

    Parameters
    ----------
    mesh : TriangleMesh
    tree : VpTree
        Of the same mesh; gives the order.

    Returns
    -------
    CurvedSurface

    Notes
    -----
    Source: Vlachos et al., Curved PN triangles, 2001. Departures: normals round a whole
    vertex are weighted as by Max (1999), which is exact on spheres; plane faces of the
    body keep their normal; the bulge is limited, and polyhedra have none
    (``docs/model/contact.md``).
    """
    flat = is_polyhedron(mesh)
    normals = np.repeat(mesh.face_normals[:, None], 3, axis=1) if flat else _corner_normals(mesh)
    order = tree.faces
    normals = normals[order]
    return CurvedSurface(normals, _bulge_limits(read_only(tree.corners), read_only(normals)),
                         joined_sides(mesh)[order].astype(np.int64))


def is_polyhedron(mesh: TriangleMesh) -> bool:
    """
    Return whether a mesh is a polyhedron, not samples of something round.

    Parameters
    ----------
    mesh : TriangleMesh

    Returns
    -------
    bool
        Two thirds of what the corners of a closed mesh turn by are at sharp ones.

    Notes
    -----
    The angles by which the faces round the corners of a closed body fall short of a plane add
    up to 720 degrees (Descartes). Samples of a round surface have a little at each of them, the
    hull of few points most at some. Own rule.
    """
    if not mesh.is_closed:
        return False
    ways = [mesh.vertices[mesh.faces[:, (k + 1) % 3]] - mesh.vertices[mesh.faces[:, k]]
            for k in range(3)]
    turns = np.full(len(mesh.vertices), 2.0 * np.pi)
    for k in range(3):
        out, back = ways[k], -ways[k - 1]
        np.subtract.at(turns, mesh.faces[:, k], np.arctan2(
            lengths(np.cross(out, back)), (out * back).sum(axis=1)))
    turns = np.abs(turns[np.unique(mesh.faces)])
    return bool(turns[turns > CORNER_ANGLE].sum() > CORNER_SHARE * turns.sum())


def _corner_normals(mesh: TriangleMesh) -> Array:
    whole = _whole_vertices(mesh)
    normals = _sphere_normals(mesh)[mesh.faces]
    sharp = ~whole[mesh.faces]
    rows = np.flatnonzero(sharp.any(axis=1))
    if len(rows):       # a corner's mean takes in faces at its own vertex alone
        beside = mesh.with_faces(mesh.faces[rows]).corner_normals()
        normals[rows] = np.where(sharp[rows][..., None], beside, normals[rows])
    return _keep_planes(mesh, normals, whole, _body_planes(mesh))


def _whole_vertices(mesh: TriangleMesh) -> BoolArray:
    """Return which vertices have only smooth edges."""
    whole = np.ones(len(mesh.vertices), bool)
    whole[mesh.edges[np.abs(mesh.dihedral_angles) > SMOOTH_ANGLE]] = False
    return whole


def _sphere_normals(mesh: TriangleMesh) -> Array:
    """Return vertex normals weighted as by Max: exact where the vertex lies on a sphere."""
    sums = sphere_sums(mesh.vertices, mesh.faces)
    some = (sums[:, 0] != 0.0) | (sums[:, 1] != 0.0) | (sums[:, 2] != 0.0)
    around = unit_rows(sums)
    return around if some.all() else np.where(some[:, None], around, mesh.vertex_normals)


def _body_planes(mesh: TriangleMesh) -> BoolArray:
    """
    Return which faces lie in a plane of the body itself.

    A group of coplanar triangles is one if it is much wider than each smooth neighbour:
    then its neighbours are the tessellation of a fillet, and it is truly flat.
    """
    angles = np.abs(mesh.dihedral_angles)
    flat = angles < PLANE_ANGLE
    groups = connected_labels(mesh.edge_faces[flat], len(mesh.faces))
    count = int(groups.max()) + 1
    areas = np.bincount(groups, mesh.face_areas, minlength=count)
    bent = ~flat & (angles <= SMOOTH_ANGLE)
    spans = lengths(mesh.vertices[mesh.edges[bent, 1]] - mesh.vertices[mesh.edges[bent, 0]])
    pairs = groups[mesh.edge_faces[bent]]
    own_width = np.bincount(pairs.ravel(), np.repeat(spans, 2), minlength=count)
    widths = areas / np.where(own_width > 0.0, own_width, np.inf)
    is_plane = np.ones(count, bool)
    for own, other in ((0, 1), (1, 0)):
        narrow = widths[pairs[:, own]] < PLANE_WIDTH_RATIO * widths[pairs[:, other]]
        is_plane[pairs[narrow, own]] = False
    return is_plane[groups]


def _keep_planes(mesh: TriangleMesh, normals: Array, whole: BoolArray,
                 planes: BoolArray) -> Array:
    """Give corners of plane faces, and smooth ones beside, the plane's normal, in place."""
    if not planes.any():
        return normals
    of_planes = mesh.face_normals[planes]
    normals[planes] = of_planes[:, None]
    sums = sum_by_label(np.repeat(of_planes, 3, axis=0), mesh.faces[planes].ravel(),
                        len(mesh.vertices))
    beside = ((sums != 0.0).any(axis=1) & whole)[mesh.faces] & ~planes[:, None]
    normals[beside] = unit_rows(sums)[mesh.faces[beside]]
    return normals


@njit(cache=True, nogil=True)
def _bulge_limits(corners: Array, normals: Array) -> Array:
    """
    Return per face how far its curved surface may lie from it [m].

    An arc of length l that leaves its chord at both ends with slope s rises by l s / 4.
    Where the two ends differ, the smaller slope counts, so that one wrong normal beside
    a long flat face makes no hill of it. Nor can the cubic rise above 8/9 of its highest
    control point (the weights of the seven free ones add up to that at most).
    """
    limits = np.empty(len(corners))
    for f in range(len(corners)):
        own, at = load_mat3_at(corners, f), load_mat3_at(normals, f)
        arc, highest, total = 0.0, 0.0, (0.0, 0.0, 0.0)
        for k in range(3):
            following = (k + 1) % 3
            edge = subtract(own[following], own[k])
            start, end = abs(pair_dot(at[k], edge)), abs(pair_dot(at[following], edge))
            arc = max(arc, min(start, end) / 4.0)
        for i in range(6):      # control points near a corner, towards each of the others
            k, other = i // 2, (1, 2, 2, 0, 0, 1)[i]
            bend = -pair_dot(subtract(own[other], own[k]), at[k]) / 3.0
            offset = bend * at[k][0], bend * at[k][1], bend * at[k][2]
            total = total[0] + offset[0], total[1] + offset[1], total[2] + offset[2]
            highest = max(highest, _length(offset))
        inner = total[0] / 4.0, total[1] / 4.0, total[2] / 4.0
        highest = max(highest, _length(inner))
        limits[f] = min(BULGE_RATIO * arc, 8.0 / 9.0 * highest)
    return limits


@njit(cache=True, forceinline=True)
def _length(v: Vec3) -> float:
    return np.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])


def _control_offsets(corners: Array, normals: Array) -> Array:
    """Return how far the six points on the edges and the inner one lie off the facet."""
    at = normals[:, _FROM]
    bends = np.einsum('fki,fki->fk', corners[:, _TO] - corners[:, _FROM], at)
    offsets = -bends[..., None] / 3.0 * at
    return np.concatenate([offsets, offsets.sum(axis=1, keepdims=True) / 4.0], axis=1)


def control_points(corners: Array, surface: CurvedSurface) -> Array:
    """
    Return corners and control points of every facet; their hull holds the curved surface.

    Parameters
    ----------
    corners : (f, 3, 3) float
        In the tree's order [m].
    surface : CurvedSurface

    Returns
    -------
    (10 f, 3) float
    """
    offsets = _control_offsets(corners, surface.normals)
    heights = lengths(offsets)
    limits = surface.limits[:, None] * 9.0 / 8.0
    offsets *= np.minimum(1.0, limits / np.where(heights > 0.0, heights, 1.0))[..., None]
    thirds = (2.0 * corners[:, _FROM] + corners[:, _TO]) / 3.0
    on_facet = np.concatenate([thirds, corners.mean(axis=1, keepdims=True)], axis=1)
    return np.concatenate([on_facet + offsets, corners], axis=1).reshape(-1, 3)


@njit(cache=True, forceinline=True, error_model='numpy')
def lift_onto_surface(corners: Array, normals: Array, limits: Array, position: int, weights: Vec3,
                      direction: Vec3) -> tuple[float, Vec3, Vec3]:
    """
    Move a point of a triangle along a direction onto the curved surface.

    Parameters
    ----------
    corners, normals : (f, 3, 3) float
        Of all triangles [m], outward unit normals.
    limits : (f,) float
        Largest bulges [m].
    position : int
        The triangle.
    weights : (3,) float
        Barycentric coordinates of the point.
    direction : (3,) float
        Unit direction of the move.

    Returns
    -------
    float
        The move along the direction [m].
    (3,) float, (3,) float
        The moved point [m] and the smoothed outward unit normal.
    """
    u, v, w = weights
    p, q, r = load_mat3_at(corners, position)
    f, g, h = load_mat3_at(normals, position)
    # From 0, so that no zero is negative.
    x = 0.0 + u * p[0] + v * q[0] + w * r[0]
    y = 0.0 + u * p[1] + v * q[1] + w * r[1]
    z = 0.0 + u * p[2] + v * q[2] + w * r[2]
    nx = 0.0 + u * f[0] + v * g[0] + w * h[0]
    ny = 0.0 + u * f[1] + v * g[1] + w * h[1]
    nz = 0.0 + u * f[2] + v * g[2] + w * h[2]
    norm = np.sqrt(nx ** 2 + ny ** 2 + nz ** 2)
    move, limit = 0.0, limits[position]
    if norm > 0.0:
        nx, ny, nz = nx / norm, ny / norm, nz / norm
        slope = nx * direction[0] + ny * direction[1] + nz * direction[2]
        if limit > 0.0 and abs(slope) >= MIN_SLOPE:
            rise = _cubic_rise((p, q, r), (f, g, h), (u, v, w), (nx, ny, nz))
            move = min(max(rise, -limit), limit) / slope
    point = (x + move * direction[0], y + move * direction[1], z + move * direction[2])
    return move, point, (nx, ny, nz)


@njit(cache=True, forceinline=True, error_model='numpy')
def _cubic_rise(corners: Mat3, normals: Mat3, weights: Vec3, normal: Vec3) -> float:
    """
    Return the height of the cubic over its triangle, along the unit normal there.

    Dividing by the root of the cosine between the two normals makes it of fourth order
    on a sphere, where the plain PN cubic stays below by a fifth of the angle squared.
    """
    (p, q, r), (u, v, w) = corners, weights
    a, b, c = _scale(normals[0], normal), _scale(normals[1], normal), _scale(normals[2], normal)
    # Control points 2/3 of the way to a corner: moved along the normal there.
    pq, pr = _bend(p, q, normals[0]), _bend(p, r, normals[0])
    qp, qr = _bend(q, p, normals[1]), _bend(q, r, normals[1])
    rp, rq = _bend(r, p, normals[2]), _bend(r, q, normals[2])
    edge_sum = 0.0 + a * pq + a * pr + b * qp + b * qr + c * rp + c * rq
    rise = (0.0 + 3.0 * u * u * v * a * pq + 3.0 * u * u * w * a * pr
            + 3.0 * v * v * u * b * qp + 3.0 * v * v * w * b * qr
            + 3.0 * w * w * u * c * rp + 3.0 * w * w * v * c * rq)
    return rise + 6.0 * u * v * w * edge_sum / 4.0


@njit(cache=True, forceinline=True, error_model='numpy')
def _scale(corner_normal: Vec3, normal: Vec3) -> float:
    """Return by how much of their bends the control points of a corner rise."""
    return -1.0 / (3.0 * np.sqrt(max(dot(corner_normal, normal), 0.1)))


@njit(cache=True, forceinline=True)
def _bend(corner: Vec3, other: Vec3, normal: Vec3) -> float:
    """Return how far another corner lies along the normal at one."""
    return dot((other[0] - corner[0], other[1] - corner[1], other[2] - corner[2]), normal)


def joined_sides(mesh: TriangleMesh) -> IntArray:
    """
    Return the smooth side of each face (F,), with specks of noise joined to a neighbour.

    A side of at most ``SPECK_FACES`` faces and ``SPECK_SHARE`` of the surface is the
    roughness of a scan, not a side to be pressed on: it joins the neighbouring side with
    which it shares the longest border.

    Parameters
    ----------
    mesh : TriangleMesh

    Returns
    -------
    (F,) int
    """
    sides = mesh.smooth_sides().astype(np.int64)
    areas = np.bincount(sides, mesh.face_areas)
    specks = (np.bincount(sides) <= SPECK_FACES) & (areas <= SPECK_SHARE * mesh.area)
    if not specks.any() or specks.all():
        return sides
    paired = mesh.edge_faces[:, 0] >= 0
    first, second = sides[mesh.edge_faces[paired]].T
    spans = lengths(np.diff(mesh.vertices[mesh.edges[paired]], axis=1)[:, 0])
    targets = np.arange(len(areas))
    for speck in np.flatnonzero(specks):
        other = np.where(first == speck, second, first)
        border = ((first == speck) | (second == speck)) & ~specks[other]
        if border.any():
            targets[speck] = np.argmax(np.bincount(other[border], spans[border]))
    return targets[sides]
