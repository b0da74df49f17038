"""
A small second-order cone programme, solved for many right-hand sides in one kernel.

Made for the contact forces of a grasp: a handful of four-dimensional cones, a few bounds
and six balances. Everything is dense; cases are solved side by side in lanes.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..simd import LANES, broadcast, larger, load, sqrt, store
from .iteration import move_on, prepare_starts, start, write_residuals
from .kkt import add_dot, along_all, dot, filled_entries
from .lanes import (
    IDLE, INFEASIBLE, RUNNING, SOLVED, UNDECIDED, begin_lane, end_lanes, keep_start, put_case)
from .workspace import GOOD, LOWEST, Places, STEP, TAU, make_places, make_room

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
    if len(cases) == 0:
        return end
    p, (m, n) = len(balance), rows.shape
    at = make_places(n, p, m, cones)
    room, starts = make_room(at.rows), np.empty((len(cases), n + p + 2 * at.size))
    filled, every = filled_entries(rows, cones), np.ones((p, p), np.bool_)
    prepare_starts(room, at, objective, balance, rows, filled, every)
    for begin in range(0, len(cases), LANES):
        chunk = min(LANES, len(cases) - begin)
        for lane in range(LANES):       # those to spare repeat the last case
            case = cases[begin + min(lane, chunk - 1)]
            put_case(room, at, lane, right[case], limits[case])
        start(room, at, balance, rows, filled, every)
        for lane in range(chunk):
            keep_start(room, at, lane, starts[begin + lane])
    _solve(room, at, objective, balance, rows, filled, every, starts, cases, right, limits,
           solutions, verdicts)
    for case in cases:
        if verdicts[case] == INFEASIBLE:
            return int(case)
    return end


@njit(cache=True, error_model='numpy')
def _solve(room: Array, at: Places, objective: Array, balance: Array, rows: Array,
           filled: BoolArray, every: BoolArray, starts: Array, cases: IntArray, right: Array,
           limits: Array, solutions: Array, verdicts: IntArray) -> None:
    """Write solutions and verdicts of cases from their starts, eight of them at a time."""
    verdict, lanes = np.empty(LANES, np.int64), np.full(LANES, IDLE)
    age, waiting = np.zeros(LANES, np.int64), 0
    while True:
        for lane in range(LANES):
            if lanes[lane] == IDLE and waiting < len(cases):
                case = cases[waiting]
                lanes[lane], age[lane] = case, 0
                put_case(room, at, lane, right[case], limits[case])
                begin_lane(room, at, lane, starts[waiting])
                waiting += 1
        write_residuals(room, at, objective, balance, rows)
        _judge(room, at, objective, verdict)
        if end_lanes(room, at, lanes, verdict, solutions, verdicts) < len(solutions):
            waiting = len(cases)
        if waiting == len(cases) and (lanes == IDLE).all():
            return
        move_on(room, at, objective, balance, rows, filled, every)
        for lane in range(LANES):
            age[lane] += 1
            verdict[lane] = RUNNING
            if not (room[GOOD, lane] > 0.0 and room[STEP, lane] > LEAST_STEP
                    and age[lane] < MOST_ITERATIONS):
                solved = room[LOWEST, lane] <= REDUCED_TOLERANCE
                verdict[lane] = SOLVED if solved else UNDECIDED
        end_lanes(room, at, lanes, verdict, solutions, verdicts)


@njit(cache=True, error_model='numpy')
def _judge(room: Array, at: Places, objective: Array, verdict: IntArray) -> None:
    """Write the verdicts at the iterates; keep the best solutions and their errors."""
    n, p, tau, residual = at.n, at.p, load(room, TAU), at.residual
    errors, proofs, missing = np.empty(LANES), np.empty(LANES), np.empty(LANES)
    proof = add_dot(room, at.task + n, at.x + n, p + at.size, -1.0, broadcast(0.0))
    cost = along_all(room, objective, at.x) / tau
    size = sqrt(dot(room, at.s, at.s, at.size)) / tau
    error = larger(sqrt(dot(room, residual, residual, n)) / tau,
                   sqrt(dot(room, residual + n, residual + n, p)) / tau)
    r3 = residual + n + p
    error = larger(error, sqrt(dot(room, r3, r3, at.size)) / (tau * larger(1.0, size)))
    error = larger(error, abs(cost - proof / tau) / larger(1.0, abs(cost)))
    lack = broadcast(0.0)
    for i in range(n):
        rest = load(room, residual + i) - objective[i] * tau
        lack = lack + rest * rest
    store(error, errors)
    store(proof, proofs)
    store(sqrt(lack), missing)
    for lane in range(LANES):
        verdict[lane] = RUNNING
        if errors[lane] < room[LOWEST, lane]:
            room[LOWEST, lane] = errors[lane]
            for i in range(n):
                room[at.best + i, lane] = room[at.x + i, lane] / room[TAU, lane]
            if errors[lane] <= TOLERANCE:
                verdict[lane] = SOLVED
                continue
        if proofs[lane] > 0.0 and missing[lane] <= CERTIFICATE * proofs[lane]:
            room[at.best:at.best + n, lane] = 0.0
            verdict[lane] = INFEASIBLE
