"""
The steps of the conic solver: start, residuals, scaling, predictor and corrector.

``min c'x`` with ``A x = b``, ``G x + s = h``, in the homogeneous self-dual embedding; see
``solve_cone_programme``.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .cone_algebra import (add_identity, into_cones, jordan_product, jordan_quotient,
                           nesterov_todd, shorten_steps, weigh)
from .cone_equations import (SolverState, add_dot, add_dot_of_all, add_scaled, dot, factorise,
                             product, solve_step, transposed_product)
from .cone_lanes import Lanes, width_of

Array = NDArray[np.float64]

#: Part of the way to the cones' boundary that a step takes [-].
STEP_SHARE = 0.99
#: Below this complementarity a solution of the normal equations is refined [-].
REFINED = 1e-5


@njit(cache=True, error_model='numpy')
def start(objective: Array, balance: Array, rows: Array, state: SolverState, lanes: Lanes,
          width: int) -> None:
    """Write the points that the least squares of either problem suggest, moved into the cones."""
    state.lines[:] = 1.0
    state.cones[:] = 0.0
    state.cones[:, :2] = 1.0
    factorise(balance, rows, state, lanes.good, width)
    (r1, r2, r3), p = state.residuals, state.goals[0]
    dx, dy, _, _ = state.steps
    r1[:], r2[:], r3[:] = 0.0, 0.0, 0.0
    for i in range(len(p)):
        p[i] = -objective[i]
    lanes.refine[:] = False
    solve_step(balance, rows, state, (r1, lanes.right, lanes.limits), (state.x, dy, state.s),
               lanes.refine, width)
    solve_step(balance, rows, state, (p, r2, r3), (dx, state.y, state.z), lanes.refine, width)
    for i in range(len(state.s)):
        for lane in range(width):
            state.s[i, lane] = -state.s[i, lane]
    into_cones(len(rows), state.s, width)
    into_cones(len(rows), state.z, width)


@njit(cache=True, error_model='numpy')
def _along(objective: Array, lanes: Lanes, x: Array, y: Array, z: Array, result: Array,
           width: int) -> None:
    """Write ``c'x + b'y + h'z``."""
    result[:width] = 0.0
    add_dot_of_all(objective, x, 1.0, result, width)
    add_dot(lanes.right, y, 1.0, result, width)
    add_dot(lanes.limits, z, 1.0, result, width)


@njit(cache=True, error_model='numpy')
def write_residuals(objective: Array, balance: Array, rows: Array, state: SolverState,
                    lanes: Lanes, width: int) -> None:
    """Write what is missing of the embedding's equations, of the last to ``lanes.last``."""
    x, y, z, s, tau = state.x, state.y, state.z, state.s, lanes.tau
    r1, r2, r3 = state.residuals
    transposed_product(balance, rows, y, z, r1, width)
    for i in range(len(r1)):
        for lane in range(width):
            r1[i, lane] += tau[lane] * objective[i]
    product(balance, rows, x, r2, r3, width)
    for i in range(len(r2)):
        for lane in range(width):
            r2[i, lane] = lanes.right[i, lane] * tau[lane] - r2[i, lane]
    for i in range(len(r3)):
        for lane in range(width):
            r3[i, lane] = lanes.limits[i, lane] * tau[lane] - s[i, lane] - r3[i, lane]
    _along(objective, lanes, x, y, z, lanes.last, width)
    for lane in range(width):
        lanes.last[lane] = -lanes.last[lane] - lanes.kappa[lane]


@njit(cache=True, error_model='numpy')
def move_on(objective: Array, balance: Array, rows: Array, state: SolverState, lanes: Lanes,
            active: int) -> None:
    """Scale, predict, correct and take a step."""
    m, width, (dx, dy, dz, ds) = len(rows), width_of(active), state.steps
    weighted, products, divided = state.scratch
    _scale(objective, balance, rows, state, lanes, active)
    weigh(state.lines, state.cones, state.z, weighted, False, width)
    jordan_product(m, weighted, weighted, products, width)
    for i in range(len(products)):
        for lane in range(width):
            products[i, lane] = -products[i, lane]
    for lane in range(width):
        lanes.push[lane], lanes.share[lane] = -lanes.kappa[lane] * lanes.tau[lane], 1.0
    for attempt in range(2):
        _direction(objective, balance, rows, state, lanes, width)
        lanes.step[:width] = np.inf
        shorten_steps(m, state.s, ds, lanes.step, width)
        shorten_steps(m, state.z, dz, lanes.step, width)
        for lane in range(width):
            tau, dtau = lanes.tau[lane], lanes.dtau[lane]
            kappa, dkappa = lanes.kappa[lane], lanes.dkappa[lane]
            step = min(lanes.step[lane], -tau / dtau if dtau < 0.0 else np.inf)
            lanes.step[lane] = min(step, -kappa / dkappa if dkappa < 0.0 else np.inf)
        if attempt == 0:
            _correct(m, state, lanes, width)
    for lane in range(width):
        lanes.step[lane] = min(STEP_SHARE * lanes.step[lane], 1.0)
        lanes.tau[lane] += lanes.step[lane] * lanes.dtau[lane]
        lanes.kappa[lane] += lanes.step[lane] * lanes.dkappa[lane]
    add_scaled(state.x, lanes.step, dx, width)
    add_scaled(state.y, lanes.step, dy, width)
    add_scaled(state.z, lanes.step, dz, width)
    add_scaled(state.s, lanes.step, ds, width)


@njit(cache=True, error_model='numpy')
def _scale(objective: Array, balance: Array, rows: Array, state: SolverState, lanes: Lanes,
           active: int) -> None:
    """Factorise at the iterates, and solve for the part of all directions that tau drives."""
    width, degree = width_of(active), len(rows) + len(state.cones) + 1.0
    dot(state.s, state.z, lanes.mu, width)
    for lane in range(width):
        tau, kappa = lanes.tau[lane], lanes.kappa[lane]
        lanes.mu[lane] = (lanes.mu[lane] + kappa * tau) / degree
        lanes.refine[lane] = lane < active and lanes.mu[lane] < REFINED * tau * tau
    nesterov_todd(len(rows), state.s, state.z, state.lines, state.cones, width)
    factorise(balance, rows, state, lanes.good, width)
    p = state.goals[0]
    for i in range(len(p)):
        for lane in range(width):
            p[i, lane] = -objective[i]
    solve_step(balance, rows, state, (p, lanes.right, lanes.limits), state.constant,
               lanes.refine, width)
    x1, y1, z1 = state.constant
    _along(objective, lanes, x1, y1, z1, lanes.below, width)
    for lane in range(width):
        lanes.below[lane] = lanes.kappa[lane] / lanes.tau[lane] - lanes.below[lane]


@njit(cache=True, error_model='numpy')
def _direction(objective: Array, balance: Array, rows: Array, state: SolverState, lanes: Lanes,
               width: int) -> None:
    """
    Write the directions for the right-hand sides in ``state.scratch``, and push and share.

    The scaled ``dz`` and ``ds`` are left in its last two.
    """
    m, (r1, r2, r3), (p, q, r) = len(rows), state.residuals, state.goals
    (dx, dy, dz, ds), (x1, y1, z1) = state.steps, state.constant
    weighted, products, divided = state.scratch
    jordan_quotient(m, weighted, products, divided, width)
    weigh(state.lines, state.cones, divided, ds, False, width)
    for i in range(len(p)):
        for lane in range(width):
            p[i, lane] = -lanes.share[lane] * r1[i, lane]
    for i in range(len(q)):
        for lane in range(width):
            q[i, lane] = lanes.share[lane] * r2[i, lane]
    for i in range(len(r)):
        for lane in range(width):
            r[i, lane] = lanes.share[lane] * r3[i, lane] - ds[i, lane]
    solve_step(balance, rows, state, (p, q, r), (dx, dy, dz), lanes.refine, width)
    _along(objective, lanes, dx, dy, dz, lanes.dtau, width)
    for lane in range(width):
        tau, push = lanes.tau[lane], lanes.push[lane]
        lanes.dtau[lane] = (push / tau - lanes.share[lane] * lanes.last[lane]
                            + lanes.dtau[lane]) / lanes.below[lane]
        lanes.dkappa[lane] = (push - lanes.kappa[lane] * lanes.dtau[lane]) / tau
    add_scaled(dx, lanes.dtau, x1, width)
    add_scaled(dy, lanes.dtau, y1, width)
    add_scaled(dz, lanes.dtau, z1, width)
    weigh(state.lines, state.cones, dz, products, False, width)
    for i in range(len(divided)):
        for lane in range(width):
            divided[i, lane] -= products[i, lane]
    weigh(state.lines, state.cones, divided, ds, False, width)


@njit(cache=True, error_model='numpy')
def _correct(m: int, state: SolverState, lanes: Lanes, width: int) -> None:
    """Write Mehrotra's right-hand side over the scaled ``dz``, and its push and share."""
    weighted, scaled_dz, scaled_ds = state.scratch
    cross, targets = state.halves[0], np.empty(width)
    for lane in range(width):
        sigma = (1.0 - min(lanes.step[lane], 1.0)) ** 3
        targets[lane] = sigma * lanes.mu[lane]
        lanes.push[lane] = (targets[lane] - lanes.kappa[lane] * lanes.tau[lane]
                            - lanes.dtau[lane] * lanes.dkappa[lane])
        lanes.share[lane] = 1.0 - sigma
    jordan_product(m, scaled_ds, scaled_dz, cross, width)
    jordan_product(m, weighted, weighted, scaled_dz, width)
    for i in range(len(cross)):
        for lane in range(width):
            scaled_dz[i, lane] = -scaled_dz[i, lane] - cross[i, lane]
    add_identity(m, scaled_dz, targets, width)
