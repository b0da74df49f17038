"""
Quasi-static equilibrium of a held object: compiled kernels.

Unknown is the scaled twist ``x = (v, rho omega)`` of the object at its centre of
mass; wrenches are ``(f, torque / rho)``, so that the stiffness ``-dR/dx`` is in N/m
throughout. See docs/model/stability.md for the derivation.
"""

from numba import njit
import numpy as np

#: Newton steps before a load is given up.
MAX_ITERATIONS = 25
#: Trials of a Newton step, each half the one before.
MAX_TRIALS = 4
#: A step must lower the residual by this share of its length.
SUFFICIENT_DECREASE = 1e-3
#: Share of the elastic stiffness added to the tangent after a step that did not,
#: growing and falling by ``DAMPING_FACTOR``; dropped above ``MAX_DAMPING``.
FIRST_DAMPING = 0.1
MAX_DAMPING = 4.0
DAMPING_FACTOR = 4.0
#: Pivots below this share of the largest are zero.
RELATIVE_PIVOT = 1e-12
#: An iterate this many times outside the displacement limits has slid away.
ESCAPE = 3.0
#: Stiffness of the loaded contacts must not be singular to this share.
RESTRAINT = 1e-8


@njit(cache=True)
def contact_response(x, motion, normal, stiffness, friction, response):
    """
    Fill forces and tangents of one contact at the scaled twist x.

    ``response`` (4, 6): column 0 the forces ``(n, t1, t2, torsion / r_e)``, columns
    1 to 4 their derivatives by the contact's displacements, column 5 scratch.
    """
    response[:, :5] = 0.0
    response[0, 0] = normal
    for a in range(4):
        for b in range(6):
            response[a, 0] -= stiffness[a] * motion[a, b] * x[b]
    if response[0, 0] <= 0.0:
        response[:, 0] = 0.0
        return
    for a in range(4):
        response[a, a + 1] = -stiffness[a]
    size = np.sqrt(response[1, 0] ** 2 + response[2, 0] ** 2 + response[3, 0] ** 2)
    limit = friction * response[0, 0]
    if size > limit:
        slip(limit, size, friction, stiffness, response)


@njit(cache=True)
def slip(limit, size, friction, stiffness, response):
    """Return a trial force of a given size to the friction limit, along its own ray."""
    for a in range(1, 4):
        response[a, 5] = response[a, 0] / size
    for a in range(1, 4):
        direction = response[a, 5]
        response[a, 0] = limit * direction
        response[a, 1] = -friction * stiffness[0] * direction
        for b in range(1, 4):
            same = 1.0 if a == b else 0.0
            response[a, b + 1] = (-limit / size * stiffness[b]
                                  * (same - direction * response[b, 5]))


@njit(cache=True)
def balance(x, load, contacts, friction, response, state):
    """Fill state (7, 6) with residual and its derivative; return the residual's norm."""
    motion, action, normals, stiffness = contacts
    state[:, :] = 0.0
    state[0] = load
    for i in range(len(normals)):
        contact_response(x, motion[i], normals[i], stiffness[i], friction, response)
        if response[0, 0] <= 0.0:
            continue
        for c in range(4):
            for a in range(6):
                state[0, a] += action[i, c, a] * response[c, 0]
            for d in range(4):
                slope = response[c, d + 1]
                if slope != 0.0:
                    for a in range(6):
                        left = slope * action[i, c, a]
                        for b in range(6):
                            state[a + 1, b] += left * motion[i, d, b]
    return norm6(state[0])


@njit(cache=True)
def norm6(vector):
    """Return the Euclidean norm of six numbers."""
    total = 0.0
    for a in range(6):
        total += vector[a] * vector[a]
    return np.sqrt(total)


@njit(cache=True)
def solve6(matrix, right, solution):
    """Solve 6 equations in place by elimination with row pivots; return success."""
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
        if not abs(matrix[pivot, column]) > RELATIVE_PIVOT * largest:
            return False
        if pivot != column:
            for b in range(column, 6):
                matrix[column, b], matrix[pivot, b] = matrix[pivot, b], matrix[column, b]
            solution[column], solution[pivot] = solution[pivot], solution[column]
        for row in range(column + 1, 6):
            factor = matrix[row, column] / matrix[column, column]
            for b in range(column, 6):
                matrix[row, b] -= factor * matrix[column, b]
            solution[row] -= factor * solution[column]
    for row in range(5, -1, -1):
        for b in range(row + 1, 6):
            solution[row] -= matrix[row, b] * solution[b]
        solution[row] /= matrix[row, row]
    return True


@njit(cache=True)
def excursion(x, limits):
    """Return the larger of translation and rotation over their limits."""
    shift = np.sqrt(x[0] ** 2 + x[1] ** 2 + x[2] ** 2)
    turn = np.sqrt(x[3] ** 2 + x[4] ** 2 + x[5] ** 2)
    return max(shift / limits[0], turn / limits[1])


@njit(cache=True)
def elastic_stiffness(contacts, loads):
    """Return the stiffness (6, 6) of the contacts that bear load, none slipping."""
    motion, action, normals, stiffness = contacts
    matrix = np.zeros((6, 6))
    for i in range(len(normals)):
        if loads[i] > 0.0:
            for c in range(4):
                for a in range(6):
                    left = stiffness[i, c] * motion[i, c, a]
                    for b in range(6):
                        matrix[a, b] += left * motion[i, c, b]
    return matrix


@njit(cache=True)
def is_restrained(contacts, loads):
    """Tell whether the loaded contacts' stiffness is positive definite (Cholesky)."""
    matrix = elastic_stiffness(contacts, loads)
    largest = 0.0
    for a in range(6):
        largest = max(largest, matrix[a, a])
    for a in range(6):
        for b in range(a + 1):
            total = matrix[a, b]
            for c in range(b):
                total -= matrix[a, c] * matrix[b, c]
            if a == b:
                if not total > RESTRAINT * largest:
                    return False
                matrix[a, a] = np.sqrt(total)
            else:
                matrix[a, b] = total / matrix[b, b]
    return True


@njit(cache=True)
def search(x, step, size, load, contacts, friction, limits, response, state, trial):
    """
    Fill trial and its state along a Newton step, cut to the limits and halved.

    Returns the residual's norm at the trial, and whether it fell enough; where it
    did not, the trial is that of the whole step.
    """
    reach = excursion(step, limits)
    first = 1.0 if reach <= 1.0 else 1.0 / reach
    fraction = first
    for _ in range(MAX_TRIALS):
        for a in range(6):
            trial[a] = x[a] + fraction * step[a]
        new = balance(trial, load, contacts, friction, response, state)
        if new < size * (1.0 - SUFFICIENT_DECREASE * fraction):
            return new, True
        fraction *= 0.5
    for a in range(6):
        trial[a] = x[a] + first * step[a]
    return balance(trial, load, contacts, friction, response, state), False


@njit(cache=True)
def solve_equilibrium(x, load, contacts, friction, limits, tolerance):
    """
    Solve for the twist at which contacts and load balance, from the guess x in place.

    Semi-smooth Newton with halving. A step that lowers the residual at no length is
    taken whole, and the elastic stiffness damps those after it. Returns True if the
    residual's norm fell to ``tolerance`` before x escaped.
    """
    state, new_state, response = np.empty((7, 6)), np.empty((7, 6)), np.empty((4, 6))
    trial, step, matrix = np.empty(6), np.empty(6), np.empty((6, 6))
    elastic = elastic_stiffness(contacts, np.ones(len(contacts[2])))
    size = balance(x, load, contacts, friction, response, state)
    damping = 0.0
    for _ in range(MAX_ITERATIONS):
        if size <= tolerance:
            return True
        if excursion(x, limits) > ESCAPE:
            return False
        for a in range(6):
            for b in range(6):
                matrix[a, b] = damping * elastic[a, b] - state[a + 1, b]
        solved = solve6(matrix, state[0], step)
        if solved:
            new, lower = search(x, step, size, load, contacts, friction, limits, response,
                                new_state, trial)
            size = new
            x[:] = trial
            state, new_state = new_state, state
            damping = change_damping(damping, lower)
        else:
            damping = max(FIRST_DAMPING, DAMPING_FACTOR * damping)
    return size <= tolerance


@njit(cache=True)
def change_damping(damping, lower):
    """Return the damping of the next step, told whether the last lowered the residual."""
    if lower:
        damping /= DAMPING_FACTOR
        return damping if damping >= 0.1 * FIRST_DAMPING else 0.0
    damping = max(FIRST_DAMPING, DAMPING_FACTOR * damping)
    return damping if damping <= MAX_DAMPING else 0.0


@njit(cache=True)
def normal_loads(x, contacts, loads):
    """Fill the normal force of every contact at the scaled twist x."""
    motion, action, normals, stiffness = contacts
    for i in range(len(normals)):
        total = normals[i]
        for b in range(6):
            total -= stiffness[i, 0] * motion[i, 0, b] * x[b]
        loads[i] = max(0.0, total)


@njit(cache=True)
def utilisation(x, contacts, max_normals, limits, loads):
    """Return the largest share of a limit used at x; ``inf`` where restraint is lost."""
    normal_loads(x, contacts, loads)
    share = excursion(x, limits)
    for i in range(len(loads)):
        share = max(share, loads[i] / max_normals[i])
    return share if is_restrained(contacts, loads) else np.inf


@njit(cache=True)
def hold(x, load, contacts, max_normals, friction, limits, tolerance, loads):
    """Solve one load from the guess x in place; return the utilisation, ``inf`` if none."""
    if not solve_equilibrium(x, load, contacts, friction, limits, tolerance):
        return np.inf
    return utilisation(x, contacts, max_normals, limits, loads)


@njit(cache=True)
def judge(wrenches, contacts, max_normals, friction, limits, tolerance, cap, steps):
    """
    Judge all loads and bracket the largest multiple that holds.

    Returns
    -------
    shift (6,), balanced, shares (c,), margin, worst
        Scaled twist under no load and whether the contacts hold then; utilisation at
        once the loads (above 1: fails); margin (NaN where ``steps`` is 0) and the
        load that limits it.
    """
    count = len(wrenches)
    loads, shares = np.empty(len(max_normals)), np.full(count, np.inf)
    shift = np.zeros(6)
    total = 0.0
    for i in range(len(max_normals)):
        total += contacts[2][i]
    floor = tolerance * total
    balanced = hold(shift, np.zeros(6), contacts, max_normals, friction, limits,
                    floor, loads) <= 1.0
    solutions = np.zeros((count, 6))
    worst = -1
    for c in range(count):
        solutions[c] = shift
        shares[c] = hold(solutions[c], wrenches[c], contacts, max_normals, friction, limits,
                         floor + tolerance * norm6(wrenches[c]), loads)
        if worst < 0 or shares[c] > shares[worst]:
            worst = c
    if steps == 0:
        return shift, balanced, shares, np.nan, worst
    if not balanced:
        return shift, balanced, shares, 0.0, worst
    return (shift, balanced, shares) + bracket(
        wrenches, shares, solutions, shift, contacts, max_normals, friction, limits,
        tolerance, floor, cap, steps, worst)


@njit(cache=True)
def bracket(wrenches, shares, solutions, shift, contacts, max_normals, friction, limits,
            tolerance, floor, cap, steps, worst):
    """Return margin and worst load by bisection on those loads that lower the margin."""
    order = np.argsort(-shares)
    margin, loads = cap, np.empty(len(max_normals))
    x, good = np.empty(6), np.empty(6)
    for c in order:
        holds_once = shares[c] <= 1.0
        low, good[:] = 0.0, shift
        if holds_once:
            low, good[:] = 1.0, solutions[c]
        high = margin if holds_once else min(1.0, margin)
        if low >= high:
            continue
        size = tolerance * norm6(wrenches[c])
        if holds_once or margin < 1.0:
            x[:] = good
            if hold(x, high * wrenches[c], contacts, max_normals, friction, limits,
                    floor + high * size, loads) <= 1.0:
                continue
        for _ in range(steps):
            middle = 0.5 * (low + high)
            x[:] = good
            if hold(x, middle * wrenches[c], contacts, max_normals, friction, limits,
                    floor + middle * size, loads) <= 1.0:
                low, good[:] = middle, x
            else:
                high = middle
        margin, worst = low, c
    return margin, worst
