"""
A small second-order cone programme, solved for many right-hand sides in one kernel.

Made for the contact forces of a grasp: a handful of four-dimensional cones, a few bounds
and six balances. Everything is dense and fits a processor's first cache.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .cone_algebra import (add_identity, into_cones, jordan_product, jordan_quotient,
                           largest_step, nesterov_todd, weigh)
from .cone_equations import (SolverState, add_scaled, dot, factorise, make_state, product,
                             solve_step, transposed_product)

Array = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

#: Verdicts of the solver.
SOLVED, INFEASIBLE, UNDECIDED = 0, 1, 2
#: Relative tolerance of residuals and gap [-].
TOLERANCE = 1e-9
#: What a certificate that nothing is feasible may miss, as part of what it proves [-].
CERTIFICATE = 1e-9
#: What still counts as solved where round-off stops the iteration [-].
REDUCED_TOLERANCE = 1e-7
MOST_ITERATIONS = 40
#: Part of the way to the cones' boundary that a step takes [-].
STEP_SHARE = 0.99
#: Steps shorter than this lead nowhere any more [-].
LEAST_STEP = 1e-4
#: Below this complementarity a solution of the normal equations is refined [-].
REFINED = 1e-5
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
    factorisation; dependent balances are removed beforehand. ``O(c i n^2 (n + m))`` with
    i about twelve iterations.
    """
    basis = _range_of(programme.balance)
    reduced = np.ascontiguousarray(basis.T @ programme.balance)
    outside = right - (right @ basis) @ basis.T
    beyond = np.linalg.norm(outside, axis=1) > CERTIFICATE * np.linalg.norm(right, axis=1)
    return _solve_all(programme.objective, reduced, np.ascontiguousarray(programme.rows),
                      programme.tried_rows, programme.cones, np.ascontiguousarray(right @ basis),
                      np.ascontiguousarray(limits), beyond)


def _range_of(matrix: Array) -> Array:
    """Return an orthonormal basis (p, r) of a matrix's range."""
    left, values, _ = np.linalg.svd(matrix, full_matrices=False)
    return np.ascontiguousarray(left[:, values > RANK * values.max(initial=0.0)])


@njit(cache=True, error_model='numpy')
def _solve_all(objective: Array, balance: Array, rows: Array, tried: int, cones: int, right: Array,
               limits: Array, beyond: BoolArray) -> tuple[Array, IntArray]:
    count, n, p = len(right), len(objective), len(balance)
    few, all_rows = make_state(n, p, tried, cones), make_state(n, p, len(rows), cones)
    few_rows = rows[:tried].copy()
    solutions, verdicts = np.zeros((count, n)), np.full(count, UNDECIDED)
    for case in range(count):
        if beyond[case]:
            verdicts[case] = INFEASIBLE
        else:
            verdicts[case] = _solve(objective, balance, few_rows, right[case],
                                    limits[case, :tried], few, solutions[case])
            if verdicts[case] != INFEASIBLE and _breaks(rows, limits[case], solutions[case]):
                verdicts[case] = _solve(objective, balance, rows, right[case], limits[case],
                                        all_rows, solutions[case])
        if verdicts[case] == INFEASIBLE:
            break
    return solutions, verdicts


@njit(cache=True, error_model='numpy')
def _breaks(rows: Array, limits: Array, x: Array) -> bool:
    """Tell whether a row is not satisfied."""
    for r in range(len(rows)):
        if dot(rows[r], x) > limits[r] + TOLERANCE:
            return True
    return False


@njit(cache=True, error_model='numpy')
def _solve(objective: Array, balance: Array, rows: Array, right: Array, limits: Array,
           state: SolverState, answer: Array) -> int:
    """Write the solution of one case to ``answer`` and return the verdict."""
    x, y, z, s, lines, cones = state.x, state.y, state.z, state.s, state.lines, state.cones
    m, size = len(rows), len(z)
    dx, dy, dz, ds = state.steps
    x1, y1, z1 = state.constant
    r1, r2, r3 = state.residuals
    weighted, products, divided = state.scratch
    h = np.zeros(size)
    h[:m] = limits
    downhill = -objective
    _start(downhill, balance, rows, right, h, state)
    tau, kappa, lowest = 1.0, 1.0, np.inf
    degree = m + len(cones) + 1.0
    for _ in range(MOST_ITERATIONS):
        r4 = _residuals(objective, balance, rows, right, h, state, tau, kappa)
        verdict, lowest = _judge(objective, right, h, state, tau, answer, lowest)
        if verdict != UNDECIDED:
            return verdict
        mu = (dot(s, z) + kappa * tau) / degree
        nesterov_todd(m, s, z, lines, cones)
        if not factorise(balance, rows, lines, cones, state.factors):
            break
        refine = mu < REFINED * tau * tau
        solve_step(balance, rows, state, downhill, right, h, x1, y1, z1, refine)
        below = kappa / tau - (dot(objective, x1) + dot(right, y1) + dot(h, z1))
        weigh(lines, cones, z, weighted, False)
        jordan_product(m, weighted, weighted, products)
        for i in range(size):
            products[i] = -products[i]
        push, share = -kappa * tau, 1.0
        for attempt in range(2):
            jordan_quotient(m, weighted, products, divided)
            weigh(lines, cones, divided, ds, False)
            _direction(balance, rows, state, share, refine)
            dtau = (push / tau - share * r4 + dot(objective, dx) + dot(right, dy)
                    + dot(h, dz)) / below
            add_scaled(dx, dtau, x1)
            add_scaled(dy, dtau, y1)
            add_scaled(dz, dtau, z1)
            dkappa = (push - kappa * dtau) / tau
            weigh(lines, cones, dz, products, False)
            add_scaled(divided, -1.0, products)
            weigh(lines, cones, divided, ds, False)
            step = min(largest_step(m, s, ds), largest_step(m, z, dz))
            step = min(step, -tau / dtau if dtau < 0.0 else np.inf)
            step = min(step, -kappa / dkappa if dkappa < 0.0 else np.inf)
            if attempt == 0:
                sigma = (1.0 - min(step, 1.0)) ** 3
                _correct(m, weighted, divided, products, sigma * mu)
                push = sigma * mu - kappa * tau - dtau * dkappa
                share = 1.0 - sigma
        step = min(STEP_SHARE * step, 1.0)
        if not step > LEAST_STEP:
            break
        add_scaled(x, step, dx)
        add_scaled(y, step, dy)
        add_scaled(z, step, dz)
        add_scaled(s, step, ds)
        tau, kappa = tau + step * dtau, kappa + step * dkappa
    return SOLVED if lowest <= REDUCED_TOLERANCE else UNDECIDED


@njit(cache=True, error_model='numpy')
def _start(downhill: Array, balance: Array, rows: Array, right: Array, h: Array,
           state: SolverState) -> None:
    """Write the point that the least squares of either problem suggest, moved into the cones."""
    state.lines[:] = 1.0
    state.cones[:] = 0.0
    state.cones[:, :2] = 1.0
    factorise(balance, rows, state.lines, state.cones, state.factors)
    r1, r2, r3 = state.residuals
    dx, dy, _, _ = state.steps
    r1[:], r2[:], r3[:] = 0.0, 0.0, 0.0
    solve_step(balance, rows, state, r1, right, h, state.x, dy, state.s, False)
    solve_step(balance, rows, state, downhill, r2, r3, dx, state.y, state.z, False)
    for i in range(len(state.s)):
        state.s[i] = -state.s[i]
    into_cones(len(rows), state.s)
    into_cones(len(rows), state.z)


@njit(cache=True, error_model='numpy')
def _residuals(objective: Array, balance: Array, rows: Array, right: Array, h: Array,
               state: SolverState, tau: float, kappa: float) -> float:
    """Write what is missing of the embedding's equations; return the last of them."""
    x, y, z, s = state.x, state.y, state.z, state.s
    r1, r2, r3 = state.residuals
    transposed_product(balance, rows, y, z, r1)
    add_scaled(r1, tau, objective)
    product(balance, rows, x, r2, r3)
    for i in range(len(r2)):
        r2[i] = right[i] * tau - r2[i]
    for i in range(len(r3)):
        r3[i] = h[i] * tau - s[i] - r3[i]
    return -dot(objective, x) - dot(right, y) - dot(h, z) - kappa


@njit(cache=True, error_model='numpy')
def _judge(objective: Array, right: Array, h: Array, state: SolverState, tau: float, answer: Array,
           lowest: float) -> tuple[int, float]:
    """Return the verdict at an iterate and the least error so far; keep the best solution."""
    r1, r2, r3 = state.residuals
    cost = dot(objective, state.x) / tau
    proof = -dot(right, state.y) - dot(h, state.z)
    size = max(1.0, np.sqrt(dot(state.s, state.s)) / tau)
    error = max(np.sqrt(dot(r1, r1)) / tau, np.sqrt(dot(r2, r2)) / tau)
    error = max(error, np.sqrt(dot(r3, r3)) / (tau * size))
    error = max(error, abs(cost - proof / tau) / max(1.0, abs(cost)))
    if error < lowest:
        lowest = error
        for i in range(len(answer)):
            answer[i] = state.x[i] / tau
        if error <= TOLERANCE:
            return SOLVED, lowest
    if proof > 0.0:
        missing = 0.0
        for i in range(len(r1)):
            missing += (r1[i] - objective[i] * tau) ** 2
        if np.sqrt(missing) <= CERTIFICATE * proof:
            answer[:] = 0.0
            return INFEASIBLE, lowest
    return UNDECIDED, lowest


@njit(cache=True, error_model='numpy')
def _direction(balance: Array, rows: Array, state: SolverState, share: float,
               refine: bool) -> None:
    """Solve for the direction that removes a share of the residuals, ``ds`` being taken off."""
    r1, r2, r3 = state.residuals
    dx, dy, dz, ds = state.steps
    p, q, r = state.goals
    for i in range(len(p)):
        p[i] = -share * r1[i]
    for i in range(len(q)):
        q[i] = share * r2[i]
    for i in range(len(r)):
        r[i] = share * r3[i] - ds[i]
    solve_step(balance, rows, state, p, q, r, dx, dy, dz, refine)


@njit(cache=True, error_model='numpy')
def _correct(m: int, weighted: Array, scaled_ds: Array, scaled_dz: Array, target: float) -> None:
    """Write Mehrotra's right-hand side over ``scaled_dz``, ``scaled_ds`` being used up."""
    cross = np.empty(len(weighted))
    jordan_product(m, scaled_ds, scaled_dz, cross)
    jordan_product(m, weighted, weighted, scaled_dz)
    for i in range(len(weighted)):
        scaled_dz[i] = -scaled_dz[i] - cross[i]
    add_identity(m, scaled_dz, target)
