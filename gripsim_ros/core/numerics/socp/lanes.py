"""
Lanes: cases of a cone programme that are solved side by side, each on its own way.

Eight are under way; where one has come to an end the next case takes its place, so that work
grows with the iterations of all cases together.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..simd import LANES
from .workspace import BUSY, KAPPA, LOWEST, Places, TAU

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Verdicts of the solver.
SOLVED, INFEASIBLE, UNDECIDED = 0, 1, 2
#: Of a lane that has none yet.
RUNNING = -1
#: In place of the case of a lane that has nothing to do.
IDLE = -1


@njit(cache=True, error_model='numpy')
def put_case(room: Array, at: Places, lane: int, right: Array, limits: Array) -> None:
    """Write a case's right-hand sides ``(p,)`` and ``(m,)`` into a lane."""
    first = at.task + at.n
    for i in range(at.p):
        room[first + i, lane] = right[i]
    for i in range(at.m):
        room[first + at.p + i, lane] = limits[i]


@njit(cache=True, error_model='numpy')
def keep_start(room: Array, at: Places, lane: int, start: Array) -> None:
    """Write where a lane starts: x, y, z and s."""
    count = at.n + at.p + at.size
    for i in range(count):
        start[i] = room[at.x + i, lane]
    for i in range(at.size):
        start[count + i] = room[at.s + i, lane]


@njit(cache=True, error_model='numpy')
def begin_lane(room: Array, at: Places, lane: int, start: Array) -> None:
    """Put a lane at a start, with the numbers of one that has done nothing yet."""
    count = at.n + at.p + at.size
    for i in range(count):
        room[at.x + i, lane] = start[i]
    for i in range(at.size):
        room[at.s + i, lane] = start[count + i]
    for i in range(at.n):
        room[at.best + i, lane] = 0.0
    room[TAU, lane] = room[KAPPA, lane] = room[BUSY, lane] = 1.0
    room[LOWEST, lane] = np.inf


@njit(cache=True, error_model='numpy')
def end_lanes(room: Array, at: Places, cases: IntArray, verdict: IntArray, solutions: Array,
              verdicts: IntArray) -> int:
    """
    Write what has come to an end, whose lanes are idle then.

    ``cases (8,)`` and ``verdict (8,)`` are those of the lanes. Cases behind one that is infeasible
    are of no interest any more. Returns the first such case, the number of all where there is
    none.
    """
    first = len(solutions)
    for lane in range(LANES):
        if cases[lane] != IDLE and verdict[lane] == INFEASIBLE:
            first = min(first, cases[lane])
    for lane in range(LANES):
        case = cases[lane]
        if case == IDLE or verdict[lane] == RUNNING and case <= first:
            continue
        if verdict[lane] != RUNNING:
            verdicts[case] = verdict[lane]
            for i in range(at.n):
                solutions[case, i] = room[at.best + i, lane]
        cases[lane], room[BUSY, lane] = IDLE, 0.0
    return first
