"""What both hands share of trajectories, and of FollowJointTrajectory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from scipy.interpolate import CubicHermiteSpline

from ....core.errors import GripsimError
from ...conversions.geometry import seconds_from_msg

try:
    from control_msgs.action import FollowJointTrajectory
except ModuleNotFoundError:
    FollowJointTrajectory = None

Array = NDArray[np.float64]

#: Error codes of `control_msgs/FollowJointTrajectory`, which are fixed there.
SUCCESSFUL, INVALID_GOAL, INVALID_JOINTS, OLD_STAMP, PATH_VIOLATED, GOAL_VIOLATED = (
    0, -1, -2, -3, -4, -5)
#: A stamp may be this old [s].
MOST_AGE = 5.0


class GoalError(GripsimError):
    """A goal that cannot be followed, and the error code that says why."""

    def __init__(self, code: int, text: str) -> None:
        """Keep the code."""
        super().__init__(text)
        self.code = code


@dataclass(frozen=True, eq=False)
class Wanted:
    """
    What a goal asks for, for all joints of the hand.

    Attributes
    ----------
    joint_names : tuple of str, (J,)
    times : (n,) float
        After the beginning [s]; the first is 0.
    rows : (n, J) float
        [rad]; the first is where the hand was.
    velocities : (n, J) float or None
        At the rows [rad/s], with cubic curves between them; None: straight lines.
    path, goal : (J,) float
        How far a joint may be off on its way, and at the end [rad]; infinite where the goal
        says nothing of the way, NaN where it says nothing of the end.
    patience : float
        How late the end may be [s]; NaN where the goal says nothing, infinite where it may be
        as late as it likes.
    """

    joint_names: tuple[str, ...]
    times: Array
    rows: Array
    velocities: Array | None
    path: Array
    goal: Array
    patience: float

    @property
    def duration(self) -> float:
        """Return when the last row is due [s]."""
        return float(self.times[-1])

    def at(self, time: float) -> Array:
        """Return where the joints should be (J,) [rad] at a time after the beginning [s]."""
        inside = min(max(time, 0.0), self.duration)
        if self.velocities is not None:
            return CubicHermiteSpline(self.times, self.rows, self.velocities)(inside)
        return np.array([np.interp(inside, self.times, column) for column in self.rows.T])

    def off_path(self, time: float, joints: Array) -> str:
        """Return which joint is farther from its way than allowed; '' where none is."""
        off = np.abs(joints - self.at(time))
        return self._worst(off, self.path, f'{time:.2f} s after the beginning')

    def off_goal(self, errors: Array, default: float, when: str = 'at the end') -> str:
        """Return which joint is farther from its goal than allowed; '' where none is."""
        allowed = np.where(np.isnan(self.goal), default, self.goal)
        return self._worst(np.abs(errors), allowed, when)

    def _worst(self, off: Array, allowed: Array, when: str) -> str:
        joint = int(np.argmax(off - allowed))
        if off[joint] <= allowed[joint]:
            return ''
        return (f'{self.joint_names[joint]} is off by {off[joint]:.4f} rad {when}, allowed are '
                f'{allowed[joint]:.4f} rad')

    def feedback(self, time: float, joints: Array):
        """Return the feedback message: wanted, measured and their difference [rad]."""
        message, wanted = FollowJointTrajectory.Feedback(), self.at(time)
        message.joint_names = list(self.joint_names)
        for part, values in ((message.desired, wanted), (message.actual, joints),
                             (message.error, wanted - joints)):
            part.positions = values.tolist()
        return message


def read_goal(joint_names: Sequence[str], request, here: Array,
              tolerance: float = np.inf) -> Wanted:
    """
    Return what a goal asks for.

    Parameters
    ----------
    joint_names : sequence of str, (J,)
    request : FollowJointTrajectory.Goal
        Of tolerances, those of positions are read.
    here : (J,) float
        Where the joints are [rad]; those that are not named stay there.
    tolerance : float
        Of the path, where the goal says nothing [rad].

    Raises
    ------
    GoalError
        INVALID_JOINTS: a joint is unknown or comes twice; INVALID_GOAL: there is no point, a
        row has another length, a number is not finite, or the goal moves more than joints.
    """
    names, points = list(request.trajectory.joint_names), request.trajectory.points
    listed = [t.name for t in (*request.path_tolerance, *request.goal_tolerance)]
    unknown = [name for name in (*names, *listed) if name not in joint_names]
    if unknown or len(set(names)) != len(names) or not names:
        raise GoalError(INVALID_JOINTS, f'a goal names joints of {", ".join(joint_names)}, each '
                                        f'once, got {names + listed}')
    if not points or any(len(point.positions) != len(names) for point in points):
        raise GoalError(INVALID_GOAL, f'a goal needs points of {len(names)} positions, '
                                      f'got {[len(point.positions) for point in points]}')
    if request.multi_dof_trajectory.points:
        raise GoalError(INVALID_GOAL, 'the hand has no joints of several degrees of freedom')
    times = np.array([0.0, *(seconds_from_msg(point.time_from_start) for point in points)])
    rows = np.tile(np.asarray(here, float), (len(times), 1))
    rows[1:, [joint_names.index(name) for name in names]] = [p.positions for p in points]
    if not np.isfinite(rows).all() or (np.diff(times[1:]) <= 0.0).any() or times[1] < 0.0:
        raise GoalError(INVALID_GOAL, 'positions must be finite, and times must rise from 0 on')
    patience = seconds_from_msg(request.goal_time_tolerance) or np.nan
    velocities = None
    if times[1] > 0.0 and all(len(point.velocities) == len(names) for point in points):
        velocities = np.zeros_like(rows)
        velocities[1:, [joint_names.index(name) for name in names]] = [
            point.velocities for point in points]
    return Wanted(tuple(joint_names), times, rows, velocities,
                  _tolerances(joint_names, request.path_tolerance, tolerance),
                  _tolerances(joint_names, request.goal_tolerance, np.nan),
                  np.inf if patience < 0.0 else patience)


def _tolerances(joint_names: Sequence[str], listed, default: float) -> Array:
    """Return tolerances (J,) [rad]: 0 is the default, below it nothing is judged."""
    found = np.full(len(joint_names), default)
    for one in listed:
        if one.position:
            found[joint_names.index(one.name)] = one.position if one.position > 0.0 else np.inf
    return found


def why_old(stamp: float, now: float, stopped_at: float) -> str:
    """
    Return why a trajectory of a stamp is too old; '' where it is not. 0 is no stamp.

    One from before the last stop is, since topics and services overtake each other; all times [s].
    """
    if stamp <= 0.0:
        return ''
    if stamp <= stopped_at:
        return f'its stamp, {stamp:.3f} s, is not after the last stop, {stopped_at:.3f} s'
    if stamp < now - MOST_AGE:
        return f'its stamp, {stamp:.3f} s, is {now - stamp:.1f} s old, allowed are {MOST_AGE:g} s'
    return ''


def open_trajectory_action(node, execute: Callable) -> ActionServer | None:
    """Serve `~/follow_joint_trajectory` by ``execute`` while the node is active; None: unknown."""
    if FollowJointTrajectory is None:
        return None
    return ActionServer(
        node, FollowJointTrajectory, '~/follow_joint_trajectory', execute,
        goal_callback=lambda goal: GoalResponse.ACCEPT if node.active else GoalResponse.REJECT,
        cancel_callback=lambda goal: CancelResponse.ACCEPT,
        callback_group=ReentrantCallbackGroup())


def end_goal(goal_handle, code: int, text: str):
    """End a goal as its code says, and return the result."""
    result = FollowJointTrajectory.Result()
    result.error_code, result.error_string = code, text
    if code == SUCCESSFUL:
        goal_handle.succeed()
    elif goal_handle.is_cancel_requested:
        goal_handle.canceled()
    else:
        goal_handle.abort()
    return result
