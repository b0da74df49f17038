"""Curves over the way of a held object, as SVG inside the report: forces, margin, slip."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

from ...core.planning.ranked_grasp import ManipulationResult

#: Size of one chart, and its margins left, right, above and below [pixels].
WIDTH, HEIGHT = 520, 150
LEFT, RIGHT, TOP, BOTTOM = 46, 10, 8, 22
#: Colours of the simulated value and of what it is compared with.
VALUE, LIMIT = '#4a86d0', '#c8703a'


@dataclass(frozen=True)
class _Chart:
    """A chart: what is drawn with its unit, and its curves (name, colour, values)."""

    title: str
    curves: Sequence[tuple[str, str, NDArray[np.float64]]]


def way_section(reach: ManipulationResult | None) -> str:
    """Return the section about moving the object; nothing without steps to show."""
    if reach is None or len(reach.steps) < 2:
        return ''
    steps = reach.steps
    margins = np.array([step.margin for step in steps])
    charts = (
        _Chart('normal forces [N]', (
            ('the fingers press', VALUE, np.array([step.normal_force for step in steps])),
            ('the least that holds', LIMIT,
             np.array([step.minimal_normal_force for step in steps])))),
        _Chart('load margin [-]', (('held', VALUE, margins),
                                   ('needed', LIMIT, np.ones(len(steps))))),
        _Chart('slip share [-]', (
            ('yield of a contact', VALUE, np.array([step.slip_share for step in steps])),
            ('slips', LIMIT, np.ones(len(steps))))))
    shares = np.asarray(reach.shares)
    by_arm = [step.by_arm for step in steps]
    return (f'<section id="way">\n<h2>Moving the object with the first grasp</h2>\n<p>'
            f'{escape(reach.message)}; grey: the arm moves the palm.</p>\n'
            + ''.join(_drawn(chart, shares, by_arm) for chart in charts) + '</section>\n')


def _drawn(chart: _Chart, shares: NDArray[np.float64], by_arm: Sequence[bool]) -> str:
    """Return a chart as SVG over the share of the way."""
    finite = np.concatenate([values[np.isfinite(values)] for _, _, values in chart.curves])
    top = 1.08 * max(float(finite.max(initial=0.0)), 1e-9)
    inside = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    x = LEFT + inside[0] * shares
    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" width="100%" '
             f'aria-label="{escape(chart.title)}" font-size="11" style="fill: var(--faint)">']
    for before, after, moved in zip(x[:-1], x[1:], by_arm[1:]):
        if moved:
            parts.append(f'<rect x="{before:.1f}" y="{TOP}" width="{after - before:.1f}" '
                         f'height="{inside[1]}" style="fill: var(--back)"/>')
    for value in (0.0, 0.5 * top, top):
        y = _height(value, top)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" '
                     f'style="stroke: var(--line)"/><text x="{LEFT - 4}" y="{y + 4:.1f}" '
                     f'text-anchor="end">{value:.3g}</text>')
    for name, colour, values in chart.curves:
        points = ' '.join(f'{a:.1f},{_height(min(b, top), top):.1f}'
                          for a, b in zip(x, np.nan_to_num(values, posinf=top)))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" '
                     f'stroke-width="1.8"><title>{escape(name)}</title></polyline>')
    parts.append(f'<text x="{LEFT}" y="{HEIGHT - 5}">grasp</text><text x="{WIDTH - RIGHT}" '
                 f'y="{HEIGHT - 5}" text-anchor="end">end of the way</text></svg>')
    keys = ''.join(f'<span><span class="swatch" style="background: {colour}"></span>'
                   f'{escape(name)}</span>' for name, colour, _ in chart.curves)
    return f'<h3>{escape(chart.title)}</h3>{"".join(parts)}<div class="key">{keys}</div>\n'


def _height(value: float, top: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - value / top)
