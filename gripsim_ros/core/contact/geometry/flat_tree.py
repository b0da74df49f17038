"""A mesh's tree, triangles and vertices as few flat arrays, for kernels that are called often."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array, IntArray
from ...bodies.oriented_box import OrientedBox
from ...numerics.kernels import njit, read_only
from .vp_tree import VpTree


#: Largest number of triangles of a leaf: streaming these is as fast as descending.
LEAF_SIZE = 12
#: Columns of ``FlatTree.nodes``.
INNER, OUTER, FIRST_TRIANGLE, END_TRIANGLE, FIRST_VERTEX, END_VERTEX = range(6)


class FlatTree(NamedTuple):
    """
    A mesh and its tree as penetration queries read them; arrays are contiguous and writable.

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
    triangles : (f, 3) uint32
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
    triangles: NDArray[np.uint32]
    vertex_ids: IntArray
    face_ids: IntArray
    box: Array
    sizes: Array


def flatten_tree(vertices: Array, faces: IntArray, tree: VpTree, box: OrientedBox) -> FlatTree:
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
    ordered = faces[tree.faces]
    firsts, order, places, used = _vertex_order(read_only(ordered, np.int64), len(vertices))
    ranges = np.column_stack([tree.ranges, firsts[tree.ranges]])
    small = tree.ranges[:, 1] - tree.ranges[:, 0] <= LEAF_SIZE
    children = np.where(small[:, None], -1, tree.children)
    nodes = np.column_stack([children, ranges]).astype(np.int32)
    return FlatTree(
        np.column_stack([tree.centres, tree.radii]), nodes, np.array(vertices)[order],
        places[ordered], order, tree.faces,
        np.vstack([box.axes, box.centre, box.half_lengths]), np.array([used, tree.size]))


def refit_flat_tree(arrays: FlatTree, ordered: Array, tree: VpTree, box: OrientedBox) -> FlatTree:
    """Return the arrays of the same mesh with other vertices, in the order of the arrays."""
    return arrays._replace(
        balls=np.column_stack([tree.centres, tree.radii]), vertices=ordered,
        box=np.vstack([box.axes, box.centre, box.half_lengths]),
        sizes=np.array([arrays.sizes[0], tree.size]))


@njit(cache=True, nogil=True)
def _vertex_order(faces: IntArray, count: int
                  ) -> tuple[IntArray, IntArray, NDArray[np.uint32], int]:
    """
    Order vertices by the first triangle, of those in the tree's order, that uses them.

    Returns the number of vertices before each triangle (f + 1,), the order (n,), the place of
    each vertex in it (n,), and how many are used.
    """
    firsts, order = np.empty(len(faces) + 1, np.int64), np.empty(count, np.int64)
    places, met, used = np.zeros(count, np.uint32), np.zeros(count, np.bool_), 0
    for f in range(len(faces)):
        firsts[f] = used
        for k in range(3):
            vertex = faces[f, k]
            if not met[vertex]:
                met[vertex], order[used], places[vertex] = True, vertex, used
                used += 1
    firsts[len(faces)], last = used, used
    for vertex in range(count):
        if not met[vertex]:
            order[last], places[vertex] = vertex, last
            last += 1
    return firsts, order, places, used
