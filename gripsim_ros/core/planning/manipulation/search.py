"""In-hand manipulation: which of the best grasps can move the object as the task wants."""

import numpy as np
from numpy.typing import NDArray

from ...batches import ConfigurationBatch
from ...errors import TaskError
from ...hand import HandModel
from ...transforms import inverse
from ..closing.closing import HeldGrasp
from ..options import ManipulationOptions
from ..ranked_grasp import NOWHERE, ManipulationResult
from ..task import Task
from .follow_path import PathFollower
from .kinematics import object_path
from .path_collision import first_colliding_pose

Array = NDArray[np.float64]


class ManipulationSearch:
    """
    Followers of the object's path with the best grasps; questions of one step go together.

    Parameters
    ----------
    hand : HandModel
    task : Task
    load_cases : (c, 9) float
        At the first pose, frame object.
    friction : float
    length : float
        Scale of rotations against translations [m].
    options : ManipulationOptions
    vertices : (v, 3) float or None
        Of the object, whose convex hull must not collide with the task's obstacles on its
        path; None: only the hand must not.

    Raises
    ------
    TaskError
        The path has more steps than allowed.
    """

    def __init__(self, hand: HandModel, task: Task, load_cases: Array, friction: float,
                 length: float, options: ManipulationOptions, vertices: Array | None = None
                 ) -> None:
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
            first_colliding_pose(vertices, task.obstacles, self._path)
        self._followers: dict[int, PathFollower] = {}

    @property
    def asked(self) -> bool:
        """Return True if the task wants the object moved."""
        return self._task.displacement_object is not None

    def begin(self, number: int, T_object_palm: Array, held: HeldGrasp) -> None:
        """Follow the path with the grasp of hypothesis ``number``; repeated calls do nothing."""
        if number not in self._followers:
            self._followers[number] = PathFollower(
                self._hand, held.joint_positions, T_object_palm, held.state, self._path,
                self._friction, self._length, self._options, self._blocked)

    def result(self, number: int) -> ManipulationResult | None:
        """Return the result of a grasp, None while it is not known."""
        follower = self._followers.get(number)
        return follower.result if follower is not None and follower.done else None

    def excludes(self, number: int) -> bool:
        """Return True if a grasp was found unable to move the object as wanted."""
        result = self.result(number)
        return result is not None and result.level == NOWHERE

    def next_followers(self, pending: set[int]) -> list[PathFollower]:
        """Return unfinished followers that wait for the same step, the earliest."""
        free = [f for f in self._followers.values() if not f.done and id(f) not in pending]
        first = min((f.step for f in free), default=0)
        return [f for f in free if f.step == first]

    def questions(self, followers: list[PathFollower]) -> ConfigurationBatch:
        """Return the question of followers at the same step, with loads and obstacles there."""
        T_object_moved = self._path[followers[0].step]
        questions = [f.question() for f in followers]
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
        """Return the load cases in the moved object's frame; directions stay fixed in space."""
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
