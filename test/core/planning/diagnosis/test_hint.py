"""Hints why there is no grasp: which sentence follows from which numbers."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
from plan_cases import plan_by_half_spaces
import pytest

from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.planning import rejections
from gripsim_ros.core.planning.diagnosis.hint import explain_no_grasp
from gripsim_ros.core.planning.ranked_grasp import NearestMiss
from gripsim_ros.core.planning.ranking.score import ScoreReference
from gripsim_ros.library.resources import load_default_hand

REFERENCE = ScoreReference(load=2.0, friction=0.5, radius=0.1, max_pressure=2e5,
                           load_cases=np.zeros((0, 9)), mass=0.2)
#: The only reason of the rejected hypotheses, unless told otherwise.
REASON = rejections.CANNOT_BALANCE


@pytest.fixture(scope='module')
def hand():
    return load_default_hand()


@pytest.fixture(scope='module')
def ball():
    """Return a ball of 70 mm whose own limit of pressure is the least."""
    return GraspObject(shapes.sphere(0.035, 0.01), Material(1e6, 0.4, 1000.0, 0.5,
                                                            max_pressure=2e5))


def miss_of(**changes):
    """Return a nearest miss that needs more force than its pads carry."""
    values = {
        'reason': REASON, 'hypothesis': 0, 'preshape': 'spherical', 'T_object_palm': np.eye(4),
        'joint_positions': np.zeros(7), 'links': ('sdh_thumb_3_link',), 'capable': False,
        'margin': 0.25, 'friction': 0.5, 'needed_friction': np.inf, 'needed_force': 30.0,
        'allowed_force': 40.0, 'held_share': 0.75, 'peak_pressure': 1.5e5, 'max_pressure': 2e5}
    return NearestMiss(**{**values, **changes})


def hint(ball, hand, miss, rejected=None):
    """Return what is told of a nearest miss."""
    return explain_no_grasp(ball, hand, REFERENCE, rejected or {REASON: 4}, miss)


def test_where_nothing_was_rejected_no_hand_finds_places(ball, hand):
    assert explain_no_grasp(ball, hand, REFERENCE, {}, None).startswith(
        'no open hand finds opposed places to press')


@pytest.mark.parametrize('reason, said', [
    (rejections.OUTSIDE_REGION, 'the regions allowed for contacts are too small'),
    (rejections.SURROUNDINGS_COLLIDE, 'obstacles or regions to keep out of are in the way')])
def test_the_most_frequent_reason_is_told_with_its_share(ball, hand, reason, said):
    rejected = {REASON: 2, reason: 3}
    assert hint(ball, hand, miss_of(), rejected) == f'{said}: 3 of 5 hypotheses, {reason}'


@pytest.mark.parametrize('miss', [None, miss_of(links=())])
def test_where_no_finger_pressed_the_hint_says_so(ball, hand, miss):
    assert hint(ball, hand, miss, {REASON: 3, rejections.PRESSES_THROUGH: 1}) == (
        f'no finger came to press: 3 of 4 hypotheses, {REASON}')


def test_a_force_that_a_link_may_not_pass_is_told_with_what_is_needed(ball, hand):
    fragile = GraspObject(ball.mesh, replace(ball.material, max_force=1.5))
    reference = replace(REFERENCE, force_limit=1.5)
    said = explain_no_grasp(fragile, hand, reference, {REASON: 4}, miss_of(
        needed_force=1.75, allowed_force=1.4))
    assert said == ('too fragile: the load is 2 N, of which the nearest miss holds at most 1.5 N; '
                    'friction alone would need 1.75 N at a contact, of which limits of 1.5 N of a '
                    'link and 200 kPa allow 1.4 N')
    pressing = SimpleNamespace(link='sdh_thumb_3_link', force=np.array([0.0, 0.0, 1.4]),
                               normal=np.array([0.0, 0.0, 1.0]))
    said = explain_no_grasp(
        fragile, hand, reference, {REASON: 4, rejections.EXCESSIVE_FORCE: 3},
        miss_of(capable=True, reason='lets go', contacts=(pressing,)))
    assert said == ('too fragile: the object bears 1.5 N of a link, more would be needed by 3 of '
                    '7 hypotheses; the nearest miss presses with 1.4 N and holds 0.25 of the '
                    'load: lets go')


@pytest.mark.parametrize('changes, said', [
    ({'peak_pressure': 3.2e5}, 'too fragile: the nearest miss holds 0.25 of the load with a peak '
     'pressure of 320 kPa, where damage begins at 200 kPa'),
    ({'peak_pressure': 2.5e6, 'max_pressure': 1e6}, 'too fragile: the nearest miss holds 0.25 of '
     'the load with a peak pressure of 2.5 MPa, where damage begins at 1 MPa'),
    ({'peak_pressure': 1.2e6, 'max_pressure': 3e6}, 'too soft: the nearest miss holds 0.25 of the '
     "load with a peak pressure of 1.2 MPa, more than the object's modulus of 1 MPa: it gives way "
     'before the fingers press hard enough'),
    ({}, f'the nearest miss holds 0.25 of the load: {rejections.NOT_HELD}')])
def test_contacts_that_could_hold_are_told_with_pressure_or_reason(ball, hand, changes, said):
    miss = miss_of(capable=True, reason=rejections.NOT_HELD, **changes)
    assert hint(ball, hand, miss) == said


@pytest.mark.parametrize('changes, said', [
    ({'needed_force': np.inf, 'needed_friction': 0.8},
     'too slippery: friction is 0.5, the nearest miss needs 0.8'),
    ({'friction': 0.1, 'needed_friction': 0.3},
     'too slippery: friction is 0.1, the nearest miss needs 0.3'),
    ({'needed_force': np.inf},
     'the contacts of the nearest miss do not balance the load of 2 N at any friction'),
    ({'allowed_force': 20.0}, 'too fragile: the nearest miss needs 30 N at a contact, where the '
     'pressure limit of 200 kPa allows 20 N'),
    ({'peak_pressure': 5e5}, 'too fragile: the load is 2 N, of which the nearest miss holds at '
     'most 1.5 N below the pressure limit of 200 kPa'),
    ({}, 'too heavy: the load is 2 N, the nearest miss holds at most 1.5 N within the limits of '
     'pads and joints; friction alone would need 30 N at a contact, of which the strongest '
     'carries 40 N: it is others, or joints, that bear less than their part'),
    ({'held_share': np.nan}, 'too heavy: the load is 2 N; friction alone would need 30 N at a '
     'contact, of which the strongest carries 40 N: it is others, or joints, that bear less than '
     'their part')])
def test_contacts_that_cannot_hold_are_told_with_what_they_lack(ball, hand, changes, said):
    assert hint(ball, hand, miss_of(**changes)) == said


def test_a_tough_object_is_too_heavy_for_its_strongest_contact(hand):
    tough = GraspObject(shapes.sphere(0.035, 0.01), Material(1e9, 0.3, 1000.0, 0.5))
    assert hint(tough, hand, miss_of(held_share=np.nan, allowed_force=20.0)) == (
        'too heavy: the load is 2 N; friction alone would need 30 N at a contact, of which the '
        'strongest carries 20 N')


@pytest.mark.slow
@pytest.mark.parametrize('name, mesh, material, said', [
    ('bread', shapes.box([0.25, 0.11, 0.1], 0.01),
     Material(3e4, 0.2, 220.0, 0.6, max_pressure=5e3), 'too fragile: '),
    pytest.param('jelly', shapes.box([0.08, 0.08, 0.06], 0.008),
                 Material(3e3, 0.45, 1050.0, 0.3, max_pressure=1e3), 'too fragile: ',
                 marks=pytest.mark.nightly),
    pytest.param('jelly that nothing hurts', shapes.box([0.08, 0.08, 0.06], 0.008),
                 Material(3e3, 0.45, 1050.0, 0.3), 'too soft: ', marks=pytest.mark.nightly)])
def test_what_is_soft_is_told_as_such(name, mesh, material, said):
    thing = GraspObject(mesh, material, name)
    result = plan_by_half_spaces(thing, hypotheses=24, count=1, budget=600.0)
    assert not result.grasps and result.hint.startswith(said), (result.hint, result.rejections)
