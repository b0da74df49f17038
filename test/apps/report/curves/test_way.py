"""The curves over the way of a held object."""

import re
from xml.etree import ElementTree

import numpy as np

from gripsim_ros.apps.report.curves.way import way_section
from gripsim_ros.core.planning.ranked_grasp import WITH_ARM, ManipulationResult, ManipulationStep

MARGINS = (1.3, 2.6, np.inf)


def result(count):
    """Return a way of steps with one contact that presses with 1 N, then 2 N, and so on."""
    up = np.array([[0.0, 0.0, 1.0]])
    steps = tuple(ManipulationStep(
        np.eye(4), ('thumb',), np.zeros((1, 3)), up, (i + 1.0) * up, 0.5 * (i + 1.0) * up,
        np.zeros(7), np.zeros(3), MARGINS[i], 0.2 * i, i > 1) for i in range(count))
    return ManipulationResult(WITH_ARM, 0.0, 0.4, np.zeros((count, 7)), np.zeros((count, 4, 4)),
                              np.linspace(0.0, 1.0, count), 1, 'slips & <falls>', steps)


def test_curves_go_through_the_numbers_of_the_steps():
    section = ElementTree.fromstring(way_section(result(3)))
    charts = section.findall('svg')
    assert [chart.get('aria-label') for chart in charts] == [
        'normal forces [N]', 'load margin [-]', 'slip share [-]']
    pressed, least = (np.array([pair.split(',') for pair in line.get('points').split()], float)
                      for line in charts[0].findall('polyline'))
    assert np.ptp(np.diff(pressed[:, 0])) < 0.11        # even steps, to a tenth of a pixel
    base = float(charts[0].findall('line')[0].get('y1'))
    heights = base - pressed[:, 1]
    assert np.allclose(heights / heights[0], [1.0, 2.0, 3.0], atol=0.02)
    assert np.allclose((base - least[:, 1]) / heights, 0.5, atol=0.02)
    assert len(charts[0].findall('rect')) == 1          # the arm moves the palm in the last step
    assert not re.search('nan|inf', ElementTree.tostring(charts[1]).decode())
    assert section.find('p').text.startswith('slips & <falls>;')


def test_a_grasp_that_moves_nothing_has_no_curves():
    assert way_section(None) == way_section(result(1)) == ''
