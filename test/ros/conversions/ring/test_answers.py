"""What the planner takes as an answer: what fits its question, with numbers as agreed."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from gripsim_interfaces.msg import RingHeader  # noqa: E402
from stage_cases import SILICONE, contact_batch, three_fingers  # noqa: E402

from gripsim_ros.core.batches import DETAIL_SURFACE, ContactBatch, GraspStateBatch  # noqa: E402
from gripsim_ros.core.bodies import GraspObject, shapes  # noqa: E402
from gripsim_ros.core.fields import shapes_of  # noqa: E402
from gripsim_ros.core.hand import compute_link_states  # noqa: E402
from gripsim_ros.core.mechanics import ElasticBody, evaluate_contacts  # noqa: E402
from gripsim_ros.library.resources import load_default_hand  # noqa: E402
from gripsim_ros.ros import conversions  # noqa: E402
from gripsim_ros.ros.conversions.ring import finite  # noqa: E402
from gripsim_ros.ros.conversions.ring.answers import misfit, read_answer  # noqa: E402
from gripsim_ros.ros.conversions.ring.stages import RingMessageError  # noqa: E402

HAND = load_default_hand()


@pytest.fixture(scope='module')
def contacts():
    """Return contacts of a hand that holds the ball, one that touches it once, and an open one."""
    return contact_batch(HAND, [three_fingers(), three_fingers()[:1], []], detail=DETAIL_SURFACE)


@pytest.fixture(scope='module')
def body():
    return GraspObject(shapes.sphere(0.03, 0.008), SILICONE)


@pytest.fixture(scope='module')
def states(contacts, body):
    found = evaluate_contacts(ElasticBody(body), HAND, contacts)
    assert found.capable.tolist() == [True, False, False]
    return found


@pytest.fixture
def answer(contacts, body, states):
    """Return an honest answer."""
    return conversions.grasp_states_to_msg(
        states, contacts.configurations, RingHeader(object_id=body.id, hand_id=HAND.id))


def judge(answer, contacts, body):
    _, malformed = read_answer(answer)
    return malformed or misfit(answer, contacts.configurations, body.id, HAND)


def test_an_honest_answer_fits(answer, contacts, body):
    assert judge(answer, contacts, body) == ''
    answer.ring.status = RingHeader.FAILED
    assert read_answer(answer) == (None, '') and judge(answer, contacts, body) == ''


@pytest.mark.parametrize('status', [RingHeader.OK, RingHeader.FAILED, RingHeader.UNKNOWN_OBJECT])
@pytest.mark.parametrize('name', ['object_id', 'hand_id'])
def test_an_answer_about_another_object_or_hand_does_not_fit(
        answer, contacts, body, name, status):
    answer.ring.status = status
    setattr(answer.ring, name, 'foreign')
    assert name.removesuffix('_id') in judge(answer, contacts, body)


@pytest.mark.parametrize('status', [RingHeader.PREPARING, RingHeader.NO_COMPLIANCE])
def test_a_word_on_a_compliance_fits_only_where_it_was_asked_for(answer, contacts, body, status):
    answer.ring.status = status
    assert 'not asked for' in judge(answer, contacts, body)
    asked = replace(contacts.configurations, elasticity='body')
    assert misfit(answer, asked, body.id, HAND) == ''


def test_an_answer_to_another_question_does_not_fit(answer, contacts, body):
    asked = contacts.configurations
    palm, joints = asked.T_object_palm.copy(), asked.joint_positions.copy()
    palm[0, 0, 3] += 1e-9
    joints[-1, -1] += 1e-9
    for change in ({'detail': 1}, {'T_object_palm': palm}, {'joint_positions': joints}):
        other = replace(contacts, configurations=replace(asked, **change))
        assert list(change)[0].lower() in judge(answer, other, body)


def test_an_answer_with_another_number_of_configurations_does_not_fit(answer, contacts, body):
    asked = contacts.configurations
    fewer = replace(asked, **{name: getattr(asked, name)[:2] for name in (
        'T_object_palm', 'joint_positions', 'joint_displacements', 'sweep_object',
        'settled_object')})
    assert 'configurations' in judge(answer, replace(contacts, configurations=fewer), body)


def spoilt(batch, name, value):
    """Return a batch with the first number of a field that is no finite one."""
    numbers = getattr(batch, name).copy()
    numbers.flat[0] = value
    return replace(batch, **{name: numbers})


def float_fields(kind):
    return [name for name in shapes_of(kind) if not name.endswith(('offsets', 'links', 'flags'))]


@pytest.mark.parametrize('value', [np.nan, np.inf, -np.inf])
def test_numbers_that_must_be_finite_are_refused_and_no_others(contacts, states, value):
    for name in float_fields(GraspStateBatch):
        if getattr(states, name).dtype.kind != 'f':
            continue
        msg = conversions.grasp_states_to_msg(
            spoilt(states, name, value), contacts.configurations, RingHeader())
        allowed = (name in finite.MAY_BE_NAN if np.isnan(value)
                   else name in finite.MAY_BE_INFINITE and value > 0.0)
        assert (read_answer(msg)[1] == '') == allowed, name


@pytest.mark.parametrize('value', [np.nan, -np.inf])
def test_stages_refuse_numbers_of_the_stage_before_that_are_not_finite(contacts, value):
    links = compute_link_states(HAND, contacts.configurations)
    for batch, write, read in (
            (links, conversions.link_states_to_msg, conversions.link_states_from_msg),
            (contacts, conversions.contacts_to_msg, conversions.contacts_from_msg)):
        read(write(batch, RingHeader()))
        for name in float_fields(type(batch)):
            if not getattr(batch, name).size:
                continue
            with pytest.raises(RingMessageError, match=name.lower()):
                read(write(spoilt(batch, name, value), RingHeader()))


def test_what_may_be_no_finite_number_is_a_field():
    known = {*shapes_of(GraspStateBatch), *shapes_of(ContactBatch)}
    assert finite.MAY_BE_NAN | finite.MAY_BE_INFINITE | finite.OF_CAPABLE_ROWS <= known
