"""The hand that `grasp_executor` moves: a real one over topics, a simulated one step by step."""

import threading
import time
from collections.abc import Callable
from uuid import uuid4

import numpy as np
from geometry_msgs.msg import PoseStamped
from gripsim_interfaces.action import ExecuteGrasp
from gripsim_interfaces.msg import Grasp, TactileFrame
from gripsim_interfaces.srv import StepSimulation
from numpy.typing import NDArray
from rclpy.callback_groups import CallbackGroup, MutuallyExclusiveCallbackGroup
from rclpy.client import Client
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from ....core.errors import TaskError
from ....core.transforms import inverse, transform
from ....hardware.execution.machine import (
    Action, LiftOff, MovePalm, PlacePalm, SendRows, SetDown, StopHand)
from ....hardware.execution.measurement import Measurement
from ...conversions import pose_from_msg, pose_to_msg
from ..base.live_joints import JointsError
from ..base.node_base import SuiteNode
from .messages import trajectory_to_msg
from .observations import Senses

Array = NDArray[np.float64]

#: Longest wait for a service of the hand [s].
SERVICE_TIMEOUT = 2.0
#: How often a service is asked: middleware drops an answer to a client that it has just met.
MOST_ASKS = 3
#: Longest wait for a step, and for the first answer before it is asked again, twice as long each
#: time [s].
STEP_TIMEOUT, FIRST_PATIENCE = 30.0, 1.0
#: Longest wait for an object of which nothing is heard, and how often it is looked for [s].
OBJECT_TIMEOUT, OBJECT_PERIOD = 2.0, 0.2
#: How often it is looked whether a step is still wanted [s].
GLANCE = 0.05
#: How near the palm must be to where it was sent [m, -].
PALM_TOLERANCE, TURN_TOLERANCE = 5e-4, 2e-3


class GoalEnded(Exception):
    """A goal was cancelled while something was waited for."""


class Hand:
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
        if not service.wait_for_service(SERVICE_TIMEOUT):
            raise JointsError(f'{self._name}/{name} is not there')
        futures = []
        while len(futures) < MOST_ASKS and not any(future.done() for future in futures):
            futures.append(service.call_async(Trigger.Request()))   # each may come twice
            futures[-1].add_done_callback(lambda _: done.set())
            done.wait(SERVICE_TIMEOUT)
        answer = next((future.result() for future in futures if future.done()), None)
        if answer is None or not answer.success:
            reason = 'no answer' if answer is None else answer.message
            raise JointsError(f'{self._name}/{name} failed: {reason}')
        return answer.message

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
        raise NotImplementedError

    def next(self, ended: Callable[[], bool]) -> Measurement:
        """Return the next measurement, or an old one once ``ended``; JointsError: it is lost."""
        raise NotImplementedError

    def act(self, action: Action) -> None:
        """Do what an execution asks for."""
        raise NotImplementedError

    def end(self) -> None:
        """Be told that the goal is over."""


class RealHand(Hand):
    """A hand that is heard and sent over topics, and carried by an arm of its own."""

    def __init__(self, node: SuiteNode, group: CallbackGroup) -> None:
        """Listen to joints and pads."""
        super().__init__(node)
        hand = self._name
        self._services = {
            name: node.create_client(Trigger, f'{hand}/{name}', callback_group=group)
            for name in ('stop',)}
        self.senses = Senses(node.hand.joint_names, node.values['joint_timeout'],
                             node.values['trust_uncalibrated'], node.report_error)
        heard, sensor = MutuallyExclusiveCallbackGroup(), qos_profile_sensor_data
        self._trajectory = node.create_publisher(JointTrajectory, 'joint_trajectory', 10)
        for kind, topic, callback in ((JointState, 'joint_states', self.senses.on_joints),
                                      (TactileFrame, 'tactile', self.senses.on_tactile)):
            node.create_subscription(kind, topic, callback, sensor, callback_group=heard)

    def begin(self, goal: ExecuteGrasp.Goal, ended: Callable[[], bool],
              tell: Callable[[], object]) -> None:
        """Make sure that the joints are heard; the arm has brought the hand where it begins."""
        if goal.lift_height > 0.0:
            raise TaskError('lift_height is for the simulated hand only: the arm lifts')
        if goal.carry and goal.grasp.reach == Grasp.REACH_WITH_ARM:
            raise TaskError('carry is for the simulated hand only where the palm moves, as in '
                            f'this grasp: {goal.grasp.reach_message}')
        self.senses.next()

    def next(self, ended: Callable[[], bool]) -> Measurement:
        """Wait for new joint states, at most until they count as lost."""
        return self.senses.next()

    def act(self, action: Action) -> None:
        """Send rows or stop; the arm does the rest."""
        if isinstance(action, SendRows):
            self._trajectory.publish(trajectory_to_msg(action, self.node.hand.joint_names))
        elif isinstance(action, StopHand):
            self.call('stop')


class SimulatedHand(Hand):
    """
    The hand in `sdh_simulator`, taken on step by step.

    Simulated time stands still while a measurement travels here and its answer back, so that
    what comes of a grasp does not depend on how long that takes.
    """

    def __init__(self, node: SuiteNode, group: CallbackGroup) -> None:
        """Know the service that steps."""
        super().__init__(node)
        simulator = self._name
        self._services = {
            name: node.create_client(Trigger, f'{simulator}/{name}', callback_group=group)
            for name in ('stop', 'reset', 'lift_off', 'set_down')}
        self._client = node.create_client(StepSimulation, f'{simulator}/step',
                                          callback_group=group)
        self._driver, self._count = '', 0
        self._palm_goal: Array | None = None
        self._wanted = StepSimulation.Request()
        self._last: StepSimulation.Response | None = None

    # -- one goal --------------------------------------------------------------------

    def begin(self, goal: ExecuteGrasp.Goal, ended: Callable[[], bool],
              tell: Callable[[], object]) -> None:
        """Let time stand still, put hand and object where they begin, and place the grasp."""
        begin = time.monotonic()
        while trouble := self._missing_object(goal, self._take_over()):
            if not self._last.preparing and time.monotonic() - begin > OBJECT_TIMEOUT:
                raise TaskError(trouble)
            if ended():
                raise GoalEnded(trouble)
            tell()
            time.sleep(OBJECT_PERIOD)
        self.call('reset')
        self._place(goal.grasp, self._step(ended))

    def _take_over(self) -> StepSimulation.Response:
        """Step the simulation from now on, as a client of its own."""
        self._driver, self._count = uuid4().hex, 0
        self._palm_goal, self._wanted = None, StepSimulation.Request()
        return self._step(lambda: False)

    def _missing_object(self, goal: ExecuteGrasp.Goal, measured: StepSimulation.Response) -> str:
        """Return why the goal's object is not there, or '' where it is."""
        if measured.preparing:
            return f'the simulated hand still makes the object {measured.preparing!r} ready'
        if measured.refused:
            return measured.refused
        if not measured.object_pose:
            return 'the simulated hand has no object: was it published on grasp_object?'
        held = (measured.object_id, measured.object_label)
        if goal.object_id and goal.object_id not in held:
            return f'the simulated hand holds the object {held[1]!r}, not {goal.object_id!r}'
        return ''

    def _place(self, grasp, measured: StepSimulation.Response) -> None:
        """Work out where the palm goes in the frame of `palm_pose`."""
        frame, self._frame = grasp.header.frame_id, measured.palm_pose.header.frame_id
        T_world_frame, of_object = np.eye(4), self.node.values['object_frame']
        if frame == of_object:
            T_world_frame = pose_from_msg(measured.object_pose[0].pose)
        elif frame not in ('', self._frame):
            raise TaskError(f'the grasp must be in frame {self._frame!r} or '
                            f'{of_object!r}, got {frame!r}')
        self._T_world_frame = T_world_frame
        self._T_world_grasp = T_world_frame @ pose_from_msg(grasp.hand_pose)
        self._T_world_pregrasp = T_world_frame @ pose_from_msg(grasp.pregrasp_pose)

    def next(self, ended: Callable[[], bool]) -> Measurement:
        """Take the simulation on by a step and return what is measured then."""
        before = self._last
        answer = self._step(ended)
        if answer is not before and before is not None and answer.time <= before.time:
            raise JointsError('the simulation began anew')
        return self._read(answer)

    def _read(self, answer: StepSimulation.Response) -> Measurement:
        names = list(answer.joint_state.name)
        joints = [answer.joint_state.position[names.index(name)]
                  for name in self.node.hand.joint_names]
        T_world_palm = pose_from_msg(answer.palm_pose.pose)
        T_palm_object = inverse(T_world_palm) @ pose_from_msg(
            answer.object_pose[0].pose) if answer.object_pose else None
        return Measurement(answer.time, np.array(joints),
                           dict(zip(answer.links, answer.forces)), T_palm_object,
                           self._rests(T_world_palm))

    def _rests(self, T_world_palm: Array) -> bool | None:
        """Return whether the palm is where it was sent, None where it was not sent anywhere."""
        if self._palm_goal is None:
            return None
        away = np.linalg.norm(T_world_palm[:3, 3] - self._palm_goal[:3, 3])
        turned = np.abs(T_world_palm[:3, :3] - self._palm_goal[:3, :3]).max()
        return bool(away < PALM_TOLERANCE and turned < TURN_TOLERANCE)

    def act(self, action: Action) -> None:
        """Stop and lift off now, between two steps; the rest begins with the next step."""
        if isinstance(action, SendRows):
            self._wanted.joint_trajectory = trajectory_to_msg(action, self.node.hand.joint_names)
            self._wanted.joint_trajectory.header.stamp = self._last.joint_state.header.stamp
        elif isinstance(action, StopHand):
            self._wanted = StepSimulation.Request()
            self.call('stop')
        elif isinstance(action, (LiftOff, SetDown)):
            self.call('lift_off' if isinstance(action, LiftOff) else 'set_down')
        elif isinstance(action, PlacePalm):
            self._wanted.palm_placement = [self._send_palm(self._T_world_pregrasp)]
        elif isinstance(action, MovePalm):
            self._wanted.palm_target = [self._send_palm(self._goal_of(action))]

    def _goal_of(self, action: MovePalm) -> Array:
        """Return where the palm is sent."""
        up = transform(np.eye(3), np.array([0.0, 0.0, action.height]))
        goal = self._T_world_grasp if action.T_object_palm is None else \
            self._T_world_frame @ action.T_object_palm
        return up @ goal @ (inverse(self._T_world_grasp) @ self._T_world_pregrasp
                            if action.back else np.eye(4))

    def _send_palm(self, T_world_palm: Array) -> PoseStamped:
        self._palm_goal = T_world_palm
        message = PoseStamped(pose=pose_to_msg(T_world_palm))
        message.header.frame_id = self._frame
        return message

    def end(self) -> None:
        """Let the simulation go on by itself; if this is not heard, it does so after a while."""
        if self._driver:
            self._client.call_async(StepSimulation.Request(driver=self._driver, release=True))
        self._driver = ''
        self._last = None

    # -- one step --------------------------------------------------------------------

    def _step(self, ended: Callable[[], bool]) -> StepSimulation.Response:
        """
        Make a step with what is wanted since the last; return what is measured after it.

        Raises
        ------
        JointsError
            It is refused, or not answered.
        """
        request, self._wanted = self._wanted, StepSimulation.Request()
        request.driver, request.step = self._driver, self._count
        answer = self._ask(request, ended)
        if answer is None:
            return self._last
        if not answer.success:
            raise JointsError(f'{self._name}/step failed: {answer.message}')
        self._count += 1
        self._last = answer
        return answer

    def _ask(self, request: StepSimulation.Request,
             ended: Callable[[], bool]) -> StepSimulation.Response | None:
        """Ask for a step until it is answered, or no longer wanted; the same one is made once."""
        if not self._client.wait_for_service(SERVICE_TIMEOUT):
            raise JointsError(f'{self._name}/step is not there')
        done, futures = threading.Event(), []
        begin, again, patience = time.monotonic(), 0.0, FIRST_PATIENCE
        while (waited := time.monotonic() - begin) < STEP_TIMEOUT:
            if waited >= again:
                again, patience = waited + patience, 2.0 * patience
                futures.append(self._client.call_async(request))
                futures[-1].add_done_callback(lambda _: done.set())
            if done.wait(GLANCE):
                return next(future.result() for future in futures if future.done())
            if self._last is not None and ended():
                return None
        raise JointsError(f'{self._name}/step did not answer in {STEP_TIMEOUT:g} s')
