"""FollowJointTrajectory for `sdh_driver`, where control_msgs is installed."""

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup

from ..core.errors import GripsimError
from ..driver.motion import Outcome

try:
    from control_msgs.action import FollowJointTrajectory
except ModuleNotFoundError:
    FollowJointTrajectory = None

#: Seconds between two looks at whether a goal is to be cancelled.
POLL_PERIOD = 0.02
#: Error codes of `control_msgs/FollowJointTrajectory`, which are fixed there.
SUCCESSFUL, INVALID_GOAL, PATH_VIOLATED, GOAL_VIOLATED = 0, -1, -4, -5
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
        self._server = None
        if FollowJointTrajectory is not None:
            self._server = ActionServer(
                node, FollowJointTrajectory, '~/follow_joint_trajectory', self.execute,
                goal_callback=lambda goal: (
                    GoalResponse.ACCEPT if node.active else GoalResponse.REJECT),
                cancel_callback=lambda goal: CancelResponse.ACCEPT,
                callback_group=ReentrantCallbackGroup())

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
