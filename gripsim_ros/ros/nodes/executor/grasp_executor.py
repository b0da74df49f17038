"""
Node `grasp_executor`: carries out planned grasps with the simulated or the real hand.

The logic is in ``gripsim_ros.hardware.execution``; here are topics, services and the action.
"""

import sys
import threading
import time

import numpy as np
from geometry_msgs.msg import PoseStamped
from gripsim_interfaces.action import ExecuteGrasp
from gripsim_interfaces.msg import TactileFrame
from rclpy.action import ActionServer, CancelResponse
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from ....core.errors import GripsimError, TaskError
from ....core.transforms import transform
from ....hardware.execution.machine import (
    Action, GraspExecution, LiftOff, MovePalm, Phase, PlacePalm, SendRows, Status, StopHand)
from ....hardware.execution.plan import ExecutionOptions, PlannedContact, Wishes, make_plan
from ....hardware.execution.report import report_of
from ...conversions import grasp_from_msg, pose_from_msg, pose_to_msg, xyz
from ...conversions.geometry import seconds_from_msg
from ...quality import many_goals
from ..base.health import Meter
from ..base.live_joints import JointsError
from ..base.node_base import SuiteNode, one_line, run
from .messages import PARAMETERS, fill_result, trajectory_to_msg
from .observations import Senses

#: Longest wait for a service of the hand, and for poses after a reset [s].
SERVICE_TIMEOUT, POSE_TIMEOUT = 2.0, 5.0
#: How often a service is asked: middleware drops an answer to a client that it has just met.
MOST_ASKS = 3
#: Seconds between two feedbacks; every phase is told of at least once.
FEEDBACK_PERIOD = 0.1
#: Joint states that may wait.
STATE_DEPTH = 5
#: Threads: the execution, its senses, cancel and go, answers to the next goal.
THREADS = 6

_END = {Status.SUCCEEDED: 'succeed', Status.CANCELED: 'canceled'}


class GraspExecutorNode(SuiteNode):
    """Serves `execute_grasp`; see the module."""

    NAME = 'grasp_executor'

    def __init__(self, **kwargs) -> None:
        """Listen to the hand."""
        super().__init__(self.NAME, PARAMETERS, **kwargs)
        self.thread_count = THREADS
        self.options = ExecutionOptions.from_mapping(self.values)
        self.senses = Senses(self.hand.joint_names, self.values['joint_timeout'],
                             self.values['trust_uncalibrated'], self.report_error)
        self._busy = threading.Lock()
        self._execution: GraspExecution | None = None
        self._meter, self._served, self._last = Meter(), 0, ''
        self._poses: dict[str, np.ndarray] = {}
        self._frame = ''
        self._closing_group = ReentrantCallbackGroup()
        self._open_topics()

    def _open_topics(self) -> None:
        group, sensor = MutuallyExclusiveCallbackGroup(), qos_profile_sensor_data
        self._trajectory = self.create_publisher(JointTrajectory, 'joint_trajectory', 10)
        self._palm_target = self.create_publisher(PoseStamped, 'palm_target', 10)
        self._palm_placement = self.create_publisher(PoseStamped, 'palm_placement', 10)
        for kind, topic, callback in (
                (JointState, 'joint_states', self.senses.on_joints),
                (TactileFrame, 'tactile', self.senses.on_tactile),
                (PoseStamped, 'palm_pose', self.senses.on_palm),
                (PoseStamped, 'object_pose', self.senses.on_object)):
            self.create_subscription(kind, topic, callback, sensor, callback_group=group)
        hand, group = self.values['hand_node'], self._closing_group
        self._hand_services = {
            name: self.create_client(Trigger, f'{hand}/{name}', callback_group=group)
            for name in ('stop', 'reset', 'lift_off')}

    def serve(self) -> None:
        """Open the action and the service `go`."""
        group = self._closing_group
        self.create_service(Trigger, 'go', self._on_go, callback_group=group)
        self._action = ActionServer(
            self, ExecuteGrasp, 'execute_grasp', self._execute, callback_group=group,
            cancel_callback=self._on_cancel, **many_goals())

    def _on_go(self, _, response: Trigger.Response) -> Trigger.Response:
        execution = self._execution
        if execution is None:
            response.message = 'no grasp is being carried out'
            return response
        execution.go()
        response.success, response.message = True, 'the hand closes'
        return response

    def _on_cancel(self, _) -> CancelResponse:
        self.senses.wake()
        return CancelResponse.ACCEPT

    # -- one goal --------------------------------------------------------------------

    def _execute(self, goal_handle) -> ExecuteGrasp.Result:
        result = ExecuteGrasp.Result(slip=float('nan'))
        if not self._busy.acquire(blocking=False):
            result.status, result.message = Status.BUSY, 'another grasp is being carried out'
            goal_handle.abort()
            return result
        try:
            execution = self._prepare(goal_handle.request)
            self._run(execution, goal_handle)
            fill_result(result, report_of(execution, self.options.touch_force),
                        self.hand.joint_names)
        except Exception as error:
            self._give_up(result, error)
        finally:
            self._execution = None
            self._busy.release()
        self._served += 1
        self._last = f'{Status(result.status).name} {result.message}'.strip()
        getattr(goal_handle, _END.get(result.status, 'abort'))()
        return result

    def _give_up(self, result: ExecuteGrasp.Result, error: Exception) -> None:
        """Put an error into the result, then stop a hand that may be moving."""
        result.message = one_line(error)
        if isinstance(error, JointsError):
            result.status = Status.HAND_LOST
        elif isinstance(error, GripsimError):
            result.status = Status.INVALID_REQUEST
        else:
            result.status = Status.INTERNAL
            self.report_error(f'execution: {result.message}')
        if self._execution is None and result.status != Status.INTERNAL:
            return      # nothing has been sent
        try:
            self._call('stop')
        except Exception as failed:     # raised, it would make the result one of success
            self.report_error(f'the hand may be moving: {one_line(failed)}')

    def _prepare(self, goal: ExecuteGrasp.Goal) -> GraspExecution:
        """Read a goal; where the hand is simulated, put hand and object where they begin."""
        plan = self._read(goal)
        self._poses, self._frame = {}, ''
        if self.values['simulated']:
            held = self._call('reset')
            if goal.object_id and goal.object_id not in held.split(maxsplit=1):
                raise TaskError(f'the simulated hand holds the object {held!r}, '
                                f'not {goal.object_id!r}')
            self.senses.forget()
            if not self.senses.wait_for_palm(POSE_TIMEOUT):
                raise TaskError('nobody tells the poses of palm and object: was the object '
                                'published on grasp_object?')
            self._place(goal.grasp)
        self.senses.next()
        return GraspExecution(plan, self.options, self.values['simulated'])

    def _read(self, goal: ExecuteGrasp.Goal):
        grasp = goal.grasp
        if goal.lift_height > 0.0 and not self.values['simulated']:
            raise TaskError('lift_height is for the simulated hand only: the arm lifts')
        _, rows = grasp_from_msg(grasp, np.eye(4), self.hand.joint_names)
        names = list(grasp.joint_trajectory.joint_names)
        order = [names.index(name) for name in self.hand.joint_names]
        grip = np.array(grasp.grip_joint_positions)
        times = np.array([seconds_from_msg(p.time_from_start)
                          for p in grasp.joint_trajectory.points])
        contacts = [PlannedContact(c.link, max(0.0, float(xyz(c.force) @ xyz(c.normal))))
                    for c in grasp.contacts]
        wishes = Wishes(goal.wait_for_go, goal.speed_scale, goal.squeeze, goal.hold_time,
                        goal.lift_height, goal.release)
        return make_plan(self.hand, (rows, times), grip[order] if len(grip) == len(order)
                         else grip, contacts, wishes, self.options)

    def _place(self, grasp) -> None:
        """Work out where the palm goes in the frame of `palm_pose`."""
        frame, self._frame = grasp.header.frame_id, self.senses.frame
        T_world_frame = np.eye(4)
        if frame == self.values['object_frame']:
            T_world_frame = self.senses.T_world_object
        elif frame not in ('', self._frame):
            raise TaskError(f'the grasp must be in frame {self._frame!r} or '
                            f'{self.values["object_frame"]!r}, got {frame!r}')
        self._poses = {'grasp': T_world_frame @ pose_from_msg(grasp.hand_pose),
                       'pregrasp': T_world_frame @ pose_from_msg(grasp.pregrasp_pose)}

    def _run(self, execution: GraspExecution, goal_handle) -> None:
        """Feed measurements to the execution until it is done."""
        self._execution, next_feedback, told = execution, 0.0, None
        while not execution.done:
            try:
                measured = self.senses.next()
            except JointsError as error:
                self._act(execution.lose(one_line(error)))
                return
            started = time.monotonic()
            if goal_handle.is_cancel_requested:
                self._act(execution.cancel())
                return
            if not self.active:
                self._act(execution.lose('the node was deactivated'))
                return
            self._act(execution.update(measured))
            self._meter.add(time.monotonic() - started)
            if goal_handle.is_active and (
                    started >= next_feedback or execution.phase not in (told, Phase.DONE)):
                next_feedback, told = started + FEEDBACK_PERIOD, execution.phase
                goal_handle.publish_feedback(self._feedback(execution))

    def _feedback(self, execution: GraspExecution) -> ExecuteGrasp.Feedback:
        measured = execution.last
        touching = {link: force for link, force in measured.forces.items()
                    if force >= self.options.touch_force}
        return ExecuteGrasp.Feedback(
            phase=min(int(execution.phase), ExecuteGrasp.Feedback.RELEASING),
            progress=execution.progress,
            joint_positions=measured.joints.tolist(), touching_links=list(touching),
            forces=list(touching.values()))

    # -- acting ----------------------------------------------------------------------

    def _act(self, actions: list[Action]) -> None:
        for action in actions:
            if isinstance(action, SendRows):
                self._send(action)
            elif isinstance(action, StopHand):
                self._call('stop')
            elif isinstance(action, LiftOff):
                self._call('lift_off')
            elif isinstance(action, PlacePalm):
                self._send_palm(self._palm_placement, self._poses['pregrasp'])
            elif isinstance(action, MovePalm):
                up = transform(np.eye(3), np.array([0.0, 0.0, action.height]))
                self._send_palm(self._palm_target, up @ self._poses['grasp'])

    def _send(self, action: SendRows) -> None:
        self._trajectory.publish(trajectory_to_msg(action, self.hand.joint_names))

    def _send_palm(self, publisher, T_world_palm) -> None:
        self.senses.palm_goal = T_world_palm
        message = PoseStamped(pose=pose_to_msg(T_world_palm))
        message.header.frame_id = self._frame
        publisher.publish(message)

    def _call(self, name: str) -> str:
        """Call a service of the hand and return its message."""
        service, done = self._hand_services[name], threading.Event()
        if not service.wait_for_service(SERVICE_TIMEOUT):
            raise JointsError(f'{self.values["hand_node"]}/{name} is not there')
        futures = []
        while len(futures) < MOST_ASKS and not any(future.done() for future in futures):
            futures.append(service.call_async(Trigger.Request()))   # each may come twice
            futures[-1].add_done_callback(lambda _: done.set())
            done.wait(SERVICE_TIMEOUT)
        answer = next((future.result() for future in futures if future.done()), None)
        if answer is None or not answer.success:
            reason = 'no answer' if answer is None else answer.message
            raise JointsError(f'{self.values["hand_node"]}/{name} failed: {reason}')
        return answer.message

    def diagnose(self) -> tuple[str, dict[str, object]]:
        """Tell what is being done and what came of the last grasp."""
        execution = self._execution
        phase = 'idle' if execution is None else execution.phase.name
        missing = '' if self.count_publishers('joint_states') else (
            f'waiting for {self.values["hand_node"]}, which publishes joint_states')
        return missing, {'phase': phase, 'grasps carried out': self._served,
                         'last result': self._last, **self._meter.read()}


def main(args=None) -> int:
    """Run the node."""
    return run(GraspExecutorNode, args)


if __name__ == '__main__':
    sys.exit(main())
