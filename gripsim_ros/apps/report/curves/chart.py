"""One chart as SVG: curves over an axis from left to right, spans of it shaded."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Size of one chart, and its margins left, right, above and below [pixels].
WIDTH, HEIGHT = 520, 150
LEFT, RIGHT, TOP, BOTTOM = 46, 10, 8, 22
#: Colours of the simulated value and of what it is compared with.
VALUE, LIMIT = '#4a86d0', '#c8703a'


@dataclass(frozen=True)
class Chart:
    """A chart: what is drawn with its unit, curves (name, colour, values), ends of its axis."""

    title: str
    curves: Sequence[tuple[str, str, Array]]
    ends: tuple[str, str]


def drawn(chart: Chart, shares: Array, shaded: Sequence[bool] = (),
          marks: Sequence[tuple[float, str]] = ()) -> str:
    """
    Return a chart as SVG.

    Parameters
    ----------
    chart : Chart
    shares : (n,) float
        Of the axis, where the curves' values are; rising from 0 to 1.
    shaded : (n,) bool
        Whether the part before each value has a background.
    marks : sequence of (float, str)
        Shares of the axis where something begins, and what.
    """
    finite = np.concatenate([values[np.isfinite(values)] for _, _, values in chart.curves])
    top = 1.08 * max(float(finite.max(initial=0.0)), 1e-9)
    inside = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    x = LEFT + inside[0] * shares
    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" width="100%" '
             f'aria-label="{escape(chart.title)}" font-size="11" style="fill: var(--faint)">']
    for before, after, moved in zip(x[:-1], x[1:], shaded[1:]):
        if moved:
            parts.append(f'<rect x="{before:.1f}" y="{TOP}" width="{after - before:.1f}" '
                         f'height="{inside[1]}" style="fill: var(--back)"/>')
    for value in (0.0, 0.5 * top, top):
        y = _height(value, top)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" '
                     f'style="stroke: var(--line)"/><text x="{LEFT - 4}" y="{y + 4:.1f}" '
                     f'text-anchor="end">{value:.3g}</text>')
    for share, text in marks:
        place = LEFT + inside[0] * share
        parts.append(f'<line x1="{place:.1f}" x2="{place:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}" '
                     'style="stroke: var(--line)" stroke-dasharray="3 2"/>'
                     f'<text x="{place + 3:.1f}" y="{TOP + 9}">{escape(text)}</text>')
    for name, colour, values in chart.curves:
        points = [f'{a:.1f},{_height(min(b, top), top):.1f}' if not np.isnan(b) else ''
                  for a, b in zip(x, values)]
        for run in ' '.join(point or '|' for point in points).split('|'):
            if run.strip():         # what is not known leaves a gap
                parts.append(f'<polyline points="{run.strip()}" fill="none" stroke="{colour}" '
                             f'stroke-width="1.8"><title>{escape(name)}</title></polyline>')
    parts.append(f'<text x="{LEFT}" y="{HEIGHT - 5}">{escape(chart.ends[0])}</text>'
                 f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 5}" text-anchor="end">'
                 f'{escape(chart.ends[1])}</text></svg>')
    keys = ''.join(f'<span><span class="swatch" style="background: {colour}"></span>'
                   f'{escape(name)}</span>' for name, colour, _ in chart.curves)
    return f'<h3>{escape(chart.title)}</h3>{"".join(parts)}<div class="key">{keys}</div>\n'


def _height(value: float, top: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - value / top)
