"""
Quasi-static equilibrium of a held object: compiled kernels.

Unknown is the scaled twist ``x = (v, rho omega)`` of the object at its centre of
mass; wrenches are ``(f, torque / rho)``, so that the stiffness ``-dR/dx`` is in N/m
throughout. ``contacts`` is ``(motion (k, 6, 8), action (k, 6, 8), starts (k, 3),
stiffness (k, 6))``: rows are the normal, two tangents, torsion and two tilts; starts are the
normal and tilting forces at no twist. ``grasp`` is ``(contacts, max_normals (k,), friction,
limits (2,), tolerance)``. Rows of eight are six numbers and two of 0, which fill a vector.
See docs/model/stability.md for the derivation.
"""

import numpy as np

from ...arrays import Array
from ...numerics.kernels import copy_entries, njit
from ...numerics.simd import LANES, broadcast, load, store
from .contact_springs import (ROWS, SLIDING, Contacts, all_contact_forces, contact_forces,
                              fill_slip_tangent, trial_forces)

GraspStiffness = tuple[Contacts, Array, float, Array, float]

#: Largest number of Newton steps for one load.
MAX_ITERATIONS = 25
#: Largest number of trials in a line search, each half the step before.
MAX_TRIALS = 4
#: Longest step, in units of the displacement limits.
MAX_STEP = 0.4
#: Least relative decrease of the residual, per unit of step length (Armijo).
SUFFICIENT_DECREASE = 1e-3
#: Share of the elastic stiffness added to the tangent after a step that did not,
#: growing and falling by ``DAMPING_FACTOR``; dropped above ``MAX_DAMPING``.
FIRST_DAMPING = 0.1
MAX_DAMPING = 4.0
DAMPING_FACTOR = 4.0
#: Relative size below which a pivot counts as zero.
RELATIVE_PIVOT = 1e-12
#: Ratio to the displacement limits beyond which an iterate has slid away.
ESCAPE_RATIO = 1.5
#: Forces of so many tolerances are none: what has slid until it is let go keeps as much.
LEAST_LOAD = 100.0
#: Least relative pivot at which the loaded contacts restrain the object.
MIN_STIFFNESS_RATIO = 1e-8


@njit(cache=True)
def fill_residual(wrench: Array, grasp: GraspStiffness, response: Array, state: Array) -> float:
    """
    Fill the residual at a twist; return its norm.

    ``state`` (8, 8): row 0 the residual, rows 1 to 6 its derivative, row 7 the twist.
    """
    for a in range(LANES):
        state[0, a] = wrench[a] if a < 6 else 0.0
    action, twist, total = grasp[0][1], load(state, 7), load(state, 0)
    for i in range(len(action)):
        forces = contact_forces(i, twist, grasp[0], grasp[2], response)
        for a in range(ROWS):
            total = total + load(action, i, a) * forces[a]
    store(total, state, 0)
    return norm6(state[0])


@njit(cache=True, error_model='numpy')
def fill_derivative(grasp: GraspStiffness, response: Array, state: Array) -> None:
    """Fill the residual's derivative at a twist; ``state`` as in ``fill_residual``."""
    motion, action, starts, stiffness = grasp[0]
    friction, twist = grasp[2], load(state, 7)
    p, q, r = broadcast(0.0), broadcast(0.0), broadcast(0.0)
    u, v, w = broadcast(0.0), broadcast(0.0), broadcast(0.0)
    for i in range(len(starts)):
        normal, x, y, z, f, g = trial_forces(i, twist, grasp[0], response)
        if normal <= 0.0:
            continue
        for a in range(ROWS):
            store(broadcast(0.0), response, a)
        for a in range(ROWS):
            response[a, a] = -stiffness[i, a]
        slide, tilt = np.sqrt(x * x + y * y + z * z), np.sqrt(f * f + g * g)
        if slide > friction * normal:
            response[1, 7], response[2, 7], response[3, 7] = x / slide, y / slide, z / slide
            fill_slip_tangent(i, 1, SLIDING, -(friction * normal) / slide, friction, stiffness,
                              response)
        if tilt > normal:
            response[4, 7], response[5, 7] = f / tilt, g / tilt
            fill_slip_tangent(i, SLIDING, ROWS, -normal / tilt, 1.0, stiffness, response)
        for c in range(ROWS):
            for d in range(ROWS):
                slope = response[c, d]
                if slope != 0.0:
                    along = load(motion, i, d)
                    p = p + slope * action[i, c, 0] * along
                    q = q + slope * action[i, c, 1] * along
                    r = r + slope * action[i, c, 2] * along
                    u = u + slope * action[i, c, 3] * along
                    v = v + slope * action[i, c, 4] * along
                    w = w + slope * action[i, c, 5] * along
    store(p, state, 1)
    store(q, state, 2)
    store(r, state, 3)
    store(u, state, 4)
    store(v, state, 5)
    store(w, state, 6)


@njit(cache=True)
def norm6(vector: Array) -> float:
    """Return the Euclidean norm of six numbers."""
    total = 0.0
    for a in range(6):
        total += vector[a] * vector[a]
    return float(np.sqrt(total))


@njit(cache=True)
def solve6(matrix: Array, right: Array, solution: Array, least: float) -> bool:
    """
    Solve 6 equations, ``matrix`` (6, 8), in place by elimination with row pivots.

    Returns False where a pivot is not above ``least`` of the largest entry.
    """
    largest = 0.0
    for a in range(6):
        solution[a] = right[a]
        for b in range(6):
            largest = max(largest, abs(matrix[a, b]))
    for column in range(6):
        pivot = column
        for row in range(column + 1, 6):
            if abs(matrix[row, column]) > abs(matrix[pivot, column]):
                pivot = row
        if not abs(matrix[pivot, column]) > least * largest:
            return False
        upper = load(matrix, pivot)
        if pivot != column:
            store(load(matrix, column), matrix, pivot)
            store(upper, matrix, column)
            solution[column], solution[pivot] = solution[pivot], solution[column]
        for row in range(column + 1, 6):
            factor = matrix[row, column] / matrix[column, column]
            store(load(matrix, row) - factor * upper, matrix, row)
            solution[row] -= factor * solution[column]
    for row in range(5, -1, -1):
        for b in range(row + 1, 6):
            solution[row] -= matrix[row, b] * solution[b]
        solution[row] /= matrix[row, row]
    return True


@njit(cache=True)
def excursion(x: Array, limits: Array) -> float:
    """Return the larger of translation and rotation over their limits."""
    shift = np.sqrt(x[0] ** 2 + x[1] ** 2 + x[2] ** 2)
    turn = np.sqrt(x[3] ** 2 + x[4] ** 2 + x[5] ** 2)
    return max(shift / limits[0], turn / limits[1])


@njit(cache=True)
def elastic_stiffness(contacts: Contacts, loads: Array, rows: int) -> Array:
    """Return the stiffness (6, 8) of the first rows of the loaded contacts, none slipping."""
    motion, action, starts, stiffness = contacts
    matrix = np.zeros((6, LANES))
    for i in range(len(starts)):
        if loads[i] > 0.0:
            for c in range(rows):
                along = load(motion, i, c)
                for a in range(6):
                    left = stiffness[i, c] * motion[i, c, a]
                    store(load(matrix, a) + left * along, matrix, a)
    return matrix


@njit(cache=True, inline='always')
def is_restrained(contacts: Contacts, loads: Array) -> bool:
    """
    Return True if the loaded contacts' stiffness lets no twist go.

    Without their stiffness against tilting: what lies on a single finger is not held.
    """
    matrix, none = elastic_stiffness(contacts, loads, SLIDING), np.zeros(6)
    return solve6(matrix, none, none, MIN_STIFFNESS_RATIO)


@njit(cache=True)
def line_search(state: Array, size: float, step: Array, problem: tuple[Array, GraspStiffness],
                response: Array, trial: Array) -> tuple[float, bool]:
    """
    Fill trial along a Newton step from state, cut to the limits and halved.

    Returns the residual's norm at the trial, and whether it fell enough; where it
    did not, the trial is that of the whole step.
    """
    wrench, grasp = problem
    reach = excursion(step, grasp[3])
    first = 1.0 if reach <= MAX_STEP else MAX_STEP / reach
    fraction = first
    for _ in range(MAX_TRIALS):
        for a in range(6):
            trial[7, a] = state[7, a] + fraction * step[a]
        new = fill_residual(wrench, grasp, response, trial)
        if new < size * (1.0 - SUFFICIENT_DECREASE * fraction):
            return new, True
        fraction *= 0.5
    for a in range(6):
        trial[7, a] = state[7, a] + first * step[a]
    return fill_residual(wrench, grasp, response, trial), False


@njit(cache=True, inline='always')
def solve_equilibrium(x: Array, wrench: Array, grasp: GraspStiffness) -> bool:
    """
    Solve for the twist at which contacts and load balance, from the guess x in place.

    Semi-smooth Newton with halving. A step that lowers the residual at no length is
    taken whole, and the elastic stiffness damps those after it. Returns True if the
    residual's norm fell to the tolerance before x escaped.
    """
    state, trial = np.zeros((8, LANES)), np.zeros((8, LANES))
    response, step = np.empty((ROWS, LANES)), np.empty(6)
    matrix, problem = np.empty((6, LANES)), (wrench, grasp)
    elastic, springs = np.zeros((6, LANES)), False
    tolerance = grasp[4] * (np.abs(grasp[0][2][:, 0]).sum() + norm6(wrench))
    copy_entries(x, state[7, :6])
    size, damping = fill_residual(wrench, grasp, response, state), 0.0
    residual, twist, limits = state[0], state[7], grasp[3]
    for _ in range(MAX_ITERATIONS):
        if size <= tolerance or excursion(twist, limits) > ESCAPE_RATIO:
            break
        fill_derivative(grasp, response, state)
        if damping > 0.0 and not springs:
            elastic, springs = elastic_stiffness(grasp[0], np.ones(len(grasp[1])), ROWS), True
        for a in range(6):
            store(damping * load(elastic, a) - load(state, a + 1), matrix, a)
        lower = False
        if solve6(matrix, residual, step, RELATIVE_PIVOT):
            size, lower = line_search(state, size, step, problem, response, trial)
            store(load(trial, 0), state, 0)
            store(load(trial, 7), state, 7)
        damping = next_damping(damping, lower)
    copy_entries(state[7], x)
    return bool(size <= tolerance)


@njit(cache=True)
def next_damping(damping: float, lower: bool) -> float:
    """Return the damping of the next step; ``lower``: the last one lowered the residual."""
    if lower:
        damping /= DAMPING_FACTOR
        return damping if damping >= 0.1 * FIRST_DAMPING else 0.0
    damping = max(FIRST_DAMPING, DAMPING_FACTOR * damping)
    return damping if damping <= MAX_DAMPING else 0.0


@njit(cache=True, inline='always')
def utilisation(x: Array, grasp: GraspStiffness) -> float:
    """Return the largest share of a limit used at x; ``inf`` where restraint is lost."""
    contacts, max_normals, friction, limits, tolerance = grasp
    loads = all_contact_forces(x, contacts, friction)[:, 0]
    share, least = excursion(x, limits), LEAST_LOAD * tolerance * np.abs(contacts[2][:, 0]).sum()
    for i in range(len(loads)):
        if loads[i] <= least:
            loads[i] = 0.0
        if loads[i] > max_normals[i] * share:
            share = loads[i] / max_normals[i] if max_normals[i] > 0.0 else np.inf
    return share if is_restrained(contacts, loads) else np.inf


@njit(cache=True)
def solve_load_case(x: Array, wrench: Array, grasp: GraspStiffness) -> float:
    """Solve one load from the guess x in place; return the utilisation, ``inf`` if none."""
    return utilisation(x, grasp) if solve_equilibrium(x, wrench, grasp) else np.inf
