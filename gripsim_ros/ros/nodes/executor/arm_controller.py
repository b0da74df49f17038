"""The arm of a real hand: any controller that serves FollowJointTrajectory."""

import threading
import time
from uuid import uuid4

import numpy as np
from action_msgs.msg import GoalStatus
from numpy.typing import NDArray
from rclpy.callback_groups import CallbackGroup, MutuallyExclusiveCallbackGroup
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from unique_identifier_msgs.msg import UUID

from ....core.errors import TaskError
from ....hardware.execution.actions import MoveArm
from ....hardware.execution.arm import ArmPlan
from ..base import trajectory_action
from ..base.action_client import PromptActionClient
from ..base.live_joints import JointsError
from ..base.node_base import SuiteNode
from ..base.parameters import ParameterError
from .messages import arm_trajectory_to_msg

Array = NDArray[np.float64]

#: Longest wait for the controller to be found, and for its joints to be heard [s].
FIND_TIMEOUT, HEAR_TIMEOUT = 2.0, 2.0
#: A goal is asked for again under the same id after so long [s], and so often at most.
ASK_AGAIN, MOST_ASKS = 2.0, 3
#: Longest wait for the answer to a cancel [s].
CANCEL_TIMEOUT = 2.0


class ArmController:
    """
    Sends the legs of an arm's way as goals of an action, one at a time.

    Parameters
    ----------
    node : SuiteNode
    action : str
        Its name.
    group : CallbackGroup

    Raises
    ------
    ParameterError
        control_msgs is not installed.
    """

    def __init__(self, node: SuiteNode, action: str, group: CallbackGroup) -> None:
        """Open the action and listen to the arm's joints."""
        if trajectory_action.FollowJointTrajectory is None:
            raise ParameterError('parameter arm_action needs control_msgs, which is not installed')
        self._name, self._timeout = action, node.values['joint_timeout']
        self._client = PromptActionClient(node, trajectory_action.FollowJointTrajectory, action,
                                          callback_group=group)
        self._news, self._heard = threading.Condition(), {}
        self._plan: ArmPlan | None = None
        self._goal: _Goal | None = None
        node.create_subscription(JointState, 'arm_joint_states', self._on_joints,
                                 qos_profile_sensor_data,
                                 callback_group=MutuallyExclusiveCallbackGroup())

    def _on_joints(self, msg: JointState) -> None:
        with self._news:
            now = time.monotonic()
            self._heard.update((name, (position, now))
                               for name, position in zip(msg.name, msg.position))
            self._news.notify_all()

    def prepare(self, plan: ArmPlan) -> None:
        """
        Get ready for a goal; nothing is sent.

        Raises
        ------
        TaskError
            The controller is not there, the arm's joints are not heard on `arm_joint_states`, or
            they are not where the way begins.
        """
        self._plan, self._goal = plan, None
        if not self._client.wait_for_server(FIND_TIMEOUT):
            raise TaskError(f'the arm\'s action {self._name} is not there')
        with self._news:
            self._news.wait_for(lambda: not self._silent(), HEAR_TIMEOUT)
            if silent := self._silent():
                raise TaskError(f'nobody tells on arm_joint_states where the arm is: nothing in '
                                f'{self._timeout:g} s of {", ".join(silent)}')
            joints = np.array([self._heard[name][0] for name in plan.joint_names])
        plan.check_start(joints)

    def _silent(self) -> list[str]:
        """Return the joints that have not been heard of late."""
        now = time.monotonic()
        return [name for name in self._plan.joint_names
                if now - self._heard.get(name, (0.0, -np.inf))[1] > self._timeout]

    def send(self, action: MoveArm) -> None:
        """Send a leg; it begins at its stamp, as the hand's rows of the same stamp do."""
        goal = trajectory_action.FollowJointTrajectory.Goal(
            trajectory=arm_trajectory_to_msg(action, self._plan.joint_names))
        self._goal = _Goal(self._client, goal)

    def rests(self) -> bool:
        """
        Return whether the arm is where it was sent.

        Raises
        ------
        JointsError
            The controller went away, rejected the goal, or ended it in another way.
        """
        if self._goal is None:
            return True
        if not self._client.server_is_ready():
            raise JointsError(f'the arm\'s action {self._name} went away: nobody knows what the '
                              'arm does')
        if failure := self._goal.watch():
            raise JointsError(f'the arm\'s action {self._name} {failure}')
        return self._goal.reached

    def cancel(self) -> None:
        """Ask for an end of what the arm does, if it does anything."""
        if self._goal is not None:
            self._goal.cancel()

    def wait_for_cancel(self) -> None:
        """Wait for the answer, then forget the goal; JointsError: there is none."""
        if self._goal is not None and not self._goal.ended.wait(CANCEL_TIMEOUT):
            raise JointsError(f'the arm\'s action {self._name} did not answer the cancel: the arm '
                              'may be moving')
        self._goal = None

    def end(self) -> None:
        """Forget the goal."""
        self._goal = None


class _Goal:
    """One goal: asked for until it is answered, then followed to its end."""

    def __init__(self, client: PromptActionClient, goal) -> None:
        self._client, self._request = client, goal
        self._id = UUID(uuid=list(uuid4().bytes))
        self._lock, self._asks, self._asked = threading.Lock(), 0, -np.inf
        self._handle = self._result = None
        self._rejected = self._cancelled = False
        self.ended = threading.Event()
        self._ask()

    def _ask(self) -> None:
        self._asks, self._asked = self._asks + 1, time.monotonic()
        asks = self._asks
        future = self._client.send_goal_async(self._request, goal_uuid=self._id)
        future.add_done_callback(lambda done: self._on_answer(done.result(), asks))

    def _on_answer(self, handle, asks: int) -> None:
        """Follow an accepted goal; a second question about one that is known is rejected."""
        with self._lock:
            if self._handle is not None:
                return
            if not handle.accepted and asks == 1:
                self._rejected = True
                self.ended.set()
                return
            self._handle, cancelled = handle, self._cancelled
        handle.get_result_async().add_done_callback(lambda done: self._on_result(done.result()))
        if cancelled:
            handle.cancel_goal_async()

    def _on_result(self, answer) -> None:
        self._result = answer
        self.ended.set()

    def watch(self) -> str:
        """Ask again where no answer came; return what is wrong, '' while nothing is."""
        if self._handle is None and not self._rejected:
            if time.monotonic() - self._asked < ASK_AGAIN:
                return ''
            if self._asks == MOST_ASKS:
                return f'did not answer a goal in {ASK_AGAIN * MOST_ASKS:g} s'
            self._ask()
            return ''
        if self._rejected:
            return 'rejected the goal'
        answer = self._result
        if answer is None or self.reached:
            return ''
        if answer.status == GoalStatus.STATUS_CANCELED:
            return 'was cancelled by another client'
        said = answer.result.error_string
        return f'aborted: code {answer.result.error_code}{f", {said}" if said else ""}'

    @property
    def reached(self) -> bool:
        """Return whether the goal ended where it should."""
        return self._result is not None and \
            self._result.status == GoalStatus.STATUS_SUCCEEDED and \
            self._result.result.error_code == trajectory_action.SUCCESSFUL

    def cancel(self) -> None:
        """Cancel the goal, or as soon as it is accepted."""
        with self._lock:
            self._cancelled, handle = True, self._handle
        if handle is not None and not self.ended.is_set():
            handle.cancel_goal_async()
