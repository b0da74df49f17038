"""Curves over the way of a held object, as SVG inside the report: forces, margin, slip."""

from html import escape

import numpy as np

from ....core.planning.ranked_grasp import ManipulationResult
from .chart import Chart, drawn, LIMIT, VALUE

#: What the axis begins and ends with.
ENDS = ('grasp', 'end of the way')


def way_section(reach: ManipulationResult | None) -> str:
    """Return the section about moving the object; nothing without steps to show."""
    if reach is None or len(reach.steps) < 2:
        return ''
    steps = reach.steps
    margins = np.array([step.margin for step in steps])
    charts = (
        Chart('normal forces [N]', (
            ('the fingers press', VALUE, np.array([step.normal_force for step in steps])),
            ('the least that holds', LIMIT,
             np.array([step.minimal_normal_force for step in steps]))), ENDS),
        Chart('load margin [-]', (('held', VALUE, margins),
                                  ('needed', LIMIT, np.ones(len(steps)))), ENDS),
        Chart('slip share [-]', (
            ('yield of a contact', VALUE, np.array([step.slip_share for step in steps])),
            ('slips', LIMIT, np.ones(len(steps)))), ENDS))
    shares = np.asarray(reach.shares)
    by_arm = [step.by_arm for step in steps]
    return (f'<section id="way">\n<h2>Moving the object with the first grasp</h2>\n<p>'
            f'{escape(reach.message)}; grey: the arm moves the palm.</p>\n'
            + ''.join(drawn(chart, shares, by_arm) for chart in charts) + '</section>\n')
