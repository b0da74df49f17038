"""Points of the links' surfaces, by which a hand feels an object."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ...arrays import Array, IntArray
from ...hand import HandModel
from ...hand.shapes import refined
from ...numerics.kernels import njit
from ...numerics.vec3 import load_vec3, placed
from .distance_band import DistanceBand, distance_at

#: Side of the cubes in each of which one point of a link is kept [m].
SPACING = 0.002
#: Points at most at which one link touches, depth below the deepest within which they lie, and
#: least distance between two [m].
MOST, SHALLOWER, APART = 4, 0.0005, 1e-4
#: Way of a link after which all of its points are felt anew, at most [m].
STRIDE = 0.002


class LinkSamples(NamedTuple):
    """
    Points of the links of a hand, link by link.

    Attributes
    ----------
    points : (m, 3) float
        Frame of the link [m].
    starts : (L + 1,) int
        Where those of each link begin.
    radii : (L,) float
        Largest distance of a link's points from its origin [m].
    """

    points: Array
    starts: IntArray
    radii: Array


class Felt(NamedTuple):
    """
    What was felt last, so that points that cannot have come near since are left out.

    Attributes
    ----------
    poses : (L, 4, 4) float
        Of the links in the object when all of their points were felt.
    near : (m,) int
        Points that were near then, those of each link from where its points begin.
    distances : (m,) float
        Of these points then [m].
    counts : (L,) int
        How many of each link are.
    least : (L,) float
        Smallest distance of each link then [m].
    """

    poses: Array
    near: IntArray
    distances: Array
    counts: IntArray
    least: Array

    @classmethod
    def nothing(cls, samples: LinkSamples) -> 'Felt':
        """Return what is known at the beginning."""
        links = len(samples.radii)
        return cls(np.zeros((links, 4, 4)), np.zeros(len(samples.points), np.int64),
                   np.zeros(len(samples.points)), np.zeros(links, np.int64),
                   np.full(links, -np.inf))


class Touch(NamedTuple):
    """
    Contacts found: points of links and outward normals (c, 3) in the object's frame, gaps [m].

    ``links`` (c,) says whose they are.
    """

    points: Array
    normals: Array
    gaps: Array
    links: IntArray


@lru_cache(maxsize=8)
def link_samples(hand: HandModel) -> LinkSamples:
    """
    Return points of the links of a hand, one in every cube of ``SPACING`` that they enter.

    Large triangles, as hulls have them, are divided first: between their corners they touch, too.
    """
    parts = []
    for link in hand.links:
        mesh = refined(link.mesh)
        points = np.concatenate([mesh.vertices, mesh.face_centroids])
        _, kept = np.unique(np.floor(points / SPACING).astype(np.int64), axis=0,
                            return_index=True)
        parts.append(points[np.sort(kept)])
    starts = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    radii = np.array([np.linalg.norm(part, axis=1).max() for part in parts])
    return LinkSamples(np.concatenate(parts), starts, radii)


@njit(cache=True)
def feel(samples: LinkSamples, band: DistanceBand, poses: Array, felt: Felt, reach: float,
         touch: Touch) -> int:
    """
    Find where links touch an object or nearly do.

    Parameters
    ----------
    samples : LinkSamples
    band : DistanceBand
        Of the object.
    poses : (L, 4, 4) float
        Of the links in the object now.
    felt : Felt
        Renewed.
    reach : float
        Largest gap of a contact [m].
    touch : Touch
        Filled.

    Returns
    -------
    int
        How many contacts were written, ``MOST`` of a link at most.
    """
    count = 0
    stride = min(STRIDE, band.width - reach)
    for link in range(len(felt.least)):
        moved = _moved(poses[link], felt.poses[link], samples.radii[link])
        if felt.least[link] - moved > reach:
            continue
        if not moved < stride:
            moved = 0.0
            _feel_all(samples, band, poses[link], reach + stride, felt, link)
        first = samples.starts[link]
        near, distances = np.empty((felt.counts[link], 7)), 0
        for k in range(first, first + felt.counts[link]):
            if felt.distances[k] - moved > reach:
                continue
            x, y, z = placed(poses[link], load_vec3(samples.points, felt.near[k]))
            distance, u, v, w = distance_at(band, x, y, z)
            size = np.sqrt(u * u + v * v + w * w)
            if distance < reach and size > 0.5:
                row = near[distances]
                row[0], row[1], row[2], row[3] = distance, x, y, z
                row[4], row[5], row[6] = u / size, v / size, w / size
                distances += 1
        count = _choose(near[:distances], link, touch, count)
    return count


@njit(cache=True)
def _feel_all(samples: LinkSamples, band: DistanceBand, pose: Array, within: float, felt: Felt,
              link: int) -> None:
    """Feel all points of a link, and keep those nearer than ``within``."""
    for a in range(4):
        for b in range(4):
            felt.poses[link, a, b] = pose[a, b]
    least, kept = band.width, samples.starts[link]
    for i in range(samples.starts[link], samples.starts[link + 1]):
        x, y, z = placed(pose, load_vec3(samples.points, i))
        distance = distance_at(band, x, y, z)[0]
        least = min(least, distance)
        if distance < within:
            felt.near[kept], felt.distances[kept] = i, distance
            kept += 1
    felt.counts[link] = kept - samples.starts[link]
    felt.least[link] = least


@njit(cache=True)
def _moved(pose: Array, last: Array, radius: float) -> float:
    """Return a bound of the way of a link's points between two poses."""
    turned, moved = 0.0, 0.0
    for a in range(3):
        moved += (pose[a, 3] - last[a, 3]) ** 2
        for b in range(3):
            turned += (pose[a, b] - last[a, b]) ** 2
    return float(np.sqrt(moved) + radius * np.sqrt(turned))


@njit(cache=True)
def _choose(near: Array, link: int, touch: Touch, count: int) -> int:
    """Write the deepest of a link's points, then those farthest from the ones written."""
    if len(near) == 0:
        return count
    chosen = 0
    for i in range(len(near)):
        if near[i, 0] < near[chosen, 0]:
            chosen = i
    most, begin = near[chosen, 0] + SHALLOWER, count
    while chosen >= 0:
        for a in range(3):
            touch.points[count, a] = near[chosen, 1 + a]
            touch.normals[count, a] = near[chosen, 4 + a]
        touch.gaps[count], touch.links[count] = near[chosen, 0], link
        count += 1
        chosen = -1 if count - begin == MOST else _farthest(near, most, touch.points, begin, count)
    return count


@njit(cache=True)
def _farthest(near: Array, most: float, points: Array, begin: int, end: int) -> int:
    """Return the row of those not above a gap that is farthest from points written, -1: none."""
    best, chosen = APART * APART, -1
    for i in range(len(near)):
        if near[i, 0] > most:
            continue
        square = np.inf
        for other in range(begin, end):
            x, y, z = (near[i, 1] - points[other, 0], near[i, 2] - points[other, 1],
                       near[i, 3] - points[other, 2])
            square = min(square, x * x + y * y + z * z)
        if square > best:
            best, chosen = square, i
    return chosen
