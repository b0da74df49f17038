"""Fingers that share joints: where the palm must be for all of them to touch."""

from dataclasses import replace

import numpy as np

from ...arrays import Array, BoolArray
from ...hand import HandModel, link_poses_and_jacobians
from ...transforms import cross
from ..hypotheses.generate import Hypothesis
from ..hypotheses.hand_geometry import Mechanism
from .knowledge import ClosingKnowledge


#: Largest number of times that the palm is moved for one grasp, and total shift [m].
MAX_SHIFTS, LONGEST_SHIFT = 8, 0.05
#: Largest shift while fingers press [m], for which the open hand keeps that much more clearance.
PRESSING_SHIFT = 0.0005
#: Largest cosine of directions of two fingers that press against each other [-].
OPPOSED = -0.3


def shifted(hypothesis: Hypothesis, shift: Array) -> Hypothesis:
    """Return a hypothesis with its palm moved by (3,) in the object's frame [m]."""
    if not shift.any():
        return hypothesis
    T_object_palm = hypothesis.T_object_palm.copy()
    T_object_palm[:3, 3] += shift
    return replace(hypothesis, T_object_palm=T_object_palm)


def pressing_shift(known: ClosingKnowledge, shift: Array) -> Array:
    """Return the palm's total shift with one of pressing fingers added, within their room [m]."""
    if not shift.any():
        return known.shift
    offset: Array = known.shift + shift - known.checked_shift
    share = PRESSING_SHIFT / max(float(np.linalg.norm(offset)), PRESSING_SHIFT)
    return known.checked_shift + share * offset


def balancing_shift(mechanisms: tuple[Mechanism, ...], hand: HandModel, joints: Array,
                    rates: Array, R_object_palm: Array, clearance: Array,
                    known: ClosingKnowledge) -> Array | None:
    """
    Return the shift of the palm (3,) after which two opposed fingers come to touch alike.

    Parameters
    ----------
    mechanisms : tuple of Mechanism
    hand : HandModel
    joints, rates : (J,) float
        Present joint positions, and their displacement from open to closed.
    R_object_palm : (3, 3) float
    clearance : (L,) float
        Of the links [m].
    known : ClosingKnowledge

    Returns
    -------
    (3,) float or None
        Frame object [m]. None where all is well: of no fingers that share joints one touches
        before one that opposes it; or where the palm was moved too often or too far already.

    Notes
    -----
    Own formulation. Shifted by c against its own direction a, the finger that touches gains the
    gap c, and one of direction b that has the gap g keeps g + c a.b: both are equal for
    c = g / (1 - a.b).
    """
    for mechanism in mechanisms:
        if not mechanism.is_coupled or known.shifts >= MAX_SHIFTS:
            continue
        directions = closing_directions(mechanism, hand, joints, rates) @ R_object_palm.T
        touches = known.in_contact[list(mechanism.links)]
        shift = _balanced(directions, clearance[list(mechanism.links)], touches)
        if shift is not None and np.linalg.norm(known.shift + shift) <= LONGEST_SHIFT:
            return shift
    return None


def _balanced(directions: Array, gaps: Array, touches: BoolArray) -> Array | None:
    """Return the shift for directions (n, 3) and gaps (n,) of links; None: none is needed."""
    touching = np.flatnonzero(touches)
    opposed = directions @ directions.T < OPPOSED
    if opposed[np.ix_(touching, touching)].any():
        return None
    pairs = [(float(gaps[j]), int(i), int(j))
             for i in touching for j in np.flatnonzero(opposed[i])]
    if not pairs:
        return None
    gap, i, j = min(pairs)
    return -gap / (1.0 - directions[i] @ directions[j]) * directions[i]


def closing_directions(mechanism: Mechanism, hand: HandModel, joints: Array, rates: Array
                       ) -> Array:
    """Return the unit velocity (links, 3) of each link's pad as the joints close, frame palm."""
    poses, jacobians = (rows[0, list(mechanism.links)]
                        for rows in link_poses_and_jacobians(hand, joints[None]))
    own = np.zeros(len(rates))
    own[list(mechanism.joints)] = rates[list(mechanism.joints)]
    twists = jacobians @ own
    arms = np.array([pose[:3, :3] @ hand.links[link].pad_point
                     for pose, link in zip(poses, mechanism.links)])
    velocities = twists[:, :3] + cross(twists[:, 3:], arms)
    return velocities / np.maximum(np.linalg.norm(velocities, axis=1, keepdims=True), 1e-12)
