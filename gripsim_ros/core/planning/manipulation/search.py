"""
In-hand manipulation: which of the best grasps can move the object as the task wants.

A way on which the object would collide with obstacles is refused first.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from ...arrays import Array
from ...batches import ConfigurationBatch
from ...errors import TaskError
from ...transforms import apply, inverse
from ..closing.batching import Conditions, ItemWork
from ..closing.closing import Closing
from ..closing.knowledge import HeldGrasp
from ..hypotheses.primitives import primitive_points
from ..ranked_grasp import (
    LEVELS, NOT_ASKED, NOWHERE, WITH_ARM, ManipulationResult, ManipulationStep, RankedGrasp)
from ..ranking.assemble import rank_key
from ..ranking.score import with_reach_term
from ..rejections import CANNOT_MOVE, FINGERS_CANNOT_MOVE
from ..task import FINGERS_ONLY, PREFER_FINGERS, Task, moved_region
from ..verdicts import Verdicts
from .follow_path import ROUND_OFF, PathFollower
from .kinematics import object_path


class ManipulationSearch(ItemWork[PathFollower]):
    """
    The work of moving the object with the best grasps; questions of one step go together.

    Parameters
    ----------
    task : Task
    verdicts : Verdicts
    ranked : callable
        Returns the best grasps.
    conditions : Conditions
        At the first pose.
    vertices : (v, 3) float or None
        Of the object, whose convex hull must not collide with the task's obstacles on its
        path; None: only the hand must not.

    Raises
    ------
    TaskError
        The path has more steps than allowed, or leads the object into an obstacle.
    """

    any_order = False

    def __init__(self, task: Task, verdicts: Verdicts, ranked: Callable[[], list[RankedGrasp]],
                 conditions: Conditions, vertices: Array | None = None) -> None:
        super().__init__({}, conditions, verdicts.options)
        self._task, self._verdicts, self._ranked = task, verdicts, ranked
        options = verdicts.options.reach
        self._path = np.eye(4)[None]
        if task.displacement_object is not None:
            self._path = object_path(task.displacement_object, options.translation_step,
                                     options.rotation_step)
        if len(self._path) - 1 > options.max_steps:
            raise TaskError(f'task.displacement takes {len(self._path) - 1} steps of '
                            f'{options.translation_step} m or {options.rotation_step} rad, '
                            f'at most {options.max_steps} are allowed')
        if vertices is not None and len(task.obstacles):
            _check_way(vertices, task.obstacles, self._path)

    @property
    def levels(self) -> dict[str, int]:
        """Return how many of the grasps followed to the end came to each level."""
        counts = Counter(follower.result.level for follower in self.items.values()
                         if follower.result is not None)
        return {level: counts[level] for level in LEVELS if counts[level]}

    def ordered(self, grasps: list[RankedGrasp]) -> list[RankedGrasp]:
        """
        Return grasps with their results, those that the fingers move first where they shall.

        Their score then counts the share of the way that the fingers alone move the object.
        """
        weigh = self._task.reach == PREFER_FINGERS
        told = [self._told(grasp, weigh) for grasp in grasps]
        if not weigh:
            return told
        return sorted(told, key=lambda grasp: (
            grasp.reach is None, grasp.reach is not None and not grasp.reach.by_fingers,
            *rank_key(grasp)))

    def _told(self, grasp: RankedGrasp, weigh: bool) -> RankedGrasp:
        result = self.result(grasp.hypothesis)
        if result is None:
            return grasp
        steps = max(len(self._path) - 1, 1)
        share = 1.0 if result.by_fingers else max(result.failed_step - 1, 0) / steps
        options = self._verdicts.options
        score, terms = with_reach_term(grasp.score, grasp.terms, share, options, weigh)
        return replace(grasp, reach=result, score=score, terms=terms, warnings=grasp.warnings
                       + thin_steps(result.steps, options.margin_band[0]))

    def result(self, number: int) -> ManipulationResult | None:
        """Return the result of a grasp, None while it is not known."""
        follower = self.items.get(number)
        return None if follower is None else follower.result

    def unfinished(self) -> list[int]:
        """Return the grasps whose path is to be followed; those ranked best are begun."""
        if self._stopped or self._task.displacement_object is None:
            return []
        unfollowed = [g for g in self._ranked() if self.result(g.hypothesis) is None]
        for grasp in unfollowed:
            if grasp.hypothesis not in self.items:
                self.begin(grasp.hypothesis, *self._verdicts.closed(grasp.hypothesis))
        return [number for number, follower in self.items.items()
                if unfollowed and not follower.done]

    def begin(self, number: int, closing: Closing, held: HeldGrasp) -> None:
        """Follow the path with a grasp."""
        self.items[number] = PathFollower(
            self._verdicts.hand, held.joint_positions, closing.held_hypothesis.T_object_palm,
            held.state, self._path, self._verdicts.reference.friction,
            self._verdicts.reference.radius, self._verdicts.options,
            arm_may_help=self._task.reach != FINGERS_ONLY)

    def questions(self, free: list[int]) -> tuple[list[int], ConfigurationBatch]:
        """Return grasps at the same step, the earliest, with loads and obstacles there."""
        first = min(self.items[number].step for number in free)
        T_object_moved = self._path[first]
        return self.ask(
            [n for n in free if self.items[n].step == first][:self._options.batch_size],
            load_cases=turned_loads(self._task, self._conditions.load_cases, T_object_moved),
            obstacles=moved_region(self._conditions.obstacles, inverse(T_object_moved)))

    def answered(self, number: int) -> None:
        """Reject grasps that were found unable to move the object as wanted."""
        for number in self.items:
            result = self.result(number)
            held = number in self._verdicts.grasps
            if held and result is not None and result.level == NOWHERE:
                self._verdicts.exclude(number, FINGERS_CANNOT_MOVE if self._task.reach ==
                                       FINGERS_ONLY else CANNOT_MOVE)


def thin_steps(steps: Sequence[ManipulationStep], least: float) -> tuple[str, ...]:
    """
    Return a warning where an arm carries a grasp that bears less than a grasp shall.

    Parameters
    ----------
    steps : sequence of ManipulationStep
        From the grasp on.
    least : float
        Margin of closing [-]; a grasp that had less keeps its own.
    """
    reserve = min(least, steps[0].margin) if steps else least
    thin = [number for number, step in enumerate(steps) if step.margin < reserve - ROUND_OFF]
    if not thin:
        return ()
    return (f'on the way the fingers could not keep their reserve in {len(thin)} of '
            f'{len(steps) - 1} steps: {min(steps[number].margin for number in thin):.2f} of the '
            f'loads are held there, where a grasp shall hold {reserve:.2f}',)


def way_unknown(T_object_moved: Array, levels: Mapping[str, int]) -> str:
    """
    Return what nobody knows of the object's way where no arm is asked; '' if all is known.

    Parameters
    ----------
    T_object_moved : (4, 4) float
        The task's displacement.
    levels : mapping of str to int
        Grasps by who moves the object, and those not followed.
    """
    said = []
    if levels.get(WITH_ARM):
        turn = np.rad2deg(Rotation.from_matrix(T_object_moved[:3, :3]).magnitude())
        said.append(f'no arm is asked whether it carries the object '
                    f'{1e3 * np.linalg.norm(T_object_moved[:3, 3]):.0f} mm and {turn:.0f}° away, '
                    f'as {levels[WITH_ARM]} of {sum(levels.values())} grasps need')
    if levels.get(NOT_ASKED):
        said.append(f'time was up before the object\'s way was followed with {levels[NOT_ASKED]} '
                    f'of {sum(levels.values())} grasps')
    return '; '.join(said)


def turned_loads(task: Task, load_cases: Array, T_object_moved: Array) -> Array:
    """
    Return load cases (c, 9) in a moved object's frame; directions stay fixed in space.

    Parameters
    ----------
    task : Task
        One that lets the weight pull anywhere lets it do so everywhere.
    load_cases : (c, 9) float
        At the first pose.
    T_object_moved : (4, 4) float
    """
    first = load_cases.reshape(-1, 3, 3)
    loads: Array = first @ T_object_moved[:3, :3]
    if len(task.gravity_directions) == 0:
        loads[:, 0] = first[:, 0]
    return loads.reshape(-1, 9)


def _check_way(vertices: Array, obstacles: Array, path: Array) -> None:
    """Refuse a way on which the object itself meets an obstacle: no grasp can help."""
    step, met = first_colliding_pose(vertices, obstacles, path)
    if step < 0:
        return
    turn = np.rad2deg(Rotation.from_matrix(path[step, :3, :3]).magnitude())
    raise TaskError(
        f'task.displacement leads the object into obstacle {met + 1} of {len(obstacles)}, by more '
        f'than {1e3 * ALLOWED_DEPTH:g} mm after {step} of {len(path) - 1} steps '
        f'({1e3 * np.linalg.norm(path[step, :3, 3]):.0f} mm, {turn:.0f}°)')


#: Depth to which the object may lie in obstacles: it stands on them [m].
ALLOWED_DEPTH = 0.002


def first_colliding_pose(vertices: Array, obstacles: Array, path: Array) -> tuple[int, int]:
    """
    Return the first pose of a path at which an object collides, and with which obstacle.

    Parameters
    ----------
    vertices : (v, 3) float
        Of the object, in its frame [m]; their convex hull is moved.
    obstacles : (k, 16) float
        See ``ConfigurationBatch.obstacles``, in the object's first frame.
    path : (m + 1, 4, 4) float
        Poses of the object in its first frame.

    Returns
    -------
    int, int
        -1 each where it meets none. An obstacle that the object overlaps at the first pose does
        not count, unless the overlap grows by ``ALLOWED_DEPTH``.

    Notes
    -----
    Own derivation. A direction along which two convex bodies overlap by no more than allowed
    proves that their overlap is no deeper: the obstacle's axes and the widest
    direction found before are tried first. Else the Minkowski difference of the corners decides.
    Nothing is tested between two poses.
    """
    corners = vertices[ConvexHull(vertices).vertices]
    blocking = [_Obstacle(row, apply(path[0], corners)) for row in obstacles]
    for step, T in enumerate(path[1:], start=1):
        moved = apply(T, corners)
        met = [number for number, one in enumerate(blocking) if one.collides(moved)]
        if met:
            return step, met[0]
    return -1, -1


class _Obstacle:
    """An obstacle, and the allowed overlap: that at the first pose and ``ALLOWED_DEPTH`` more."""

    def __init__(self, row: Array, corners: Array) -> None:
        self._points = primitive_points(row)
        self._axes = np.vstack([sign * row[4:].reshape(3, 4)[:, :3].T for sign in (1.0, -1.0)])
        self._widest = self._axes[0]
        self._least = 0.0
        first = self._gap(corners, self._widest[None]) if self.collides(corners) else 0.0
        self._least = -ALLOWED_DEPTH + first

    def collides(self, corners: Array) -> bool:
        """Return True if a body of these corners overlaps the obstacle more than allowed."""
        if self._gap(corners, np.vstack([self._axes, self._widest])) >= self._least:
            return False
        differences = (self._points[:, None] - corners[None]).reshape(-1, 3)
        planes = ConvexHull(differences).equations
        self._widest = -planes[planes[:, 3].argmax(), :3]
        return self._gap(corners, self._widest[None]) < self._least

    def _gap(self, corners: Array, directions: Array) -> float:
        """Return the widest gap along directions towards the obstacle [m]; below 0: overlap."""
        return float(((self._points @ directions.T).min(axis=0)
                      - (corners @ directions.T).max(axis=0)).max())
