"""
Node `forward_kinematics`: where every link is, and how it moves.

Answers the planner's configurations, and makes the live ones out of `joint_states`
and the poses of palm and object.
"""

import sys
import time

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped
from gripsim_interfaces.msg import HandConfigurations, LinkStates, RingHeader
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from ....core.batches import DETAIL_SURFACE, LOAD_CASE_WIDTH, ConfigurationBatch
from ....core.errors import GripsimError
from ....core.hand import compute_link_states, frame_poses
from ...conversions import (
    configurations_from_msg, configurations_to_msg, link_states_to_msg, pose_from_msg,
    transform_from_msg)
from ..base.broadcaster import FrameBroadcaster, TFMessage
from ..base.frames import FrameTree
from ..base.live_joints import LiveJoints
from ..base.node_base import latched, one_line, run
from ..base.parameters import NodeParameter
from .stage_node import StageNode

#: Standard gravity [m/s^2].
GRAVITY = 9.81
#: Samples of joint states and poses that may wait.
SENSOR_DEPTH = 50

PARAMETERS = (
    NodeParameter('live_rate', float, 'Most live batches a second [Hz].', 0.1, 1000.0),
    NodeParameter('joint_timeout', float, 'Oldest joint state used [s].', 0.001, 3600.0),
    NodeParameter('pose_timeout', float, 'Oldest pose used, if not static [s].', 0.001, 3600.0),
    NodeParameter('motion_threshold', float, 'Smaller joint motions are rest [rad].', 0.0, 1.0),
    NodeParameter('object_id', str, 'Label or hash of the live object; empty: the newest.'),
    NodeParameter('object_frame', str, 'Child frame of the pose of the object.'),
    NodeParameter('gravity_frame', str, 'Gravity pulls along its -z; empty: the root frame.'),
    NodeParameter('publish_tf', bool, 'Publish the frames of the links, of palm_pose and of '
                  'object_pose, and robot_description.'))


class ForwardKinematicsNode(StageNode):
    """First stage of the ring; see the module."""

    NAME = 'forward_kinematics'
    INPUT = (HandConfigurations, 'hand_configurations')
    OUTPUT = (LinkStates, 'link_states')
    NEEDS_OBJECT = False
    HAS_LIVE_INPUT = False

    def __init__(self, **kwargs) -> None:
        """Join the ring and listen to the live hand."""
        super().__init__(PARAMETERS, **kwargs)
        values = self.values
        self._joints = LiveJoints(self.hand.joint_names, values['joint_timeout'],
                                  values['motion_threshold'])
        self._frames = FrameTree(values['pose_timeout'])
        self._live_batches = 0
        self._last_live = -np.inf
        self._missing = ''
        self._broadcaster = None
        self._told: set[str] = set()    # frames that this node broadcasts: its own echo is old
        self._measured = Time()         # when the joints were measured
        group = MutuallyExclusiveCallbackGroup()
        self._pending = self.steady_timer(1.0 / values['live_rate'], self._on_pending, group)
        self._pending.cancel()
        self._listen(group)

    def _listen(self, group) -> None:
        """Subscribe to joint states and poses; only the first copy serves the live hand."""
        if self.values['copy'] != 0:
            return
        sensor = QoSProfile(depth=SENSOR_DEPTH, reliability=ReliabilityPolicy.BEST_EFFORT)
        self.create_subscription(JointState, 'joint_states', self._on_joints, sensor,
                                 callback_group=group)
        for topic, child in (('palm_pose', self.hand.base_link),
                             ('object_pose', self.values['object_frame'])):
            self.create_subscription(
                PoseStamped, topic, lambda msg, child=child: self._on_pose(msg, child), sensor,
                callback_group=group)
        if self.values['publish_tf']:
            self._broadcaster = FrameBroadcaster(self, TFMessage and self.create_publisher(
                TFMessage, '/tf', SENSOR_DEPTH))
            self._description = self.create_publisher(String, 'robot_description', latched(1))
            self._description.publish(String(data=self.hand.files[0].read_text(encoding='utf-8')))
        if TFMessage is None:
            return      # the diagnostics tell it, and `gripsim doctor`
        self.create_subscription(TFMessage, '/tf', lambda msg: self._on_tf(msg, False), sensor,
                                 callback_group=group)
        self.create_subscription(TFMessage, '/tf_static', lambda msg: self._on_tf(msg, True),
                                 latched(SENSOR_DEPTH), callback_group=group)

    def warm_up(self) -> None:
        """Compute the link states of one configuration."""
        zeros = np.zeros((1, len(self.hand.joint_names)))
        compute_link_states(self.hand, ConfigurationBatch(
            np.eye(4)[None], zeros, zeros, np.zeros((1, 3))))

    def answer(self, msg: HandConfigurations, prepared, ring: RingHeader) -> LinkStates:
        """Return the link states of a message."""
        batch = configurations_from_msg(msg, len(self.hand.joint_names))
        return link_states_to_msg(compute_link_states(self.hand, batch), ring)

    def _on_pose(self, msg: PoseStamped, child: str) -> None:
        try:
            T_parent_child = pose_from_msg(msg.pose)
            self._frames.update(msg.header.frame_id, child, T_parent_child, time.monotonic())
            if self._broadcaster is not None:
                self._told.add(child)
                self._broadcaster.send(msg.header.frame_id, [(child, T_parent_child)],
                                       msg.header.stamp)
        except GripsimError as error:
            self.report_error(f'pose of {child} refused: {error}')

    def _on_tf(self, msg, static: bool) -> None:
        received = None if static else time.monotonic()
        for stamped in msg.transforms:
            if stamped.child_frame_id in self._told:
                continue
            try:
                self._frames.update(stamped.header.frame_id, stamped.child_frame_id,
                                    transform_from_msg(stamped.transform), received)
            except GripsimError as error:
                self.report_error(f'transform of {stamped.child_frame_id} refused: {error}')

    def _on_joints(self, msg: JointState) -> None:
        now = time.monotonic()
        if not self._joints.merge(msg.name, msg.position, now) or not self.active:
            return
        self._measured = msg.header.stamp
        if now - self._last_live >= 1.0 / self.values['live_rate']:
            self._publish_live(now)
        elif self._pending.is_canceled():
            self._pending.reset()

    def _on_pending(self) -> None:
        self._pending.cancel()
        self._publish_live(time.monotonic())

    def _publish_live(self, now: float) -> None:
        """Send the live hand as a batch of one, or say what is missing."""
        self._last_live = now
        try:
            positions, displacements = self._joints.sample(now)
            self._tell_links(positions)
            self._publish_batch(positions, displacements, now)
            self._missing = ''
        except GripsimError as error:
            self._missing = f'live view: {error}'
            self.get_logger().warning(self._missing, throttle_duration_sec=5.0,
                                      throttle_time_source_type=self.steady)
        except Exception as error:
            self.report_error(f'live view: {one_line(error)}')

    def _publish_batch(self, positions, displacements, now: float) -> None:
        grasp_object = self.objects.find(self.values['object_id'])
        if grasp_object is None:
            wanted = self.values['object_id']
            raise GripsimError(f'object {wanted!r} was not published' if wanted
                               else 'no object was published on grasp_object')
        frame = self.values['object_frame']
        T_object_palm = self._frames.pose(frame, self.hand.base_link, now)
        gravity_frame = self.values['gravity_frame'] or self._frames.root(frame, now)
        T_object_gravity = self._frames.pose(frame, gravity_frame, now)
        load_case = np.zeros((1, LOAD_CASE_WIDTH))
        load_case[0, :3] = -GRAVITY * T_object_gravity[:3, 2]
        batch = ConfigurationBatch(
            T_object_palm[None], positions[None], displacements[None], np.zeros((1, 3)),
            load_case, detail=DETAIL_SURFACE)
        started = time.monotonic()
        self._live_batches = (self._live_batches + 1) % 2**32
        ring = RingHeader(planner_id='live', request_id='live', batch_id=self._live_batches,
                          object_id=grasp_object.id, hand_id=self.hand.id)
        answer = self._answer_or_failure(configurations_to_msg(batch, ring))
        self.publish('live', answer)
        self.meters['live'].add(time.monotonic() - started)

    def _tell_links(self, positions) -> None:
        if self._broadcaster is None:
            return
        T_palm_frame = frame_poses(self.hand, positions[None])[0]
        self._broadcaster.send(
            self.hand.base_link, list(zip(self.hand.frame_names, T_palm_frame)), self._measured)

    def diagnose(self) -> tuple[str, dict[str, object]]:
        """Add what the live view lacks."""
        missing, values = super().diagnose()
        idle = time.monotonic() - self._last_live > self.values['joint_timeout']
        live = 'no joint states' if idle else self._missing or 'running'
        return missing, {**values, 'live': live, 'joint names ignored': self._joints.ignored,
                         'joint positions refused': self._joints.refused,
                         'tf': 'on' if TFMessage else 'off: tf2_msgs is not installed'}


def main(args=None) -> int:
    """Run the node."""
    return run(ForwardKinematicsNode, args)


if __name__ == '__main__':
    sys.exit(main())
