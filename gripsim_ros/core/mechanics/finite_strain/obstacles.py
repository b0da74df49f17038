"""What a body is squeezed by: rigid obstacles, pressed upon by the points of its surface."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from ...arrays import Array, BoolArray, IntArray
from ...bodies.mesh import sum_by_label
from ..quadratic_elements import (
    PARTS, TRIANGLE_NODES, TRIANGLE_SIDES, shape_functions, shape_slopes)
from .solid import QuadraticSolid


def _points_of_parts() -> Array:
    """Return barycentrics of three points in each of the sixteen parts of a triangle."""
    corners = np.eye(3)[None]
    for _ in range(2):
        nodes = TRIANGLE_NODES @ corners
        corners = np.concatenate([nodes[:, part] for part in PARTS])
    points: Array = (np.full((3, 3), 1.0 / 6.0) + 0.5 * np.eye(3)) @ corners
    return points.reshape(-1, 3)


#: Barycentrics of the points of a face: contact may begin anywhere in it; shape functions there,
#: their slopes, and the points' shares of its area.
FACE_POINTS = _points_of_parts()
FACE_SHAPES = shape_functions(FACE_POINTS, TRIANGLE_SIDES)
FACE_SLOPES = shape_slopes(FACE_POINTS, TRIANGLE_SIDES)
FACE_WEIGHTS = np.full(len(FACE_POINTS), 1.0 / len(FACE_POINTS))
#: Stiffness of the contact over the body's modulus and the edges of its faces [-]: at a pressure
#: of the modulus the body enters an obstacle by a three-hundredth of an edge.
CONTACT_STIFFNESS = 300.0
#: Longest edge that counts for that, over the cube root of the body's volume [-].
EDGE_LIMIT = 0.15


class Obstacle(Protocol):
    """A rigid body that the deforming one may touch."""

    def gaps(self, points: Array) -> tuple[Array, Array]:
        """Return distances (k,), below 0 inside [m], and outward normals (k, 3) of points."""


@dataclass(frozen=True, eq=False)
class Plane:
    """A half-space of solid below a point, and a unit normal (3,) out of it."""

    point: Array
    normal: Array

    def gaps(self, points: Array) -> tuple[Array, Array]:
        """Return distances (k,) [m] and normals (k, 3) of points."""
        return ((points - self.point) @ self.normal,
                np.broadcast_to(self.normal, points.shape))


class Touch(NamedTuple):
    """
    What an obstacle does to the points of a body's surface.

    Attributes
    ----------
    pressures : (k,) float
        Of the integration points, over the area at rest, 0 where apart [Pa].
    normals : (k, 3) float
    drags : (k, 3) float
        Tangential traction on the body where it sticks [Pa].
    """

    pressures: Array
    normals: Array
    drags: Array


@dataclass(frozen=True, eq=False)
class ContactSurface:
    """
    The integration points of a body's surface, and where they stick to an obstacle.

    Attributes
    ----------
    solid : QuadraticSolid
    modulus : float
        That the contact's stiffness is taken from [Pa].
    anchors : tuple of (k, 3) float
        For each obstacle where points stick to it, NaN where they do not; empty where
        everything slides without friction [m].
    """

    solid: QuadraticSolid
    modulus: float
    anchors: tuple[Array, ...] = ()

    @cached_property
    def _areas(self) -> tuple[Array, Array]:
        """Areas of the points at rest (k,) [m^2], and edges of their faces (k,) [m]."""
        corners = self.solid.nodes[self.solid.faces[:, :3]]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        areas = 0.5 * np.linalg.norm(normals, axis=1)
        longest = EDGE_LIMIT * np.cbrt(self.solid.volumes.sum())
        edges = np.minimum(longest, np.sqrt(areas * 4.0 / np.sqrt(3.0)))
        return np.outer(areas, FACE_WEIGHTS).ravel(), np.repeat(edges, len(FACE_POINTS))

    @property
    def weights(self) -> Array:
        """Return the area at rest of each point (k,) [m^2]."""
        return self._areas[0]

    @cached_property
    def springs(self) -> Array:
        """Return the contact's stiffness at each point (k,) [Pa/m]."""
        return CONTACT_STIFFNESS * self.modulus / self._areas[1]

    def points(self, positions: Array) -> Array:
        """Return the integration points (k, 3) of node positions (N, 3) [m]."""
        rows: Array = FACE_SHAPES @ positions[self.solid.faces]
        return rows.reshape(-1, 3)

    def current_areas(self, positions: Array, normal: Array) -> Array:
        """Return the points' areas of now (k,), as seen along a unit normal [m^2]."""
        along = np.einsum('qas,fax->fqsx', FACE_SLOPES, positions[self.solid.faces])
        seen: Array = np.abs(np.cross(along[:, :, 0], along[:, :, 1]) @ normal)
        return (0.5 * seen * FACE_WEIGHTS).ravel()

    def touch(self, points: Array, obstacle: Obstacle, index: int) -> Touch:
        """Return the tractions of one obstacle at the points (k, 3)."""
        gaps, normals = obstacle.gaps(points)
        pressures = self.springs * np.maximum(0.0, -gaps)
        drags = np.zeros_like(points)
        if self.anchors:
            slips = np.where(np.isnan(self.anchors[index]), 0.0, self.anchors[index] - points)
            slips -= (slips * normals).sum(axis=1)[:, None] * normals
            drags = np.where(pressures > 0.0, self.springs, 0.0)[:, None] * slips
        return Touch(pressures, normals, drags)

    def energy(self, positions: Array, obstacles: tuple[Obstacle, ...]) -> float:
        """Return the energy of the contact's springs [J]."""
        points, total = self.points(positions), 0.0
        for index, obstacle in enumerate(obstacles):
            touch = self.touch(points, obstacle, index)
            squares = touch.pressures ** 2 + (touch.drags ** 2).sum(axis=1)
            total += float(0.5 * self.weights @ (squares / self.springs))
        return total

    def forces(self, positions: Array, obstacles: tuple[Obstacle, ...]) -> Array:
        """Return the derivative of the energy by the positions (N, 3) [N]."""
        points = self.points(positions)
        tractions = np.zeros_like(points)
        for index, obstacle in enumerate(obstacles):
            touch = self.touch(points, obstacle, index)
            tractions -= touch.pressures[:, None] * touch.normals + touch.drags
        loads = (self.weights[:, None] * tractions).reshape(-1, len(FACE_POINTS), 3)
        return sum_by_label((FACE_SHAPES.T @ loads).reshape(-1, 3), self.solid.faces.ravel(),
                            len(positions))

    def resultant(self, positions: Array, obstacle: Obstacle, index: int) -> Array:
        """Return the force (3,) of one obstacle on the body [N]."""
        touch = self.touch(self.points(positions), obstacle, index)
        return self.weights @ (touch.pressures[:, None] * touch.normals + touch.drags)

    def stiffness(self, positions: Array, obstacles: tuple[Obstacle, ...]
                  ) -> tuple[IntArray, Array]:
        """Return faces that touch (c, 6) and their matrices (c, 6, 3, 6, 3) [N/m]."""
        points = self.points(positions)
        tangents = np.zeros((len(points), 3, 3))
        for index, obstacle in enumerate(obstacles):
            touch = self.touch(points, obstacle, index)
            springs = np.where(touch.pressures > 0.0, self.springs, 0.0)[:, None, None]
            across = touch.normals[:, :, None] * touch.normals[:, None, :]
            tangents += springs * across
            if self.anchors:
                sticks = ~np.isnan(self.anchors[index][:, 0])[:, None, None]
                tangents += np.where(sticks, springs * (np.eye(3) - across), 0.0)
        by_face = (self.weights[:, None, None] * tangents).reshape(-1, len(FACE_POINTS), 3, 3)
        active: BoolArray = (by_face != 0.0).any(axis=(1, 2, 3))
        matrices = np.einsum('qa,qb,fqxy->faxby', FACE_SHAPES, FACE_SHAPES, by_face[active],
                             optimize=True)
        return self.solid.faces[active], matrices

    def with_anchors(self, positions: Array, obstacles: tuple[Obstacle, ...],
                     slack: float) -> 'ContactSurface':
        """Return the same with points that now touch, within a slack [m], stuck where they are."""
        points = self.points(positions)
        anchors = self.anchors or tuple(np.full_like(points, np.nan) for _ in obstacles)
        kept = []
        for obstacle, old in zip(obstacles, anchors):
            near = (obstacle.gaps(points)[0] <= slack)[:, None]
            kept.append(np.where(near, np.where(np.isnan(old), points, old), np.nan))
        return replace(self, anchors=tuple(kept))
