"""The least forces that hold a moved object with the reserve of its grasp, link by link."""

import numpy as np

from ...arrays import Array
from ..closing.force_level import ForceLevel, force_logarithms
from ..closing.grasp_state import GraspState, exceeds_limits, sums_by_link
from ..options import PlannerOptions


class StepForces:
    """
    The forces wanted at the links of a moved grasp, found anew from each state.

    Parameters
    ----------
    links : tuple of int
        Of the grasp.
    grasp : GraspState
        That holds, before it is moved.
    options : PlannerOptions

    Attributes
    ----------
    reserve : float
        Margin that every step keeps [-]: that of closing, or the grasp's where that is less.
    excess : float
        Sum of the forces of the last state over the sum of those wanted [-].

    Notes
    -----
    Source: seed 001, motion of the held object: at each step forces and minimal forces are
    found again, and the joints corrected so that the forces are near the minimal ones and never
    below. Departure: as in closing, the minimal forces count times the least level at which the
    joints, held, bear the loads with a reserve.
    """

    def __init__(self, links: tuple[int, ...], grasp: GraspState, options: PlannerOptions) -> None:
        self._links, self._options = links, options
        low, high = options.margin_band
        self.reserve = min(low, grasp.margin)
        self._band = self.reserve, high
        self.excess = 1.0
        self._wanted: Array = np.zeros(len(links))
        self.begin_step()
        self.take(grasp)

    def begin_step(self) -> None:
        """Forget what was tried at other poses of the object."""
        self._level = ForceLevel(self._band, self._options.force_tolerance)

    def take(self, state: GraspState) -> None:
        """Find the forces wanted from a state; without forces that hold, those before stay."""
        if not state.capable:
            self.excess = 1.0
            return
        forces = sums_by_link(self._links, state, state.normal_forces)
        minimal = sums_by_link(self._links, state, state.minimal_envelope)
        minimal = np.maximum(minimal, self._options.min_force_share * minimal.max(initial=0.0))
        logarithms = force_logarithms(forces, minimal)
        if exceeds_limits(state):
            self._level.lower(state.margin, logarithms)
        else:
            self._level.update(state.margin, logarithms)
        self._wanted = self._level.targets(minimal)
        self.excess = float(forces.sum()) / max(float(self._wanted.sum()), 1e-12)

    def wanted(self, link: int) -> float:
        """Return the normal force wanted at a link [N]."""
        return float(self._wanted[self._links.index(link)])
