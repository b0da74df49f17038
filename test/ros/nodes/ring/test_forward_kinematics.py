"""The first stage and TF: the hand's pose comes from it, the frames of the links go to it."""

import threading

import numpy as np
import pytest

rclpy = pytest.importorskip('rclpy', reason='needs rclpy: `make setup`')
pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')
tf2 = pytest.importorskip(
    'tf2_msgs.msg', reason='tf2_msgs comes with a ROS install only, not from PyPI')

from geometry_msgs.msg import TransformStamped  # noqa: E402
from gripsim_interfaces.msg import GraspObject as GraspObjectMsg  # noqa: E402
from gripsim_interfaces.msg import LinkStates  # noqa: E402
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor  # noqa: E402
from scipy.spatial.transform import Rotation  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from suite_cases import ball, wait_for  # noqa: E402

from gripsim_ros.core.hand import frame_poses  # noqa: E402
from gripsim_ros.core.transforms import transform  # noqa: E402
from gripsim_ros.ros import conversions  # noqa: E402
from gripsim_ros.ros.nodes.base.node_base import latched, latest  # noqa: E402
from gripsim_ros.ros.nodes.ring.forward_kinematics import (  # noqa: E402
    GRAVITY, ForwardKinematicsNode)

ATOL_ROUNDOFF = 1e-12
TIMEOUT, PERIOD = 60.0, 0.05
ANGLE = 0.2


def pose(seed):
    rng = np.random.default_rng(seed)
    return transform(Rotation.random(random_state=seed).as_matrix(), rng.standard_normal(3))


def message(parent, child, T_parent_child):
    stamped = TransformStamped(child_frame_id=child,
                               transform=conversions.transform_to_msg(T_parent_child))
    stamped.header.frame_id = parent
    return tf2.TFMessage(transforms=[stamped])


@pytest.fixture(scope='module')
def stage():
    """Yield the first stage, with a node beside it that listens and publishes."""
    context = rclpy.Context()
    rclpy.init(context=context, signal_handler_options=rclpy.SignalHandlerOptions.NO)
    node = ForwardKinematicsNode(context=context, namespace='tf_test', cli_args=[
        '--ros-args', '-p', 'publish_tf:=true', '-p', 'object_frame:=pear',
        '-r', '/tf:=/tf_test/tf', '-r', '/tf_static:=/tf_test/tf_static'])
    other = rclpy.create_node('other', context=context, namespace='tf_test')
    executor = MultiThreadedExecutor(2, context=context)
    for each in (node, other):
        executor.add_node(each)

    def spin():
        try:
            executor.spin()
        except ExternalShutdownException:
            pass

    thread = threading.Thread(target=spin, daemon=True)
    thread.start()
    node.start()
    yield node, other
    node.close()
    executor.shutdown(1.0)
    context.try_shutdown()
    thread.join(5.0)


def test_the_pose_on_the_object_comes_from_tf_and_the_frames_of_links_go_there(stage):
    node, other = stage
    T_world_object, T_world_arm, T_arm_palm = pose(1), pose(2), pose(3)
    live, frames = [], []
    other.create_subscription(LinkStates, 'live/link_states', live.append, latest())
    other.create_subscription(tf2.TFMessage, 'tf', frames.append, 50)
    moving = other.create_publisher(tf2.TFMessage, 'tf', 50)
    still = other.create_publisher(tf2.TFMessage, 'tf_static', latched(1))
    joints = other.create_publisher(JointState, 'joint_states', 10)
    objects = other.create_publisher(GraspObjectMsg, 'grasp_object', latched(1))
    objects.publish(conversions.grasp_object_to_msg(ball()))
    still.publish(message('arm', node.hand.base_link, T_arm_palm))

    def shown():
        moving.publish(message('world', 'pear', T_world_object))
        moving.publish(message('world', 'arm', T_world_arm))
        joints.publish(JointState(name=list(node.hand.joint_names),
                                  position=[ANGLE] * len(node.hand.joint_names)))
        return live and own_frames(frames, node)

    assert wait_for(shown, TIMEOUT, PERIOD), node.diagnose()
    expected = np.linalg.inv(T_world_object) @ T_world_arm @ T_arm_palm
    configurations = conversions.configurations_from_msg(live[-1].configurations)
    np.testing.assert_allclose(configurations.T_object_palm[0], expected, rtol=0.0,
                               atol=ATOL_ROUNDOFF)
    np.testing.assert_allclose(configurations.load_cases[0, :3],
                               -GRAVITY * np.linalg.inv(T_world_object)[:3, 2], rtol=0.0,
                               atol=GRAVITY * ATOL_ROUNDOFF)
    links = own_frames(frames, node)
    T_palm_frame = frame_poses(node.hand, np.full((1, len(node.hand.joint_names)), ANGLE))[0]
    assert set(links) == set(node.hand.frame_names) - {node.hand.base_link}
    for name, T in zip(node.hand.frame_names, T_palm_frame):
        if name in links:
            np.testing.assert_allclose(links[name], T, rtol=0.0, atol=ATOL_ROUNDOFF)


def own_frames(frames, node):
    """Return the links' poses in the palm's frame, from the last message that holds them."""
    for array in reversed(frames):
        links = {t.child_frame_id: conversions.transform_from_msg(t.transform)
                 for t in array.transforms if t.header.frame_id == node.hand.base_link}
        if links:
            return links
    return {}
