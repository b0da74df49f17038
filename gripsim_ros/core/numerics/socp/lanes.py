"""
Lanes: cases of a cone programme that are solved side by side, each by its own iteration.

Eight are active; where one has ended, the next case takes its lane, so that work grows with the
iterations of all cases together.
"""

from typing import NamedTuple

import numpy as np

from ...arrays import Array, IntArray
from ..kernels import njit
from ..simd import LANES
from .workspace import ACTIVE, KAPPA, LEAST_ERROR, Layout, TAU

#: Verdicts of the solver.
SOLVED, INFEASIBLE, UNDECIDED = 0, 1, 2
#: Verdict of a lane whose iteration goes on.
RUNNING = -1
#: Case of a lane that has none.
IDLE = -1


class Cases(NamedTuple):
    """
    Cases to solve: those of some rows of right-hand sides.

    Attributes
    ----------
    numbers : (k,) int
    equality_rhs : (c, p) float
    inequality_rhs : (c, m) float
    """

    numbers: IntArray
    equality_rhs: Array
    inequality_rhs: Array


class Answers(NamedTuple):
    """
    What is written as cases end.

    Attributes
    ----------
    solutions : (c, n) float
    verdicts : (c,) int
    """

    solutions: Array
    verdicts: IntArray


@njit(cache=True, error_model='numpy')
def load_case(work: Array, layout: Layout, lane: int, cases: Cases, case: int) -> None:
    """Write a case's right-hand sides into a lane."""
    first = layout.data + layout.n
    for i in range(layout.p):
        work[first + i, lane] = cases.equality_rhs[case, i]
    for i in range(layout.m):
        work[first + layout.p + i, lane] = cases.inequality_rhs[case, i]


@njit(cache=True, error_model='numpy')
def store_start(work: Array, layout: Layout, lane: int, start: Array) -> None:
    """Write a lane's x, y, z and s to a start."""
    count = layout.n + layout.p + layout.size
    for i in range(count):
        start[i] = work[layout.x + i, lane]
    for i in range(layout.size):
        start[count + i] = work[layout.s + i, lane]


@njit(cache=True, error_model='numpy')
def begin_lane(work: Array, layout: Layout, lane: int, start: Array) -> None:
    """Put a lane at a start, ``tau = kappa = 1``."""
    count = layout.n + layout.p + layout.size
    for i in range(count):
        work[layout.x + i, lane] = start[i]
    for i in range(layout.size):
        work[layout.s + i, lane] = start[count + i]
    for i in range(layout.n):
        work[layout.best + i, lane] = 0.0
    work[TAU, lane] = work[KAPPA, lane] = work[ACTIVE, lane] = 1.0
    work[LEAST_ERROR, lane] = np.inf


@njit(cache=True, error_model='numpy')
def retire_lanes(work: Array, layout: Layout, running: IntArray, verdict: IntArray,
                 answers: Answers) -> int:
    """
    Write the answers of cases that have ended, and make their lanes idle.

    ``running (8,)`` and ``verdict (8,)`` are the lanes' cases and verdicts. Cases behind an
    infeasible one are given up. Returns the first infeasible case, the number of all where there
    is none.
    """
    first = len(answers.solutions)
    for lane in range(LANES):
        if running[lane] != IDLE and verdict[lane] == INFEASIBLE:
            first = min(first, running[lane])
    for lane in range(LANES):
        case = running[lane]
        if case == IDLE or verdict[lane] == RUNNING and case <= first:
            continue
        if verdict[lane] != RUNNING:
            answers.verdicts[case] = verdict[lane]
            for i in range(layout.n):
                answers.solutions[case, i] = work[layout.best + i, lane]
        running[lane], work[ACTIVE, lane] = IDLE, 0.0
    return first
