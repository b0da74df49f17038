"""Kernels of planar closing: the first touch of turning, rounded phalanges with a contour."""

import numpy as np

from ...arrays import Array, IntArray
from ...numerics.kernels import njit


#: Largest gap of a phalanx that touches the contour [m].
TOUCH_DISTANCE = 1e-9
#: Smallest overlap with which a phalanx touches from the start [m].
OVERLAP_DEPTH = 1e-7
#: Turn within which a phalanx that moves away leaves what it touches [rad].
LEFT_ANGLE = 1e-6
#: Difference of turns that count as equal, and the largest error of a turn by rounding [rad].
SAME_ANGLE = 1e-9
TURN = 2.0 * np.pi


@njit(cache=True)
def point_on_segment(px: float, py: float, ax: float, ay: float, bx: float, by: float) -> float:
    """Return the fraction from a to b at which the segment is nearest to p."""
    dx, dy = bx - ax, by - ay
    length, along = dx * dx + dy * dy, (px - ax) * dx + (py - ay) * dy
    if length == 0.0 or along <= 0.0:
        return 0.0
    return 1.0 if along >= length else along / length


@njit(cache=True)
def nearest_points(ax: float, ay: float, bx: float, by: float, cx: float, cy: float, dx: float,
                   dy: float) -> tuple[float, float, float, float]:
    """Return the distance of segments ab and cd, the fraction on ab, and the point on cd."""
    rx, ry, sx, sy = bx - ax, by - ay, dx - cx, dy - cy
    cross = rx * sy - ry * sx
    if cross != 0.0:
        u = ((cx - ax) * sy - (cy - ay) * sx) / cross
        v = ((cx - ax) * ry - (cy - ay) * rx) / cross
        if 0.0 <= u <= 1.0 and 0.0 <= v <= 1.0:
            return 0.0, u, ax + u * rx, ay + u * ry
    best, share, qx, qy = np.inf, 0.0, cx, cy
    for end in range(2):
        px, py = (cx, cy) if end == 0 else (dx, dy)
        u = point_on_segment(px, py, ax, ay, bx, by)
        x, y = px - ax - u * rx, py - ay - u * ry
        if x * x + y * y < best:
            best, share, qx, qy = x * x + y * y, u, px, py
        px, py = (ax, ay) if end == 0 else (bx, by)
        v = point_on_segment(px, py, cx, cy, dx, dy)
        x, y = cx + v * sx - px, cy + v * sy - py
        if x * x + y * y < best:
            best, share, qx, qy = x * x + y * y, float(end), cx + v * sx, cy + v * sy
    return np.sqrt(best), share, qx, qy


@njit(cache=True)
def chain_points(base: Array, direction: float, lengths: Array, angles: Array) -> Array:
    """Return the joints and the end (L + 1, 2) of a chain whose angles add up."""
    points = np.empty((len(lengths) + 1, 2))
    points[0, 0], points[0, 1] = base[0], base[1]
    phi = direction
    for m in range(len(lengths)):
        phi += angles[m]
        points[m + 1, 0] = points[m, 0] + lengths[m] * np.cos(phi)
        points[m + 1, 1] = points[m, 1] + lengths[m] * np.sin(phi)
    return points


@njit(cache=True)
def place_bars(points: Array, bars: Array, owners: IntArray) -> Array:
    """
    Return bars (K, 2, 2) in the plane, given in their phalanges' own frames.

    ``points`` as of ``chain_points``; x of a phalanx's frame leads along its middle line.
    """
    placed = np.empty_like(bars)
    for k in range(len(bars)):
        a, b = points[owners[k]], points[owners[k] + 1]
        length = np.hypot(b[0] - a[0], b[1] - a[1])
        ux, uy = (b[0] - a[0]) / length, (b[1] - a[1]) / length
        for end in range(2):
            x, y = bars[k, end, 0], bars[k, end, 1]
            placed[k, end, 0] = a[0] + ux * x - uy * y
            placed[k, end, 1] = a[1] + uy * x + ux * y
    return placed


@njit(cache=True)
def _forward_turn(angle: float) -> float:
    """Return a turn in [0, 2 pi); one below 0 by rounding counts as 0."""
    angle = angle % TURN
    return 0.0 if angle > TURN - SAME_ANGLE else angle


@njit(cache=True)
def _side_turn(px: float, py: float, ax: float, ay: float, bx: float, by: float, radius: float,
               sense: float) -> tuple[float, float, float]:
    """
    Return the least turn about the origin after which p is ``radius`` beside ab, and where on it.

    ``sense`` 1: ab turns, which is as if p turned backwards; -1: p turns. The circle of p is cut
    with the two lines beside ab.
    """
    best, place, d, length = np.inf, 0.0, np.hypot(px, py), np.hypot(bx - ax, by - ay)
    if d < 1e-12 or length == 0.0:      # the pivot does not move
        return best, ax, ay
    ux, uy = (bx - ax) / length, (by - ay) / length
    along, across, heading = ux * ax + uy * ay, ux * ay - uy * ax, np.arctan2(uy, ux)
    for side in range(1 if radius == 0.0 else 2):
        h = across + (radius if side == 0 else -radius)
        if abs(h) > d * (1.0 + 1e-12) + TOUCH_DISTANCE:
            continue
        root = np.sqrt(max(0.0, d * d - h * h))
        for s in (root, -root):
            turn = _forward_turn(sense * (np.arctan2(py, px) - np.arctan2(h, s) - heading))
            if along - TOUCH_DISTANCE <= s <= along + length + TOUCH_DISTANCE and turn < best:
                best, place = turn, s
    return best, place * ux - across * uy, place * uy + across * ux


@njit(cache=True)
def _circle_turn(ex: float, ey: float, radius: float, px: float, py: float) -> float:
    """Return the least turn of e about the origin after which the circle about it meets p."""
    e, d = np.hypot(ex, ey), np.hypot(px, py)
    if radius == 0.0 or e < 1e-12 or d < 1e-12:     # the round end about the pivot stays
        return np.inf
    cosine = (e * e + d * d - radius * radius) / (2.0 * e * d)
    if abs(cosine) > 1.0 + 1e-12:
        return np.inf
    spread = np.arccos(min(1.0, max(-1.0, cosine)))
    way = np.arctan2(py, px) - np.arctan2(ey, ex)
    return min(_forward_turn(way - spread), _forward_turn(way + spread))


@njit(cache=True)
def first_turn(origin: Array, bars: Array, owners: IntArray, first: int, segments: Array,
               radii: Array) -> tuple[float, int, int, float, float]:
    """
    Return the least turn of phalanges ``first`` and on, as one body, that touches the contour.

    Parameters
    ----------
    origin : (2,) float
        The pivot about which they turn, anticlockwise.
    bars : (K, 2, 2) float
    owners : (K,) int
        Phalanx of each bar.
    first : int
    segments : (n, 2, 2) float
    radii : (K,) float
        Distance of a bar's line from the segments in contact [m].

    Returns
    -------
    turn : float
        [rad]; ``inf`` where a whole turn is free.
    bar, row : int
        Those that touch; -1 where none do.
    x, y : float
        Touched point of the contour [m].
    """
    ox, oy = origin[0], origin[1]
    best, bar, row, qx, qy, farthest = np.inf, -1, -1, 0.0, 0.0, 0.0
    for k in range(len(bars)):
        if owners[k] < first:
            continue
        radius = radii[k]
        ax, ay = bars[k, 0, 0] - ox, bars[k, 0, 1] - oy
        bx, by = bars[k, 1, 0] - ox, bars[k, 1, 1] - oy
        inner, outer = _radial_range(ax, ay, bx, by)
        for i in range(len(segments)):
            cx, cy = segments[i, 0, 0] - ox, segments[i, 0, 1] - oy
            dx, dy = segments[i, 1, 0] - ox, segments[i, 1, 1] - oy
            low, high = _radial_range(cx, cy, dx, dy)
            if low > outer + radius + TOUCH_DISTANCE or high < inner - radius - TOUCH_DISTANCE:
                continue        # turning never brings them together
            distance, u, x, y = nearest_points(ax, ay, bx, by, cx, cy, dx, dy)
            gap = distance - radius
            kx, ky = ax + u * (bx - ax), ay + u * (by - ay)
            # Of a thin bar on the line itself the events decide; the pivot does not move.
            touching = gap < TOUCH_DISTANCE and radius > 0.0 and np.hypot(kx, ky) > TOUCH_DISTANCE
            if touching and (gap < -OVERLAP_DEPTH
                             or kx * (y - ky) - ky * (x - kx) > TOUCH_DISTANCE * radius):
                return 0.0, k, i, x + ox, y + oy
            for feature in range(4):
                if feature < 2:
                    x, y = (cx, cy) if feature == 0 else (dx, dy)
                    turn = min(_side_turn(x, y, ax, ay, bx, by, radius, 1.0)[0],
                               _circle_turn(ax, ay, radius, x, y),
                               _circle_turn(bx, by, radius, x, y))
                else:
                    ex, ey = (ax, ay) if feature == 2 else (bx, by)
                    turn, x, y = _side_turn(ex, ey, cx, cy, dx, dy, radius, -1.0)
                if touching and turn < LEFT_ANGLE:
                    continue
                radial = np.hypot(x, y)
                if turn < best - SAME_ANGLE or (
                        turn < best + SAME_ANGLE and turn < np.inf and radial > farthest):
                    best, bar, row, farthest = min(best, turn), k, i, radial
                    qx, qy = x + ox, y + oy
    return best, bar, row, qx, qy


@njit(cache=True)
def _radial_range(ax: float, ay: float, bx: float, by: float) -> tuple[float, float]:
    """Return the least and largest distance of a segment's points from the origin."""
    u = point_on_segment(0.0, 0.0, ax, ay, bx, by)
    return (np.hypot(ax + u * (bx - ax), ay + u * (by - ay)),
            max(np.hypot(ax, ay), np.hypot(bx, by)))
