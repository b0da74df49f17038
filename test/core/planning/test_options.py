"""Options of the planner: what is taken, and one line for what is not."""

from dataclasses import fields

import pytest
import yaml

from gripsim_ros.core.errors import TaskError
from gripsim_ros.core.planning.options import PlannerOptions, SCORE_TERMS
from gripsim_ros.library.resources import share_directory


@pytest.fixture(scope='module')
def mapping():
    """Return the options of the file that comes with the suite, as a mapping."""
    return yaml.safe_load((share_directory() / 'config' / 'planner.yaml').read_text())


def test_names_are_exactly_those_of_the_fields(mapping):
    assert set(mapping) == {field.name for field in fields(PlannerOptions)}
    wrong = {**mapping, 'roll_counts': 3}
    del wrong['roll_count']
    with pytest.raises(TaskError, match=r"unknown \['roll_counts'\], missing \['roll_count'\]"):
        PlannerOptions.from_mapping(wrong)


@pytest.mark.parametrize('name, value', [
    ('max_planning_time', float('nan')), ('min_clearance', -1e-3), ('batch_size', float('inf')),
    ('palm_gaps', []), ('margin_band', [1.0, -2.0])])
def test_numbers_are_finite_and_not_negative(mapping, name, value):
    with pytest.raises(TaskError, match=f'{name} must be finite and not negative, got'):
        PlannerOptions.from_mapping({**mapping, name: value})


@pytest.mark.parametrize('name, value, least', [
    ('batch_size', 0, 1), ('roll_count', 2.5, 1), ('face_count', [3, 4], 1),
    ('robustness_samples', 0.5, 0)])
def test_counts_are_whole_numbers(mapping, name, value, least):
    with pytest.raises(TaskError, match=f'{name} must be a whole number from {least}, got'):
        PlannerOptions.from_mapping({**mapping, name: value})
    lowest = PlannerOptions.from_mapping({**mapping, name: least})
    assert getattr(lowest, name) == least


@pytest.mark.parametrize('value', ['body', 'Auto', 1])
def test_the_model_of_the_object_is_one_that_a_planner_may_ask_for(mapping, value):
    assert PlannerOptions.from_mapping(mapping).elasticity == 'auto'
    for name in ('half_space', ''):
        assert PlannerOptions.from_mapping({**mapping, 'elasticity': name}).elasticity == name
    with pytest.raises(TaskError, match='elasticity must be half_space or auto'):
        PlannerOptions.from_mapping({**mapping, 'elasticity': value})


@pytest.mark.parametrize('section', ['reach', 'uncertainty'])
def test_sections_have_exactly_the_names_of_their_fields(mapping, section):
    some = dict([*mapping[section].items()][:1])
    for wrong in ({}, some, 1.0, {**mapping[section], 'more': 1.0}):
        with pytest.raises(TaskError, match=f'planner option {section} needs exactly'):
            PlannerOptions.from_mapping({**mapping, section: wrong})


@pytest.mark.parametrize('weights, said', [
    (1.0, 'needs exactly'), (dict.fromkeys(SCORE_TERMS[1:], 1.0), 'needs exactly'),
    (dict.fromkeys((*SCORE_TERMS, 'beauty'), 1.0), 'needs exactly'),
    (dict.fromkeys(SCORE_TERMS, 0.0), 'not all 0'),
    ({**dict.fromkeys(SCORE_TERMS, 1.0), 'spread': -0.1}, 'not negative'),
    ({**dict.fromkeys(SCORE_TERMS, 1.0), 'spread': float('inf')}, 'not negative')])
def test_weights_are_one_for_each_term_of_the_score(mapping, weights, said):
    with pytest.raises(TaskError, match=f'planner option weights .*{said}'):
        PlannerOptions.from_mapping({**mapping, 'weights': weights})
