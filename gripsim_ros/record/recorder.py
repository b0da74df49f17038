"""Listens to a suite and writes what it hears to an MCAP file."""

import threading
import time
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from gripsim_interfaces.msg import (
    Contacts, GraspObject, GraspStates, HandConfigurations, LinkStates, TactileFrame)
from rclpy.executors import ExternalShutdownException, ShutdownException, SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from visualization_msgs.msg import MarkerArray

from .. import __version__
from ..core.hand import HandModel
from .mcap_file import RecordingWriter

#: Messages of a topic that may wait to be written; a batch has 256 kB at most.
DEPTH = 128
#: Time given to messages that are still on their way when recording ends [s].
LAST_MESSAGES = 0.5

RELIABLE, LATCHED, BEST_EFFORT = range(3)


@dataclass(frozen=True)
class Topic:
    """A topic that is recorded: relative name, type, and how it is listened to."""

    name: str
    kind: type
    quality: int = RELIABLE


#: What is recorded of a suite.
TOPICS = (
    Topic('grasp_object', GraspObject, LATCHED),
    Topic('plan/hand_configurations', HandConfigurations), Topic('plan/link_states', LinkStates),
    Topic('plan/contacts', Contacts), Topic('plan/grasp_states', GraspStates),
    Topic('live/link_states', LinkStates, BEST_EFFORT),
    Topic('live/contacts', Contacts, BEST_EFFORT),
    Topic('live/grasp_states', GraspStates, BEST_EFFORT),
    Topic('live/markers', MarkerArray, BEST_EFFORT),
    Topic('ranked_grasps', MarkerArray, LATCHED), Topic('plan/markers', MarkerArray, LATCHED),
    Topic('closing/markers', MarkerArray, LATCHED),
    Topic('joint_states', JointState, BEST_EFFORT), Topic('tactile', TactileFrame, BEST_EFFORT),
    Topic('/diagnostics', DiagnosticArray))
#: Frames, where their messages are installed.
FRAMES = (('/tf', RELIABLE), ('/tf_static', LATCHED))


class Recorder:
    """
    Records the topics of a suite from ``__enter__`` to ``__exit__``.

    Messages are written as they came off the wire, in a thread of the recorder's own.

    Parameters
    ----------
    path : Path
    hand : HandModel
        Named in the file.
    namespace : str
        Of the suite.
    """

    def __init__(self, path: Path, hand: HandModel, namespace: str = '') -> None:
        """Open the file and listen."""
        self._writer = RecordingWriter(path, {'version': __version__, 'hand': hand.id})
        self.counts = self._writer.counts
        self.error: Exception | None = None
        self._closing = False
        self._context = rclpy.Context()
        rclpy.init(context=self._context, signal_handler_options=rclpy.SignalHandlerOptions.NO)
        self._node = rclpy.create_node('gripsim_record', context=self._context,
                                       namespace=namespace)
        self._executor = SingleThreadedExecutor(context=self._context)
        for topic in (*TOPICS, *frame_topics()):
            self._listen(topic)
        self._executor.add_node(self._node)
        self._thread = threading.Thread(target=self._spin, name='gripsim_record', daemon=True)

    def _listen(self, topic: Topic) -> None:
        name = self._node.resolve_topic_name(topic.name)

        def keep(data: bytes, info: dict) -> None:
            now = time.time_ns()
            self._writer.write(name, topic.kind, data, now, info['source_timestamp'] or now)
        self._node.create_subscription(topic.kind, topic.name, keep, _quality(topic.quality),
                                       raw=True)

    def __enter__(self) -> 'Recorder':
        """Begin."""
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        """Take what is still on its way, then finish the file."""
        try:
            time.sleep(LAST_MESSAGES)
        finally:
            self._closing = True
            self._executor.shutdown(1.0)
            self._context.try_shutdown()
            self._thread.join(2.0)
            self._writer.close()

    def _spin(self) -> None:
        try:
            self._executor.spin()
        except (ExternalShutdownException, ShutdownException):
            pass
        except Exception as error:      # a full disk, say: told by whoever waits
            self.error = None if self._closing else error


def frame_topics() -> list[Topic]:
    """Return the topics of frames; none where tf2_msgs is not installed."""
    try:
        kind = import_module('tf2_msgs.msg').TFMessage
    except ImportError:
        return []
    return [Topic(name, kind, quality) for name, quality in FRAMES]


def _quality(kind: int) -> QoSProfile:
    return QoSProfile(
        depth=DEPTH,
        reliability=ReliabilityPolicy.BEST_EFFORT if kind == BEST_EFFORT
        else ReliabilityPolicy.RELIABLE,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if kind == LATCHED
        else DurabilityPolicy.VOLATILE)
