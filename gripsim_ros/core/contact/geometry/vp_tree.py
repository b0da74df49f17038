"""
A vantage-point tree over the bounding balls of a mesh's triangles.

The tree is built once, on the rest pose and in the mesh's own frame. Every node
keeps a ball around all its triangles, so every query prunes by balls and is exact:
a tree over *vertices* that looks at the triangles of the nearest one is not.
"""

from typing import NamedTuple

import numpy as np

from ...arrays import Array, IntArray
from ...errors import ShapeError
from ...fields import checked_array
from ...numerics.kernels import njit, read_only
from ...numerics.vec3 import Vec3, dot, load_mat3_at, load_vec3, store_vec3, subtract
from .tree_building import build_nodes


LEAF_SIZE = 6
#: Growth of balls over the mesh's size, so that rounding never prunes a touch [-].
INFLATION = 1e-12
STACK_SIZE = 128
#: Largest number of triangles of nodes refitted to these; others to their children.
DIRECT_SIZE = 2 * LEAF_SIZE


class VpTree(NamedTuple):
    """
    Flat arrays of the tree; triangles lie in the order of the leaves, nodes depth first.

    Attributes
    ----------
    centres, radii : (m, 3) float, (m,) float
        Ball around all triangles of a node [m].
    slabs : (m, 5) float
        Mean unit normal of a node's triangles, and bounds of their extent along it from
        the ball's centre [m]: a piece of surface is a flat disc rather than a ball.
    children : (m, 2) int
        Inner and outer child, -1 for a leaf.
    ranges : (m, 2) int
        First and one past last triangle position of a node.
    corners : (f, 3, 3) float
        Corners of each triangle [m].
    faces : (f,) int
        Index of each triangle in the mesh.
    size : float
        Diameter of the root's ball [m].
    """

    centres: Array
    radii: Array
    slabs: Array
    children: IntArray
    ranges: IntArray
    corners: Array
    faces: IntArray
    size: float


def build_vp_tree(vertices: Array, faces: IntArray) -> VpTree:
    """
    Build the tree of a mesh.

    Parameters
    ----------
    vertices : (n, 3) float
        Mesh frame [m].
    faces : (f, 3) int

    Returns
    -------
    VpTree

    Raises
    ------
    ShapeError
        There is no triangle, or a vertex is not finite.

    Notes
    -----
    Source: Yianilos 1993, split at the median distance from a vantage point. Departure:
    the points are the triangles' centroids, the vantage point is the one farthest from
    the node's mean, so that both halves stay compact.
    """
    if np.ndim(faces) != 2 or not len(faces):
        raise ShapeError(f'a tree needs triangles (f, 3) with f > 0, got {np.shape(faces)}')
    corners = checked_array(np.asarray(vertices, float)[faces], 'corners of a tree', 'f', 3, 3)
    order, children, ranges, bounds = build_nodes(
        read_only(vertices), read_only(faces, np.int64), LEAF_SIZE)
    return _grown_tree(corners[order], order, children, ranges, bounds)


def _grown_tree(corners: Array, order: IntArray, children: IntArray, ranges: IntArray,
                bounds: tuple[Array, Array, Array]) -> VpTree:
    """Return the tree with centres, radii and slabs of its nodes, grown for rounding."""
    centres, radii, slabs = bounds
    size = 2.0 * float(radii[0])
    radii *= 1.0 + INFLATION
    radii += INFLATION * size
    slabs[:, 3] -= INFLATION * size
    slabs[:, 4] += INFLATION * size
    return VpTree(centres, radii, slabs, children, ranges, corners, order, size)


def refit_vp_tree(tree: VpTree, vertices: Array, faces: IntArray) -> VpTree:
    """
    Return the tree of a mesh whose vertices have moved, in time proportional to its faces.

    Parameters
    ----------
    tree : VpTree
        Of the same faces.
    vertices : (n, 3) float
        New places, mesh frame [m].
    faces : (f, 3) int

    Returns
    -------
    VpTree
        As exact as a new one: its balls and slabs hold their triangles. It is the looser
        the farther the mesh is from the shape that it was built for.

    Raises
    ------
    ShapeError
        Other faces than the tree's, or a vertex is not finite.

    Notes
    -----
    Own derivation. The root and nodes of few triangles get their ball and slab from these;
    the others the ball round their children's balls, and a slab round their slabs.
    """
    vertices, faces = checked_array(vertices, 'vertices', 'n', 3), np.asarray(faces)
    if faces.shape != (len(tree.faces), 3) or faces.max() >= len(vertices):
        raise ShapeError(f'a tree of {len(tree.faces)} triangles cannot be fitted to faces '
                         f'{faces.shape} of {len(vertices)} vertices')
    corners = np.ascontiguousarray(vertices[faces[tree.faces]])
    return _grown_tree(corners, tree.faces, tree.children, tree.ranges,
                       _refit(corners, tree.children, tree.ranges))


@njit(cache=True, nogil=True)
def _refit(corners: Array, children: IntArray, ranges: IntArray) -> tuple[Array, Array, Array]:
    """Return centres, radii and slabs, leaves first."""
    nodes = len(children)
    centres, radii, slabs = np.empty((nodes, 3)), np.empty(nodes), np.empty((nodes, 5))
    areas = np.zeros((nodes, 3))
    for node in range(nodes - 1, -1, -1):
        start, end = ranges[node]
        if node == 0 or children[node, 0] < 0 or end - start <= DIRECT_SIZE:
            _fit_directly(corners[start:end], centres, radii, slabs, areas, node)
        else:
            _fit_to_children(children[node, 0], children[node, 1], centres, radii, slabs,
                             areas, node)
    return centres, radii, slabs


@njit(cache=True, nogil=True)
def _fit_directly(corners: Array, centres: Array, radii: Array, slabs: Array, areas: Array,
                  node: int) -> None:
    """Write the ball about the middle of the extents of triangles, and a slab."""
    for k in range(3):
        low, high, area = np.inf, -np.inf, 0.0
        u, v = (k + 1) % 3, (k + 2) % 3
        for i in range(len(corners)):
            low = min(low, min(min(corners[i, 0, k], corners[i, 1, k]), corners[i, 2, k]))
            high = max(high, max(max(corners[i, 0, k], corners[i, 1, k]), corners[i, 2, k]))
            area += ((corners[i, 1, u] - corners[i, 0, u]) * (corners[i, 2, v] - corners[i, 0, v])
                     - (corners[i, 1, v] - corners[i, 0, v])
                     * (corners[i, 2, u] - corners[i, 0, u]))
        centres[node, k], areas[node, k] = 0.5 * (low + high), area
    normal, centre = _unit(load_vec3(areas, node)), load_vec3(centres, node)
    farthest, low, high = 0.0, np.inf, -np.inf
    for i in range(len(corners)):
        for corner in load_mat3_at(corners, i):
            offset = subtract(corner, centre)
            farthest, height = max(farthest, dot(offset, offset)), dot(normal, offset)
            low, high = min(low, height), max(high, height)
    radii[node] = np.sqrt(farthest)
    store_vec3(slabs, node, normal)
    slabs[node, 3], slabs[node, 4] = low, high


@njit(cache=True, nogil=True)
def _unit(v: Vec3) -> Vec3:
    norm = np.sqrt(dot(v, v))
    return (v[0] / norm, v[1] / norm, v[2] / norm) if norm > 0.0 else (0.0, 0.0, 0.0)


@njit(cache=True, nogil=True)
def _fit_to_children(first: int, second: int, centres: Array, radii: Array, slabs: Array,
                     areas: Array, node: int) -> None:
    """Write the least ball round two balls, and a slab round theirs."""
    squared = 0.0
    for k in range(3):
        squared += (centres[second, k] - centres[first, k]) ** 2
        areas[node, k] = areas[first, k] + areas[second, k]
    distance = np.sqrt(squared)
    if distance + radii[second] <= radii[first]:
        share, radii[node] = 0.0, radii[first]
    elif distance + radii[first] <= radii[second]:
        share, radii[node] = 1.0, radii[second]
    else:
        radii[node] = 0.5 * (distance + radii[first] + radii[second])
        share = (radii[node] - radii[first]) / distance
    for k in range(3):
        centres[node, k] = centres[first, k] + share * (centres[second, k] - centres[first, k])
    normal = _unit(load_vec3(areas, node))
    low, high = np.inf, -np.inf
    for child in (first, second):
        offset = dot(normal, subtract(load_vec3(centres, child), load_vec3(centres, node)))
        cosine = dot(normal, load_vec3(slabs, child))
        sine = np.sqrt(max(1.0 - cosine * cosine, 0.0)) * radii[child]
        ends = cosine * slabs[child, 3], cosine * slabs[child, 4]
        low = min(low, offset + max(min(ends[0], ends[1]) - sine, -radii[child]))
        high = max(high, offset + min(max(ends[0], ends[1]) + sine, radii[child]))
    store_vec3(slabs, node, normal)
    slabs[node, 3], slabs[node, 4] = low, high
