"""The hand that `grasp_executor` moves: what all have, and the real one, over topics."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace

from geometry_msgs.msg import WrenchStamped
from gripsim_interfaces.action import ExecuteGrasp
from gripsim_interfaces.msg import Grasp, TactileFrame
from rclpy.callback_groups import CallbackGroup, MutuallyExclusiveCallbackGroup
from rclpy.client import Client
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from ....core.errors import TaskError
from ....hardware.execution.actions import Action, MoveArm, SendRows, StopHand
from ....hardware.execution.arm import ArmPlan
from ....hardware.execution.measurement import Measurement
from ..base.live_joints import JointsError
from ..base.node_base import SuiteNode
from .arm_controller import ArmController
from .messages import trajectory_to_msg
from .observations import Senses

#: Longest wait for a service of the hand, and that of a node that leaves [s].
SERVICE_TIMEOUT, LAST_TIMEOUT = 2.0, 0.3
#: How often a service is asked: middleware drops an answer to a client that it has just met.
MOST_ASKS = 3


class GoalEnded(Exception):
    """A goal was cancelled while something was waited for."""


class Hand(ABC):
    """
    What both hands have: services that are asked until they answer.

    Parameters
    ----------
    node : SuiteNode
        With the parameter ``hand_node``, whose services they are.
    """

    def __init__(self, node: SuiteNode) -> None:
        """Know no service yet."""
        self.node, self._name = node, node.values['hand_node']
        self._services: dict[str, Client] = {}

    def call(self, name: str) -> str:
        """
        Call a service of the hand and return its message.

        Raises
        ------
        JointsError
            It is not there, does not answer or fails.
        """
        service, done = self._services[name], threading.Event()
        patience, asks = ((SERVICE_TIMEOUT, MOST_ASKS) if self.node.active
                          else (LAST_TIMEOUT, 1))
        if not service.wait_for_service(patience):
            raise JointsError(f'{self._name}/{name} is not there')
        futures = []
        while len(futures) < asks and not any(future.done() for future in futures):
            futures.append(service.call_async(Trigger.Request()))   # each may come twice
            futures[-1].add_done_callback(lambda _: done.set())
            done.wait(patience)
        answer = next((future.result() for future in futures if future.done()), None)
        if answer is None or not answer.success:
            reason = 'no answer' if answer is None else answer.message
            raise JointsError(f'{self._name}/{name} failed: {reason}')
        return answer.message

    @abstractmethod
    def begin(self, goal: ExecuteGrasp.Goal, ended: Callable[[], bool],
              tell: Callable[[], object]) -> None:
        """
        Prepare for a goal; ``tell`` is called while something is waited for.

        Raises
        ------
        GripsimError
            What keeps the goal from being carried out.
        GoalEnded
            ``ended`` returned True meanwhile.
        """

    @property
    @abstractmethod
    def has_arm(self) -> bool:
        """Return whether an arm carries the hand that is to be moved too; known once begun."""

    @abstractmethod
    def prepare_arm(self, arm: ArmPlan) -> None:
        """Prepare for an arm's part of the goal; TaskError: it is not where its way begins."""

    @abstractmethod
    def next(self, ended: Callable[[], bool]) -> Measurement:
        """Return the next measurement, or an old one once ``ended``; JointsError: it is lost."""

    @abstractmethod
    def act(self, action: Action) -> None:
        """Do what an execution asks for."""

    @abstractmethod
    def stop(self) -> None:
        """Stop all that moves; JointsError: nobody says that it has stopped."""

    @abstractmethod
    def end(self) -> None:
        """Be told that the goal is over."""


class RealHand(Hand):
    """A hand that is heard and sent over topics; its arm is another's matter, or an action's."""

    def __init__(self, node: SuiteNode, group: CallbackGroup) -> None:
        """Listen to joints, pads and wrist."""
        super().__init__(node)
        hand = self._name
        self._services = {
            name: node.create_client(Trigger, f'{hand}/{name}', callback_group=group)
            for name in ('stop',)}
        self.senses = Senses(node.hand.joint_names, node.values['joint_timeout'],
                             node.values['trust_uncalibrated'], node.report_error,
                             node.values['torque_per_effort'])
        heard, sensor = MutuallyExclusiveCallbackGroup(), qos_profile_sensor_data
        self._trajectory = node.create_publisher(JointTrajectory, 'joint_trajectory', 10)
        for kind, topic, callback in ((JointState, 'joint_states', self.senses.on_joints),
                                      (TactileFrame, 'tactile', self.senses.on_tactile),
                                      (WrenchStamped, 'wrist_load', self.senses.on_wrist)):
            node.create_subscription(kind, topic, callback, sensor, callback_group=heard)
        action = node.values['arm_action']
        self._arm = ArmController(node, action, group) if action else None

    @property
    def has_arm(self) -> bool:
        """Return whether the arm has an action."""
        return self._arm is not None

    def prepare_arm(self, arm: ArmPlan) -> None:
        """Look whether the arm is there, and where its way begins."""
        self._arm.prepare(arm)

    def begin(self, goal: ExecuteGrasp.Goal, ended: Callable[[], bool],
              tell: Callable[[], object]) -> None:
        """Make sure that the joints are heard; without an action the arm has brought the hand."""
        if self._arm is None and goal.lift_height > 0.0:
            raise TaskError('lift_height is for the simulated hand only, or one whose arm_action '
                            'is told: the arm lifts')
        if self._arm is None and goal.carry and goal.grasp.reach == Grasp.REACH_WITH_ARM:
            raise TaskError('carry is for the simulated hand only where the palm moves, or one '
                            f'whose arm_action is told, as in this grasp: '
                            f'{goal.grasp.reach_message}')
        self.senses.next()

    def next(self, ended: Callable[[], bool]) -> Measurement:
        """Wait for new joint states, at most until they count as lost, or the arm is."""
        measured = self.senses.next()
        return measured if self._arm is None else replace(measured, palm_rests=self._arm.rests())

    def act(self, action: Action) -> None:
        """Send rows and the arm's legs, or stop both."""
        if isinstance(action, SendRows):
            self._trajectory.publish(trajectory_to_msg(action, self.node.hand.joint_names))
        elif isinstance(action, MoveArm):
            self._arm.send(action)
        elif isinstance(action, StopHand):
            self.stop()

    def stop(self) -> None:
        """Stop the hand, and cancel what the arm does."""
        if self._arm is not None:
            self._arm.cancel()
        self.call('stop')
        if self._arm is not None:
            self._arm.wait_for_cancel()

    def end(self) -> None:
        """Forget the arm's goal."""
        if self._arm is not None:
            self._arm.end()
