"""The level of the wanted forces over the minimal ones, which force control then realises."""

import numpy as np

from ...arrays import Array


#: Factor on the forces where the state does not hold yet and no margin is known [-].
FORCE_GROWTH = 1.6
#: Least and largest factor by which the level changes in one step [-].
LEVEL_STEP = (0.4, 2.5)
#: Range of the natural logarithms of the forces' levels within which all count as equal [-].
SHARING_BAND = 0.4
#: Margin of the targets above the wanted forces, in parts of the tolerance [-].
TARGET_SHARE = 0.5


class ForceLevel:
    """
    The level of the wanted forces, found from the margins of the states tried.

    Parameters
    ----------
    margin_band : (2,) float
        Margins that are wanted [-].
    tolerance : float
        Relative excess over the wanted forces that is allowed [-].

    Notes
    -----
    Source: METHODS 4.5 (seed 001, correction of joint angles). The computed forces are the
    minimal ones, times the least level of at least 1 at which a hand whose joints are held
    has a margin in the band.
    """

    def __init__(self, margin_band: tuple[float, ...], tolerance: float) -> None:
        self._low, self._high = margin_band
        self._tolerance = float(np.log1p(tolerance))
        self._failing, self._holding = 0.0, np.inf
        self.level = max(1.0, 0.5 * (self._low + self._high))

    def is_reached(self, margin: float, logarithms: Array) -> bool:
        """
        Return True if the forces are as wanted: never below, above by at most the tolerance.

        Parameters
        ----------
        margin : float
            Of the present state [-].
        logarithms : (controls,) float
            Of the present forces over the minimal ones [-].
        """
        least = logarithms.min()
        gentle = margin <= self._high or least <= self._tolerance
        return bool(margin >= self._low and gentle and least >= 0.0
                    and np.ptp(logarithms) <= self._tolerance)

    def targets(self, minimal: Array) -> Array:
        """Return target forces (controls,) [N], within the tolerance of the wanted ones."""
        return self.level * np.exp(TARGET_SHARE * self._tolerance) * minimal

    def raised(self, margin: float, forces: Array, wanted: Array) -> Array:
        """Return target forces (controls,) [N], each larger than the present one."""
        growth = FORCE_GROWTH
        if margin > 0.0:
            growth = float(np.clip(0.5 * (self._low + self._high) / margin, 1.0, LEVEL_STEP[1]))
        return np.maximum(wanted, growth * forces)

    def update(self, margin: float, logarithms: Array) -> None:
        """
        Set the level from the margin at the present forces.

        The margin grows about in proportion to the forces. The levels that held and that did
        not hold bracket the search; while the levels of the forces differ, one that does not
        hold proves nothing.
        """
        present = float(np.exp(logarithms.mean() - TARGET_SHARE * self._tolerance))
        shared = np.ptp(logarithms) < SHARING_BAND
        enough = margin >= self._low
        if not (enough or shared):
            return
        if enough and margin <= self._high:
            self.level = max(1.0, present)
            return
        # Of two ends of the bracket that contradict each other the newer counts.
        if shared and enough:
            self._holding = present
            self._failing = self._failing if self._failing < present else 0.0
        elif shared:
            self._failing = present
            self._holding = self._holding if self._holding > present else np.inf
        factor = 0.5 * (self._low + self._high) / margin if margin > 0.0 else FORCE_GROWTH
        self.level = present * float(np.clip(factor, *LEVEL_STEP))
        if not self._failing < self.level < self._holding:
            self.level = float(np.sqrt(self._failing * self._holding))
        self.level = max(1.0, self.level)

    def lower(self, margin: float, logarithms: Array) -> None:
        """Lower the level to where the state just holds: at present it exceeds a limit."""
        self.level = max(1.0, float(np.exp(logarithms.mean())) / max(margin, 1.0))


def force_logarithms(forces: Array, minimal: Array) -> Array:
    """Return natural logarithms of forces over minimal ones; of their sums where one is 0."""
    if (forces > 0.0).all() and (minimal > 0.0).all():
        return np.log(forces / minimal)
    return np.log([max(forces.sum(), 1e-12) / max(minimal.sum(), 1e-12)])
