"""
The three stages, each answering with doubled values; started inactive.

Run as ``python doubled_stage.py``; a test activates one of them in place of the real one.
"""

import dataclasses

import rclpy
from rclpy.executors import MultiThreadedExecutor

from gripsim_ros.ros import conversions
from gripsim_ros.ros.nodes.base.node_base import spin
from gripsim_ros.ros.nodes.ring.contact_detection import ContactDetectionNode
from gripsim_ros.ros.nodes.ring.deformation import DeformationNode
from gripsim_ros.ros.nodes.ring.forward_kinematics import ForwardKinematicsNode


def read_write(stage):
    """Return how messages of a stage are read and written again."""
    return {
        'forward_kinematics': (conversions.link_states_from_msg, conversions.link_states_to_msg),
        'contact_detection': (conversions.contacts_from_msg, conversions.contacts_to_msg),
    }.get(stage)


def double(stage, msg, ring):
    """Return the answer of a stage with what it is about doubled."""
    if stage == 'deformation':
        msg.patch_forces_object = type(msg.patch_forces_object)(
            'd', [2.0 * value for value in msg.patch_forces_object])
        msg.minimal_forces_object = type(msg.minimal_forces_object)(
            'd', [2.0 * value for value in msg.minimal_forces_object])
        return msg
    read, write = read_write(stage)
    batch = read(msg)
    if stage == 'forward_kinematics':
        poses = batch.T_object_link.copy()
        poses[..., :3, 3] *= 2.0
        return write(dataclasses.replace(batch, T_object_link=poses), ring)
    return write(dataclasses.replace(batch, node_depths=2.0 * batch.node_depths,
                                     depth=2.0 * batch.depth), ring)


def doubled(base):
    """Return a stage's class with doubled answers, under another name in the graph."""
    class Doubled(base):
        def answer(self, msg, prepared, ring):
            return double(self.NAME, super().answer(msg, prepared, ring), ring)
    return Doubled


def main():
    """Serve all three until interrupted."""
    rclpy.init()
    executor = MultiThreadedExecutor(4)
    for base in (ForwardKinematicsNode, ContactDetectionNode, DeformationNode):
        node = doubled(base)(cli_args=['--ros-args', '-r', f'__node:=doubled_{base.NAME}',
                                       '-p', 'autostart:=false'])
        executor.add_node(node)
    try:
        spin(executor, node)
    except KeyboardInterrupt:
        pass


if __name__ == '__main__':
    main()
