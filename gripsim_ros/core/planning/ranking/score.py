"""The score of a grasp, every term shown with its unit and weight."""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from ...arrays import Array
from ...bodies import GraspObject
from ...bodies.scans.complete import SeenSurface
from ...grasp_theory.grasp_map import grasp_map, joint_torque_map
from ...grasp_theory.wrench_space import min_norm
from ...hand import HandModel
from ..closing.grasp_state import GraspState
from ..options import REACH_TERM, PlannerOptions
from ..ranked_grasp import ScoreTerm


#: Weight of the equation that shares add up to 1, beside vectors of about unit length [-].
SUM_WEIGHT = 1e3

#: Smallest singular value of the grasp map with which the spread term is 1; that of three
#: contacts evenly round a circle of the object's radius is 1.2.
FULL_SPREAD = 1.0
#: Displacement, in parts of the object's radius, at which the deformation term is 0.
FULL_DEFORMATION = 0.25


@dataclass(frozen=True, eq=False)
class ForetoldState:
    """What a score is made of where no stage was asked; its numbers as of ``GraspState``."""

    points: Array
    normals: Array
    centre_of_mass: Array
    normal_forces: Array
    minimal_forces: Array
    peak_pressures: Array
    max_displacement: float


@dataclass(frozen=True, eq=False)
class ScoreReference:
    """
    Reference values of a score: load [N], friction, radius [m], pressure [Pa].

    ``load_cases (c, 9)`` are the task's, ``mass`` [kg] the object's. ``seen`` is the surface
    of a completed body that was seen; None: the body was given. ``force_limit`` is the largest
    normal force of a link [N].
    """

    load: float
    friction: float
    radius: float
    max_pressure: float
    load_cases: Array
    mass: float
    seen: SeenSurface | None = None
    force_limit: float = np.inf


def score_reference(grasp_object: GraspObject, hand: HandModel, load_cases: Array
                    ) -> ScoreReference:
    """
    Return the reference values of a request.

    Parameters
    ----------
    grasp_object : GraspObject
    hand : HandModel
    load_cases : (c, 9) float

    Returns
    -------
    ScoreReference
        ``load`` is the largest force of a case; ``radius`` that of the sphere of the
        object's volume; ``max_pressure`` the lowest limit of material and pads.
    """
    properties = grasp_object.mass_properties
    loads = np.linalg.norm(properties.mass * load_cases[:, :3] + load_cases[:, 3:6], axis=1)
    pads = [link.pad.max_pressure for link in hand.links if link.pad is not None]
    return ScoreReference(
        load=float(max(loads.max(initial=0.0), 1e-9)),
        friction=grasp_object.material.friction,
        radius=float((3.0 * properties.volume / (4.0 * np.pi)) ** (1.0 / 3.0)),
        max_pressure=float(min([grasp_object.material.max_pressure, *pads])),
        load_cases=load_cases, mass=properties.mass, seen=grasp_object.seen,
        force_limit=grasp_object.material.force_limit)


def grip_efforts(hand: HandModel, joints: Array, T_object_palm: Array, state: GraspState) -> Array:
    """
    Return the joint torques of the minimal forces (J,) [N m]: the transposed Jacobian.

    Parameters
    ----------
    hand : HandModel
    joints : (J,) float
        [rad]
    T_object_palm : (4, 4) float
    state : GraspState
        Its minimal forces act on the object.
    """
    torque_map = joint_torque_map(hand, joints, T_object_palm, state.links, state.points)
    return (torque_map @ np.hstack([state.minimal_forces, state.minimal_torques]).ravel())


@lru_cache(maxsize=16)      # asked up to three times of a state that holds
def unbalance_and_spread(state: GraspState | ForetoldState, reference: ScoreReference
                         ) -> tuple[float, float]:
    """
    Return the unbalance of the normals and the spread of the contacts, whatever the forces.

    Unbalance is the smallest norm of a convex combination of normals, 0 where they can balance.
    Spread is the smallest singular value of the grasp map of hard fingers, torques over radius.
    Source: Li & Sastry 1988. Two contacts have 0: nothing but torsion resists about the line
    through them.
    """
    if not len(state.points):
        return 1.0, 0.0
    arms = (state.points - state.centre_of_mass) / reference.radius
    columns = grasp_map(arms, np.broadcast_to(np.eye(3), (len(arms), 3, 3)), np.zeros(3), False)
    values = np.linalg.svd(columns, compute_uv=False)
    return min_norm(state.normals, SUM_WEIGHT), float(values[5]) if len(values) > 5 else 0.0


def score_terms(state: GraspState | ForetoldState, efforts: Array, hand: HandModel,
                reference: ScoreReference, options: PlannerOptions,
                contact_geometry: tuple[float, float] | None = None
                ) -> tuple[float, tuple[ScoreTerm, ...]]:
    """
    Return a grasp's score in [0, 1] and its terms.

    Parameters
    ----------
    state : GraspState or ForetoldState
        Without forces that hold, its gentleness is 0.
    efforts : (J,) float
        Joint torques of the minimal forces [N m].
    hand : HandModel
    reference : ScoreReference
    options : PlannerOptions
    contact_geometry : (float, float), optional
        ``unbalance_and_spread`` of the state, where it is known.

    Returns
    -------
    score : float
    terms : tuple of ScoreTerm

    Notes
    -----
    Own choice of terms; each is monotone in one physical quantity, see docs/model.

    """
    force = float(np.linalg.norm(state.minimal_forces, axis=1).sum()) / reference.load
    peak = float(state.peak_pressures.max(initial=0.0))
    offset = _support_offset(state)
    unbalance, spread = contact_geometry or unbalance_and_spread(state, reference)
    torque = float(np.max(np.abs(efforts) / hand.joint_efforts))
    # In forces of a friction pinch; 0 where no forces hold.
    pinches = reference.friction * force
    values = {
        'gentleness': (force, 'N/N', float(pinches > 0.0) / max(pinches, 1.0)),
        'pressure': (peak, 'Pa', 1.0 - peak / reference.max_pressure),
        'support': (offset, 'm', 1.0 - offset / reference.radius),
        'opposition': (unbalance, '-', 1.0 - unbalance),
        'spread': (spread, '-', spread / FULL_SPREAD),
        'torque': (torque, '-', 1.0 - torque),
        'deformation': (state.max_displacement, 'm',
                        1.0 - state.max_displacement / (FULL_DEFORMATION * reference.radius))}
    total = sum(options.weights[name] for name in values)
    terms = tuple(
        _term(name, float(value), unit, options.weights[name] / total,
              min(max(float(normalised), 0.0), 1.0))
        for name, (value, unit, normalised) in values.items())
    return sum(term.contribution for term in terms), terms


def with_reach_term(score: float, terms: tuple[ScoreTerm, ...], share: float,
                    options: PlannerOptions, weigh: bool
                    ) -> tuple[float, tuple[ScoreTerm, ...]]:
    """
    Return a score and its terms with that of moving the object.

    Parameters
    ----------
    score : float
    terms : tuple of ScoreTerm
    share : float
        Of the object's way that the fingers alone move it, 0 to 1.
    options : PlannerOptions
    weigh : bool
        False: the term is told with weight 0, and the score stays.
    """
    own = options.weights[REACH_TERM] if weigh else 0.0
    rest = sum(weight for name, weight in options.weights.items() if name != REACH_TERM)
    kept = rest / (rest + own)
    terms = (*(replace(term, weight=kept * term.weight, contribution=kept * term.contribution)
               for term in terms), _term(REACH_TERM, share, '-', 1.0 - kept, share))
    return (sum(term.contribution for term in terms) if weigh else score), terms


def _term(name: str, value: float, unit: str, weight: float, normalised: float) -> ScoreTerm:
    return ScoreTerm(name, value, unit, weight, weight * normalised, normalised)


def damage_margin(state: GraspState, reference: ScoreReference) -> float:
    """
    Return the multiple of the state at which damage begins [-], ``inf``: none.

    The least of the damage pressure of object or pads over the peak pressure, and of the force
    that a link may press with over the largest.
    """
    peak = float(state.peak_pressures.max(initial=0.0))
    force = float(state.normal_forces_by_link.max(initial=0.0))
    return min(reference.max_pressure / peak if peak > 0.0 else np.inf,
               reference.force_limit / force if force > 0.0 else np.inf)


def _support_offset(state: GraspState | ForetoldState) -> float:
    """Return the distance of the centre of mass from the contacts' centre of pressure [m]."""
    weights = np.maximum(state.normal_forces, 0.0)
    middle = weights @ state.points / max(float(weights.sum()), 1e-12)
    return float(np.linalg.norm(middle - state.centre_of_mass))
