"""
The smallest contact forces that balance a load within friction and limits.

A second-order cone programme per load case; formulation in docs/model/stability.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..errors import GripsimError, ShapeError, TaskError
from .grasp_map import contact_frames, grasp_map
from .stability import PatchSet, checked_fields, checked_wrenches, torque_scale

Array = NDArray[np.float64]

#: Loads below this share of the largest are none [-].
NO_LOAD = 1e-9
#: Largest friction the search for the friction needed looks at [-].
MAX_FRICTION = 10.0
#: Tolerance of the conic solver, in units of the load [-].
SOLVER_TOLERANCE = 1e-9


@dataclass(frozen=True)
class MinimalForceOptions:
    """
    How minimal forces are computed.

    Attributes
    ----------
    mode : str
        ``conic``: the programme of this module; ``seed``: the pseudo-inverse of
        Leskov et al. 2017, which ignores the cones (see ``seed_forces``).
    sum_weight : float
        Weight of the sum of the normal forces beside their largest, above 0 [-].
    passive_share : float
        Load that a passive patch may carry, as a multiple of its simulated one [-].
    length_scale : float
        Length that makes torques comparable with forces [m]; 0: the largest distance
        of a patch from the centre of mass.
    find_friction : bool
        Where no forces exist, search for the friction that would do.

    Raises
    ------
    TaskError
        A value is outside its range.
    """

    mode: str = 'conic'
    sum_weight: float = 1e-5
    passive_share: float = 0.0
    length_scale: float = 0.0
    find_friction: bool = False

    def __post_init__(self) -> None:
        """Check every field."""
        if self.mode not in ('conic', 'seed'):
            raise TaskError(f'minimal_forces.mode must be conic or seed, got {self.mode!r}')
        if not 0.0 < self.sum_weight <= 0.1:
            raise TaskError(
                f'minimal_forces.sum_weight must be above 0 and at most 0.1, got {self.sum_weight}')
        for name in ('passive_share', 'length_scale'):
            if not 0.0 <= getattr(self, name) < np.inf:
                raise TaskError(f'minimal_forces.{name} must be finite and not negative, '
                                f'got {getattr(self, name)}')

    @classmethod
    def from_mapping(cls, values: Mapping) -> 'MinimalForceOptions':
        """Return options from a mapping of field names, as read from YAML."""
        return cls(**checked_fields(cls, values, 'minimal_forces'))


@dataclass(frozen=True)
class Shortfall:
    """
    Why no forces exist, for the load case that has none.

    Attributes
    ----------
    needed_force : float
        Largest normal force if nothing but friction limited the forces [N]; ``inf``
        where not even then.
    allowed_force : float
        Largest normal force that any active patch may carry [N].
    needed_friction : float
        Least friction that would do within the limits [-]; ``inf`` above
        ``MAX_FRICTION``, NaN where it was not searched for.
    """

    needed_force: float
    allowed_force: float
    needed_friction: float = np.nan

    def __str__(self) -> str:
        """Return one line for a person."""
        if np.isfinite(self.needed_force):
            text = (f'needs {self.needed_force:.3g} N at a patch, limits of patches and '
                    f'joints leave at most {self.allowed_force:.3g} N')
        else:
            text = 'no force balances the load at this friction'
        if np.isnan(self.needed_friction):
            return text
        if np.isinf(self.needed_friction):
            return f'{text}; nor would a friction of {MAX_FRICTION:g} do'
        return f'{text}; a friction of {self.needed_friction:.3g} would do'


@dataclass(frozen=True, eq=False)
class MinimalForces:
    """
    The smallest forces that hold the worst load case.

    Attributes
    ----------
    capable : bool
        Forces within friction and all limits exist for every load case.
    forces, torques : (k, 3) float
        Force on the object [N], and torsion about the normal [N m], frame object, of
        the worst load case; zero where not capable.
    worst_case : int
        Load case with the largest normal force, or one that cannot be held; -1 if
        there is none.
    largest_normal : float
        Largest normal force in it [N]; ``inf`` where it cannot be held.
    shortfall : Shortfall or None
        Where not capable.
    violation : float
        Largest ``max(|t| - mu n, -n)`` of any patch and load case [N]; not above 0
        but for round-off where the mode is ``conic``.
    """

    capable: bool
    forces: Array
    torques: Array
    worst_case: int
    largest_normal: float
    shortfall: Shortfall | None = None
    violation: float = 0.0


def solve_minimal_forces(patches: PatchSet, wrenches: Array, centre_of_mass: Array,
                         friction: float, torque_map: Array | None, torque_limits: Array | None,
                         options: MinimalForceOptions = MinimalForceOptions()) -> MinimalForces:
    """
    Return the smallest contact forces that balance the worst of the wrenches.

    For every wrench: least largest normal force, subject to balance, the soft
    finger's friction ellipsoid, ``max_normal_forces`` and the joints' torques.

    Parameters
    ----------
    patches : PatchSet
        The simulated forces matter for passive patches alone.
    wrenches : (c, 6) float
        Loads about the centre of mass [N], [N m].
    centre_of_mass : (3,) float
        Of the deformed object [m].
    friction : float
        Coefficient, not negative [-].
    torque_map : (J, 6k) float or None
        Joint torque needed per patch force and torque, frame object.
    torque_limits : (J,) float or None
        Largest joint torques [N m]; ``inf`` for none.
    options : MinimalForceOptions

    Returns
    -------
    MinimalForces

    Raises
    ------
    ShapeError
        An array's shape is wrong or a number not finite.
    TaskError
        ``friction`` is negative or not finite.
    GripsimError
        The conic solver is not installed.

    Notes
    -----
    Source: Han, Trinkle & Li 2000 (grasping forces as a conic programme); soft
    finger: Howe & Cutkosky 1996. Differs from Leskov et al. 2017, whose pseudo-inverse
    leaves the cones; it is kept as mode ``seed``.
    """
    wrenches = checked_wrenches(wrenches)
    if not (np.isfinite(friction) and friction >= 0.0):
        raise TaskError(f'friction must be 0 or above and finite, got {friction}')
    rows = np.flatnonzero(~patches.passive | (options.passive_share > 0.0))
    grasp = _Grasp(patches, rows, centre_of_mass, torque_map, torque_limits, options)
    if len(wrenches) == 0:
        return _none(patches.count, True, -1, 0.0)
    if len(rows) == 0:
        loaded = np.linalg.norm(wrenches, axis=1) > 0.0
        return _none(patches.count, not loaded.any(), int(np.argmax(loaded)),
                     np.inf if loaded.any() else 0.0)
    if options.mode == 'seed':
        return _solve_seed(grasp, wrenches, friction)
    return _solve_conic(grasp, wrenches, friction, options)


def seed_forces(patches: PatchSet, wrenches: Array, centre_of_mass: Array, friction: float,
                internal: Array | None = None, length_scale: float = 0.0) -> tuple[Array, Array]:
    """
    Return the pseudo-inverse's contact forces and how far they leave the cones.

    ``gamma = -G+ w + (I - G+ G) gamma_0``.

    Parameters
    ----------
    patches, wrenches, centre_of_mass, friction
        As in ``solve_minimal_forces``; all patches count.
    internal : (k, 4) float or None
        ``gamma_0``, of which the part that presses without moving the object is kept.
    length_scale : float
        As in ``MinimalForceOptions``.

    Returns
    -------
    gamma : (c, k, 4) float
        Normal, t1, t2 [N] and torsion over r_e [N] (0 for a hard finger).
    violation : (c,) float
        Largest ``max(|t| - mu n, -n)`` of the patches [N]; above 0: not a grasp.

    Notes
    -----
    Source: Leskov et al. 2017, equation for gamma_min. Differs: the sign of ``G+ w``
    follows from their equation (1); without cones the least forces have ``gamma_0 = 0``.
    """
    options = MinimalForceOptions(length_scale=length_scale)
    grasp = _Grasp(patches, np.arange(patches.count), centre_of_mass, None, None, options)
    inverse = np.linalg.pinv(grasp.map)
    scaled = checked_wrenches(wrenches) / grasp.unit
    gamma = -scaled @ inverse.T
    if internal is not None:
        start = np.asarray(internal, float).reshape(-1)
        gamma = gamma + start - inverse @ (grasp.map @ start)
    gamma = gamma.reshape(len(scaled), patches.count, 4)
    return gamma, cone_violation(gamma, friction).max(1, initial=0.0)


def cone_violation(gamma: Array, friction: float) -> Array:
    """Return ``max(|t| - mu n, -n)`` (...) [N] of contact forces ``(..., 4)``."""
    tangential = np.linalg.norm(gamma[..., 1:], axis=-1)
    return np.maximum(tangential - friction * gamma[..., 0], -gamma[..., 0])


class _Grasp:
    """What all load cases share: the map, the limits and the way back to vectors."""

    def __init__(self, patches: PatchSet, rows: NDArray, centre_of_mass: Array,
                 torque_map: Array | None, torque_limits: Array | None,
                 options: MinimalForceOptions) -> None:
        self.total, self.rows = patches.count, rows
        used = patches.select(rows)
        self.count, self.radii = used.count, used.friction_radii
        self.frames = contact_frames(used.normals)
        scale = 1.0
        if used.count:
            scale = torque_scale(used.points, centre_of_mass, options.length_scale)
        self.unit = np.array([1.0, 1.0, 1.0, scale, scale, scale])
        radii = np.ones((used.count, 4))
        radii[:, 3] = used.friction_radii
        self.map = (grasp_map(used.points, self.frames, centre_of_mass) / self.unit[:, None]
                    * radii.reshape(-1))
        passive = options.passive_share * used.normal_forces
        self.limits = np.where(used.passive, np.minimum(passive, used.max_normal_forces),
                               used.max_normal_forces)
        self.active = ~used.passive
        self.torques, self.torque_limits = self._torques(torque_map, torque_limits, radii)

    def _torques(self, torque_map, torque_limits, radii) -> tuple[Array, Array]:
        if torque_map is None:
            return np.zeros((0, 4 * self.count)), np.zeros(0)
        torque_map = np.asarray(torque_map, float)
        limits = np.asarray(torque_limits, float)
        shape = (len(limits), 6 * self.total) if limits.ndim == 1 else None
        if torque_map.shape != shape or not np.isfinite(torque_map).all():
            raise ShapeError(f'torque_map must be finite and (J, {6 * self.total}), got '
                             f'{torque_map.shape} with limits {limits.shape}')
        if not (limits >= 0.0).all():
            raise ShapeError(f'torque_limits must not be negative, got {limits.tolist()}')
        blocks = torque_map.reshape(len(limits), self.total, 2, 3)[:, self.rows]
        columns = np.zeros((len(limits), self.count, 4))
        columns[:, :, :3] = np.einsum('jka,kac->jkc', blocks[:, :, 0], self.frames)
        columns[:, :, 3] = np.einsum('jka,ka->jk', blocks[:, :, 1], self.frames[:, :, 0])
        columns *= radii
        bounded = np.isfinite(limits)
        return columns.reshape(len(limits), -1)[bounded], limits[bounded]

    def polish(self, gamma: Array, wrench: Array) -> Array:
        """Return the nearest forces that balance the scaled wrench to round-off."""
        missing = -wrench - self.map @ gamma
        return gamma + np.linalg.lstsq(self.map, missing, rcond=None)[0]

    def vectors(self, gamma: Array) -> tuple[Array, Array]:
        """Return forces and torques (k, 3) of all patches, frame object."""
        gamma = gamma.reshape(-1, 4)
        forces, torques = np.zeros((self.total, 3)), np.zeros((self.total, 3))
        forces[self.rows] = np.einsum('kac,kc->ka', self.frames, gamma[:, :3])
        torques[self.rows] = self.frames[:, :, 0] * (gamma[:, 3] * self.radii)[:, None]
        return forces, torques


class _Programme:
    """
    One conic programme whose right-hand side changes from load to load.

    Unknowns: per patch ``(n, t1 / mu, t2 / mu, torsion / (mu r_e))``, then the bound t,
    all in units of the load.
    """

    def __init__(self, grasp: _Grasp, friction: float, sum_weight: float,
                 limited: bool = True) -> None:
        clarabel = _clarabel()
        count, size = grasp.count, 4 * grasp.count + 1
        self.factors = np.tile([1.0, friction, friction, friction], count)
        normals = np.zeros((count, size))
        normals[np.arange(count), 4 * np.arange(count)] = 1.0
        bounded = np.isfinite(grasp.limits) & limited
        torques = np.zeros((len(grasp.torques) if limited else 0, size))
        torques[:, :-1] = grasp.torques[:len(torques)] * self.factors
        balance = np.zeros((6, size))
        balance[:, :-1] = grasp.map * self.factors
        below = normals[grasp.active].copy()
        below[:, -1] = -1.0
        cones = -np.eye(4 * count, size)
        rows = np.vstack([balance, below, normals[bounded], torques, -torques, cones])
        self.limits = np.concatenate([
            grasp.limits[bounded], np.tile(grasp.torque_limits[:len(torques)], 2)])
        self.first_limit = 6 + len(below)
        self.right = np.zeros(len(rows))
        objective = np.full(size, 0.0)
        objective[4 * np.arange(count)] = sum_weight
        objective[-1] = 1.0
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.presolve_enable = False
        settings.tol_feas = settings.tol_gap_abs = settings.tol_gap_rel = SOLVER_TOLERANCE
        kinds = [clarabel.ZeroConeT(6),
                 clarabel.NonnegativeConeT(len(rows) - 6 - 4 * count)]
        kinds += [clarabel.SecondOrderConeT(4)] * count
        self.solver = clarabel.DefaultSolver(
            sparse.csc_matrix((size, size)), objective, sparse.csc_matrix(rows),
            self._set(np.zeros(6), 1.0), kinds, settings)
        self.solved = (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved)

    def _set(self, wrench: Array, load: float) -> Array:
        self.right[:6] = -wrench / load
        stop = self.first_limit + len(self.limits)
        self.right[self.first_limit:stop] = self.limits / load
        return self.right

    def solve(self, wrench: Array) -> Array | None:
        """Return the forces (4k,) [N] that balance the scaled wrench, None if there are none."""
        load = float(np.linalg.norm(wrench))
        self.solver.update(b=self._set(wrench, load))
        answer = self.solver.solve()
        if answer.status not in self.solved:
            return None
        return np.asarray(answer.x[:-1]) * self.factors * load


def _clarabel():
    try:
        import clarabel
    except ImportError as error:
        raise GripsimError('minimal forces need the package clarabel, which is not installed: '
                           'pip install clarabel') from error
    return clarabel


def _none(count: int, capable: bool, worst: int, largest: float,
          shortfall: Shortfall | None = None) -> MinimalForces:
    return MinimalForces(capable, np.zeros((count, 3)), np.zeros((count, 3)), worst, largest,
                         shortfall)


def _solve_conic(grasp: _Grasp, wrenches: Array, friction: float,
                 options: MinimalForceOptions) -> MinimalForces:
    scaled = wrenches / grasp.unit
    loads = np.linalg.norm(scaled, axis=1)
    programme = _Programme(grasp, friction, options.sum_weight)
    best, worst, largest = np.zeros(4 * grasp.count), int(np.argmax(loads)), 0.0
    for case in np.argsort(-loads, kind='stable'):
        if loads[case] <= NO_LOAD * loads[worst]:
            break
        gamma = programme.solve(scaled[case])
        if gamma is None:
            return _none(grasp.total, False, int(case), np.inf,
                         _shortfall(grasp, scaled[case], friction, options))
        normal = float(gamma[::4][grasp.active].max(initial=0.0))
        if normal > largest * (1.0 + 1e-6):
            best, worst, largest = gamma, int(case), normal
    best = grasp.polish(best, scaled[worst])
    forces, torques = grasp.vectors(best)
    violation = float(cone_violation(best.reshape(-1, 4), friction).max())
    return MinimalForces(True, forces, torques, worst, largest, None, violation)


def _solve_seed(grasp: _Grasp, wrenches: Array, friction: float) -> MinimalForces:
    gamma = -(wrenches / grasp.unit) @ np.linalg.pinv(grasp.map).T
    gamma = gamma.reshape(len(wrenches), grasp.count, 4)
    violations = cone_violation(gamma, friction).max(1)
    balanced = np.abs(gamma.reshape(len(gamma), -1) @ grasp.map.T + wrenches / grasp.unit)
    worst = int(np.argmax(violations))
    scale = np.abs(wrenches / grasp.unit).max()
    capable = bool((violations <= NO_LOAD * scale).all() and balanced.max() <= 1e-9 * scale)
    forces, torques = grasp.vectors(gamma[worst])
    return MinimalForces(capable, forces, torques, worst, float(gamma[worst, :, 0].max()),
                         None, float(violations[worst]))


def _shortfall(grasp: _Grasp, wrench: Array, friction: float,
               options: MinimalForceOptions) -> Shortfall:
    free = _Programme(grasp, friction, options.sum_weight, limited=False).solve(wrench)
    needed = np.inf if free is None else float(free[::4].max())
    allowed = float(grasp.limits[grasp.active].max(initial=0.0))
    if not options.find_friction:
        return Shortfall(needed, allowed)
    return Shortfall(needed, allowed, _needed_friction(grasp, wrench, friction, options))


def _needed_friction(grasp: _Grasp, wrench: Array, friction: float,
                     options: MinimalForceOptions) -> float:
    low, high = friction, MAX_FRICTION
    if _Programme(grasp, high, options.sum_weight).solve(wrench) is None:
        return np.inf
    while high - low > 1e-3 * high:
        middle = 0.5 * (low + high)
        if _Programme(grasp, middle, options.sum_weight).solve(wrench) is None:
            low = middle
        else:
            high = middle
    return high
