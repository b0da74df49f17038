"""One chart as SVG: curves over an axis from left to right, spans of it shaded."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Size of one chart, and its margins left, right, above and below [pixels].
WIDTH, HEIGHT = 520, 162
LEFT, RIGHT, TOP, BOTTOM = 46, 10, 20, 22
#: Colours of the simulated value, of what it is compared with, and of what is between them.
VALUE, LIMIT, BETWEEN = '#4a86d0', '#c8703a', '#7f9f3f'
#: Ends of axes: these times a power of ten, whose halves are round, too.
ROUND = 1.0, 1.2, 1.6, 2.0, 2.4, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0


@dataclass(frozen=True)
class Chart:
    """A chart: what is drawn with its unit, curves (name, colour, values), ends of its axis."""

    title: str
    curves: Sequence[tuple[str, str, Array]]
    ends: tuple[str, str]


def axis_end(*values: Array) -> float:
    """Return a round number somewhat above all finite values, at which an axis from 0 ends."""
    most = 1.02 * max(1e-9, *(float(one[np.isfinite(one)].max(initial=0.0)) for one in values))
    unit = 10.0 ** math.floor(math.log10(most))
    return unit * next(one for one in ROUND if one * unit >= most)


def drawn(chart: Chart, shares: Array, shaded: Sequence[bool] = (),
          marks: Sequence[tuple[float, str]] = (), top: float = 0.0) -> str:
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
    top : float
        Where the upright axis ends; 0: by ``axis_end``.
    """
    top = top or axis_end(*(values for _, _, values in chart.curves))
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
                     f'<text x="{place:.1f}" y="{TOP - 6}">{escape(text)}</text>')
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
