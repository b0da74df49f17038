"""
A stage of the ring as a node: a message in, the stage's answer out.

A stage's answer depends on the message and on the object and hand it names, alone;
what goes wrong is told in the answer's ring header, and later stages pass it on.
"""

import time
import traceback
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

from gripsim_interfaces.msg import GraspObject as GraspObjectMsg
from gripsim_interfaces.msg import RingHeader

from ....core.bodies import GraspObject
from ....core.errors import GripsimError
from ....core.memory import return_memory
from ...conversions import grasp_object_from_msg
from ...conversions.objects import LONGEST_LABEL
from ...conversions.ring.stages import RingMessageError
from ..base.health import Meter
from ..base.node_base import (
    AT_WORK, DROP_PERIOD, LARGE_MESH, LATCHED_OBJECTS, SuiteNode, latched, latest, one_line,
    reliable)
from ..base.parameters import NodeParameter, ParameterError
from .last_answers import LastAnswers, name_of

#: Messages that wait on the planner's side; at least twice the planners' credits.
PLAN_DEPTH = 16
#: Labels that are remembered.
MAX_LABELS = 4 * LATCHED_OBJECTS

#: Of stages that also answer by the rules of the papers.
PUBLISHED = NodeParameter('published', bool, 'Load what answers as printed need before it serves; '
                          'a question says by which rules.')
#: Who sends a stage what it answers.
ASKERS = {'forward_kinematics': 'grasp_planner', 'contact_detection': 'forward_kinematics',
          'deformation': 'contact_detection'}

STAGE_PARAMETERS = (
    NodeParameter('copies', int, 'How many copies of this stage share the work.', 1, 64),
    NodeParameter('copy', int, 'Which of them this is, from 0.', 0, 63),
    NodeParameter('object_cache', int, 'Objects held ready.', 1, LATCHED_OBJECTS))


class ObjectStore:
    """
    Objects by their content, as `grasp_object` told them; the newest are kept.

    ``prepare`` turns an object into what the stage works with; the results are kept
    for the objects used last. Both may be asked from several threads. Memory that large ones
    took is given back.
    """

    def __init__(self, prepare, prepared_count: int) -> None:
        """Start empty."""
        self._prepare = prepare
        self._prepared_count = prepared_count
        self._objects: OrderedDict[str, GraspObject] = OrderedDict()
        self._labels: OrderedDict[str, str] = OrderedDict()
        self._prepared: OrderedDict[str, object] = OrderedDict()
        self._lock, self._preparing = Lock(), Lock()

    def add(self, grasp_object: GraspObject) -> None:
        """
        Hold an object; beyond ``LATCHED_OBJECTS`` the oldest is forgotten.

        The same content may have several labels; a label is that of its newest object.
        """
        with self._lock:
            self._objects[grasp_object.id] = grasp_object
            self._make_newest(grasp_object)
            forgotten = self._oldest(self._objects, LATCHED_OBJECTS)
            for object_id in forgotten:
                self._prepared.pop(object_id, None)
        large = any(map(_is_large, forgotten.values()))
        forgotten.clear()
        if large:
            return_memory()

    def add_message(self, msg: GraspObjectMsg) -> None:
        """
        Hold the object of a message; one that is held already is not read again.

        Raises
        ------
        GripsimError
            It cannot be used.
        """
        if not self.renew(msg.object_id, msg.label):
            self.add(grasp_object_from_msg(msg))
        if len(msg.faces) > 3 * LARGE_MESH:
            return_memory()

    def renew(self, object_id: str, label: str) -> bool:
        """Make an object the newest that is held under this label; tell whether there is one."""
        with self._lock:
            grasp_object = self._objects.get(object_id)
            if grasp_object is None or grasp_object.label != label:
                return False
            self._make_newest(grasp_object)
            return True

    def _make_newest(self, grasp_object: GraspObject) -> None:
        self._objects.move_to_end(grasp_object.id)
        if grasp_object.label:
            self._labels[grasp_object.label] = grasp_object.id
            self._labels.move_to_end(grasp_object.label)
            self._oldest(self._labels, MAX_LABELS)

    @staticmethod
    def _oldest(kept: OrderedDict, count: int) -> dict:
        """Take out and return what comes before the last ``count`` entries."""
        return dict(kept.popitem(last=False) for _ in range(len(kept) - count))

    def prepared(self, object_id: str):
        """Return what the stage works with, or None where the object is not known."""
        found = self._find_prepared(object_id)
        if found is not None:
            return found
        with self._preparing:       # whoever comes second finds what the first has made
            found = self._find_prepared(object_id)
            grasp_object = self._objects.get(object_id)
            if found is not None or grasp_object is None:
                return found
            found = self._prepare(grasp_object)
            with self._lock:
                self._prepared[object_id] = found
                forgotten = self._oldest(self._prepared, self._prepared_count)
                large = [held for held in map(self._objects.get, forgotten) if _is_large(held)]
            forgotten.clear()
        for held in large:
            held.mesh.clear_derived()
        if large or _is_large(grasp_object):
            return_memory()
        return found

    def _find_prepared(self, object_id: str):
        with self._lock:
            if object_id in self._prepared:
                self._prepared.move_to_end(object_id)
            return self._prepared.get(object_id)

    def prepare_newest(self, object_id: str) -> None:
        """Prepare an object before it is asked for, unless a newer one has come already."""
        with self._lock:
            newest = next(reversed(self._objects), None)
        if newest == object_id:
            self.prepared(object_id)

    def find(self, name: str) -> GraspObject | None:
        """Return the object with this hash or this label; '' = the newest."""
        with self._lock:
            if not name:
                return next(reversed(self._objects.values()), None)
            return self._objects.get(name) or self._objects.get(self._labels.get(name, ''))

    def __len__(self) -> int:
        """Return how many objects are held."""
        return len(self._objects)


def _is_large(grasp_object: GraspObject | None) -> bool:
    return grasp_object is not None and len(grasp_object.mesh.faces) > LARGE_MESH


class StageNode(SuiteNode):
    """
    Base of the three stages.

    Subclasses name themselves and their topics, and override ``prepare`` and
    ``answer``. The planner's and the live messages have topics, queues and threads
    of their own, so that neither waits for the other.
    """

    NAME = ''
    INPUT = (None, '')
    OUTPUT = (None, '')
    NEEDS_OBJECT = True
    HAS_LIVE_INPUT = True

    def __init__(self, parameters=(), **kwargs) -> None:
        """Join the ring."""
        super().__init__(self.NAME, (*STAGE_PARAMETERS, *parameters), **kwargs)
        if self.values['copy'] >= self.values['copies']:
            raise ParameterError(f'parameter copy must be below copies, got '
                                 f'{self.values["copy"]} of {self.values["copies"]}')
        self.objects = ObjectStore(self.prepare, self.values['object_cache'])
        self._ahead = ThreadPoolExecutor(1, 'ahead')
        self.meters = {'plan': Meter(), 'live': Meter()}
        self._last_answers = LastAnswers(PLAN_DEPTH)
        self._working_since: float | None = None
        self.dropped = 0
        self._publishers_by_side = {}
        self.create_subscription(GraspObjectMsg, 'grasp_object', self._on_object,
                                 latched(LATCHED_OBJECTS), callback_group=self.housekeeping)
        for side, quality in (('plan', reliable(PLAN_DEPTH)), ('live', latest())):
            self._join(side, quality)

    def _join(self, side: str, quality) -> None:
        output_type, output_topic = self.OUTPUT
        self._publishers_by_side[side] = self.create_publisher(
            output_type, f'{side}/{output_topic}', quality)
        if side == 'live' and not self.HAS_LIVE_INPUT:
            return
        input_type, input_topic = self.INPUT
        self.read_ring(input_type, f'{side}/{input_topic}', quality,
                       lambda msg, info: self._on_input(side, msg, info))

    def prepare(self, grasp_object: GraspObject):
        """Return what ``answer`` works with for this object."""
        return grasp_object

    def answer(self, msg, prepared, ring: RingHeader):
        """Return the answer to a message; pure."""
        raise NotImplementedError

    def on_answered(self, side: str, msg, answer) -> None:
        """Do what is to be done beside answering, such as markers."""

    def publish(self, side: str, answer) -> None:
        """Send an answer, or a live batch, on its way round the ring."""
        self._publishers_by_side[side].publish(answer)

    def _on_object(self, msg: GraspObjectMsg) -> None:
        try:
            self.objects.add_message(msg)
            if self.NEEDS_OBJECT and self.active:
                self._ahead.submit(self.objects.prepare_newest, msg.object_id)
        except Exception as error:
            self.report_error(f'object {msg.label[:LONGEST_LABEL]!r} refused: {one_line(error)}')

    def _on_input(self, side: str, msg, info: dict) -> None:
        ring = msg.ring
        if not self.active or (ring.batch_id + ring.attempt) % self.values['copies'] != \
                self.values['copy']:
            return
        started = time.monotonic()
        wait = max(0.0, 1e-9 * (time.time_ns() - info['received_timestamp']))
        try:
            answer = self._answer_once(msg) if side == 'plan' else self._answer_or_failure(msg)
        except RingMessageError as error:
            self._drop(f'{side}/{self.INPUT[1]}', one_line(error))
            return
        self.publish(side, answer)
        self.meters[side].add(time.monotonic() - started, wait)
        if answer.ring.status == RingHeader.OK:
            self.on_answered(side, msg, answer)

    def _drop(self, topic: str, text: str) -> None:
        """Leave a message that no stage sends without an answer: who asked will ask again."""
        self.dropped += 1
        self.last_error = f'a message of {topic} was dropped: {text}'
        self.get_logger().warning(self.last_error, throttle_duration_sec=DROP_PERIOD,
                                  throttle_time_source_type=self.steady)

    def _answer_once(self, msg):
        """Return the answer to a question of the planner; one that is repeated is kept."""
        name, attempt = name_of(msg.ring), msg.ring.attempt
        known = self._last_answers.find(msg) if attempt else None
        if known is not None:
            known.ring.attempt = attempt
            return known
        self._working_since = time.monotonic()
        try:
            answer = self._answer_or_failure(msg)
        finally:
            self._working_since = None
        if answer.ring.status == RingHeader.OK:
            self._last_answers.keep(name, msg, answer)
        return answer

    def _answer_or_failure(self, msg):
        """
        Return the answer, or what stands in its way; the node outlives every error.

        Raises
        ------
        RingMessageError
            The message is none of the stage before; it is not to be answered.
        """
        ring = msg.ring
        if ring.status != RingHeader.OK:
            return self.OUTPUT[0](ring=ring)
        if ring.hand_id != self.hand.id:
            return self._failure(ring, RingHeader.HAND_MISMATCH,
                                 f'holds hand {self.hand.id}, asked for {ring.hand_id}')
        try:
            prepared = self.objects.prepared(ring.object_id) if self.NEEDS_OBJECT else None
            if self.NEEDS_OBJECT and prepared is None:
                return self._failure(ring, RingHeader.UNKNOWN_OBJECT,
                                     f'does not hold object {ring.object_id}')
            return self.answer(msg, prepared, self._stamped(ring))
        except RingMessageError:
            raise
        except Exception as error:
            if not isinstance(error, GripsimError):
                self.get_logger().error(traceback.format_exc())
            self.report_error(one_line(error))
            return self._failure(ring, RingHeader.FAILED, one_line(error))

    def _stamped(self, ring: RingHeader) -> RingHeader:
        ring.stamp = self.get_clock().now().to_msg()
        return ring

    def _failure(self, ring: RingHeader, status: int, message: str):
        ring.status, ring.stage, ring.message = status, self.NAME, message
        return self.OUTPUT[0](ring=self._stamped(ring))

    def _at_work_since(self) -> float | None:
        """Return since when it computes what is waited for; None where nothing is."""
        return self._working_since

    def diagnose(self) -> tuple[str, dict[str, object]]:
        """Return rates and laps of both sides."""
        since = self._at_work_since()
        values = {'objects': len(self.objects), 'messages dropped': self.dropped,
                  AT_WORK: 'no' if since is None else f'{time.monotonic() - since:.1f} s'}
        for side, meter in self.meters.items():
            values.update({f'{side} {key}': value for key, value in meter.read().items()})
        topic = f'plan/{self.INPUT[1]}'
        waits = '' if self.count_publishers(topic) else (
            f'waiting for {ASKERS[self.NAME]}, which publishes {topic}')
        return waits, values
