"""Where phalanges of planar closing press: a bed of springs under a finger's three planes."""

from typing import NamedTuple

import numpy as np

from ...arrays import Array
from ...numerics.kernels import njit
from .contour import segment_middles
from .first_touch import point_on_segment


#: Largest distance of points of the contour at which depths are taken [m].
SPACING = 5e-4
#: Places across a finger over the distance of its outer planes from the middle one [-]: as far
#: as the finger is wide.
PLACES = np.linspace(-4.0 / 3.0, 4.0 / 3.0, 13)
#: Parabola through values in the three planes, and straight lines between them, there (13, 3).
PARABOLA = np.stack([0.5 * PLACES * (PLACES - 1.0), 1.0 - PLACES ** 2,
                     0.5 * PLACES * (PLACES + 1.0)], axis=1)
LINEAR = np.stack([np.interp(PLACES, (-1.0, 0.0, 1.0), row) for row in np.eye(3)], axis=1)


class PressedContact(NamedTuple):
    """
    Centre of pressure ``point (2,)`` in the plane, ``shift`` across it [m], and mean normal.

    ``normal (3,)`` is that of the faces, not scaled; ``area`` is what is pressed [m^2].
    """

    point: Array
    shift: float
    normal: Array
    area: float


def pressed_contact(bars: Array, radius: float, section: tuple[Array, Array, Array],
                    half_width: float, depth: float) -> PressedContact | None:
    """
    Return where a phalanx that touches presses once it has gone deeper; None: nothing is near.

    Parameters
    ----------
    bars : (K, 2, 2) float
        Of the phalanx, where it touches [m].
    radius : float
        Of their rounding [m].
    section : (n, 2, 2), (n,) and (n, 3) float
        Pieces of the contour, the offset of each one's plane from the middle plane over
        ``half_width`` [-], and the unit normals of their faces, in any frame.
    half_width : float
        Offset of the outer planes [m].
    depth : float
        How much deeper the phalanx goes [m].

    Returns
    -------
    PressedContact or None

    Notes
    -----
    A bed of equal springs (Johnson, Contact Mechanics, 1985, section 4.3). Between and beyond
    the planes gaps follow the parabola through those in the three planes, as of a curved body
    under a flat pad; the rest is interpolated linearly, and what is less deep is as much shorter
    as of a round body. Where one of the planes has no contour near, the others count alone. Own
    formulation.
    """
    gaps, sums = press_planes(bars, radius, *section, depth)
    near = np.isfinite(gaps)
    if not near.any():
        return None
    if near.all():
        places, gaps, sums = PLACES, PARABOLA @ gaps, LINEAR @ sums
    else:
        places, gaps, sums = np.arange(-1.0, 2.0)[near], gaps[near], sums[near]
    depths = np.maximum(gaps.min() + depth - gaps, 0.0)
    lengths = np.sqrt(depths / depth) * sums[:, 5]
    weights = depths / depths.sum()
    means = weights @ sums
    return PressedContact(means[:2], float(weights @ places) * half_width, means[2:5],
                          float(lengths.mean() * half_width * np.ptp(PLACES)))


@njit(cache=True)
def press_planes(bars: Array, radius: float, pieces: Array, shifts: Array, normals: Array,
                 depth: float) -> tuple[Array, Array]:
    """
    Return the least gap in each plane (3,), and what is pressed there as the bars go deeper.

    Rows (3, 6) are the centre of pressure [m], the mean normal, and the length pressed [m];
    parameters as of ``pressed_contact``. A plane in which nothing is near has an infinite gap.
    """
    gaps, nearest, sums, weights = (
        np.full(3, np.inf), np.full(3, np.inf), np.zeros((3, 6)), np.zeros(3))
    middles = segment_middles(pieces)
    apart, planes = np.empty(len(pieces)), np.empty(len(pieces), np.int64)
    for i in range(len(pieces)):
        planes[i] = int(shifts[i] + 1.5)
        apart[i] = _gap(bars, radius, middles[i, 0], middles[i, 1])
        nearest[planes[i]] = min(nearest[planes[i]], apart[i])
    for presses in range(2):        # the least gaps first, then depths beyond them
        for i in range(len(pieces)):
            plane = planes[i]
            if apart[i] - middles[i, 2] > nearest[plane] + depth:
                continue
            parts = int(2.0 * middles[i, 2] / SPACING) + 1
            for part in range(parts):
                share = (part + 0.5) / parts
                x = (1.0 - share) * pieces[i, 0, 0] + share * pieces[i, 1, 0]
                y = (1.0 - share) * pieces[i, 0, 1] + share * pieces[i, 1, 1]
                gap = _gap(bars, radius, x, y)
                if not presses:
                    gaps[plane] = min(gaps[plane], gap)
                elif gap < gaps[plane] + depth:
                    length = 2.0 * middles[i, 2] / parts
                    weight = (gaps[plane] + depth - gap) * length
                    sums[plane, 0] += weight * x
                    sums[plane, 1] += weight * y
                    for k in range(3):
                        sums[plane, 2 + k] += weight * normals[i, k]
                    sums[plane, 5] += length
                    weights[plane] += weight
    for plane in range(3):
        if weights[plane] > 0.0:
            for k in range(5):
                sums[plane, k] /= weights[plane]
        else:
            gaps[plane] = np.inf
    return gaps, sums


@njit(cache=True)
def _gap(bars: Array, radius: float, x: float, y: float) -> float:
    """Return the distance of a point from rounded bars."""
    least = np.inf
    for k in range(len(bars)):
        ax, ay, bx, by = bars[k, 0, 0], bars[k, 0, 1], bars[k, 1, 0], bars[k, 1, 1]
        u = point_on_segment(x, y, ax, ay, bx, by)
        px, py = x - ax - u * (bx - ax), y - ay - u * (by - ay)
        least = min(least, px * px + py * py)
    return np.sqrt(least) - radius
