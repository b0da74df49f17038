"""Compiled loops of the quick look: palm placement and distance look-ups."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]


@njit(cache=True)
def distance_at(lower, spacing, values, x, y, z):
    """Return the trilinear value at a point; beyond the grid, its border's plus the way."""
    u, v, w = (x - lower[0]) / spacing, (y - lower[1]) / spacing, (z - lower[2]) / spacing
    a = min(max(u, 0.0), values.shape[0] - 1.0)
    b = min(max(v, 0.0), values.shape[1] - 1.0)
    c = min(max(w, 0.0), values.shape[2] - 1.0)
    beyond = spacing * np.sqrt((u - a) ** 2 + (v - b) ** 2 + (w - c) ** 2)
    i = min(int(a), values.shape[0] - 2)
    j = min(int(b), values.shape[1] - 2)
    k = min(int(c), values.shape[2] - 2)
    a, b, c = a - i, b - j, c - k
    low = ((1 - b) * ((1 - a) * values[i, j, k] + a * values[i + 1, j, k])
           + b * ((1 - a) * values[i, j + 1, k] + a * values[i + 1, j + 1, k]))
    high = ((1 - b) * ((1 - a) * values[i, j, k + 1] + a * values[i + 1, j, k + 1])
            + b * ((1 - a) * values[i, j + 1, k + 1] + a * values[i + 1, j + 1, k + 1]))
    return (1 - c) * low + c * high + beyond


@njit(cache=True)
def distances_at(lower, spacing, values, points):
    """Return the trilinear values (n,) at points (n, 3)."""
    result = np.empty(len(points))
    for n in range(len(points)):
        result[n] = distance_at(lower, spacing, values, points[n, 0], points[n, 1], points[n, 2])
    return result


@njit(cache=True)
def hand_is_free(lower, spacing, values, rotations, origins, points, limit):
    """Tell for each pose (n,) whether all hand points (m, 3), frame palm, are beyond a limit."""
    free = np.ones(len(rotations), dtype=np.bool_)
    for n in range(len(rotations)):
        r = rotations[n]
        for p in points:
            x = r[0, 0] * p[0] + r[0, 1] * p[1] + r[0, 2] * p[2] + origins[n, 0]
            y = r[1, 0] * p[0] + r[1, 1] * p[1] + r[1, 2] * p[2] + origins[n, 1]
            z = r[2, 0] * p[0] + r[2, 1] * p[1] + r[2, 2] * p[2] + origins[n, 2]
            if distance_at(lower, spacing, values, x, y, z) < limit:
                free[n] = False
                break
    return free


@njit(cache=True)
def place_palms(points, rotations, centroids, centre, palm_low, palm_high, gaps):
    """
    Return palm origins (n, gaps, 3): the section centred, the palm at a gap before it.

    ``points`` are surface samples, ``rotations (n, 3, 3)`` and ``centroids (n, 3)`` the palm's
    axes and the face it stands on, ``centre (3,)`` where the pads meet: x, y, highest z.
    """
    origins = np.empty((len(rotations), len(gaps), 3))
    half = 0.5 * (palm_high[:2] - palm_low[:2])
    depth = centre[2] - palm_high[2]
    for n in range(len(rotations)):
        local = (points - centroids[n]) @ rotations[n]
        for g in range(len(gaps)):
            shift_x, shift_y, nearest = 0.0, 0.0, 0.0
            for _ in range(2):
                nearest = _nearest_below(local, shift_x - centre[0], shift_y - centre[1],
                                         palm_low, palm_high)
                top = nearest + depth - gaps[g]
                shift_x, shift_y = _section_middle(local, shift_x, shift_y, top, half)
            nearest = _nearest_below(local, shift_x - centre[0], shift_y - centre[1],
                                     palm_low, palm_high)
            offset = np.array([shift_x - centre[0], shift_y - centre[1],
                               nearest - gaps[g] - palm_high[2]])
            origins[n, g] = centroids[n] + rotations[n] @ offset
    return origins


@njit(cache=True)
def _nearest_below(local, x, y, palm_low, palm_high):
    """Return the lowest z of the samples over the palm, whose middle is at (x, y)."""
    over, anywhere = np.inf, np.inf
    for p in local:
        anywhere = min(anywhere, p[2])
        if (palm_low[0] <= p[0] - x <= palm_high[0]) and (palm_low[1] <= p[1] - y <= palm_high[1]):
            over = min(over, p[2])
    return over if over < np.inf else anywhere


@njit(cache=True)
def _section_middle(local, x, y, top, half):
    """Return the middle of the section below ``top`` near (x, y), in each axis where it fits."""
    low_x, high_x, low_y, high_y = np.inf, -np.inf, np.inf, -np.inf
    for p in local:
        if p[2] < top and abs(p[0] - x) < half[0] and abs(p[1] - y) < half[1]:
            low_x, high_x = min(low_x, p[0]), max(high_x, p[0])
            low_y, high_y = min(low_y, p[1]), max(high_y, p[1])
    if high_x < low_x:
        return x, y
    new_x = 0.5 * (low_x + high_x) if high_x - low_x < 1.9 * half[0] else x
    new_y = 0.5 * (low_y + high_y) if high_y - low_y < 1.9 * half[1] else y
    return new_x, new_y
