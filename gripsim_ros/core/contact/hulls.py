"""Convex hulls of links, with planes that bound distances to balls at once."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from .contact_mesh import ContactMesh
from .curved_surface import control_points
from .gjk import Shape, point_cloud

Array = NDArray[np.float64]

#: Supporting planes kept per hull.
MOST_PLANES = 64
#: Vertices kept per hull; more if the hull would have to grow by more than the limit.
MOST_VERTICES = 128
MOST_GROWTH = 5e-5


class Hull(NamedTuple):
    """
    A convex hull round a mesh and its curved surface, in the mesh's frame.

    Attributes
    ----------
    shape : Shape
        Contains the mesh's hull.
    normals, offsets : (k, 3) float, (k,) float
        Planes with the whole shape behind them, ``n . x <= offset`` [m].
    centre, radius : (3,) float, float
        Ball round the shape [m].
    """

    shape: Shape
    normals: Array
    offsets: Array
    centre: Array
    radius: float


def build_hull(body: ContactMesh) -> Hull:
    """
    Build the conservative hull of a mesh.

    Parameters
    ----------
    body : ContactMesh

    Returns
    -------
    Hull
        Contains every facet, and the curved surface over it.

    Notes
    -----
    A cubic patch lies in the hull of its control points, so these are enclosed. Where the
    hull has many vertices some are dropped, and the rest is scaled about its centre until
    it holds them again.
    """
    cloud = control_points(body.tree.corners, body.surface)
    corners = cloud[ConvexHull(cloud).vertices]
    centre = (corners.min(axis=0) + corners.max(axis=0)) / 2.0
    kept = _thin_out(corners, centre)
    normals = _spread(ConvexHull(kept).equations[:, :3], MOST_PLANES)
    offsets = (kept @ normals.T).max(axis=0)
    radius = float(np.linalg.norm(kept - centre, axis=1).max())
    return Hull(point_cloud(kept), normals, offsets, centre, radius)


def _thin_out(corners: Array, centre: Array) -> Array:
    """Return at least as large a hull of fewer vertices, farthest ones first."""
    if len(corners) <= MOST_VERTICES:
        return corners
    distances = np.linalg.norm(corners - centre, axis=1)
    order: list[int] = []
    for _ in range(MOST_VERTICES):
        order.append(int(np.argmax(distances)))
        distances = np.minimum(distances, np.linalg.norm(corners - corners[order[-1]], axis=1))
    reach = float(np.linalg.norm(corners - centre, axis=1).max())
    while True:
        growth = _growth(corners[order] - centre, corners - centre)
        worst = int(np.argmax(growth))
        if (growth[worst] - 1.0) * reach <= MOST_GROWTH:
            return centre + max(growth[worst], 1.0) * (corners[order] - centre)
        order.append(worst)


def _growth(kept: Array, corners: Array) -> Array:
    """Return by which factor the hull of ``kept`` must grow to hold each corner."""
    planes = ConvexHull(kept).equations
    return (corners @ planes[:, :3].T / -planes[:, 3]).max(axis=1)


def _spread(normals: Array, count: int) -> Array:
    """Return up to ``count`` of the normals, spread over all directions."""
    normals = np.unique(np.round(normals, 6), axis=0)
    normals = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    chosen = [0]
    nearest = normals @ normals[0]
    while len(chosen) < min(count, len(normals)):
        chosen.append(int(np.argmin(nearest)))
        nearest = np.maximum(nearest, normals @ normals[chosen[-1]])
    return np.ascontiguousarray(normals[chosen])
