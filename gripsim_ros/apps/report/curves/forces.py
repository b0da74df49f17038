"""The report of an execution: planned against felt force of each finger over time."""

from collections.abc import Mapping
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .chart import axis_end, BETWEEN, Chart, drawn, LIMIT, VALUE

Array = NDArray[np.float64]

#: Phases that begin nearer to each other than this share of the time have one mark.
NEAREST_MARKS = 0.06


def write_execution_report(answer: Mapping[str, Any], title: str, path: Path,
                           grip: Mapping[str, float] | None = None) -> None:
    """
    Write a page with what came of an execution; it names no address outside itself.

    Parameters
    ----------
    answer : mapping
        As ``gripsim execute --json`` prints it.
    title : str
    path : Path
        The file; its folder exists.
    grip : mapping of str to float, optional
        What each finger was planned to grip with [N], where the hand held by feel: then
        ``finger_planned_forces`` is what was asked for.
    """
    Path(path).write_text(execution_page(answer, title, grip), encoding='utf-8')


def execution_page(answer: Mapping[str, Any], title: str,
                   grip: Mapping[str, float] | None = None) -> str:
    """Return the page; see ``write_execution_report``."""
    style = files(__package__.rpartition('.')[0]).joinpath('assets', 'report.css').read_text(
        encoding='utf-8')
    said = answer['status'] + (f': {answer["message"]}' if answer['message'] else '')
    rows = ''.join(
        f'<tr><td>{escape(one["link"])}</td><td class="number">{one["planned_force"]:.2f}</td>'
        f'<td class="number">{_number(one["found_force"])}</td></tr>'
        for one in answer['contacts'])
    return (f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}'
            f'</title><style>{style}</style></head><body><header><h1>{escape(title)}</h1><p>'
            f'{escape(said)}; closed in {answer["closing_time"]:.1f} s</p></header><main>'
            f'<div class="column">{force_section(answer, grip)}</div><div class="column"><section>'
            '<h2>At the end of closing</h2><table><thead><tr><th>link</th><th class="number">'
            f'planned [N]</th><th class="number">found [N]</th></tr></thead><tbody>{rows}</tbody>'
            '</table></section></div></main></body></html>\n')


def force_section(answer: Mapping[str, Any], grip: Mapping[str, float] | None = None) -> str:
    """Return a chart for each finger that was planned to press, as a section; see above."""
    times = np.array(answer['force_times'], float)
    if len(times) < 2:
        return ('<section id="forces"><h2>Planned and felt forces</h2><p>The hand did not begin '
                'to close.</p></section>')
    span = times[0], float(times[-1] - times[0])
    shares = (times - span[0]) / span[1]
    planned, felt = (_array(answer[f'finger_{what}_forces']) for what in ('planned', 'felt'))
    ends = f'{span[0]:.1f} s', f'{times[-1]:.1f} s'
    names, by_feel = answer['finger_names'], ''
    curves = {'planned': (LIMIT, planned)}
    if grip is not None:
        carried = min((one['time'] for one in answer['phases'] if one['phase'] == 'carrying'),
                      default=np.inf)                   # from then on as the way says
        still = np.where(times < carried, 1.0, np.nan)
        curves = {'planned': (LIMIT, np.outer(still, [grip.get(name, np.nan) for name in names])),
                  'asked for, by feel': (BETWEEN, planned)}
        by_feel = ' By feel, other forces than the planned ones may be asked for.'
    curves['felt'] = VALUE, felt
    top = axis_end(*(forces for _, forces in curves.values()))
    charts = [drawn(Chart(f'{name} [N]', [(what, colour, forces[:, k]) for what, (colour, forces)
                                          in curves.items()], ends),
                    shares, marks=_marks(answer['phases'], *span), top=top)
              for k, name in enumerate(names)]
    return ('<section id="forces"><h2>Planned and felt forces</h2><p>From closing on; sums of the '
            f'normal forces of each finger, all to one scale. Gaps: the hand cannot tell.{by_feel}'
            f'</p>{"".join(charts)}</section>')


def _marks(phases: Any, begin: float, length: float) -> list[tuple[float, str]]:
    """Return where phases began, as shares of the time, without those that would overlap."""
    marks: list[tuple[float, str]] = []
    for phase in phases:
        share = (phase['time'] - begin) / length
        if phase['phase'] == 'closing':                 # what is felt is told right after it
            share = max(share, 0.0)
        if 0.0 <= share <= 1.0 and (not marks or share - marks[-1][0] >= NEAREST_MARKS):
            marks.append((share, phase['phase'].replace('_', ' ')))
    return marks


def _array(rows: Any) -> Array:
    """Return rows of numbers, of which None is not known."""
    return np.array([[np.nan if value is None else value for value in row] for row in rows],
                    float)


def _number(value: float | None) -> str:
    return 'unknown' if value is None or np.isnan(value) else f'{value:.2f}'
