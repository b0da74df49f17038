"""
Indenters: a link's mesh, an analytic sphere or a flat punch.

Everything is in an indenter's own frame. ``bulge`` [m] is how far its surface may lie outside its
``box``; ``tree`` is that of its triangles, None for an analytic shape. ``mean_normal`` is the mean
outward normal of its surface in a region, not unit. ``ray_depths`` are the depths ``(k,)`` of
points along a unit direction, and side labels: the depth is the way to the exit [m], negative the
way back to it for a point in front, at most ``behind``, ``-inf`` where the line meets no exit;
labels are the smooth sides that are met, -1 for none. ``surface_distances`` are those ``(k,)`` of
points to the surface, not negative [m]; ``ways_out`` are the ways ``(k, 3)`` to it.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...arrays import Array, IntArray
from ...bodies.oriented_box import OrientedBox
from ...numerics.kernels import njit
from ..geometry.closest_point import closest_points, triangles_in_box
from ..geometry.contact_mesh import ContactMesh
from ..geometry.curved_surface import CurvedSurface, lift_onto_surface
from ..geometry.ray_casting import AHEAD, BEHIND, cast_rays
from ..geometry.vp_tree import VpTree


class MeshIndenter(ContactMesh):
    """A link's mesh, with its curved surface; made as a ``ContactMesh`` is."""

    def mean_normal(self, region: OrientedBox) -> Array:
        """Return the mean normal of the triangles in a region."""
        tree = self.tree
        found = triangles_in_box(tree, region.axes, region.centre, region.half_lengths)
        a, b, c = (tree.corners[found, k] for k in range(3))
        return np.cross(b - a, c - a).sum(axis=0)

    def ray_depths(self, points: Array, direction: Array, behind: float) -> tuple[Array, IntArray]:
        """Return depths to the curved surface along a direction (see ``Indenter``)."""
        return mesh_depths(self.tree, self.surface, points, direction, behind)

    def surface_distances(self, points: Array) -> Array:
        """Return distances to the facets."""
        return closest_points(self.tree, points, np.inf)[0]

    def ways_out(self, points: Array) -> Array:
        """Return the shortest ways to the facets."""
        return closest_points(self.tree, points, np.inf)[1] - points


@dataclass(frozen=True, eq=False)
class SphereIndenter:
    """A rigid sphere about its own origin; ``radius`` [m]."""

    radius: float
    bulge: float = 0.0
    tree: VpTree | None = None

    @cached_property
    def box(self) -> OrientedBox:
        """Return the cube round the sphere."""
        return OrientedBox(np.eye(3), np.zeros(3), np.full(3, self.radius))

    def mean_normal(self, region: OrientedBox) -> Array:
        """Return the direction from the centre."""
        return region.centre.copy()

    def ray_depths(self, points: Array, direction: Array, behind: float) -> tuple[Array, IntArray]:
        """Return depths to the far side of the sphere (see ``Indenter``)."""
        along = points @ direction
        squared = self.radius ** 2 - np.einsum('ki,ki->k', points, points) + along ** 2
        half = np.sqrt(np.maximum(squared, 0.0))
        depths = half - along
        # A point whose line enters the sphere further on is beside it, not in it.
        met = (squared >= 0.0) & (depths >= -behind) & (half + along >= 0.0)
        return np.where(met, depths, -np.inf), np.where(met, 0, -1)

    def surface_distances(self, points: Array) -> Array:
        """Return distances to the sphere."""
        return np.abs(np.linalg.norm(points, axis=1) - self.radius)

    def ways_out(self, points: Array) -> Array:
        """Return the ways to the sphere."""
        away = np.maximum(np.linalg.norm(points, axis=1), np.finfo(float).tiny)[:, None]
        return (self.radius / away - 1.0) * points


@dataclass(frozen=True, eq=False)
class PunchIndenter:
    """
    A rigid flat-ended cylinder: its end is the disc ``z = 0``, its body at ``z < 0``.

    ``radius`` and ``length`` in metres; it presses along +z.
    """

    radius: float
    length: float
    bulge: float = 0.0
    tree: VpTree | None = None

    @cached_property
    def box(self) -> OrientedBox:
        """Return the box round the cylinder."""
        half = np.array([self.radius, self.radius, self.length / 2.0])
        return OrientedBox(np.eye(3), np.array([0.0, 0.0, -self.length / 2.0]), half)

    def mean_normal(self, region: OrientedBox) -> Array:
        """Return the axis."""
        return np.array([0.0, 0.0, 1.0])

    def ray_depths(self, points: Array, direction: Array, behind: float) -> tuple[Array, IntArray]:
        """Return depths to the flat end (see ``Indenter``); other sides are not met."""
        if direction[2] <= 0.0:
            return np.full(len(points), -np.inf), np.full(len(points), -1)
        depths = -points[:, 2] / direction[2]
        hits = points + depths[:, None] * direction
        met = (hits[:, 0] ** 2 + hits[:, 1] ** 2 <= self.radius ** 2) & (depths >= -behind)
        return np.where(met, depths, -np.inf), np.where(met, 0, -1)

    def surface_distances(self, points: Array) -> Array:
        """Return distances to the flat end's disc."""
        outside = np.maximum(np.hypot(points[:, 0], points[:, 1]) - self.radius, 0.0)
        return np.hypot(outside, points[:, 2])

    def ways_out(self, points: Array) -> Array:
        """Return the ways to the plane of the flat end."""
        return points * [0.0, 0.0, -1.0]


#: A solid that can press.
Indenter = MeshIndenter | SphereIndenter | PunchIndenter


@njit(cache=True, error_model='numpy')
def mesh_depths(tree: VpTree, surface: CurvedSurface, points: Array, direction: Array,
                behind: float) -> tuple[Array, IntArray]:
    """Return depths and labels of points along a direction (see ``Indenter``)."""
    distances, positions, edges = cast_rays(tree, points, direction, behind)
    corners, normals, limits, sides = (tree.corners, surface.normals, surface.limits,
                                       surface.sides)
    count = len(points)
    depths = np.full(count, -np.inf)
    labels = np.full(count, -1)
    way = (direction[0], direction[1], direction[2])
    for i in range(count):
        column = AHEAD if edges[i, AHEAD, 3] > 0.0 else BEHIND
        position, total = positions[i, column], edges[i, column, 3]
        if total <= 0.0:
            continue
        weights = (edges[i, column, 0] / total, edges[i, column, 1] / total,
                   edges[i, column, 2] / total)
        move, _, _ = lift_onto_surface(corners, normals, limits, position, weights, way)
        depths[i] = distances[i, column] + move
        labels[i] = sides[position]
    return depths, labels
