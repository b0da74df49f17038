"""Where an indenter may meet the object, which sides of it, and facing which way."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..transforms import inverse
from .contact_mesh import ContactMesh
from .indenters import Indenter, shrink, summarise
from .oriented_box import OrientedBox, separation
from .point_queries import triangles_in_box

Array = NDArray[np.float64]

#: Mean normals shorter than this, as part of the area, have no direction of their own.
LEAST_RESULTANT = 0.3
#: Triangles that lean farther from a side's mean normal start a patch of their own.
LEAST_FACING = 0.2
#: Parts of a side looked at, each facing its own way.
PARTS = 3


class Start(NamedTuple):
    """A side of the object and the first guess of its patch normal, into the object."""

    side: int
    direction: Array


class Region(NamedTuple):
    """The region of potential interaction, frame object, and the patches to try there."""

    box: OrientedBox
    starts: tuple[Start, ...]


def find_region(body: ContactMesh, indenter: Indenter, T_object_indenter: Array,
                motion_direction: Array | None) -> Region | None:
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

    Returns
    -------
    Region or None
        None where the boxes are apart or either surface passes the other's box by.

    Notes
    -----
    Source: region of potential interaction of the intersection paper. Departure: it is
    judged by triangles, not by vertices, which miss a fingertip on a coarse face.
    """
    reach = indenter.bulge + body.bulge
    box = indenter.box.moved(T_object_indenter).inflated(reach)
    if separation(box, body.box) > 0.0:
        return None
    found = _object_part(body, box)
    if found is None:
        return None
    box, _ = found
    facing = indenter.facing(box.moved(inverse(T_object_indenter)))
    if facing is None:
        return None
    box = facing[0].moved(T_object_indenter)
    found = _object_part(body, box.inflated(body.bulge))
    if found is None:
        return None
    outward = T_object_indenter[:3, :3] @ facing[1]
    hint = outward if motion_direction is None else np.array(motion_direction, float)
    starts = _starts(body.tree.corners, body.surface.sides, found[1], outward, hint)
    return Region(found[0], tuple(Start(int(s), d) for s, d in zip(*starts)))


def _object_part(body: ContactMesh,
                 box: OrientedBox) -> tuple[OrientedBox, NDArray[np.int64]] | None:
    found = triangles_in_box(body.tree, box.axes, box.centre, box.half_lengths)
    if not len(found):
        return None
    lower, upper, _ = summarise(body.tree.corners, found, box.axes, box.centre)
    return shrink(box, lower - body.bulge, upper + body.bulge), found


@njit(cache=True)
def _starts(corners, sides, positions, outward, hint):
    """Return sides and directions of the patches to try, in the order of the sides."""
    count = len(positions)
    vectors = np.empty((count, 3))
    labels = np.empty(count, np.int64)
    for i in range(count):
        p = positions[i]
        vectors[i] = -0.5 * np.cross(corners[p, 1] - corners[p, 0], corners[p, 2] - corners[p, 0])
        labels[i] = sides[p]
    found_sides = np.empty(count * PARTS, np.int64)
    directions = np.empty((count * PARTS, 3))
    found = 0
    for side in np.unique(labels):
        left = labels == side
        for _ in range(PARTS):
            direction = _mean_direction(vectors, left, outward, hint)
            if direction[0] == 0.0 and direction[1] == 0.0 and direction[2] == 0.0:
                break
            found_sides[found] = side
            directions[found] = direction
            found += 1
            remaining = 0
            for i in range(count):
                if left[i]:
                    along = vectors[i, 0] * direction[0] + vectors[i, 1] * direction[1] \
                        + vectors[i, 2] * direction[2]
                    left[i] = along < LEAST_FACING * np.sqrt(np.sum(vectors[i] ** 2))
                    remaining += left[i]
            if remaining == 0:
                break
    return found_sides[:found], directions[:found]


@njit(cache=True)
def _mean_direction(vectors, chosen, outward, hint):
    """Return the mean direction of chosen area vectors, those that face a hint if unclear."""
    total, area = np.zeros(3), 0.0
    for i in range(len(vectors)):
        if chosen[i]:
            total += vectors[i]
            area += np.sqrt(np.sum(vectors[i] ** 2))
    norm = np.sqrt(np.sum(total ** 2))
    if norm >= LEAST_RESULTANT * area:
        return total / max(norm, 1e-300) if norm > 0.0 else np.zeros(3)
    for attempt in range(2):
        guide = outward if attempt == 0 else hint
        facing = np.zeros(3)
        for i in range(len(vectors)):
            if chosen[i] and np.sum(vectors[i] * guide) > 0.0:
                facing += vectors[i]
        norm = np.sqrt(np.sum(facing ** 2))
        if norm > 0.0:
            return facing / norm
    return np.zeros(3)
