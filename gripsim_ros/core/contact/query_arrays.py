"""A mesh's tree, triangles and vertices as few flat arrays, for kernels that are called often."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .oriented_box import OrientedBox
from .vp_tree import STACK_SIZE, VpTree

Array = NDArray[np.float64]

#: Columns of ``QueryArrays.nodes``.
INNER, OUTER, FIRST_TRIANGLE, END_TRIANGLE, FIRST_VERTEX, END_VERTEX = range(6)


class QueryArrays(NamedTuple):
    """
    What penetration queries read of a mesh; all arrays are contiguous and writable.

    Attributes
    ----------
    balls : (m, 4) float
        Centre and radius of each node's ball [m].
    nodes : (m, 6) int32
        Inner and outer child (-1 for a leaf), first and one past last triangle, first and
        one past last vertex.
    vertices : (n, 3) float
        Vertices by the first triangle that uses them, then those that none uses [m]. So a
        node's ball holds its range of vertices.
    triangles : (f, 3) int32
        Corners of each triangle, in the tree's order, among these vertices.
    vertex_ids, face_ids : (n,) int, (f,) int
        Their indices in the mesh.
    box : (5, 3) float
        Axes in rows, centre [m], half lengths [m] of the oriented box.
    sizes : (2,) float
        Number of vertices that triangles use, and diameter of the mesh [m].
    """

    balls: Array
    nodes: NDArray[np.int32]
    vertices: Array
    triangles: NDArray[np.int32]
    vertex_ids: NDArray[np.int64]
    face_ids: NDArray[np.int64]
    box: Array
    sizes: Array


def query_arrays(vertices: Array, faces: NDArray[np.int64], tree: VpTree,
                 box: OrientedBox) -> QueryArrays:
    """
    Lay out a mesh for penetration queries.

    Parameters
    ----------
    vertices : (n, 3) float
        Mesh frame [m].
    faces : (f, 3) int
    tree : VpTree
        Over the mesh's triangles.
    box : OrientedBox
        Round the vertices that triangles use.
    """
    firsts, order, used = _vertex_order(np.array(faces), tree.faces, len(vertices))
    ranges = np.column_stack([tree.ranges, firsts[tree.ranges]])
    places = _depth_first(tree.children)
    nodes = np.column_stack([np.where(tree.children < 0, -1, places[tree.children]), ranges])
    order_of_nodes = np.argsort(places)
    return QueryArrays(
        np.column_stack([tree.centres, tree.radii])[order_of_nodes],
        nodes[order_of_nodes].astype(np.int32), np.array(vertices)[order],
        np.argsort(order)[faces[tree.faces]].astype(np.int32), order, tree.faces,
        np.vstack([box.axes, box.centre, box.half_lengths]), np.array([used, tree.size]))


@njit(cache=True)
def _depth_first(children):
    """Return a place for each node: subtrees lie together, the two children side by side."""
    places, stack = np.zeros(len(children), np.int64), np.zeros(STACK_SIZE, np.int64)
    top, filled = 1, 1
    while top > 0:
        top -= 1
        node = stack[top]
        if children[node, 0] >= 0:
            for k in range(2):
                places[children[node, k]] = filled + k
                stack[top + 1 - k] = children[node, k]
            filled += 2
            top += 2
    return places


@njit(cache=True)
def _vertex_order(faces, positions, count):
    """
    Order vertices by the first triangle, in the tree's order, that uses them.

    Returns the number of vertices before each triangle (f + 1,), the order (n,), and how
    many are used.
    """
    firsts, order = np.empty(len(positions) + 1, np.int64), np.empty(count, np.int64)
    seen = np.zeros(count, np.bool_)
    used = 0
    for i in range(len(positions)):
        firsts[i] = used
        for k in range(3):
            vertex = faces[positions[i], k]
            if not seen[vertex]:
                seen[vertex] = True
                order[used] = vertex
                used += 1
    firsts[len(positions)] = used
    place = used
    for vertex in range(count):
        if not seen[vertex]:
            order[place] = vertex
            place += 1
    return firsts, order, used
