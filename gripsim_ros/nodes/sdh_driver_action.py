"""FollowJointTrajectory for `sdh_driver`, where control_msgs is installed."""

from ..core.errors import GripsimError
from ..driver.motion import Outcome
from .trajectory_action import (
    FollowJointTrajectory, GOAL_VIOLATED, INVALID_GOAL, open_trajectory_action, PATH_VIOLATED,
    SUCCESSFUL)

#: Seconds between two looks at whether a goal is to be cancelled.
POLL_PERIOD = 0.02
CODES = {Outcome.REACHED: SUCCESSFUL, Outcome.MISSED: GOAL_VIOLATED,
         Outcome.REFUSED: INVALID_GOAL}


class TrajectoryAction:
    """
    Serves the action; a new goal or trajectory replaces the one under way.

    Parameters
    ----------
    node : SdhDriverNode
    session : HandSession
    motion_of : callable
        Turns a trajectory message into a ``Motion``.
    """

    def __init__(self, node, session, motion_of) -> None:
        """Serve, where the action is known."""
        self._session, self._motion_of, self._node = session, motion_of, node
        self._server = open_trajectory_action(node, self.execute)

    def execute(self, goal_handle):
        """Carry out a goal; cancelling stops the hand."""
        motion = self._session.follow(self._motion_of(goal_handle.request.trajectory))
        while not motion.done.wait(POLL_PERIOD):
            if goal_handle.is_cancel_requested:
                self._stop()
        result = FollowJointTrajectory.Result()
        result.error_code = CODES.get(motion.outcome, PATH_VIOLATED)
        result.error_string = '' if motion.outcome is Outcome.REACHED else motion.message
        if motion.outcome is Outcome.REACHED:
            goal_handle.succeed()
        elif goal_handle.is_cancel_requested:
            goal_handle.canceled()
        else:
            goal_handle.abort()
        return result

    def _stop(self) -> None:
        try:
            self._session.stop()
        except GripsimError as error:
            self._node.report_error(f'cancel: {error}')
