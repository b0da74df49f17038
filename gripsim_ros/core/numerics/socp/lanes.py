"""
Lanes: cases of a cone programme that are solved side by side, each by its own iteration.

Eight are active; where one has ended, the next case takes its lane, so that work grows with the
iterations of all cases together.
"""

from typing import NamedTuple

import numpy as np

from ...arrays import Array, IntArray
from ..kernels import copy_entries, njit
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
    middle = first + layout.p
    copy_entries(cases.equality_rhs[case], work[first:middle, lane])
    copy_entries(cases.inequality_rhs[case], work[middle:middle + layout.m, lane])


@njit(cache=True, error_model='numpy')
def begin_lane(work: Array, layout: Layout, lane: int, start: Array) -> None:
    """Put a lane's x, y, z and s at a start, ``tau = kappa = 1``."""
    copy_entries(start, work[layout.x:layout.x + len(start), lane])
    work[layout.best:layout.best + layout.n, lane] = 0.0
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
            copy_entries(work[layout.best:layout.best + layout.n, lane], answers.solutions[case])
        running[lane], work[ACTIVE, lane] = IDLE, 0.0
    return first
