"""Which way of closing given joints belong to, of the preshapes of a hand."""

import numpy as np

from ...arrays import Array
from ...hand import HandModel, Preshape
from .hand_geometry import find_fingers


def nearest_preshape(hand: HandModel, joints: Array) -> int:
    """
    Return the number of the preshape by which given joints (J,) [rad] close.

    That whose joints which close no finger, such as the SDH's pivot, are nearest; of equal ones
    that whose straight way from open to closed passes nearest.
    """
    closing = np.zeros(len(joints), dtype=bool)
    for finger in find_fingers(hand):
        closing[list(finger.joints)] = True

    def distance(preshape: Preshape) -> tuple[float, float]:
        away = _away(preshape.open, preshape.closed, joints)
        return (round(float(np.abs(away[~closing]).max(initial=0.0)), 6),
                float(np.abs(away[closing]).max(initial=0.0)))

    return min(range(len(hand.preshapes)), key=lambda i: distance(hand.preshapes[i]))


def _away(start: Array, end: Array, joints: Array) -> Array:
    """Return how far joints (k,) are from the nearest on the straight way from start to end."""
    rates = end - start
    share = (joints - start) @ rates / max(float(rates @ rates), 1e-12)
    away: Array = joints - start - np.clip(share, 0.0, 1.0) * rates
    return away


def way_of_finger(hand: HandModel, own: list[int], joints: Array) -> Array:
    """
    Return how a finger's joints (k,) [rad] close by the preshape that moves them.

    Of several that which passes nearest to the given joints (J,) [rad].
    """
    ways = [(p.open[own], p.closed[own]) for p in hand.preshapes if _moves(p, own)]
    start, end = min(ways, key=lambda way: float(np.abs(_away(way[0], way[1], joints[own])).max()))
    return end - start


def _moves(preshape: Preshape, own: list[int]) -> bool:
    return bool((np.abs(preshape.closed[own] - preshape.open[own]) > 1e-9).any())
