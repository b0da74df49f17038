"""The conic solver's kernels for one case alone, which is in the middle of eight lanes."""

from gripsim_ros.core.numerics.simd import LANES, load, store
from gripsim_ros.core.numerics.socp import cone, iteration, kkt, lanes, solver, workspace
from gripsim_ros.core.numerics.socp.lanes import IDLE, RUNNING, UNDECIDED
from numba import njit
import numpy as np

LANE = 3
#: Rows of a room that some vectors do not use.
SPARE = 5


def spread(v):
    """Return a vector or matrix in the middle lane; the others hold something else."""
    v = np.asarray(v, float)
    lanes = np.repeat(1.5 + np.abs(v[..., None]), LANES, axis=-1)
    lanes[..., LANE] = v
    return lanes


def run(kernel, *arguments, out=()):
    """
    Call a kernel with a room that holds all arrays, and where they are instead of them.

    Numbers are handed on as they stand. Those ``out`` get what it wrote.
    """
    room, handed = np.full((workspace.NUMBERS + SPARE, LANES), 1.5), []
    for a in arguments:
        if isinstance(a, np.ndarray):
            handed.append(len(room))
            room = np.vstack([room, spread(a).reshape(-1, LANES)])
        else:
            handed.append(a)
    result = kernel(room, *handed)
    for i in out:
        a = arguments[i]
        a[...] = room[handed[i]:handed[i] + a.size, LANE].reshape(a.shape)
    return result


@njit
def _add_identity(room, m, size, v, amounts):
    cone.add_identity(room, m, size, v, load(room, amounts))


@njit
def _cone_norm(room, v, i, result):
    store(cone.cone_norm(room, v + i), room, result)


def into_cones(m, v):
    run(cone.into_cones, m, v.size, v, out=[2])


def add_identity(m, v, amount):
    run(_add_identity, m, v.size, v, np.array(amount), out=[2])


def largest_step(m, v, dv):
    steps = np.array(np.inf)
    run(cone.shorten_steps, m, v.size, v, dv, steps, out=[4])
    return float(steps)


def cone_norm(v, i):
    result = np.array(0.0)
    run(_cone_norm, v, i, result, out=[2])
    return float(result)


def _scaling_of(lines, cones):
    return np.append(lines, cones)


def nesterov_todd(m, s, z, lines, cones):
    scaling = _scaling_of(lines, cones)
    run(cone.nesterov_todd, m, s.size, s, z, scaling, out=[4])
    lines[...], cones[...] = scaling[:m], scaling[m:].reshape(cones.shape)


def weigh(lines, cones, v, result, inverse):
    run(cone.weigh, len(lines), v.size, _scaling_of(lines, cones), v, result, inverse,
        out=[4])


def jordan_product(m, u, v, result):
    run(cone.jordan_product, m, u.size, u, v, result, out=[4])


def jordan_quotient(m, u, d, result):
    run(cone.jordan_quotient, m, u.size, u, d, result, out=[4])


class OneLane:
    """The room of eight lanes; attributes are what the middle one has of a name."""

    NUMBERS = {'tau': workspace.TAU, 'kappa': workspace.KAPPA, 'lowest': workspace.LOWEST}

    def __init__(self, rows, balances, cones):
        m, n = rows.shape
        self.at = workspace.make_places(n, balances, m, cones)
        self.rows, self.room = rows, workspace.make_room(self.at.rows)
        self.filled = kkt.filled_entries(rows, cones)
        self.every = np.ones((balances, balances), bool)
        size = self.at.size
        self.places = {'lines': (self.at.scaling, (m,)), 'best': (self.at.best, (n,)),
                       'cones': (self.at.scaling + m, (cones, cone.CONE + 1)),
                       's': (self.at.s, (size,)), 'right': (self.at.task + n, (balances,)),
                       'limits': (self.at.task + n + balances, (size,)),
                       **{name: (row, ()) for name, row in self.NUMBERS.items()}}
        for names, first in (('x y z', self.at.x), ('r1 r2 r3', self.at.residual),
                             ('x1 y1 z1', self.at.constant)):
            for name, place, count in zip(names.split(), (0, n, n + balances),
                                          (n, balances, size)):
                self.places[name] = first + place, (count,)
        for name in ('x', 'y', 'z', 's', 'r1', 'r2', 'r3'):
            self.put(**{name: np.ones(self.places[name][1])})

    def __getattr__(self, name):
        place, shape = self.places[name]
        count = int(np.prod(shape))
        return self.room[place:place + count, LANE].reshape(shape)

    @property
    def residuals(self):
        return self.r1, self.r2, self.r3

    @property
    def constant(self):
        return self.x1, self.y1, self.z1

    def put(self, **values):
        """Write what belongs to the case; other lanes get something else."""
        for name, value in values.items():
            place, shape = self.places[name]
            lanes = spread(np.broadcast_to(value, shape)).reshape(-1, LANES)
            self.room[place:place + len(lanes)] = lanes

    def scale(self, s, z):
        """Write the scaling of two vectors inside the cones."""
        self.put(s=s, z=z)
        at = self.at
        cone.nesterov_todd(self.room, at.m, at.size, at.s, at.x + at.n + at.p, at.scaling)

    def factorise(self, balance):
        kkt.factorise(self.room, self.at, balance, self.rows, self.filled, self.every)
        return self.room[workspace.GOOD, LANE] > 0.0

    def solve_step(self, balance, goal, solution, refine):
        """Solve one step's equations, of which the middle lane's are refined or not."""
        at = self.at
        self.room[workspace.REFINE] = 0.0 if refine else 1.0
        self.room[workspace.REFINE, LANE] = 1.0 if refine else 0.0
        wanted = spread(np.concatenate(goal))
        self.room[at.goal:at.goal + len(wanted)] = wanted
        kkt.solve_step(self.room, at, balance, self.rows, self.filled, self.every,
                       at.goal, at.dx)
        found = self.room[at.dx:at.dx + len(wanted), LANE]
        for array, part in zip(solution, np.split(found, [at.n, at.n + at.p])):
            array[:] = part

    def start(self, objective, balance, right, limits):
        self.put(right=right, limits=limits)
        problem = balance, self.rows, self.filled, self.every
        iteration.prepare_starts(self.room, self.at, objective, *problem)
        iteration.start(self.room, self.at, *problem)

    def residuals_of(self, objective, balance, right, limits, tau, kappa):
        self.put(right=right, limits=limits, tau=tau, kappa=kappa)
        iteration.write_residuals(self.room, self.at, objective, balance, self.rows)
        return self.room[workspace.LAST, LANE]

    def judge(self, objective, lowest):
        """Return the verdict and the least error so far."""
        self.put(lowest=lowest)
        verdict = np.zeros(LANES, np.int64)
        solver._judge(self.room, self.at, objective, verdict)
        found = verdict[LANE]
        return UNDECIDED if found == RUNNING else found, float(self.lowest)

    def solve(self, objective, balance, right, limits):
        """Solve the case to its end, in all lanes alike; return its verdict."""
        at, problem = self.at, (balance, self.rows, self.filled, self.every)
        self.room[at.task:at.task + at.n + at.p + at.size] = 0.0
        for lane in range(LANES):
            lanes.put_case(self.room, at, lane, right, limits)
        iteration.prepare_starts(self.room, at, objective, *problem)
        iteration.start(self.room, at, *problem)
        begin = np.empty(at.n + at.p + 2 * at.size)
        lanes.keep_start(self.room, at, LANE, begin)
        verdicts = np.full(LANES, IDLE)
        solver._solve(self.room, at, objective, *problem, np.tile(begin, (LANES, 1)),
                      np.arange(LANES), np.tile(right, (LANES, 1)),
                      np.tile(limits, (LANES, 1)), np.empty((LANES, at.n)), verdicts)
        return verdicts[LANE]


def factor(matrix):
    """Return a symmetric matrix's factor, its diagonal's inverses, and whether that went well."""
    matrix = np.array(matrix, float)
    inverse, good = np.empty(len(matrix)), []

    def kernel(room, upper, diagonal):
        room[workspace.GOOD] = 1.0
        kkt.cholesky(room, np.ones(matrix.shape, bool), upper, diagonal)
        good.append(room[workspace.GOOD, LANE] > 0.0)

    run(kernel, matrix, inverse, out=[0, 1])
    return matrix, inverse, good[0]


def through(upper, inverse, columns):
    """Solve ``U'X = B`` for the columns of B."""
    solved = columns.copy()
    run(lambda room, *places: kkt.go_through(
        room, np.ones(upper.shape, bool), *places[:2], columns.shape[1], places[2]),
        upper, inverse, solved, out=[2])
    return solved
