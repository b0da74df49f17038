"""
Sampling grids: surface nodes seen along one direction, and where on them contact may be.

A grid lies in the plane normal to N, a direction into the object. Its points are cast
along N onto one smooth side of the object's curved surface; the indenter says how deep
each node lies in it. Both are kernels without state: same numbers in, same numbers out.
"""

from typing import NamedTuple

import numpy as np

from ...arrays import Array, BoolArray, IntArray
from ...numerics.kernels import njit
from ..geometry.contact_mesh import ContactMesh
from ..geometry.curved_surface import CurvedSurface
from ..geometry.vp_tree import VpTree
from .indenters import Indenter, MeshIndenter, mesh_depths
from .rasterise import rasterise


#: Rise of the depth that is assumed towards a missing neighbour, over the spacing [-].
UNKNOWN_RISE = 0.5
#: Least cosine between a node's normal and the way along which its overlap is measured.
MIN_FACING = -0.2
#: Largest distance of points of one contact spot, in cells; else about three contact radii.
MAX_REACH = 6


class SamplingGrid(NamedTuple):
    """
    A grid: frame rows u, v, N; first point in the plane; spacing; heights; mask.

    ``heights (2,)`` bound the coordinate along N between which the surface is looked for;
    points where ``mask (nu, nv)`` is false are left out.
    """

    frame: Array
    start: Array
    spacing: float
    heights: Array
    mask: BoolArray


class GridSamples(NamedTuple):
    """
    Nodes of a sampling grid, at most one per point: ``node`` is its index.

    Attributes
    ----------
    grid : SamplingGrid
    node : (nu, nv) int
        Index of the node of a grid point, -1 where the side has no surface, -2 where
        it was not looked for.
    points, normals : (n, 3) float
        Nodes on the curved surface [m], unit normals into the object; object frame.
    depths : (n,) float
        Overlap along the normal [m], negative for a gap, ``-inf`` without a counterpart.
    slopes : (n,) float
        Cosine between normal and N.
    labels : (n,) int
        Smooth side of the indenter that is met, -1 for none.
    positions : (n,) int
        Triangle of each node, in the order of the object's tree.
    """

    grid: SamplingGrid
    node: IntArray
    points: Array
    normals: Array
    depths: Array
    slopes: Array
    labels: IntArray
    positions: IntArray


def sample_grid(body: ContactMesh, side: int, grid: SamplingGrid, indenter: Indenter,
                T_object_indenter: Array, behind: float, way: Array | None = None
                ) -> GridSamples:
    """
    Cast a grid onto a side of the object and measure its depth in the indenter.

    Parameters
    ----------
    body : ContactMesh
        The object.
    side : int
        Smooth side to look at.
    grid : SamplingGrid
    indenter : Indenter
    T_object_indenter : (4, 4) float
    behind : float
        Widest gap of interest [m].
    way : (3,) float, optional
        Unit direction along which overlaps are measured; else they are along the normals.

    Returns
    -------
    GridSamples
    """
    if way is None and isinstance(indenter, MeshIndenter):
        return GridSamples(grid, *_sample_mesh(
            body.tree, body.surface, side, *grid, indenter.tree, indenter.surface,
            T_object_indenter, behind))
    cells, points, normals, positions = rasterise(body.tree, body.surface, side, *grid)
    rotation = T_object_indenter[:3, :3]
    direction = grid.frame[2]
    local = (points - T_object_indenter[:3, 3]) @ rotation
    slopes = normals @ direction
    if way is None:
        depths, labels = indenter.ray_depths(local, direction @ rotation, behind)
        depths = depths * slopes
    else:
        depths, labels = indenter.ray_depths(local, way @ rotation, behind)
        depths = np.where(normals @ way < MIN_FACING, -np.inf, depths)
    node = _deepest_nodes(cells, depths, grid.mask)
    return GridSamples(grid, node, points, normals, depths, slopes, labels, positions)


@njit(cache=True)
def _sample_mesh(tree: VpTree, surface: CurvedSurface, side: int, frame: Array, start: Array,
                 spacing: float, heights: Array, mask: BoolArray, other: VpTree,
                 other_surface: CurvedSurface, T_object_other: Array,
                 behind: float) -> tuple[IntArray, Array, Array, Array, Array, IntArray, IntArray]:
    """Return the ``GridSamples`` of a mesh, all but the grid (compiled)."""
    cells, points, normals, positions = rasterise(tree, surface, side, frame, start, spacing,
                                                  heights, mask)
    rotation = np.ascontiguousarray(T_object_other[:3, :3])
    direction = frame[2]
    local = (points - T_object_other[:3, 3]) @ rotation
    depths, labels = mesh_depths(other, other_surface, local, direction @ rotation, behind)
    slopes = normals @ direction
    depths = depths * slopes
    return _deepest_nodes(cells, depths, mask), points, normals, depths, slopes, labels, positions


@njit(cache=True)
def _deepest_nodes(cells: IntArray, depths: Array, mask: BoolArray) -> IntArray:
    """Return per grid point the node with the greatest depth."""
    node = np.empty(mask.shape, np.int64)
    for i in range(mask.shape[0]):
        for j in range(mask.shape[1]):
            node[i, j] = -1 if mask[i, j] else -2
    flat = node.reshape(-1)
    for i in range(len(cells)):
        old = flat[cells[i]]
        if old < 0 or depths[i] > depths[old]:
            flat[cells[i]] = i
    return node


@njit(cache=True)
def nodes_deeper_than(node: IntArray, depths: Array, least: float) -> IntArray:
    """Return the nodes that grid points hold and that are deeper than some depth [m]."""
    flat, count = node.ravel(), 0
    found = np.empty(len(flat), np.int64)
    for held in flat:
        if held >= 0 and depths[held] > least:
            found[count] = held
            count += 1
    return found[:count]


@njit(cache=True)
def overlapping_nodes(node: IntArray, depths: Array, labels: IntArray, spot: int) -> IntArray:
    """Return the overlapping nodes of one spot, in their own order."""
    flat, spots = node.ravel(), labels.ravel()
    is_own = np.zeros(len(depths), np.bool_)
    for place in range(len(flat)):
        held = flat[place]
        if held >= 0 and spots[place] == spot and depths[held] > 0.0:
            is_own[held] = True
    return np.flatnonzero(is_own)


class ContactSpots(NamedTuple):
    """
    Connected groups of grid points where there is, or may be, contact.

    Attributes
    ----------
    labels : (nu, nv) int
        Spot of each promising grid point, -1 for none.
    counts : (s,) int
        Overlapping points of each spot; 0 where it is only promising.
    bounds : (s, 4) int
        First and last index along u, then v, of the overlapping points, else of the best.
    """

    labels: IntArray
    counts: IntArray
    bounds: IntArray


@njit(cache=True)
def find_contact_spots(node: IntArray, depths: Array, spacing: float) -> ContactSpots:
    """
    Find the contact spots of a sampled grid: connected components of promising points.

    Where no point overlaps, one is promising if its depth plus the largest step to a
    neighbour is positive: contact between the points of the grid is looked for there
    with a finer one.
    """
    nu, nv = node.shape
    depth_grid = np.full((nu, nv), -np.inf)
    overlapping = 0
    for i in range(nu):
        for j in range(nv):
            if node[i, j] >= 0:
                depth_grid[i, j] = depths[node[i, j]]
                overlapping += depth_grid[i, j] > 0.0
    labels = np.full((nu, nv), -1)
    for i in range(nu):
        for j in range(nv):
            if depth_grid[i, j] > 0.0 or (overlapping == 0 and depth_grid[i, j] > -np.inf
                                          and depth_grid[i, j]
                                          + _largest_step(depth_grid, i, j, spacing) > 0.0):
                labels[i, j] = -2
    reach = min(max(1, int(1.2 * np.sqrt(overlapping))), MAX_REACH)
    return _label_spots(depth_grid, labels, reach)


@njit(cache=True)
def _largest_step(depth_grid: Array, i: int, j: int, spacing: float) -> float:
    nu, nv = depth_grid.shape
    step = 0.0
    for a in range(i - 1, i + 2):
        for b in range(j - 1, j + 2):
            if 0 <= a < nu and 0 <= b < nv and depth_grid[a, b] > -np.inf:
                step = max(step, abs(depth_grid[i, j] - depth_grid[a, b]))
            else:
                step = max(step, UNKNOWN_RISE * spacing)
    return step


@njit(cache=True)
def _label_spots(depth_grid: Array, labels: IntArray, reach: int) -> ContactSpots:
    """Label the connected components of promising points, in the order of their first point."""
    nu, nv = depth_grid.shape
    counts, bounds = np.zeros(nu * nv, np.int64), np.empty((nu * nv, 4), np.int64)
    stack = np.empty((nu * nv, 2), np.int64)
    groups = 0
    for i0 in range(nu):
        for j0 in range(nv):
            if labels[i0, j0] != -2:
                continue
            best = -np.inf
            bounds[groups, 0], bounds[groups, 1] = nu, -1
            bounds[groups, 2], bounds[groups, 3] = nv, -1
            labels[i0, j0] = groups
            stack[0, 0], stack[0, 1] = i0, j0
            top = 1
            while top > 0:
                top -= 1
                i, j = stack[top]
                box, depth = bounds[groups], depth_grid[i, j]
                if depth > 0.0:
                    counts[groups] += 1
                    box[0], box[1] = min(box[0], i), max(box[1], i)
                    box[2], box[3] = min(box[2], j), max(box[3], j)
                elif depth > best:
                    best = depth
                    box[0], box[1], box[2], box[3] = i, i, j, j
                for a in range(max(i - reach, 0), min(i + reach + 1, nu)):
                    for b in range(max(j - reach, 0), min(j + reach + 1, nv)):
                        if labels[a, b] == -2:
                            labels[a, b] = groups
                            stack[top, 0], stack[top, 1] = a, b
                            top += 1
            groups += 1
    return ContactSpots(labels, counts[:groups], bounds[:groups])


@njit(cache=True)
def mask_near(local: Array, start: Array, spacing: float, counts: tuple[int, int],
              radius: float) -> BoolArray:
    """Return which points of a grid lie near some points ``(k, 2)`` of its plane."""
    mask = np.zeros(counts, np.bool_)
    reach = radius / spacing
    for p in range(len(local)):
        u, v = (local[p, 0] - start[0]) / spacing, (local[p, 1] - start[1]) / spacing
        for i in range(max(int(np.ceil(u - reach)), 0), min(int(u + reach) + 1, counts[0])):
            for j in range(max(int(np.ceil(v - reach)), 0), min(int(v + reach) + 1, counts[1])):
                if (i - u) ** 2 + (j - v) ** 2 <= reach * reach:
                    mask[i, j] = True
    return mask
