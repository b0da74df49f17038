"""FollowJointTrajectory for `sdh_simulator`, where control_msgs is installed."""

import time

import numpy as np
from .trajectory_action import (
    FollowJointTrajectory, GOAL_VIOLATED, INVALID_GOAL, open_trajectory_action, PATH_VIOLATED,
    SUCCESSFUL)

#: Seconds between two looks at how far the joints are.
POLL_PERIOD = 0.02
#: How near the last row the joints must come [rad], and how long after its time at most [s].
TOLERANCE, PATIENCE = 0.05, 2.0


class TrajectoryAction:
    """
    Serves the action; a new trajectory replaces the one under way.

    Parameters
    ----------
    node : SdhSimulatorNode
    follow, stop : callable
        Take a trajectory message, or nothing; return whether it was taken, and a text.
    progress : callable
        Returns the follower of set-points, the simulated time [s] and the joints (J,) [rad].
    """

    def __init__(self, node, follow, stop, progress) -> None:
        """Serve, where the action is known."""
        self._follow, self._stop, self._progress = follow, stop, progress
        self._server = open_trajectory_action(node, self.execute)

    def execute(self, goal_handle):
        """Carry out a goal; cancelling stops the hand."""
        taken, text = self._follow(goal_handle.request.trajectory)
        code, text = (self._watch(goal_handle) if taken else (INVALID_GOAL, text))
        result = FollowJointTrajectory.Result()
        result.error_code, result.error_string = code, text
        if goal_handle.is_cancel_requested:
            goal_handle.canceled()
        elif code == SUCCESSFUL:
            goal_handle.succeed()
        else:
            goal_handle.abort()
        return result

    def _watch(self, goal_handle) -> tuple[int, str]:
        """Wait for the end; return code and text."""
        follower, _, _ = self._progress()
        goal, end = follower.goal, follower.end
        while not goal_handle.is_cancel_requested:
            current, now, joints = self._progress()
            if current is not follower or (follower.goal != goal).any() or follower.end != end:
                return PATH_VIOLATED, 'another trajectory or a stop took its place'
            error = float(np.abs(joints - goal).max())
            if now >= end and error <= TOLERANCE:
                return SUCCESSFUL, ''
            if now > end + PATIENCE:
                return GOAL_VIOLATED, f'a joint is still off by {error:.3f} rad'
            time.sleep(POLL_PERIOD)
        self._stop()
        return PATH_VIOLATED, 'canceled'
