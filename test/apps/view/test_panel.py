"""What stands beside the scene: request, score, felt against planned forces."""

import re

import numpy as np
import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces: `make setup`')

from gripsim_ros.apps.view.panel import (  # noqa: E402
    CURVE, MOST_SAMPLES, NOTHING_FELT, FeltForces, grasp_html, request_html)
from gripsim_ros.ros.conversions.plan_told import ToldGrasp  # noqa: E402
from gripsim_ros.library.resources import load_default_hand  # noqa: E402
from gripsim_ros.ros.markers import FingerForces, MarkerFrame, force_markers  # noqa: E402


def bars(*forces):
    """Return the markers of fingers with (felt, planned) forces [N]."""
    hand = load_default_hand()
    links = ('sdh_thumb_3_link', 'sdh_finger_13_link')[:len(forces)]
    felt, planned = np.array(forces, float).T
    return force_markers(FingerForces(('thumb', 'one')[:len(forces)], links, planned, felt), hand,
                         np.zeros(7), MarkerFrame('palm'))


def curves(html):
    """Return the heights of each curve, planned and felt in turns, 0 below."""
    return [[CURVE[1] - float(pair.split(',')[1]) for pair in points.split()]
            for points in re.findall(r'points="([^"]*)"', html)]


def test_felt_forces_become_curves_beside_the_planned_ones():
    felt = FeltForces()
    assert felt.html() == NOTHING_FELT
    for force in (0.0, 0.5, 1.0):
        assert felt.add(bars((force, 1.0), (np.nan, 2.0)))
    html = felt.html()
    planned, first, other, unknown = curves(html)
    assert 'finger 1: felt 1.00 of 1.00 N planned' in html and 'felt ? of 2.00 N' in html
    assert first == pytest.approx(np.array([0.0, 0.5, 1.0]) * planned[0], abs=0.1)
    assert other == pytest.approx(3 * [2.0 * planned[0]], abs=0.2) and not unknown


def test_another_grasp_begins_anew_and_old_samples_go():
    felt = FeltForces()
    felt.add(bars((1.0, 1.0), (1.0, 1.0)))
    for _ in range(MOST_SAMPLES + 5):
        felt.add(bars((1.0, 1.0)))
    heights = curves(felt.html())
    assert [len(column) for column in heights] == 2 * [MOST_SAMPLES]


def test_markers_without_forces_tell_nothing():
    felt = FeltForces()
    assert not felt.add(force_markers(FingerForces((), (), np.zeros(0), np.zeros(0)),
                                      load_default_hand(), np.zeros(7), MarkerFrame('palm')))
    assert felt.html() == NOTHING_FELT


def test_a_score_is_a_bar_of_its_terms_and_input_is_escaped():
    html = grasp_html(ToldGrasp({'note': '<b>'}, {'gentle<ness': 0.25, 'torque': 0.5}))
    assert '&lt;b&gt;' in html and 'gentle&lt;ness' in html and '<b>' not in html
    widths = [float(w) for w in re.findall(r'width:([\d.]+)%"></span>', html)]
    assert widths == [25.0, 50.0]
    assert 'nothing is told' in grasp_html(ToldGrasp())


def test_a_request_is_a_table():
    assert '<td>apple</td>' in request_html({'object': 'apple'})
    assert 'nothing is known' in request_html({})
