"""Triangles of faces with more corners than three, not all of which are convex."""

import manifold3d
import numpy as np

from ...arrays import Array, BoolArray, IntArray

#: Share of a polygon's area by which a triangle of its fan may lie turned over: rounding.
TURNED = 1e-9


def faces_of(vertices: Array, corners: IntArray, counts: IntArray, first: int = 0) -> IntArray:
    """
    Return the triangles of a file's polygons; what has fewer than three corners is left out.

    Parameters as in ``triangulated``; ``first`` is the file's number of its first vertex.

    Raises
    ------
    ValueError
        A polygon names no vertex.
    """
    kept = counts >= 3
    corners = corners[np.repeat(kept, counts)]
    check_corners(corners, len(vertices), first)
    return triangulated(vertices, corners - first, counts[kept])


def check_corners(corners: IntArray, count: int, first: int = 0) -> None:
    """Raise ValueError where a corner is none of so many vertices, numbered from ``first``."""
    if len(corners) and not (corners.min() >= first and corners.max() < first + count):
        raise ValueError(f'faces name vertices {corners.min()} to {corners.max()}, '
                         f'there are {first} to {first + count - 1}')


def triangulated(vertices: Array, corners: IntArray, counts: IntArray) -> IntArray:
    """
    Return the triangles of polygons, in the polygons' order and winding.

    Parameters
    ----------
    vertices : (V, 3) float
    corners : (n,) int
        Vertices of all polygons, one polygon after the other.
    counts : (P,) int
        Numbers of corners of the polygons, each 3 or more.

    Returns
    -------
    (n - 2 P, 3) int

    Notes
    -----
    The fan about the first corner, as most readers have it; where a triangle of it would lie
    outside of the polygon, which is concave there, ears are clipped in its plane (manifold3d).
    """
    starts = np.cumsum(counts) - counts
    places = np.cumsum(counts - 2) - (counts - 2)
    faces = np.empty((int((counts - 2).sum()), 3), dtype=np.int64)
    for count in np.unique(counts).tolist():
        these = np.flatnonzero(counts == count)
        polygons = corners[starts[these][:, None] + np.arange(count)]
        fans = np.stack([np.broadcast_to(polygons[:, :1], (len(these), count - 2)),
                         polygons[:, 1:-1], polygons[:, 2:]], axis=2)
        if count > 3:
            for i in np.flatnonzero(_turned(vertices, fans)).tolist():
                fans[i] = _clipped(vertices, polygons[i], fans[i])
        faces[places[these][:, None] + np.arange(count - 2)] = fans
    return faces


def _area_vectors(vertices: Array, triangles: IntArray) -> Array:
    a, b, c = (vertices[triangles[..., k]] for k in range(3))
    return np.cross(b - a, c - a)


def _turned(vertices: Array, fans: IntArray) -> BoolArray:
    """Return which fans (m, k, 3) have a triangle that faces against the whole."""
    with np.errstate(invalid='ignore', over='ignore'):
        areas = _area_vectors(vertices, fans)
        whole = areas.sum(axis=1)
        along = np.einsum('mki,mi->mk', areas, whole)
        turned: BoolArray = along.min(axis=1) < -TURNED * np.einsum('mi,mi->m', whole, whole)
    return turned


def _clipped(vertices: Array, polygon: IntArray, fan: IntArray) -> IntArray:
    """Return the triangles (k, 3) of a polygon by its projection on its plane."""
    normal = _area_vectors(vertices, fan).sum(axis=0)
    points = vertices[polygon]
    size = float(np.linalg.norm(normal))
    if not (np.isfinite(points).all() and 0.0 < size < np.inf):
        return fan
    axes = np.linalg.svd(normal[None, :])[2][1:]
    if np.cross(axes[0], axes[1]) @ normal < 0.0:
        axes = axes[::-1]
    corners = np.asarray(manifold3d.triangulate([(points - points[0]) @ axes.T]), np.int64)
    return polygon[corners] if corners.shape == fan.shape else fan
