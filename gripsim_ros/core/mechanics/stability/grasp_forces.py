"""
The smallest contact forces that balance a load within friction and limits.

A second-order cone programme per load case; formulation in docs/model/stability.md.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Array
from ...fields import checked_array
from ...grasp_theory.contact_set import ContactSet, TorqueOptions
from ...grasp_theory.grasp_force_socp import ForceSpace, GraspForceSocp, MinimalForceOptions
from .stability import checked_friction


#: Relative size below which a load is none [-].
NO_LOAD = 1e-9
#: Largest coefficient in the search for the friction needed [-].
MAX_FRICTION = 10.0
#: Resolution of that search over the coefficient, and of that for the share of the loads that
#: is held [-].
FRICTION_RESOLUTION = SHARE_RESOLUTION = 1e-3


@dataclass(frozen=True)
class Shortfall:
    """
    What lacks where no forces hold all load cases: force, friction, share of the load.

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
    held_share : float
        Largest share of the loads that forces within friction and limits hold [-], 0 where
        friction alone fails; NaN where it was not searched for.
    """

    needed_force: float
    allowed_force: float
    needed_friction: float = np.nan
    held_share: float = np.nan

    def __str__(self) -> str:
        """Return one line for a person."""
        if np.isfinite(self.needed_force):
            reason = (f'patches allow {self.allowed_force:.3g} N'
                      if self.needed_force > self.allowed_force else
                      'the limits of patches and joints together do not allow that')
            text = f'needs {self.needed_force:.3g} N at a patch; {reason}'
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
        Force on the object [N], and moment about the patch's point [N m], frame object, of
        the worst load case; zero where not capable. The moment is torsion about the normal,
        and tilting where that takes part.
    worst_case : int
        Load case with the largest normal force, or one that cannot be held; -1 if
        there is none.
    largest_normal : float
        Largest normal force in it [N]; ``inf`` where it cannot be held.
    normal_envelope : (k,) float
        Largest normal force of each patch over all load cases [N]; zero where not
        capable.
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
    normal_envelope: Array
    shortfall: Shortfall | None = None
    violation: float = 0.0


def solve_minimal_forces(patches: ContactSet, wrenches: Array, centre_of_mass: Array,
                         friction: float, torque_map: Array | None, torque_limits: Array | None,
                         options: MinimalForceOptions = MinimalForceOptions(),
                         torques: TorqueOptions = TorqueOptions(),
                         explain: bool = False) -> MinimalForces:
    """
    Return the smallest contact forces that balance the worst of the wrenches.

    For every wrench: least largest normal force, subject to balance, the soft
    finger's friction ellipsoid, ``max_normal_forces`` and the joints' torques.

    Parameters
    ----------
    patches : ContactSet
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
    torques : TorqueOptions
    explain : bool
        Where no forces exist, search for the friction that would do and the share of the
        loads that is held.

    Returns
    -------
    MinimalForces

    Raises
    ------
    ShapeError
        An array's shape is wrong or a number not finite.
    TaskError
        ``friction`` is negative or not finite.

    Notes
    -----
    Source: Han, Trinkle & Li 2000 (grasping forces as a conic programme); soft
    finger: Howe & Cutkosky 1996. Differs from Leskov et al. 2017, whose pseudo-inverse
    leaves the cones; it is kept as mode ``seed``.
    """
    space = force_space(patches, centre_of_mass, torque_map, torque_limits, options, torques)
    return solve_in_space(space, wrenches, friction, options, explain=explain)


def force_space(patches: ContactSet, centre_of_mass: Array, torque_map: Array | None,
                torque_limits: Array | None, options: MinimalForceOptions,
                torques: TorqueOptions = TorqueOptions()) -> ForceSpace:
    """Return the force space of a grasp; arguments as in ``solve_minimal_forces``."""
    rows = np.flatnonzero(~patches.passive | (options.passive_share > 0.0))
    if options.mode == 'seed':
        torques = replace(torques, tilting_share=0.0)
    return ForceSpace(patches, rows, centre_of_mass, torque_map, torque_limits, options, torques)


def solve_in_space(space: ForceSpace, wrenches: Array, friction: float,
                   options: MinimalForceOptions, forces: bool = True,
                   explain: bool = False) -> MinimalForces:
    """
    Return the minimal forces, for the centre of mass at which a space is placed.

    Parameters
    ----------
    space : ForceSpace
        Of ``force_space`` with the same options.
    wrenches, friction, options, explain
        As in ``solve_minimal_forces``.
    forces : bool
        Without, a capable answer has none and no worst case, which saves some time.
    """
    wrenches = checked_array(wrenches, 'wrenches', 'c', 6)
    friction = checked_friction(friction)
    if len(wrenches) == 0:
        return no_forces(space.total, True, -1, 0.0)
    if not space.active.any():
        loaded = np.linalg.norm(wrenches, axis=1) > 0.0
        return no_forces(space.total, not loaded.any(), int(np.argmax(loaded)),
                         np.inf if loaded.any() else 0.0)
    if options.mode == 'seed':
        return _solve_pseudo_inverse(space, wrenches, friction)
    return _solve_conic(space, wrenches, friction, options, forces, explain)


def cone_violation(gamma: Array, friction: float) -> Array:
    """Return ``max(|t| - mu n, -n)`` (...) [N] of contact forces ``(..., 4)``."""
    tangential = np.linalg.norm(gamma[..., 1:], axis=-1)
    return np.maximum(tangential - friction * gamma[..., 0], -gamma[..., 0])


def no_forces(count: int, capable: bool = False, worst: int = -1, largest: float = np.inf,
              shortfall: Shortfall | None = None) -> MinimalForces:
    """Return what is known of a grasp of ``count`` patches without forces."""
    return MinimalForces(capable, np.zeros((count, 3)), np.zeros((count, 3)), worst, largest,
                         np.zeros(count), shortfall)


def _solve_conic(space: ForceSpace, wrenches: Array, friction: float,
                 options: MinimalForceOptions, forces: bool, explain: bool) -> MinimalForces:
    scaled = wrenches / space.unit
    loads = np.linalg.norm(scaled, axis=1)
    order = np.argsort(-loads, kind='stable')
    order = order[loads[order] > NO_LOAD * loads[order[0]]]
    if not len(order):
        return no_forces(space.total, True, -1, 0.0)
    programme = GraspForceSocp(space, friction, options.sum_weight)
    gamma, failed = programme.solve(scaled[order])
    if failed >= 0:
        case = int(order[failed])
        shortfall = _shortfall(space, scaled[order], friction, options, explain)
        return no_forces(space.total, False, case, np.inf, shortfall)
    if not forces:
        return no_forces(space.total, True, -1, 0.0)
    normals = gamma[:, :4 * space.count:4]
    envelope = np.zeros(space.total)
    envelope[space.rows] = np.maximum(normals.max(axis=0), 0.0)
    largest, chosen = 0.0, 0
    for case, normal in enumerate(normals[:, space.active].max(axis=1)):
        if normal > largest * (1.0 + 1e-6):
            largest, chosen = float(normal), case
    best = space.polish(gamma[chosen], scaled[order[chosen]])
    violation = float(cone_violation(best.reshape(-1, 4)[:space.count], friction).max())
    return MinimalForces(True, *space.vectors(best), int(order[chosen]), largest, envelope, None,
                         violation)


def _solve_pseudo_inverse(space: ForceSpace, wrenches: Array, friction: float) -> MinimalForces:
    gamma = -(wrenches / space.unit) @ np.linalg.pinv(space.map).T
    gamma = gamma.reshape(len(wrenches), space.count, 4)
    violations = cone_violation(gamma, friction).max(1)
    balanced = np.abs(gamma.reshape(len(gamma), -1) @ space.map.T + wrenches / space.unit)
    worst = int(np.argmax(violations))
    scale = np.abs(wrenches / space.unit).max()
    capable = bool((violations <= NO_LOAD * scale).all() and balanced.max() <= 1e-9 * scale)
    forces, torques = space.vectors(gamma[worst])
    envelope = np.zeros(space.total)
    envelope[space.rows] = np.maximum(gamma[:, :, 0].max(0), 0.0)
    return MinimalForces(capable, forces, torques, worst, float(gamma[worst, :, 0].max()),
                         envelope, None, float(violations[worst]))


def _shortfall(space: ForceSpace, wrenches: Array, friction: float,
               options: MinimalForceOptions, explain: bool) -> Shortfall:
    programme = GraspForceSocp(space, friction, options.sum_weight, limited=False)
    gamma, failed = programme.solve(wrenches)
    needed = np.inf if failed >= 0 else float(gamma[:, :4 * space.count:4].max())
    allowed = float(space.limits[space.active].max(initial=0.0))
    if not explain:
        return Shortfall(needed, allowed)
    share = 0.0 if failed >= 0 else _held_share(space, wrenches, friction, options)
    return Shortfall(needed, allowed, _needed_friction(space, wrenches, friction, options), share)


def _needed_friction(space: ForceSpace, wrenches: Array, friction: float,
                     options: MinimalForceOptions) -> float:
    def holds(tried: float) -> bool:
        return GraspForceSocp(space, tried, options.sum_weight).solve(wrenches)[1] < 0

    if not holds(MAX_FRICTION):
        return np.inf
    return _least(holds, friction, MAX_FRICTION, lambda high: FRICTION_RESOLUTION * high)


def _held_share(space: ForceSpace, wrenches: Array, friction: float,
                options: MinimalForceOptions) -> float:
    """Return the share of the loads that is held: what holds it holds less (convexity)."""
    programme = GraspForceSocp(space, friction, options.sum_weight)
    return 1.0 - _least(lambda rest: programme.solve((1.0 - rest) * wrenches)[1] < 0, 0.0, 1.0,
                        lambda high: SHARE_RESOLUTION)


def _least(holds: Callable[[float], bool], low: float, high: float,
           resolution: Callable[[float], float]) -> float:
    """Return the least number that holds, found by halves, where the highest does."""
    while high - low > resolution(high):
        middle = 0.5 * (low + high)
        if holds(middle):
            high = middle
        else:
            low = middle
    return high
