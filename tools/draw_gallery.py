"""
Plan every example and draw its best grasp: ``python tools/draw_gallery.py [--out docs/images]``.

The reports are left beside the pictures' folder in ``build/examples``.
"""

import argparse
import sys
from pathlib import Path

from gripsim_ros.apps.cli.main import main as gripsim

ROOT = Path(__file__).resolve().parents[1]
PICTURES = {'tomato': 'example_tomato.png', 'paper_cup': 'example_paper_cup.png',
            'bread_roll': 'example_bread_roll.png', 'full_bottle': 'example_full_bottle.png',
            'power_drill': 'example_power_drill.png', 'soft_toy': 'example_soft_toy.png'}


def main():
    """Plan and draw; the exit code is that of the first example that fails."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--out', type=Path, default=ROOT / 'docs' / 'images')
    parser.add_argument('names', nargs='*', default=list(PICTURES), metavar='NAME')
    arguments = parser.parse_args()
    folder = ROOT / 'build' / 'examples'
    for name in arguments.names:
        code = gripsim(['examples', name, '--out', str(folder)]) or gripsim(
            ['view', str(folder / f'{name}.json'), '--picture',
             str(arguments.out / PICTURES[name])])
        if code:
            return code
    return 0


if __name__ == '__main__':
    sys.exit(main())
