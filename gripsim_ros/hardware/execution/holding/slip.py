"""Slip as pads see it: centres of pressure that go with the load, a sum that falls."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ..measurement import Measurement

Array = NDArray[np.float64]

#: Time in which what is usual follows what is felt [s].
USUAL_TIME = 0.3
#: A centre of pressure that has gone so far along the load from where it usually is, slips [m].
JUMP = 1.0e-3
#: Pads that must slip together: a single centre wanders with the roughness of what is held.
TOGETHER = 2
#: Share of the usual sum of forces by which it falls where the object leaves the fingers.
FALL = 0.15
#: A sum so far above the usual one, which may be a bad frame, counts as no more.
RISE = 0.2
#: Centres go along the load by so much less while fingers rise, if the object rests [m].
GOES_ON = 2.0e-3


class SlipWatch:
    """
    Watches pads for slip.

    A contact that sticks moves with its link, so its centre of pressure rests in it; one that
    slips goes where the load pulls. What is usual follows slow creep. A slip of 30 mm/s has gone
    ``JUMP`` within 40 ms. An object that only turns between the pads is not seen.

    Parameters
    ----------
    touch_force : float
        Pads that feel less than twice this are not watched [N].
    """

    def __init__(self, touch_force: float) -> None:
        """Know nothing yet."""
        self._least = 2.0 * touch_force
        self.forget()

    def forget(self) -> None:
        """Begin anew: the fingers are about to move, and centres move with them."""
        self._usual: dict[str, Array] = {}
        self._sum, self._last = 0.0, -np.inf

    def update(self, measured: Measurement, pulls: Mapping[str, Array]) -> bool:
        """
        Take a measurement; return whether the object slips.

        Parameters
        ----------
        measured : Measurement
        pulls : mapping to (3,) float
            Unit vectors along the load by link that is watched, in its frame.
        """
        since, self._last = measured.felt_at - self._last, measured.felt_at
        if since <= 0.0:
            return False
        share = float(-np.expm1(-since / USUAL_TIME))
        total = sum(measured.forces.get(link, 0.0) for link in pulls)
        falls = total < (1.0 - FALL) * self._sum
        before = self._sum or total
        self._sum = before + share * (min(total, (1.0 + RISE) * before) - before)
        gone = [self._follow(link, measured, pull, share) for link, pull in pulls.items()]
        watched = [way for way in gone if way is not None]
        slipping = sum(way > JUMP for way in watched)
        return falls or (bool(watched) and slipping >= min(TOGETHER, len(watched)))

    def _follow(self, link: str, measured: Measurement, pull: Array, share: float
                ) -> float | None:
        """Return how far a centre has gone along the load [m], None where it is not known."""
        centre, usual = measured.centres.get(link), self._usual.get(link)
        if centre is None or measured.forces.get(link, 0.0) < self._least:
            self._usual.pop(link, None)
            return None
        if usual is None:
            self._usual[link] = centre
            return None
        self._usual[link] = usual + share * (centre - usual)
        return float((centre - usual) @ pull)


def falls_on(before: Measurement, now: Measurement, pulls: Mapping[str, Array]) -> bool:
    """
    Return whether an object falls while the fingers rise, from a measurement before that.

    Fingers that rise move their centres, too: only what goes much farther counts, or a sum that
    falls although it should grow. ``pulls`` as of ``SlipWatch.update``.
    """
    sums = [sum(told.forces.get(link, 0.0) for link in pulls) for told in (before, now)]
    gone = [float((now.centres[link] - before.centres[link]) @ pull)
            for link, pull in pulls.items() if link in now.centres and link in before.centres]
    return sums[1] < (1.0 - FALL) * sums[0] or sum(way > GOES_ON for way in gone) >= TOGETHER
