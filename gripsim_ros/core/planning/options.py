"""Options of the planner; their values are in ``config/planner.yaml``."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ..batches import AS_CONFIGURED, HALF_SPACE
from ..errors import TaskError
from ..options import option, Options

#: Model of the object: half-spaces for the search, then its own compliance for the best.
IN_TWO_STAGES = 'auto'
#: Names of the terms of a score, see ``ranking``.
SCORE_TERMS = ('gentleness', 'pressure', 'support', 'opposition', 'spread', 'torque',
               'deformation')
#: Name of the term of a grasp that moves the object, where fingers are preferred; it may be left
#: out, and its weight then [-].
REACH_TERM, REACH_WEIGHT = 'reach', 0.1


def checked_elasticity(name: str) -> str:
    """Return a model of the object that a planner may ask for; raise ``TaskError`` for others."""
    if name not in (AS_CONFIGURED, HALF_SPACE, IN_TWO_STAGES):
        raise TaskError(f'elasticity must be {HALF_SPACE} or {IN_TWO_STAGES} where a planner asks '
                        f'stages for it, or empty, got {name!r:.60}')
    return name


def _positive() -> Any:
    return option(finite=True, above=0)


def _not_negative() -> Any:
    return option(finite=True, least=0)


@dataclass(frozen=True)
class ManipulationOptions(Options, section='planner option reach'):
    """Every field is explained, with its unit, in ``config/planner.yaml``."""

    translation_step: float = _positive()
    rotation_step: float = _positive()
    arm_translation_step: float = _positive()
    arm_rotation_step: float = _positive()
    max_steps: int = _positive()
    max_corrections: int = _positive()
    force_band: float = _positive()
    residual_tolerance: float = _positive()
    position_tolerance: float = _positive()


@dataclass(frozen=True)
class ClosingDynamics(Options, section='planner option closing'):
    """
    How fast a hand closes, and what resists motion, where an object moves meanwhile.

    Attributes
    ----------
    closing_time, squeeze_time : float
        Of the trajectory, and of the grip after it [s].
    drag : float
        Resistance to the translation of an object that floats [N s/m].
    joint_damping : float
        Resistance to the joints' motion [N m s/rad].
    stiffness : float
        Of a link's contacts together, in series with the joints' [N/m].
    time_step : float
        Of the integration [s].
    """

    closing_time: float = _positive()
    squeeze_time: float = _positive()
    drag: float = _not_negative()
    joint_damping: float = _not_negative()
    stiffness: float = _positive()
    time_step: float = _positive()


@dataclass(frozen=True)
class Uncertainty(Options, section='planner option uncertainty'):
    """
    Standard deviations of an object's numbers, and the squeeze of the hand.

    Attributes
    ----------
    youngs_modulus, friction : float
        Of the natural logarithm [-].
    poisson_ratio : float
        [-]
    squeeze : float
        Multiple of the closing torques with which the joints press [-].

    Raises
    ------
    TaskError
        A number is negative or not finite.
    """

    youngs_modulus: float = _not_negative()
    poisson_ratio: float = _not_negative()
    friction: float = _not_negative()
    squeeze: float = _not_negative()


@dataclass(frozen=True)
class PlannerOptions:
    """Every field is explained, with its unit, in ``config/planner.yaml``."""

    max_hypotheses: int
    max_grasps: int
    max_planning_time: float
    batch_size: int
    clearance_batch_size: int
    active_hypotheses: int
    elasticity: str
    face_count: int
    roll_count: int
    palm_gaps: tuple[float, ...]
    approach_distance: float
    min_clearance: float
    sample_faces: int
    closure_unbalance: float
    touch_distance: float
    max_reach_steps: int
    max_squeeze_steps: int
    first_force_radius: float
    max_depth_step: float
    margin_band: tuple[float, ...]
    min_force_share: float
    force_tolerance: float
    max_correction_steps: int
    weights: Mapping[str, float]
    unseen_loss: float
    unseen_length: float
    heat_size: int
    set_aside_slack: float
    trajectory_rows: int
    settling_steps: int
    settling_residual: float
    robustness_samples: int
    uncertainty: Uncertainty
    reach: ManipulationOptions
    closing: ClosingDynamics

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> 'PlannerOptions':
        """
        Return options from a mapping with exactly the field names.

        Raises
        ------
        TaskError
            A name is unknown or missing, or a value is of the wrong kind, negative
            or not finite; the message names it.
        """
        names = {f.name for f in fields(cls)}
        unknown, missing = sorted(set(values) - names), sorted(names - set(values))
        if unknown or missing:
            raise TaskError(f'planner options: unknown {unknown}, missing {missing}')
        return cls(**{f.name: _checked(f.name, f.type, values[f.name]) for f in fields(cls)})


def _checked(name: str, kind: Any, value: Any) -> Any:
    if name == 'elasticity':
        return checked_elasticity(value)
    if name == 'weights':
        return _checked_weights(value)
    if kind in (Uncertainty, ManipulationOptions, ClosingDynamics):
        names = [f.name for f in fields(kind)]
        if not isinstance(value, Mapping) or set(value) != set(names):
            raise TaskError(f'planner option {name} needs exactly {names}, got {value!r}')
        return kind(**value)
    numbers = np.atleast_1d(np.asarray(value, dtype=float))
    if numbers.size == 0 or not np.isfinite(numbers).all() or (numbers < 0.0).any():
        raise TaskError(f'planner option {name} must be finite and not negative, got {value!r}')
    if kind is int:
        least = 0 if name in ('robustness_samples', 'settling_steps') else 1
        if numbers.size != 1 or int(numbers[0]) != numbers[0] or numbers[0] < least:
            raise TaskError(
                f'planner option {name} must be a whole number from {least}, got {value!r}')
        return int(numbers[0])
    return float(numbers[0]) if kind is float else tuple(numbers.tolist())


def _checked_weights(value: Any) -> dict[str, float]:
    if not isinstance(value, Mapping) or set(value) - {REACH_TERM} != set(SCORE_TERMS):
        raise TaskError(f'planner option weights needs exactly {list(SCORE_TERMS)}, and may have '
                        f'{REACH_TERM}, got {value!r}')
    weights = {name: float(value.get(name, REACH_WEIGHT)) for name in (*SCORE_TERMS, REACH_TERM)}
    if not all(np.isfinite(w) and w >= 0.0 for w in weights.values()) \
            or not any(weights[name] for name in SCORE_TERMS):
        raise TaskError('planner option weights must be not negative and not all 0, '
                        f'got {value!r}')
    return weights
