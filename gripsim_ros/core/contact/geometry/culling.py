"""Culling of what cannot lie inside another mesh, by oriented boxes and the ball tree."""

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ...numerics.kernels import njit
from ...numerics.vec3 import Vec3, dot, load_vec3
from .flat_tree import END_VERTEX, FIRST_VERTEX, INNER, OUTER
from .vp_tree import STACK_SIZE


Row = tuple[float, float, float, float]

#: Growth of boxes over their size, so that rounding leaves no vertex out [-].
BOX_MARGIN = 1e-9


@njit(cache=True, nogil=True)
def boxes_apart(box_a: Array, box_b: Array, rotation: Array, origin: Array) -> bool:
    """
    Return True if two oriented boxes ``(5, 3)`` have no common point: 15 axes.

    ``rotation, origin`` map the frame of b to that of a. A margin covers rounding.

    Source: rejection test of the intersection paper. Erratum: apart on *any* axis is apart; the
    paper lists the conditions as if all had to hold. Departure: 15 axes.
    """
    turned, absolute, offset = np.empty((3, 3)), np.empty((3, 3)), np.empty(3)
    motion, reach = transformed_frame(box_a[:3], rotation, origin - box_a[3]), 0.0
    for i in range(3):
        reach += box_a[4, i] + box_b[4, i]
        offset[i] = coordinate_along(frame_row(motion, i), load_vec3(box_b, 3))
        for j in range(3):
            turned[i, j] = dot(load_vec3(motion, i), load_vec3(box_b, j))
            absolute[i, j] = abs(turned[i, j])
    slack = BOX_MARGIN * reach
    for i in range(3):
        own, other, along = box_a[4, i], box_b[4, i], 0.0
        for j in range(3):
            own += absolute[i, j] * box_b[4, j]
            other += absolute[j, i] * box_a[4, j]
            along += turned[j, i] * offset[j]
        if abs(offset[i]) > own + slack or abs(along) > other + slack:
            return True
    for i in range(3):
        i1, i2 = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            j1, j2 = (j + 1) % 3, (j + 2) % 3
            along = abs(offset[i2] * turned[i1, j] - offset[i1] * turned[i2, j])
            both = (box_a[4, i1] * absolute[i2, j] + box_a[4, i2] * absolute[i1, j]
                    + box_b[4, j1] * absolute[i, j2] + box_b[4, j2] * absolute[i, j1])
            if along > both + slack:
                return True
    return False


@njit(cache=True, nogil=True)
def transformed_frame(frame: Array, rotation: Array, origin: Array) -> Array:
    """Return the rotation and offset of a frame's rows after a rigid motion, (3, 4)."""
    turned = np.empty((3, 4))
    for k in range(3):
        for j in range(3):
            turned[k, j] = (frame[k, 0] * rotation[0, j] + frame[k, 1] * rotation[1, j]
                            + frame[k, 2] * rotation[2, j])
        turned[k, 3] = frame[k, 0] * origin[0] + frame[k, 1] * origin[1] + frame[k, 2] * origin[2]
    return turned


@njit(cache=True, nogil=True)
def frame_row(motion: Array, k: int) -> Row:
    """Return row k of a frame ``(3, 3)`` or motion ``(3, 4)`` as numbers, offset last."""
    offset = motion[k, 3] if motion.shape[1] > 3 else 0.0
    return motion[k, 0], motion[k, 1], motion[k, 2], offset


@njit(cache=True, nogil=True)
def coordinate_along(row: Row, point: Vec3) -> float:
    """Return the coordinate of a point along a row, see ``frame_row``."""
    return row[0] * point[0] + row[1] * point[1] + row[2] * point[2] + row[3]


@njit(cache=True, nogil=True)
def vertices_in_box(balls: Array, nodes: NDArray[np.int32], vertices: Array, used: int,
                    to_box: Array, half: Array) -> NDArray[np.int32]:
    """
    Return places of the vertices that lie in a box, by the ball tree; rounding outwards.

    ``balls, nodes, vertices`` are those of ``FlatTree``, of which ``used`` vertices
    belong to triangles; ``to_box (3, 4)`` maps to coordinates of the box's centre and axes.
    """
    h0, h1, h2 = half[0], half[1], half[2]
    margin = BOX_MARGIN * (h0 + h1 + h2)
    grown = h0 + margin, h1 + margin, h2 + margin
    rows = frame_row(to_box, 0), frame_row(to_box, 1), frame_row(to_box, 2)
    found = np.empty(len(vertices), np.int32)
    count = 0
    stack = np.empty(STACK_SIZE, np.int64)
    stack[0] = 0
    top = 1
    while top > 0:
        top -= 1
        node = stack[top]
        radius = balls[node, 3] + margin
        centre = load_vec3(balls, node)
        x, y, z = (abs(coordinate_along(rows[0], centre)) - h0,
                   abs(coordinate_along(rows[1], centre)) - h1,
                   abs(coordinate_along(rows[2], centre)) - h2)
        if max(max(x, y), z) <= -radius:
            for i in range(nodes[node, FIRST_VERTEX], nodes[node, END_VERTEX]):
                found[count] = i
                count += 1
            continue
        x, y, z = max(x, 0.0), max(y, 0.0), max(z, 0.0)
        if x * x + y * y + z * z > radius * radius:
            continue
        if nodes[node, INNER] >= 0:
            stack[top], stack[top + 1] = nodes[node, OUTER], nodes[node, INNER]
            top += 2
            continue
        for i in range(nodes[node, FIRST_VERTEX], nodes[node, END_VERTEX]):
            found[count] = i
            count += _is_within(load_vec3(vertices, i), rows, grown)
    for i in range(used, len(vertices)):
        found[count] = i
        count += _is_within(load_vec3(vertices, i), rows, grown)
    return found[:count]


@njit(cache=True, nogil=True, forceinline=True)
def _is_within(point: Vec3, rows: tuple[Row, Row, Row], half: Vec3) -> bool:
    return (abs(coordinate_along(rows[0], point)) <= half[0]
            and abs(coordinate_along(rows[1], point)) <= half[1]
            and abs(coordinate_along(rows[2], point)) <= half[2])
