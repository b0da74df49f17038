"""The report of a plan as one HTML file that opens without a network."""

import base64
import io
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from PIL import Image as PillowImage

from ...core.planning.ranked_grasp import RankedGrasp
from ...library.drawing.scene import (
    CENTRE_BEFORE_COLOUR, CENTRE_COLOUR, FORCE_COLOUR, PRESSURE_COLOURS, PRESSURE_STOPS,
    DisplayScene, make_scene)
from ...library.grasp_file import PlanAnswer
from .contact_picture import draw_grasp_contact
from .motion_picture import motion_picture
from .packing import packed_json
from .payload import scene_data
from .pictures import scene_picture
from .section_picture import draw_section
from .style import TERM_COLOURS, hex_colour
from .curves.way import way_section

#: Size of the picture for browsers without WebGL.
STILL_SIZE = (960, 640)
#: How ranks come about, as `rank_key` and `as_choices` of the planner's ranking have it.
RANKED = ('In this order: first grasps whose numbers are quantitative, then those between whose '
          'fingers the object comes to rest, then those whose closing leaves it in place, then '
          'by score, the sum of the terms. A grasp much like a better one (preshape, palm, '
          'contacts) comes after all others of its kind.')
#: Units of moduli, the largest first [Pa].
MODULI = ((1e9, 'GPa'), (1e6, 'MPa'), (1e3, 'kPa'))
SCRIPTS = ('geometry.js', 'viewer.js', 'page.js')


def write_report(answer: PlanAnswer, path: Path) -> None:
    """
    Write the report: scene, ranked grasps, terms of the scores, reasons of rejection.

    Parameters
    ----------
    answer : PlanAnswer
    path : Path
        The file; its folder exists.
    """
    Path(path).write_text(render_report(answer), encoding='utf-8')


def render_report(answer: PlanAnswer) -> str:
    """Return the page; it names no address outside itself, and all input is escaped."""
    scene = make_scene(answer) if answer.grasps else None
    return Template(_asset('page.html')).substitute(
        title=escape(f'Grasps of {answer.mesh_name}'), subtitle=escape(_subtitle(answer)),
        style=_asset('report.css'), view=_view(scene, answer), grasps=_grasp_table(answer.grasps),
        contacts='' if scene is None else _asset('contacts.html'),
        section='' if scene is None else _section(answer),
        details='' if scene is None else (
            _asset('details.html') + _motion(scene) + way_section(answer.grasps[0].reach)
            + _contact(answer)),
        rejected=_rejections(answer.rejected), statistics=_statistics(answer.statistics),
        scripts='' if scene is None else _scripts(scene))


def _asset(name: str) -> str:
    return (files(__package__) / 'assets' / name).read_text(encoding='utf-8')


def _subtitle(answer: PlanAnswer) -> str:
    body = answer.grasp_object
    size = ' x '.join(f'{1e3 * extent:.0f}' for extent in np.asarray(body.mesh.extents))
    return (f'{answer.hand.name} · {size} mm · {1e3 * body.mass_properties.mass:.0f} g · '
            f'{body.material.name or "material"}: '
            f'E {_modulus(body.material.youngs_modulus)}, '
            f'friction {body.material.friction:g} · {len(answer.grasps)} grasps of '
            f'{answer.statistics["evaluated"]} hypotheses in '
            f'{answer.statistics["planning_time"]:.1f} s')


def _modulus(value: float) -> str:
    """Return a modulus [Pa] with the unit in which it is a short number."""
    power, unit = next((pair for pair in MODULI if value >= pair[0]), MODULI[-1])
    return f'{value / power:.4g} {unit}'


def _view(scene: DisplayScene | None, answer: PlanAnswer) -> str:
    if scene is None:
        return ('<section><p>No grasp was found; the reasons are beside.</p>'
                + ''.join(f'<p class="hint">{escape(line)}</p>'
                          for line in answer.explanation) + '</section>')
    stops = ', '.join(f'{hex_colour(colour)} {100 * stop:.0f}%'
                      for stop, colour in zip(PRESSURE_STOPS, PRESSURE_COLOURS))
    choices = ''.join(f'<option value="{index}">{shown.grasp.rank}</option>'
                      for index, shown in enumerate(scene.grasps))
    return Template(_asset('view.html')).substitute(
        still=_still(scene), ramp=stops, choices=choices, force=hex_colour(FORCE_COLOUR),
        centre=hex_colour(CENTRE_COLOUR), before=hex_colour(CENTRE_BEFORE_COLOUR))


def _still(scene: DisplayScene) -> str:
    """Return the picture for browsers without WebGL as a data address."""
    return _data_address(scene_picture(scene, size=STILL_SIZE))


def _contact(answer: PlanAnswer) -> str:
    """Return the section with the strongest contact of the first grasp; nothing without one."""
    if not answer.grasps[0].contacts:
        return ''
    source = _data_address(draw_grasp_contact(answer))
    return ('<section>\n<h2>Contact of the first grasp</h2>\n<img id="contact" '
            'class="drawn" alt="undeformed object and link: vertices inside each other, '
            'their ways out, regions of potential interaction" '
            f'src="{source}">\n</section>\n')


def _motion(scene: DisplayScene) -> str:
    """Return the section with pictures of the first grasp's whole motion; nothing without."""
    picture = motion_picture(scene)
    if picture is None:
        return ''
    return ('<section>\n<h2>The whole motion with the first grasp</h2>\n<img id="motion_strip" '
            'class="drawn" alt="arm, hand and object at the end of each phase" '
            f'src="{_data_address(picture)}">\n</section>\n')


def _section(answer: PlanAnswer) -> str:
    """Return the section with the cut through the object; nothing without a surface."""
    picture = draw_section(answer)
    if picture is None:
        return ''
    return ('<section>\n<h2>Deformation by the first grasp</h2>\n<img id="section" '
            'class="drawn" alt="undeformed and deformed outline with pressures, forces '
            f'and both centres of mass" src="{_data_address(picture)}">\n</section>\n')


def _data_address(picture: PillowImage.Image) -> str:
    file = io.BytesIO()
    picture.save(file, 'PNG', optimize=True)
    return 'data:image/png;base64,' + base64.b64encode(file.getvalue()).decode('ascii')


def _scripts(scene: DisplayScene) -> str:
    data = f'<script type="text/plain" id="data">{packed_json(scene_data(scene))}</script>'
    return data + ''.join(f'\n<script>\n{_asset(name)}</script>' for name in SCRIPTS)


def _grasp_table(grasps: Sequence[RankedGrasp]) -> str:
    if not grasps:
        return '<p>None.</p>'
    full = max(max(grasp.score for grasp in grasps), 1e-9)
    rows = [(str(grasp.rank), f'{grasp.score:.3f}', _score_bar(grasp, full), grasp.preshape,
             str(len(grasp.contacts)), f'{_total_force(grasp):.2f}', f'{grasp.margin:.2f}')
            for grasp in grasps]
    head = ('rank', 'score', 'terms', 'preshape', 'contacts', 'force [N]', 'load margin')
    keys = ''.join(f'<span><span class="swatch" style="background: {_term_colour(place)}"></span>'
                   f'{escape(term.name)}</span>' for place, term in enumerate(grasps[0].terms))
    return (_table('grasps', head, rows, numeric=(0, 1, 4, 5, 6), raw=(2,))
            + f'<div class="key">{keys}</div><p class="faint">{RANKED}</p>')


def _score_bar(grasp: RankedGrasp, full: float) -> str:
    pieces = ''.join(
        f'<span title="{escape(term.name)} {term.contribution:.3f}" style="width: '
        f'{100 * max(term.contribution, 0.0) / full:.2f}%; background: {_term_colour(place)}">'
        '</span>' for place, term in enumerate(grasp.terms))
    return f'<div class="bar">{pieces}</div>'


def _term_colour(place: int) -> str:
    return hex_colour(channel / 255.0 for channel in TERM_COLOURS[place % len(TERM_COLOURS)])


def _total_force(grasp: RankedGrasp) -> float:
    return sum(float(np.linalg.norm(contact.force)) for contact in grasp.contacts)


def _rejections(rejected: Mapping[str, int]) -> str:
    counts = sorted(((reason, number) for reason, number in rejected.items() if number),
                    key=lambda item: (-item[1], item[0]))
    if not counts:
        return '<p>None.</p>'
    rows = [(reason, str(number), f'<div class="bar"><span style="width: '
             f'{100 * number / counts[0][1]:.1f}%; background: #8a93a3"></span></div>')
            for reason, number in counts]
    return _table('rejected', ('reason', 'number', ''), rows, numeric=(1,), raw=(2,), wrap=(0,))


def _statistics(statistics: Mapping[str, Any]) -> str:
    rows = [(name.replace('_', ' '), _told(name, value)) for name, value in statistics.items()]
    return _table('statistics', ('', ''), rows, wrap=(1,))


def _told(name: str, value: Any) -> str:
    """Return a number of the planning, several by name, a truth or a list as it is read."""
    if isinstance(value, Mapping):
        return ', '.join(f'{part} {_told(name, number)}' for part, number in value.items())
    if isinstance(value, (list, tuple)):
        return '; '.join(map(str, value)) or 'none'
    if isinstance(value, bool):
        return 'yes' if value else 'no'
    if isinstance(value, float):
        return f'{value:.1f} s' if name.endswith(('time', 'times')) else f'{value:.6g}'
    return 'none' if value is None else str(value)


def _table(identifier: str, head: Sequence[str], rows: Iterable[Sequence[str]],
           numeric: Sequence[int] = (), raw: Sequence[int] = (), wrap: Sequence[int] = ()) -> str:
    """Return a table; cells are escaped but for the ``raw`` columns, which are our own HTML."""
    kind = {**{k: ' class="number"' for k in numeric}, **{k: ' class="wrap"' for k in wrap}}
    top = ''.join(f'<th{kind.get(k, "")}>{escape(name)}</th>' for k, name in enumerate(head))
    body = ''.join('<tr>' + ''.join(
        f'<td{kind.get(k, "")}>{cell if k in raw else escape(cell)}</td>'
        for k, cell in enumerate(row)) + '</tr>\n' for row in rows)
    top = f'<thead><tr>{top}</tr></thead>' if any(head) else ''
    return f'<table id="{identifier}">{top}<tbody>\n{body}</tbody></table>'
