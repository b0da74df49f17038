"""
The four nodes in one process, in an executor of your own: ``python examples/one_process.py``.

A parameter file and remappings go after ``--ros-args``, as for any node; without any, the
package's own parameters hold. Each node loads its kernels in ``start()``; then the suite answers
until Ctrl-C. Processes of their own (``gripsim suite up``, the launch file) plan faster, since
Python's lock lets one thread of a process at a time out of compiled code, and they fail alone.
"""

import signal
import sys
import threading

from gripsim_ros.library.resources import share_directory
from gripsim_ros.ros.nodes.planner.grasp_planner import GraspPlannerNode
from gripsim_ros.ros.nodes.ring.contact_detection import ContactDetectionNode
from gripsim_ros.ros.nodes.ring.deformation import DeformationNode
from gripsim_ros.ros.nodes.ring.forward_kinematics import ForwardKinematicsNode
import rclpy
from rclpy.executors import MultiThreadedExecutor
from rclpy.signals import SignalHandlerOptions

KINDS = (ForwardKinematicsNode, ContactDetectionNode, DeformationNode, GraspPlannerNode)
ENDING = {signal.SIGINT, signal.SIGTERM}
#: Threads for services, timers and subscriptions; the topics of the ring have their own.
THREADS = 8
#: For callbacks under way to end [s].
PATIENCE = 2.0


def main():
    """Start the nodes, serve until SIGINT or SIGTERM, and end them in order."""
    # Kept for `sigwait`: no thread is interrupted, wherever it is.
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    own = ['--ros-args', '--params-file', str(share_directory() / 'config' / 'params.yaml')]
    rclpy.init(args=[*own, *sys.argv[1:]], signal_handler_options=SignalHandlerOptions.NO)
    nodes, executor = [kind() for kind in KINDS], MultiThreadedExecutor(THREADS)
    for node in nodes:
        executor.add_node(node)
    spinning = threading.Thread(target=executor.spin, daemon=True)
    spinning.start()
    for node in nodes:
        node.start()
    print('ready', flush=True)
    signal.sigwait(ENDING)
    for node in nodes:
        node.close()
    executor.shutdown(PATIENCE)
    for node in nodes:
        node.destroy_node()
    rclpy.shutdown()
    # Python would end a thread that is still in ROS, which ends the process with an error.
    spinning.join(PATIENCE)


if __name__ == '__main__':
    main()
