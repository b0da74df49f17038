"""
Load margin of a held object: compiled kernels.

Loads, twists and grasps are those of ``equilibrium.py``, which solves one load case; here all
are judged, and grow until the first fails. See docs/model/stability.md.
"""

import numpy as np

from ...arrays import Array
from ...numerics.kernels import copy_entries, njit
from .equilibrium import GraspStiffness, solve_load_case


#: Relative step of load continuation, and the first step as a multiple of the load.
GROWTH = 0.25
FIRST_GROWTH = 0.125


@njit(cache=True)
def grow_load(wrench: Array, grasp: GraspStiffness, x: Array, interval: tuple[float, float],
              steps: int) -> float:
    """
    Grow a load within an interval of multiples (load continuation), from the solution x.

    Returns the multiple up to which it holds, to ``steps`` bisections of the last
    growth; x becomes the solution there.
    """
    low, high = interval
    guess, growing = x.copy(), True
    while low < high and (growing or steps > 0):
        if growing:
            target = min(low + max(FIRST_GROWTH, GROWTH * low), high)
            target = 1.0 if low < 1.0 < target else target
        else:
            target = 0.5 * (low + high)
            steps -= 1
        copy_entries(x, guess)
        if solve_load_case(guess, target * wrench, grasp) <= 1.0:
            low = target
            copy_entries(guess, x)
        else:
            high, growing = target, False
    return low


@njit(cache=True)
def judge_load_cases(wrenches: Array, grasp: GraspStiffness, start: Array, cap: float, steps: int,
                     reserve: float) -> tuple[Array, bool, float, int]:
    """
    Judge all loads and find the largest multiple that holds.

    Without load there must be an equilibrium with a share ``reserve`` less of friction, too.

    Returns
    -------
    shift (6,), holds, margin, worst
        Scaled twist under no load, looked for from ``start (6,)``; whether no load and all
        loads are held; margin (NaN where ``cap`` is 0); the load that limits it, or uses
        most, -1 if there is none.
    """
    count = len(wrenches)
    shares, shift = np.empty(count), start.copy()
    balanced = solve_load_case(shift, np.zeros(6), grasp) <= 1.0
    solutions = np.empty((count, 6))
    for c in range(count):
        copy_entries(shift, solutions[c])
        shares[c] = solve_load_case(solutions[c], wrenches[c], grasp)
        if shares[c] > 1.0:
            copy_entries(shift, solutions[c])
    worst = int(np.argmax(shares)) if count > 0 else -1
    if not (balanced and has_reserve(shift, grasp, reserve)):
        return shift, False, 0.0 if cap > 0.0 else np.nan, worst
    margin, limiting = find_margin(wrenches, grasp, (shares, solutions), cap, steps)
    if limiting >= 0:
        worst = limiting
    return shift, margin >= 1.0, margin if cap > 0.0 else np.nan, worst


@njit(cache=True, inline='always')
def has_reserve(shift: Array, grasp: GraspStiffness, reserve: float) -> bool:
    """Return True if the contacts balance without load and with a share less of friction."""
    if reserve <= 0.0:
        return True
    contacts, max_normals, friction, limits, tolerance = grasp
    less = (contacts, max_normals, (1.0 - reserve) * friction, limits, tolerance)
    return solve_load_case(shift.copy(), np.zeros(6), less) <= 1.0


@njit(cache=True, inline='always')
def find_margin(wrenches: Array, grasp: GraspStiffness, start: tuple[Array, Array], cap: float,
                steps: int) -> tuple[float, int]:
    """
    Return the margin and the load that limits it, -1 if it is the cap.

    ``start`` holds shares and solutions at once the loads. In the order of their
    shares, only loads that fail at the margin so far are made to grow. Without a cap
    the first load that fails below 1 ends it.
    """
    shares, solutions = start
    margin, limiting = max(cap, 1.0), -1
    x = np.empty(6)
    for c in np.argsort(-shares):
        low = 1.0 if shares[c] <= 1.0 else 0.0
        if low >= margin:
            continue
        copy_entries(solutions[c], x)
        if solve_load_case(x, margin * wrenches[c], grasp) <= 1.0:
            continue
        multiple = grow_load(wrenches[c], grasp, solutions[c], (low, margin), steps)
        if multiple < margin:
            margin, limiting = multiple, c
        if cap == 0.0 and margin < 1.0:
            break
    return margin, limiting
