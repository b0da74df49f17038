"""Fewer faces for planning: quadric decimation that turns with the body."""

from collections.abc import Iterator
from threading import Lock

import fast_simplification
import numpy as np
from scipy.spatial import ConvexHull, QhullError

from ..arrays import Array, IntArray
from ..errors import MeshError
from ..transforms import apply, inverse
from .grasp_object import canonical_frame
from .mass import inertia_of_volume
from .mesh import TriangleMesh, mean_by_row

#: Resolution over the body's size to which coordinates are rounded in the canonical frame, so
#: that the rounding errors of a rigid motion do not decide which edge collapses.
ROUNDING = 2.0 ** -18
#: Largest relative change of the volume; beyond it the hull is taken instead.
MAX_VOLUME_CHANGE = 0.5
#: Growth of the quadric error allowed per round, the gentlest first: 5 keeps thin walls
#: whole that 7, the package's own choice, lets collapse; it may stop short of the count.
AGGRESSIVENESS = (5.0, 6.0, 7.0, 9.0)
#: Vertices in one cell of this share of the body's size become one where the collapse of
#: edges stops short of the count; 0 leaves them. Long slivers, as on the side of a fine
#: cylinder, let no edge collapse without turning a face over.
CELLS = (0.0, 1.0 / 32.0, 1.0 / 16.0, 1.0 / 8.0, 1.0 / 4.0)
#: Offset of grids from the centre in cells, so that symmetric bodies have no vertices on
#: the borders of cells.
GRID_SHIFT = 0.3819660112501051
#: The package works on one mesh for the whole process: threads would mix theirs.
DECIMATION_LOCK = Lock()


def decimate_mesh(mesh: TriangleMesh, face_count: int,
                  T_mesh_canonical: Array | None = None) -> TriangleMesh:
    """
    Return a mesh of about ``face_count`` faces with the same shape and outward normals.

    Parameters
    ----------
    mesh : TriangleMesh
        Closed, normals outward.
    face_count : int
        Wanted faces, at least 4; a mesh that has no more is returned as it is.
    T_mesh_canonical : (4, 4) float, optional
        Canonical frame of the mesh, where it is known; see ``canonical_frame``.

    Returns
    -------
    TriangleMesh
        Usually closed; faces without area are left out, so it may have fewer faces.
        Its face centroids, normals and areas are good for sampling.

    Raises
    ------
    MeshError
        ``face_count`` is below 4, or the mesh is open or inside out.

    Notes
    -----
    Garland and Heckbert, Surface simplification using quadric error metrics, 1997, in
    the package fast_simplification. It runs in the body's canonical frame at unit size,
    hence the result of a moved mesh is the moved result. Where the result is inside out
    or lost half its volume (thin bodies, very few faces), vertices are first merged in cells
    of a grid (Rossignac and Borrel, Multi-resolution 3D approximations, 1993), which grow;
    where no cell helps, the decimated convex hull is returned.
    """
    _check_face_count(face_count)
    if len(mesh.faces) <= face_count:
        return mesh
    volume = mesh.volume
    if not (mesh.is_closed and volume > 0.0):
        raise MeshError('decimation needs a closed mesh with outward normals')
    for coarse in _simplified(mesh, face_count, T_mesh_canonical):
        if abs(coarse.volume - volume) <= MAX_VOLUME_CHANGE * volume:
            return coarse
    return decimate_hull(mesh, face_count)


def _simplified(mesh: TriangleMesh, face_count: int,
                T_mesh_canonical: Array | None = None) -> Iterator[TriangleMesh]:
    """Yield simplified meshes of at most ``face_count`` faces, the gentlest first."""
    if T_mesh_canonical is None:
        T_mesh_canonical = canonical_frame(mesh, *inertia_of_volume(mesh)[1:])
    points = apply(inverse(T_mesh_canonical), mesh.vertices)
    size = float(np.abs(points).max())
    points = np.round(points / size / ROUNDING) * ROUNDING
    for cell in CELLS:
        for vertices, faces in _collapsed(*_clustered(points, mesh.faces, cell), face_count):
            if 4 <= len(faces) <= face_count:
                coarse = TriangleMesh(apply(T_mesh_canonical, size * vertices), faces)
                yield coarse.with_faces(faces[coarse.face_areas > 1e-12 * coarse.area])


def _collapsed(points: Array, faces: IntArray,
               face_count: int) -> Iterator[tuple[Array, IntArray]]:
    """Yield the mesh with fewer faces, which may be more than wanted."""
    if len(faces) <= face_count:
        yield points, faces
        return
    for aggressiveness in AGGRESSIVENESS:
        with DECIMATION_LOCK:
            coarse = fast_simplification.simplify(
                points, faces.astype(np.int32), target_count=face_count, agg=aggressiveness)
        yield coarse


def _clustered(points: Array, faces: IntArray, cell: float) -> tuple[Array, IntArray]:
    """Merge points of one cell of a grid to their mean; faces that lose a corner go."""
    if cell == 0.0:
        return points, faces
    keys = np.floor(points / cell + GRID_SHIFT).astype(np.int64)
    merged, number = mean_by_row(points, keys)
    corners = number[faces]
    keep = (corners != np.roll(corners, 1, axis=1)).all(axis=1)
    return merged, corners[keep]


def _check_face_count(face_count: int) -> None:
    if face_count < 4:
        raise MeshError(f'a decimated mesh needs at least 4 faces, got {face_count}')


def convex_hull(mesh: TriangleMesh) -> TriangleMesh:
    """
    Return the convex hull of the vertices, normals outward.

    Raises
    ------
    MeshError
        The vertices lie in a plane.
    """
    try:
        hull = ConvexHull(mesh.vertices[np.unique(mesh.faces)])
    except QhullError:
        raise MeshError('a convex hull needs vertices that do not lie in a plane') from None
    faces = hull.simplices.astype(np.int64)
    corners = hull.points[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inward = np.einsum('ij,ij->i', normals, hull.equations[:, :3]) < 0.0
    faces[inward] = faces[inward][:, ::-1]
    used, renumbered = np.unique(faces, return_inverse=True)
    return TriangleMesh(hull.points[used], renumbered.reshape(-1, 3))


def decimate_hull(mesh: TriangleMesh, face_count: int) -> TriangleMesh:
    """
    Return a convex mesh of at most ``face_count`` faces close to the convex hull.

    Parameters
    ----------
    mesh : TriangleMesh
        Any mesh that is not flat.
    face_count : int
        At least 4.

    Raises
    ------
    MeshError
        ``face_count`` is below 4, or the mesh is flat.

    Notes
    -----
    The hull is decimated as in ``decimate_mesh``, and the hull of what is left returned.
    """
    _check_face_count(face_count)
    hull = convex_hull(mesh)
    if len(hull.faces) <= face_count:
        return hull
    for coarse in _simplified(hull, face_count):
        return convex_hull(coarse)
    raise MeshError(f'a convex hull could not be reduced to {face_count} faces')
