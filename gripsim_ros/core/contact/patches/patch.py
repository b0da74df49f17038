"""
Refined patches: nodes on the object's curved surface and their overlap with an indenter.

A mesh's own vertices are too sparse for gentle contact, so each pair of an indenter and
a smooth side of the object gets a square grid of its own, fitted to the overlap.
"""

from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Array, IntArray
from ...batches import (
    PATCH_OVER_EDGE, PATCH_REACHES_OBJECT_EDGE, PATCH_SPREAD, PATCH_THROUGH)
from ...bodies.topology import connected_labels
from ...numerics.kernels import njit
from ..geometry.contact_mesh import ContactMesh
from .grid_placement import coarse_grid, fitted_grid, grid_frame, refined_grid
from .indenters import Indenter
from .patch_flags import depths_are_shortest, patch_flags, ray_thickness
from .region import Region, find_region
from .rims import fit_to_rims
from .sampling_grid import (ContactSpots, GridSamples, SamplingGrid, find_contact_spots,
                            nodes_deeper_than, overlapping_nodes, sample_grid)


#: Least number of overlapping points to which the final grid can be fitted.
MIN_OVERLAPPING = 12
#: Least cosine between a patch normal and the last one; else the coarse grid is repeated.
CONVERGED_COSINE = np.cos(0.35)
#: Largest overlap over the thickness [-]: beyond it two pads would meet, unless the wall yields.
THICKNESS_LIMIT = 0.45
#: Range of loaded nodes over those wanted in which the final grid is not fitted again.
COUNT_BAND = (0.6, 1.7)


@dataclass(frozen=True)
class PatchOptions:
    """
    Options of the sampling of patches.

    Attributes
    ----------
    node_count : int
        Nodes with overlap wanted per patch; about half carry load.
    gap_ratio : float
        Nodes with gaps up to this part of the greatest depth are kept as candidates.
    levels : int
        Grids tried, each about five times finer, before a spot counts as no contact.
    """

    node_count: int = 70
    gap_ratio: float = 0.1
    levels: int = 4


@dataclass(frozen=True, eq=False)
class Patch:
    """
    Nodes of one contact patch, frame object.

    Attributes
    ----------
    points, normals : (n, 3) float
        On the object's curved surface [m]; unit normals into the object.
    areas, depths : (n,) float
        Area of each node [m^2]; overlap along the normal [m], negative for a gap.
    thickness : float
        Of the object through the patch [m].
    flags : int
        Sum of ``PATCH_*``.
    side : int
        Smooth side of the object.
    direction : (3,) float
        The patch normal, into the object.
    spreads : (n,) float
        Area over which each node's load is spread over its own: more than 1 beside rims [-].
    """

    points: Array
    normals: Array
    areas: Array
    depths: Array
    thickness: float
    flags: int
    side: int
    direction: Array
    spreads: Array


@dataclass(frozen=True, eq=False)
class _Pair:
    """Object and indenter whose patches are sampled, the options, and the way of overlaps."""

    body: ContactMesh
    indenter: Indenter
    T_object_indenter: Array
    options: PatchOptions
    way: Array | None = None

    def sample(self, side: int, grid: SamplingGrid, behind: float) -> GridSamples:
        return sample_grid(self.body, side, grid, self.indenter, self.T_object_indenter, behind,
                           self.way)


def sample_patch(body: ContactMesh, indenter: Indenter, T_object_indenter: Array,
                 motion_direction: Array | None = None,
                 options: PatchOptions = PatchOptions(), over_edges: bool = False) -> list[Patch]:
    """
    Sample every patch in which an indenter overlaps the object.

    Parameters
    ----------
    body : ContactMesh
        The object, undeformed, with merged vertices.
    indenter : Indenter
    T_object_indenter : (4, 4) float
    motion_direction : (3,) float, optional
        Direction of the indenter's motion, frame object; helps where the surfaces alone
        do not tell which way the patch faces.
    options : PatchOptions
    over_edges : bool
        Give one patch of what presses on both sides of an edge, instead of one for each side.

    Returns
    -------
    list of Patch
        Each with at least one overlapping node; empty without contact.

    Notes
    -----
    Source: directional depths of the intersection paper, turned into normal overlaps
    ``d |n . N|``; the rest is of own derivation (``docs/model/contact.md``). The grid's
    axes follow the indenter's, so that patches turn with object and hand together.
    """
    pair = _Pair(body, indenter, T_object_indenter, options)
    patches: list[Patch] = []
    region = None
    for surfaces_meet in (True, False):
        region = find_region(body, indenter, T_object_indenter, motion_direction, surfaces_meet)
        if region is None:
            break
        refused = False
        for side, direction in region.guesses:
            found, lost = _sample_side(pair, region, side, direction, patches)
            patches += found
            refused = refused or lost
        # Walls that go into a pad meet its surface; the end between them, all inside, does not.
        if patches or not refused or indenter.tree is None:
            break
    # Of one side alone the side's normals are nearer to finite elements than the indenter's way.
    if region is not None and over_edges and len({patch.side for patch in patches}) > 1 and any(
            patch.flags & PATCH_REACHES_OBJECT_EDGE for patch in patches):
        return _joined_over_edges(pair, region, patches)
    return patches


def _sample_side(pair: _Pair, region: Region, side: int, direction: Array,
                 known: list[Patch]) -> tuple[list[Patch], bool]:
    """Sample the patches of one side that face about one way; and whether any was refused."""
    samples, behind = _coarse_samples(pair, region, side, direction)
    for _ in range(2):
        overlaps, better = _mean_normal(samples.normals, samples.depths, samples.slopes)
        if not overlaps or better @ direction > CONVERGED_COSINE:
            break
        direction = better
        samples, behind = _coarse_samples(pair, region, side, direction)
    patches: list[Patch] = []
    refused = False
    waiting = [(samples, behind, 0)]
    while waiting:
        samples, behind, level = waiting.pop(0)
        spots = find_contact_spots(samples.node, samples.depths, samples.grid.spacing)
        for spot, count in enumerate(spots.counts):
            if count >= MIN_OVERLAPPING or (count and level == pair.options.levels):
                patch = _final_patch(pair, side, samples, spots, spot)
                refused = refused or patch is None
                if patch is not None and not _is_duplicate(patch, known + patches):
                    patches.append(patch)
            elif level < pair.options.levels:
                grid = refined_grid(*samples.grid[:4], spots.bounds[spot])
                behind = 4.0 * samples.grid.spacing
                waiting.append((pair.sample(side, grid, behind), behind, level + 1))
    return patches, refused


def _coarse_samples(pair: _Pair, region: Region, side: int,
                    direction: Array) -> tuple[GridSamples, float]:
    frame = grid_frame(direction, pair.T_object_indenter[:3, :3])
    box = region.box
    grid, behind = coarse_grid(box.axes, box.centre, box.half_lengths, frame)
    return pair.sample(side, grid, behind), behind


@njit(cache=True)
def _mean_normal(normals: Array, depths: Array, slopes: Array) -> tuple[bool, Array]:
    """Return whether nodes overlap, and their mean unit normal weighted by depth and area."""
    chosen = np.flatnonzero(depths > 0.0)
    if not len(chosen):
        return False, np.zeros(3)
    total = (depths[chosen] / slopes[chosen]) @ normals[chosen]
    return True, total / np.sqrt(total @ total)


def _final_patch(pair: _Pair, side: int, samples: GridSamples, spots: ContactSpots,
                 spot: int) -> Patch | None:
    """Fit the final grid to one contact spot, and make the patch of it."""
    origin, scale = samples.grid, samples.grid.spacing
    own = overlapping_nodes(samples.node, samples.depths, spots.labels, spot)
    others = len(spots.counts) > 1
    for _ in range(3):
        grid, deepest = fitted_grid(
            samples.points, samples.normals, samples.depths, own, samples.grid.frame,
            samples.grid.spacing, pair.T_object_indenter[:3, :3], pair.options.node_count)
        samples = pair.sample(side, grid, 2.0 * deepest + 4.0 * grid.spacing)
        own = nodes_deeper_than(samples.node, samples.depths, 0.0)
        if others:
            own = own[_nearest_label(samples.points[own], origin, scale, spots.labels) == spot]
        if not len(own):
            return None
        ratio = len(own) / pair.options.node_count
        if COUNT_BAND[0] < ratio < COUNT_BAND[1]:
            break
    return _make_patch(pair, side, samples, own, others)


def _nearest_label(points: Array, grid: SamplingGrid, spacing: float,
                   labels: IntArray) -> IntArray:
    """Return the spot of the coarse grid point nearest to each point."""
    places = np.rint((points @ grid.frame[:2].T - grid.start) / spacing).astype(int)
    places = np.clip(places, 0, np.array(labels.shape) - 1)
    return labels[places[:, 0], places[:, 1]]


def _make_patch(pair: _Pair, side: int, samples: GridSamples, own: IntArray,
                others: bool) -> Patch | None:
    """Choose the nodes of a final grid and set the flags."""
    if not depths_are_shortest(samples, own, pair.indenter, pair.T_object_indenter):
        return None
    greatest = float(samples.depths[own].max())
    chosen = nodes_deeper_than(samples.node, samples.depths, -pair.options.gap_ratio * greatest)
    if others:
        near = np.isin(chosen, own) | (samples.depths[chosen] <= 0.0)
        chosen = chosen[near]
    thickness = ray_thickness(pair.body, samples, own)
    flags = patch_flags(samples, own)
    if greatest > THICKNESS_LIMIT * thickness:
        flags |= PATCH_THROUGH
    samples, shares, spreads = fit_to_rims(samples, pair.indenter, pair.T_object_indenter,
                                           pair.way)
    return Patch(samples.points[chosen], samples.normals[chosen],
                 shares[chosen] * samples.grid.spacing ** 2 / samples.slopes[chosen],
                 samples.depths[chosen], thickness, flags, side, samples.grid.frame[2].copy(),
                 spreads[chosen])


def _is_duplicate(patch: Patch, known: list[Patch]) -> bool:
    """Return True if an earlier patch of the same side has most of a patch's deepest nodes."""
    deepest = patch.points[[int(np.argmax(patch.depths))]]
    return any(_is_beside(deepest, patch, other) for other in known if other.side == patch.side)


def _is_beside(points: Array, patch: Patch, other: Patch) -> bool:
    """Return True if some of a patch's points (k, 3) lie at overlapping nodes of another."""
    reach = 2.0 * max(float(np.sqrt(patch.areas.min())), float(np.sqrt(other.areas.max())))
    overlapping = other.points[other.depths > 0.0]
    return bool(np.linalg.norm(overlapping[:, None] - points, axis=2).min() < reach)


def _joined_over_edges(pair: _Pair, region: Region, patches: list[Patch]) -> list[Patch]:
    """
    Return patches of an indenter, those on both sides of an edge as one.

    An edge has no normal of its own: there all nodes are pushed the indenter's way.
    """
    way = _way_out(pair, patches)
    if not way.any():
        return patches
    own, found = replace(pair, way=way), list[Patch]()
    for side, direction in region.guesses:
        found += _sample_side(own, region, side, direction, found)[0]
    if len({patch.side for patch in found}) < 2:
        return patches
    near = np.array([[_is_beside(a.points[a.depths > 0.0], a, b) for b in found] for a in found])
    joined = []
    groups = connected_labels(np.argwhere(near), len(found))
    for group in np.unique(groups):
        members = [found[k] for k in np.flatnonzero(groups == group)]
        if len({patch.side for patch in members}) > 1:
            joined.append(_join(members, way, pair.body.has_flat_faces))
    return joined + [patch for patch in patches if not any(
        _is_beside(patch.points[patch.depths > 0.0], patch, other) for other in joined)]


def _join(patches: list[Patch], way: Array, flat: bool) -> Patch:
    """
    Return one patch of those on both sides of an edge; thickness is that of the widest.

    Flat faces that lean from each other have blunt edges: no spread of a side's own normals.
    """
    points, areas, depths, spreads = (
        np.concatenate([getattr(patch, name) for patch in patches])
        for name in ('points', 'areas', 'depths', 'spreads'))
    main = max(patches, key=lambda patch: float(
        patch.areas @ np.maximum(patch.depths, 0.0) * (patch.direction @ way)))
    flags = main.flags | PATCH_REACHES_OBJECT_EDGE | PATCH_OVER_EDGE
    # Of sides that are curved themselves: what they turn at the edge is no spread.
    spread = any(patch.flags & PATCH_SPREAD for patch in patches) and not flat
    flags = flags & ~PATCH_SPREAD | int(spread) * PATCH_SPREAD
    return Patch(points, np.tile(way, (len(points), 1)), areas, depths, main.thickness, flags,
                 main.side, way, spreads)


def _way_out(pair: _Pair, patches: list[Patch]) -> Array:
    """Return the mean direction (3,) of an indenter's shortest ways out, 0 if there is none."""
    points, normals, areas, depths = (np.concatenate([getattr(patch, name) for patch in patches])
                                      for name in ('points', 'normals', 'areas', 'depths'))
    rotation = pair.T_object_indenter[:3, :3]
    ways = pair.indenter.ways_out((points - pair.T_object_indenter[:3, 3]) @ rotation) @ rotation.T
    facing = np.maximum((ways * normals).sum(axis=1), 0.0) * areas * (depths > 0.0)
    total = facing @ ways
    return np.asarray(total / max(float(np.sqrt(total @ total)), np.finfo(float).tiny))
