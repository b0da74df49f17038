"""
One step of a body and joints that touch: springs with Coulomb's friction, implicit in time.

Unknowns are velocities u (n,). With the mass matrix A and the momentum b that they would have
without contacts, contacts of gaps d, stiffness k and relative motion ``d' = N u``, ``s = S u``
make them those of least

    1/2 u'Au - b'u + sum 1/2 k min(0, d + h N u)^2 + h mu f psi(S u),

which is convex. f is the normal force found last, so that few repetitions bring friction's limit
to the normal force of this step; ``psi(s) = sqrt(s's + e^2)``.
"""

import numpy as np

from ...arrays import Array
from ...numerics.cholesky import factorise_part, solve_factored
from ...numerics.kernels import njit

Contacts = tuple[Array, Array, Array]

#: Rows of a contact: approach, two slides, and the turn about the normal times a radius.
ROWS = 4
#: Speed below which friction falls short of its limit [m/s]: what stands under a load creeps so
#: fast, and turns about a contact's normal by it over the friction radius, 0.3 degrees/s at 2 mm.
CREEP = 1e-5
#: Repetitions with friction's limit renewed, Newton steps of each, halvings of a step.
REPETITIONS, NEWTON_STEPS, HALVINGS = 3, 25, 12
#: Change of the normal forces by a repetition after which none follows, of the largest [-].
SAME = 1e-2
#: Decrease of the energy by a Newton step below which it ends [J].
ENOUGH = 1e-13


@njit(cache=True)
def solve_step(mass: Array, momentum: Array, contacts: Contacts, friction: float, step: float,
               forces: Array, u: Array) -> None:
    """
    Solve for the velocities after a step, and the contacts' forces.

    Parameters
    ----------
    mass : (n, n) float
        Symmetric, positive definite [kg].
    momentum : (n,) float
        [kg m/s].
    contacts : tuple
        rows (c, 4, n): the gap's rate, two slides and the spin times a radius per velocity;
        gaps (c,) [m], stiffness (c,) [N/m].
    friction : float
        [-].
    step : float
        [s].
    forces : (c,) float
        Normal forces [N]: in those of the last step, out those of this.
    u : (n,) float
        In a guess, out the velocities.

    Notes
    -----
    Source: Castro, Han & Masterjohn 2023, Irrotational contact fields, the lagged model.
    Differs: the lag is taken out by repetition, and there is no dissipation but friction's.
    """
    rows, gaps, stiffness = contacts
    count, size = len(gaps), len(u)
    gradient, trial = np.empty(size), np.empty(size)
    hessian = np.empty((size, size))
    order, none, nothing = np.arange(size), np.empty(0, np.int64), np.empty((0, 0))
    for _ in range(REPETITIONS):
        for _ in range(NEWTON_STEPS):
            energy = _fill(mass, momentum, contacts, friction * step, step, forces, u, gradient,
                           hessian)
            factor, _ = factorise_part(hessian, order, none, nothing)
            for a in range(size):
                trial[a] = -gradient[a]
            solve_factored(factor, trial)
            decrease = 0.0
            for a in range(size):
                decrease -= gradient[a] * trial[a]
            if decrease < ENOUGH:
                break
            share = 1.0
            for _ in range(HALVINGS):
                for a in range(size):
                    u[a] += share * trial[a]
                if _energy(mass, momentum, contacts, friction * step, step, forces, u) <= (
                        energy - 1e-4 * share * decrease):
                    break
                for a in range(size):
                    u[a] -= share * trial[a]
                share *= 0.5
        most, change = 0.0, 0.0
        for i in range(count):
            found = -stiffness[i] * min(0.0, gaps[i] + step * _along(rows, i, 0, u))
            most, change = max(most, found), max(change, abs(found - forces[i]))
            forces[i] = found
        if change <= SAME * most:
            break


@njit(cache=True, forceinline=True)
def _along(rows: Array, i: int, row: int, u: Array) -> float:
    total = 0.0
    for a in range(len(u)):
        total += rows[i, row, a] * u[a]
    return total


@njit(cache=True)
def _energy(mass: Array, momentum: Array, contacts: Contacts, rub: float, step: float,
            forces: Array, u: Array) -> float:
    rows, gaps, stiffness = contacts
    total = 0.0
    for a in range(len(u)):
        for b in range(len(u)):
            total += 0.5 * u[a] * mass[a, b] * u[b]
        total -= momentum[a] * u[a]
    for i in range(len(gaps)):
        overlap = min(0.0, gaps[i] + step * _along(rows, i, 0, u))
        total += 0.5 * stiffness[i] * overlap * overlap
        if forces[i] > 0.0:
            x, y, z = _along(rows, i, 1, u), _along(rows, i, 2, u), _along(rows, i, 3, u)
            total += rub * forces[i] * np.sqrt(x * x + y * y + z * z + CREEP * CREEP)
    return total


@njit(cache=True)
def _fill(mass: Array, momentum: Array, contacts: Contacts, rub: float, step: float,
          forces: Array, u: Array, gradient: Array, hessian: Array) -> float:
    """Fill gradient and Hessian of the energy at u; return the energy."""
    rows, gaps, stiffness = contacts
    size, energy = len(u), 0.0
    for a in range(size):
        gradient[a] = 0.0
        for b in range(size):
            gradient[a] += mass[a, b] * u[b]
            hessian[a, b] = mass[a, b]
        energy += (0.5 * gradient[a] - momentum[a]) * u[a]
        gradient[a] -= momentum[a]
    slide = np.empty(3)
    for i in range(len(gaps)):
        overlap = gaps[i] + step * _along(rows, i, 0, u)
        if overlap < 0.0:
            energy += 0.5 * stiffness[i] * overlap * overlap
            for a in range(size):
                left = step * stiffness[i] * rows[i, 0, a]
                gradient[a] += left * overlap
                for b in range(size):
                    hessian[a, b] += left * step * rows[i, 0, b]
        if forces[i] > 0.0:
            square = CREEP * CREEP
            for k in range(3):
                slide[k] = _along(rows, i, k + 1, u)
                square += slide[k] * slide[k]
            speed = np.sqrt(square)
            energy += rub * forces[i] * speed
            most = rub * forces[i] / speed
            for a in range(size):
                along = 0.0
                for k in range(3):
                    along += slide[k] * rows[i, k + 1, a]
                gradient[a] += most * along
                for k in range(3):
                    left = most * (rows[i, k + 1, a] - along * slide[k] / square)
                    for b in range(size):
                        hessian[a, b] += left * rows[i, k + 1, b]
    return energy
