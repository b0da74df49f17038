"""Which of the best grasps can move the object as the task wants."""

import numpy as np
from numpy.typing import NDArray

from ...batches import ConfigurationBatch
from ...errors import TaskError
from ...hand import HandModel
from ...transforms import inverse
from ..closing.closing import Held
from ..options import ReachOptions
from ..ranked_grasp import NOWHERE, Reach
from ..task import Task
from .follow_path import HeldMotion
from .kinematics import object_path
from .path_collision import first_meeting

Array = NDArray[np.float64]


class ReachSearch:
    """
    Follow the best grasps along the object's path; questions of one step go together.

    Parameters
    ----------
    hand : HandModel
    task : Task
    load_cases : (c, 9) float
        At the first pose, frame object.
    friction : float
    length : float
        That makes turns comparable with ways [m].
    options : ReachOptions
    vertices : (v, 3) float or None
        Of the object, whose convex hull must not meet the task's obstacles on its way; None:
        only the hand is asked about.

    Raises
    ------
    TaskError
        The way has more steps than allowed.
    """

    def __init__(self, hand: HandModel, task: Task, load_cases: Array, friction: float,
                 length: float, options: ReachOptions, vertices: Array | None = None) -> None:
        self._hand, self._task, self._load_cases = hand, task, load_cases
        self._friction, self._length, self._options = friction, length, options
        self._path = np.eye(4)[None]
        if task.displacement_object is not None:
            self._path = object_path(task.displacement_object, options.translation_step,
                                     options.rotation_step)
        if len(self._path) - 1 > options.max_steps:
            raise TaskError(f'task.displacement takes {len(self._path) - 1} steps of '
                            f'{options.translation_step} m or {options.rotation_step} rad, '
                            f'at most {options.max_steps} are allowed')
        self._blocked = -1 if vertices is None or not len(task.obstacles) else \
            first_meeting(vertices, task.obstacles, self._path)
        self._motions: dict[int, HeldMotion] = {}

    @property
    def asked(self) -> bool:
        """Return whether the task wants the object moved."""
        return self._task.displacement_object is not None

    def begin(self, number: int, T_object_palm: Array, held: Held) -> None:
        """Follow the grasp of hypothesis ``number``; a repeated call does nothing."""
        if number not in self._motions:
            self._motions[number] = HeldMotion(
                self._hand, held.joint_positions, T_object_palm, held.state, self._path,
                self._friction, self._length, self._options, self._blocked)

    def result(self, number: int) -> Reach | None:
        """Return what was found for a grasp, None while it is not known."""
        motion = self._motions.get(number)
        return motion.result if motion is not None and motion.done else None

    def excludes(self, number: int) -> bool:
        """Tell whether a grasp was found unable to move the object as wanted."""
        result = self.result(number)
        return result is not None and result.level == NOWHERE

    def next_motions(self, pending: set[int]) -> list[HeldMotion]:
        """Return unfinished motions that wait for the same step, the earliest."""
        free = [m for m in self._motions.values() if not m.done and id(m) not in pending]
        first = min((m.step for m in free), default=0)
        return [m for m in free if m.step == first]

    def questions(self, motions: list[HeldMotion]) -> ConfigurationBatch:
        """Return the question of motions at the same step, with loads and obstacles there."""
        T_object_moved = self._path[motions[0].step]
        questions = [m.question() for m in motions]
        return ConfigurationBatch(
            T_object_palm=np.array([q.T_object_palm for q in questions]),
            joint_positions=np.array([q.joint_positions for q in questions]),
            joint_displacements=np.array([q.joint_displacements for q in questions]),
            sweep_object=np.array([q.sweep_object for q in questions]),
            load_cases=self._turned_loads(T_object_moved),
            obstacles=moved_primitives(np.vstack([self._task.obstacles, self._task.keep_out]),
                                       inverse(T_object_moved)),
            detail=questions[0].detail)

    def _turned_loads(self, T_object_moved: Array) -> Array:
        """Return the load cases in the moved object's frame; directions stay in space."""
        loads = self._load_cases.reshape(-1, 3, 3) @ T_object_moved[:3, :3]
        if len(self._task.gravity_directions) == 0:
            loads[:, 0] = self._load_cases.reshape(-1, 3, 3)[:, 0]
        return loads.reshape(-1, 9)


def moved_primitives(primitives: Array, T_new_old: Array) -> Array:
    """
    Return primitives ``(k, 16)`` (see ``ConfigurationBatch.obstacles``) in another frame.

    Parameters
    ----------
    primitives : (k, 16) float
    T_new_old : (4, 4) float
    """
    moved = primitives.copy()
    poses = np.tile(np.eye(4), (len(primitives), 1, 1))
    poses[:, :3] = primitives[:, 4:].reshape(-1, 3, 4)
    moved[:, 4:] = (T_new_old @ poses)[:, :3].reshape(-1, 12)
    return moved
