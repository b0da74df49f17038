"""The report of an execution: curves through what was told, gaps where nothing is known."""

from xml.etree import ElementTree

import numpy as np
import pytest

from gripsim_ros.apps.report.curves.chart import (
    axis_end, BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH)
from gripsim_ros.apps.report.curves.forces import execution_page, force_section

TIMES = [2.0, 3.0, 4.0, 6.0]
PHASES = [{'phase': 'preshape', 'time': 0.0}, {'phase': 'closing', 'time': 2.0},
          {'phase': 'loading', 'time': 4.0}, {'phase': 'holding', 'time': 4.01},
          {'phase': 'setting_down', 'time': 5.0}]


def answer(**changes):
    """Return what execute tells, some keys changed."""
    return {'status': 'SUCCEEDED', 'message': '', 'closing_time': 2.0, 'phases': PHASES,
            'contacts': [{'link': 'a<b', 'planned_force': 1.0, 'found_force': None}],
            'finger_names': ['thumb', 'finger & co'], 'force_times': TIMES,
            'finger_planned_forces': [[1.0, 2.0]] * 4,
            'finger_felt_forces': [[0.0, None], [0.5, 1.0], [None, 1.5], [1.0, 2.0]], **changes}


def values(line, top):
    """Return times as shares and forces of a polyline."""
    x, y = np.array([pair.split(',') for pair in line.get('points').split()], float).T
    return ((x - LEFT) / (WIDTH - LEFT - RIGHT),
            top * (1.0 - (y - TOP) / (HEIGHT - TOP - BOTTOM)))


def test_each_finger_has_a_chart_through_its_forces():
    section = ElementTree.fromstring(force_section(answer()))
    charts = section.findall('svg')
    assert [chart.get('aria-label') for chart in charts] == ['thumb [N]', 'finger & co [N]']
    planned, felt = charts[1].findall('polyline')
    shares, forces = values(planned, 2.4)
    np.testing.assert_allclose(shares, [0.0, 0.25, 0.5, 1.0], atol=1e-3)
    np.testing.assert_allclose(forces, 2.0, atol=0.02)
    shares, forces = values(felt, 2.4)
    np.testing.assert_allclose(shares, [0.25, 0.5, 1.0], atol=1e-3)     # unknown at first
    np.testing.assert_allclose(forces, [1.0, 1.5, 2.0], atol=0.02)


def test_all_fingers_have_one_scale_that_ends_at_a_round_number():
    thumb, finger = ElementTree.fromstring(force_section(answer())).findall('svg')
    ticks = [[text.text for text in chart.findall('text')][:3] for chart in (thumb, finger)]
    assert ticks == [['0', '1.2', '2.4']] * 2
    np.testing.assert_allclose(values(thumb.findall('polyline')[0], 2.4)[1], 1.0, atol=0.02)


@pytest.mark.parametrize('most, end', [
    (2.0, 2.4), (2.3, 2.4), (2.36, 3.0), (0.099, 0.12), (97.0, 100.0), (99.0, 120.0),
    (0.0, 1.2e-9)])
def test_an_axis_ends_at_a_round_number_somewhat_above_all_values(most, end):
    np.testing.assert_allclose(axis_end(np.array([np.nan, most, 0.0])), end, rtol=1e-12)


def test_by_feel_the_planned_force_and_what_is_asked_for_are_told_apart():
    """As planned only until the hand carries the object along its way."""
    phases = [*PHASES, {'phase': 'carrying', 'time': 3.5}]
    section = ElementTree.fromstring(force_section(answer(phases=phases),
                                                   {'thumb': 0.5, 'finger & co': 1.5}))
    planned, asked, felt = section.findall('svg')[1].findall('polyline')
    shares, forces = values(planned, 2.4)
    np.testing.assert_allclose(shares, [0.0, 0.25], atol=1e-3)
    np.testing.assert_allclose(forces, 1.5, atol=0.02)
    np.testing.assert_allclose(values(asked, 2.4)[1], 2.0, atol=0.02)
    keys = section.findall('div')[1]
    assert [''.join(key.itertext()) for key in keys] == ['planned', 'asked for, by feel', 'felt']


def test_what_is_not_known_between_leaves_a_gap():
    chart = ElementTree.fromstring(force_section(answer())).findall('svg')[0]
    assert [len(line.get('points').split()) for line in chart.findall('polyline')] == [4, 2, 1]


def test_phases_are_marked_where_they_begin_and_never_on_each_other():
    chart = ElementTree.fromstring(force_section(answer())).findall('svg')[0]
    texts = [text.text for text in chart.findall('text')]
    assert [t for t in texts if t in ('closing', 'loading', 'holding', 'setting down')] == [
        'closing', 'loading', 'setting down']


def test_closing_is_marked_though_forces_are_told_right_after_it_begins():
    told = answer(phases=[{'phase': 'waiting', 'time': 1.98}, {'phase': 'closing', 'time': 1.99}])
    chart = ElementTree.fromstring(force_section(told)).find('svg')
    texts = [text.text for text in chart.findall('text')]
    assert 'closing' in texts and 'waiting' not in texts


def test_the_page_escapes_what_it_is_told_and_needs_no_network():
    page = execution_page(answer(message='<b>'), 'a & b')
    assert 'a&lt;b' in page and '&lt;b&gt;' in page and '<h1>a &amp; b</h1>' in page
    assert '://' not in page and 'unknown' in page


@pytest.mark.parametrize('changes', [
    {'force_times': [], 'finger_planned_forces': [], 'finger_felt_forces': []},
    {'force_times': [1.0], 'finger_planned_forces': [[1.0, 1.0]],
     'finger_felt_forces': [[0.0, 0.0]]}])
def test_a_hand_that_did_not_close_has_no_curves(changes):
    assert 'did not begin to close' in execution_page(answer(**changes), 'title')
