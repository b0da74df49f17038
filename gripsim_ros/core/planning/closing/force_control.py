"""Force control: which joints govern which contact, and their steps towards wanted forces."""

from dataclasses import dataclass, replace
from itertools import takewhile

import numpy as np

from ...arrays import Array, BoolArray, IntArray
from ...hand import HandModel, link_poses_and_jacobians
from ...numerics.kernels import njit
from ..hypotheses.hand_geometry import Mechanism
from .grasp_state import GraspState


#: Smallest speed along the contact's normal over the link's speed with which it can press [-].
MIN_NORMAL_RATIO = 0.05
#: Smallest observed approach of a link over its bound [-]; one that is slower passes by.
MIN_APPROACH_RATIO = 0.4
#: Range of the power with which force grows with indentation [-]: flat contact, and edges
#: that lose contact.
FORCE_EXPONENTS = (1.0, 2.0)
#: Power of the force that is about linear in indentation [-]: Hertz's two thirds, less at edges.
LINEARISING_POWER = 0.6
#: Trials remembered of a contact; before older ones the joints nearer to the palm were elsewhere.
HISTORY_LENGTH = 4
#: Trials after which steps by stiffness give way to interpolation between trials.
BRACKETING_DELAY = 9
#: Factor on a step for each step before it that brought no force [-].
NO_FORCE_GROWTH = 2.0
#: Least and largest part of the interval between two trials at which the next is made [-].
BRACKET_RANGE = (0.1, 0.9)


@dataclass(frozen=True, eq=False)
class ContactControl:
    """
    A link in contact, and the joints of its mechanism that control its force.

    ``others`` are further links in contact of the same finger that no joint moves apart from it:
    their forces count as its own.
    """

    mechanism: int
    link: int
    joints: tuple[int, ...]
    others: tuple[int, ...] = ()

    def bears(self, links: IntArray) -> BoolArray:
        """Return for each of some patches' links (k,) whether its force counts here."""
        found: BoolArray = links == self.link
        for other in self.others:
            found = found | (links == other)
        return found


class ForceHistory:
    """
    Forces of earlier steps, which bracket the joint positions of the wanted forces.

    Near an edge of the object force grows by a power far from that of the tangent, and
    steps by the contact's stiffness oscillate between no force and a multiple.
    """

    def __init__(self) -> None:
        """Start without trials."""
        self._trials: dict[int, list[tuple[float, float]]] = {}

    def note(self, controls: list[ContactControl], fractions: Array, forces: Array) -> None:
        """Take note of the forces (controls,) [N] at closing fractions (J,)."""
        for control, force in zip(controls, forces):
            trials = self._trials.setdefault(control.link, [])
            trials.append((float(fractions[control.joints[-1]]), float(force)))

    def step_growth(self, controls: list[ContactControl]) -> Array:
        """
        Return the factor on the step of each control (controls,) that is still without force.

        Contact is assumed as soon as the bulge of a coarse object's curved surface may be there;
        the surface itself may be farther than the indentation of a stiff or a light object.
        """
        latest = (self._trials.get(c.link, [])[:-BRACKETING_DELAY - 1:-1] for c in controls)
        counts = [sum(1 for _ in takewhile(lambda trial: trial[1] <= 0.0, trials))
                  for trials in latest]
        return NO_FORCE_GROWTH ** np.array(counts, float)

    def bracket_steps(self, controls: list[ContactControl], fractions: Array, steps: Array,
                      targets: Array) -> Array:
        """
        Return steps (J,) that keep each joint between the trials that bracket its target.

        Parameters
        ----------
        controls : list of ContactControl
        fractions, steps : (J,) float
            Closing fractions, and their proposed changes.
        targets : (controls,) float
            Wanted forces [N]; NaN: free.

        Notes
        -----
        Own choice: regula falsi on a power of the force that is about linear in indentation.
        """
        steps = steps.copy()
        for control, target in zip(controls, targets):
            joint = control.joints[-1]
            fraction = self._bracketed(
                control.link, float(target), fractions[joint] + steps[joint])
            steps[list(control.joints)] += fraction - fractions[joint] - steps[joint]
        return steps

    def _bracketed(self, link: int, target: float, proposed: float) -> float:
        """
        Return the next fraction: the proposed one, or one between trials that bracket the target.

        After ``BRACKETING_DELAY`` trials interpolation replaces a proposal within the bracket too:
        where the force grows nearly twice as fast as assumed, steps by stiffness oscillate long.
        """
        known = self._trials.get(link, [])
        trials = known[-HISTORY_LENGTH:]
        low = max((row for row in trials if row[1] < target), default=None)
        high = min((row for row in trials if row[1] >= target), default=None)
        if low is None or high is None or not low[0] < high[0]:
            return proposed
        if low[0] < proposed < high[0] and len(known) < BRACKETING_DELAY:
            return proposed
        less, wanted, more = (force ** LINEARISING_POWER for force in (low[1], target, high[1]))
        share = min(max((wanted - less) / (more - less), BRACKET_RANGE[0]), BRACKET_RANGE[1])
        return float(low[0] + share * (high[0] - low[0]))


def contact_controls(mechanisms: tuple[Mechanism, ...],
                     in_contact: BoolArray) -> list[ContactControl]:
    """
    Return the controls of all mechanisms, from the palm outwards.

    Parameters
    ----------
    mechanisms : tuple of Mechanism
    in_contact : (L,) bool
        Of each link.

    Returns
    -------
    list of ContactControl
        Each link in contact is governed by the joints between it and the last link in contact
        of its finger before it. Fingers that share joints have a control each.
    """
    controls: list[ContactControl] = []
    for number, mechanism in enumerate(mechanisms):
        latest, used = -1, set[int]()
        for row, link in enumerate(mechanism.links):
            if not in_contact[link]:
                continue
            finger = int(mechanism.fingers[row])
            used, latest = (used if finger == latest else set()), finger
            moving = mechanism.movers[row]
            own = tuple(joint for joint in moving if joint not in used)
            if own:
                controls.append(ContactControl(number, link, own))
            else:
                controls[-1] = replace(controls[-1], others=(*controls[-1].others, link))
            used |= set(moving)
    return controls


def force_control_steps(hand: HandModel, joints: Array, T_object_palm: Array, rates: Array,
                        mechanisms: tuple[Mechanism, ...], controls: list[ContactControl],
                        state: GraspState, targets: Array, first_depths: Array,
                        max_depth: float, observed_speeds: Array) -> tuple[Array, Array]:
    """
    Return changes of the closing fractions, and of the palm, towards wanted normal forces.

    Parameters
    ----------
    hand : HandModel
    joints : (J,) float
        Present joint positions [rad].
    T_object_palm : (4, 4) float
    rates : (J,) float
        Displacement of each joint from open to closed [rad].
    mechanisms : tuple of Mechanism
    controls : list of ContactControl
    state : GraspState
        The stages' answer for ``joints``.
    targets : (controls,) float
        Wanted normal force [N]; NaN: make contact with its first depth.
    first_depths : (controls,) float
        Indentation of a first contact [m].
    max_depth : float
        Largest indentation that one step adds [m].
    observed_speeds : (L,) float
        Approach of each link in the last step, over the fraction of its joint [m]; NaN where
        it was not observed.

    Returns
    -------
    steps : (J,) float
        Change of each joint's fraction.
    shift : (3,) float
        Translation of the palm, frame object [m]: 0 but for fingers that share joints. They
        cannot press alike by these alone; a body that is free gives way between them, and here
        the palm is moved instead.

    Notes
    -----
    Source: METHODS 4.5 (seed 001, correction of joint angles). Departures: the contact's
    force is taken to grow as a power m = k d / N of the indentation d, as it does between
    a flat (1) and a ball (1.5), so that the step is right to second order; what the other
    contacts press counts in d, and all steps are found together; joints inside a contact are
    accounted for further out.
    """
    T_palm_link, jacobians = (rows[0] for rows in link_poses_and_jacobians(hand, joints[None]))
    steps, shift = np.zeros(len(joints)), np.zeros(3)
    coupled: dict[int, list[tuple[Array, Array, float]]] = {}
    depths = _depth_changes(controls, state, targets, first_depths, max_depth)
    for control, depth in zip(controls, depths.tolist()):
        mechanism = mechanisms[control.mechanism]
        levers = mechanism.lever_arms[mechanism.links.index(control.link)]
        speeds = _normal_speeds(control, state, T_object_palm, T_palm_link, jacobians, rates)
        if speeds is None:
            speeds = np.zeros(len(joints))
            speeds[list(mechanism.joints)] = levers * np.abs(rates[list(mechanism.joints)])
            speeds *= _approach_ratio(observed_speeds[control.link],
                                      speeds[list(control.joints)].sum())
        if mechanism.is_coupled:
            inward = _inward(control, state, hand, T_object_palm, T_palm_link)
            coupled.setdefault(control.mechanism, []).append((speeds, inward, depth))
            continue
        own = list(control.joints)
        speed = speeds[own].sum()
        if speed > MIN_NORMAL_RATIO * np.abs(rates[own]).sum() * levers.max():
            steps[own] = (depth - speeds @ steps) / speed
    for number, rows in coupled.items():
        own = list(mechanisms[number].joints)
        steps[own], moved = _shared_steps(rows, own)
        shift += moved
    return steps, shift


def _shared_steps(rows: list[tuple[Array, Array, float]], joints: list[int]
                  ) -> tuple[Array, Array]:
    """
    Return the smallest steps of shared joints, and shift of the palm, for wanted depths.

    A row has the speeds of a contact (J,) [m], its inward normal and the depth to be added [m].
    """
    speeds, inward = (np.array([row[k] for row in rows]) for k in (0, 1))
    length = max(float(np.abs(speeds[:, joints]).max()), 1e-9)
    matrix = np.hstack([speeds[:, joints] / length, inward])
    found = np.linalg.lstsq(matrix, np.array([row[2] for row in rows]), rcond=1e-3)[0]
    return found[:-3] / length, found[-3:]


def _inward(control: ContactControl, state: GraspState, hand: HandModel, T_object_palm: Array,
            T_palm_link: Array) -> Array:
    """Return the direction (3,), frame object, in which a link presses: of its forces or pad."""
    on_link = control.bears(state.links)
    forces = state.normal_forces[on_link]
    normal: Array = forces @ state.normals[on_link] if forces.sum() > 0.0 else (
        T_object_palm[:3, :3] @ T_palm_link[control.link, :3, :3]
        @ hand.links[control.link].pad_normal)
    return normal / max(float(np.linalg.norm(normal)), 1e-12)


def _approach_ratio(observed: float, bound: float) -> float:
    """Return the approach observed in the last step over its bound."""
    if np.isnan(observed) or bound <= 0.0:
        return 1.0
    return float(min(max(observed / bound, MIN_APPROACH_RATIO), 1.0))


def _depth_changes(controls: list[ContactControl], state: GraspState, targets: Array,
                   first_depths: Array, max_depth: float) -> Array:
    """
    Return by how much each control is to come nearer (controls,) [m].

    Contacts feel each other: the object bulges, sinks or bends elsewhere. The depth counted for
    each is that at which it would bear as much if it were pressed alone, by the stiffness at
    present, and the changes of all that bring these depths to the wanted forces are solved for.
    """
    bearing = np.array([control.bears(state.links) for control in controls])
    forces = bearing @ state.normal_forces
    pressing = [control.link for control in controls]
    changes = np.where(forces > 0.0, 0.0, state.clearance[pressing] + first_depths)
    led = np.flatnonzero((forces > 0.0) & np.isfinite(targets))
    if len(led):
        every = _stiffness(controls, state)
        stiffness, present = every[np.ix_(led, led)], forces[led]
        own = np.diag(stiffness)
        depths = every[led] @ state.depth[pressing] / own
        exponents = np.clip(own * depths / present, *FORCE_EXPONENTS)
        wanted = exponents * present / own * ((targets[led] / present) ** (1.0 / exponents) - 1.0)
        changes[led] = np.clip(np.linalg.solve(stiffness / own[:, None], wanted),
                               -max_depth, max_depth)
    return changes


def _stiffness(controls: list[ContactControl], state: GraspState) -> Array:
    """Return the force that each control gains as each comes nearer [N/m]."""
    count = len(state.link_stiffness)
    own = np.array([control.bears(np.arange(count)) for control in controls], float)
    return np.asarray(own @ state.link_stiffness @ own.T)


def _normal_speeds(control: ContactControl, state: GraspState, T_object_palm: Array,
                   T_palm_link: Array, jacobians: Array, rates: Array) -> Array | None:
    """Return per joint the speed along the contact's normal for a unit fraction (J,)."""
    on_link = state.links == control.link
    forces = state.normal_forces[on_link]
    if forces.sum() <= 0.0:
        return None
    share = forces / forces.sum()
    R_palm_object = T_object_palm[:3, :3].T
    points = (state.points[on_link] - T_object_palm[:3, 3]) @ R_palm_object.T
    normals = state.normals[on_link] @ R_palm_object.T
    offsets = points - T_palm_link[control.link, :3, 3]
    return mean_normal_speeds(share, normals, offsets, jacobians[control.link]) * rates


@njit(cache=True)
def mean_normal_speeds(shares: Array, normals: Array, offsets: Array, jacobian: Array) -> Array:
    """
    Return a link's speed along normals, averaged over points, for unit joint speeds (J,).

    ``shares (k,)``, ``normals (k, 3)`` and ``offsets (k, 3)`` from the link's origin are those
    of the points; ``jacobian (6, J)`` is that of the origin.
    """
    speeds = np.zeros(jacobian.shape[1])
    for j in range(len(speeds)):
        wx, wy, wz = jacobian[3, j], jacobian[4, j], jacobian[5, j]
        for k in range(len(shares)):
            x, y, z = offsets[k, 0], offsets[k, 1], offsets[k, 2]
            speeds[j] += shares[k] * normals[k, 0] * (jacobian[0, j] + (wy * z - wz * y))
            speeds[j] += shares[k] * normals[k, 1] * (jacobian[1, j] + (wz * x - wx * z))
            speeds[j] += shares[k] * normals[k, 2] * (jacobian[2, j] + (wx * y - wy * x))
    return speeds
