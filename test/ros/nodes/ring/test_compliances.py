"""Own compliances beside the answers: one thread at a time, and what the stage says meanwhile."""

import gc
from threading import Event
from types import SimpleNamespace
import weakref

import pytest

pytest.importorskip('rclpy', reason='needs rclpy: `make setup`')
pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from gripsim_interfaces.msg import RingHeader  # noqa: E402
from suite_cases import wait_for  # noqa: E402

from gripsim_ros.ros.nodes.ring import deformation  # noqa: E402
from gripsim_ros.ros.nodes.ring.compliances import Compliances  # noqa: E402
from gripsim_ros.ros.nodes.ring.deformation import DeformationNode  # noqa: E402

#: For what must happen, on a busy machine [s].
PATIENCE = 60.0


class Body:
    """A body whose compliance is there, or not, once it is let."""

    warnings = ('too odd: half-spaces answer',)

    def __init__(self, answer=True):
        self.answer, self.let, self.count = answer, Event(), 0

    def prepare(self):
        self.count += 1
        assert self.let.wait(PATIENCE)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_each_is_prepared_once_and_one_after_the_other():
    told, first, second = [], Body(), Body(False)
    compliances = Compliances(told.append)
    asked = [compliances.of(body) for body in (first, second, first)]
    assert asked[0] is asked[2] and not any(known.done() for known in asked)
    first.let.set()
    assert asked[0].result(PATIENCE) is True
    second.let.set()
    assert asked[1].result(PATIENCE) is False
    assert (first.count, second.count, told) == (1, 1, [first, second])


def test_an_error_is_told_to_who_asks_and_ends_nothing():
    compliances, wrong, right = Compliances(lambda body: None), Body(MemoryError('full')), Body()
    known = compliances.of(wrong)
    wrong.let.set()
    with pytest.raises(MemoryError, match='full'):
        known.result(PATIENCE)
    right.let.set()
    assert compliances.of(right).result(PATIENCE) and compliances.since is None


def test_a_body_that_is_forgotten_is_not_kept():
    compliances, body = Compliances(lambda body: None), Body()
    body.let.set()
    compliances.of(body).result(PATIENCE)
    left = weakref.ref(body)
    del body
    assert wait_for(lambda: gc.collect() >= 0 and left() is None)      # its thread has ended


@pytest.fixture
def stage(monkeypatch):
    """Return the stage's way of answering, with what it would evaluate with."""
    node = SimpleNamespace(_compliances=Compliances(lambda body: None), hand=SimpleNamespace(
        link_names=(), joint_names=()), _failure=lambda ring, *told: told)
    monkeypatch.setattr(deformation, 'contacts_from_msg', lambda msg, *_: SimpleNamespace(
        configurations=SimpleNamespace(elasticity=msg)))
    monkeypatch.setattr(deformation, 'evaluate_contacts', lambda body, *_: 'states')
    monkeypatch.setattr(deformation, 'grasp_states_to_msg', lambda states, *_: states)
    return lambda elasticity, body: DeformationNode.answer(node, elasticity, body, None)


@pytest.mark.parametrize('found', [True, False])
def test_the_search_goes_on_while_it_is_prepared_and_the_second_stage_is_told(stage, found):
    body = Body(found)
    assert stage('', body) == stage('half_space', body) == 'states' and body.count == 0
    assert stage('half_space_first', body) == 'states'
    assert stage('body', body)[0] == RingHeader.PREPARING
    body.let.set()
    while (told := stage('body', body))[0] == RingHeader.PREPARING:
        pass
    assert told == ('states' if found else (RingHeader.NO_COMPLIANCE, body.warnings[-1]))
    assert stage('half_space_first', body) == 'states' and body.count == 1
