"""
The steps of the conic solver: start, residuals, scaling, predictor and corrector.

``min c'x`` with ``A x = b``, ``G x + s = h``, in the homogeneous self-dual embedding; see
``solve_cone_programme``.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..simd import broadcast, load, select, smaller, store
from .cone import (
    CONE, add_identity, into_cones, jordan_product, jordan_quotient, nesterov_todd, no_scaling,
    shorten_steps, weigh)
from .kkt import (
    add_dot, add_scaled, along_all, dot, factorise, product, solve_step, transposed_product)
from .workspace import (
    BELOW, BUSY, DKAPPA, DTAU, KAPPA, LAST, MU, PUSH, Places, REFINE, SHARE, STEP, TAU)

Array = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

#: Part of the way to the cones' boundary that a step takes [-].
STEP_SHARE = 0.99
#: Below this complementarity a solution of the normal equations is refined [-].
REFINED = 1e-5


@njit(cache=True, error_model='numpy')
def prepare_starts(room: Array, at: Places, objective: Array, balance: Array, rows: Array,
                   filled: BoolArray, every: BoolArray) -> None:
    """
    Factorise for the starts of all cases, and write ``y`` and ``z``, which are the same for all.

    They are those of the least squares of the dual problem, moved into the cones.
    """
    no_scaling(room, at.m, at.size, at.scaling)
    factorise(room, at, balance, rows, filled, every)
    for i in range(at.n):
        store(broadcast(-objective[i]), room, at.goal + i)
    for i in range(at.n, at.n + at.p + at.size):
        store(broadcast(0.0), room, at.goal + i)
    store(broadcast(0.0), room, REFINE)
    solve_step(room, at, balance, rows, filled, every, at.goal, at.x)
    into_cones(room, at.m, at.size, at.x + at.n + at.p)


@njit(cache=True, error_model='numpy')
def start(room: Array, at: Places, balance: Array, rows: Array, filled: BoolArray,
          every: BoolArray) -> None:
    """Write the ``x`` and ``s`` of the primal problem's least squares, s moved into the cones."""
    for i in range(at.n):
        store(broadcast(0.0), room, at.goal + i)
    for i in range(at.n, at.n + at.p + at.size):
        store(load(room, at.task + i), room, at.goal + i)
    solve_step(room, at, balance, rows, filled, every, at.goal, at.dx)
    for i in range(at.n):
        store(load(room, at.dx + i), room, at.x + i)
    for i in range(at.size):
        store(-load(room, at.dx + at.n + at.p + i), room, at.s + i)
    into_cones(room, at.m, at.size, at.s)


@njit(cache=True, error_model='numpy')
def _along(room: Array, at: Places, objective: Array, x: int) -> Array:
    """Return ``c'x + b'y + h'z`` (8,)."""
    return add_dot(room, at.task + at.n, x + at.n, at.p + at.size, 1.0,
                   along_all(room, objective, x))


@njit(cache=True, error_model='numpy')
def write_residuals(room: Array, at: Places, objective: Array, balance: Array,
                    rows: Array) -> None:
    """Write what is missing of the embedding's equations."""
    n, p, x, residual, tau = at.n, at.p, at.x, at.residual, load(room, TAU)
    transposed_product(room, balance, rows, at.size, x + n, x + n + p, residual)
    for i in range(n):
        store(load(room, residual + i) + tau * objective[i], room, residual + i)
    product(room, balance, rows, at.size, x, residual + n, residual + n + p)
    for i in range(n, n + p):
        store(load(room, at.task + i) * tau - load(room, residual + i), room, residual + i)
    for i in range(at.size):
        place = residual + n + p + i
        store(load(room, at.task + n + p + i) * tau - load(room, at.s + i) - load(room, place),
              room, place)
    store(-_along(room, at, objective, x) - load(room, KAPPA), room, LAST)


@njit(cache=True, error_model='numpy')
def move_on(room: Array, at: Places, objective: Array, balance: Array, rows: Array,
            filled: BoolArray, every: BoolArray) -> None:
    """Scale, predict, correct and take a step."""
    m, size, triple = at.m, at.size, at.n + at.p + at.size
    z, dz = at.x + at.n + at.p, at.dx + at.n + at.p
    _scale(room, at, objective, balance, rows, filled, every)
    weigh(room, m, size, at.scaling, z, at.weighted, False)
    jordan_product(room, m, size, at.weighted, at.weighted, at.products)
    for i in range(at.products, at.products + size):
        store(-load(room, i), room, i)
    store(-load(room, KAPPA) * load(room, TAU), room, PUSH)
    store(broadcast(1.0), room, SHARE)
    for attempt in range(2):
        _direction(room, at, objective, balance, rows, filled, every)
        store(broadcast(np.inf), room, STEP)
        shorten_steps(room, m, size, at.s, at.ds, STEP)
        shorten_steps(room, m, size, z, dz, STEP)
        dtau, dkappa, step = load(room, DTAU), load(room, DKAPPA), load(room, STEP)
        step = smaller(step, select(dtau < 0.0, -load(room, TAU) / dtau, np.inf))
        step = smaller(step, select(dkappa < 0.0, -load(room, KAPPA) / dkappa, np.inf))
        store(step, room, STEP)
        if attempt == 0:
            _correct(room, at)
    step = smaller(STEP_SHARE * load(room, STEP), 1.0)
    store(step, room, STEP)
    store(load(room, TAU) + step * load(room, DTAU), room, TAU)
    store(load(room, KAPPA) + step * load(room, DKAPPA), room, KAPPA)
    add_scaled(room, at.x, step, at.dx, triple)
    add_scaled(room, at.s, step, at.ds, size)


@njit(cache=True, error_model='numpy')
def _scale(room: Array, at: Places, objective: Array, balance: Array, rows: Array,
           filled: BoolArray, every: BoolArray) -> None:
    """Factorise at the iterates, and solve for the part of all directions that tau drives."""
    m, size, z = at.m, at.size, at.x + at.n + at.p
    tau, kappa = load(room, TAU), load(room, KAPPA)
    degree = m + (size - m) // CONE + 1.0
    mu = (dot(room, at.s, z, size) + kappa * tau) / degree
    store(mu, room, MU)
    close = select(mu < REFINED * tau * tau, 1.0, broadcast(0.0))
    store(select(load(room, BUSY) > 0.0, close, 0.0), room, REFINE)
    nesterov_todd(room, m, size, at.s, z, at.scaling)
    factorise(room, at, balance, rows, filled, every)
    for i in range(at.n):
        store(broadcast(-objective[i]), room, at.task + i)
    solve_step(room, at, balance, rows, filled, every, at.task, at.constant)
    store(kappa / tau - _along(room, at, objective, at.constant), room, BELOW)


@njit(cache=True, error_model='numpy')
def _direction(room: Array, at: Places, objective: Array, balance: Array, rows: Array,
               filled: BoolArray, every: BoolArray) -> None:
    """
    Write the directions for what is ``weighted`` and ``products``, and push and share.

    The scaled ``dz`` and ``ds`` are left in ``products`` and ``divided``.
    """
    n, p, m, size, goal, residual = at.n, at.p, at.m, at.size, at.goal, at.residual
    jordan_quotient(room, m, size, at.weighted, at.products, at.divided)
    weigh(room, m, size, at.scaling, at.divided, at.ds, False)
    share = load(room, SHARE)
    for i in range(n):
        store(-share * load(room, residual + i), room, goal + i)
    for i in range(n, n + p):
        store(share * load(room, residual + i), room, goal + i)
    for i in range(size):
        place = n + p + i
        store(share * load(room, residual + place) - load(room, at.ds + i), room, goal + place)
    solve_step(room, at, balance, rows, filled, every, goal, at.dx)
    tau, push = load(room, TAU), load(room, PUSH)
    dtau = (push / tau - share * load(room, LAST)
            + _along(room, at, objective, at.dx)) / load(room, BELOW)
    store(dtau, room, DTAU)
    store((push - load(room, KAPPA) * dtau) / tau, room, DKAPPA)
    add_scaled(room, at.dx, dtau, at.constant, n + p + size)
    weigh(room, m, size, at.scaling, at.dx + n + p, at.products, False)
    for i in range(size):
        store(load(room, at.divided + i) - load(room, at.products + i), room, at.divided + i)
    weigh(room, m, size, at.scaling, at.divided, at.ds, False)


@njit(cache=True, error_model='numpy')
def _correct(room: Array, at: Places) -> None:
    """Write Mehrotra's right-hand side over the scaled ``dz``, and its push and share."""
    m, size, cross = at.m, at.size, at.half
    rest = 1.0 - smaller(load(room, STEP), 1.0)
    sigma = rest * (rest * rest)
    target = sigma * load(room, MU)
    store(target - load(room, KAPPA) * load(room, TAU) - load(room, DTAU) * load(room, DKAPPA),
          room, PUSH)
    store(1.0 - sigma, room, SHARE)
    jordan_product(room, m, size, at.divided, at.products, cross)
    jordan_product(room, m, size, at.weighted, at.weighted, at.products)
    for i in range(size):
        store(-load(room, at.products + i) - load(room, cross + i), room, at.products + i)
    add_identity(room, m, size, at.products, target)
