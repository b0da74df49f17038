"""Meshes from files and messages: read, repaired, checked."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..errors import GripsimError, MeshError, ShapeError, told_outside
from ..fields import checked_array
from .mesh import TriangleMesh
from .reading import MAX_FACES, read_triangles
from .repair.cleaning import (
    MAX_HOLE, Draft, drop_duplicate_faces, drop_loose_degenerate_faces, drop_repeated_corners,
    fill_holes, fix_winding, has_duplicate_faces, loop_size, merge_vertices, near_vertices,
    plural, turn_out_degenerate_faces)
from .repair.holes import boundary_loops
from .repair.shells import check_outside, orient_shells
from .repair.united import unite_pieces
from .topology import used_vertices

#: Allowed range of the largest extent [m].
MIN_EXTENT, MAX_EXTENT = 0.002, 5.0
#: Distances, as shares of the diagonal, within which vertices are merged if the surface
#: is open without: file formats round their numbers.
MERGE_DISTANCES = (0.0, 1e-6, 1e-4)
#: Thickness, as a share of the diagonal, of what is flat.
MIN_FLATNESS = 1e-6


@dataclass(frozen=True, eq=False)
class LoadedMesh:
    """
    A mesh fit for use, and what was done to it.

    Attributes
    ----------
    mesh : TriangleMesh
        Closed, normals outward, every vertex used [m].
    repairs : tuple of str
        One clause for each kind of repair, such as ``'filled 1 hole 3.2 mm across'``.
    """

    mesh: TriangleMesh
    repairs: tuple[str, ...] = ()


def load_mesh(path: str | Path, scale: float = 1.0) -> LoadedMesh:
    """
    Return the mesh in a file, in metres, repaired.

    Parameters
    ----------
    path : str or Path
        Any format that trimesh reads, at most 500 MB and two million faces. Scenes are
        joined into one mesh; materials, textures and normals are not read.
    scale : float
        Metres in one unit of the file, > 0.

    Raises
    ------
    MeshError
        The file cannot be read, or ``repair_mesh`` refuses what it holds; names the file.
    """
    vertices, faces = read_triangles(path)
    try:
        return repair_mesh(vertices, faces, scale)
    except GripsimError as error:
        raise type(error)(f'{path}: {error}') from None


def repair_mesh(vertices: ArrayLike, faces: ArrayLike, scale: float = 1.0,
                unit: float = 1.0) -> LoadedMesh:
    """
    Return a closed mesh with outward normals from raw triangles.

    Parameters
    ----------
    vertices : (V, 3) float
        In units of ``scale``.
    faces : (F, 3) int
        In any winding.
    scale : float
        Metres in one unit, > 0.
    unit : float
        What sentences and errors take a length of 1 in the result for [m], where that is
        no metre.

    Returns
    -------
    LoadedMesh
        A clean mesh keeps its vertices and faces in their order.

    Raises
    ------
    ShapeError
        An array has another shape or type.
    MeshError
        The scale is not positive; there are no faces or too many; a face names no vertex;
        a coordinate is not finite; the largest extent is above 5 m or below 2 mm; the
        surface is flat, one-sided, partly inside out, or open after the repair.

    Notes
    -----
    Vertices at one position are merged, degenerate and duplicate faces dropped, the
    winding made one, holes up to a tenth of the bounding box's diagonal filled, shells
    turned outward (see ``orient_shells`` for cavities and separate pieces), unused
    vertices dropped. Own procedure, see docs/model/bodies.md.
    """
    draft = replace(_checked(vertices, faces, scale), unit=unit)
    _check_extents(draft, scale)
    closed = check_outside(_united(draft))
    used, renumbered = used_vertices(closed.faces, len(closed.vertices))
    mesh = TriangleMesh(closed.vertices[used], renumbered)
    if len(used) == len(closed.vertices):       # then the faces are the same, and so are edges
        mesh.take_edges(closed.table)
    return LoadedMesh(mesh, closed.repairs)


def _checked(vertices: ArrayLike, faces: ArrayLike, scale: float) -> Draft:
    """Return the draft of valid arrays in metres, unused vertices left out."""
    if not (isinstance(scale, (int, float, np.number)) and np.isfinite(scale) and scale > 0.0):
        raise MeshError(f'scale must be a finite number above 0, got {scale}')
    points = checked_array(vertices, 'vertices', 'V', 3, finite=False)
    checked = TriangleMesh(np.nan_to_num(points), faces).faces  # type: ignore[arg-type]
    if len(checked) > MAX_FACES:
        raise MeshError(f'a mesh may have at most {MAX_FACES} faces, got {len(checked)}')
    used, renumbered = used_vertices(checked, len(points))
    bad = int(np.count_nonzero(~np.isfinite(points[used]).all(axis=1)))
    if bad:
        raise MeshError(f'vertices must be finite, got {bad} of {len(points)} that are not')
    with np.errstate(over='ignore', invalid='ignore'):
        scaled = scale * points[used] + 0.0
    said = (f'dropped {plural(len(points) - len(used), "unused vertex")}',)
    return Draft(scaled, renumbered, said if len(used) < len(points) else ())


def finite_points(points: Array, what: str, least: int, most: int
                  ) -> tuple[Array, tuple[str, ...]]:
    """Return those of points ``(n, d)`` that are finite, and a note of the others."""
    if len(points) > most:
        raise ShapeError(f'{what} may have at most {most} points, got {len(points)}')
    finite = points[np.isfinite(points).all(axis=1)]
    dropped, distinct = len(points) - len(finite), len(np.unique(finite, axis=0))
    if distinct < least:
        raise ShapeError(f'{what} needs at least {least} different finite points, got {distinct}')
    return finite, (f'dropped {dropped} points that are not finite',) if dropped else ()


def check_extent(points: Array, scale: float) -> float:
    """Return the largest extent of points ``(n, 3)`` [m]; MeshError where no body is so large."""
    with np.errstate(over='ignore', invalid='ignore'):
        largest = float(np.ptp(points, axis=0).max())
    if not MIN_EXTENT <= largest <= MAX_EXTENT:
        factor = 1000.0 if largest < MIN_EXTENT else 0.001
        raise MeshError(
            f'the largest extent is {told_outside(largest, MIN_EXTENT, MAX_EXTENT)} m, '
            f'allowed are {MIN_EXTENT:g} to {MAX_EXTENT:g} m; '
            f'if the unit is wrong try --scale {scale * factor:g}')
    return largest


def _check_extents(draft: Draft, scale: float) -> None:
    largest = check_extent(draft.vertices, scale)
    centred = draft.vertices - draft.vertices.mean(axis=0)
    axis = np.linalg.eigh(centred.T @ centred)[1][:, 0]
    thickness = float(np.ptp(centred @ axis))
    if thickness <= MIN_FLATNESS * draft.diagonal:
        raise MeshError(f'the mesh is flat: {draft.unit * thickness:.2g} m thick at an extent '
                        f'of {draft.unit * largest:.4g} m; allowed are bodies with a volume')


def _closed(draft: Draft) -> Draft:
    """Return the surface closed: by the mildest cleaning that does it, or by filling holes."""
    tried: list[Draft] = []
    refusal = MeshError('the mesh has no faces')
    for merged in _merged(draft):
        try:
            proper = drop_repeated_corners(merged)
        except MeshError as error:
            refusal = error
            continue
        for walls in (False, True):
            if walls and not has_duplicate_faces(proper):
                continue
            try:
                tried.append(_cleaned(proper, walls))
            except MeshError as error:
                refusal = error
                continue
            finished = turn_out_degenerate_faces(tried[-1])
            if finished.is_closed():
                return finished
    if not tried:
        raise refusal
    best = min(tried, key=Draft.open_side_count)
    finished = turn_out_degenerate_faces(fill_holes(best))
    if not finished.is_closed():
        raise _open_error(best)
    return finished


def _united(draft: Draft) -> Draft:
    """Return the surface closed and turned outward; pieces that overlap or touch are one."""
    try:
        whole = _united_as_listed(draft)
        if whole is not None:
            return replace(orient_shells(_closed(whole)), repairs=whole.repairs)
    except MeshError:       # told by what follows, or no obstacle to it
        pass
    closed = orient_shells(_closed(draft))
    try:
        whole = unite_pieces(closed)
        return closed if whole is None else replace(
            orient_shells(_closed(whole)), repairs=whole.repairs)
    except MeshError:
        return closed


def _united_as_listed(draft: Draft) -> Draft | None:
    """
    Return the union of pieces that are closed as the faces are listed; None where there is none.

    Pieces that touch share corners and edges, and are one tangle once equal vertices are merged;
    walls that they share face for face are dropped then.
    """
    places = int(draft.places.max()) + 1
    if not places < len(draft.vertices) <= len(draft.faces) or not draft.is_closed():
        return None
    oriented = orient_shells(fix_winding(draft))
    return None if has_duplicate_faces(next(_merged(draft))) else unite_pieces(oriented)


def _merged(draft: Draft) -> Iterator[Draft]:
    """Yield the draft with vertices merged over longer and longer distances."""
    diagonal, count = draft.diagonal, -1
    for share in MERGE_DISTANCES:
        labels = near_vertices(draft, share * diagonal)
        if labels.max() + 1 != count:
            count = int(labels.max()) + 1
            yield merge_vertices(draft, labels, share * diagonal)


def _cleaned(draft: Draft, walls: bool) -> Draft:
    draft = drop_duplicate_faces(draft, walls)
    draft = drop_loose_degenerate_faces(draft)
    return fix_winding(draft)


def _open_error(draft: Draft) -> MeshError:
    """Return the error that says where the surface stays open."""
    sizes = [loop_size(draft.vertices, loop) for loop in boundary_loops(draft.faces, draft.table)]
    limit = MAX_HOLE * draft.diagonal
    large = [size for size in sizes if size > limit]
    told = 1e3 * draft.unit
    allowed = f'holes up to {told * limit:.3g} mm (10 % of the diagonal) are filled'
    if large:
        return MeshError(f'the mesh is open: {plural(len(large), "hole")}, the largest '
                         f'{told * max(large):.3g} mm across; {allowed}, larger ones are to be '
                         'closed in the file; a scan of one side is completed instead: mirror, '
                         'extrude or convex (--completion, or a cloud in place of the mesh)')
    crowded = int(np.count_nonzero(draft.table.counts > 2))
    single = int(np.count_nonzero(draft.table.counts == 1))
    return MeshError(f'the mesh is open: {plural(single, "edge")} with one face and '
                     f'{plural(crowded, "edge")} with more than two; each edge must join two')
