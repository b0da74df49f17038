"""
What disturbs a suite: ``python fault_relay.py ring SEED`` or ``flood RATE``.

``ring`` passes on the messages of the ring from each ``plan/…`` to ``relayed/…``, but drops some,
repeats some at once or much later, and lets some overtake others. ``flood`` publishes joint
states and poses at a rate [Hz].
"""

import contextlib
import heapq
import random
import sys
import threading
import time

from geometry_msgs.msg import PoseStamped
from gripsim_interfaces.msg import Contacts, GraspStates, HandConfigurations, LinkStates
import rclpy
from rclpy.executors import ExternalShutdownException
from sensor_msgs.msg import JointState

from gripsim_ros.library.resources import load_default_hand
from gripsim_ros.ros.nodes.base.node_base import reliable

#: Topics of the ring and which node reads them.
RING = {'hand_configurations': (HandConfigurations, 'forward_kinematics'),
        'link_states': (LinkStates, 'contact_detection'),
        'contacts': (Contacts, 'deformation'), 'grasp_states': (GraspStates, 'grasp_planner')}
DEPTH = 64
#: Shares of messages that are dropped, repeated at once, repeated later, and delayed.
DROPPED, REPEATED, STALE, DELAYED = 0.02, 0.05, 0.02, 0.03
#: Longest delay, and longest until a message comes once more [s].
LONGEST_DELAY, LONGEST_STALE = 0.2, 20.0


class Relay:
    """Passes on, more or less."""

    def __init__(self, node, seed: int) -> None:
        """Subscribe and publish."""
        self.random, self._late, self._number = random.Random(seed), [], 0
        self.lock = threading.Lock()
        for topic, (kind, _) in RING.items():
            publisher = node.create_publisher(kind, f'relayed/{topic}', reliable(DEPTH))
            node.create_subscription(
                kind, f'plan/{topic}', lambda data, to=publisher: self.take(data, to),
                reliable(DEPTH), raw=True)
        threading.Thread(target=self._send_late, daemon=True).start()

    def take(self, data: bytes, publisher) -> None:
        """Decide what becomes of a message."""
        draw = self.random.random()
        if draw < DROPPED:
            return
        if draw < DROPPED + DELAYED:
            self._later(data, publisher, LONGEST_DELAY)
            return
        publisher.publish(data)
        if self.random.random() < REPEATED:
            publisher.publish(data)
        if self.random.random() < STALE:
            self._later(data, publisher, LONGEST_STALE)

    def _later(self, data: bytes, publisher, most: float) -> None:
        with self.lock:
            self._number += 1
            heapq.heappush(self._late, (
                time.monotonic() + most * self.random.random(), self._number, data, publisher))

    def _send_late(self) -> None:
        while rclpy.ok():
            time.sleep(0.02)
            with self.lock:
                while self._late and self._late[0][0] < time.monotonic():
                    _, _, data, publisher = heapq.heappop(self._late)
                    publisher.publish(data)


def flood(node, rate: float) -> None:
    """Publish a moving hand until the end."""
    hand = load_default_hand()
    joints = node.create_publisher(JointState, 'joint_states', 50)
    poses = {child: node.create_publisher(PoseStamped, topic, 10)
             for child, topic in (('palm', 'palm_pose'), ('object', 'object_pose'))}
    print('begun', flush=True)
    begin, count = time.monotonic(), 0
    while rclpy.ok():
        angle = 0.3 + 0.2 * (count % 1000) / 1000.0
        joints.publish(JointState(name=list(hand.joint_names),
                                  position=[angle] * len(hand.joint_names)))
        if count % 100 == 0:
            for child, publisher in poses.items():
                pose = PoseStamped()
                pose.header.frame_id, pose.pose.orientation.w = 'world', 1.0
                pose.pose.position.z = -0.115 if child == 'palm' else 0.0
                publisher.publish(pose)
        count += 1
        time.sleep(max(0.0, begin + count / rate - time.monotonic()))


def main(kind: str, number: str) -> None:
    """Disturb until interrupted."""
    rclpy.init()
    node = rclpy.create_node(f'fault_{kind}')
    try:
        if kind == 'flood':
            flood(node, float(number))
        else:
            Relay(node, int(number))
            rclpy.spin(node)
    except (KeyboardInterrupt, ExternalShutdownException, rclpy._rclpy_pybind11.RCLError):
        pass
    finally:
        with contextlib.suppress(RuntimeError):     # the signal handler may be at it just now
            rclpy.try_shutdown()


if __name__ == '__main__':
    main(*sys.argv[1:])
