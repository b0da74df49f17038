"""Region of potential interaction of indenter and object: sides in it and their normals."""

from typing import NamedTuple

import numpy as np

from ...arrays import Array, BoolArray, IntArray
from ...bodies.oriented_box import OrientedBox
from ...numerics.kernels import copy_entries, njit
from ...numerics.vec3 import cross, dot, load_mat3_at, load_vec3, store_vec3, subtract
from ...transforms import inverse
from ..geometry.closest_point import bounds_in_box, triangles_in_box
from ..geometry.contact_mesh import ContactMesh
from ..geometry.vp_tree import VpTree
from .indenters import Indenter


#: Least length of a mean normal over the area, for it to have a direction of its own [-].
MIN_RESULTANT = 0.3
#: Least cosine to a side's mean normal; triangles that lean farther start another patch.
MIN_FACING = 0.2
#: Largest number of parts of a side, each facing its own way.
MAX_PARTS = 3
#: Margin of a region over the object's size, so that rounding does not empty a flat one [-].
REGION_MARGIN = 1e-9


class Region(NamedTuple):
    """
    The region of potential interaction, frame object, and the patches to try there.

    ``guesses`` are sides of the object, each with the first guess ``(3,)`` of a patch's normal,
    into the object.
    """

    box: OrientedBox
    guesses: list[tuple[int, Array]]


def find_region(body: ContactMesh, indenter: Indenter, T_object_indenter: Array,
                motion_direction: Array | None, surfaces_meet: bool = True) -> Region | None:
    """
    Find where an indenter's surface and the object's may meet.

    Parameters
    ----------
    body : ContactMesh
        The object.
    indenter : Indenter
    T_object_indenter : (4, 4) float
    motion_direction : (3,) float or None
        Direction in which the indenter moves, frame object.
    surfaces_meet : bool
        Else also sides of the object that lie within the indenter and do not meet its surface.

    Returns
    -------
    Region or None
        None where either surface passes the other's box by.

    Notes
    -----
    Source: region of potential interaction of the intersection paper. Departure: it is
    judged by triangles, not by vertices, which miss a fingertip on a coarse face.
    """
    own, tree = indenter.box, indenter.tree
    met, rows, found, sides, directions, clear = _region(
        body.tree, body.surface.sides, body.bulge, tree or body.tree,
        surfaces_meet and tree is not None,
        indenter.bulge, own.axes, own.centre, own.half_lengths, T_object_indenter)
    if not met:
        return None
    box = OrientedBox(rows[:3], rows[3], rows[4])
    if not clear:
        outward = T_object_indenter[:3, :3] @ indenter.mean_normal(
            box.with_transform(inverse(T_object_indenter)))
        hint = outward if motion_direction is None else np.array(motion_direction, float)
        sides, directions, _ = _initial_guesses(body.tree.corners, body.surface.sides, found,
                                                outward, hint)
    return Region(box, list(zip(sides.tolist(), directions)))


@njit(cache=True)
def _region(tree: VpTree, sides: IntArray, bulge: float, other: VpTree, has_triangles: bool,
            other_bulge: float, axes: Array, centre: Array, half: Array, T_object_other: Array
            ) -> tuple[bool, Array, IntArray, IntArray, Array, bool]:
    """
    Return whether the surfaces may meet, where, and what ``_initial_guesses`` does without a hint.

    The region is given by its axes as rows, its centre and its half lengths, ``(5, 3)``; then
    follow the positions of the triangles in it. The indenter's box is in its own frame; its
    triangles count if it has any.
    """
    rotation = np.ascontiguousarray(T_object_other[:3, :3])
    inverse_rotation, translation = np.ascontiguousarray(rotation.T), T_object_other[:3, 3].copy()
    margin, rows = REGION_MARGIN * tree.size, np.empty((5, 3))
    axes, centre = axes @ rotation.T, rotation @ centre + translation
    half = half + (other_bulge + bulge)
    met, centre, half = _clip(tree, bulge, axes, centre, half)
    if met:
        axes, half = axes @ inverse_rotation.T, half + margin
        centre = inverse_rotation @ (centre - translation)
        if has_triangles:
            met, centre, half = _clip(other, other_bulge, axes, centre, half)
        axes, centre = axes @ rotation.T, rotation @ centre + translation
    if met:
        met, centre, half = _clip(tree, bulge, axes, centre, half + bulge)
    for k in range(3):
        copy_entries(axes[k], rows[k])
        rows[3, k], rows[4, k] = centre[k], half[k] + margin
    found = np.empty(0, np.int64)
    if met:
        found = triangles_in_box(tree, rows[:3], rows[3], rows[4])
    unclear = np.zeros(3)
    starts, directions, clear = _initial_guesses(tree.corners, sides, found, unclear, unclear)
    return met, rows, found, starts, directions, clear


@njit(cache=True)
def _clip(tree: VpTree, margin: float, axes: Array, centre: Array,
          half: Array) -> tuple[bool, Array, Array]:
    """Return whether triangles pass a box; middle and half lengths of the part, grown for them."""
    lower, upper = bounds_in_box(tree, axes, centre, half)
    middle, less = np.empty(3), np.empty(3)
    for k in range(3):
        low, high = max(lower[k] - margin, -half[k]), min(upper[k] + margin, half[k])
        middle[k], less[k] = (low + high) / 2.0, (high - low) / 2.0
    met = lower[0] <= upper[0]
    return met, centre + middle @ axes, less


@njit(cache=True)
def _initial_guesses(corners: Array, sides: IntArray, positions: IntArray, outward: Array,
                     hint: Array) -> tuple[IntArray, Array, bool]:
    """Return sides and directions to try, by side, and whether no hint would be needed."""
    count = len(positions)
    vectors, labels = _inward_areas(corners, positions), sides[positions]
    found_sides = np.empty(count * MAX_PARTS, np.int64)
    directions = np.empty((count * MAX_PARTS, 3))
    direction = np.empty(3)
    found, clear = 0, True
    for side in np.unique(labels):
        left = labels == side
        remaining = 1
        for _ in range(MAX_PARTS):
            if remaining == 0:
                break
            own, some = _mean_direction(vectors, left, outward, hint, direction)
            clear = clear and own
            if not some:
                break
            found_sides[found] = side
            copy_entries(direction, directions[found])
            way = (direction[0], direction[1], direction[2])
            found += 1
            remaining = 0
            for i in range(count):
                left[i] = left[i] and dot(load_vec3(vectors, i), way) < MIN_FACING * vectors[i, 3]
                remaining += left[i]
    return found_sides[:found], directions[:found], clear


@njit(cache=True)
def _inward_areas(corners: Array, positions: IntArray) -> Array:
    """Return inward area vectors of triangles, and their areas in the last column."""
    vectors = np.empty((len(positions), 4))
    for i in range(len(positions)):
        a, b, c = load_mat3_at(corners, positions[i])
        normal = cross(subtract(b, a), subtract(c, a))
        store_vec3(vectors, i, (-0.5 * normal[0], -0.5 * normal[1], -0.5 * normal[2]))
        vectors[i, 3] = 0.5 * np.sqrt(dot(normal, normal))
    return vectors


@njit(cache=True)
def _mean_direction(vectors: Array, chosen: BoolArray, outward: Array, hint: Array,
                    direction: Array) -> tuple[bool, bool]:
    """
    Write the mean direction of chosen area vectors; return if it is their own, and if any.

    Where they face all ways, only those that face a hint count.
    """
    area = _sum_facing(vectors, chosen, direction, direction, False)
    norm = np.sqrt(direction[0] ** 2 + direction[1] ** 2 + direction[2] ** 2)
    own = norm >= MIN_RESULTANT * area
    for attempt in range(2):
        if not own and (attempt == 0 or norm == 0.0):
            guide = outward if attempt == 0 else hint
            _sum_facing(vectors, chosen, guide, direction, True)
            norm = np.sqrt(direction[0] ** 2 + direction[1] ** 2 + direction[2] ** 2)
    if norm > 0.0:
        for k in range(3):
            direction[k] /= norm
    return own, norm > 0.0


@njit(cache=True)
def _sum_facing(vectors: Array, chosen: BoolArray, guide: Array, total: Array,
                guided: bool) -> float:
    """Write the sum of chosen area vectors, of those that face a guide; return their area."""
    x, y, z, area = 0.0, 0.0, 0.0, 0.0
    way = guide[0], guide[1], guide[2]
    for i in range(len(vectors)):
        if chosen[i] and (not guided or dot(load_vec3(vectors, i), way) > 0.0):
            x, y, z = x + vectors[i, 0], y + vectors[i, 1], z + vectors[i, 2]
            area += vectors[i, 3]
    total[0], total[1], total[2] = x, y, z
    return area
