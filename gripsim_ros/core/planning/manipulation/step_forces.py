"""The least forces that hold a moved object with the reserve of its grasp, link by link."""

from collections.abc import Mapping

import numpy as np

from ...arrays import Array
from ...hand import HandModel
from ...transforms import apply
from ..closing.force_level import ForceLevel, force_logarithms
from ..closing.grasp_state import GraspState, exceeds_limits, sums_by_link
from ..options import PlannerOptions
from .kinematics import Fingertips, bounded_least_squares, contact_jacobian


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
    wanted : (links,) float
        Normal forces wanted at the links [N].

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
        self.wanted: Array = np.zeros(len(links))
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
        self.wanted = self._level.targets(minimal)
        self.excess = float(forces.sum()) / max(float(self.wanted.sum()), 1e-12)


def pressing_change(hand: HandModel, joints: Array, T_palm_object: Array,
                    lacking: Mapping[int, float], state: GraspState, before: GraspState,
                    most: float) -> Array:
    """
    Return the change of joints by which links come to press as they should (J,) [rad].

    Parameters
    ----------
    hand : HandModel
    joints : (J,) float
        Of the state [rad].
    T_palm_object : (4, 4) float
        There.
    lacking : mapping of int to float
        By how much each link's normal force is too small [N].
    state : GraspState
        One that touches there no longer also goes as far as it is from the object.
    before : GraspState
        Of the step before: where such a link touched, and how stiff.
    most : float
        Largest change of a joint [rad].

    Returns
    -------
    (J,) float
        Zero where there is no such change.
    """
    approaches, rows = [], []
    for link, force in lacking.items():
        touches = link in state.links
        seen = state if touches else before
        stiffness = float(seen.normal_stiffness[seen.links == link].sum())
        approaches.append((0.0 if touches else float(state.clearance[link])) + force / stiffness)
        k = strongest_patch(seen, link)
        point = apply(T_palm_object, seen.points[k][None])
        jacobian = contact_jacobian(hand, joints, Fingertips(np.array([link]), point))
        rows.append(T_palm_object[:3, :3] @ seen.normals[k] @ jacobian)
    if not rows or not np.isfinite(approaches).all():
        return np.zeros(len(joints))
    change = bounded_least_squares(np.array(rows), np.array(approaches), hand.joint_lower - joints,
                                   hand.joint_upper - joints)
    return np.clip(change, -most, most)


def strongest_patch(state: GraspState, link: int) -> int:
    """Return the patch of a link that bears the most force."""
    on_link = np.flatnonzero(state.links == link)
    return int(on_link[np.argmax(state.normal_forces[on_link])])
