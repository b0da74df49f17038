"""The conic solver's loops over lanes for one case alone, which is the middle one of three."""

import numpy as np

from gripsim_ros.core.mechanics import cone_algebra, cone_equations, cone_solver, cone_steps
from gripsim_ros.core.mechanics.cone_lanes import RUNNING, UNDECIDED, make_lanes

WIDTH, LANE = 3, 1


def spread(v):
    """Return a vector or matrix in the middle lane; the others hold something else."""
    v = np.asarray(v, float)
    lanes = np.repeat(1.5 + np.abs(v[..., None]), WIDTH, axis=-1)
    lanes[..., LANE] = v
    return lanes


def run(kernel, *arguments, out=()):
    """
    Call a kernel with all arrays spread over lanes; those ``out`` get what it wrote.

    Numbers are handed on as they stand.
    """
    handed = [spread(a) if isinstance(a, np.ndarray) else a for a in arguments]
    result = kernel(*handed, WIDTH)
    for i in out:
        arguments[i][...] = handed[i][..., LANE]
    return result


def into_cones(m, v):
    run(cone_algebra.into_cones, m, v, out=[1])


def add_identity(m, v, amount):
    run(cone_algebra.add_identity, m, v, np.array(amount), out=[1])


def largest_step(m, v, dv):
    steps = np.array(np.inf)
    run(cone_algebra.shorten_steps, m, v, dv, steps, out=[3])
    return float(steps)


def cone_norm(v, i):
    return cone_algebra.cone_norm(spread(v), i, LANE)


def nesterov_todd(m, s, z, lines, cones):
    run(cone_algebra.nesterov_todd, m, s, z, lines, cones, out=[3, 4])


def weigh(lines, cones, v, result, inverse):
    run(cone_algebra.weigh, lines, cones, v, result, inverse, out=[3])


def jordan_product(m, u, v, result):
    run(cone_algebra.jordan_product, m, u, v, result, out=[3])


def jordan_quotient(m, u, d, result):
    run(cone_algebra.jordan_quotient, m, u, d, result, out=[3])


class OneLane:
    """State and numbers of three lanes; attributes are those of the middle one."""

    def __init__(self, rows, balances, cones):
        m, n = rows.shape
        self.rows = rows
        self.state = cone_equations.make_state(rows, balances, cones, WIDTH)
        self.lanes = make_lanes(n, balances, m + cone_algebra.CONE * cones, WIDTH)
        for array in (self.state.x, self.state.y, self.state.z, self.state.s,
                      *self.state.residuals):
            array[:] = 1.0

    def __getattr__(self, name):
        found = getattr(self.state if hasattr(self.state, name) else self.lanes, name)
        if isinstance(found, tuple):
            return tuple(array[..., LANE] for array in found)
        return found[..., LANE]

    def put(self, **values):
        """Write what belongs to the case; other lanes get something else."""
        for name, value in values.items():
            array = getattr(self.state if hasattr(self.state, name) else self.lanes, name)
            array[...] = spread(value)

    def scale(self, s, z):
        """Write the scaling of two vectors inside the cones."""
        cone_algebra.nesterov_todd(len(self.rows), spread(s), spread(z), self.state.lines,
                                   self.state.cones, WIDTH)

    def factorise(self, balance):
        cone_equations.factorise(balance, self.rows, self.state, self.lanes.good, WIDTH)
        return self.lanes.good[LANE]

    def solve_step(self, balance, goal, solution, refine):
        """Solve one step's equations, of which the middle lane's are refined or not."""
        wanted = np.array([not refine, refine, not refine])
        written = tuple(map(spread, solution))
        cone_equations.solve_step(balance, self.rows, self.state, tuple(map(spread, goal)),
                                  written, wanted, WIDTH)
        for array, lanes in zip(solution, written):
            array[:] = lanes[..., LANE]

    def start(self, objective, balance, right, limits):
        self.put(right=right, limits=limits)
        cone_steps.start(objective, balance, self.rows, self.state, self.lanes, WIDTH)

    def residuals_of(self, objective, balance, right, limits, tau, kappa):
        self.put(right=right, limits=limits, tau=tau, kappa=kappa)
        cone_steps.write_residuals(objective, balance, self.rows, self.state, self.lanes, WIDTH)
        return self.lanes.last[LANE]

    def judge(self, objective, lowest):
        """Return the verdict and the least error so far."""
        self.put(lowest=lowest)
        verdict = np.zeros(WIDTH, np.int64)
        cone_solver._judge(objective, self.state, self.lanes, verdict, WIDTH)
        found = verdict[LANE]
        return UNDECIDED if found == RUNNING else found, self.lanes.lowest[LANE]


def factor(matrix):
    """Return a symmetric matrix's factor, its diagonal's inverses, and whether that went well."""
    upper, inverse, good = spread(matrix), np.empty((len(matrix), WIDTH)), np.ones(WIDTH, bool)
    cone_equations._cholesky(upper, inverse, np.ones(matrix.shape, bool), good, WIDTH)
    return upper[..., LANE], inverse[:, LANE], bool(good[LANE])


def through(upper, inverse, columns):
    """Solve ``U'X = B`` for the columns of B."""
    solved = spread(columns)
    cone_equations._through(spread(upper), spread(inverse), np.ones(upper.shape, bool), solved,
                            WIDTH)
    return solved[..., LANE]
