"""
Node `arm_planner`: serves `choose_by_arm`, the arm's motions for given grasps.

Asked by `grasp_planner` where its parameter `arm_service` names the service; the question and the
answer are those of `EvaluateGrasp`.
"""

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from gripsim_interfaces.msg import Grasp
from gripsim_interfaces.srv import EvaluateGrasp, PlanGrasp
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectoryPoint
from visualization_msgs.msg import MarkerArray

from ....core.arm import (
    ArmTask, check_distances, checked_criterion, choose_by_arm, load_arm)
from ....core.errors import ArmError, GripsimError
from ....core.planning.rejections import ARM_NOT_ASKED, ARM_OUT_OF_TIME
from ....core.planning import Task
from ....core.transforms import inverse, transform
from ....library.hands.warm_up_scene import warm_up_object, warm_up_obstacles
from ....library.planned_arm import load_other_arms, part_meshes, parts_of_others
from ....library.resources import confined_resolver, material_library, resolve_uri
from ...conversions import RequestReader, pose_to_msg
from ...conversions.objects import LONGEST_LABEL
from ...conversions.requests.arm import arm_to_msg
from ...conversions.requests.ranked import ranked_grasp_from_msg
from ...markers import MarkerFrame, arm_markers
from ...quality import many_calls
from ..base.health import Meter
from ..base.node_base import LATCHED_OBJECTS, SuiteNode, latched, one_line, run
from ..base.parameters import NodeParameter, ParameterError, let_change, pose_value
from ..ring.stage_node import ObjectStore
from .sessions import SHUTTING_DOWN

#: Time for a question without a limit [s].
LONGEST = 60.0
#: Where the object of the first, made-up question is before the palm, so near that their distance
#: is needed, and how far the palm draws back from it [m].
BEFORE_PALM, DRAWN_BACK = 0.06, 0.03

PARAMETERS = (
    NodeParameter('arm_config', str, 'File of the arm, see docs/arm.md.'),
    NodeParameter('arm_base_pose', str, 'Pose of the arm\'s base in the frame of requests: '
                  'x y z [m] and quaternion x y z w.'),
    NodeParameter('other_arms', str, 'File of arms that stand or move beside it, see '
                  'docs/arm.md; empty: none.'),
    NodeParameter('arm_criterion', str, 'Whose way is to be short unless a request says it: '
                  'pregrasp, whole; empty: pregrasp.'),
    NodeParameter('materials', str, 'Library of materials; empty: config/materials.yaml.',
                  changes=True),
    NodeParameter('mesh_folders', str, 'Folders from which requests may name meshes, separated '
                  'by a colon; empty: see docs/security.md.'))


class ArmPlannerNode(SuiteNode):
    """The arm's motions as a node; see the module."""

    NAME = 'arm_planner'

    def __init__(self, **kwargs) -> None:
        """
        Read the arm and open the service.

        Raises
        ------
        ParameterError
            No arm is named, or its pose is not seven numbers.
        ArmError
            An arm cannot be used, or there is no such criterion.
        """
        super().__init__(self.NAME, PARAMETERS, **kwargs)
        if not self.values['arm_config']:
            raise ParameterError('parameter arm_config must name the file of an arm, got \'\'')
        self.arm = load_arm(resolve_uri(self.values['arm_config']), resolve_uri)
        self._others = load_other_arms(
            Path(resolve_uri(self.values['other_arms']))) if self.values['other_arms'] else ()
        self._criterion = checked_criterion(self.values['arm_criterion'])
        self.T_frame_base = pose_value('arm_base_pose', self.values['arm_base_pose'])
        self.objects = ObjectStore(lambda grasp_object: grasp_object, LATCHED_OBJECTS)
        self._take(self.values)
        let_change(self, PARAMETERS, self.values, self._take)
        self._meter, self._start = Meter(), None
        self.create_subscription(
            JointState, 'arm_joint_states', self._on_joints, 1,
            callback_group=self.housekeeping)
        self._parts, self._other_parts = part_meshes(self.arm), parts_of_others(self._others)

    def warm_up(self) -> None:
        """Choose the arm's motion to a made-up grasp beside obstacles."""
        T_object_palm, T_palm_drawn = (transform(np.eye(3), -way * self.hand.approach)
                                       for way in (BEFORE_PALM, DRAWN_BACK))
        T_base_object = self.arm.palm_pose(self.arm.start) @ inverse(T_object_palm)
        preshape = self.hand.preshapes[0]
        msg = Grasp(hand_pose=pose_to_msg(T_object_palm),
                    pregrasp_pose=pose_to_msg(T_object_palm @ T_palm_drawn))
        msg.joint_trajectory.joint_names = list(self.hand.joint_names)
        msg.joint_trajectory.points = [JointTrajectoryPoint(positions=list(row))
                                       for row in (preshape.open, preshape.closed)]
        choose_by_arm(
            [ranked_grasp_from_msg(msg, np.eye(4), self.hand.joint_names)],
            Task(obstacles=warm_up_obstacles(), displacement_object=T_palm_drawn),
            warm_up_object(), self.hand, ArmTask(
                self.arm, T_base_object, None, self._criterion, self._others))

    def _take(self, values: Mapping[str, Any]) -> None:
        """Take the library of materials for the requests that come."""
        self.reader = RequestReader(
            material_library(values['materials']), confined_resolver(values['mesh_folders']),
            self.objects.find)

    def serve(self) -> None:
        """Open the service."""
        from gripsim_interfaces.msg import GraspObject
        self.create_subscription(GraspObject, 'grasp_object', self._on_object,
                                 latched(LATCHED_OBJECTS), callback_group=self.housekeeping)
        self._markers = self.create_publisher(MarkerArray, 'closing/arm_markers', latched(1))
        self.create_subscription(JointState, 'closing/arm_joints', self._draw, latched(1),
                                 callback_group=self.housekeeping)
        self.create_service(EvaluateGrasp, 'choose_by_arm', self._choose, qos_profile=many_calls(),
                            callback_group=MutuallyExclusiveCallbackGroup())

    def _on_object(self, msg) -> None:
        try:
            self.objects.add_message(msg)
        except GripsimError as error:
            self.report_error(f'object {msg.label[:LONGEST_LABEL]!r} refused: {one_line(error)}')

    def _on_joints(self, msg: JointState) -> None:
        joints = self._joints_of(msg)
        if joints is not None:
            self._start = joints

    def _joints_of(self, msg: JointState) -> np.ndarray | None:
        """Return the arm's joints (A,) [rad], None where one is not told or not finite."""
        places = dict(zip(msg.name, msg.position))
        joints = np.array([places.get(name, np.nan) for name in self.arm.joint_names])
        return joints if np.isfinite(joints).all() else None

    def _draw(self, msg: JointState) -> None:
        """Draw the arm where a moment that `grasp_planner` shows has it; without joints none."""
        joints, frame = self._joints_of(msg), MarkerFrame(msg.header.frame_id, self.T_frame_base)
        shown = joints is not None
        poses = self.arm.poses(joints)[self.arm.part_frames] if shown else []
        self._markers.publish(arm_markers(list(zip(self._parts, poses)), frame,
                                          self._other_parts if shown else []))

    def _choose(self, msg: EvaluateGrasp.Request,
                response: EvaluateGrasp.Response) -> EvaluateGrasp.Response:
        begin = time.monotonic()
        try:
            self._fill(msg, response)
            response.status = PlanGrasp.Response.SUCCEEDED
        except ArmError as error:
            response.status = PlanGrasp.Response.INVALID_REQUEST
            response.message = one_line(error)
        except GripsimError as error:
            # Before anything is planned only what the arm itself cannot do refuses a request.
            response.status = (PlanGrasp.Response.INVALID_REQUEST if msg.grasps
                               else PlanGrasp.Response.INTERNAL)
            response.message = one_line(error)
        except Exception as error:
            self.report_error(f'choose_by_arm: {one_line(error)}')
            response.status = PlanGrasp.Response.INTERNAL
            response.message = one_line(error) if self.context.ok() else SHUTTING_DOWN
        self._meter.add(time.monotonic() - begin)
        return response

    def _fill(self, msg: EvaluateGrasp.Request, response: EvaluateGrasp.Response) -> None:
        request = self.reader.read(msg)
        grasps = [ranked_grasp_from_msg(g, request.T_frame_object, self.hand.joint_names)
                  for g in msg.grasps]
        task = ArmTask(self.arm, inverse(self.T_frame_base) @ request.T_frame_object,
                       self._first_joints(msg),
                       checked_criterion(msg.arm_criterion) if msg.arm_criterion
                       else self._criterion, self._others)
        if not msg.grasps:          # before anything is planned: can the arm be there at all?
            check_distances(request.task, request.grasp_object, self.hand, task)
            return
        end = time.monotonic() + (msg.max_planning_time or LONGEST)
        choice = choose_by_arm(grasps, request.task, request.grasp_object, self.hand, task,
                               lambda _: time.monotonic() < end, int(msg.arm_wanted))
        free = {g.hypothesis: g for g in choice.grasps}
        failed = {g.hypothesis: motion for g, motion in choice.failures}
        left = ARM_NOT_ASKED if choice.complete else ARM_OUT_OF_TIME
        for grasp in msg.grasps:
            chosen, motion = free.get(grasp.hypothesis), failed.get(grasp.hypothesis)
            if chosen is not None:
                rows = chosen.arm_motion.joints
                grasp, motion = arm_to_msg(chosen.arm_motion, grasp, [
                    self.T_frame_base @ self.arm.palm_pose(row) for row in rows]), None
                grasp.rank = chosen.rank
            response.grasps.append(grasp if motion is None else arm_to_msg(motion, grasp))
            response.reasons.append(
                '' if chosen is not None else left if motion is None
                else f'step {motion.failed_step}: {motion.message}')

    def _first_joints(self, msg: EvaluateGrasp.Request) -> np.ndarray | None:
        """Return the start: the first point of a grasp's arm trajectory, or as measured."""
        for grasp in msg.grasps:
            given = grasp.arm_trajectory
            if given.points:
                places = dict(zip(given.joint_names, given.points[0].positions))
                missing = [name for name in self.arm.joint_names if name not in places]
                if missing:
                    raise ArmError(f'arm_start: no value for joint {missing[0]!r}')
                start = np.array([places[name] for name in self.arm.joint_names])
                if not np.isfinite(start).all():
                    raise ArmError(f'arm_start must be finite, got {start.tolist()}')
                return start
        return self._start

    def diagnose(self) -> tuple[str, dict[str, object]]:
        """Tell how much was asked, and who does not ask."""
        asked = self.count_clients('choose_by_arm')
        start = 'the default' if self._start is None else 'as measured'
        return '' if asked else 'waiting for grasp_planner, which calls choose_by_arm', {
            'arm': self.arm.name, 'start': start, **self._meter.read()}


def main(args=None) -> int:
    """Run the node."""
    return run(ArmPlannerNode, args)


if __name__ == '__main__':
    sys.exit(main())
