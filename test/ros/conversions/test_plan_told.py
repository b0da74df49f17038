"""A plan in words: what was asked, and what each grasp is worth."""

import numpy as np
import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from plan_cases import apple, made_up_grasp  # noqa: E402

from gripsim_ros.core.planning import Task  # noqa: E402
from gripsim_ros.ros.conversions.plan_told import (  # noqa: E402
    ToldGrasp, ToldPlan, plan_from_yaml, tell_grasp, tell_request)

#: A third of a turn about z, 30 mm up.
MOVED = np.array([[-0.5, -np.sqrt(0.75), 0, 0], [np.sqrt(0.75), -0.5, 0, 0], [0, 0, 1, 0.03],
                  [0, 0, 0, 1.0]])


def test_a_request_tells_all_that_it_wants():
    task = Task(gravity_directions=[[0, 0, -1]], external_wrenches=[[3, 4, 0, 0, 0, 0]],
                displacement_object=MOVED, approach_direction=[0, 0, -1],
                approach_half_angle=np.pi / 4, reach='fingers_only')
    body = apple()
    told = tell_request(body, 'apple.ply', task, {'evaluated': 20, 'in_contact': 5,
                                                  'planning_time': 1.5})
    assert told['object'].startswith('apple.ply, ')
    assert told['object'].endswith(f'{1e3 * body.mass_properties.mass:.0f} g')
    assert told['weight'] == '9.81 m/s², 1 direction of down'
    assert told['external loads'] == '1, up to 5 N'
    assert told['moved'] == '30 mm, 120°, fingers only'
    assert told['approach'].startswith('within 45°')
    assert told['hypotheses'] == '20 judged, 5 in contact' and told['planning'] == '1.50 s'


def test_a_plain_request_tells_no_more_than_it_says():
    told = tell_request(apple(), 'apple.ply', Task())
    assert set(told) == {'object', 'material', 'weight'}
    assert told['weight'] == '9.81 m/s², whatever way is down'


def test_a_grasp_tells_its_numbers_and_terms():
    grasp = made_up_grasp(1)
    told = tell_grasp(grasp)
    assert told.numbers['score'] == f'{grasp.score:.3f}' and told.numbers['contacts'] == '3'
    assert sum(told.terms.values()) == pytest.approx(sum(t.contribution for t in grasp.terms))


def test_what_is_not_known_of_a_grasp_is_left_out():
    told = tell_grasp(made_up_grasp(1, contacts=(), terms=(), damage_margin=np.inf,
                                    quantitative=False)).numbers
    assert 'damage margin' not in told and 'peak pressure' not in told and "arm's way" not in told
    assert told['note'] == 'not quantitative' and told['contacts'] == '0'


def test_words_pass_through_a_topic():
    plan = ToldPlan({'object': 'tea: 60 x 60 mm', 'weight': '9.81 m/s²'},
                    [ToldGrasp({'score': '0.9'}, {'gentleness': 0.25})])
    assert plan_from_yaml(plan.to_yaml()) == plan
    assert plan.grasp(2) == plan.grasp(0) == ToldGrasp()


@pytest.mark.parametrize('text', ['', '[1, 2]', 'request: 3\ngrasps: []', '{', 'request: {a: 1}'])
def test_other_texts_tell_nothing(text):
    assert plan_from_yaml(text) == ToldPlan()
