"""
Oriented bounding boxes from covariance, and what two of them share.

Source: Leskov et al., "Intersection of link and object meshes", sections on the
oriented box and the region of potential interaction, with the corrections
derived in ``docs/model/contact.md``.
"""

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, IntArray
from ..errors import ShapeError
from ..fields import checked_array


#: Signs of the coordinates of a box's corners.
_SIGNS = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)], float)
#: Numbers of the corners between which the edges run: they differ in one sign.
_EDGES = np.array([(a, b) for a in range(8) for b in range(a + 1, 8)
                   if (a ^ b) in (1, 2, 4)])


@dataclass(frozen=True, eq=False)
class OrientedBox:
    """
    A box with its own axes, in the frame of the body it bounds.

    Attributes
    ----------
    axes : (3, 3) float
        Rows are the unit axes; maps body coordinates to box axes.
    centre : (3,) float
        Centre of the box, body frame [m].
    half_lengths : (3,) float
        Half of each side [m], not negative.
    """

    axes: Array
    centre: Array
    half_lengths: Array

    def corners(self) -> Array:
        """Return the eight corners ``(8, 3)``, body frame [m]."""
        return self.centre + (_SIGNS * self.half_lengths) @ self.axes

    def edges(self) -> Array:
        """Return both ends of the twelve edges ``(12, 2, 3)``, body frame [m]."""
        return self.corners()[_EDGES]

    def with_transform(self, T_a_b: Array) -> 'OrientedBox':
        """Return this box of frame b in frame a."""
        rotation = T_a_b[:3, :3]
        centre = rotation @ self.centre + T_a_b[:3, 3]
        return OrientedBox(self.axes @ rotation.T, centre, self.half_lengths)

    def inflated(self, margin: float) -> 'OrientedBox':
        """Return the box grown by ``margin`` [m] on every side."""
        return OrientedBox(self.axes, self.centre, self.half_lengths + margin)


def fit_oriented_box(vertices: Array, faces: IntArray | None = None) -> OrientedBox:
    """
    Fit a box along the principal axes of covariance.

    Parameters
    ----------
    vertices : (n, 3) float
        Points to enclose, body frame [m].
    faces : (m, 3) int, optional
        With faces, the covariance is that of the surface (area-weighted triangles), so
        that the axes follow the shape and not the density of vertices.

    Returns
    -------
    OrientedBox
        Right-handed; the smallest with these axes that holds every vertex.

    Raises
    ------
    ShapeError
        There is no point, or a number is not finite.

    Notes
    -----
    Source: covariance OBB of the intersection paper. Erratum: the printed centre mixes
    object and box axes; here it is the middle of the extents, turned back from box axes.
    """
    points = checked_array(vertices, 'points of a box', 'n', 3)
    if not len(points):
        raise ShapeError('a box needs points (n, 3) with n > 0, got none')
    mean = points.mean(axis=0)
    offsets = points - mean
    moments = _vertex_covariance(offsets) if faces is None else _surface_covariance(offsets, faces)
    axes = np.linalg.eigh(moments)[1].T[::-1].copy()
    if np.linalg.det(axes) < 0.0:
        axes[2] = -axes[2]
    local = offsets @ axes.T
    lower, upper = local.min(axis=0), local.max(axis=0)
    return OrientedBox(axes, mean + axes.T @ ((lower + upper) / 2.0), (upper - lower) / 2.0)


def refit_oriented_box(box: OrientedBox, vertices: Array) -> OrientedBox:
    """Return the smallest box with the axes of another that holds ``vertices (n, 3)`` [m]."""
    local = box.axes @ np.asarray(vertices, float).T
    lower, upper = local.min(axis=1), local.max(axis=1)
    return OrientedBox(box.axes, ((lower + upper) / 2.0) @ box.axes, (upper - lower) / 2.0)


def _vertex_covariance(offsets: Array) -> Array:
    return offsets.T @ offsets / len(offsets)


def _surface_covariance(offsets: Array, faces: IntArray) -> Array:
    """Return the second moment of the surface about its centroid, per unit of area."""
    a, b, c = (offsets[faces[:, k]] for k in range(3))
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2.0
    total = areas.sum()
    if not total > 0.0:
        return _vertex_covariance(offsets)
    middle = (a + b + c) / 3.0
    moments = 9.0 * np.einsum('f,fi,fj->ij', areas, middle, middle)
    for corner in (a, b, c):
        moments += np.einsum('f,fi,fj->ij', areas, corner, corner)
    centroid = areas @ middle / total
    return moments / (12.0 * total) - np.outer(centroid, centroid)


def interaction_region(box: OrientedBox, other: OrientedBox) -> OrientedBox | None:
    """
    Return the part of a box that another one can reach.

    Parameters
    ----------
    box, other : OrientedBox
        Boxes in one common frame.

    Returns
    -------
    OrientedBox or None
        Along the axes of ``box``: its extent cut by that of the other box's corners, a
        superset of the overlap. None where an axis has nothing in common.

    Notes
    -----
    Source: region of potential interaction of the intersection paper; each body has its
    own. Erratum: one printed condition compares max with max.
    """
    local = (other.corners() - box.centre) @ box.axes.T
    lower = np.maximum(local.min(axis=0), -box.half_lengths)
    upper = np.minimum(local.max(axis=0), box.half_lengths)
    if (lower > upper).any():
        return None
    centre = box.centre + ((lower + upper) / 2.0) @ box.axes
    return OrientedBox(box.axes, centre, (upper - lower) / 2.0)
