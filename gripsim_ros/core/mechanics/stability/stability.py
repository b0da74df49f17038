"""
Does a position-held hand hold the object where it is?

The joints are held; the object moves a little until contacts and load balance.
Derivation, assumptions and departures: docs/model/stability.md.
"""

from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ...errors import TaskError
from ...fields import checked_array
from ...grasp_theory.contact_set import ContactSet, TorqueOptions
from ...options import option, Options
from ...transforms import from_rotation_vector
from . import equilibrium
from .contact_springs import ROWS, SLIDING, Contacts, all_contact_forces, contact_rows
from .margin import grow_load, judge_load_cases


#: Displacement of an object that has not moved: no friction acts.
AT_REST = np.zeros(6)
#: Times at most that contacts take note of each other's ways, and change of the ways over the
#: largest from which on that is enough [-].
NOTES, NOTED = 12, 0.01


@dataclass(frozen=True)
class StabilityOptions(Options, section='stability'):
    """
    Options of the stability analysis; the values below are the defaults of METHODS.

    Attributes
    ----------
    max_translation, max_rotation : float
        Largest motion of the object that still counts as held [m], [rad].
    torsional_ratio : float
        Torsional over tangential stiffness in units of r_e^2 [-]; see the model page.
    friction_reserve : float
        Share of friction without which a grip must still balance while nothing pulls [-]. One
        that needs nearly all of its friction for the fingers' own forces slips out as they
        close; no force, however large, helps.
    margin_cap : float
        Largest margin looked for [-]; 0: no margin, only the verdict.
    margin_steps : int
        Bisections of the last growth of a load; at 9 the margin is found to 0.05 %,
        or 0.00025 below a margin of 0.5.
    tolerance : float
        Residual of a solved equilibrium over load and clamping force [-].

    Raises
    ------
    TaskError
        A value is outside its range.
    """

    max_translation: float = option(2e-3, above=0, below=np.inf)
    max_rotation: float = option(np.deg2rad(2.0), above=0, below=np.inf)
    torsional_ratio: float = option(3.0, above=0, below=np.inf)
    friction_reserve: float = option(0.15, least=0, below=1)
    margin_cap: float = option(5.0, besides=0.0, least=1, below=np.inf)
    margin_steps: int = option(9, least=1, most=50)
    tolerance: float = option(1e-8, above=0, below=np.inf)


@dataclass(frozen=True, eq=False)
class StabilityVerdict:
    """
    Verdict on a state: does it hold its load cases, with what margin.

    Attributes
    ----------
    holds : bool
        Every load case, and no load at all, there also with ``friction_reserve`` less of
        friction, leaves the object within its limits.
    margin : float
        Largest multiple of the load cases that holds, at most the cap; 0 where the bare
        grip is not held, or not with its reserve; NaN if no margin was asked for.
    worst_case : int
        Load case that limits the margin (without one: that uses most of a limit);
        -1 if there is none.
    residual : float
        Unbalanced wrench of the simulated forces, and of the friction that the object's
        motion so far calls up, over the sum of the former [-].
    shift : (6,) float
        Further motion of the object at its centre of mass that balances them:
        translation [m], rotation vector [rad].
    """

    holds: bool
    margin: float
    worst_case: int
    residual: float
    shift: Array


def judge_stability(patches: ContactSet, wrenches: Array, centre_of_mass: Array, friction: float,
                    options: StabilityOptions = StabilityOptions(), settled: Array = AT_REST,
                    torques: TorqueOptions = TorqueOptions()) -> StabilityVerdict:
    """
    Judge whether the hand, its joints held, holds the object under every wrench.

    For every wrench the object's quasi-static equilibrium is solved from the simulated
    state: a normal force changes with the normal displacement and never pulls, a
    tangential one is a spring that slips on the soft finger's friction ellipsoid. On the way to
    its rest without load contacts feel each other's ways, too (``cross_stiffness``).

    Parameters
    ----------
    patches : ContactSet
        All loaded patches, passive ones too.
    wrenches : (c, 6) float
        Loads about the centre of mass [N], [N m]; see ``load_wrenches``.
    centre_of_mass : (3,) float
        Of the deformed object [m].
    friction : float
        Coefficient, not negative [-].
    options : StabilityOptions
    settled : (6,) float
        Motion of the object at its centre of mass, from where nothing rubbed to where the
        patches were simulated: translation [m], rotation vector [rad]. Tangential springs
        are stretched by it, normal forces are as simulated.
    torques : TorqueOptions

    Returns
    -------
    StabilityVerdict

    Raises
    ------
    ShapeError
        ``wrenches`` is not ``(c, 6)`` or not finite.
    TaskError
        ``friction`` is negative or not finite.

    Notes
    -----
    Own derivation, see docs/model/stability.md; limit surface: Howe & Cutkosky 1996.
    """
    wrenches, friction = checked_array(wrenches, 'wrenches', 'c', 6), checked_friction(friction)
    if patches.count == 0:
        return StabilityVerdict(False, 0.0, 0 if len(wrenches) else -1, 0.0, np.zeros(6))
    simulated, unit = _grasp_stiffness(patches, centre_of_mass, friction, options, settled,
                                       torques)
    start = settled * unit
    grasp = _noting_each_other(simulated, start, patches.coupling)
    rest, holds, margin, worst = judge_load_cases(
        wrenches / unit, grasp, start, float(options.margin_cap),
        options.margin_steps if options.margin_cap > 0.0 else 0, float(options.friction_reserve))
    return StabilityVerdict(bool(holds), float(margin), int(worst),
                            _residual(simulated, start, patches), (rest - start) / unit)


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """
    Equilibrium of the object under one load, and the forces of the patches there.

    Attributes
    ----------
    utilisation : float
        Largest share of a limit of motion or normal force that it uses; it holds up to
        1. ``inf`` where no equilibrium was found, and the rest is where the search
        ended, or where the contacts left do not fix the object.
    shift : (6,) float
        Further motion of the object at its centre of mass [m], rotation vector [rad].
    forces, torques : (k, 3) float
        On the object [N], and about the patch's point [N m], frame object.
    """

    utilisation: float
    shift: Array
    forces: Array
    torques: Array


def find_equilibrium(patches: ContactSet, wrench: Array, centre_of_mass: Array, friction: float,
                     options: StabilityOptions = StabilityOptions(), settled: Array = AT_REST,
                     torques: TorqueOptions = TorqueOptions()) -> Equilibrium:
    """
    Return the equilibrium that ``judge_stability`` examines, for one wrench.

    Parameters
    ----------
    patches, centre_of_mass, friction, options, settled, torques
        As in ``judge_stability``; at least one patch.
    wrench : (6,) float
        Load about the centre of mass [N], [N m].

    Returns
    -------
    Equilibrium

    Raises
    ------
    ShapeError, TaskError
        As ``judge_stability``.

    Notes
    -----
    Own derivation, see docs/model/stability.md.
    """
    wrench, friction = checked_array(wrench, 'wrench', 6), checked_friction(friction)
    grasp, unit = _grasp_stiffness(patches, centre_of_mass, friction, options, settled, torques)
    x = settled * unit
    grasp = _noting_each_other(grasp, x, patches.coupling)
    equilibrium.solve_load_case(x, np.zeros(6), grasp)
    shift = x.copy()
    share = equilibrium.solve_load_case(x, wrench / unit, grasp)
    if share > 1.0:
        x[:] = shift
        grow_load(wrench / unit, grasp, x, (0.0, 1.0), 0)
        share = equilibrium.solve_load_case(x, wrench / unit, grasp)
    forces, moments = _patch_forces(patches, grasp[0], friction, x, unit[5])
    return Equilibrium(float(share), x / unit - settled, forces, moments)


def _patch_forces(patches: ContactSet, contacts: Contacts, friction: float, x: Array,
                  scale: float) -> tuple[Array, Array]:
    frames, simulated = patches.frames, patches.normal_forces
    forces, torques = np.zeros((patches.count, 3)), np.zeros((patches.count, 3))
    for i, found in enumerate(all_contact_forces(x, contacts, friction)):
        normal, torsion = found[0], found[3]
        forces[i] = frames[i] @ found[:3]
        torques[i] = (patches.normals[i] * torsion * patches.friction_radii[i]
                      + scale * found[4:] @ contacts[1][i, 4:, 3:6])
        if simulated[i] > 0.0:
            share = normal / simulated[i]
            forces[i] += share * patches.forces[i] - normal * patches.normals[i]
            torques[i] += share * patches.torques[i]
    return forces, torques


def checked_friction(friction: float) -> float:
    """Return friction as a float; raise TaskError where it is negative or not finite."""
    if not (np.isfinite(friction) and friction >= 0.0):
        raise TaskError(f'friction must be 0 or above and finite, got {friction}')
    return float(friction)


def _grasp_stiffness(patches: ContactSet, centre_of_mass: Array, friction: float,
                     options: StabilityOptions, settled: Array,
                     torques: TorqueOptions) -> tuple[equilibrium.GraspStiffness, Array]:
    """
    Return a grasp's stiffness as the kernels take it, and the unit of its wrenches (6,).

    Of contacts these are ``motion`` and ``action (k, 6, 8)`` and stiffness (k, 6). ``motion @ x``
    are a contact's displacements ``(n, t1, t2, r_e angle, tilts)``; ``action`` holds the wrench
    of a unit of each force. They differ in the first row: the pressures act along the simulated
    resultant, moment included; and in the last two: pressures that move aside are a couple.
    """
    scale, reach = torques.scale(patches.points, centre_of_mass), torques.tilting_share
    unit = np.array([1.0, 1.0, 1.0, scale, scale, scale])
    normals = patches.normal_forces
    motion, action = contact_rows(
        patches.frames, patches.points - centre_of_mass, patches.friction_radii, patches.rocking,
        normals, patches.forces, patches.torques, float(scale), float(reach))
    stiffness = np.zeros((patches.count, ROWS))
    stiffness[:, 0] = patches.normal_stiffness
    stiffness[:, 1:3] = patches.tangential_stiffness[:, None]
    stiffness[:, 3] = patches.tangential_stiffness * options.torsional_ratio
    if reach > 0.0:
        stiffness[:, 4:] = patches.rocking_stiffness / reach ** 2
    # Springs start where nothing rubbed: there the pressures would be others.
    pressing = [0, *range(SLIDING, ROWS)]
    starts = stiffness[:, pressing] * (motion[:, pressing, :6] @ (settled * unit))
    starts[:, 0] += normals
    contacts = motion, action, starts, stiffness
    limits = np.array([options.max_translation, options.max_rotation * scale])
    grasp = (contacts, np.ascontiguousarray(patches.max_normal_forces), friction, limits,
             float(options.tolerance))
    return grasp, unit


def _noting_each_other(grasp: equilibrium.GraspStiffness, start: Array, coupling: Array
                       ) -> equilibrium.GraspStiffness:
    """
    Return a grasp whose normal springs begin as the others' ways to its rest have them.

    Its rest without load is then that of contacts which feel each other (``coupling``, (k, k)),
    found by taking note of the ways again and again: each note changes them by some twentieth of
    the one before. Where changes grow, or no rest is found, the grasp is as it was.
    """
    (motion, action, starts, stiffness), most, friction, limits, tolerance = grasp
    noted, ways, least = grasp, np.zeros(len(starts)), np.inf
    for _ in range(NOTES if coupling.any() else 0):
        begins, rest = starts.copy(), start.copy()
        begins[:, 0] -= coupling @ ways
        noted = (motion, action, begins, stiffness), most, friction, limits, tolerance
        if not np.isfinite(equilibrium.solve_load_case(rest, np.zeros(6), noted)):
            return grasp
        before, ways = ways, motion[:, 0, :6] @ (rest - start)
        change = float(np.abs(ways - before).max())
        if change > least:
            return grasp
        if change <= NOTED * np.abs(ways).max():
            break
        least = change
    return noted


def _residual(grasp: equilibrium.GraspStiffness, start: Array, patches: ContactSet) -> float:
    """Return the relative residual at the scaled twist at which the patches were simulated."""
    total = float(np.sqrt(np.einsum('ij,ij->i', patches.forces, patches.forces)).sum())
    state = np.zeros((8, 8))
    state[7, :6] = start
    size = equilibrium.fill_residual(np.zeros(6), grasp, np.empty((ROWS, 8)), state)
    return float(size) / total if total > 0.0 else 0.0


def motion_at(point: Array, settled: Array) -> Array:
    """
    Return by how much a point of the object moved, and turned, until now.

    Parameters
    ----------
    point : (3,) float
        Of the object, frame object [m].
    settled : (6,) float
        Motion of the origin [m], rotation vector [rad], frame object as it is now.

    Returns
    -------
    (6,) float
        The same motion at the point; exact for any angle.
    """
    if not settled[3:].any():
        return settled.copy()       # all points move alike
    rotation = from_rotation_vector(settled)[:3, :3]
    return np.concatenate([settled[:3] + point - rotation.T @ point, settled[3:]])
