"""
One iteration of the conic solver: residuals, scaling, predictor, corrector and step.

Equations and notation are those of the package's docstring.
"""

import numpy as np

from ...arrays import Array, BoolArray
from ..kernels import njit
from ..simd import broadcast, load, select, smaller, store
from .cone import (
    CONE_SIZE, add_identity, apply_scaling, identity_scaling, jordan_product, jordan_quotient,
    limit_steps, nesterov_todd_scaling, shift_into_cone)
from .kkt import (
    add_dot, add_scaled, apply_constraints, apply_transpose, dot, dot_shared, factorise_kkt,
    solve_kkt)
from .workspace import (
    ACTIVE, D_KAPPA, DENOMINATOR, DKAPPA, DTAU, GAP, KAPPA, Layout, MU, REFINE, REMOVE, STEP, TAU)


#: Share of the way to the cones' boundary that a step takes [-].
STEP_FRACTION = 0.99
#: Least ``mu / tau^2`` at which KKT solutions need no iterative refinement [-].
REFINE_BELOW = 1e-5


@njit(cache=True, error_model='numpy', inline='always')
def start_dual(work: Array, layout: Layout, objective: Array, A: Array, G: Array,
               pattern: BoolArray, dense: BoolArray) -> None:
    """
    Factorise ``K(I)``, and write y and z of the starting point, which are those of all cases.

    They minimise ``|z|`` under ``A'y + G'z + c = 0``; then z is shifted into the cones.
    """
    n, p = layout.n, layout.p
    identity_scaling(work, layout.m, layout.size, layout.scaling)
    factorise_kkt(work, layout, A, G, pattern, dense)
    for i in range(n):
        store(broadcast(-objective[i]), work, layout.rhs + i)
    for i in range(n, n + p + layout.size):
        store(broadcast(0.0), work, layout.rhs + i)
    store(broadcast(0.0), work, REFINE)
    solve_kkt(work, layout, A, G, pattern, dense, layout.rhs, layout.x)
    shift_into_cone(work, layout.m, layout.size, layout.x + n + p)


@njit(cache=True, error_model='numpy', inline='always')
def start_primal(work: Array, layout: Layout, A: Array, G: Array, pattern: BoolArray,
                 dense: BoolArray) -> None:
    """
    Write x and s of the starting point from ``K(I)`` as ``start_dual`` left it.

    They minimise ``|s|`` under ``A x = b`` and ``G x + s = h``; then s is shifted into the cones.
    """
    n, p = layout.n, layout.p
    for i in range(n):
        store(broadcast(0.0), work, layout.rhs + i)
    for i in range(n, n + p + layout.size):
        store(load(work, layout.data + i), work, layout.rhs + i)
    solve_kkt(work, layout, A, G, pattern, dense, layout.rhs, layout.dx)
    for i in range(n):
        store(load(work, layout.dx + i), work, layout.x + i)
    for i in range(layout.size):
        store(-load(work, layout.dx + n + p + i), work, layout.s + i)
    shift_into_cone(work, layout.m, layout.size, layout.s)


@njit(cache=True, error_model='numpy')
def _gap_product(work: Array, layout: Layout, objective: Array, x: int) -> Array:
    """Return ``c'x + b'y + h'z`` (8,)."""
    return add_dot(work, layout.data + layout.n, x + layout.n, layout.p + layout.size, 1.0,
                   dot_shared(work, objective, x))


@njit(cache=True, error_model='numpy')
def compute_residuals(work: Array, layout: Layout, objective: Array, A: Array, G: Array) -> None:
    """Write the residuals r1 to r4 of the embedding's equations."""
    n, p, x, residual, data = layout.n, layout.p, layout.x, layout.residual, layout.data
    tau = load(work, TAU)
    apply_transpose(work, A, G, layout.size, x + n, x + n + p, residual)
    for i in range(n):
        store(load(work, residual + i) + tau * objective[i], work, residual + i)
    apply_constraints(work, A, G, layout.size, x, residual + n, residual + n + p)
    for i in range(n, n + p):
        store(load(work, data + i) * tau - load(work, residual + i), work, residual + i)
    for i in range(layout.size):
        place = residual + n + p + i
        store(load(work, data + n + p + i) * tau - load(work, layout.s + i) - load(work, place),
              work, place)
    store(-_gap_product(work, layout, objective, x) - load(work, KAPPA), work, GAP)


@njit(cache=True, error_model='numpy', inline='always')
def take_step(work: Array, layout: Layout, objective: Array, A: Array, G: Array,
              pattern: BoolArray, dense: BoolArray) -> None:
    """Move the iterates along Mehrotra's predictor and corrector; write ``STEP``."""
    m, size = layout.m, layout.size
    z, dz = layout.x + layout.n + layout.p, layout.dx + layout.n + layout.p
    _factorise_at_iterate(work, layout, objective, A, G, pattern, dense)
    apply_scaling(work, m, size, layout.scaling, z, layout.lambda_, False)
    jordan_product(work, m, size, layout.lambda_, layout.lambda_, layout.products)
    for i in range(layout.products, layout.products + size):
        store(-load(work, i), work, i)
    store(-load(work, KAPPA) * load(work, TAU), work, D_KAPPA)
    store(broadcast(1.0), work, REMOVE)
    for attempt in range(2):
        _solve_direction(work, layout, objective, A, G, pattern, dense)
        store(broadcast(np.inf), work, STEP)
        limit_steps(work, m, size, layout.s, layout.ds, STEP)
        limit_steps(work, m, size, z, dz, STEP)
        dtau, dkappa, step = load(work, DTAU), load(work, DKAPPA), load(work, STEP)
        step = smaller(step, select(dtau < 0.0, -load(work, TAU) / dtau, np.inf))
        step = smaller(step, select(dkappa < 0.0, -load(work, KAPPA) / dkappa, np.inf))
        store(step, work, STEP)
        if attempt == 0:
            _set_corrector(work, layout)
    step = smaller(STEP_FRACTION * load(work, STEP), 1.0)
    store(step, work, STEP)
    store(load(work, TAU) + step * load(work, DTAU), work, TAU)
    store(load(work, KAPPA) + step * load(work, DKAPPA), work, KAPPA)
    add_scaled(work, layout.x, step, layout.dx, layout.dx - layout.x)


@njit(cache=True, error_model='numpy', inline='always')
def _factorise_at_iterate(work: Array, layout: Layout, objective: Array, A: Array, G: Array,
                          pattern: BoolArray, dense: BoolArray) -> None:
    """Write mu, the scaling W and the factors of ``K(W)``, and solve it for ``(-c, b, h)``."""
    m, size, z = layout.m, layout.size, layout.x + layout.n + layout.p
    tau, kappa = load(work, TAU), load(work, KAPPA)
    degree = m + (size - m) // CONE_SIZE + 1.0
    mu = (dot(work, layout.s, z, size) + kappa * tau) / degree
    store(mu, work, MU)
    close = select(mu < REFINE_BELOW * tau * tau, 1.0, broadcast(0.0))
    store(select(load(work, ACTIVE) > 0.0, close, 0.0), work, REFINE)
    nesterov_todd_scaling(work, m, size, layout.s, z, layout.scaling)
    factorise_kkt(work, layout, A, G, pattern, dense)
    for i in range(layout.n):
        store(broadcast(-objective[i]), work, layout.data + i)
    solve_kkt(work, layout, A, G, pattern, dense, layout.data, layout.tau_part)
    store(kappa / tau - _gap_product(work, layout, objective, layout.tau_part), work, DENOMINATOR)


@njit(cache=True, error_model='numpy', inline='always')
def _solve_direction(work: Array, layout: Layout, objective: Array, A: Array, G: Array,
                     pattern: BoolArray, dense: BoolArray) -> None:
    """
    Write the direction for d in ``products``, ``D_KAPPA`` and ``REMOVE``.

    ``W dz`` and ``W^-1 ds`` are left in ``products`` and ``quotient``.
    """
    n, p, m, size, scaling = layout.n, layout.p, layout.m, layout.size, layout.scaling
    rhs, residual, products, quotient = (layout.rhs, layout.residual, layout.products,
                                         layout.quotient)
    jordan_quotient(work, m, size, layout.lambda_, products, quotient)
    apply_scaling(work, m, size, scaling, quotient, layout.ds, False)
    remove = load(work, REMOVE)
    for i in range(n):
        store(-remove * load(work, residual + i), work, rhs + i)
    for i in range(n, n + p):
        store(remove * load(work, residual + i), work, rhs + i)
    for i in range(size):
        place = n + p + i
        store(remove * load(work, residual + place) - load(work, layout.ds + i), work, rhs + place)
    solve_kkt(work, layout, A, G, pattern, dense, rhs, layout.dx)
    tau, d_kappa = load(work, TAU), load(work, D_KAPPA)
    dtau = (d_kappa / tau - remove * load(work, GAP)
            + _gap_product(work, layout, objective, layout.dx)) / load(work, DENOMINATOR)
    store(dtau, work, DTAU)
    store((d_kappa - load(work, KAPPA) * dtau) / tau, work, DKAPPA)
    add_scaled(work, layout.dx, dtau, layout.tau_part, n + p + size)
    apply_scaling(work, m, size, scaling, layout.dx + n + p, products, False)
    for i in range(size):
        store(load(work, quotient + i) - load(work, products + i), work, quotient + i)
    apply_scaling(work, m, size, scaling, quotient, layout.ds, False)


@njit(cache=True, error_model='numpy')
def _set_corrector(work: Array, layout: Layout) -> None:
    """
    Write the corrector's d over ``W dz``, and its ``D_KAPPA`` and ``REMOVE``.

    Source: Mehrotra 1992; ``sigma = (1 - alpha)^3`` as in Vandenberghe 2010.
    """
    m, size, products, second_order = layout.m, layout.size, layout.products, layout.scratch
    rest = 1.0 - smaller(load(work, STEP), 1.0)
    sigma = rest * (rest * rest)
    target = sigma * load(work, MU)
    store(target - load(work, KAPPA) * load(work, TAU) - load(work, DTAU) * load(work, DKAPPA),
          work, D_KAPPA)
    store(1.0 - sigma, work, REMOVE)
    jordan_product(work, m, size, layout.quotient, products, second_order)
    jordan_product(work, m, size, layout.lambda_, layout.lambda_, products)
    for i in range(size):
        store(-load(work, products + i) - load(work, second_order + i), work, products + i)
    add_identity(work, m, size, products, target)
