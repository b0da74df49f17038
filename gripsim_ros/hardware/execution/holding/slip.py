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
#: A centre that chatters has to go farther, by so much of what it goes to and fro [-].
CHATTER = 3.0
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
    ``JUMP`` within 40 ms. An object that only turns between the pads is not seen. A centre that
    goes to and fro from reading to reading, as where flat surfaces touch here and there, slips
    where it goes farther than that: what comes back is told from what goes on by the second
    difference of its readings.

    Parameters
    ----------
    touch_force : float
        Pads that feel less than twice this are not watched [N].
    """

    def __init__(self, touch_force: float) -> None:
        """Know nothing yet."""
        self._least = 2.0 * touch_force
        self._chatter: dict[str, float] = {}
        self._heard: dict[str, int] = {}            # of how many turns it is the mean
        self.forget()

    def forget(self) -> None:
        """Begin anew: the fingers are about to move, and centres move with them."""
        self._usual: dict[str, Array] = {}
        self._before: dict[str, list[Array]] = {}           # the last centres
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
        slipping = [slips for link, pull in pulls.items()
                    if (slips := self._follow(link, measured, pull, share)) is not None]
        return falls or (bool(slipping) and sum(slipping) >= min(TOGETHER, len(slipping)))

    def _follow(self, link: str, measured: Measurement, pull: Array, share: float
                ) -> bool | None:
        """Return whether a centre slips, None where it is not known."""
        centre, usual = measured.centres.get(link), self._usual.get(link)
        if centre is None or measured.forces.get(link, 0.0) < self._least:
            self._usual.pop(link, None)
            return None
        if usual is None:
            self._usual[link], self._before[link] = centre, []
            return None
        self._usual[link] = usual + share * (centre - usual)
        room = JUMP + CHATTER * self._chatter.get(link, 0.0)
        self._note_chatter(link, centre, pull, share)
        return bool((centre - usual) @ pull > room)

    def _note_chatter(self, link: str, centre: Array, pull: Array, share: float) -> None:
        """Follow how far a centre goes to and fro along the load, from three readings."""
        last = self._before[link] = [*self._before[link], centre][-3:]
        if len(last) == 3:
            turn = 0.5 * abs(float((last[0] - 2.0 * last[1] + last[2]) @ pull))
            self._heard[link] = count = self._heard.get(link, 0) + 1
            known = self._chatter.get(link, 0.0)
            self._chatter[link] = known + max(share, 1.0 / count) * (turn - known)


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
