"""
Forces by a body's own compliance against the finite elements published in the map of errors.

``python -m benchmarks fem_body --figures`` makes the table of docs/model/compliance.md.
"""

import argparse
from pathlib import Path
import resource
import sys
import tempfile
import time

from benchmarks.finite_elements.cases import Grip, Product, grips
from benchmarks.finite_elements.pads import (
    DOUBTFUL, END, ROOT, BEGIN as MAP_BEGIN, PAGE as MAP_PAGE)
from gripsim_ros.core.mechanics import MechanicsOptions
from gripsim_ros.core.mechanics.body import ElasticBody
from gripsim_ros.core.mechanics.boundary_elements.body_compliance import NODE_COUNT
from gripsim_ros.core.mechanics.boundary_elements.disk_cache import ComplianceOptions

PAGE = ROOT / 'docs' / 'model' / 'compliance.md'
BEGIN = '<!-- table: python -m benchmarks fem_body --figures -->'
HEAD = ('| grip | ν | depth [mm] | a/T | half-space [%] | flagged | own compliance [%] | '
        'flagged |\n'
        '|---|---|---|---|---|---|---|---|')
#: Asks for as many nodes as are allowed.
NO_TOLERANCE = 1e-6
QUICK = ('slab, 2 balls R40',)


def published(page: Path = MAP_PAGE) -> dict[tuple[str, float, float], dict]:
    """Return force [N], a/T, error [%] and flag of the map by grip, ratio and depth [mm]."""
    rows = {}
    for text in page.read_text().split(MAP_BEGIN)[1].split(END)[0].splitlines():
        cells = [cell.strip() for cell in text.split('|')[1:-1]]
        if len(cells) == 9 and cells[0] not in ('grip', '---'):
            rows[cells[0], float(cells[1]), float(cells[2])] = {
                'ratio': float(cells[3]), 'force': float(cells[4]), 'error': float(cells[5]),
                'flagged': cells[8]}
    return rows


def compare(grip: Grip, poisson_ratio: float, options: MechanicsOptions, known: dict):
    """Yield a row of the table for each depth."""
    product = Product(grip, poisson_ratio)
    begin = time.process_time()
    product.body = ElasticBody(product.body.grasp_object, options)
    nodes = len(product.body.compliance.points)
    print(f'{grip.name}: {nodes} nodes, {time.process_time() - begin:.1f} s of CPU, '
          f'{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MB at most',
          file=sys.stderr)
    rows, flags = product.rows()
    for row, flag in zip(rows, flags):
        fine = known[grip.name, poisson_ratio, round(1e3 * row.depth, 3)]
        error = 100.0 * (row.force / fine['force'] - 1.0)
        yield (f'| {grip.name} | {poisson_ratio:.2f} | {1e3 * row.depth:.1f} | '
               f'{fine["ratio"]:.2f} | {fine["error"]:+.1f} | {fine["flagged"]} | '
               f'{error:+.1f} | {"yes" if flag & DOUBTFUL else ""} |')


def publish(lines: list[str]) -> None:
    """Write the table between its marks on the page."""
    head, rest = PAGE.read_text().split(BEGIN)
    table = '\n'.join([HEAD, *lines])
    PAGE.write_text(f'{head}{BEGIN}\n{table}\n{END}{rest.split(END)[1]}')


def main() -> None:
    """Print one row a comparison."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument('grips', nargs='*', help='names of grips; all without')
    parser.add_argument('--quick', action='store_true', help='one grip, one ratio')
    parser.add_argument('--nodes', type=int, default=NODE_COUNT, help='on the surface at most')
    parser.add_argument('--ratios', type=float, nargs='+', help="Poisson's ratios; all without")
    parser.add_argument('--figures', action='store_true', help='renew the table of the page')
    arguments = parser.parse_args()
    names = arguments.grips or (QUICK if arguments.quick else None)
    known = published()
    chosen = [grip for grip in grips() if not names or grip.name in names]
    ratios = [0.45] if arguments.quick else arguments.ratios or sorted({key[1] for key in known})
    print(HEAD)
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        options = MechanicsOptions(elasticity='body', compliance=ComplianceOptions(
            arguments.nodes, folder, tolerance=NO_TOLERANCE))
        for grip in chosen:
            for ratio in ratios:
                for line in compare(grip, ratio, options, known):
                    print(line, flush=True)
                    lines.append(line)
    if arguments.figures and not (names or arguments.ratios):
        publish(lines)


if __name__ == '__main__':
    main()
