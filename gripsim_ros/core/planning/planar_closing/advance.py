"""Kernels of planar closing: conservative advancement of phalanges towards a contour."""

import numpy as np

from ...arrays import Array, IntArray
from ...numerics.kernels import copy_entries, njit
from .contour import segment_middles
from .first_touch import chain_points, nearest_points, place_bars


#: Largest gap of a phalanx in contact [m].
CONTACT_TOLERANCE = 1e-6
#: Largest number of steps of conservative advancement.
MOST_STEPS = 2000
#: Largest error of a bound of a gap by rounding [m].
ROUND_OFF = 1e-12
#: Number of segments in a block, whose bounds have a common floor.
BLOCK = 16


@njit(cache=True)
def close_chain(base: Array, direction: float, lengths: Array, start: Array, closed: Array,
                bars: Array, owners: IntArray, segments: Array, radii: Array
                ) -> tuple[Array, int, IntArray, Array, Array, float]:
    """
    Return how a chain closes whose joints move together, each until something beyond it touches.

    Conservative advancement: a step is the gap over the fastest point's speed. A segment is
    tested again once the travel since then could have closed its gap.

    Parameters
    ----------
    base : (2,) float
    direction : float
        [rad]
    lengths, start, closed : (L,) float
        Of the phalanges [m]; joint angles at the start and at the end of the motion [rad].
    bars : (K, 2, 2) float
        In their phalanges' frames [m].
    owners : (K,) int
        Phalanx of each bar, in order.
    segments : (n, 2, 2) float
    radii : (L,) float
        Distance of the bars of a phalanx from the segments in contact [m].

    Returns
    -------
    angles : (L,) float
    count : int
        Number of contacts.
    touching : (L, 2) int
        Bar and segment of the first ``count`` contacts.
    touched : (L, 2) float
        Their points of the contour [m].
    angles_then : (L, L) float
        The chain's angles at each of them.
    gap : float
        Of the chain at its start [m]; ``inf`` without segments.
    """
    joints = len(lengths)
    touching, touched = np.empty((joints, 2), np.int64), np.empty((joints, 2))
    angles_then, angles, rates = np.empty((joints, joints)), start.copy(), closed - start
    placed = place_bars(chain_points(base, direction, lengths, start), bars, owners)
    middles = segment_middles(segments)
    bounds, floors = _bound_gaps(placed, owners, middles, radii)
    first_gap, count, first, travel, fraction = np.inf, 0, 0, 0.0, 0.0
    while first < joints:
        speed = _top_speed(lengths, rates, first, bars, owners, radii)
        moved, limit, bar, row, x, y = 0.0, 1.0 - fraction, -1, -1, 0.0, 0.0
        for step in range(MOST_STEPS):
            points = chain_points(base, direction, lengths, angles + moved * rates)
            placed = place_bars(points, bars, owners)
            gap, bar, row, x, y = smallest_gap(
                placed, owners, first, segments, middles, radii, bounds, floors, travel)
            if count == 0 and step == 0:
                first_gap = gap
            if gap <= CONTACT_TOLERANCE:
                break
            if speed == 0.0 or moved >= limit or bar < 0:
                moved, bar = limit, -1
                break
            part = min(limit - moved, max(gap, 0.5 * CONTACT_TOLERANCE) / speed)
            moved += part
            travel += part * speed
        else:
            moved, bar = limit, -1
        fraction, angles = fraction + moved, angles + moved * rates
        if bar < 0:
            break
        touching[count, 0], touching[count, 1] = bar, row
        touched[count, 0], touched[count, 1] = x, y
        copy_entries(angles, angles_then[count])
        count, first = count + 1, owners[bar] + 1
        rates[:first] = 0.0
    return angles, count, touching, touched, angles_then, first_gap


@njit(cache=True)
def smallest_gap(placed: Array, owners: IntArray, first: int, segments: Array, middles: Array,
                 radii: Array, bounds: Array, floors: Array, travel: float
                 ) -> tuple[float, int, int, float, float]:
    """
    Return the smallest gap of phalanges ``first`` and on, with bar, segment and point.

    Of equal gaps that of the first bar and segment. ``bounds (L, n)`` less ``travel`` are lower
    bounds of the gaps, ``floors (L, b)`` the least of each block; those tested are raised. The
    nearest block is tested first, so that most need not be.
    """
    best, lines = (np.inf, -1, -1, 0.0, 0.0), _lines(placed)
    if not len(segments):
        return best
    place = np.argmin(floors[first:])
    link0, block0 = first + place // floors.shape[1], place % floors.shape[1]
    best = _search_block(placed, lines, _bars_of(owners, link0), block0, segments, middles,
                         radii[link0], bounds[link0], floors[link0], travel, best)
    for link in range(first, len(radii)):
        own, row, least = _bars_of(owners, link), bounds[link], floors[link]
        for block in range(len(least)):
            if (least[block] <= best[0] + travel + ROUND_OFF
                    and not (link == link0 and block == block0)):
                best = _search_block(placed, lines, own, block, segments, middles, radii[link],
                                     row, least, travel, best)
    return best


@njit(cache=True)
def _search_block(placed: Array, lines: Array, own: tuple[int, int], block: int, segments: Array,
                  middles: Array, radius: float, bounds: Array, floors: Array, travel: float,
                  best: tuple[float, int, int, float, float]
                  ) -> tuple[float, int, int, float, float]:
    """Return the smaller of the best gap so far and a block's smallest; raise its bounds."""
    gap, bar, row, x, y = best
    begin, end = own
    floor = np.inf
    for i in range(block * BLOCK, min((block + 1) * BLOCK, len(segments))):
        if bounds[i] <= gap + travel + ROUND_OFF:
            half, least, farther = middles[i, 2], np.inf, np.inf
            for k in range(begin, end):
                bound = gap + radius + half + ROUND_OFF
                apart = _square_distance(lines, k, middles[i, 0], middles[i, 1])
                if apart > bound * bound:
                    farther = min(farther, apart)
                    continue
                distance, _, px, py = nearest_points(
                    placed[k, 0, 0], placed[k, 0, 1], placed[k, 1, 0], placed[k, 1, 1],
                    segments[i, 0, 0], segments[i, 0, 1], segments[i, 1, 0], segments[i, 1, 1])
                distance -= radius
                least = min(least, distance)
                if distance < gap or (distance == gap and (k < bar or (k == bar and i < row))):
                    gap, bar, row, x, y = distance, k, i, px, py
            bounds[i] = travel + min(least, np.sqrt(farther) - radius - half)
        floor = min(floor, bounds[i])
    floors[block] = floor
    return gap, bar, row, x, y


@njit(cache=True)
def _lines(placed: Array) -> Array:
    """Return starts, directions and the inverse squared lengths of bars (5, K)."""
    lines = np.empty((5, len(placed)))
    for k in range(len(placed)):
        dx, dy = placed[k, 1, 0] - placed[k, 0, 0], placed[k, 1, 1] - placed[k, 0, 1]
        length = dx * dx + dy * dy
        lines[0, k], lines[1, k], lines[2, k], lines[3, k] = (
            placed[k, 0, 0], placed[k, 0, 1], dx, dy)
        lines[4, k] = 1.0 / length if length > 0.0 else 0.0
    return lines


@njit(cache=True, forceinline=True)
def _square_distance(lines: Array, k: int, x: float, y: float) -> float:
    """Return the squared distance of a bar from a point."""
    px, py = x - lines[0, k], y - lines[1, k]
    u = min(1.0, max(0.0, (px * lines[2, k] + py * lines[3, k]) * lines[4, k]))
    px, py = px - u * lines[2, k], py - u * lines[3, k]
    return px * px + py * py


@njit(cache=True)
def _bars_of(owners: IntArray, link: int) -> tuple[int, int]:
    """Return the range of a phalanx's bars."""
    return int(np.searchsorted(owners, link)), int(np.searchsorted(owners, link, side='right'))


@njit(cache=True)
def _bound_gaps(placed: Array, owners: IntArray, middles: Array, radii: Array
                ) -> tuple[Array, Array]:
    """
    Return lower bounds (L, n) of the phalanges' gaps, and their floors.

    A phalanx is enclosed about its longest bar, a segment about its middle.
    """
    bounds = np.empty((len(radii), len(middles)))
    floors = np.full((len(radii), (len(middles) + BLOCK - 1) // BLOCK), np.inf)
    lines = _lines(placed)
    for link in range(len(radii)):
        begin, end = _bars_of(owners, link)
        if begin == end:
            bounds[link] = np.inf
            continue
        longest, size = begin + int(np.argmin(lines[4, begin:end])), 0.0
        for x, y in placed[begin:end].reshape(-1, 2):
            size = max(size, _square_distance(lines, longest, x, y))
        size = np.sqrt(size) + radii[link]
        for i in range(len(middles)):
            apart = np.sqrt(_square_distance(lines, longest, middles[i, 0], middles[i, 1]))
            bounds[link, i] = apart - size - middles[i, 2]
            floors[link, i // BLOCK] = min(floors[link, i // BLOCK], bounds[link, i])
    return bounds, floors


@njit(cache=True)
def _top_speed(lengths: Array, rates: Array, first: int, bars: Array, owners: IntArray,
               radii: Array) -> float:
    """Return an upper bound of the speed of the bars' points [m per unit of the fraction]."""
    speed = 0.0
    for j in range(first, len(lengths)):
        radius_bound = 0.0
        for k in range(len(bars)):
            if owners[k] >= j:
                arm = radii[owners[k]] + max(np.hypot(bars[k, 0, 0], bars[k, 0, 1]),
                                             np.hypot(bars[k, 1, 0], bars[k, 1, 1]))
                for m in range(j, owners[k]):
                    arm += lengths[m]
                radius_bound = max(radius_bound, arm)
        speed += abs(rates[j]) * radius_bound
    return speed
