"""Pressing: which joints govern which contact, and how far they go for a wanted force."""

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ...hand import HandModel, link_poses_and_jacobians
from ..hypotheses.hand_geometry import Finger
from .grasp_state import StateRow

Array = NDArray[np.float64]

#: A link that moves along the contact's normal by less than this share of its speed
#: cannot press there.
MIN_FRONTAL_SHARE = 0.05
#: A link that comes nearer by less than this share of the most possible passes by.
LEAST_SEEN_SHARE = 0.4
#: Powers with which force grows with indentation: flat contact, and edges losing contact.
POWERS = (1.0, 2.0)
#: Force's power that grows about evenly with indentation: Hertz's two thirds, and edges.
FORCE_ROOT = 0.6
#: Tries of a contact that are remembered; older ones were made with other joints inside it.
REMEMBERED = 4
#: Tries after which steps by stiffness give way to those between tries.
PATIENCE = 9
#: By so much a step grows each time that it brings no force.
UNFELT_GROWTH = 2.0
#: Part of the way between two tries at which the next is made, at least and at most.
BETWEEN = (0.1, 0.9)


@dataclass(frozen=True, eq=False)
class Control:
    """A link in contact, and the joints (of one finger) that set its force."""

    finger: int
    link: int
    joints: tuple[int, ...]


class TriedForces:
    """
    What joints bore before, so that they stay between too little and too much.

    Near an edge of the object force grows by a power far from that of the tangent, and
    steps by the contact's stiffness swing between none and a multiple.
    """

    def __init__(self) -> None:
        """Start without tries."""
        self._tried: dict[int, list[tuple[float, float]]] = {}
        self._count: dict[int, int] = {}
        self._unfelt: dict[int, int] = {}

    def note(self, controls: list[Control], fractions: Array, forces: Array) -> None:
        """Take note of the forces (controls,) [N] at closing fractions (J,)."""
        for control, force in zip(controls, forces):
            tried = self._tried.setdefault(control.link, [])
            self._count[control.link] = self._count.get(control.link, 0) + 1
            self._unfelt[control.link] = (0 if force > 0.0
                                          else self._unfelt.get(control.link, 0) + 1)
            tried.append((float(fractions[control.joints[-1]]), float(force)))
            del tried[:-REMEMBERED]

    def growth(self, controls: list[Control]) -> Array:
        """
        Return by how much the step of each control (controls,) without force is to grow.

        A link is near as soon as the bulge of a coarse object's curved surface may be there;
        the surface itself may be farther than the indentation of a stiff or a light object.
        """
        unfelt = [min(self._unfelt.get(c.link, 0), PATIENCE) for c in controls]
        return UNFELT_GROWTH ** np.array(unfelt, float)

    def confine(self, controls: list[Control], fractions: Array, steps: Array,
                targets: Array) -> Array:
        """
        Return steps (J,) that leave no joint outside the tries that enclose its target.

        Parameters
        ----------
        controls : list of Control
        fractions, steps : (J,) float
            Closing fractions, and their proposed changes.
        targets : (controls,) float
            Wanted forces [N]; NaN: free.

        Notes
        -----
        Own choice: regula falsi on a power of the force that grows about evenly.
        """
        steps = steps.copy()
        for control, target in zip(controls, targets):
            joint = control.joints[-1]
            aim = self._aim(control.link, float(target), fractions[joint] + steps[joint])
            steps[list(control.joints)] += aim - fractions[joint] - steps[joint]
        return steps

    def _aim(self, link: int, target: float, aim: float) -> float:
        """
        Return the fraction to try, where tries enclose the target one between them.

        After ``PATIENCE`` tries also where the proposed one lies between them: where the force
        grows nearly twice as fast as taken, steps by stiffness swing for long.
        """
        tried = self._tried.get(link, [])
        low = max((row for row in tried if row[1] < target), default=None)
        high = min((row for row in tried if row[1] >= target), default=None)
        if low is None or high is None or not low[0] < high[0]:
            return aim
        if low[0] < aim < high[0] and self._count[link] < PATIENCE:
            return aim
        less, wanted, more = (force ** FORCE_ROOT for force in (low[1], target, high[1]))
        share = min(max((wanted - less) / (more - less), BETWEEN[0]), BETWEEN[1])
        return float(low[0] + share * (high[0] - low[0]))


def contact_controls(fingers: tuple[Finger, ...], arrived: NDArray[np.bool_]) -> list[Control]:
    """
    Return the controls of all fingers, from the palm outwards.

    Parameters
    ----------
    fingers : tuple of Finger
    arrived : (L,) bool
        Links in contact.

    Returns
    -------
    list of Control
        Each link in contact is governed by the joints between it and the last link in
        contact before it.
    """
    controls = []
    for number, finger in enumerate(fingers):
        start = 0
        for i, link in enumerate(finger.links):
            if arrived[link]:
                controls.append(Control(number, link, finger.joints[start:i + 1]))
                start = i + 1
    return controls


def press_steps(hand: HandModel, joints: Array, T_object_palm: Array, rates: Array,
                fingers: tuple[Finger, ...], controls: list[Control], state: StateRow,
                targets: Array, first_depths: Array, max_depth: float,
                observed_speeds: Array) -> Array:
    """
    Return changes of the closing fractions towards wanted normal forces.

    Parameters
    ----------
    hand : HandModel
    joints : (J,) float
        Present joint positions [rad].
    T_object_palm : (4, 4) float
    rates : (J,) float
        Way of each joint from open to closed [rad].
    fingers : tuple of Finger
    controls : list of Control
    state : StateRow
        The stages' answer for ``joints``.
    targets : (controls,) float
        Wanted normal force [N]; NaN: come to touch with its first depth.
    first_depths : (controls,) float
        Indentation of a first touch [m].
    max_depth : float
        Most that one step adds [m].
    observed_speeds : (L,) float
        How much nearer each link came in the last step, over the fraction of its joint [m];
        NaN where it was not seen.

    Returns
    -------
    (J,) float
        Change of each joint's fraction.

    Notes
    -----
    Source: METHODS 4.5 (seed 001, correction of joint angles). Departure: the contact's
    force is taken to grow as a power m = k d / N of the indentation d, as it does between
    a flat (1) and a ball (1.5), so that the step is right to second order; joints inside
    a contact are accounted for further out.

    """
    T_palm_link, jacobians = (rows[0] for rows in link_poses_and_jacobians(hand, joints[None]))
    steps = np.zeros(len(joints))
    for control, target, first_depth in zip(controls, targets, first_depths):
        depth = _depth_change(control, state, target, first_depth, max_depth)
        speeds = _press_speeds(control, state, T_object_palm, T_palm_link, jacobians, rates)
        if speeds is None:
            finger = fingers[control.finger]
            row = finger.reach[finger.links.index(control.link)]
            speeds = np.zeros(len(joints))
            speeds[list(finger.joints)] = row * np.abs(rates[list(finger.joints)])
            speeds *= _seen_share(observed_speeds[control.link],
                                  speeds[list(control.joints)].sum())
        own = list(control.joints)
        speed = speeds[own].sum()
        if speed > MIN_FRONTAL_SHARE * np.abs(rates[own]).sum() * _lever(fingers, control):
            steps[own] = (depth - speeds @ steps) / speed
    return steps


def _seen_share(observed: float, bound: float) -> float:
    """Return the approach seen in the last step as a part of the most there could be."""
    if np.isnan(observed) or bound <= 0.0:
        return 1.0
    return float(min(max(observed / bound, LEAST_SEEN_SHARE), 1.0))


def _lever(fingers: tuple[Finger, ...], control: Control) -> float:
    finger = fingers[control.finger]
    return float(finger.reach[finger.links.index(control.link)].max())


def _depth_change(control: Control, state: StateRow, target: float, first_depth: float,
                  max_depth: float) -> float:
    on_link = state.links == control.link
    force = state.normal_forces[on_link].sum()
    if not np.isfinite(target) or force <= 0.0:
        return float(state.clearance[control.link] + first_depth) if force <= 0.0 else 0.0
    depth = float(state.depth[control.link])
    power = float(state.normal_stiffness[on_link].sum() * depth / force)
    power = min(max(power, POWERS[0]), POWERS[1])
    change = depth * ((target / force) ** (1.0 / power) - 1.0)
    return float(min(max(change, -max_depth), max_depth))


def _press_speeds(control: Control, state: StateRow, T_object_palm: Array, T_palm_link: Array,
                  jacobians: Array, rates: Array) -> Array | None:
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
    speeds: Array = mean_speeds(share, normals, offsets, jacobians[control.link]) * rates
    return speeds


@njit(cache=True)
def mean_speeds(shares: Array, normals: Array, offsets: Array, jacobian: Array) -> Array:
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
