"""
The second-order cone programme (SOCP) of the minimal forces: unknowns, cones and limits.

Formulation in docs/model/stability.md.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..arrays import Array, BoolArray, IntArray
from ..errors import ShapeError
from ..fields import checked_array
from ..numerics.kernels import njit
from ..numerics.socp.cone import CONE_SIZE
from ..numerics.socp.lanes import INFEASIBLE, SOLVED, UNDECIDED
from ..numerics.socp.solver import ConeProgramme, TOLERANCE, solve_cone_programme
from ..options import option, Options
from .contact_set import ContactSet, TorqueOptions
from .grasp_map import grasp_map


#: Least gain of stiffness, against what the contacts resist least, at which moments by
#: rocking are unknowns (fingers in a line on a plate); elsewhere they only cost time [-].
ROCKING_GAIN = 1.01
#: Residual that counts as solved where round-off stops the independent solver [-].
CLARABEL_TOLERANCE = 1e-6


@dataclass(frozen=True)
class MinimalForceOptions(Options, section='minimal_forces'):
    """
    Options of the minimal forces.

    Attributes
    ----------
    mode : str
        ``conic``: the programme of this module; ``seed``: the pseudo-inverse of
        Leskov et al. 2017, which ignores the cones (see ``pseudo_inverse_forces``).
    sum_weight : float
        Weight of the sum of the normal forces beside their largest, above 0 [-].
    passive_share : float
        Load that a passive patch may carry, as a multiple of its simulated one [-].

    Raises
    ------
    TaskError
        A value is outside its range.
    """

    mode: str = option('conic', among='conic, seed')
    sum_weight: float = option(1e-5, above=0, most=0.1)
    passive_share: float = option(0.0, least=0, below=np.inf)


class ForceSpace:
    """
    Contact forces of a grasp as unknowns: map, limits, and back to vectors; for all loads.

    Columns: per patch normal, two tangents, torsion over r_e; then, where ``tilts``, per
    patch nothing, two rocking moments over their levers, nothing.
    """

    def __init__(self, patches: ContactSet, rows: IntArray, centre_of_mass: Array,
                 torque_map: Array | None, torque_limits: Array | None,
                 options: MinimalForceOptions, torques: TorqueOptions) -> None:
        self.total, self.rows = patches.count, rows
        used = patches.actuated if len(rows) < patches.count else patches
        self.count, self.radii, self.points = used.count, used.friction_radii, used.points
        self.frames, self._torque_options = used.frames, torques
        self._radii = np.ones((used.count, 4))
        self._radii[:, 3] = used.friction_radii
        self.levers = torques.tilting_share * used.rocking[:, :, 3:]
        passive = options.passive_share * used.normal_forces
        self.limits = np.where(used.passive, np.minimum(passive, used.max_normal_forces),
                               used.max_normal_forces)
        self.active = ~used.passive
        self._moments, self._bounded, self._torques, self.torque_limits = self._joints(
            torque_map, torque_limits)
        self.place(centre_of_mass)

    def place(self, centre_of_mass: Array) -> None:
        """Take torques about a centre of mass (3,) from now on."""
        scale = 1.0
        if self.count:
            scale = self._torque_options.scale(self.points, centre_of_mass)
        self.unit = np.array([1.0, 1.0, 1.0, scale, scale, scale])
        self.map = (grasp_map(self.points, self.frames, centre_of_mass) / self.unit[:, None]
                    * self._radii.reshape(-1))
        columns = np.zeros((6, self.count, 4))
        columns[3:, :, 1:3] = self.levers.transpose(2, 0, 1) / self.unit[3:, None, None]
        rocking = columns.reshape(6, -1)
        self.tilts = self._gains_by(rocking)
        self.torques = self._torques
        if self.tilts:
            self.map = np.hstack([self.map, rocking])
            moments = np.zeros((len(self._moments), self.count, 4))
            moments[:, :, 1:3] = np.einsum('jka,kta->jkt', self._moments, self.levers)
            moments = moments.reshape(-1, 4 * self.count)[self._bounded]
            self.torques = np.hstack([self.torques, moments])

    def _gains_by(self, rocking: Array) -> bool:
        if self.count < 2 or not self.levers.any():
            return False
        own = self.map @ self.map.T
        least = np.linalg.eigvalsh(np.stack([own, own + rocking @ rocking.T]))[:, 0]
        return bool(least[1] > ROCKING_GAIN ** 2 * max(least[0], 0.0))

    def _joints(self, torque_map: Array | None, torque_limits: Array | None
                ) -> tuple[Array, BoolArray, Array, Array]:
        """
        Return what patches' torques ask of the joints (J, k, 3), which of these have limits.

        Last the rows (j, 4k) of those that have, and these limits (j,).
        """
        if torque_map is None or torque_limits is None:
            return (np.zeros((0, self.count, 3)), np.zeros(0, bool), np.zeros((0, 4 * self.count)),
                    np.zeros(0))
        limits = checked_array(torque_limits, 'torque_limits', 'J', finite=False)
        torque_map = checked_array(torque_map, 'torque_map', len(limits), 6 * self.total)
        if not (limits >= 0.0).all():
            raise ShapeError(f'torque_limits must not be negative, got {limits.tolist()}')
        blocks = torque_map.reshape(len(limits), self.total, 2, 3)[:, self.rows]
        columns = np.zeros((len(limits), self.count, 4))
        columns[:, :, :3] = np.einsum('jka,kac->jkc', blocks[:, :, 0], self.frames)
        columns[:, :, 3] = np.einsum('jka,ka->jk', blocks[:, :, 1], self.frames[:, :, 0])
        columns *= self._radii
        bounded = np.isfinite(limits)
        rows = columns.reshape(len(limits), 4 * self.count)
        return blocks[:, :, 1], bounded, rows[bounded], limits[bounded]

    def polish(self, gamma: Array, wrench: Array) -> Array:
        """Return the nearest forces that balance the scaled wrench to round-off."""
        missing = -wrench - self.map @ gamma
        return gamma + np.linalg.lstsq(self.map, missing, rcond=None)[0]

    def vectors(self, gamma: Array) -> tuple[Array, Array]:
        """Return forces and torques (k, 3) of all patches, frame object."""
        gamma, rocking = gamma.reshape(-1, 4)[:self.count], gamma.reshape(-1, 4)[self.count:]
        forces, torques = np.zeros((self.total, 3)), np.zeros((self.total, 3))
        forces[self.rows] = np.einsum('kac,kc->ka', self.frames, gamma[:, :3])
        torques[self.rows] = self.frames[:, :, 0] * (gamma[:, 3] * self.radii)[:, None]
        if self.tilts:
            torques[self.rows] += np.einsum('kt,kta->ka', rocking[:, 1:3], self.levers)
        return forces, torques


class GraspForceSocp:
    """
    The second-order cone programme of a grasp, for many loads.

    Unknowns: per patch ``(n, t1 / mu, t2 / mu, torsion / (mu r_e))``, where tilting counts
    then ``(n, moments over levers, 0)`` in cones of their own, then the bound t, all in
    units of the load.

    Parameters
    ----------
    space : ForceSpace
    friction, sum_weight : float
    limited : bool
        Whether the limits of patches and joints count.
    """

    def __init__(self, space: ForceSpace, friction: float, sum_weight: float,
                 limited: bool = True) -> None:
        limits, torques, torque_limits = space.limits, space.torques, space.torque_limits
        if not limited:
            limits = np.full(len(limits), np.inf)
            torques, torque_limits = torques[:0], torque_limits[:0]
        self.factors, self.limits, objective, balance, rows = assemble_socp(
            np.ascontiguousarray(space.map), space.count, float(friction), float(sum_weight),
            space.active, limits, np.ascontiguousarray(torques), torque_limits)
        self.cone_programme = ConeProgramme(
            objective, balance, rows, (len(objective) - 1) // CONE_SIZE, int(space.active.sum()))

    def solve(self, wrenches: Array) -> tuple[Array, int]:
        """
        Return the forces that balance scaled wrenches, up to the first that none can.

        Parameters
        ----------
        wrenches : (c, 6) float
            In the space's units, none of them 0.

        Returns
        -------
        gamma : (c, 4k) float
            As ``ForceSpace.vectors`` takes them [N]; 0 where not solved.
        failed : int
            The first wrench that nothing balances, -1 if there is none.
        """
        loads = np.linalg.norm(wrenches, axis=1)[:, None]
        right = np.zeros((len(wrenches), len(self.cone_programme.equality)))
        right[:, :6] = -wrenches / loads
        limits = self.limits / loads
        solutions, verdicts = solve_cone_programme(self.cone_programme, right, limits)
        failed = -1
        for case in np.flatnonzero(verdicts != SOLVED):
            verdict = verdicts[case]
            if verdict == UNDECIDED:
                answer = solve_by_clarabel(self.cone_programme, right[case], limits[case])
                verdict = INFEASIBLE if answer is None else SOLVED
                solutions[case] = 0.0 if answer is None else answer
            if verdict == INFEASIBLE:
                failed = int(case)
                break
        return solutions[:, :-1] * self.factors * loads, failed


@njit(cache=True)
def assemble_socp(columns: Array, count: int, friction: float, sum_weight: float,
                  active: BoolArray, limits: Array, torques: Array,
                  torque_limits: Array) -> tuple[Array, Array, Array, Array, Array]:
    """
    Return factors of the unknowns, right-hand sides of the rows, objective, balance and rows.

    ``columns (6, n)`` map the unknowns of all cones to wrenches, ``torques (j, n)`` to joints;
    the first ``count`` cones are those of the patches.
    """
    n, joints = columns.shape[1], len(torques)
    factors, objective = np.ones(n), np.zeros(n + 1)
    balance = np.zeros((6 + n // CONE_SIZE - count, n + 1))
    bounded = np.flatnonzero(np.isfinite(limits))
    heads = CONE_SIZE * np.concatenate((np.flatnonzero(active), bounded))
    first, tried = len(heads), len(heads) - len(bounded)
    rows, right = np.zeros((first + 2 * joints, n + 1)), np.zeros(first + 2 * joints)
    for i in range(count):
        objective[CONE_SIZE * i] = sum_weight
        factors[CONE_SIZE * i + 1:CONE_SIZE * (i + 1)] = friction
    objective[n] = 1.0
    for a in range(6):
        for i in range(n):
            balance[a, i] = columns[a, i] * factors[i]
    for r in range(6, len(balance)):        # tilting needs normal forces as sliding has them
        for i in range(count):
            balance[r, CONE_SIZE * i] = -1.0 if i == r - 6 else -0.0
            balance[r, CONE_SIZE * (count + i)] = 1.0 if i == r - 6 else 0.0
    for r in range(first):
        rows[r, heads[r]] = 1.0
        if r < tried:
            rows[r, n] = -1.0
        else:
            right[r] = limits[bounded[r - tried]]
    for j in range(joints):
        right[first + j] = right[first + joints + j] = torque_limits[j]
        for i in range(n):
            rows[first + j, i] = torques[j, i] * factors[i]
        for i in range(n + 1):
            rows[first + joints + j, i] = -rows[first + j, i]
    return factors, right, objective, balance, rows


def solve_by_clarabel(programme: ConeProgramme, right: Array, limits: Array) -> Array | None:
    """
    Solve one case by an independent solver, which regularises what is nearly singular.

    Parameters
    ----------
    programme : ConeProgramme
    right : (p,) float
    limits : (m,) float

    Returns
    -------
    (n,) float or None
        None where nothing is feasible.
    """
    import clarabel     # beside what a plan loads first: only few cases get here
    size, cones = len(programme.objective), programme.cones
    matrix = np.vstack([programme.equality, programme.inequality,
                        -np.eye(CONE_SIZE * cones, size)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_feas = settings.tol_gap_abs = settings.tol_gap_rel = TOLERANCE
    settings.reduced_tol_feas = settings.reduced_tol_gap_abs = CLARABEL_TOLERANCE
    settings.reduced_tol_gap_rel = CLARABEL_TOLERANCE
    kinds = [clarabel.ZeroConeT(len(right)), clarabel.NonnegativeConeT(len(limits))]
    kinds += [clarabel.SecondOrderConeT(CONE_SIZE)] * cones
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix((size, size)), programme.objective, sparse.csc_matrix(matrix),
        np.concatenate([right, limits, np.zeros(CONE_SIZE * cones)]), kinds, settings)
    answer = solver.solve()
    if answer.status not in (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved):
        return None
    return np.asarray(answer.x)
