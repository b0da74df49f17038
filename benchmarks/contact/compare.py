"""
The contact suite: exactness, speed against peers, growth, changing objects, cores, broad phase.

``python -m benchmarks contact [SECTION ...] [--budget SECONDS] [--figures]``
"""

import argparse
from pathlib import Path

import numpy as np

from benchmarks.contact import accuracy, growth, speed
from benchmarks.contact.peers import COLLISION, EXACT

IMAGES = Path(__file__).resolve().parents[2] / 'docs' / 'images'
MEMORY_OF = ('sdh_tip', 'sdh_palm', 'cap5k', 'apple5k', 'apple20k', 'apple80k')


def _accuracy(_: argparse.Namespace) -> None:
    accuracy.print_accuracy(accuracy.accuracy(list(EXACT)))


def _speed(arguments: argparse.Namespace) -> None:
    rows = speed.measure([*EXACT, *COLLISION], arguments.budget)
    speed.print_speed(rows)
    if arguments.figures:
        from benchmarks.contact.figures import draw_speed
        draw_speed(rows, IMAGES / 'contact_speed.png')


def _growth(arguments: argparse.Namespace) -> None:
    series = growth.growth(list(EXACT), arguments.budget)
    growth.print_growth(series)
    if arguments.figures:
        from benchmarks.contact.figures import draw_growth
        draw_growth(series, IMAGES / 'contact_growth.png')


def _update(arguments: argparse.Namespace) -> None:
    times = growth.update(arguments.budget)
    for name, value in times.items():
        print(f'{name:24} {1e3 * value:8.2f} ms')
    ours, peer = times.values()
    print(f'{"ratio":24} {peer / ours:8.2f} x')


def _cores(_: argparse.Namespace) -> None:
    times = growth.two_cores()
    print(f'{3 * growth.CONFIGURATIONS} jobs: one core {1e3 * times[1]:.1f} ms, two '
          f'{1e3 * times[2]:.1f} ms, {times[1] / times[2]:.2f} x')


def _memory(_: argparse.Namespace) -> None:
    for name, (triangles, size) in growth.memory(MEMORY_OF).items():
        print(f'{name:12} {triangles:7d} triangles {size / 1e6:7.2f} MB '
              f'{size / triangles:6.0f} bytes a triangle')


def _broad(arguments: argparse.Namespace) -> None:
    counts = growth.broad_phase()
    pairs, meet = counts['pairs'], counts['meet']
    print(f'{pairs} pairs, of which {meet} meet ({100.0 * meet / pairs:.1f} %)')
    for name in ('spheres', 'aligned', *growth.ORIENTED):
        false = counts[name] - meet
        print(f'{name:8} rejects {100.0 * (1.0 - counts[name] / pairs):5.1f} % of all, passes '
              f'{false} that do not meet ({100.0 * false / (pairs - meet):.1f} % of these)')
    saved = growth.region_saving(arguments.budget)
    print('with / without the region of potential interaction: '
          + ', '.join(f'{name} {100.0 * value:.0f} %' for name, value in saved.items()))
    print(f'geometric mean {100.0 * np.exp(np.mean(np.log(list(saved.values())))):.0f} %')


def _grid(arguments: argparse.Namespace) -> None:
    print('all triangles streamed over the grid of points, time over that by the tree')
    ratios = growth.tree_against_grid(0.2 * arguments.budget)
    for name, value in ratios.items():
        print(f'{name:32} {value:6.2f} x')
    print(f'{"geometric mean":32} {np.exp(np.mean(np.log(list(ratios.values())))):6.2f} x')


SECTIONS = {'accuracy': _accuracy, 'speed': _speed, 'growth': _growth, 'update': _update,
            'cores': _cores, 'memory': _memory, 'broad': _broad, 'grid': _grid}


def main() -> None:
    """Run the sections named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('sections', nargs='*', metavar='SECTION',
                        help=f'of {", ".join(SECTIONS)}')
    parser.add_argument('--budget', type=float, default=2.0, help='seconds for each timing')
    parser.add_argument('--figures', action='store_true', help='write docs/images/contact_*.png')
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.sections) - set(SECTIONS))
    if unknown:
        parser.error(f'there is no section {", ".join(unknown)}, but {", ".join(SECTIONS)}')
    for name in arguments.sections or SECTIONS:
        print(f'\n== {name}', flush=True)
        SECTIONS[name](arguments)


if __name__ == '__main__':
    main()
