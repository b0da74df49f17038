"""A hand that closes by touch on a free object and presses on: how much it then bears."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ...arrays import Array
from ...bodies import GraspObject
from ...hand import HandModel
from ..options import ClosingDynamics
from .closing_motion import bears_loads, squeeze
from .motion import MovingObject

#: Normal force from which a finger has touched [N].
TOUCHED = 0.05
#: Way of the fastest joint in the time of closing [rad or m], and most of such times.
REACH, MOST_TIMES = 0.5, 2.0
#: Steps by which a finger opens until it is free, and beyond [rad or m], and how many at most.
OPENING_STEP, ROOM, MOST_OPENINGS = 0.02, 0.04, 50
#: Torques with which joints press on after the touch, as shares of their limit [-]: the better
#: counts, since a hand may choose, and one that presses harder squeezes slippery things out.
PRESS_SHARES = (0.3, 0.6)
#: Shift and turn under a load from which the object is lost [m, rad]: twice what grasps of a plan
#: are allowed, since of a given one is asked whether it holds, not how firmly.
LOST_SHIFT, LOST_TURN = 0.01, np.deg2rad(8.0)
#: Least and largest multiple of the loads that is told [-], ratio of steps between, halvings.
LEAST, MOST, STEP, HALVINGS = 0.1, 64.0, 2.0, 4


def in_shares(most: Array) -> list[Array]:
    """Return the presses (J,) [rad] of ``PRESS_SHARES`` of all that the joints can."""
    return [share * most for share in PRESS_SHARES]


def touch_margin(grasp_object: GraspObject, hand: HandModel, T_object_palm: Array, joints: Array,
                 rates: Array, loads: Array, dynamics: ClosingDynamics) -> float:
    """Return the better of ``press_margins``, whose parameters these are."""
    return max(press_margins(grasp_object, hand, T_object_palm, joints, rates, loads, dynamics))


def press_margins(grasp_object: GraspObject, hand: HandModel, T_object_palm: Array, joints: Array,
                  rates: Array, loads: Array, dynamics: ClosingDynamics,
                  presses: Callable[[Array], Sequence[Array]] = in_shares, at_least: float = 0.0
                  ) -> Iterator[float]:
    """
    Yield which multiples of the loads a free object bears in a hand that closed by touch.

    Parameters
    ----------
    grasp_object : GraspObject
        It floats.
    hand : HandModel
    T_object_palm : (4, 4) float
        Of the palm, which stands still, in the object before.
    joints : (J,) float
        Of the grasp [rad]; the fingers open from there until they are free, and a little more.
    rates : (J,) float
        Directions in which they close.
    loads : (c, 9) float
        Load cases, see ``grasp_map.load_cases``.
    dynamics : ClosingDynamics
    presses : callable, optional
        Returns how far the joints press on beyond the touch, each (J,) [rad], of how far they can
        with the torques of their limits (J,) [rad].
    at_least : float, optional
        Whoever bears less need not be told apart: 0, after a part of the work.

    Yields
    ------
    float
        For each of ``presses``; 0 where the object is pushed out or fewer than two fingers
        touch.

    Notes
    -----
    Own choice: each finger closes until it touches and waits there; then the joints of those
    that touch are sent on until, held, they exert the torques of a press; then the loads grow
    (``bears_loads``). Neither deformation nor damage is looked at.
    """
    rates = rates / np.abs(rates).max()
    opened = _opened(grasp_object, hand, T_object_palm, joints, rates, dynamics)
    moving = MovingObject(grasp_object, hand, T_object_palm, opened, dynamics)
    command, touching = close_by_touch(moving, hand, opened, rates, dynamics)
    for press in presses(pressing_beyond(hand, rates, touching)):
        yield _borne(moving.copy(), grasp_object, command, np.clip(
            command + press, hand.joint_lower, hand.joint_upper), loads, dynamics, at_least
            ) if len(touching) > 1 else 0.0


def _borne(moving: MovingObject, grasp_object: GraspObject, command: Array, pressing: Array,
           loads: Array, dynamics: ClosingDynamics, at_least: float) -> float:
    """Return which multiple of the loads is borne by joints that are sent on."""
    squeeze(moving, command, pressing, dynamics)
    return _largest(lambda multiple: bears_loads(
        moving.copy(), grasp_object, pressing, multiple * loads, LOST_SHIFT, LOST_TURN,
        again=False), at_least)


def _opened(grasp_object: GraspObject, hand: HandModel, T_object_palm: Array, joints: Array,
            rates: Array, dynamics: ClosingDynamics) -> Array:
    """Return joints (J,) with each finger opened until it is free, and ``ROOM`` more."""
    opened = np.clip(joints, hand.joint_lower, hand.joint_upper)
    for finger in hand.fingers:
        own, links = list(finger.joints), list(finger.links)
        left = MOST_OPENINGS
        while left > 0:
            moving = MovingObject(grasp_object, hand, T_object_palm, opened, dynamics)
            moving.follow(opened[None])
            free = moving.normal_forces[links].max() <= 0.0
            left = 0 if free else left - 1
            opened[own] = np.clip(opened[own] - (ROOM if free else OPENING_STEP) * rates[own],
                                  hand.joint_lower[own], hand.joint_upper[own])
    return opened


def pressing_beyond(hand: HandModel, rates: Array, touching: set[int]) -> Array:
    """Return how far beyond the touch the joints of fingers press with all they can (J,) [rad]."""
    on = np.zeros(len(rates))
    for finger in touching:
        on[list(hand.fingers[finger].joints)] = 1.0
    press: Array = on * np.sign(rates) * hand.joint_efforts / hand.joint_stiffness
    return press


def close_by_touch(moving: MovingObject, hand: HandModel, opened: Array, rates: Array,
                   dynamics: ClosingDynamics) -> tuple[Array, set[int]]:
    """Close each finger until it touches; return the joints' command and the fingers."""
    step = REACH * dynamics.time_step / dynamics.closing_time * rates
    return moving.follow_to_touch(
        opened, step, TOUCHED, int(MOST_TIMES * dynamics.closing_time / dynamics.time_step))


def _largest(bears: Callable[[float], bool], at_least: float) -> float:
    """Return the largest multiple that is borne, from 0 to ``MOST``; 0 below ``at_least``."""
    if at_least > 0.0 and not bears(at_least):
        return 0.0
    low, high = 0.0, LEAST
    while high < MOST and bears(high):
        low, high = high, high * STEP
    if high >= MOST:
        return MOST
    for _ in range(HALVINGS):
        middle = float(np.sqrt(low * high)) if low > 0.0 else 0.5 * high
        low, high = (middle, high) if bears(middle) else (low, middle)
    return low
