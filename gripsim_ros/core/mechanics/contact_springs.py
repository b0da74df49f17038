"""
What one contact of a held object bears at the object's twist: springs, cut to the friction.

Arrays are those of ``equilibrium.py``, which balances all contacts.
"""

from numba import njit
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Rows of a contact: the first slide and twist, the last two tilt.
ROWS, SLIDING = 6, 4


@njit(cache=True)
def contact_response(x: Array, motion: Array, start: Array, stiffness: Array, friction: float,
                     response: Array) -> None:
    """
    Fill forces and tangents of one contact at the scaled twist x.

    ``response`` (6, 8): column 0 the forces ``(n, t1, t2, torsion / r_e, tilts)``, columns
    1 to 6 their derivatives by the contact's displacements, column 7 scratch.
    """
    response[:, :7] = 0.0
    response[0, 0], response[4, 0], response[5, 0] = start
    for a in range(ROWS):
        for b in range(6):
            response[a, 0] -= stiffness[a] * motion[a, b] * x[b]
    if response[0, 0] <= 0.0:
        response[:, 0] = 0.0
        return
    yield_to(friction, stiffness, response)


@njit(cache=True)
def yield_to(friction: float, stiffness: Array, response: Array) -> None:
    """Return the forces of springs to what the contact bears, and fill their derivatives."""
    for a in range(ROWS):
        for b in range(ROWS):
            response[a, b + 1] = -stiffness[a] if a == b else 0.0
    confine(1, SLIDING, friction, stiffness, response)
    confine(SLIDING, ROWS, 1.0, stiffness, response)


@njit(cache=True)
def confine(first: int, last: int, share: float, stiffness: Array, response: Array) -> None:
    """Return trial forces beyond a share of the normal force to it, along their own ray."""
    size = 0.0
    for a in range(first, last):
        size += response[a, 0] ** 2
    size, limit = np.sqrt(size), share * response[0, 0]
    if size <= limit:
        return
    for a in range(first, last):
        response[a, 7] = response[a, 0] / size
    for a in range(first, last):
        direction = response[a, 7]
        response[a, 0] = limit * direction
        response[a, 1] = -share * stiffness[0] * direction
        for b in range(first, last):
            same = 1.0 if a == b else 0.0
            response[a, b + 1] = (-limit / size * stiffness[b]
                                  * (same - direction * response[b, 7]))


@njit(cache=True)
def press(i: int, state: Array, motion: Array, starts: Array, stiffness: Array,
          response: Array) -> None:
    """Fill the forces that the springs of a contact would bear at a twist, none slipping."""
    for a in range(ROWS):
        total = 0.0
        if a == 0:
            total = starts[i, 0]
        elif a >= SLIDING:
            total = starts[i, a - SLIDING + 1]
        spring = stiffness[i, a]
        for b in range(6):
            total -= spring * motion[i, a, b] * state[7, b]
        response[a, 0] = total


@njit(cache=True)
def shorten(first: int, last: int, share: float, response: Array) -> None:
    """Return trial forces as ``confine`` does, without their derivatives."""
    size = 0.0
    for a in range(first, last):
        size += response[a, 0] ** 2
    size, limit = np.sqrt(size), share * response[0, 0]
    if size > limit:
        for a in range(first, last):
            response[a, 0] = limit * (response[a, 0] / size)
