"""The report of an execution: planned against felt force of each finger over time."""

from collections.abc import Mapping
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .chart import Chart, drawn, LIMIT, VALUE

Array = NDArray[np.float64]

#: Phases that begin nearer to each other than this share of the time have one mark.
NEAREST_MARKS = 0.06


def write_execution_report(answer: Mapping[str, Any], title: str, path: Path) -> None:
    """
    Write a page with what came of an execution; it names no address outside itself.

    Parameters
    ----------
    answer : mapping
        As ``gripsim execute --json`` prints it.
    title : str
    path : Path
        The file; its folder exists.
    """
    Path(path).write_text(execution_page(answer, title), encoding='utf-8')


def execution_page(answer: Mapping[str, Any], title: str) -> str:
    """Return the page."""
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
            f'<div class="column">{force_section(answer)}</div><div class="column"><section>'
            '<h2>At the end of closing</h2><table><thead><tr><th>link</th><th class="number">'
            f'planned [N]</th><th class="number">found [N]</th></tr></thead><tbody>{rows}</tbody>'
            '</table></section></div></main></body></html>\n')


def force_section(answer: Mapping[str, Any]) -> str:
    """Return a chart for each finger that was planned to press, as a section."""
    times = np.array(answer['force_times'], float)
    if len(times) < 2:
        return ('<section id="forces"><h2>Planned and felt forces</h2><p>The hand did not begin '
                'to close.</p></section>')
    span = times[0], float(times[-1] - times[0])
    shares = (times - span[0]) / span[1]
    planned, felt = (_array(answer[f'finger_{what}_forces']) for what in ('planned', 'felt'))
    ends = f'{span[0]:.1f} s', f'{times[-1]:.1f} s'
    charts = [drawn(Chart(f'{name} [N]', (('planned', LIMIT, planned[:, k]),
                                          ('felt', VALUE, felt[:, k])), ends),
                    shares, marks=_marks(answer['phases'], *span))
              for k, name in enumerate(answer['finger_names'])]
    return ('<section id="forces"><h2>Planned and felt forces</h2><p>From closing on; sums of the '
            'normal forces of each finger. Gaps: the hand cannot tell.</p>'
            + ''.join(charts) + '</section>')


def _marks(phases: Any, begin: float, length: float) -> list[tuple[float, str]]:
    """Return where phases began, as shares of the time, without those that would overlap."""
    marks: list[tuple[float, str]] = []
    for phase in phases:
        share = (phase['time'] - begin) / length
        if 0.0 <= share <= 1.0 and (not marks or share - marks[-1][0] >= NEAREST_MARKS):
            marks.append((share, phase['phase'].replace('_', ' ')))
    return marks


def _array(rows: Any) -> Array:
    """Return rows of numbers, of which None is not known."""
    return np.array([[np.nan if value is None else value for value in row] for row in rows],
                    float)


def _number(value: float | None) -> str:
    return 'unknown' if value is None or np.isnan(value) else f'{value:.2f}'
