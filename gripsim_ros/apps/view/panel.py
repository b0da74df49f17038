"""What stands beside the scene, as HTML: the request, a grasp's numbers, felt against planned."""

import re
from collections.abc import Mapping, Sequence
from html import escape

from visualization_msgs.msg import MarkerArray

from ...library.display import PRESSURE_COLOURS, PRESSURE_STOPS
from ...ros.conversions.plan_told import ToldGrasp
from ...ros.markers import BLUE, CYAN, FORCE_LENGTH, MAGENTA
from ..report.style import TERM_COLOURS

#: Side of the floor's cells [m].
FLOOR_CELL = 0.05
#: Texts at the bars of fingers, and what they say: felt, if known, and planned [N].
FORCE_TEXTS, FORCE_TEXT = 'force_texts', re.compile(r'([\d.]+|\?) of ([\d.]+) N')
#: Samples of forces that are kept at most, and the size of their curves [pixels].
MOST_SAMPLES, CURVE = 400, (250, 70)
BOX = '<div style="padding:0 0.8em 0.5em;font-size:0.85em">{}</div>'
#: Said where no force was told yet.
NOTHING_FELT = BOX.format('told while a grasp is carried out')


class FeltForces:
    """Planned and felt forces of fingers over the messages that came, as curves."""

    def __init__(self) -> None:
        """Begin with none."""
        self._samples: list[tuple[tuple[float | None, float], ...]] = []

    def add(self, array: MarkerArray) -> bool:
        """Take what an array tells; False where it tells nothing of forces."""
        told = [FORCE_TEXT.fullmatch(m.text) for m in array.markers if m.ns == FORCE_TEXTS]
        sample = tuple((None if found[1] == '?' else float(found[1]), float(found[2]))
                       for found in told if found)
        if not sample:
            return False
        if self._samples and len(self._samples[-1]) != len(sample):
            self._samples.clear()       # other fingers: another grasp
        self._samples = [*self._samples[1 - MOST_SAMPLES:], sample]
        return True

    def html(self) -> str:
        """Return a curve for each finger: felt as a line, planned dashed."""
        if not self._samples:
            return NOTHING_FELT
        width, height = CURVE
        full = 1.1 * max(max(felt or 0.0, planned) for sample in self._samples
                         for felt, planned in sample) or 1.0
        step = width / max(len(self._samples) - 1, 1)
        rows = []
        for finger in range(len(self._samples[-1])):
            column = [sample[finger] for sample in self._samples]
            felt = ' '.join(f'{k * step:.1f},{height * (1.0 - f / full):.1f}'
                            for k, (f, _) in enumerate(column) if f is not None)
            planned = ' '.join(f'{k * step:.1f},{height * (1.0 - p / full):.1f}'
                               for k, (_, p) in enumerate(column))
            now = '?' if column[-1][0] is None else f'{column[-1][0]:.2f}'
            rows.append(
                f'<div>finger {finger + 1}: felt {now} of {column[-1][1]:.2f} N planned</div>'
                f'<svg width="{width}" height="{height}"><polyline points="{planned}" '
                'fill="none" stroke="#8a93a3" stroke-dasharray="4 3"/>'
                f'<polyline points="{felt}" fill="none" stroke="{css(BLUE)}" '
                'stroke-width="2"/></svg>')
        return BOX.format(''.join(rows))


def request_html(request: Mapping[str, str]) -> str:
    """Return what was asked as a table; a line where nothing is known of it."""
    return BOX.format(_rows(request) if request else 'nothing is known of the request')


def grasp_html(grasp: ToldGrasp) -> str:
    """Return a grasp's numbers, and its score as a bar of what each term gives."""
    if not grasp.numbers and not grasp.terms:
        return BOX.format('nothing is told of this grasp')
    full = max(sum(max(value, 0.0) for value in grasp.terms.values()), 1.0)
    pieces, keys = [], []
    for place, (name, value) in enumerate(grasp.terms.items()):
        colour = css([channel / 255.0 for channel in TERM_COLOURS[place % len(TERM_COLOURS)]])
        pieces.append(f'<span style="display:inline-block;height:10px;background:{colour};'
                      f'width:{100.0 * max(value, 0.0) / full:.2f}%"></span>')
        keys.append(f'<tr><td><span style="color:{colour}">&#9632;</span> {escape(name)}</td>'
                    f'<td style="text-align:right">{value:.3f}</td></tr>')
    bar = f'<div style="background:#8a93a330;line-height:0">{"".join(pieces)}</div>'
    return BOX.format(_rows(grasp.numbers) + (
        f'{bar}<table style="width:100%">{"".join(keys)}</table>' if pieces else ''))


def explanation(moment: str, largest: float) -> str:
    """Return what is shown and what colours and marks mean; ``largest`` in Pa, 0 without a bar."""
    stops = ', '.join(f'{css(colour)} {100.0 * stop:g}%'
                      for stop, colour in zip(PRESSURE_STOPS, PRESSURE_COLOURS))
    marks = ''.join(f'<div><span style="color:{css(colour)}">{sign}</span> {words}</div>'
                    for sign, colour, words in (
                        ('&#10142;', BLUE, f'force on the object, {1e3 * FORCE_LENGTH:g} mm for '
                         '1 N'),
                        ('&#9679;', CYAN, 'contact'), ('&#10010;', MAGENTA, 'centre of mass'),
                        ('&#9638;', (0.6, 0.6, 0.6), f'{1e3 * FLOOR_CELL:g} mm')))
    bar = '' if not largest else (
        f'<div>pressure [kPa]</div><div style="height:10px;background:linear-gradient(to right, '
        f'{stops})"></div><div style="display:flex;justify-content:space-between"><span>0</span>'
        f'<span>{1e-3 * largest:.1f}</span></div>')
    return BOX.format(f'<b>{escape(moment)}</b>{bar}{marks}')


def css(colour: Sequence[float]) -> str:
    """Return a colour in 0 to 1 as the browser reads it."""
    return 'rgb({:.0f}, {:.0f}, {:.0f})'.format(*(255.0 * channel for channel in colour[:3]))


def _rows(told: Mapping[str, str]) -> str:
    rows = ''.join(f'<tr><td style="vertical-align:top;padding-right:0.8em;opacity:0.7">'
                   f'{escape(name)}</td><td>{escape(text)}</td></tr>'
                   for name, text in told.items())
    return f'<table style="width:100%">{rows}</table>'
