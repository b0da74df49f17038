"""Whether a hand goes on with the contacts that it has found."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from ..closing import FingerWatch
from ..feeling.policies import KEEP
from ..measurement import Measurement
from ..plan import ExecutionOptions, ExecutionPlan
from ..touch.loading import TouchWatch
from .programme import HoldProgramme


class Keeper:
    """
    Judges whether the contacts that were found hold the planned load alone.

    That is so where the minimal-force programme (``HoldProgramme``) has forces for them that are
    no larger than they can be: the limit of closing by touch over the planned ones for fingers
    that are yet to be loaded, the share that is felt for those that have been.

    Parameters
    ----------
    plan : ExecutionPlan
        With ``keep`` and ``touch``, where the contacts may be kept.
    options : ExecutionOptions
    """

    def __init__(self, plan: ExecutionPlan, options: ExecutionOptions) -> None:
        """Know the limits."""
        self._plan, self._options = plan, options
        self.why_not = ''           # of the last contacts that were judged

    def seeks_on(self, watch: TouchWatch, measured: Measurement, wrong: str) -> bool:
        """Let a watch go on without fingers that found nothing; return whether it does."""
        fingers = watch.unfound
        links = [link for finger in self._plan.fingers if finger.name in fingers
                 for link in finger.links]
        told = self.keeps(measured, links) if fingers else ''
        if told:
            watch.give_up(fingers, measured)
            watch.notes.append(f'{wrong}: {told}')
        return bool(told)

    def loads_on(self, watch: TouchWatch, measured: Measurement, wrong: str) -> bool:
        """Let a watch go on with less than the planned forces; return whether it does."""
        share = watch.least_share
        told = self.keeps(measured, (), share) if share > 0.0 else ''
        if told:
            watch.notes.append(f'{wrong}: {told}')
        return bool(told)

    def grips_on(self, watch: FingerWatch, measured: Measurement, wrong: str,
                 links: Collection[str]) -> bool:
        """Let a watch go on without contacts of links; return whether it does."""
        told = self.keeps(measured, links)
        if told:
            watch.given_up |= set(links)
            watch.notes.append(f'{wrong}: {told}')
        return bool(told)

    def keeps(self, measured: Measurement, without: Collection[str], most: float | None = None
              ) -> str:
        """
        Return how the contacts but for some links hold, or '': they do not, see ``why_not``.

        Parameters
        ----------
        measured : Measurement
        without : collection of str
            Links that have no contact.
        most : float, optional
            Largest share of the planned forces; None: that of closing by touch.
        """
        hold, self.why_not = self._plan.keep, ''
        if self._plan.wishes.missed_contact != KEEP or hold is None or self._plan.touch is None:
            return ''
        most = self._plan.touch.room if most is None else most
        gone = dict.fromkeys(without, 0.0)
        programme = HoldProgramme(hold, most, self._options.touch_force)
        needed = programme.solve(replace(measured, forces={**measured.forces, **gone}),
                                 hold.load, hold.friction)
        if np.isfinite(needed.level):
            return f'the others hold the load with {needed.level:.2f} of their planned forces'
        self.why_not = f'the others do not hold the load: {needed.shortfall}'
        return ''
