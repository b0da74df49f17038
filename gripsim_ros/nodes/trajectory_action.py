"""What both hands share of FollowJointTrajectory, where control_msgs is installed."""

from collections.abc import Callable

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup

try:
    from control_msgs.action import FollowJointTrajectory
except ModuleNotFoundError:
    FollowJointTrajectory = None

#: Error codes of `control_msgs/FollowJointTrajectory`, which are fixed there.
SUCCESSFUL, INVALID_GOAL, PATH_VIOLATED, GOAL_VIOLATED = 0, -1, -4, -5


def open_trajectory_action(node, execute: Callable) -> ActionServer | None:
    """Serve `~/follow_joint_trajectory` by ``execute`` while the node is active; None: unknown."""
    if FollowJointTrajectory is None:
        return None
    return ActionServer(
        node, FollowJointTrajectory, '~/follow_joint_trajectory', execute,
        goal_callback=lambda goal: GoalResponse.ACCEPT if node.active else GoalResponse.REJECT,
        cancel_callback=lambda goal: CancelResponse.ACCEPT,
        callback_group=ReentrantCallbackGroup())
