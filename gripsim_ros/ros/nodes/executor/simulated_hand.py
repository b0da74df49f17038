"""The simulated hand that `grasp_executor` moves step by step, on an arm or with a free palm."""

import threading
import time
from collections.abc import Callable
from uuid import uuid4

import numpy as np
from geometry_msgs.msg import PoseStamped
from gripsim_interfaces.action import ExecuteGrasp
from gripsim_interfaces.srv import StepSimulation
from numpy.typing import NDArray
from rclpy.callback_groups import CallbackGroup
from std_srvs.srv import Trigger

from ....core.arm.motion import APPROACH
from ....core.errors import TaskError
from ....core.transforms import inverse, transform
from ....hardware.execution.actions import (
    Action, LiftOff, MoveArm, MovePalm, PlacePalm, SendRows, SetDown, StopHand)
from ....hardware.execution.arm import ArmPlan
from ....hardware.execution.measurement import Measurement
from ...conversions import pose_from_msg, pose_to_msg
from ..base.live_joints import JointsError
from ..base.node_base import SuiteNode
from .hands import GoalEnded, Hand, SERVICE_TIMEOUT
from .messages import arm_trajectory_to_msg, trajectory_to_msg
from .observations import torques_by_name

Array = NDArray[np.float64]

#: Longest wait for a step of a simulator that is there: it may compile for the first time while
#: others keep the machine busy. For the first answer before it is asked again, twice as long each
#: time [s].
STEP_TIMEOUT, FIRST_PATIENCE = 300.0, 1.0
#: Longest wait for an object of which nothing is heard, and how often it is looked for [s]. A
#: latched object takes seconds to a simulator that has just started on a busy machine; a goal that
#: is cancelled meanwhile ends at once.
OBJECT_TIMEOUT, OBJECT_PERIOD = 10.0, 0.2
#: How often it is looked whether a step is still wanted [s].
GLANCE = 0.05
#: How near the palm must be to where it was sent [m, -].
PALM_TOLERANCE, TURN_TOLERANCE = 5e-4, 2e-3
#: How near the joints of a simulated arm must be to where they were sent [rad].
ARM_TOLERANCE = 5e-4
#: How far from the pre-grasp the palm may be where the approach begins [m].
PREGRASP_TOLERANCE = 5e-3


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
        self._arm: ArmPlan | None = None
        self._arm_goal: Array | None = None
        self._wanted = StepSimulation.Request()
        self._last: StepSimulation.Response | None = None

    @property
    def has_arm(self) -> bool:
        """Return whether the simulated palm hangs on an arm."""
        return bool(self._last.arm_joint_state.name)

    def prepare_arm(self, arm: ArmPlan) -> None:
        """Look whether the simulated arm is where its way begins."""
        self._arm, self._arm_goal = arm, arm.start
        arm.check_start(self._arm_joints(self._last))

    def _arm_joints(self, answer: StepSimulation.Response) -> Array:
        """Return the arm's joints (A,) [rad] in the order of its plan."""
        told = dict(zip(answer.arm_joint_state.name, answer.arm_joint_state.position))
        missing = [name for name in self._arm.joint_names if name not in told]
        if missing:
            raise TaskError(f'the simulated arm has no joint {missing[0]!r}: the grasp was '
                            'planned with another arm')
        return np.array([told[name] for name in self._arm.joint_names])

    # -- one goal --------------------------------------------------------------------

    def begin(self, goal: ExecuteGrasp.Goal, ended: Callable[[], bool],
              tell: Callable[[], object]) -> None:
        """Let time stand still, put hand and object where they begin, and place the grasp."""
        begin = time.monotonic()
        while trouble := self._missing_object(goal, self._take_over(ended)):
            if not self._last.preparing and time.monotonic() - begin > OBJECT_TIMEOUT:
                raise TaskError(trouble)
            if ended():
                raise GoalEnded(trouble)
            tell()
            time.sleep(OBJECT_PERIOD)
        if ended():
            raise GoalEnded('cancelled before anything moved')
        self.call('reset')
        self._place(goal.grasp, self._step(ended))

    def _take_over(self, ended: Callable[[], bool]) -> StepSimulation.Response:
        """Step the simulation from now on, as a client of its own."""
        self._driver, self._count = uuid4().hex, 0
        self._palm_goal, self._wanted = None, StepSimulation.Request()
        self._arm = self._arm_goal = None
        return self._step(ended)

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
        if goal.grasp.object_id not in ('', held[0]):
            return (f'the grasp was planned for the object {goal.grasp.object_id:.12}…, the '
                    f'simulated hand holds {held[0]:.12}… as {held[1]!r}: plan for that one')
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
        centres = zip(answer.links, np.reshape(answer.centres, (-1, 3)))
        return Measurement(answer.time, np.array(joints),
                           dict(zip(answer.links, answer.forces)), T_palm_object,
                           self._rests(T_world_palm, answer), centres={
                               link: centre for link, centre in centres
                               if np.isfinite(centre).all()},
                           load=np.array(answer.wrist_load) if len(answer.wrist_load) else None,
                           torques=torques_by_name(answer.joint_state,
                                                   self.node.hand.joint_names))

    def _rests(self, T_world_palm: Array, answer: StepSimulation.Response) -> bool | None:
        """Return whether the palm is where it was sent, None where it was not sent anywhere."""
        if self._arm_goal is not None:
            off = np.abs(self._arm_joints(answer) - self._arm_goal).max()
            return bool(off < ARM_TOLERANCE)
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
        elif isinstance(action, MoveArm):
            self._send_arm(action)
        elif isinstance(action, StopHand):
            self.stop()
        elif isinstance(action, (LiftOff, SetDown)):
            self.call('lift_off' if isinstance(action, LiftOff) else 'set_down')
        elif isinstance(action, PlacePalm):
            self._wanted.palm_placement = [self._send_palm(self._T_world_pregrasp)]
        elif isinstance(action, MovePalm):
            self._wanted.palm_target = [self._send_palm(self._goal_of(action))]

    def stop(self) -> None:
        """Stop hand, palm and arm."""
        self._wanted = StepSimulation.Request()
        self.call('stop')

    def _send_arm(self, action: MoveArm) -> None:
        """Send the arm along a leg, to the grasp only from where the pre-grasp is."""
        palm = pose_from_msg(self._last.palm_pose.pose)
        away = float(np.linalg.norm(palm[:3, 3] - self._T_world_pregrasp[:3, 3]))
        if action.leg.name == APPROACH and away > PREGRASP_TOLERANCE:
            raise TaskError(f'the arm brought the palm {1e3 * away:.0f} mm from the pre-grasp, '
                            f'allowed are {1e3 * PREGRASP_TOLERANCE:g} mm: do arm_base_pose and '
                            'object_start say where arm and object stood when it was planned?')
        self._arm_goal = action.leg.rows[-1]
        self._wanted.arm_trajectory = arm_trajectory_to_msg(action, self._arm.joint_names)
        self._wanted.arm_trajectory.header.stamp = self._last.joint_state.header.stamp

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
        GoalEnded
            It is no longer wanted, and nothing was measured yet.
        """
        request, self._wanted = self._wanted, StepSimulation.Request()
        request.driver, request.step = self._driver, self._count
        answer = self._ask(request, ended)
        if answer is None:
            if self._last is None:
                raise GoalEnded(f'cancelled while {self._name}/step was waited for')
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
            if ended():
                return None
            if not self._client.service_is_ready():
                raise JointsError(f'{self._name} went away while it made a step')
        raise JointsError(f'{self._name}/step did not answer in {STEP_TIMEOUT:g} s')
