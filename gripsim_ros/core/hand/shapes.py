"""Shapes of links: a URDF's as one closed surface, and the middle of the palmar side."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import manifold3d
import numpy as np

from ..arrays import Array
from ..bodies.loading import MIN_EXTENT, load_mesh, repair_mesh
from ..bodies.mesh import TriangleMesh
from ..bodies.reading import quiet_reader, read_triangles
from ..errors import GripsimError, HandError, MeshError
from .description import HandLink, Pad, checked_direction, three_numbers
from .files import Resolver
from .outline import mesh_file
from .tree import Collision, origin_matrix


#: Longest edge of a link's mesh [m].
LONGEST_EDGE = 0.006
#: Sides of what stands for a round primitive: a cylinder of 10 mm is off by 0.02 mm.
ROUND_SIDES = 48
#: Subdivisions of the icosahedron that stands for a ball.
BALL_SUBDIVISIONS = 3


@dataclass(frozen=True, eq=False)
class LinkShape:
    """
    A link's surface in the link's frame [m].

    ``notes`` say what was done to it.
    """

    mesh: TriangleMesh
    notes: tuple[str, ...] = ()


def load_shape(name: str, collisions: Sequence[Collision], find: Resolver) -> LinkShape:
    """
    Return a link's collision shapes as one closed surface.

    Parameters
    ----------
    name : str
        Of the link, for messages.
    collisions : sequence of Collision
        At least one.
    find : callable
        Gives the path of a mesh's URI.

    Returns
    -------
    LinkShape
        One mesh stays as it is. Several shapes are united (manifold3d), so that none of one
        shape's surface is left inside another. A mesh that stays open after its repair counts
        as its convex hull. Edges longer than ``LONGEST_EDGE`` are divided: a coarse facet is
        as flat as it is drawn, and contact finds it by its vertices.

    Raises
    ------
    HandError
        A mesh is missing, a scale has a zero, or a primitive has no size.
    MeshError
        A mesh cannot be read, or nothing of the link is as large as 2 mm.
    """
    try:
        return united(name, [_piece(name, collision, find) for collision in collisions])
    except MeshError as error:
        reason = str(error).split('; if the unit is wrong')[0]
        raise MeshError(f'link {name!r}: {reason}') from None


def united(name: str, pieces: Sequence[LinkShape]) -> LinkShape:
    """
    Return several closed surfaces as one; a single one as it is.

    Raises
    ------
    MeshError
        The union cannot be used.
    """
    if len(pieces) == 1:
        return LinkShape(refined(pieces[0].mesh), pieces[0].notes)
    notes = tuple(note for piece in pieces for note in piece.notes)
    mesh = _union([piece.mesh for piece in pieces])
    if mesh is None:
        points = np.concatenate([piece.mesh.vertices for piece in pieces])
        return LinkShape(refined(_hull(points)), (
            *notes, f'{name}: {len(pieces)} shapes that cannot be united; their convex hull '
            'stands for them'))
    return LinkShape(refined(mesh), notes)


def refined(mesh: TriangleMesh) -> TriangleMesh:
    """Return a closed mesh with its edges divided where they are longer than ``LONGEST_EDGE``."""
    edges = mesh.vertices[mesh.faces] - mesh.vertices[np.roll(mesh.faces, 1, axis=1)]
    if float(np.linalg.norm(edges, axis=2).max()) <= LONGEST_EDGE:
        return mesh
    solid = manifold3d.Manifold(manifold3d.Mesh64(
        np.array(mesh.vertices, float), np.array(mesh.faces, np.uint64)))
    parts = solid.refine_to_length(LONGEST_EDGE).to_mesh64()
    if solid.status() != manifold3d.Error.NoError or not len(parts.tri_verts):
        return mesh
    try:
        return repair_mesh(parts.vert_properties[:, :3], parts.tri_verts.astype(np.int64)).mesh
    except GripsimError:
        return mesh


def _union(meshes: Iterable[TriangleMesh]) -> TriangleMesh | None:
    """Return the union of closed meshes; None where it is no closed surface."""
    import trimesh      # with much that a hand of plain meshes need not wait for
    solids = [trimesh.Trimesh(mesh.vertices, mesh.faces, process=False) for mesh in meshes]
    try:
        with quiet_reader():
            whole = trimesh.boolean.union(solids, engine='manifold', check_volume=False)
        return repair_mesh(whole.vertices, whole.faces).mesh
    except (GripsimError, ValueError, IndexError):
        return None


def _piece(name: str, collision: Collision, find: Resolver) -> LinkShape:
    geometry, placed = collision.geometry, origin_matrix(collision.origin)
    if not hasattr(geometry, 'filename'):
        return LinkShape(_primitive(name, geometry).with_transform(placed))
    scale = np.ones(3) if geometry.scale is None else np.asarray(geometry.scale, float)
    if scale.shape != (3,) or not np.isfinite(scale).all() or not scale.all():
        raise HandError(f'link {name!r}: the scale of a mesh must be three numbers, none of '
                        f'them 0, got {scale.tolist()}')
    path = mesh_file(name, collision, find)
    assert path is not None
    mesh, notes = _closed_mesh(name, path, scale)
    return LinkShape(mesh.with_transform(placed), notes)


def _closed_mesh(name: str, path: Path, scale: Array) -> tuple[TriangleMesh, tuple[str, ...]]:
    """Return the mesh of a file, repaired, or the hull of one that stays open."""
    uniform = np.ptp(scale) == 0.0 and scale[0] > 0.0
    try:
        if uniform:
            loaded = load_mesh(path, float(scale[0]))
        else:
            vertices, faces = read_triangles(path)
            loaded = repair_mesh(vertices * scale, faces)
        return loaded.mesh, tuple(f'{name}: {path.name}: {repair}' for repair in loaded.repairs)
    except MeshError as error:
        vertices, _ = read_triangles(path)
        reason = str(error).removeprefix(f'{path}: ').split(';')[0]
        try:
            hull = _hull(vertices * scale)
        except GripsimError:
            raise error from None
        return hull, (f'{name}: {path.name}: {reason}; its convex hull stands for it',)


def _hull(points: Array) -> TriangleMesh:
    import trimesh
    try:
        hull = trimesh.convex.convex_hull(points)
    except (ValueError, IndexError, RuntimeError) as error:
        raise MeshError(f'no convex hull: {" ".join(str(error).split())[:100]}') from None
    return repair_mesh(hull.vertices, hull.faces).mesh


def _primitive(name: str, geometry: object) -> TriangleMesh:
    """Return a box, a cylinder along z or a ball about the origin."""
    size, radius = getattr(geometry, 'size', None), getattr(geometry, 'radius', None)
    length = getattr(geometry, 'length', None)
    numbers = np.ravel(np.array([n for n in (size, radius, length) if n is not None], float))
    if not len(numbers) or not (np.isfinite(numbers).all() and (numbers > 0.0).all()):
        raise HandError(f'link {name!r}: a {type(geometry).__name__.lower()} needs sizes above 0, '
                        f'got {numbers.tolist()}')
    import trimesh
    if size is not None:
        body = trimesh.creation.box(np.asarray(size, float))
    elif length is not None:
        body = trimesh.creation.cylinder(float(str(radius)), float(length), sections=ROUND_SIDES)
    else:
        body = trimesh.creation.icosphere(BALL_SUBDIVISIONS, float(str(radius)))
    mesh = TriangleMesh(body.vertices, body.faces)
    if mesh.extents.max() < MIN_EXTENT:     # dots that stand for frames are closed as they are
        return mesh
    return repair_mesh(body.vertices, body.faces).mesh


_OUTWARD = (1.0, 0.0, 0.0)
_KEYS = {'pad', 'outward', 'through'}


def make_link(name: str, mesh: TriangleMesh, surface: Mapping[str, Any],
              pads: Mapping[str, Pad]) -> HandLink:
    """
    Return a link with the middle of its palmar surface found on its mesh.

    Raises
    ------
    HandError
        The surface names an unknown pad or key, or its line misses the mesh.
    """
    if not isinstance(surface, Mapping) or set(surface) - _KEYS:
        raise HandError(f'surface of {name!r}: expected the keys {sorted(_KEYS)}, '
                        f'got {surface!r}')
    pad = surface.get('pad')
    if pad is not None and pad not in pads:
        raise HandError(f'surface of {name!r}: no pad {pad!r} ({sorted(pads)})')
    middle = 0.5 * (mesh.vertices.min(axis=0) + mesh.vertices.max(axis=0))
    outward = checked_direction(surface.get('outward', _OUTWARD), f'surface of {name!r}: outward')
    through = three_numbers(surface.get('through', middle), f'surface of {name!r}: through must '
                            'be three finite numbers')
    found = outermost_point(mesh, through, outward)
    if found is None and 'through' not in surface:
        face = int(np.argmax(mesh.face_centroids @ outward))
        found = mesh.face_centroids[face], mesh.face_normals[face].copy()
    if found is None:
        raise HandError(f'surface of {name!r}: the line through {through.tolist()} along '
                        f'{outward.tolist()} misses the mesh')
    return HandLink(name, mesh, None if pad is None else pads[pad], *found)


def outermost_point(mesh: TriangleMesh, point: Array,
                    direction: Array) -> tuple[Array, Array] | None:
    """
    Return the last point of a mesh along a line, and the face normal there.

    Parameters
    ----------
    mesh : TriangleMesh
    point : (3,) float
        Any point of the line [m].
    direction : (3,) float
        Unit direction.

    Returns
    -------
    tuple of (3,) float, or None
        Point [m] and outward unit normal; None where the line misses the mesh.

    Notes
    -----
    Source: line-plane intersection in barycentric coordinates (Moller and Trumbore, 1997),
    edges included.
    """
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    p = np.cross(direction, c - a)
    determinant = np.einsum('ij,ij->i', b - a, p)
    crossing = np.flatnonzero(np.abs(determinant) > 1e-15)
    a, b, c, p = a[crossing], b[crossing], c[crossing], p[crossing]
    s = point - a
    u = np.einsum('ij,ij->i', s, p) / determinant[crossing]
    q = np.cross(s, b - a)
    v = q @ direction / determinant[crossing]
    hit = np.flatnonzero((u >= -1e-9) & (v >= -1e-9) & (u + v <= 1.0 + 1e-9))
    if not len(hit):
        return None
    t = np.einsum('ij,ij->i', c - a, q)[hit] / determinant[crossing][hit]
    last = int(np.argmax(t))
    return point + t[last] * direction, mesh.face_normals[crossing[hit[last]]].copy()
