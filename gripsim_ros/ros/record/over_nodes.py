"""The recorded questions, asked of a running suite."""

import os
import socket
import time
from itertools import count

from gripsim_interfaces.msg import GraspObject as GraspObjectMsg
from gripsim_interfaces.msg import GraspStates, HandConfigurations, RingHeader

from ...core.bodies import GraspObject
from ..clients.connection import Connection
from ..conversions import grasp_object_to_msg
from ..environment import patience
from ..nodes.base.node_base import LATCHED_OBJECTS, latched, reliable
from .extras import RecordingError
from .replay import ANSWERS, OBJECTS, QUESTIONS

#: Time until a question is asked again, how often at most, and between two looks [s].
ANSWER_TIMEOUT, MOST_ATTEMPTS, POLL_PERIOD = 10.0, 5, 0.01
#: Time until a stage that lacks the object is asked again [s].
OBJECT_DELAY = 0.2
#: Time in which the stages must be discovered [s].
DISCOVERY_TIMEOUT = 10.0 * patience()


class SuiteRing(Connection):
    """
    The stages of a running suite, asked as a planner asks them, one question at a time.

    Parameters
    ----------
    namespace : str
        Of the suite.

    Raises
    ------
    RecordingError
        No stages are found.
    """

    def __init__(self, namespace: str = '') -> None:
        """Join the ring under a planner's name of its own."""
        super().__init__(namespace, 'gripsim_replay')
        self._planner_id = f'replay-{socket.gethostname()}-{os.getpid()}'
        self._numbers, self._sent = count(), set()
        self._answers: dict[tuple[int, int], GraspStates] = {}
        self._objects = self.node.create_publisher(GraspObjectMsg, OBJECTS,
                                                   latched(LATCHED_OBJECTS))
        self._questions = self.node.create_publisher(HandConfigurations, QUESTIONS, reliable(8))
        self.node.create_subscription(GraspStates, ANSWERS, self._on_answer, reliable(8))

    def __enter__(self) -> 'SuiteRing':
        """Return once the stages have been discovered."""
        end = time.monotonic() + DISCOVERY_TIMEOUT
        while not (self._questions.get_subscription_count()
                   and self.node.count_publishers(ANSWERS)):
            if time.monotonic() > end:
                self.close()
                raise RecordingError(f'no stages were found within {DISCOVERY_TIMEOUT:g} s: is '
                                     'the suite up (`gripsim suite up`), and in this ROS domain?')
            self.look(POLL_PERIOD)
        return self

    def answer(self, question: HandConfigurations, grasp_object: GraspObject) -> GraspStates:
        """Return the answer of the stages; RecordingError where there is none."""
        self._publish(grasp_object)
        batch = next(self._numbers)
        for attempt in range(MOST_ATTEMPTS):
            question.ring = RingHeader(
                stamp=self.node.get_clock().now().to_msg(), planner_id=self._planner_id,
                request_id='replay', batch_id=batch, attempt=attempt,
                object_id=grasp_object.id, hand_id=question.ring.hand_id)
            self._questions.publish(question)
            answer = self._wait(batch, attempt)
            if answer is None:
                continue
            if answer.ring.status == RingHeader.OK:
                return answer
            if answer.ring.status != RingHeader.UNKNOWN_OBJECT:
                raise RecordingError(f'{answer.ring.stage}: {answer.ring.message}')
            self._sent.discard(grasp_object.id)
            self._publish(grasp_object)
            time.sleep(OBJECT_DELAY)
        raise RecordingError(f'the stages did not answer within {MOST_ATTEMPTS} attempts of '
                             f'{ANSWER_TIMEOUT:g} s')

    def _publish(self, grasp_object: GraspObject) -> None:
        if grasp_object.id not in self._sent:
            self._objects.publish(grasp_object_to_msg(grasp_object))
            self._sent.add(grasp_object.id)

    def _wait(self, batch: int, attempt: int) -> GraspStates | None:
        end = time.monotonic() + ANSWER_TIMEOUT
        while (batch, attempt) not in self._answers and time.monotonic() < end:
            self.look(POLL_PERIOD)
        return self._answers.pop((batch, attempt), None)

    def _on_answer(self, msg: GraspStates) -> None:
        if msg.ring.planner_id == self._planner_id:
            self._answers[(msg.ring.batch_id, msg.ring.attempt)] = msg
