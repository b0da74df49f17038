"""
Lanes: cases of a cone programme that are solved side by side, each on its own way.

A processor takes some lanes at once; those that have come to an end make room, so that work
grows with the iterations of all cases together.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .cone_equations import SolverState

Array = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

#: Verdicts of the solver.
SOLVED, INFEASIBLE, UNDECIDED = 0, 1, 2
#: Of a lane that has none yet.
RUNNING = -1
#: Lanes are worked on in such groups.
LANE_STEP = 8


class Lanes(NamedTuple):
    """
    What the lanes of a solution have one number of each, ``(w,)``.

    ``case`` is the case that a lane solves, with its ``right (p, w)`` and ``limits (m + 4k, w)``;
    ``tau`` and ``kappa`` are those of the embedding, ``last`` what its last equation lacks,
    ``lowest`` the least error so far, ``best (n, w)`` the solution that has it. The others are of
    one step: complementarity ``mu``, the directions ``dtau`` and ``dkappa``, the divisor ``below``
    of the first and the ``push`` on it, the ``share`` of the residuals to remove, the length
    ``step``; whether to ``refine``, and whether the factorisation was ``good``.
    """

    case: IntArray
    tau: Array
    kappa: Array
    lowest: Array
    best: Array
    right: Array
    limits: Array
    last: Array
    mu: Array
    below: Array
    push: Array
    share: Array
    step: Array
    dtau: Array
    dkappa: Array
    refine: BoolArray
    good: BoolArray


@njit(cache=True, error_model='numpy')
def make_lanes(n: int, p: int, size: int, lanes: int) -> Lanes:
    """Return room for n unknowns, p balances, and rows and cones of a size."""
    return Lanes(np.full(lanes, -1), np.ones(lanes), np.ones(lanes), np.full(lanes, np.inf),
                 np.zeros((n, lanes)), np.zeros((p, lanes)), np.zeros((size, lanes)),
                 np.zeros(lanes), np.zeros(lanes), np.zeros(lanes), np.zeros(lanes),
                 np.zeros(lanes), np.zeros(lanes), np.zeros(lanes), np.zeros(lanes),
                 np.zeros(lanes, np.bool_), np.zeros(lanes, np.bool_))


@njit(cache=True, error_model='numpy')
def width_of(active: int) -> int:
    """Return how many lanes to work on where the first ones are of interest."""
    return LANE_STEP * ((active + LANE_STEP - 1) // LANE_STEP)


@njit(cache=True, error_model='numpy')
def end_lanes(state: SolverState, lanes: Lanes, verdict: IntArray, active: int,
              solutions: Array, verdicts: IntArray) -> int:
    """
    Write what has come to an end; return how many lanes go on, which are the first then.

    Cases behind one that is infeasible are of no interest any more.
    """
    first = solutions.shape[0]
    for lane in range(active):
        if verdict[lane] == INFEASIBLE:
            first = min(first, lanes.case[lane])
    for lane in range(active - 1, -1, -1):
        case = lanes.case[lane]
        if verdict[lane] == RUNNING and case <= first:
            continue
        if verdict[lane] != RUNNING:
            verdicts[case] = verdict[lane]
            solutions[case] = lanes.best[:, lane]
        active -= 1
        if lane < active:
            _move_lane(state, lanes, active, lane)
    return active


@njit(cache=True, error_model='numpy')
def _move_lane(state: SolverState, lanes: Lanes, source: int, target: int) -> None:
    for rows in (state.x, state.y, state.z, state.s, lanes.best, lanes.right, lanes.limits,
                 *state.residuals):
        for i in range(len(rows)):
            rows[i, target] = rows[i, source]
    for numbers in (lanes.tau, lanes.kappa, lanes.lowest, lanes.last):
        numbers[target] = numbers[source]
    lanes.case[target] = lanes.case[source]
