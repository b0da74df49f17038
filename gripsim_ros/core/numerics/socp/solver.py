"""
Solve a small second-order cone programme for many right-hand sides in one kernel.

For programmes of a handful of four-dimensional cones and some tens of rows. All matrices are
dense; cases are solved side by side in lanes. Mathematics and sources: the package's docstring.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array, BoolArray, IntArray
from ..kernels import copy_entries, njit
from ..simd import LANES, broadcast, larger, load, sqrt, store
from .iteration import compute_residuals, start_dual, start_primal, take_step
from .kkt import add_dot, dot, dot_shared, fill_pattern
from .lanes import (
    Answers, Cases, IDLE, INFEASIBLE, RUNNING, SOLVED, UNDECIDED, begin_lane, load_case,
    retire_lanes)
from .workspace import FACTORISED, LEAST_ERROR, Layout, STEP, TAU, make_layout, make_workspace

#: Relative tolerance of residuals and gap [-].
TOLERANCE = 1e-9
#: Tolerance of a certificate of infeasibility, over what it proves [-].
CERTIFICATE = 1e-9
#: Tolerance of what counts as solved where round-off stops the iteration [-].
REDUCED_TOLERANCE = 1e-7
MAX_ITERATIONS = 40
#: Step length below which the iteration stops [-].
MIN_STEP = 1e-4
#: Singular values of the equality constraints that count as zero, over the largest [-].
RANK_TOLERANCE = 1e-10


class ConeProgramme(NamedTuple):
    """
    ``min c'x`` with ``A x = b``, ``G x <= h`` and ``x[4i:4i+4]`` in cone i.

    A second-order cone holds the vectors whose first entry is at least the length of the other
    three. The unknowns behind those of the cones are free but for the constraints; each must
    have an entry in G.

    Attributes
    ----------
    objective : (n,) float
        c.
    equality : (p, n) float
        A; its rows may depend on each other.
    inequality : (m, n) float
        G.
    cones : int
        Number of cones.
    eager_rows : int
        The first so many rows of G always count. The others are lazy constraints: they count only
        in cases whose solution without them violates one.
    """

    objective: Array
    equality: Array
    inequality: Array
    cones: int
    eager_rows: int


def solve_cone_programme(programme: ConeProgramme, equality_rhs: Array,
                         inequality_rhs: Array) -> tuple[Array, NDArray[np.int64]]:
    """
    Solve a programme for several right-hand sides, in order, up to the first infeasible one.

    Parameters
    ----------
    programme : ConeProgramme
    equality_rhs : (c, p) float
        b of each case, of about unit size: residuals count as they are.
    inequality_rhs : (c, m) float
        h of each case, finite.

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
    factorisation; dependent equality constraints are removed beforehand; cases run side by
    side, each to the bit as if it were alone. ``O(c i n^2 (n + m))`` with i about twelve
    iterations.
    """
    basis = _range_basis(programme.equality)
    reduced = np.ascontiguousarray(basis.T @ programme.equality)
    reduced_rhs, inconsistent = _reduce_rhs(np.ascontiguousarray(equality_rhs), basis)
    return _solve_lazily(
        programme.objective, reduced, np.ascontiguousarray(programme.inequality),
        programme.eager_rows, programme.cones, reduced_rhs,
        np.ascontiguousarray(inequality_rhs), inconsistent)


def _range_basis(matrix: Array) -> Array:
    """Return an orthonormal basis (p, r) of a matrix's range."""
    left, values, _ = np.linalg.svd(matrix, full_matrices=False)
    return np.ascontiguousarray(left[:, values > RANK_TOLERANCE * values.max(initial=0.0)])


@njit(cache=True, error_model='numpy')
def _reduce_rhs(rhs: Array, basis: Array) -> tuple[Array, BoolArray]:
    """Return right-hand sides in a basis, and which of them are not in its range."""
    (count, p), r = rhs.shape, basis.shape[1]
    reduced, inconsistent = np.zeros((count, r)), np.zeros(count, np.bool_)
    for case in range(count):       # a product of matrices rounds by how many cases there are
        outside, size = rhs[case].copy(), 0.0
        for j in range(r):
            for i in range(p):
                reduced[case, j] += rhs[case, i] * basis[i, j]
            for i in range(p):
                outside[i] -= reduced[case, j] * basis[i, j]
        missing = 0.0
        for i in range(p):
            missing, size = missing + outside[i] ** 2, size + rhs[case, i] ** 2
        inconsistent[case] = np.sqrt(missing) > CERTIFICATE * np.sqrt(size)
    return reduced, inconsistent


@njit(cache=True, error_model='numpy')
def _solve_lazily(objective: Array, A: Array, G: Array, eager: int, cones: int,
                  equality_rhs: Array, inequality_rhs: Array,
                  inconsistent: BoolArray) -> tuple[Array, IntArray]:
    """Solve with the eager rows alone, then what violates a lazy one with all rows."""
    count = len(equality_rhs)
    answers = Answers(np.zeros((count, len(objective))), np.full(count, UNDECIDED))
    end = count
    for case in range(count - 1, -1, -1):
        if inconsistent[case]:
            end = case
    numbers, rows, rhs = np.arange(end), G[:eager].copy(), inequality_rhs[:, :eager].copy()
    for attempt in range(2):
        end = _solve_cases(objective, A, rows, cones, Cases(numbers, equality_rhs, rhs), answers,
                           end)
        if attempt == 0:
            numbers = _violating(G, inequality_rhs, answers.solutions, end)
            rows, rhs = G, inequality_rhs
    for case in range(end, count):
        answers.solutions[case] = 0.0
        answers.verdicts[case] = INFEASIBLE if case == end else UNDECIDED
    return answers.solutions, answers.verdicts


@njit(cache=True, error_model='numpy')
def _violating(G: Array, inequality_rhs: Array, solutions: Array, end: int) -> IntArray:
    """Return which of the first so many cases violate a row of ``G x <= rhs``."""
    violated, found = np.empty(end, np.int64), 0
    for case in range(end):
        worst = -np.inf
        for r in range(len(G)):
            total = 0.0
            for i in range(G.shape[1]):
                total += G[r, i] * solutions[case, i]
            worst = max(worst, total - inequality_rhs[case, r])
        violated[found] = case
        found += worst > TOLERANCE
    return violated[:found]


@njit(cache=True, error_model='numpy', inline='always')
def _solve_cases(objective: Array, A: Array, G: Array, cones: int, cases: Cases,
                 answers: Answers, end: int) -> int:
    """Solve cases up to the first that is infeasible; return that, or ``end``."""
    numbers = cases.numbers
    if len(numbers) == 0:
        return end
    p, (m, n) = len(A), G.shape
    layout = make_layout(n, p, m, cones)
    work, starts = make_workspace(layout.rows), np.empty((len(numbers), n + p + 2 * layout.size))
    pattern, dense = fill_pattern(G, cones), np.ones((p, p), np.bool_)
    start_dual(work, layout, objective, A, G, pattern, dense)
    for begin in range(0, len(numbers), LANES):
        chunk = min(LANES, len(numbers) - begin)
        for lane in range(LANES):       # those to spare repeat the last case
            load_case(work, layout, lane, cases, numbers[begin + min(lane, chunk - 1)])
        start_primal(work, layout, A, G, pattern, dense)
        for lane in range(chunk):
            copy_entries(work[layout.x:layout.dx, lane], starts[begin + lane])
    _iterate(work, layout, objective, A, G, pattern, dense, starts, cases, answers)
    for case in numbers:
        if answers.verdicts[case] == INFEASIBLE:
            return int(case)
    return end


@njit(cache=True, error_model='numpy', inline='always')
def _iterate(work: Array, layout: Layout, objective: Array, A: Array, G: Array,
             pattern: BoolArray, dense: BoolArray, starts: Array, cases: Cases,
             answers: Answers) -> None:
    """Write the answers of cases from their starting points, eight of them at a time."""
    verdict, running = np.empty(LANES, np.int64), np.full(LANES, IDLE)
    age, waiting, count = np.zeros(LANES, np.int64), 0, len(cases.numbers)
    while True:
        for lane in range(LANES):
            if running[lane] == IDLE and waiting < count:
                case = cases.numbers[waiting]
                running[lane], age[lane] = case, 0
                load_case(work, layout, lane, cases, case)
                begin_lane(work, layout, lane, starts[waiting])
                waiting += 1
        compute_residuals(work, layout, objective, A, G)
        _judge(work, layout, objective, verdict)
        if retire_lanes(work, layout, running, verdict, answers) < len(answers.solutions):
            waiting = count
        if waiting == count and (running == IDLE).all():
            return
        take_step(work, layout, objective, A, G, pattern, dense)
        for lane in range(LANES):
            age[lane] += 1
            verdict[lane] = RUNNING
            if not (work[FACTORISED, lane] > 0.0 and work[STEP, lane] > MIN_STEP
                    and age[lane] < MAX_ITERATIONS):
                solved = work[LEAST_ERROR, lane] <= REDUCED_TOLERANCE
                verdict[lane] = SOLVED if solved else UNDECIDED
        retire_lanes(work, layout, running, verdict, answers)


@njit(cache=True, error_model='numpy')
def _judge(work: Array, layout: Layout, objective: Array, verdict: IntArray) -> None:
    """Write the verdicts at the iterates; keep the solutions of least error, and the errors."""
    n, p, tau, residual = layout.n, layout.p, load(work, TAU), layout.residual
    errors, proofs, missing = np.empty(LANES), np.empty(LANES), np.empty(LANES)
    proof = add_dot(work, layout.data + n, layout.x + n, p + layout.size, -1.0, broadcast(0.0))
    cost = dot_shared(work, objective, layout.x) / tau
    size = sqrt(dot(work, layout.s, layout.s, layout.size)) / tau
    error = larger(sqrt(dot(work, residual, residual, n)) / tau,
                   sqrt(dot(work, residual + n, residual + n, p)) / tau)
    r3 = residual + n + p
    error = larger(error, sqrt(dot(work, r3, r3, layout.size)) / (tau * larger(1.0, size)))
    error = larger(error, abs(cost - proof / tau) / larger(1.0, abs(cost)))
    lack = broadcast(0.0)
    for i in range(n):      # A'y + G'z is r1 without c tau
        rest = load(work, residual + i) - objective[i] * tau
        lack = lack + rest * rest
    store(error, errors)
    store(proof, proofs)
    store(sqrt(lack), missing)
    for lane in range(LANES):
        verdict[lane] = RUNNING
        if errors[lane] < work[LEAST_ERROR, lane]:
            work[LEAST_ERROR, lane] = errors[lane]
            for i in range(n):
                work[layout.best + i, lane] = work[layout.x + i, lane] / work[TAU, lane]
            if errors[lane] <= TOLERANCE:
                verdict[lane] = SOLVED
                continue
        if proofs[lane] > 0.0 and missing[lane] <= CERTIFICATE * proofs[lane]:
            work[layout.best:layout.best + n, lane] = 0.0
            verdict[lane] = INFEASIBLE
