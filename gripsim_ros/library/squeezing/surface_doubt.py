"""How far the way of a grip is in doubt since nobody knows the surfaces that touch exactly."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Array

#: Along a surface errors of its shape are the same within about this way [m]: what a scan has
#: wrong, and what a part has off its drawing, are waves of a centimetre, not single points.
ALIKE = 5e-3
#: Root of the mean square along an axis over the mean distance from the middle, of what spreads as
#: a normal distribution in a plane [-].
ROOT_OVER_MEAN = float(np.sqrt(2.0 / np.pi))


@dataclass(frozen=True, eq=False)
class Spots:
    """
    Where the links of a grip press at one way, ``p`` spots.

    Attributes
    ----------
    links : (p,) int
    points : (p, 3) float
        Centres of pressure, each in the frame of its link [m].
    shares : (p,) float
        By how much normal forces grow with the force of the grip, which is half of their sum [-].
    spreads : (p,) float
        Mean distance of the pressure from its centre [m].
    """

    links: NDArray[np.int64]
    points: Array
    shares: Array
    spreads: Array


def way_covariance(spots: Sequence[Spots]) -> Array:
    """
    Return how ways at which a grip bears its forces are wrong together where surfaces are.

    Parameters
    ----------
    spots : sequence of Spots
        At each of ``n`` ways.

    Returns
    -------
    (n, n) float
        Covariance of the ways over the variance of the surfaces' errors [-].

    Notes
    -----
    Source: complementary energy, which grows by f e where a spot under a force f begins later by
    e. Its derivative by the force of the grip is the way: that grows by e times what the spot
    bears of more force, and e is the mean under its pressure. As long as the same spots bear the
    same shares that is one error of the touch, which no squeeze needs to know; where a link first
    rests on one edge and then on two, ways change by what these differ. Errors are normal, and
    alike within ``ALIKE``.
    """
    found = np.empty((len(spots), len(spots)))
    for k, one in enumerate(spots):
        for j, other in enumerate(spots[:k + 1]):
            found[k, j] = found[j, k] = one.shares @ _likeness(one, other) @ other.shares
    return found


def _likeness(one: Spots, other: Spots) -> Array:
    """Return the covariance of the errors under spots (p, q), over that at a point [-]."""
    away = np.square(one.points[:, None] - other.points).sum(axis=2)
    wide = ALIKE ** 2 + ROOT_OVER_MEAN ** 2 * (
        np.square(one.spreads)[:, None] + np.square(other.spreads))
    same = one.links[:, None] == other.links
    return np.where(same, ALIKE ** 2 / wide * np.exp(-0.5 * away / wide), 0.0)


def mean_deviation(weights: Array, ways: Array, told: Array, covariance: Array) -> float:
    """
    Return the standard deviation of a weighted sum of ways, over that of the surfaces' errors [-].

    Parameters
    ----------
    weights, ways : (s,) float
        Of the sum, and those that are summed [m].
    told : (n,) float
        Rising ways whose covariance is given [m]; beyond both ends it stays as it is there.
    covariance : (n, n) float
        As of ``way_covariance``.
    """
    places = np.interp(np.log(np.maximum(ways, told[0])), np.log(told), np.arange(len(told)))
    parts = np.maximum(0.0, 1.0 - abs(places[:, None] - np.arange(len(told))))
    mixed = weights @ parts
    return float(np.sqrt(max(0.0, mixed @ covariance @ mixed)))
