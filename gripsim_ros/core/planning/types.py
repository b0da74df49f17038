"""What the planner takes and gives: tasks, options, ranked grasps, progress."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..batches import OBSTACLE_WIDTH, ConfigurationBatch, check_obstacles
from ..errors import ShapeError, TaskError
from ..transforms import checked_rigid
from .reach_types import Reach

Array = NDArray[np.float64]

#: A direction that is shorter has none.
LEAST_LENGTH = 1e-9


def _no_rows(width: int) -> Array:
    return np.zeros((0, width))


def _finite(name: str, value: Any) -> Array:
    try:
        numbers = np.asarray(value, float)
    except (TypeError, ValueError):
        raise TaskError(f'task.{name} must be numbers, got {value!r:.60}') from None
    if not np.isfinite(numbers).all():
        raise TaskError(f'task.{name} must be finite, got {numbers.tolist()}')
    return numbers


def _number(name: str, value: Any) -> float:
    number = _finite(name, value)
    if number.ndim:
        raise TaskError(f'task.{name} must be one number, got {value!r:.60}')
    return float(number)


def _rigid(name: str, value: Any) -> Array:
    motion = _finite(name, value)
    if motion.shape != (4, 4):
        raise TaskError(f'task.{name} must be a pose of shape (4, 4), got {motion.shape}')
    return checked_rigid(motion, f'task.{name}')


def check_counts(**counts: int) -> None:
    """
    Check whole numbers that may be 0.

    Raises
    ------
    TaskError
        One is no whole number, or negative; named as it is passed.
    """
    for name, count in counts.items():
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 0:
            raise TaskError(f'{name} must be a whole number and not negative, got {count!r:.60}')


def _lengths(vectors: Array) -> Array:
    """Return lengths along the last axis, infinite where they overflow."""
    with np.errstate(over='ignore'):
        lengths: Array = np.linalg.norm(vectors, axis=-1)
    return lengths


@dataclass(frozen=True, eq=False)
class Task:
    """
    What a grasp must withstand and where the hand may be, frame object.

    Attributes
    ----------
    gravity_directions : (g, 3) float
        Directions in which the weight may pull, any length above 0. Empty: any
        direction (26 of them, about the object's principal axes).
    gravity : float
        Magnitude [m/s^2], not negative.
    external_wrenches : (w, 6) float
        Force [N] and torque about the object's origin [N m]; each is combined with
        each direction of gravity.
    displacement_object : (4, 4) float or None
        Wanted motion of the object, as the pose of the moved object in itself.
    approach_direction : (3,) float or None
        Direction in which the palm approaches.
    approach_half_angle : float
        Half angle of the cone about it [rad].
    obstacles, keep_out : (k, 16) float
        Primitives as in ``ConfigurationBatch.obstacles``; the hand may enter neither.
    contact_region : (k, 16) float
        The same; the middle of every contact must lie in one of them. Empty: anywhere.

    Raises
    ------
    TaskError
        Something is no finite number, an array has another shape, a direction is zero,
        gravity is negative, the displacement is not rigid, a primitive of no known kind or size.
    """

    gravity_directions: Array = field(default_factory=lambda: _no_rows(3))
    gravity: float = 9.81
    external_wrenches: Array = field(default_factory=lambda: _no_rows(6))
    displacement_object: Array | None = None
    approach_direction: Array | None = None
    approach_half_angle: float = np.pi
    obstacles: Array = field(default_factory=lambda: _no_rows(OBSTACLE_WIDTH))
    keep_out: Array = field(default_factory=lambda: _no_rows(OBSTACLE_WIDTH))
    contact_region: Array = field(default_factory=lambda: _no_rows(OBSTACLE_WIDTH))

    def __post_init__(self) -> None:
        """Check every field."""
        for name, width in (('gravity_directions', 3), ('external_wrenches', 6),
                            ('obstacles', OBSTACLE_WIDTH), ('keep_out', OBSTACLE_WIDTH),
                            ('contact_region', OBSTACLE_WIDTH)):
            rows = _finite(name, getattr(self, name))
            if rows.size % width:
                raise TaskError(f'task.{name} must have rows of {width} numbers, '
                                f'got {rows.tolist()}')
            object.__setattr__(self, name, rows.reshape(-1, width))
        try:
            self._check_geometry()
        except ShapeError as error:
            raise TaskError(str(error)) from None
        lengths = _lengths(self.gravity_directions)
        if (lengths < LEAST_LENGTH).any():
            raise TaskError('task.gravity_directions: a direction has zero length')
        if np.isinf(lengths).any():
            raise TaskError('task.gravity_directions: a direction is too long to be measured')
        for name in ('gravity', 'approach_half_angle'):
            object.__setattr__(self, name, _number(name, getattr(self, name)))
        if not 0.0 <= self.gravity <= 1000.0:
            raise TaskError(
                f'task.gravity must be between 0 and 1000 m/s^2, got {self.gravity}')
        if not 0.0 < self.approach_half_angle <= np.pi:
            raise TaskError('task.approach_half_angle must be above 0 and at most pi, '
                            f'got {self.approach_half_angle}')
        if self.approach_direction is not None:
            direction = _finite('approach_direction', self.approach_direction)
            if direction.shape != (3,) or not LEAST_LENGTH < _lengths(direction) < np.inf:
                raise TaskError('task.approach_direction must be three numbers, not all zero '
                                f'and not huge, got {direction.tolist()}')
            object.__setattr__(self, 'approach_direction', direction)

    def _check_geometry(self) -> None:
        """Check the displacement and the primitives."""
        if self.displacement_object is not None:
            object.__setattr__(self, 'displacement_object', _rigid(
                'displacement_object', self.displacement_object))
        for name in ('obstacles', 'keep_out', 'contact_region'):
            check_obstacles(getattr(self, name), f'task.{name}')


@dataclass(frozen=True, eq=False)
class GraspContact:
    """
    One patch of a ranked grasp; forces act on the object, frame object, SI.

    ``strain_energy`` [J] and ``peak_von_mises`` [Pa] are NaN where not computed;
    ``surface_uncertainty`` is the expected error of the surface's place there [m], 0 where it
    was seen or given. ``closing_force`` and ``closing_torque (3,)`` [N, N m] are the resultant
    of the pressures and its moment about the point, ``mean_pressure`` [Pa] its normal part over
    the area, ``equivalent_radius`` [m] that of a disc of the area; ``normal_stiffness`` and
    ``tangential_stiffness`` [N/m] are incremental. ``max_deformation`` and ``mean_deformation``
    [m] are displacements of the patch without the surface's best-fit rigid motion, NaN where
    not computed; ``flags`` are ``batches.PATCH_*``, 0 in the model's range.
    """

    link: str
    point: Array
    normal: Array
    force: Array
    torque: Array
    closing_force: Array
    area: float
    peak_pressure: float
    friction_radius: float
    strain_energy: float = np.nan
    peak_von_mises: float = np.nan
    surface_uncertainty: float = 0.0
    closing_torque: Array = field(default_factory=lambda: np.zeros(3))
    mean_pressure: float = np.nan
    equivalent_radius: float = np.nan
    normal_stiffness: float = np.nan
    tangential_stiffness: float = np.nan
    max_deformation: float = np.nan
    mean_deformation: float = np.nan
    flags: int = 0


@dataclass(frozen=True)
class ScoreTerm:
    """One term of a score: ``contribution = weight x normalised value``."""

    name: str
    value: float
    unit: str
    weight: float
    contribution: float
    normalised: float = 0.0


@dataclass(frozen=True)
class Robustness:
    """
    How a grasp fares where the numbers of the request are uncertain.

    Of ``samples`` a share ``holding`` holds, with its standard error ``error``;
    ``mean_margin`` is the mean multiple of the loads that is held.
    """

    samples: int
    holding: float
    error: float
    mean_margin: float


@dataclass(frozen=True, eq=False)
class RankedGrasp:
    """
    A grasp with its reasons; poses are of the palm in the object's frame.

    ``trajectory (m, J)`` [rad] leads from the open hand to the first state that holds;
    ``grip_positions`` and ``grip_efforts (J,)`` [rad, N m] are what to command there.
    ``vertices`` and ``vertex_pressures`` are the deformed surface [m, Pa] where it was
    computed, else None. ``reason`` says why a grasp under evaluation does not hold.
    ``damage_margin`` is the damage pressure of object or pads over the peak pressure [-],
    ``inf`` without limit or contact; ``robustness`` is None unless asked for, ``reach`` unless
    the task has a displacement and there was time to follow it; ``arm_motion`` is an
    ``ArmMotion`` where an arm was asked for.
    ``max_deformation`` and ``mean_deformation`` [m] are those of the surface without its
    best-fit rigid motion; they, ``strain_energy`` [J] and ``peak_von_mises`` [Pa] are NaN where
    not computed. ``T_object_settled (4, 4)`` is where the object settles between the fingers, in
    its frame as they find it; contacts, surface and centre of mass are told in the latter.
    ``residual`` is what the contacts' forces then lack to balance, over their sum [-];
    ``balanced`` is False where that stays above the tolerance however it settles.
    ``limiting_load (6,)`` is the load that fails first when all grow alike (at the largest
    margin looked for, the one that uses most of a limit): force [N], torque about the deformed
    centre of mass [N m], as the task has it, not times ``margin``; None without one.
    ``epsilon`` and ``wrench_volume`` are those of Ferrari & Canny for the contacts as hard
    fingers, NaN where not computed; the contacts close by force where epsilon is above 0.
    """

    rank: int
    hypothesis: int
    preshape: str
    stable: bool
    T_object_palm: Array
    T_object_pregrasp: Array
    trajectory: Array
    grip_positions: Array
    grip_efforts: Array
    contacts: tuple[GraspContact, ...]
    score: float
    terms: tuple[ScoreTerm, ...]
    margin: float
    quantitative: bool
    max_displacement: float
    centre_of_mass: Array
    warnings: tuple[str, ...] = ()
    reason: str = ''
    vertices: Array | None = None
    vertex_pressures: Array | None = None
    damage_margin: float = np.inf
    robustness: Robustness | None = None
    reach: Reach | None = None
    arm_motion: Any = None
    max_deformation: float = np.nan
    mean_deformation: float = np.nan
    strain_energy: float = np.nan
    peak_von_mises: float = np.nan
    T_object_settled: Array = field(default_factory=lambda: np.eye(4))
    residual: float = np.nan
    limiting_load: Array | None = None
    epsilon: float = np.nan
    wrench_volume: float = np.nan
    balanced: bool = True


@dataclass(frozen=True, eq=False)
class NearestMiss:
    """
    Of the rejected hypotheses the one that came nearest, with what it lacked.

    ``T_object_palm`` and ``joint_positions (J,)`` [rad] are where it was nearest;
    ``capable`` tells whether forces within all limits hold the task, ``margin`` which
    multiple of its loads that state held. Not ``capable``: ``needed_friction`` [-] would do
    within the limits, ``needed_force`` [N] is the largest normal force if friction alone
    limited the forces, ``allowed_force`` [N] the largest that a contact may carry and
    ``held_share`` [-] the share of the loads that can be held; ``inf``: none would do, NaN:
    not worked out. ``peak_pressure`` [Pa] is that of the state, ``max_pressure`` [Pa] where
    damage of object or pads begins.
    """

    reason: str
    hypothesis: int
    preshape: str
    T_object_palm: Array
    joint_positions: Array
    links: tuple[str, ...]
    capable: bool
    margin: float
    friction: float
    needed_friction: float
    needed_force: float
    allowed_force: float
    held_share: float
    peak_pressure: float
    max_pressure: float
    contacts: tuple[GraspContact, ...] = ()


class Bar(NamedTuple):
    """
    What a closing's best score must reach: of one that may come to be quantitative, and others.

    Grasps that are not quantitative rank after all that are.
    """

    quantitative: float = -np.inf
    other: float = -np.inf


#: That of a closing that is not set aside.
NO_BAR = Bar()


@dataclass(frozen=True, eq=False)
class Ask:
    """A numbered question; numbers count up from 0 without a gap."""

    batch_id: int
    configurations: ConfigurationBatch


@dataclass(frozen=True, eq=False)
class Progress:
    """How far planning is: hypotheses judged, in all, stable ones, and the best so far."""

    evaluated: int
    total: int
    stable: int
    best: RankedGrasp | None
