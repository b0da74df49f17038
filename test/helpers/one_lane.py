"""The conic solver's kernels for one case alone, which is in the middle of eight lanes."""

from gripsim_ros.core.numerics.simd import LANES, load, store
from gripsim_ros.core.numerics.socp import cone, iteration, kkt, lanes, solver, workspace
from gripsim_ros.core.numerics.socp.lanes import IDLE, RUNNING, UNDECIDED
from numba import njit
import numpy as np

LANE = 3
#: Rows of a workspace that no vector uses.
SPARE = 5


def spread(v):
    """Return a vector or matrix in the middle lane; the others hold something else."""
    v = np.asarray(v, float)
    lanes = np.repeat(1.5 + np.abs(v[..., None]), LANES, axis=-1)
    lanes[..., LANE] = v
    return lanes


def run(kernel, *arguments, out=()):
    """
    Call a kernel with a workspace that holds all arrays, and their first rows instead of them.

    Numbers are handed on as they stand. Those ``out`` get what it wrote.
    """
    work, handed = np.full((workspace.SCALARS + SPARE, LANES), 1.5), []
    for a in arguments:
        if isinstance(a, np.ndarray):
            handed.append(len(work))
            work = np.vstack([work, spread(a).reshape(-1, LANES)])
        else:
            handed.append(a)
    result = kernel(work, *handed)
    for i in out:
        a = arguments[i]
        a[...] = work[handed[i]:handed[i] + a.size, LANE].reshape(a.shape)
    return result


@njit
def _add_identity(work, m, size, v, amounts):
    cone.add_identity(work, m, size, v, load(work, amounts))


@njit
def _determinant(work, v, i, result):
    store(cone.determinant(work, v + i), work, result)


def shift_into_cone(m, v):
    run(cone.shift_into_cone, m, v.size, v, out=[2])


def add_identity(m, v, amount):
    run(_add_identity, m, v.size, v, np.array(amount), out=[2])


def largest_step(m, v, dv):
    steps = np.array(np.inf)
    run(cone.limit_steps, m, v.size, v, dv, steps, out=[4])
    return float(steps)


def determinant(v, i):
    result = np.array(0.0)
    run(_determinant, v, i, result, out=[2])
    return float(result)


def _scaling_of(lines, cones):
    return np.append(lines, cones)


def nesterov_todd(m, s, z, lines, cones):
    scaling = _scaling_of(lines, cones)
    run(cone.nesterov_todd_scaling, m, s.size, s, z, scaling, out=[4])
    lines[...], cones[...] = scaling[:m], scaling[m:].reshape(cones.shape)


def apply_scaling(lines, cones, v, result, inverse):
    run(cone.apply_scaling, len(lines), v.size, _scaling_of(lines, cones), v, result, inverse,
        out=[4])


def jordan_product(m, u, v, result):
    run(cone.jordan_product, m, u.size, u, v, result, out=[4])


def jordan_quotient(m, u, d, result):
    run(cone.jordan_quotient, m, u.size, u, d, result, out=[4])


class OneLane:
    """The workspace of eight lanes; attributes are what the middle one has of a name."""

    SCALARS = {'tau': workspace.TAU, 'kappa': workspace.KAPPA,
               'least_error': workspace.LEAST_ERROR}

    def __init__(self, G, equalities, cones):
        m, n = G.shape
        self.at = workspace.make_layout(n, equalities, m, cones)
        self.G, self.work = G, workspace.make_workspace(self.at.rows)
        self.pattern = kkt.fill_pattern(G, cones)
        self.dense = np.ones((equalities, equalities), bool)
        size = self.at.size
        self.places = {'lines': (self.at.scaling, (m,)), 'best': (self.at.best, (n,)),
                       'cones': (self.at.scaling + m, (cones, cone.CONE_SIZE + 1)),
                       's': (self.at.s, (size,)), 'right': (self.at.data + n, (equalities,)),
                       'limits': (self.at.data + n + equalities, (size,)),
                       **{name: (row, ()) for name, row in self.SCALARS.items()}}
        for names, first in (('x y z', self.at.x), ('r1 r2 r3', self.at.residual),
                             ('x1 y1 z1', self.at.tau_part)):
            for name, place, count in zip(names.split(), (0, n, n + equalities),
                                          (n, equalities, size)):
                self.places[name] = first + place, (count,)
        for name in ('x', 'y', 'z', 's', 'r1', 'r2', 'r3'):
            self.put(**{name: np.ones(self.places[name][1])})

    def __getattr__(self, name):
        place, shape = self.places[name]
        count = int(np.prod(shape))
        return self.work[place:place + count, LANE].reshape(shape)

    @property
    def residuals(self):
        return self.r1, self.r2, self.r3

    @property
    def tau_part(self):
        return self.x1, self.y1, self.z1

    def put(self, **values):
        """Write what belongs to the case; other lanes get something else."""
        for name, value in values.items():
            place, shape = self.places[name]
            lanes = spread(np.broadcast_to(value, shape)).reshape(-1, LANES)
            self.work[place:place + len(lanes)] = lanes

    def scale(self, s, z):
        """Write the scaling of two vectors inside the cones."""
        self.put(s=s, z=z)
        at = self.at
        cone.nesterov_todd_scaling(self.work, at.m, at.size, at.s, at.x + at.n + at.p,
                                   at.scaling)

    def factorise(self, A):
        kkt.factorise_kkt(self.work, self.at, A, self.G, self.pattern, self.dense)
        return self.work[workspace.FACTORISED, LANE] > 0.0

    def solve_kkt(self, A, rhs, solution, refine):
        """Solve one step's equations, of which the middle lane's are refined or not."""
        at = self.at
        self.work[workspace.REFINE] = 0.0 if refine else 1.0
        self.work[workspace.REFINE, LANE] = 1.0 if refine else 0.0
        wanted = spread(np.concatenate(rhs))
        self.work[at.rhs:at.rhs + len(wanted)] = wanted
        kkt.solve_kkt(self.work, at, A, self.G, self.pattern, self.dense,
                      at.rhs, at.dx)
        found = self.work[at.dx:at.dx + len(wanted), LANE]
        for array, part in zip(solution, np.split(found, [at.n, at.n + at.p])):
            array[:] = part

    def start(self, objective, A, right, limits):
        self.put(right=right, limits=limits)
        problem = A, self.G, self.pattern, self.dense
        iteration.start_dual(self.work, self.at, objective, *problem)
        iteration.start_primal(self.work, self.at, *problem)

    def residuals_of(self, objective, A, right, limits, tau, kappa):
        self.put(right=right, limits=limits, tau=tau, kappa=kappa)
        iteration.compute_residuals(self.work, self.at, objective, A, self.G)
        return self.work[workspace.GAP, LANE]

    def judge(self, objective, least_error):
        """Return the verdict and the least error so far."""
        self.put(least_error=least_error)
        verdict = np.zeros(LANES, np.int64)
        solver._judge(self.work, self.at, objective, verdict)
        found = verdict[LANE]
        return UNDECIDED if found == RUNNING else found, float(self.least_error)

    def solve(self, objective, A, right, limits):
        """Solve the case to its end, in all lanes alike; return its verdict."""
        at, problem = self.at, (A, self.G, self.pattern, self.dense)
        self.work[at.data:at.data + at.n + at.p + at.size] = 0.0
        cases = lanes.Cases(np.arange(LANES), np.tile(right, (LANES, 1)),
                            np.tile(limits, (LANES, 1)))
        for lane in range(LANES):
            lanes.load_case(self.work, at, lane, cases, lane)
        iteration.start_dual(self.work, at, objective, *problem)
        iteration.start_primal(self.work, at, *problem)
        begin = self.work[at.x:at.dx, LANE]
        answers = lanes.Answers(np.empty((LANES, at.n)), np.full(LANES, IDLE))
        solver._iterate(self.work, at, objective, *problem, np.tile(begin, (LANES, 1)), cases,
                        answers)
        return answers.verdicts[LANE]


def factor(matrix):
    """Return a symmetric matrix's factor, its diagonal's inverses, and whether that went well."""
    matrix = np.array(matrix, float)
    inverse, good = np.empty(len(matrix)), []

    def kernel(work, upper, diagonal):
        work[workspace.FACTORISED] = 1.0
        kkt.cholesky(work, np.ones(matrix.shape, bool), upper, diagonal)
        good.append(work[workspace.FACTORISED, LANE] > 0.0)

    run(kernel, matrix, inverse, out=[0, 1])
    return matrix, inverse, good[0]


def forward_substitute(upper, inverse, columns):
    """Solve ``U'X = B`` for the columns of B."""
    solved = columns.copy()
    run(lambda work, *places: kkt.forward_substitute(
        work, np.ones(upper.shape, bool), *places[:2], columns.shape[1], places[2]),
        upper, inverse, solved, out=[2])
    return solved
