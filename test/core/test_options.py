"""Sections of options: ranges declared with their fields, checked in one place."""

from dataclasses import dataclass, field

import pytest

from gripsim_ros.core.errors import TaskError
from gripsim_ros.core.options import option, Options


@dataclass(frozen=True)
class Brush(Options, section='brush'):
    """One section."""

    width: float = option(0.5, above=0, most=1)
    tilt: float = option(0.0, least=-1, below=1)
    hairs: int = option(7, whole=True, least=3)
    count: float = option(2.0, besides=0.0, least=1)
    shape: str = option('round', among='round, flat')
    name: str = option('', text=True)
    wet: bool = False


@dataclass(frozen=True)
class Paint(Options, section='paint'):
    """A section with one in it."""

    brush: Brush = field(default_factory=Brush)
    coats: int = option(1, whole=True)


@pytest.mark.parametrize('values', [
    {}, {'width': 1}, {'width': 1e-300}, {'tilt': -1}, {'hairs': 3}, {'count': 0}, {'count': 1},
    {'shape': 'flat'}, {'name': 'x'}, {'wet': True}])
def test_what_lies_within_is_taken(values):
    assert vars(Brush(**values)) == {**vars(Brush()), **values}


@pytest.mark.parametrize('values, said', [
    ({'width': 0.0}, 'brush.width must be above 0 and at most 1, got 0.0'),
    ({'width': 1.5}, 'at most 1, got 1.5'), ({'width': float('nan')}, 'got nan'),
    ({'width': 'wide'}, "got 'wide'"), ({'tilt': 1}, 'at least -1 and below 1, got 1'),
    ({'hairs': 2}, 'a whole number and at least 3, got 2'), ({'hairs': 4.0}, 'got 4.0'),
    ({'count': 0.5}, 'brush.count must be 0.0 or at least 1, got 0.5'),
    ({'shape': 'round, flat'}, "must be one of round, flat, got 'round, flat'"),
    ({'shape': 3}, 'one of round, flat, got 3'), ({'name': 3}, 'brush.name must be text, got 3')])
def test_what_lies_outside_is_refused_by_name(values, said):
    with pytest.raises(TaskError) as refused:
        Brush(**values)
    assert str(refused.value).endswith(said)


def test_a_mapping_gives_sections_and_keeps_defaults():
    assert Paint.from_mapping(None) == Paint.from_mapping({'brush': None}) == Paint()
    found = Paint.from_mapping({'brush': {'width': 0.1}})
    assert found == Paint(Brush(width=0.1), 1)


@pytest.mark.parametrize('values, said', [
    ([1], 'paint must be a mapping of options'), ({'brush': 3}, 'brush must be a mapping'),
    ({'bruch': {}}, "paint: unknown option 'bruch'; known are brush, coats"),
    ({'brush': {'width': -1}}, 'brush.width must be above 0')])
def test_a_mapping_that_does_not_fit_is_refused(values, said):
    with pytest.raises(TaskError, match=said):
        Paint.from_mapping(values)
