"""
Node `grasp_executor`: carries out planned grasps with the simulated or the real hand.

The logic is in ``gripsim_ros.hardware.execution``; here are topics, services and the action.
"""

import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from gripsim_interfaces.action import ExecuteGrasp, Palpate
from gripsim_interfaces.msg import GraspObject as GraspObjectMsg
from rclpy.action import ActionServer, CancelResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from std_srvs.srv import Trigger

from ....core.errors import GripsimError, TaskError
from ....hardware.execution.actions import Action, Phase, Status
from ....hardware.execution.arm import ArmPlan, make_arm_plan
from ....hardware.execution.feeling.policies import KEEP, STOP
from ....hardware.execution.machine import GraspExecution
from ....hardware.execution.plan import (
    ExecutionOptions, make_plan, PlannedContact, press_as_planned, Wishes)
from ....hardware.execution.report import report_of
from ....hardware.execution.way import WayPlan, make_way
from ....hardware.palpation.options import PalpationOptions
from ...conversions import grasp_from_msg, xyz
from ...conversions.geometry import seconds_from_msg
from ...conversions.requests.reach import reach_from_msg
from ...quality import action_server_quality
from ..base.health import Meter, if_ok
from ..base.live_joints import JointsError
from ..base.node_base import LATCHED_OBJECTS, SuiteNode, latched, one_line, run
from .forces_shown import ForcesShown
from .hands import GoalEnded, RealHand
from .holding import read_hold_plan, read_torques
from .lively_goal import LivelyGoal
from .messages import PARAMETERS, fill_result
from .palpation import (
    KnownObjects, as_execution, fill_palpation, make_palpation, palpation_feedback,
    preparing_feedback, read_palpation)
from .simulated_hand import SimulatedHand

#: Seconds between two feedbacks; every phase is told of at least once.
FEEDBACK_PERIOD = 0.1
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
        self.options = ExecutionOptions.from_mapping(
            {**self.values, **({'step_delay': 0.0} if self.values['simulated'] else {})})
        self._palpation = PalpationOptions.from_mapping(self.values)
        self._known = KnownObjects()
        self._shown = ForcesShown(self)
        self._busy = threading.Lock()
        self._execution: GraspExecution | None = None
        self._meter, self._served, self._last = Meter(), 0, ''
        self._closing_group = ReentrantCallbackGroup()
        self.moved = (SimulatedHand if self.values['simulated'] else RealHand)(
            self, self._closing_group)

    def serve(self) -> None:
        """Open the actions and the service `go`."""
        group = self._closing_group
        self.create_subscription(GraspObjectMsg, 'grasp_object', self._known.put,
                                 latched(LATCHED_OBJECTS), callback_group=self.housekeeping)
        self.create_service(Trigger, 'go', self._on_go, callback_group=group)
        self._action = ActionServer(
            self, ExecuteGrasp, 'execute_grasp', self._execute, callback_group=group,
            cancel_callback=lambda _: CancelResponse.ACCEPT, **action_server_quality())
        self._palpate_action = ActionServer(
            self, Palpate, 'palpate', self._palpate, callback_group=group,
            cancel_callback=lambda _: CancelResponse.ACCEPT, **action_server_quality())

    def _on_go(self, _, response: Trigger.Response) -> Trigger.Response:
        execution = self._execution
        if execution is None:
            response.message = 'no grasp is being carried out'
            return response
        execution.go()
        response.success, response.message = True, 'the hand closes'
        return response

    # -- one goal --------------------------------------------------------------------

    def _execute(self, goal_handle) -> ExecuteGrasp.Result:
        def carry_out(result: ExecuteGrasp.Result, goal_handle) -> None:
            execution = self._prepare(goal_handle)
            self._run(execution, goal_handle, self._feedback)
            fill_result(result, report_of(execution, self.options.touch_force),
                        self.hand.joint_names)
        return self._serve(goal_handle, ExecuteGrasp.Result(slip=float('nan')), carry_out,
                           ExecuteGrasp.Feedback())

    def _palpate(self, goal_handle) -> Palpate.Result:
        def carry_out(result: Palpate.Result, goal_handle) -> None:
            goal, asked = goal_handle.request, as_execution(goal_handle.request)

            def go_on(done: int = 0, total: int = 1) -> bool:
                goal_handle.publish_feedback(preparing_feedback(done, total))
                return not goal_handle.is_cancel_requested
            palpated = read_palpation(goal, self._palpation, self._known, go_on)
            palpation = make_palpation(
                goal, palpated, self._read(asked), self.hand, self.options,
                self.values['simulated'], self.values['palpation_elasticity'], go_on)
            self._begin(asked, goal_handle, Palpate.Feedback)
            if self.moved.has_arm:
                palpation.plan = self._with_arm(palpation.plan, goal.grasp)
            self._run(palpation, goal_handle, palpation_feedback)
            fill_palpation(result, palpation, palpated)
        nothing = float('nan')
        return self._serve(goal_handle, Palpate.Result(
            standard_error=nothing, damage_share=nothing, misfit=nothing), carry_out,
            preparing_feedback(0, 1))

    def _serve(self, goal_handle, result, carry_out, feedback):
        """Carry one goal out, whatever comes, and end it; return its result."""
        if not self._busy.acquire(blocking=False):
            result.status, result.message = Status.BUSY, 'another grasp is being carried out'
            goal_handle.abort()
            return result
        try:
            with LivelyGoal(goal_handle, feedback) as lively:
                carry_out(result, lively)
        except Exception as error:
            self._give_up(result, error)
        finally:
            if_ok(self.context, self.moved.end)()
            self._execution = None
            self._busy.release()
        self._served += 1
        self._last = f'{Status(result.status).name} {result.message}'.strip()
        if_ok(self.context, getattr(goal_handle, _END.get(result.status, 'abort')))()
        return result

    def _give_up(self, result, error: Exception) -> None:
        """Put an error into the result, then stop a hand that may be moving."""
        result.message = one_line(error)
        if isinstance(error, GoalEnded):
            result.status = Status.CANCELED
        elif isinstance(error, JointsError):
            result.status = Status.HAND_LOST
        elif isinstance(error, GripsimError):
            result.status = Status.INVALID_REQUEST
        else:
            result.status = Status.INTERNAL
            if not self.context.ok():
                return      # ROS was shut down under it: nothing can be sent any more
            self.report_error(f'execution: {result.message}')
        if self._execution is None and result.status != Status.INTERNAL:
            return      # nothing has been sent
        try:
            self.moved.stop()
        except Exception as failed:     # raised, it would make the result one of success
            if self.values['simulated'] and not self.active:
                return      # the simulation ends as this node does
            self.report_error(f'the hand may be moving: {one_line(failed)}')

    def _prepare(self, goal_handle) -> GraspExecution:
        """Read a goal; where the hand is simulated, put hand and object where they begin."""
        goal = goal_handle.request
        plan = self._read(goal)
        keeps = plan.wishes.missed_contact == KEEP
        if goal.hold_by_feel or keeps:
            held = self._known.find(goal.object_id or goal.grasp.object_id,
                                    lambda: not goal_handle.is_cancel_requested)
            hold = read_hold_plan(goal.grasp, plan.closed, self.hand, held)
            plan = replace(plan, hold=hold if goal.hold_by_feel else None,
                           keep=hold if keeps else None)
        torques = read_torques(goal.grasp, plan.closed, self.hand)
        plan = (press_as_planned(plan, self.hand, torques) if plan.touch is None
                else replace(plan, torques=torques))
        self._begin(goal_handle.request, goal_handle, ExecuteGrasp.Feedback)
        if self.moved.has_arm:
            plan = self._with_arm(plan, goal_handle.request.grasp)
        return GraspExecution(plan, self.options, self.values['simulated'])

    def _begin(self, goal: ExecuteGrasp.Goal, goal_handle, feedback: type) -> None:
        """Prepare the hand for a goal."""
        self.moved.begin(goal, lambda: goal_handle.is_cancel_requested,
                         lambda: goal_handle.publish_feedback(feedback()))

    def _with_arm(self, plan, grasp):
        """Return a plan with what the arm does, which is where that begins."""
        plan = replace(plan, arm=self._read_arm(grasp, plan.way))
        self.moved.prepare_arm(plan.arm)
        return plan

    def _read(self, goal: ExecuteGrasp.Goal):
        grasp = goal.grasp
        _, rows = grasp_from_msg(grasp, np.eye(4), self.hand.joint_names)
        names = list(grasp.joint_trajectory.joint_names)
        order = [names.index(name) for name in self.hand.joint_names]
        grip = np.array(grasp.grip_joint_positions)
        times = np.array([seconds_from_msg(p.time_from_start)
                          for p in grasp.joint_trajectory.points])
        contacts = [PlannedContact.of_patch(c.link, xyz(c.normal), xyz(c.closing_force),
                                            xyz(c.force)) for c in grasp.contacts]
        feels = goal.by_touch or goal.hold_by_feel
        wishes = Wishes(goal.wait_for_go, goal.speed_scale, goal.squeeze, goal.hold_time,
                        goal.lift_height, goal.release, goal.carry, goal.by_touch,
                        goal.hold_by_feel, goal.missed_contact or (
                            self.values['missed_contact'] if feels else STOP))
        way = make_way(self.hand, reach_from_msg(grasp, np.eye(4)), self.options.carry_speed,
                       self.options.carry_spin) if goal.carry else None
        return make_plan(self.hand, (rows, times), grip[order] if len(grip) == len(order)
                         else grip, contacts, wishes, self.options, way,
                         grasp.damage_margin or np.inf)

    def _read_arm(self, grasp, way: WayPlan | None) -> ArmPlan:
        given = grasp.arm_trajectory
        if not given.points:
            raise TaskError('an arm carries the hand, and the grasp has no arm_trajectory: plan '
                            'with the arm')
        times = [seconds_from_msg(point.time_from_start) for point in given.points]
        return make_arm_plan(given.joint_names, ([p.positions for p in given.points], times),
                             list(grasp.arm_phases), way, self.options.carry_speed)

    def _run(self, execution: GraspExecution, goal_handle, feedback: Callable) -> None:
        """Feed measurements to the execution until it is done."""
        self._execution, next_feedback, told = execution, 0.0, None
        while not execution.done:
            try:
                measured = self.moved.next(
                    lambda: goal_handle.is_cancel_requested or not self.active)
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
                goal_handle.publish_feedback(feedback(execution))
                self._shown.show(execution, goal_handle.request.grasp)

    def _feedback(self, execution: GraspExecution) -> ExecuteGrasp.Feedback:
        measured = execution.last
        touching = {link: force for link, force in measured.forces.items()
                    if force >= self.options.touch_force}
        planned, felt = execution.finger_forces()
        return ExecuteGrasp.Feedback(
            finger_names=[f.name for f in execution.plan.fingers if f.force > 0.0],
            finger_planned_forces=planned.tolist(), finger_felt_forces=felt.tolist(),
            phase=int(execution.last_phase),
            progress=execution.progress,
            joint_positions=measured.joints.tolist(), touching_links=list(touching),
            forces=list(touching.values()))

    def _act(self, actions: list[Action]) -> None:
        for action in actions:
            self.moved.act(action)

    def diagnose(self) -> tuple[str, dict[str, object]]:
        """Tell what is being done and what came of the last grasp."""
        execution = self._execution
        phase = 'idle' if execution is None else execution.phase.name
        missing = '' if self.count_publishers('joint_states') else (
            f'waiting for {self.values["hand_node"]}, which publishes joint_states')
        joints, pads = (np.nan, np.nan) if execution is None else execution.news_periods()
        rates = {f'{name} [Hz]': 'unknown' if np.isnan(period) else f'{1.0 / period:.0f}'
                 for name, period in (('joints', joints), ('pads', pads))}
        return missing, {'phase': phase, 'grasps carried out': self._served,
                         'last result': self._last, **rates, **self._meter.read()}


def main(args=None) -> int:
    """Run the node."""
    return run(GraspExecutorNode, args)


if __name__ == '__main__':
    sys.exit(main())
