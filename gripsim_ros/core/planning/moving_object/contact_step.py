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
#: Repetitions with friction's limit renewed, Newton steps of each.
REPETITIONS, NEWTON_STEPS = 3, 25
#: Change of the normal forces by a repetition after which none follows, of the largest [-].
SAME = 1e-2
#: Decrease of the energy by a Newton step below which it ends [J].
ENOUGH = 1e-13
#: Slope of the energy along a Newton step, of that at its beginning, at which it is cut, and most
#: tries to find the place.
FLAT, TRIES = 0.1, 20


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
    Source: Castro, Han & Masterjohn 2023, Irrotational contact fields, the lagged model, and
    the search along a Newton step of Castro et al. 2022, SAP. Differs: the lag is taken out by
    repetition, and there is no dissipation but friction's.
    """
    rows, gaps, stiffness = contacts
    count, size = len(gaps), len(u)
    way = np.empty(size)
    motions, ways = np.empty((count, ROWS)), np.empty((count, ROWS))
    _fill_motions(rows, u, motions)
    for _ in range(REPETITIONS):
        for _ in range(NEWTON_STEPS):
            slope, curvature = _newton_way(mass, momentum, contacts, friction * step, step,
                                           forces, u, motions, way)
            if -slope < ENOUGH:
                break
            _fill_motions(rows, way, ways)
            share = share_of_way(contacts, friction * step, step, forces, motions, ways,
                                 slope, curvature)
            for a in range(size):
                u[a] += share * way[a]
            for i in range(count):
                for k in range(ROWS):
                    motions[i, k] += share * ways[i, k]
        most, change = 0.0, 0.0
        for i in range(count):
            found = -stiffness[i] * min(0.0, gaps[i] + step * motions[i, 0])
            most, change = max(most, found), max(change, abs(found - forces[i]))
            forces[i] = found
        if change <= SAME * most:
            break


@njit(cache=True)
def _fill_motions(rows: Array, u: Array, motions: Array) -> None:
    """Fill the relative motions (c, 4) of contacts at velocities u."""
    for i in range(len(motions)):
        for k in range(ROWS):
            total = 0.0
            for a in range(len(u)):
                total += rows[i, k, a] * u[a]
            motions[i, k] = total


@njit(cache=True)
def _newton_way(mass: Array, momentum: Array, contacts: Contacts, rub: float, step: float,
                forces: Array, u: Array, motions: Array, way: Array) -> tuple[float, float]:
    """Fill Newton's way from u; return the energy's slope along it, and the mass's curvature."""
    size = len(u)
    gradient, hessian = np.empty(size), np.empty((size, size))
    fill_derivatives(mass, momentum, contacts, rub, step, forces, u, motions, gradient, hessian)
    factor, _ = factorise_part(hessian, np.arange(size), np.empty(0, np.int64),
                               np.empty((0, 0)))
    for a in range(size):
        way[a] = -gradient[a]
    solve_factored(factor, way)
    slope, curvature = 0.0, 0.0
    for a in range(size):
        slope += gradient[a] * way[a]
        for b in range(size):
            curvature += way[a] * mass[a, b] * way[b]
    return slope, curvature


@njit(cache=True)
def share_of_way(contacts: Contacts, rub: float, step: float, forces: Array, motions: Array,
                 ways: Array, slope: float, curvature: float) -> float:
    """
    Return the share of a way at which the energy is about least, 1 at most.

    ``slope`` is the energy's at the beginning, ``curvature`` the mass's part along the way.
    """
    # The part of the slope that grows with the share alone: mass and momentum.
    own = slope - contact_slope(contacts, rub, step, forces, motions, ways, 0.0)[0]
    low, high, share = 0.0, 1.0, 1.0
    for _ in range(TRIES):
        bent, steeper = contact_slope(contacts, rub, step, forces, motions, ways, share)
        found = own + share * curvature + bent
        if abs(found) <= -FLAT * slope or (found < 0.0 and share == 1.0):
            break
        if found < 0.0:
            low = share
        else:
            high = share
        share -= found / (curvature + steeper)
        if not low < share < high:
            share = 0.5 * (low + high)
    return share


@njit(cache=True)
def contact_slope(contacts: Contacts, rub: float, step: float, forces: Array, motions: Array,
                  ways: Array, share: float) -> tuple[float, float]:
    """Return the slope of the contacts' energy along a way, and how it grows, at a share."""
    _, gaps, stiffness = contacts
    slope, growth = 0.0, 0.0
    for i in range(len(gaps)):
        overlap = gaps[i] + step * (motions[i, 0] + share * ways[i, 0])
        if overlap < 0.0:
            deeper = step * ways[i, 0]
            slope += stiffness[i] * overlap * deeper
            growth += stiffness[i] * deeper * deeper
        if forces[i] > 0.0:
            square, along, length = CREEP * CREEP, 0.0, 0.0
            for k in range(1, ROWS):
                slide = motions[i, k] + share * ways[i, k]
                square += slide * slide
                along += slide * ways[i, k]
                length += ways[i, k] * ways[i, k]
            most = rub * forces[i] / np.sqrt(square)
            slope += most * along
            growth += most * (length - along * along / square)
    return slope, growth


@njit(cache=True)
def fill_derivatives(mass: Array, momentum: Array, contacts: Contacts, rub: float, step: float,
                     forces: Array, u: Array, motions: Array, gradient: Array, hessian: Array
                     ) -> None:
    """Fill gradient and the upper part of the Hessian of the energy at u."""
    rows, gaps, stiffness = contacts
    size = len(u)
    for a in range(size):
        gradient[a] = -momentum[a]
        for b in range(size):
            gradient[a] += mass[a, b] * u[b]
            hessian[a, b] = mass[a, b]
    for i in range(len(gaps)):
        overlap = gaps[i] + step * motions[i, 0]
        if overlap < 0.0:
            for a in range(size):
                left = step * stiffness[i] * rows[i, 0, a]
                gradient[a] += left * overlap
                for b in range(a, size):
                    hessian[a, b] += left * step * rows[i, 0, b]
        if forces[i] > 0.0:
            x, y, z = motions[i, 1], motions[i, 2], motions[i, 3]
            square = CREEP * CREEP + x * x + y * y + z * z
            most = rub * forces[i] / np.sqrt(square)
            for a in range(size):
                first, second, third = rows[i, 1, a], rows[i, 2, a], rows[i, 3, a]
                along = x * first + y * second + z * third
                gradient[a] += most * along
                along /= square
                first, second, third = (most * (first - along * x), most * (second - along * y),
                                        most * (third - along * z))
                for b in range(a, size):
                    hessian[a, b] += (first * rows[i, 1, b] + second * rows[i, 2, b]
                                      + third * rows[i, 3, b])
