"""The gap between a link and an object far round a contact: where they may touch, each apart."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import minimum_filter

from .place import Place

Array = NDArray[np.float64]

#: Nodes of a lattice along a side of the square in which a low is the least.
AROUND_LOW = 5
#: Points on a straight line between two lows at which a gap is looked at.
BETWEEN = 41
#: Cosine of the angle by which the surfaces may turn against each other, 1 degree, and way by
#: which the link may slide [m], and a terrain be kept: lows come and go by more.
LEAST_COSINE, MOST_SLIDE = 0.99985, 1e-3
#: How far the terrain's middle may be from a contact [m].
MOST_ASIDE = 0.03


@dataclass(frozen=True, eq=False)
class Terrain:
    """Where a link (n, 3) [m] may touch an object near a place, the first touch first."""

    place: Place
    lows: Array

    def holds_at(self, place: Place) -> bool:
        """Return whether link and object still face each other as they did, near a place."""
        return (self.place.slides_to(place) < MOST_SLIDE
                and self.place.is_turned_as(place, LEAST_COSINE)
                and bool(np.linalg.norm(self.place.flat(place.on_link)) < MOST_ASIDE))

    def nearest(self, positions: Array) -> NDArray[np.intp]:
        """Return which low is nearest to positions (k, 3) on the link (k,)."""
        flat = self.place.flat(self.lows)
        away = np.linalg.norm(self.place.flat(positions)[:, None] - flat, axis=2)
        return np.asarray(np.argmin(away, axis=1))

    def from_low(self, number: int) -> Array:
        """Return the lows (n, 3), one of them first."""
        return np.concatenate([self.lows[[number]], np.delete(self.lows, number, axis=0)])


def separate_lows(gaps: Array, barrier: float) -> NDArray[np.intp]:
    """
    Return where a gap (n, n) is least, the least first, as numbers of its raveled nodes.

    Between two of them it rises along a straight line by ``barrier`` [m] at least over the
    shallower; where there is no surface it is inf. Between convex surfaces there is one.
    """
    finite = np.where(np.isfinite(gaps), gaps, np.inf)
    least = np.flatnonzero((finite == minimum_filter(finite, AROUND_LOW, mode='nearest'))
                           & np.isfinite(finite))
    if not len(least):
        return np.array([gaps.size // 2])
    found: list[int] = []
    for low in least[np.argsort(finite.ravel()[least], kind='stable')]:
        if all(_highest_between(finite, other, low) - finite.ravel()[low] >= barrier
               for other in found):
            found.append(int(low))
    return np.array(found)


def _highest_between(gaps: Array, first: int, last: int) -> float:
    """Return the highest gap on a straight line between two nodes."""
    ends = np.array(np.unravel_index([first, last], gaps.shape)).T.astype(float)
    steps = np.linspace(0.0, 1.0, 2 * int(abs(ends[1] - ends[0]).max()) + 1)
    rows, columns = np.rint(ends[0] + steps[:, None] * (ends[1] - ends[0])).astype(int).T
    return float(gaps[rows, columns].max())


def parted_lows(lows: Array, gaps_at: Callable[[Array], Array], barrier: float) -> Array:
    """
    Return those of lows (n, 2) [m] that a gap parts from each before, the first among them.

    Parameters
    ----------
    lows : (n, 2) float
        [m].
    gaps_at : callable
        Returns the gap (k,) at points (k, 2) [m].
    barrier : float
        How much it rises between two over both at least [m].
    """
    found: list[Array] = [lows[0]]
    for low in lows[1:]:
        if all(_rise_between(gaps_at, other, low) >= barrier for other in found):
            found.append(low)
    return np.array(found)


def _rise_between(gaps_at: Callable[[Array], Array], first: Array, last: Array) -> float:
    """Return by how much a gap rises over both ends of a straight line [m]."""
    shares = np.linspace(0.0, 1.0, BETWEEN)[:, None]
    gaps = gaps_at(first + shares * (last - first))
    return float(gaps.max() - max(gaps[0], gaps[-1]))
