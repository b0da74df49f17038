"""Ask the recorded questions again, and compare the answers bit for bit."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np
from gripsim_interfaces.msg import GraspObject as GraspObjectMsg
from gripsim_interfaces.msg import GraspStates, HandConfigurations, RingHeader
from rclpy.serialization import deserialize_message

from ...core.bodies import GraspObject
from ...core.hand import HandModel
from ...core.pipeline import Pipeline
from ...library.in_process import link_shapes, mechanics_options
from ..conversions import configurations_from_msg, grasp_object_from_msg, grasp_states_to_msg
from .extras import RecordingError
from .mcap_file import read_messages

OBJECTS, QUESTIONS, ANSWERS = 'grasp_object', 'plan/hand_configurations', 'plan/grasp_states'
#: Objects held ready, and questions or answers that wait for their counterpart.
MOST_OBJECTS, MOST_WAITING = 2, 256
#: Differences that are told one by one.
MOST_DIFFERENCES = 20
#: Answers of a stage that has not got the object, or its own compliance, yet.
NOT_READY = (RingHeader.UNKNOWN_OBJECT, RingHeader.PREPARING)


class Ring(Protocol):
    """What answers questions: the stages in this process, or those of a running suite."""

    def answer(self, question: HandConfigurations, grasp_object: GraspObject) -> GraspStates:
        """Return the answer to a question about an object."""


@dataclass
class ReplayResult:
    """
    What a replay found.

    ``questions`` were recorded; ``identical`` were answered as then, to the last bit,
    ``different`` were not, and ``differences`` says where (at most ``MOST_DIFFERENCES``);
    ``unanswered`` have no answer in the recording, ``failed`` one that tells of a fault, and
    ``put_off`` one that the object was not ready yet, after which it was asked again.
    """

    questions: int = 0
    identical: int = 0
    different: int = 0
    unanswered: int = 0
    failed: int = 0
    put_off: int = 0
    differences: list[str] = field(default_factory=list)

    @property
    def same(self) -> bool:
        """Return whether some questions were compared, and all were answered as recorded."""
        return self.identical > 0 and self.different == 0


class InProcessRing:
    """
    The stages in this process.

    Parameters
    ----------
    hand : HandModel
    """

    def __init__(self, hand: HandModel) -> None:
        """Start without objects."""
        self._hand = hand
        self._pipelines: OrderedDict[str, Pipeline] = OrderedDict()

    def answer(self, question: HandConfigurations, grasp_object: GraspObject) -> GraspStates:
        """Return the answer to a question; an error becomes that of ``GripsimError``."""
        configurations = configurations_from_msg(question, len(self._hand.joint_names))
        states = self._pipeline(grasp_object).evaluate(configurations)
        return grasp_states_to_msg(states, configurations, question.ring)

    def _pipeline(self, grasp_object: GraspObject) -> Pipeline:
        pipeline = self._pipelines.pop(grasp_object.id, None) or Pipeline(
            self._hand, grasp_object, mechanics_options(), link_shapes(self._hand))
        self._pipelines[grasp_object.id] = pipeline
        while len(self._pipelines) > MOST_OBJECTS:
            self._pipelines.popitem(last=False)
        return pipeline


def replay(path: Path, hand: HandModel, ring: Ring,
           on_progress: Callable[[ReplayResult], None] = lambda result: None) -> ReplayResult:
    """
    Ask every question of a recording again and compare with the recorded answer.

    Parameters
    ----------
    path : Path
    hand : HandModel
        The one that the recording was made with.
    ring : Ring
    on_progress : callable, optional
        Called after each question.

    Returns
    -------
    ReplayResult

    Raises
    ------
    RecordingError
        The file cannot be read, was made with another hand, or lacks an object.
    """
    result, objects = ReplayResult(), _Objects(path)
    questions: OrderedDict[tuple, HandConfigurations] = OrderedDict()
    answers: OrderedDict[tuple, GraspStates] = OrderedDict()
    for message in read_messages(path, (QUESTIONS, ANSWERS)):
        asked = message.topic.endswith(QUESTIONS)
        msg = deserialize_message(message.data, HandConfigurations if asked else GraspStates)
        key, own, other = _key(msg.ring), *((questions, answers) if asked
                                            else (answers, questions))
        result.questions += asked
        if key in other:
            counterpart = other.pop(key)
            question, answer = (msg, counterpart) if asked else (counterpart, msg)
            _compare(question, answer, hand, ring, objects, result)
            on_progress(result)
        else:
            own[key] = msg
            while len(own) > MOST_WAITING:
                own.popitem(last=False)
    result.unanswered = result.questions - (
        result.identical + result.different + result.failed + result.put_off)
    return result


def differences(recorded: GraspStates, answered: GraspStates) -> list[str]:
    """Return the fields, but the ring's header, in which two answers are not equal bit for bit."""
    found = []
    for name in recorded.get_fields_and_field_types():
        if name == 'ring':
            continue
        before, now = np.asarray(getattr(recorded, name)), np.asarray(getattr(answered, name))
        if before.shape != now.shape:
            found.append(f'{name}: {before.size} values, now {now.size}')
        elif before.tobytes() != now.astype(before.dtype).tobytes():
            away = np.abs(before.astype(float) - now.astype(float))
            found.append(f'{name}: up to {np.nanmax(away, initial=0.0):.3g} away')
    return found


def _compare(question: HandConfigurations, recorded: GraspStates, hand: HandModel, ring: Ring,
             objects: '_Objects', result: ReplayResult) -> None:
    header = question.ring
    if recorded.ring.status != RingHeader.OK:
        waits = recorded.ring.status in NOT_READY
        result.put_off += waits
        result.failed += not waits
        return
    if header.hand_id != hand.id:
        raise RecordingError(f'recorded with a hand of the id {header.hand_id:.12}, but this is '
                             f'{hand.name} {hand.id:.12}: name its file')
    found = differences(recorded, ring.answer(question, objects.find(header.object_id)))
    result.identical += not found
    result.different += bool(found)
    if found and len(result.differences) < MOST_DIFFERENCES:
        result.differences.append(f'request {header.request_id}, batch {header.batch_id}: '
                                  + '; '.join(found))


class _Objects:
    """The objects of a recording, read when they are asked for; the last used are kept."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._objects: OrderedDict[str, GraspObject] = OrderedDict()

    def find(self, object_id: str) -> GraspObject:
        """Return an object by its hash; RecordingError where the file does not hold it."""
        if object_id not in self._objects:
            self._objects[object_id] = self._read(object_id)
        self._objects.move_to_end(object_id)
        while len(self._objects) > MOST_OBJECTS:
            self._objects.popitem(last=False)
        return self._objects[object_id]

    def _read(self, object_id: str) -> GraspObject:
        for message in read_messages(self._path, (OBJECTS,)):
            msg = deserialize_message(message.data, GraspObjectMsg)
            if msg.object_id == object_id:
                return grasp_object_from_msg(msg)
        raise RecordingError(f'{self._path} does not hold object {object_id}: record from before '
                             'the plan')


def _key(ring: RingHeader) -> tuple[str, str, int, int]:
    return ring.planner_id, ring.request_id, ring.batch_id, ring.attempt
