"""The task: loads that a grasp must withstand, and where hand, object and contacts may be."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..arrays import Array
from ..batches import OBSTACLE_WIDTH, check_obstacles
from ..errors import ShapeError, TaskError
from ..fields import checked_array
from ..grasp_theory.grasp_map import load_cases
from ..transforms import checked_rigid, transform


#: Share of a request's time that is kept for the arm's ways where there is an arm, and the least
#: time for them where planning has used up more [-, s].
ARM_TIME_SHARE, LEAST_ARM_TIME = 0.4, 3.0
#: Who may move the object to its wanted pose: hand and arm; the fingers before the arm; the
#: fingers alone.
ANY, PREFER_FINGERS, FINGERS_ONLY = 'any', 'prefer_fingers', 'fingers_only'
REACHES = ANY, PREFER_FINGERS, FINGERS_ONLY
#: Standard deviations of an object's pose that nobody states, along [m] and about each axis [rad].
POSE_UNCERTAINTY = (0.002, float(np.deg2rad(2.0)))
#: Smallest length of a direction; a shorter vector has none.
LEAST_LENGTH = 1e-9


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
    reach : str
        By whom the object is to be moved: ``ANY``, ``PREFER_FINGERS`` or ``FINGERS_ONLY``.
    pose_uncertainty : (2,) float
        Standard deviations of the object's pose, along [m] and about each axis [rad], under
        which grasps are judged and ranked again: of a pose by a camera, 2 mm and 2 degrees.

    Raises
    ------
    TaskError
        Something is no finite number, an array has another shape, a direction is zero,
        gravity is negative, the displacement is not rigid, a primitive of no known kind or size,
        ``reach`` is none of its words, or means no displacement.
    """

    gravity_directions: Array = field(default_factory=lambda: np.zeros((0, 3)))
    gravity: float = 9.81
    external_wrenches: Array = field(default_factory=lambda: np.zeros((0, 6)))
    displacement_object: Array | None = None
    approach_direction: Array | None = None
    approach_half_angle: float = np.pi
    obstacles: Array = field(default_factory=lambda: np.zeros((0, OBSTACLE_WIDTH)))
    keep_out: Array = field(default_factory=lambda: np.zeros((0, OBSTACLE_WIDTH)))
    contact_region: Array = field(default_factory=lambda: np.zeros((0, OBSTACLE_WIDTH)))
    reach: str = ANY
    pose_uncertainty: Array = field(default_factory=lambda: np.array(POSE_UNCERTAINTY))

    def __post_init__(self) -> None:
        """Check every field."""
        if self.reach not in REACHES:
            raise TaskError(f'task.reach must be one of {", ".join(REACHES)}, '
                            f'got {self.reach!r:.60}')
        if self.reach != ANY and self.displacement_object is None:
            raise TaskError(f'task.reach is {self.reach}: give the displacement that is meant')
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
            raise TaskError(f'task.gravity must be between 0 and 1000 m/s^2, got {self.gravity}')
        if not 0.0 < self.approach_half_angle <= np.pi:
            raise TaskError('task.approach_half_angle must be above 0 and at most pi, '
                            f'got {self.approach_half_angle}')
        if self.approach_direction is not None:
            direction = _finite('approach_direction', self.approach_direction)
            if direction.shape != (3,) or not LEAST_LENGTH < _lengths(direction) < np.inf:
                raise TaskError('task.approach_direction must be three numbers, not all zero '
                                f'and not huge, got {direction.tolist()}')
            object.__setattr__(self, 'approach_direction', direction)

        spread = _finite('pose_uncertainty', self.pose_uncertainty)
        if spread.shape != (2,) or not (0.0 <= spread).all() or spread[1] > np.pi:
            raise TaskError('task.pose_uncertainty must be a way in metres and an angle up to '
                            f'pi, neither negative, got {spread.tolist()}')
        object.__setattr__(self, 'pose_uncertainty', spread)

    def _check_geometry(self) -> None:
        """Check the displacement and the primitives."""
        if self.displacement_object is not None:
            name = 'task.displacement_object'
            object.__setattr__(self, 'displacement_object', checked_rigid(checked_array(
                self.displacement_object, name, 4, 4, error=TaskError), name))
        for name in ('obstacles', 'keep_out', 'contact_region'):
            check_obstacles(getattr(self, name), f'task.{name}')


def task_in_object_frame(task: Task, T_object_frame: Array) -> Task:
    """
    Return, in the object's frame, a task whose every field is given in another.

    Torques stay about the object's origin, and the displacement turns the object about its own
    origin, about axes of the other frame, before it translates it.

    Parameters
    ----------
    task : Task
    T_object_frame : (4, 4) float
        Pose of the other frame in the object's.
    """
    rotation = T_object_frame[:3, :3]
    motion, approach = task.displacement_object, task.approach_direction
    return replace(
        task, gravity_directions=task.gravity_directions @ rotation.T,
        external_wrenches=(task.external_wrenches.reshape(-1, 2, 3) @ rotation.T).reshape(-1, 6),
        displacement_object=None if motion is None else transform(
            rotation @ motion[:3, :3] @ rotation.T, rotation @ motion[:3, 3]),
        approach_direction=None if approach is None else rotation @ approach,
        obstacles=moved_region(task.obstacles, T_object_frame),
        keep_out=moved_region(task.keep_out, T_object_frame),
        contact_region=moved_region(task.contact_region, T_object_frame))


def moved_region(region: Array, T_new_old: Array) -> Array:
    """Return primitives ``(k, 16)`` (see ``ConfigurationBatch.obstacles``) in another frame."""
    poses = region[:, 4:].reshape(-1, 3, 4)
    moved = T_new_old @ transform(poses[..., :3], poses[..., 3])
    return np.hstack([region[:, :4], moved[:, :3].reshape(-1, 12)])


def task_load_cases(task: Task, R_object_canonical: Array) -> Array:
    """
    Return the load cases of a task ``(c, 9)``, see ``grasp_map.load_cases``.

    Parameters
    ----------
    task : Task
    R_object_canonical : (3, 3) float
        Axes of the object's canonical frame in the object's frame.
    """
    return load_cases(task.gravity_directions, task.gravity, task.external_wrenches,
                      R_object_canonical)
