"""How firm a grip must be for a load, while nobody knows the friction well; what a slip tells."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..hold_plan import HoldPlan
from ..measurement import Measurement
from .programme import HoldProgramme, NeededGrip

Array = NDArray[np.float64]

#: Shares of the believed friction with which the grip is to hold: the first that limits allow.
DOUBTS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
#: The same of a friction that a slip has told.
SLIPPED_DOUBTS = (0.8, 0.9, 1.0)
#: Doubt asks for no more than this share of the force at which damage begins, and for no more
#: than this multiple of the planned forces.
DOUBT_ROOM, DOUBT_MOST = 0.7, 2.0
#: Least friction that is believed, over the planned one: centres that wander would tell of less.
LEAST_FRICTION = 0.4
#: Friction that slips is less than what would just have held, by this.
LOWERED = 0.9
#: Halvings by which the friction that just fails is found.
HALVINGS = 5
#: Pads that press with so much more than was felt would have held, too: their error [-].
FELT_MORE = 1.1


class GripBelief:
    """
    What is believed of friction, and the grip that follows from it.

    Parameters
    ----------
    hold : HoldPlan
    programme : HoldProgramme
    most : float
        Largest multiple of the planned forces that is asked for.

    Attributes
    ----------
    friction : float
        Coefficient [-].
    room : float
        Largest multiple that doubt asks for.
    slipped : bool
        A slip has told of friction.
    """

    def __init__(self, hold: HoldPlan, programme: HoldProgramme, most: float) -> None:
        """Believe the plan's friction, and doubt it by half."""
        self.friction, self._planned, self._most = hold.friction, hold.friction, most
        self._programme, self.room = programme, min(
            most, DOUBT_MOST, max(1.0, DOUBT_ROOM * hold.damage))
        self._doubts, self.slipped = DOUBTS, False

    def grip_for(self, measured: Measurement, load: Array, reserve: float) -> NeededGrip:
        """
        Return the grip for a load at the least friction that leaves room below damage.

        Where even the believed friction leaves none, the most that is allowed; ``inf`` where that
        would not hold the bare load.

        Parameters
        ----------
        measured : Measurement
        load : (6,) float
            As of ``HoldProgramme.solve``.
        reserve : float
            Multiple of the load that is to be held.
        """
        while len(self._doubts) > 1:        # what left no room once is not tried again
            needed = self._programme.solve(measured, reserve * load,
                                           self._doubts[0] * self.friction)
            if needed.level <= self.room:
                return needed
            self._doubts = self._doubts[1:]
        needed = self._programme.solve(measured, reserve * load, self.friction)
        if np.isinf(needed.level):
            needed = self._programme.solve(measured, load, self.friction)
            if np.isfinite(needed.level):
                return replace(needed, level=max(needed.level, self._most))
        return needed

    def learn_of_slip(self, measured: Measurement, load: Array) -> None:
        """Believe less friction: a little less than with what the felt forces just hold a load."""
        told = LOWERED * self._least_that_holds(measured, load)
        self.friction = max(LEAST_FRICTION * self._planned, min(told, LOWERED * self.friction))
        self._doubts, self.slipped = SLIPPED_DOUBTS, True

    def _least_that_holds(self, measured: Measurement, load: Array) -> float:
        """Return the least friction with which no more than the felt forces hold a load."""
        low, high = LEAST_FRICTION * self._planned, self.friction
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            if self._programme.felt_forces_hold(measured, load, middle, FELT_MORE):
                high = middle
            else:
                low = middle
        return high
