"""
A small second-order cone programme, solved for many right-hand sides in one kernel.

Made for the contact forces of a grasp: a handful of four-dimensional cones, a few bounds
and six balances. Everything is dense; cases are solved side by side in lanes.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .cone_algebra import CONE
from .cone_equations import SolverState, add_dot, add_dot_of_all, dot, make_state
from .cone_lanes import (INFEASIBLE, Lanes, RUNNING, SOLVED, UNDECIDED, end_lanes, make_lanes,
                         width_of)
from .cone_steps import move_on, start, write_residuals

Array = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

#: Relative tolerance of residuals and gap [-].
TOLERANCE = 1e-9
#: What a certificate that nothing is feasible may miss, as part of what it proves [-].
CERTIFICATE = 1e-9
#: What still counts as solved where round-off stops the iteration [-].
REDUCED_TOLERANCE = 1e-7
MOST_ITERATIONS = 40
#: Steps shorter than this lead nowhere any more [-].
LEAST_STEP = 1e-4
#: Cases that are solved side by side, at most.
MOST_LANES = 32
#: Range of the balances' map below this part of its largest singular value is none [-].
RANK = 1e-10


class ConeProgramme(NamedTuple):
    """
    ``min objective . x`` with ``balance x = b``, ``x[4i:4i+4]`` in cone i, ``rows x <= h``.

    A cone holds the vectors whose first entry is at least the length of the rest. The
    unknowns behind those of the cones are free but for the rows.

    Attributes
    ----------
    objective : (n,) float
    balance : (p, n) float
    rows : (m, n) float
    cones : int
    tried_rows : int
        The first so many rows always count; the others only where a solution without them
        breaks one, which saves most of the time where limits are far.
    """

    objective: Array
    balance: Array
    rows: Array
    cones: int
    tried_rows: int


def solve_cone_programme(programme: ConeProgramme, right: Array,
                         limits: Array) -> tuple[Array, NDArray[np.int64]]:
    """
    Solve a programme for several right-hand sides, in order, up to the first infeasible one.

    Parameters
    ----------
    programme : ConeProgramme
    right : (c, p) float
        Right-hand sides of the balances, of about unit size.
    limits : (c, m) float
        Right-hand sides of the rows, finite.

    Returns
    -------
    solutions : (c, n) float
        Zero where there is none.
    verdicts : (c,) int
        ``SOLVED``, ``INFEASIBLE`` with a certificate, or ``UNDECIDED`` where round-off kept
        either from being proven; ``UNDECIDED`` behind the first ``INFEASIBLE``.

    Notes
    -----
    Primal-dual interior point method on the homogeneous self-dual embedding with
    Nesterov-Todd scaling and Mehrotra's predictor and corrector (Andersen, Roos & Terlaky
    2003; Domahidi, Chu & Boyd 2013). Differs: dense normal equations instead of a sparse
    factorisation; dependent balances are removed beforehand; cases run side by side, each
    to the bit as if it were alone. ``O(c i n^2 (n + m))`` with i about twelve iterations.
    """
    basis = _range_of(programme.balance)
    reduced = np.ascontiguousarray(basis.T @ programme.balance)
    within, beyond = _within(np.ascontiguousarray(right), basis)
    return _solve_all(programme.objective, reduced, np.ascontiguousarray(programme.rows),
                      programme.tried_rows, programme.cones, within,
                      np.ascontiguousarray(limits), beyond)


def _range_of(matrix: Array) -> Array:
    """Return an orthonormal basis (p, r) of a matrix's range."""
    left, values, _ = np.linalg.svd(matrix, full_matrices=False)
    return np.ascontiguousarray(left[:, values > RANK * values.max(initial=0.0)])


@njit(cache=True, error_model='numpy')
def _within(right: Array, basis: Array) -> tuple[Array, BoolArray]:
    """Return right-hand sides in a basis, and which of them are not in its range."""
    (count, p), r = right.shape, basis.shape[1]
    within, beyond = np.zeros((count, r)), np.zeros(count, np.bool_)
    for case in range(count):       # a product of matrices rounds by how many cases there are
        outside, size = right[case].copy(), 0.0
        for j in range(r):
            for i in range(p):
                within[case, j] += right[case, i] * basis[i, j]
            for i in range(p):
                outside[i] -= within[case, j] * basis[i, j]
        missing = 0.0
        for i in range(p):
            missing, size = missing + outside[i] ** 2, size + right[case, i] ** 2
        beyond[case] = np.sqrt(missing) > CERTIFICATE * np.sqrt(size)
    return within, beyond


@njit(cache=True, error_model='numpy')
def _solve_all(objective: Array, balance: Array, rows: Array, tried: int, cones: int, right: Array,
               limits: Array, beyond: BoolArray) -> tuple[Array, IntArray]:
    count, few_rows = len(right), rows[:tried].copy()
    solutions, verdicts = np.zeros((count, len(objective))), np.full(count, UNDECIDED)
    end = count
    for case in range(count - 1, -1, -1):
        if beyond[case]:
            end = case
    end = _solve_cases(objective, balance, few_rows, cones, np.arange(end), right,
                       limits[:, :tried].copy(), solutions, verdicts, end)
    broken = np.empty(end, np.int64)
    found = 0
    for case in range(end):
        if _breaks(rows, limits[case], solutions[case]):
            broken[found] = case
            found += 1
    end = _solve_cases(objective, balance, rows, cones, broken[:found], right, limits, solutions,
                       verdicts, end)
    for case in range(end, count):
        solutions[case] = 0.0
        verdicts[case] = INFEASIBLE if case == end else UNDECIDED
    return solutions, verdicts


@njit(cache=True, error_model='numpy')
def _breaks(rows: Array, limits: Array, x: Array) -> bool:
    """Tell whether a row is not satisfied."""
    for r in range(len(rows)):
        total = 0.0
        for i in range(len(x)):
            total += rows[r, i] * x[i]
        if total > limits[r] + TOLERANCE:
            return True
    return False


@njit(cache=True, error_model='numpy')
def _solve_cases(objective: Array, balance: Array, rows: Array, cones: int, cases: IntArray,
                 right: Array, limits: Array, solutions: Array, verdicts: IntArray,
                 end: int) -> int:
    """Solve cases up to the first that is infeasible; return that, or ``end``."""
    n, p, m = len(objective), len(balance), len(rows)
    lanes = width_of(min(len(cases), MOST_LANES))
    if lanes == 0:
        return end
    state, numbers = make_state(rows, p, cones, lanes), make_lanes(n, p, m + CONE * cones, lanes)
    for begin in range(0, len(cases), MOST_LANES):
        chunk = cases[begin:begin + MOST_LANES]
        for lane in range(lanes):       # those to spare repeat the last case
            case = chunk[min(lane, len(chunk) - 1)]
            numbers.case[lane] = case
            numbers.right[:, lane] = right[case]
            numbers.limits[:m, lane] = limits[case]
        _solve(objective, balance, rows, state, numbers, len(chunk), solutions, verdicts)
        for case in chunk:
            if verdicts[case] == INFEASIBLE:
                return int(case)
    return end


@njit(cache=True, error_model='numpy')
def _solve(objective: Array, balance: Array, rows: Array, state: SolverState, lanes: Lanes,
           active: int, solutions: Array, verdicts: IntArray) -> None:
    """Write solutions and verdicts of the cases in the first lanes."""
    verdict = np.empty(len(lanes.case), np.int64)
    lanes.tau[:], lanes.kappa[:], lanes.lowest[:], lanes.best[:] = 1.0, 1.0, np.inf, 0.0
    width = width_of(active)
    start(objective, balance, rows, state, lanes, width)
    for _ in range(MOST_ITERATIONS):
        write_residuals(objective, balance, rows, state, lanes, width)
        _judge(objective, state, lanes, verdict, width)
        active = end_lanes(state, lanes, verdict, active, solutions, verdicts)
        if active == 0:
            return
        move_on(objective, balance, rows, state, lanes, active)
        for lane in range(active):
            verdict[lane] = RUNNING
            if not (lanes.good[lane] and lanes.step[lane] > LEAST_STEP):
                verdict[lane] = _last_verdict(lanes.lowest[lane])
        active = end_lanes(state, lanes, verdict, active, solutions, verdicts)
        width = width_of(active)
    for lane in range(active):
        verdict[lane] = _last_verdict(lanes.lowest[lane])
    end_lanes(state, lanes, verdict, active, solutions, verdicts)


@njit(cache=True, error_model='numpy')
def _last_verdict(lowest: float) -> int:
    """Return the verdict where no step leads on."""
    return SOLVED if lowest <= REDUCED_TOLERANCE else UNDECIDED


@njit(cache=True, error_model='numpy')
def _judge(objective: Array, state: SolverState, lanes: Lanes, verdict: IntArray,
           width: int) -> None:
    """Write the verdicts at the iterates; keep the best solutions and their errors."""
    r1, r2, r3 = state.residuals
    costs, proofs, sizes, missing = (np.zeros(width), np.zeros(width), np.zeros(width),
                                     np.zeros(width))
    squares = np.zeros((3, width))
    add_dot_of_all(objective, state.x, 1.0, costs, width)
    add_dot(lanes.right, state.y, -1.0, proofs, width)
    add_dot(lanes.limits, state.z, -1.0, proofs, width)
    dot(state.s, state.s, sizes, width)
    dot(r1, r1, squares[0], width)
    dot(r2, r2, squares[1], width)
    dot(r3, r3, squares[2], width)
    for i in range(len(r1)):
        for lane in range(width):
            missing[lane] += (r1[i, lane] - objective[i] * lanes.tau[lane]) ** 2
    for lane in range(width):
        tau, proof, verdict[lane] = lanes.tau[lane], proofs[lane], RUNNING
        cost, size = costs[lane] / tau, max(1.0, np.sqrt(sizes[lane]) / tau)
        error = max(np.sqrt(squares[0, lane]) / tau, np.sqrt(squares[1, lane]) / tau)
        error = max(error, np.sqrt(squares[2, lane]) / (tau * size))
        error = max(error, abs(cost - proof / tau) / max(1.0, abs(cost)))
        if error < lanes.lowest[lane]:
            lanes.lowest[lane] = error
            for i in range(len(lanes.best)):
                lanes.best[i, lane] = state.x[i, lane] / tau
            if error <= TOLERANCE:
                verdict[lane] = SOLVED
                continue
        if proof > 0.0 and np.sqrt(missing[lane]) <= CERTIFICATE * proof:
            lanes.best[:, lane] = 0.0
            verdict[lane] = INFEASIBLE
