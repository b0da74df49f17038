"""FollowJointTrajectory for `sdh_simulator`, where control_msgs is installed."""

import time

import numpy as np

from ..base.trajectory_action import (
    end_goal, GOAL_VIOLATED, GoalError, INVALID_GOAL, OLD_STAMP, open_trajectory_action,
    PATH_VIOLATED, read_goal, SUCCESSFUL, Wanted)

#: Seconds between two looks at how far the joints are.
POLL_PERIOD = 0.02
#: How near the last row the joints must come [rad], and how long after its time at most [s].
TOLERANCE, PATIENCE = 0.05, 2.0
#: How far a joint may be from its way where the goal says nothing, as of the driver [rad].
FOLLOW_TOLERANCE = 0.1


class TrajectoryAction:
    """
    Serves the action; a new trajectory replaces the one under way.

    Parameters
    ----------
    node : SdhSimulatorNode
    follow, stop : callable
        Take a trajectory message, or nothing; return whether it was taken, and a text.
    why_old : callable
        Returns why a stamp is too old, '' where it is not.
    progress : callable
        Returns the follower of set-points, the simulated time [s] and the joints (J,) [rad].
    """

    def __init__(self, node, follow, stop, why_old, progress) -> None:
        """Serve, where the action is known."""
        self._names = node.hand.joint_names
        self._follow, self._stop, self._why_old = follow, stop, why_old
        self._progress = progress
        self._server = open_trajectory_action(node, self.execute)

    def execute(self, goal_handle):
        """Carry out a goal; cancelling stops the hand."""
        request = goal_handle.request
        try:
            wanted = read_goal(self._names, request, self._progress()[0].setpoints,
                               FOLLOW_TOLERANCE)
            old = self._why_old(request.trajectory.header.stamp)
            if old:
                raise GoalError(OLD_STAMP, old)
        except GoalError as error:
            return end_goal(goal_handle, error.code, str(error))
        taken, text = self._follow(request.trajectory)
        return end_goal(goal_handle, *(self._watch(goal_handle, wanted) if taken
                                       else (INVALID_GOAL, text)))

    def _watch(self, goal_handle, wanted: Wanted) -> tuple[int, str]:
        """Wait for the end; return code and text."""
        follower, _, _ = self._progress()
        goal, end = follower.goal, follower.end
        patience = PATIENCE if np.isnan(wanted.patience) else wanted.patience
        while not goal_handle.is_cancel_requested:
            current, now, joints = self._progress()
            if current is not follower or (follower.goal != goal).any() or follower.end != end:
                return PATH_VIOLATED, 'another trajectory or a stop took its place'
            since = now - (end - wanted.duration)
            short = wanted.off_goal(joints - goal, TOLERANCE)
            if since >= 0.0:                                # it has begun
                off = wanted.off_path(since, joints)
                goal_handle.publish_feedback(wanted.feedback(since, joints))
                if off and now < end:
                    self._stop()
                    return PATH_VIOLATED, off
            if now >= end and not short:
                return SUCCESSFUL, ''
            if now > end + patience:
                return GOAL_VIOLATED, short
            time.sleep(POLL_PERIOD)
        self._stop()
        return PATH_VIOLATED, 'canceled'
