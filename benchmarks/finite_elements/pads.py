"""
Contact forces against finite elements: every grip, ratio and depth, and the error map.

``python -m benchmarks fem --figures`` makes the table and the pictures of
docs/validation/finite_elements.md.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path
import sys

import numpy as np

from benchmarks.finite_elements.cases import (
    MODULUS, RATIOS, Grip, Product, Row, grips, reference_rows)
from benchmarks.finite_elements.harmonics import HarmonicBody
from gripsim_ros.core import batches
from gripsim_ros.core.mechanics.contact.patch_resultants import ValidityOptions

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / 'docs' / 'images'
PAGE = ROOT / 'docs' / 'validation' / 'finite_elements.md'
BEGIN, END = '<!-- table: python -m benchmarks fem --figures -->', '<!-- end of table -->'
QUICK = ('ball, 2 fingers', 'slab, 2 balls R40')
#: Flags that speak of the model of the object, not of the geometry of the pads.
DOUBTFUL = batches.PATCH_THIN | batches.PATCH_STRAINED


@dataclass(frozen=True)
class Comparison:
    """One cell of the map; errors are shares of the finite elements' force."""

    reference: Row
    half_thickness: float
    error: float
    lone_error: float
    radius_error: float
    flags: int

    @property
    def ratio(self) -> float:
        """Return the contact radius over half the thickness."""
        return self.reference.radius / self.half_thickness


def compare(grip: Grip, poisson_ratio: float, body: HarmonicBody | None = None):
    """Return the comparisons of a grip at each depth, and the body for further grips."""
    rows, body = reference_rows(grip, poisson_ratio, body)
    product = Product(grip, poisson_ratio)
    own, flags = product.rows()
    return [Comparison(row, grip.half_thickness, mine.force / row.force - 1.0,
                       product.lone_force(row.depth) / row.force - 1.0,
                       mine.radius / row.radius - 1.0, flag)
            for row, mine, flag in zip(rows, own, flags)], body


def compare_all(names=None, ratios=RATIOS):
    """Yield all comparisons; grips on one section share its compliances."""
    chosen = [grip for grip in grips() if not names or grip.name in names]
    for ratio in ratios:
        known = {}
        for grip in chosen:
            found, body = compare(grip, ratio, known.get(grip.body))
            if grip.body:
                known = {grip.body: body}
            yield from found


def line(one: Comparison) -> str:
    """Return a row of the table."""
    row = one.reference
    return (f'| {row.grip} | {row.poisson_ratio:.2f} | {1e3 * row.depth:.1f} | '
            f'{one.ratio:.2f} | {row.force:.4g} | {100 * one.error:+.1f} | '
            f'{100 * one.lone_error:+.1f} | {100 * one.radius_error:+.0f} | '
            f'{"yes" if one.flags & DOUBTFUL else ""} |')


HEAD = ('| grip | ν | depth [mm] | a/T | FEM [N] | gripsim [%] | lone half-space [%] | '
        'radius [%] | flagged |\n|---|---|---|---|---|---|---|---|---|')


def draw_map(comparisons, path):
    """Draw the error of every grip, ratio and depth as a coloured table."""
    plt = _pyplot()
    names = list(dict.fromkeys(one.reference.grip for one in comparisons))
    ratios = sorted({one.reference.poisson_ratio for one in comparisons})
    columns = 3 * len(ratios)
    values = np.full((len(names), columns), np.nan)
    texts = {}
    for name in names:
        for k, ratio in enumerate(ratios):
            found = [one for one in comparisons if one.reference.grip == name
                     and one.reference.poisson_ratio == ratio]
            for j, one in enumerate(found):
                place = names.index(name), 3 * k + j
                values[place] = 100.0 * one.error
                mark = '*' if one.flags & DOUBTFUL else ''
                texts[place] = f'{100 * one.error:+.0f}{mark}'
    figure, axes = plt.subplots(figsize=(8.6, 0.42 * len(names) + 1.6), layout='constrained')
    shown = axes.imshow(np.clip(values, -50.0, 50.0), cmap='RdBu', vmin=-50.0, vmax=50.0,
                        aspect='auto')
    for (row, column), text in texts.items():
        dark = abs(values[row, column]) > 32.0
        axes.text(column, row, text, ha='center', va='center', fontsize=9,
                  color='white' if dark else 'black')
    axes.set_yticks(range(len(names)), names)
    axes.set_xticks(range(columns), ['small', 'middle', 'large'] * len(ratios))
    for k, ratio in enumerate(ratios):
        axes.text(3 * k + 1, -0.75, f'ν = {ratio:g}', ha='center', va='bottom')
        if k:
            axes.axvline(3 * k - 0.5, color='black', linewidth=1.0)
    axes.set_xlabel('depth; * the model flags itself')
    figure.colorbar(shown, label='error of the force [%]', shrink=0.8)
    _save(figure, path)


def draw_ratios(comparisons, path):
    """Draw errors over the contact radius as a share of half the thickness."""
    plt = _pyplot()
    figure, axes = plt.subplots(figsize=(7.2, 4.4), layout='constrained')
    bodies = list(dict.fromkeys(one.reference.grip.split(',')[0] for one in comparisons))
    for k, body in enumerate(bodies):
        own = [one for one in comparisons if one.reference.grip.split(',')[0] == body]
        x = [one.ratio for one in own]
        axes.plot(x, [100 * one.error for one in own], 'o', color=f'C{k}', label=body)
        axes.plot(x, [100 * one.lone_error for one in own], 'o', color=f'C{k}', fillstyle='none')
    axes.plot([], [], 'o', color='grey', fillstyle='none', label='each pad on a plain half-space')
    axes.axhline(0.0, color='black', linewidth=0.8)
    limit = ValidityOptions().max_thickness_ratio
    axes.axvline(limit, color='grey', linestyle=':', linewidth=1.0)
    axes.text(limit + 0.01, 0.97, 'flagged beyond', transform=axes.get_xaxis_transform(), va='top',
              fontsize=8)
    axes.set_yscale('symlog', linthresh=50.0)
    ticks = [-50, -30, -20, -10, 0, 10, 20, 50, 100, 300, 1000]
    axes.set_yticks(ticks, [f'{tick:+d}' for tick in ticks])
    axes.set_xlabel('contact radius / half the thickness')
    axes.set_ylabel('error of the force [%]')
    axes.legend(fontsize=8, loc='upper right')
    _save(figure, path)


def _pyplot():
    import matplotlib
    matplotlib.use('Agg')
    import matplotlib.pyplot as plt
    return plt


def _save(figure, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    print(f'wrote {path}', file=sys.stderr)


def publish(comparisons):
    """Write the pictures, and the table between its marks on the page."""
    draw_map(comparisons, IMAGES / 'fem_map.png')
    draw_ratios(comparisons, IMAGES / 'fem_ratios.png')
    text = PAGE.read_text()
    head, rest = text.split(BEGIN)
    table = '\n'.join([HEAD, *map(line, comparisons)])
    PAGE.write_text(f'{head}{BEGIN}\n{table}\n{END}{rest.split(END)[1]}')


def main() -> None:
    """Print one row a comparison."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument('grips', nargs='*', help='names of grips; all without')
    parser.add_argument('--quick', action='store_true', help='two grips, one ratio')
    parser.add_argument('--figures', action='store_true', help='renew page and pictures')
    arguments = parser.parse_args()
    names = arguments.grips or (QUICK if arguments.quick else None)
    if names:
        unknown = set(names) - {grip.name for grip in grips()}
        if unknown:
            parser.error(f'no such grip: {", ".join(sorted(unknown))}; there are '
                         f'{"; ".join(grip.name for grip in grips())}')
    print(f'forces at E = {MODULUS:g} Pa; T is half the thickness\n\n{HEAD}')
    comparisons = []
    for one in compare_all(names, (0.45,) if arguments.quick else RATIOS):
        comparisons.append(one)
        print(line(one), flush=True)
    if arguments.figures and not (names or arguments.quick):
        # Grip by grip, as the pictures show them.
        order = [grip.name for grip in grips()]
        comparisons.sort(key=lambda one: (order.index(one.reference.grip),
                                          one.reference.poisson_ratio))
        publish(comparisons)


if __name__ == '__main__':
    main()
