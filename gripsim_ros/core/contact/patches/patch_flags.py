"""Validity of a patch: thickness behind it, edges near it, spread of normals."""

import numpy as np

from ...arrays import Array, IntArray
from ...batches import (
    PATCH_COARSE, PATCH_REACHES_LINK_EDGE, PATCH_REACHES_OBJECT_EDGE, PATCH_SPREAD)
from ...numerics.kernels import njit
from ...numerics.vec3 import dot, load_mat3, load_vec3, store_vec3, subtract
from ..geometry.contact_mesh import ContactMesh
from ..geometry.ray_casting import AHEAD, cast_rays
from ..geometry.vp_tree import VpTree
from .indenters import Indenter
from .sampling_grid import GridSamples


#: Least depth of loaded nodes over the greatest (half of a paraboloid's area) [-].
LOADED_RATIO = 0.5
#: Least number of overlapping nodes of a patch that is not coarse.
MIN_NODES = 7
SPREAD_COSINE = np.cos(np.deg2rad(30.0))
#: Least cosine between a side's normal and N at its end for that end to be an edge.
EDGE_SLOPE = 0.5
#: Least ratio of the shortest ways out to those along N, summed over the probes [-].
EXIT_RATIO = 0.15
PROBES = 9
#: Number of probes that are looked at first, and the factor by which their sum must exceed
#: that asked of all, so that rounding changes no answer.
DEEPEST_PROBES, ROUNDING_FACTOR = 2, 1.0 + 1e-9


def depths_are_shortest(samples: GridSamples, own: IntArray, indenter: Indenter,
                        T_object_indenter: Array) -> bool:
    """
    Return True if the depths along N are about the shortest ways out of the indenter.

    They are not where a side only lies beside the contact: a box's wall below a pad that
    presses its top leaves the pad along N only at its far end.
    """
    local, least = _probe_places(samples.points, samples.depths, own, T_object_indenter)
    # No distance is negative: the deepest probes alone often decide.
    first = indenter.surface_distances(local[:DEEPEST_PROBES]) + indenter.bulge
    if first.sum() > ROUNDING_FACTOR * least:
        return True
    distances = indenter.surface_distances(local) + indenter.bulge
    return bool(distances.sum() > least)


@njit(cache=True)
def _probes(own: IntArray, depths: Array) -> IntArray:
    """Return some of a patch's nodes, evenly from the deepest to the shallowest."""
    order = own[np.argsort(-depths[own], kind='mergesort')]
    count, last = min(PROBES, len(order)), len(order) - 1
    places = np.full(count, last)
    for i in range(count - 1):
        places[i] = int(i * (last / (count - 1)))
    return order[places]


@njit(cache=True)
def _probe_places(points: Array, depths: Array, own: IntArray, T_object_indenter: Array
                  ) -> tuple[Array, float]:
    """Return the probes, frame indenter, and the sum that is asked of their ways out [m]."""
    columns, origin = load_mat3(T_object_indenter.T), load_vec3(T_object_indenter.T, 3)
    probes, total = _probes(own, depths), 0.0
    local = np.empty((len(probes), 3))
    for i in range(len(probes)):
        offset = subtract(load_vec3(points, probes[i]), origin)
        store_vec3(local, i, (dot(columns[0], offset), dot(columns[1], offset),
                              dot(columns[2], offset)))
        total += depths[probes[i]]
    return local, EXIT_RATIO * total


def ray_thickness(body: ContactMesh, samples: GridSamples, own: IntArray) -> float:
    """Return how far the object reaches along N from the middle of a patch [m]."""
    depths = samples.depths[own]
    centre = depths @ samples.points[own] / depths.sum()
    middle = _nearest(samples.points, own, centre)
    limit = body.surface.limits[samples.positions[middle]]
    nudge: float = limit / samples.slopes[middle] + 1e-9 * body.tree.size
    return nudge + _way_out(body.tree, samples.points[middle], samples.grid.frame[2], nudge)


@njit(cache=True)
def _nearest(points: Array, chosen: IntArray, centre: Array) -> int:
    """Return the first of some points that is nearest to a centre."""
    middle, nearest, best = (centre[0], centre[1], centre[2]), -1, np.inf
    for i in chosen:
        offset = subtract(load_vec3(points, i), middle)
        square = dot(offset, offset)
        if square < best:
            nearest, best = i, square
    return nearest


@njit(cache=True)
def _way_out(tree: VpTree, point: Array, direction: Array, nudge: float) -> float:
    """Return how far the exit is ahead of a point that was nudged inwards; 0 if none is [m]."""
    start = np.empty((1, 3))
    for k in range(3):
        start[0, k] = point[k] + nudge * direction[k]
    distances, _, edges = cast_rays(tree, start, direction, 0.0)
    way: float = distances[0, AHEAD] if edges[0, AHEAD, 3] > 0.0 else 0.0
    return way


def patch_flags(samples: GridSamples, own: IntArray) -> int:
    """Return the ``PATCH_*`` flags that follow from the final grid."""
    link_edge, object_edge, least_slope = _edges(samples.node, samples.depths, samples.slopes,
                                                 samples.labels, own)
    flags = PATCH_COARSE if len(own) < MIN_NODES else 0
    flags |= PATCH_REACHES_LINK_EDGE if link_edge else 0
    flags |= PATCH_REACHES_OBJECT_EDGE if object_edge else 0
    return flags | (PATCH_SPREAD if least_slope < SPREAD_COSINE else 0)


@njit(cache=True)
def _edges(node: IntArray, depths: Array, slopes: Array, labels: IntArray,
           chosen: IntArray) -> tuple[bool, bool, float]:
    """Return whether loaded nodes reach an edge of link or object, and their least slope."""
    nu, nv = node.shape
    greatest, is_own = 0.0, np.zeros(len(depths), np.bool_)
    for k in chosen:
        is_own[k] = True
        greatest = max(greatest, depths[k])
    reach = max(1, int(np.round(np.sqrt(len(chosen) / (2.0 * np.pi)))))
    link_edge, object_edge, least_slope, label = False, False, 1.0, -1
    for i in range(nu):
        for j in range(nv):
            own = node[i, j]
            if own < 0 or not is_own[own] or depths[own] < LOADED_RATIO * greatest:
                continue
            least_slope = min(least_slope, slopes[own])
            if label >= 0 and labels[own] != label:
                link_edge = True
            label = labels[own]
            for a in range(max(i - reach, 0), min(i + reach + 1, nu)):
                for b in range(max(j - reach, 0), min(j + reach + 1, nv)):
                    if (a - i) ** 2 + (b - j) ** 2 > reach * reach:
                        continue
                    other = node[a, b]
                    if other == -1:
                        object_edge = object_edge or _ends_at_edge(node, slopes, a, b)
                    elif other >= 0 and depths[other] == -np.inf and abs(a - i) + abs(b - j) == 1:
                        link_edge = True
    return link_edge, object_edge, least_slope


@njit(cache=True)
def _ends_at_edge(node: IntArray, slopes: Array, i: int, j: int) -> bool:
    """Return True if an empty grid point lies beside a node that faces N."""
    nu, nv = node.shape
    for a in range(max(i - 1, 0), min(i + 2, nu)):
        for b in range(max(j - 1, 0), min(j + 2, nv)):
            if node[a, b] >= 0 and slopes[node[a, b]] > EDGE_SLOPE:
                return True
    return False
