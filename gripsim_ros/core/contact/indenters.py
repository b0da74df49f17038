"""What presses on the object: a link's mesh, or an analytic sphere or flat punch."""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .contact_mesh import ContactMesh
from .curved_surface import lift
from .oriented_box import OrientedBox
from .point_queries import closest_points, triangles_in_box
from .ray_queries import AHEAD, BEHIND, EXIT, cast

Array = NDArray[np.float64]

#: Region and surface found there: its box, and the mean outward normal (not unit).
Facing = tuple[OrientedBox, Array]


class Indenter(Protocol):
    """A solid that can press; everything is in its own frame."""

    @property
    def box(self) -> OrientedBox:
        """Return a box round it."""

    @property
    def bulge(self) -> float:
        """Return how far its surface may lie outside ``box`` [m]."""

    def facing(self, region: OrientedBox) -> Facing | None:
        """Return where its surface passes a region and how it faces there, if it does."""

    def ray_depths(self, points: Array, direction: Array,
                   behind: float) -> tuple[Array, NDArray[np.int64]]:
        """
        Return depths ``(k,)`` of points along a unit direction, and side labels.

        The depth is the way to the exit [m]; negative is the way back to it for a point
        in front, at most ``behind``; ``-inf`` where the line meets no exit. Labels tell
        the smooth side that is met, -1 for none.
        """

    def surface_distances(self, points: Array) -> Array:
        """Return the distance ``(k,)`` of each point to the surface, not negative [m]."""


@dataclass(frozen=True, eq=False)
class MeshIndenter:
    """A link's mesh, with its curved surface."""

    body: ContactMesh

    @property
    def box(self) -> OrientedBox:
        """Return the mesh's oriented box."""
        return self.body.box

    @property
    def bulge(self) -> float:
        """Return how far the curved surface lies from the facets at most [m]."""
        return self.body.bulge

    def facing(self, region: OrientedBox) -> Facing | None:
        """Return the part of the region that holds triangles, and their mean normal."""
        tree = self.body.tree
        found = triangles_in_box(tree, region.axes, region.centre, region.half_lengths)
        if not len(found):
            return None
        lower, upper, normal = summarise(tree.corners, found, region.axes, region.centre)
        return shrink(region, lower - self.bulge, upper + self.bulge), normal

    def ray_depths(self, points: Array, direction: Array,
                   behind: float) -> tuple[Array, NDArray[np.int64]]:
        """Return depths to the curved surface along a direction (see ``Indenter``)."""
        return _mesh_depths(self.body.tree, self.body.surface, points, direction, behind)

    def surface_distances(self, points: Array) -> Array:
        """Return distances to the facets."""
        return closest_points(self.body.tree, points, np.inf)[0]


@dataclass(frozen=True, eq=False)
class SphereIndenter:
    """A rigid sphere about its own origin; ``radius`` [m]."""

    radius: float
    bulge: float = 0.0

    @cached_property
    def box(self) -> OrientedBox:
        """Return the cube round the sphere."""
        return OrientedBox(np.eye(3), np.zeros(3), np.full(3, self.radius))

    def facing(self, region: OrientedBox) -> Facing | None:
        """Return the region, facing away from the centre."""
        return region, region.centre.copy()

    def ray_depths(self, points: Array, direction: Array,
                   behind: float) -> tuple[Array, NDArray[np.int64]]:
        """Return depths to the far side of the sphere (see ``Indenter``)."""
        along = points @ direction
        squared = self.radius ** 2 - np.einsum('ki,ki->k', points, points) + along ** 2
        met = squared >= 0.0
        depths = np.sqrt(np.where(met, squared, 0.0)) - along
        met &= depths >= -behind
        return np.where(met, depths, -np.inf), np.where(met, 0, -1)

    def surface_distances(self, points: Array) -> Array:
        """Return distances to the sphere."""
        return np.abs(np.linalg.norm(points, axis=1) - self.radius)


@dataclass(frozen=True, eq=False)
class PunchIndenter:
    """
    A rigid flat-ended cylinder: its end is the disc ``z = 0``, its body at ``z < 0``.

    ``radius`` and ``length`` in metres; it presses along +z.
    """

    radius: float
    length: float
    bulge: float = 0.0

    @cached_property
    def box(self) -> OrientedBox:
        """Return the box round the cylinder."""
        half = np.array([self.radius, self.radius, self.length / 2.0])
        return OrientedBox(np.eye(3), np.array([0.0, 0.0, -self.length / 2.0]), half)

    def facing(self, region: OrientedBox) -> Facing | None:
        """Return the region, facing along the axis."""
        return region, np.array([0.0, 0.0, 1.0])

    def ray_depths(self, points: Array, direction: Array,
                   behind: float) -> tuple[Array, NDArray[np.int64]]:
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


def shrink(region: OrientedBox, lower: Array, upper: Array) -> OrientedBox:
    """Return a region cut to bounds given along its own axes from its centre [m]."""
    lower = np.maximum(lower, -region.half_lengths)
    upper = np.maximum(np.minimum(upper, region.half_lengths), lower)
    centre = region.centre + ((lower + upper) / 2.0) @ region.axes
    return OrientedBox(region.axes, centre, (upper - lower) / 2.0)


@njit(cache=True)
def summarise(corners, positions, axes, centre):
    """Return the bounds along axes from a centre, and the mean normal, of triangles."""
    lower, upper = np.full(3, np.inf), np.full(3, -np.inf)
    normal = np.zeros(3)
    for position in positions:
        for corner in range(3):
            for k in range(3):
                x = 0.0
                for j in range(3):
                    x += axes[k, j] * (corners[position, corner, j] - centre[j])
                lower[k] = min(lower[k], x)
                upper[k] = max(upper[k], x)
        a = corners[position, 1] - corners[position, 0]
        b = corners[position, 2] - corners[position, 0]
        normal += np.cross(a, b)
    return lower, upper, normal


@njit(cache=True)
def _mesh_depths(tree, surface, points, direction, behind):
    hits = cast(tree, points, direction, behind)
    count = len(points)
    depths = np.full(count, -np.inf)
    labels = np.full(count, -1)
    point, normal = np.empty(3), np.empty(3)
    for i in range(count):
        column = AHEAD if hits.sides[i, AHEAD] == EXIT else BEHIND
        if hits.sides[i, column] != EXIT:
            continue
        position = hits.positions[i, column]
        move = lift(tree.corners[position], surface.normals[position],
                    surface.limits[position], hits.weights[i, column], direction, point, normal)
        depths[i] = hits.distances[i, column] + move
        labels[i] = surface.sides[position]
    return depths, labels
