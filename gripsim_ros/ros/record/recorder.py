"""Listens to a suite and writes what it hears to an MCAP file."""

import time
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from gripsim_interfaces.msg import (
    Contacts, GraspObject, GraspStates, HandConfigurations, LinkStates, TactileFrame)
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from visualization_msgs.msg import MarkerArray

from ... import __version__
from ...core.hand import HandModel
from ...library.resources import own_hand_file
from ..clients.connection import Connection
from .mcap_file import RecordingWriter

#: Messages of a topic that may wait to be written; a batch has 256 kB at most.
DEPTH = 128
#: Silence after which nothing is still on its way when recording ends, and at most [s].
LAST_MESSAGES, MOST_WAIT = 0.5, 10.0

POLL_PERIOD = 0.05
#: Name of a node whose publisher was discovered before the node itself.
UNKNOWN_NODE = '_NODE_NAME_UNKNOWN_'

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
    Topic('closing/arm_markers', MarkerArray, LATCHED),
    Topic('execution/markers', MarkerArray, BEST_EFFORT), Topic('plan/told', String, LATCHED),
    Topic('joint_states', JointState, BEST_EFFORT), Topic('tactile', TactileFrame, BEST_EFFORT),
    Topic('/diagnostics', DiagnosticArray))
#: Frames, where their messages are installed.
FRAMES = (('/tf', RELIABLE), ('/tf_static', LATCHED))
#: What every node of the suite says once a second; see ``Recorder.missing``.
SIGN_OF_LIFE = '/diagnostics'
#: Topics of the ring, and the stages that publish them.
RING = {'plan/hand_configurations': 'grasp_planner', 'plan/link_states': 'forward_kinematics',
        'plan/contacts': 'contact_detection', 'plan/grasp_states': 'deformation'}


class Recorder(Connection):
    """
    Records the topics of a suite from ``__enter__`` to ``__exit__``.

    Messages are written as they came off the wire, in a thread of the recorder's own.

    Parameters
    ----------
    path : Path
    hand : HandModel
        Named in the file, until the suite's nodes tell theirs.
    namespace : str
        Of the suite.
    apart : str
        Namespace of a second one, whose topics are recorded, too; '' for none.
    """

    def __init__(self, path: Path, hand: HandModel, namespace: str = '', apart: str = '') -> None:
        """Open the file and listen."""
        self._metadata = {'version': __version__, 'hand': hand.id, 'hand_name': hand.name,
                          'hand_file': own_hand_file(hand)}
        self._writer = RecordingWriter(path, self._metadata)
        self._spaces, self._hand_told = {namespace.strip('/'), apart}, False
        self.counts = self._writer.counts
        self.error: Exception | None = None
        self._closing = False
        super().__init__(namespace, 'gripsim_record')
        self._subscriptions: dict[str, Subscription] = {}
        self._heard: set[str] = set()
        self._end, self._last = float('inf'), 0.0
        for topic in (TOPICS if apart else ()):
            if not topic.name.startswith('/'):
                self._record(replace(topic, name=f'/{apart}/{topic.name}'))
        for topic in sorted((*TOPICS, *frame_topics()), key=lambda t: t.name == SIGN_OF_LIFE):
            self._record(topic)

    def _record(self, topic: Topic) -> None:
        name = self.node.resolve_topic_name(topic.name)

        def keep(data: bytes, info: dict) -> None:
            now = time.time_ns()
            sent = info['source_timestamp'] or now
            self._writer.write(name, topic.kind, data, now, sent)
            if sent < self._end:
                self._last = time.monotonic()
            if topic.name == SIGN_OF_LIFE:
                for status in deserialize_message(data, DiagnosticArray).status:
                    self._heard.add(status.name)
                    self._note_hand(status)
        self._subscriptions[topic.name] = self.node.create_subscription(
            topic.kind, topic.name, keep, _quality(topic.quality), raw=True)

    def _note_hand(self, status: DiagnosticStatus) -> None:
        """Name the hand that the first node of the suite tells, where it is another one."""
        told = {value.key: value.value for value in status.values}
        name, _, identity = told.get('hand', '').rpartition(' ')
        if self._hand_told or not name or status.name.rpartition('/')[0] not in self._spaces:
            return
        self._hand_told = True
        if not self._metadata['hand'].startswith(identity):
            self._metadata |= {'hand': identity, 'hand_name': name,
                               'hand_file': told.get('hand file', '')}
            self._writer.tell(self._metadata)

    def missing(self) -> list[str]:
        """
        Return what is not recorded yet: nodes of the ring, each as ``name`` or with the reason.

        Whether a node sends what it publishes to this recorder is known to that node alone: it
        must have discovered the recorder's subscriptions. DDS announces them in the order in
        which they were made, and the one to ``/diagnostics`` was made last, so that a node whose
        diagnostics have come has found them all.
        """
        living = self._publishers(SIGN_OF_LIFE)
        missing = []
        for topic, stage in RING.items():
            there = self._publishers(topic)
            missing += [] if there else [stage]
            missing += sorted((there & living) - self._heard)
            if UNKNOWN_NODE in there | living or (
                    self._subscriptions[topic].get_publisher_count() < len(there)):
                missing.append(f'discovery of {topic}')
        return list(dict.fromkeys(missing))

    def _publishers(self, topic: str) -> set[str]:
        """Return the nodes that publish a topic, as diagnostics name them."""
        found = self.node.get_publishers_info_by_topic(self.node.resolve_topic_name(topic))
        return {UNKNOWN_NODE if end.node_name == UNKNOWN_NODE
                else f'{end.node_namespace.rstrip("/")}/{end.node_name}'.lstrip('/')
                for end in found}

    def __enter__(self) -> 'Recorder':
        """Begin."""
        self._listen()
        return self

    def __exit__(self, *_) -> None:
        """Take what is still on its way, then finish the file."""
        try:
            self._await_last()
        finally:
            self._closing = True
            self.close()
            self._writer.close()

    def _await_last(self) -> None:
        """Return once what was sent until now has come: after a silence of ``LAST_MESSAGES``."""
        self._end, self._last = time.time_ns(), time.monotonic()
        latest = self._last + MOST_WAIT
        while self.error is None and time.monotonic() < min(self._last + LAST_MESSAGES, latest):
            time.sleep(POLL_PERIOD)

    def _spin(self) -> None:
        try:
            super()._spin()
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
